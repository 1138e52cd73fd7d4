-- Scans that need no remote transaction around them, and all that do.
SELECT tollfree_postgres_fdw_disconnect_all();
SET statement_timeout = '20s';
SET tollfree_postgres_fdw.statement_cache_size = 0;
CREATE SCHEMA far;
CREATE SCHEMA autocommit;
SET search_path = autocommit, public;
CREATE TABLE far.plain (id int PRIMARY KEY, v text, n numeric);
INSERT INTO far.plain SELECT i, 'row ' || i, i / 4.0 FROM generate_series(1, 20) i;
ANALYZE far.plain;
CREATE FOREIGN TABLE plain (id int, v text, n numeric) SERVER loopback
	OPTIONS (schema_name 'far', table_name 'plain');
ANALYZE plain;
CREATE FUNCTION autocommit_scans(server text = 'loopback') RETURNS int8
LANGUAGE sql
RETURN (SELECT autocommit_scans FROM tollfree_postgres_fdw_statistics() WHERE server_name = server);
CREATE FUNCTION last_remote_command(server text = 'loopback') RETURNS text
LANGUAGE sql
RETURN (SELECT a.state || ': ' || a.query
		FROM tollfree_postgres_fdw_get_connections() c, pg_stat_activity a
		WHERE c.server_name = server AND a.pid = c.remote_backend_pid);

-- behind the first scan it is asked what the relation is; the answer comes with
-- the second one, and neither waits for it
SELECT v FROM plain WHERE id = 1;
SELECT v FROM plain WHERE id = 1;
SELECT autocommit_scans(), round_trips_since(0) AS before \gset
SELECT v FROM plain WHERE id = 2;
SELECT last_remote_command();
SELECT count(*) FROM plain;
SELECT autocommit_scans() - :autocommit_scans AS scans, round_trips_since(:before) AS round_trips;

-- from here on all that is not autocommit fails
\set VERBOSITY terse
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM plain WHERE id = 3;
SELECT v FROM plain WHERE id = -3;
SELECT id, v || '!' AS louder, CASE WHEN n > 1 THEN 'much' END AS much FROM plain WHERE id IN (4, 5) ORDER BY n DESC;
SELECT count(*), sum(n), max(v) FROM plain WHERE n < 2;
SELECT v FROM plain ORDER BY id LIMIT 2 OFFSET 1;
SELECT p FROM plain p WHERE id = 1;
SELECT 1 FROM plain WHERE id = 6 AND ctid IS NOT NULL;
CREATE VIEW seen AS SELECT id, v FROM plain WHERE id < 9;
SELECT v FROM seen WHERE id = 8;
SELECT p.id FROM plain p JOIN plain q ON q.id = p.id + 1 WHERE p.id > 17 ORDER BY 1;

-- settings
SET tollfree_postgres_fdw.autocommit_scans = off;
SELECT v FROM plain WHERE id = 1;
RESET tollfree_postgres_fdw.autocommit_scans;
SET tollfree_postgres_fdw.direct_results = off;
SELECT v FROM plain WHERE id = 1;
RESET tollfree_postgres_fdw.direct_results;

-- transactions, of whatever kind
BEGIN;
SELECT v FROM plain WHERE id = 1;
ROLLBACK;
SELECT v FROM plain WHERE id = 1 \; SELECT v FROM plain WHERE id = 2;
SET default_transaction_isolation = 'repeatable read';
SELECT v FROM plain WHERE id = 1;
SET default_transaction_isolation = 'serializable';
SELECT v FROM plain WHERE id = 1;
SET default_transaction_isolation = 'read uncommitted';
SELECT v FROM plain WHERE id = 1;
RESET default_transaction_isolation;

-- whatever is not the client's own query
PREPARE by_id(int) AS SELECT v FROM plain WHERE id = $1;
EXECUTE by_id(1);
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT v FROM plain WHERE id = 1;
COPY (SELECT v FROM plain WHERE id = 1) TO stdout;
CREATE TABLE copied AS SELECT v FROM plain WHERE id = 1;
DECLARE held CURSOR WITH HOLD FOR SELECT v FROM plain WHERE id = 1;
DO $$ BEGIN PERFORM v FROM plain WHERE id = 1; END $$;
CREATE FUNCTION in_sql(int) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT v FROM plain WHERE id = $1';
CREATE FUNCTION in_plpgsql(wanted int) RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RETURN (SELECT v FROM plain WHERE id = wanted); END $$;
SELECT in_sql(1);
SELECT in_plpgsql(1);
SELECT in_plpgsql(id) FROM plain WHERE id = 2;
SELECT v FROM plain WHERE in_sql(id) = 'row 3';
SELECT v FROM plain ORDER BY in_plpgsql(id) LIMIT 1;
SELECT v FROM plain WHERE id = 1 LIMIT length(in_sql(1));
SELECT query_to_xml('SELECT v FROM plain WHERE id = 1', false, false, '') IS NULL FROM plain WHERE id = 1;

-- whatever else the plan does
SELECT v FROM plain WHERE id = 1 FOR UPDATE;
SELECT v, (SELECT count(*) FROM far.plain) FROM plain WHERE id = 1;
SELECT v FROM plain WHERE id = (SELECT max(id) FROM far.plain);
SELECT id FROM plain WHERE id = 1 UNION ALL SELECT id FROM plain WHERE id = 2;
SELECT p.v FROM far.plain r JOIN plain p USING (id) WHERE r.v = 'row 1';
WITH gone AS (DELETE FROM far.plain WHERE id = -1) SELECT v FROM plain WHERE id = 1;
SELECT string_agg(v, ',' ORDER BY v) FROM (SELECT v FROM plain OFFSET 0) x;
SELECT now() IS NULL FROM plain WHERE id = 1;
SELECT DISTINCT id % 3 AS rest FROM (SELECT id FROM plain OFFSET 0) x ORDER BY 1;
SELECT length(v), count(*) FROM (SELECT * FROM plain OFFSET 0) x GROUP BY 1 ORDER BY 1;
UPDATE plain SET v = v WHERE id = 1;

-- what is converted by code of somebody's own
CREATE FUNCTION asks_remotely(int) RETURNS bool
LANGUAGE plpgsql
AS $$ BEGIN RETURN EXISTS (SELECT FROM plain WHERE id = $1); END $$;
CREATE DOMAIN known AS int CHECK (asks_remotely(VALUE));
CREATE FOREIGN TABLE typed (id known, v text) SERVER loopback
	OPTIONS (schema_name 'far', table_name 'plain');
RESET tollfree_postgres_fdw.debug_require;
SELECT v FROM typed WHERE v = 'row 2';
SELECT v FROM typed WHERE v = 'row 2';
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM typed WHERE v = 'row 3';
SELECT id FROM typed WHERE v = 'row 3';
SELECT v FROM typed WHERE id::int = 3 AND asks_remotely(2);

\set VERBOSITY default

-- relations that are more than plain: asked about first, then known
RESET tollfree_postgres_fdw.debug_require;
CREATE TABLE far.log (v text);
CREATE FUNCTION far.note(what text) RETURNS text
LANGUAGE sql
AS $$ INSERT INTO far.log VALUES (what) RETURNING v $$;
CREATE VIEW far.writing AS SELECT id, far.note(v) AS v FROM far.plain WHERE id <= 2;
CREATE TABLE far.secured (id int, v text);
ALTER TABLE far.secured ENABLE ROW LEVEL SECURITY;
CREATE TABLE far.parent (id int, v text);
CREATE TABLE far.child () INHERITS (far.parent);
CREATE TABLE far.parted (id int, v text) PARTITION BY LIST (id);
CREATE MATERIALIZED VIEW far.stored AS SELECT id, v FROM far.plain;
CREATE TABLE far."Odd 'name" (id int, v text);
CREATE FOREIGN TABLE writing (id int, v text) SERVER loopback OPTIONS (schema_name 'far');
CREATE FOREIGN TABLE secured (id int, v text) SERVER loopback OPTIONS (schema_name 'far');
CREATE FOREIGN TABLE parent (id int, v text) SERVER loopback OPTIONS (schema_name 'far');
CREATE FOREIGN TABLE parted (id int, v text) SERVER loopback OPTIONS (schema_name 'far');
CREATE FOREIGN TABLE stored (id int, v text) SERVER loopback OPTIONS (schema_name 'far');
CREATE FOREIGN TABLE odd (id int, v text) SERVER loopback
	OPTIONS (schema_name 'far', table_name 'Odd ''name');
SELECT v FROM writing WHERE id = 1;
SELECT v FROM secured WHERE id = 1;
SELECT v FROM parent WHERE id = 1;
SELECT v FROM parted WHERE id = 1;
SELECT v FROM stored WHERE id = 1;
SELECT v FROM odd WHERE id = 1;
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM writing WHERE id = 1;
SELECT v FROM secured WHERE id = 1;
SELECT v FROM parent WHERE id = 1;
SELECT v FROM parted WHERE id = 1;
SELECT v FROM stored WHERE id = 1;
SELECT v FROM odd WHERE id = 1;
SELECT p.v, w.v FROM plain p JOIN writing w USING (id) WHERE p.id = 1;
RESET tollfree_postgres_fdw.debug_require;

-- a remote write is undone with the local statement
TRUNCATE far.log;
SELECT 1 / (id - 2) FROM (SELECT id, v FROM writing OFFSET 0) x WHERE v IS NOT NULL;
SELECT * FROM far.log;
SELECT count(*) FROM writing WHERE v IS NOT NULL;
SELECT count(*) FROM far.log;

-- what is known goes with the definition of the foreign table
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM odd WHERE id = 1;
ALTER FOREIGN TABLE odd OPTIONS (SET table_name 'writing');
SELECT v FROM odd WHERE id = 1;
RESET tollfree_postgres_fdw.debug_require;
SELECT v FROM odd WHERE id = 1;
SELECT last_remote_command() !~ 'writing' AS has_ended;
ALTER FOREIGN TABLE writing RENAME TO other;
ALTER FOREIGN TABLE stored RENAME TO writing;
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM writing WHERE id = 1;
RESET tollfree_postgres_fdw.debug_require;

-- an answer that is still to come is about the former relation
CREATE FOREIGN TABLE turning (id int, v text) SERVER loopback
	OPTIONS (schema_name 'far', table_name 'plain');
SELECT v FROM turning WHERE id = 1;
ALTER FOREIGN TABLE turning OPTIONS (SET table_name 'writing');
SELECT v FROM turning WHERE id = 1;
TRUNCATE far.log;
SELECT 1 / (id - 2) FROM turning WHERE v IS NOT NULL;
SELECT * FROM far.log;

-- statements kept prepared, and stale ones
RESET tollfree_postgres_fdw.statement_cache_size;
CREATE TABLE far.shifting AS SELECT id, v FROM far.plain;
CREATE FOREIGN TABLE shifting (id int, v text) SERVER loopback OPTIONS (schema_name 'far');
SELECT v FROM shifting WHERE id = 10;
SELECT v FROM shifting WHERE id = 10;
SET tollfree_postgres_fdw.debug_require = 'autocommit, cached, direct';
SELECT v FROM shifting WHERE id = 10;
RESET tollfree_postgres_fdw.debug_require;
ALTER TABLE far.shifting ALTER v TYPE varchar;
SELECT v FROM shifting WHERE id = 10;
ALTER TABLE far.shifting RENAME v TO w;
SELECT v FROM shifting WHERE id = 10;
ALTER TABLE far.shifting RENAME w TO v;
SELECT v FROM shifting WHERE id = 10;
SET tollfree_postgres_fdw.statement_cache_size = 0;

-- errors, there and here
SELECT 1 / (id - 3) AS x FROM plain WHERE 1 / (id - 3) < 7;
SELECT 1 / (id - 3) FROM (SELECT id FROM plain OFFSET 0) x;
CREATE FOREIGN TABLE misread (id int, v int) SERVER loopback
	OPTIONS (schema_name 'far', table_name 'plain');
SELECT id FROM misread WHERE id = 1;
SELECT * FROM misread WHERE id = 1;
SELECT v FROM plain WHERE id = 11;

-- a result larger than was expected
SET work_mem = '64kB';
CREATE FOREIGN TABLE wide (id int, pad text) SERVER loopback
	OPTIONS (schema_name 'far', table_name 'wide_rows');
CREATE TABLE far.wide_rows AS SELECT i AS id, repeat('x', 20000) AS pad FROM generate_series(1, 50) i;
SELECT count(*) FROM wide WHERE id = 1;
SELECT count(*) FROM wide WHERE id = 1;
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT count(*), sum(length(pad)) FROM (SELECT pad FROM wide WHERE id BETWEEN 1 AND 60 OFFSET 0) x;
RESET tollfree_postgres_fdw.debug_require;
RESET work_mem;

-- a connection that is lost meanwhile, and one that is not kept
SELECT pg_terminate_backend(remote_backend_pid, 10000)
FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback';
SELECT v FROM plain WHERE id = 12;
SELECT v FROM plain WHERE id = 12;
SELECT v FROM plain WHERE id = 12;
SELECT v FROM plain WHERE id = 13;
SELECT last_remote_command();
ALTER SERVER loopback OPTIONS (ADD keep_connections 'off');
SELECT v FROM plain WHERE id = 14;
SELECT count(*) FROM tollfree_postgres_fdw_get_connections();
ALTER SERVER loopback OPTIONS (DROP keep_connections);

-- a remote server whose transactions are serializable by default
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$;
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT v FROM plain WHERE id = 15;
SELECT v FROM plain WHERE id = 15;
SELECT v FROM plain WHERE id = 15;
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM plain WHERE id = 15;
RESET tollfree_postgres_fdw.debug_require;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET default_transaction_isolation', current_database()); END $$;
SELECT tollfree_postgres_fdw_disconnect_all();

-- each server, and each kind of isolation
CREATE FOREIGN TABLE plain_rc (id int, v text) SERVER read_committed
	OPTIONS (schema_name 'far', table_name 'plain');
SELECT v FROM plain_rc WHERE id = 1;
SELECT v FROM plain_rc WHERE id = 1;
SELECT v FROM plain_rc WHERE id = 1;
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT v FROM plain_rc WHERE id = 2;
RESET tollfree_postgres_fdw.debug_require;
SELECT last_remote_command('read_committed');

-- a transaction that has written, if only no row, is not asked whether it has
BEGIN;
UPDATE plain SET v = v WHERE id = -1;
SELECT count(*) FROM plain;
SELECT last_remote_command();
COMMIT;
BEGIN;
UPDATE plain SET v = v WHERE id = 1;
SELECT count(*) FROM plain;
SELECT last_remote_command();
COMMIT;
BEGIN;
SELECT count(*) FROM odd WHERE v IS NOT NULL;
SELECT count(*) FROM plain;
SELECT last_remote_command();
COMMIT;
BEGIN;
SELECT count(*) FROM plain;
SELECT last_remote_command();
COMMIT;

SET client_min_messages = warning;
DROP SCHEMA far, autocommit CASCADE;
RESET client_min_messages;
RESET search_path;
RESET tollfree_postgres_fdw.statement_cache_size;
RESET statement_timeout;
