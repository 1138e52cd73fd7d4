-- What depends on the wrapper: its servers, mappings and foreign tables. The names in braces are
-- filled in for each side.

CREATE EXTENSION {wrapper} CASCADE;

CREATE SERVER remote FOREIGN DATA WRAPPER {wrapper}
    OPTIONS (host {host}, port {port}, dbname {dbname});
CREATE SERVER remote_high FOREIGN DATA WRAPPER {wrapper}
    OPTIONS (host {host}, port {port}, dbname {dbname}, parallel_commit 'true', async_capable 'true');
CREATE SERVER nowhere FOREIGN DATA WRAPPER {wrapper}
    OPTIONS (host {host}, port {port}, dbname 'no such database');

CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (user {user});
CREATE USER MAPPING FOR postgres SERVER remote_high OPTIONS (user {user});
CREATE USER MAPPING FOR postgres SERVER nowhere OPTIONS (user {user});
CREATE USER MAPPING FOR reader SERVER remote OPTIONS (user {user}, password_required 'false');
CREATE USER MAPPING FOR passwordless SERVER remote OPTIONS (user {user});

CREATE FOREIGN TABLE wide (
    id integer NOT NULL,
    c2 smallint,
    c4 integer,
    c8 bigint,
    n numeric,
    r real,
    d double precision,
    t text,
    vc varchar(12),
    ch char(5),
    raw bytea,
    b boolean,
    dt date,
    ts timestamp,
    tz timestamptz,
    iv interval,
    u uuid,
    j json,
    jb jsonb,
    ia integer[],
    ta text[],
    m mood,
    p pair,
    pos positive
) SERVER remote;

CREATE FOREIGN TABLE account (
    id integer NOT NULL,
    owner text NOT NULL DEFAULT 'somebody',
    dropped integer,
    balance numeric(12, 2) DEFAULT 0,
    branch integer NOT NULL DEFAULT 1,
    note varchar(8),
    doubled numeric GENERATED ALWAYS AS (balance * 2) STORED
) SERVER remote;
ALTER FOREIGN TABLE account DROP COLUMN dropped;
ALTER FOREIGN TABLE account ALTER COLUMN id SET DEFAULT 900;

CREATE FOREIGN TABLE bag (k integer, v text, w double precision) SERVER remote;
CREATE FOREIGN TABLE shape (id integer, v text) SERVER remote;
CREATE FOREIGN TABLE reshaping (step integer, done integer) SERVER remote_high;
CREATE FOREIGN TABLE big (id integer NOT NULL, branch integer, val text)
    SERVER remote OPTIONS (fetch_size '40');
CREATE FOREIGN TABLE audited (id integer NOT NULL, v text, changes integer) SERVER remote;
CREATE FOREIGN TABLE summary (branch integer, accounts bigint, total numeric) SERVER remote;
CREATE FOREIGN TABLE rich (id integer, owner text, balance numeric(12, 2), branch integer)
    SERVER remote;
CREATE FOREIGN TABLE counting (id integer, counted boolean) SERVER remote;
CREATE FOREIGN TABLE holey (a integer NOT NULL, b text, c integer) SERVER remote;
CREATE FOREIGN TABLE odd (
    k integer OPTIONS (column_name 'Key Col'),
    word text OPTIONS (column_name 'select'),
    q integer OPTIONS (column_name 'a"quote')
) SERVER remote OPTIONS (schema_name 'public', table_name 'Odd Table');

CREATE TABLE parts (k integer, v text, w integer) PARTITION BY RANGE (k);
CREATE FOREIGN TABLE part_low PARTITION OF parts FOR VALUES FROM (0) TO (50) SERVER remote
    OPTIONS (async_capable 'true');
CREATE TABLE part_local PARTITION OF parts FOR VALUES FROM (50) TO (100);
CREATE FOREIGN TABLE part_high PARTITION OF parts FOR VALUES FROM (100) TO (200) SERVER remote_high;

CREATE FOREIGN TABLE texts (id integer, v text) SERVER remote;
CREATE FOREIGN TABLE visits (id integer, visitor text) SERVER remote;
CREATE FOREIGN TABLE visiting (id integer, owner text, visit integer) SERVER remote;
CREATE FOREIGN TABLE misread (id integer, v integer) SERVER remote OPTIONS (table_name 'texts');
CREATE FOREIGN TABLE constrained (id integer, c4 positive) SERVER remote OPTIONS (table_name 'wide');
CREATE FOREIGN TABLE missing (id integer) SERVER remote OPTIONS (table_name 'no such table');
CREATE FOREIGN TABLE lacking (id integer, nothing text) SERVER remote OPTIONS (table_name 'texts');
CREATE FOREIGN TABLE unreachable (id integer) SERVER nowhere;
CREATE FOREIGN TABLE unwritable (id integer, v text) SERVER remote
    OPTIONS (table_name 'texts', updatable 'false');

CREATE VIEW checked AS SELECT id, owner, balance FROM account WHERE branch = 1 WITH CHECK OPTION;

CREATE FUNCTION near_trigger() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.word := NEW.word || ''!''; RETURN NEW; END';
CREATE TRIGGER near_trigger BEFORE INSERT OR UPDATE ON odd
    FOR EACH ROW WHEN (NEW.k > 5) EXECUTE FUNCTION near_trigger();

GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader, passwordless, unmapped;

INSERT INTO options_baseline SELECT ftrelid, NULL, ftoptions FROM pg_foreign_table;
INSERT INTO options_baseline SELECT NULL, oid, srvoptions FROM pg_foreign_server;
