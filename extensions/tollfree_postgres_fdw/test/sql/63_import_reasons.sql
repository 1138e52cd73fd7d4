-- ANALYZE by import: every reason against it, and what the planner makes of
-- imported statistics.
SET client_min_messages = warning;
CREATE TABLE remote.wares (id int PRIMARY KEY, kind text, made date, price numeric(10,2), seller int, far int);
ALTER TABLE remote.wares SET (autovacuum_enabled = off);
INSERT INTO remote.wares
SELECT i, 'kind ' || (i * i) % 37, date '2020-01-01' + i % 700, (i % 1000) / 10.0,
	   CASE WHEN i % 10 < 7 THEN i % 3 ELSE i % 500 END, nullif(i % 20, 0)
FROM generate_series(1, 20000) i;
CREATE TABLE remote.sellers (id int PRIMARY KEY, name text, city int);
ALTER TABLE remote.sellers SET (autovacuum_enabled = off);
INSERT INTO remote.sellers SELECT i, 'seller ' || i, i % 25 FROM generate_series(0, 499) i;
SELECT pg_stat_force_next_flush();
ANALYZE remote.wares, remote.sellers;
CREATE FOREIGN TABLE wares (id int, kind text, made date, price numeric(10,2), seller int, far int)
	SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
CREATE FOREIGN TABLE sellers (id int, name text, city int)
	SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE wares, sellers;
RESET tollfree_postgres_fdw.debug_require;

-- The rows that the planner expects of a query on local-by-import tables and on
-- the remote ones themselves.  The latter lose their primary keys, which foreign
-- tables do not have.
CREATE FUNCTION expected(query text, path text) RETURNS int8
LANGUAGE plpgsql
AS $$
DECLARE
	plan		json;
BEGIN
	PERFORM set_config('search_path', path, true);
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END
$$;
ALTER TABLE remote.wares DROP CONSTRAINT wares_pkey;
ALTER TABLE remote.sellers DROP CONSTRAINT sellers_pkey;
SET client_min_messages = notice;
SELECT condition, here = there AS same, here > 0 AND here < 20000 * 500 AS told
FROM unnest(ARRAY[
	'wares WHERE id < 1000',
	'wares WHERE id BETWEEN 500 AND 5000',
	'wares WHERE id = 77',
	'wares WHERE kind = ''kind 1''',
	'wares WHERE kind = ''kind 2''',
	'wares WHERE kind <> ''kind 1''',
	'wares WHERE kind LIKE ''kind 3%''',
	'wares WHERE kind IN (''kind 1'', ''kind 4'', ''kind 9'')',
	'wares WHERE kind > ''kind 3''',
	'wares WHERE made > ''2021-06-01''',
	'wares WHERE made BETWEEN ''2020-03-01'' AND ''2020-04-01''',
	'wares WHERE price < 12.5',
	'wares WHERE price >= 99',
	'wares WHERE price = 3.7 OR seller = 1',
	'wares WHERE seller = 1',
	'wares WHERE seller = 321',
	'wares WHERE seller > 2 AND price < 50',
	'wares WHERE far IS NULL',
	'wares WHERE far IS NOT NULL AND far > 10',
	'wares WHERE far = 3 AND kind = ''kind 1''',
	'sellers WHERE city = 3',
	'sellers WHERE name < ''seller 2''',
	'wares JOIN sellers ON seller = sellers.id',
	'wares JOIN sellers ON seller = sellers.id WHERE city = 3',
	'wares JOIN sellers ON seller = sellers.id WHERE price < 10 AND city IN (1, 2)',
	'wares LEFT JOIN sellers ON seller = sellers.id AND city = 1',
	'wares JOIN sellers ON far = city',
	'wares a JOIN wares b ON a.seller = b.far WHERE a.id < 100',
	'(SELECT kind FROM wares GROUP BY kind) g',
	'(SELECT seller, made FROM wares GROUP BY seller, made) g']) condition,
	LATERAL (SELECT expected('SELECT * FROM ' || condition, 'public') AS here,
					expected('SELECT * FROM ' || condition, 'remote') AS there) e;

-- reasons that lie in a column
\set VERBOSITY default
-- another type
ALTER FOREIGN TABLE wares ALTER price TYPE numeric(12,2);
ANALYZE wares;
ALTER FOREIGN TABLE wares ALTER price TYPE numeric(10,2);
-- another collation, and another version of the same
CREATE COLLATION public.here (provider = libc, locale = 'C');
CREATE COLLATION remote.there (provider = libc, locale = 'C');
ALTER TABLE remote.wares ALTER kind TYPE text COLLATE remote.there;
ANALYZE remote.wares;
ALTER FOREIGN TABLE wares ALTER kind TYPE text COLLATE public.here;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE wares;
RESET tollfree_postgres_fdw.debug_require;
UPDATE pg_collation SET collversion = '1' WHERE oid = 'remote.there'::regcollation;
UPDATE pg_collation SET collversion = '2' WHERE oid = 'public.here'::regcollation;
ANALYZE wares;
-- and one that takes different strings for equal
UPDATE pg_collation SET collversion = NULL WHERE oid IN ('remote.there'::regcollation, 'public.here'::regcollation);
UPDATE pg_collation SET collisdeterministic = false WHERE oid = 'remote.there'::regcollation;
ANALYZE wares;
ALTER FOREIGN TABLE wares ALTER kind TYPE text;
ALTER TABLE remote.wares ALTER kind TYPE text;
ANALYZE remote.wares;
DROP COLLATION public.here;
DROP COLLATION remote.there;
-- no such column there, as the sample's error says too
ALTER FOREIGN TABLE wares ALTER far OPTIONS (column_name 'nowhere');
ANALYZE wares;
ALTER FOREIGN TABLE wares ALTER far OPTIONS (DROP column_name);
-- dropped there
ALTER TABLE remote.wares DROP far;
ANALYZE wares;
-- dropped here too; what is left is imported
ALTER FOREIGN TABLE wares DROP far;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE wares;
RESET tollfree_postgres_fdw.debug_require;
-- statistics that contradict each other
UPDATE pg_statistic SET stanumbers1 = '{0.5}'
WHERE starelid = 'remote.wares'::regclass AND stakind1 = 1 AND cardinality(stanumbers1) > 1;
ANALYZE wares;
ANALYZE remote.wares;
UPDATE pg_statistic SET stanumbers1 = ARRAY[stanumbers1]
WHERE starelid = 'remote.wares'::regclass AND stakind1 = 1;
ANALYZE wares;
ANALYZE remote.wares;
-- values that are OIDs there, and here
CREATE TABLE remote.sorts (id int, kind regclass);
INSERT INTO remote.sorts VALUES (1, 'pg_class'), (2, 'pg_type');
SELECT pg_stat_force_next_flush();
ANALYZE remote.sorts;
CREATE FOREIGN TABLE sorts (id int, kind regclass) SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
ANALYZE sorts;
DROP FOREIGN TABLE sorts;
-- generated there: its statistics are as good as others
ALTER TABLE remote.wares ADD twice numeric GENERATED ALWAYS AS (price * 2) STORED;
SELECT pg_stat_force_next_flush();
ANALYZE remote.wares;
ALTER FOREIGN TABLE wares ADD twice numeric;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE wares;
RESET tollfree_postgres_fdw.debug_require;
SELECT h.n_distinct = t.n_distinct AS same FROM pg_stats h, pg_stats t
WHERE (h.schemaname, h.tablename, h.attname) = ('public', 'wares', 'twice')
	AND (t.schemaname, t.tablename, t.attname) = ('remote', 'wares', 'twice');
ALTER FOREIGN TABLE wares DROP twice;
-- generated here too: a scan reads the column there all the same
SET tollfree_postgres_fdw.debug_require = 'import';
ALTER FOREIGN TABLE wares ADD twice numeric GENERATED ALWAYS AS (price * 2) STORED;
ANALYZE wares;
RESET tollfree_postgres_fdw.debug_require;
ALTER FOREIGN TABLE wares DROP twice;
ALTER TABLE remote.wares DROP twice;
-- an expression there, as a view's
CREATE VIEW remote.reckoned AS SELECT id, price * 2 AS twice FROM remote.wares;
CREATE FOREIGN TABLE reckoned (id int, twice numeric)
	SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
ANALYZE reckoned;
-- a column without statistics there
DELETE FROM pg_statistic WHERE starelid = 'remote.wares'::regclass AND staattnum = 2;
ANALYZE wares;
-- and none at all
DELETE FROM pg_statistic WHERE starelid = 'remote.wares'::regclass;
ANALYZE wares;

-- reasons that lie in the table: changed since, never analyzed, a parent, a child
ANALYZE remote.wares;
UPDATE remote.wares SET price = 1 WHERE id <= 2100;
SELECT pg_stat_force_next_flush();
SELECT 1;
ANALYZE wares;
ANALYZE remote.wares;
CREATE TABLE remote.more_wares () INHERITS (remote.wares);
ANALYZE wares;
CREATE FOREIGN TABLE more_wares (id int, kind text, made date, price numeric(10,2), seller int)
	SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
INSERT INTO remote.more_wares (id) VALUES (1);
SELECT pg_stat_force_next_flush();
ANALYZE more_wares;
ANALYZE remote.more_wares;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE more_wares;
RESET tollfree_postgres_fdw.debug_require;
SELECT reltuples FROM pg_class WHERE oid = 'more_wares'::regclass;

-- changed by this session, which has not reported it yet; written anew, and emptied
CREATE UNLOGGED TABLE remote.moved (id int) WITH (autovacuum_enabled = off);
INSERT INTO remote.moved SELECT generate_series(1, 1000);
SELECT pg_stat_force_next_flush();
ANALYZE remote.moved;
CREATE FOREIGN TABLE moved (id int) SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
BEGIN;
DELETE FROM moved;
INSERT INTO moved SELECT generate_series(100001, 101000);
ANALYZE moved;
SELECT min(bound) > 100000 AS is_new FROM pg_stats, unnest(histogram_bounds::text::int[]) bound WHERE schemaname = 'public' AND tablename = 'moved';
ROLLBACK;
SELECT tollfree_postgres_fdw_disconnect_all() AS is_disconnected;
ANALYZE remote.moved;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE moved;
RESET tollfree_postgres_fdw.debug_require;
ALTER TABLE remote.moved SET LOGGED;
ANALYZE moved;
SELECT reltuples FROM pg_class WHERE oid = 'moved'::regclass;
ANALYZE remote.moved;
TRUNCATE moved;
INSERT INTO moved VALUES (7);
ANALYZE moved;
SELECT reltuples FROM pg_class WHERE oid = 'moved'::regclass;
DROP FOREIGN TABLE moved;

-- a table that has children here: its own statistics, then those of all together
CREATE TABLE remote.offers AS SELECT i AS id FROM generate_series(1, 100) i;
ANALYZE remote.offers;
CREATE FOREIGN TABLE offers (id int) SERVER loopback
	OPTIONS (schema_name 'remote', analyze_sampling 'import');
CREATE TABLE offers_here () INHERITS (offers);
INSERT INTO offers_here SELECT generate_series(101, 150);
ANALYZE offers;
ANALYZE offers;
SELECT inherited, n_distinct, array_length(histogram_bounds::text::int[], 1)
FROM pg_stats WHERE schemaname = 'public' AND tablename = 'offers' ORDER BY inherited;
DROP TABLE offers_here;
DROP FOREIGN TABLE offers;
DROP FOREIGN TABLE wares, sellers, reckoned, more_wares;
DROP FUNCTION expected;
