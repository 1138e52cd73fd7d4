-- Each fast path can be closed by an option of the server or of the foreign table; the server's
-- compatibility closes all.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
CREATE SERVER optional FOREIGN DATA WRAPPER tollfree_postgres_fdw;
DO $$
BEGIN
	EXECUTE format('ALTER SERVER optional OPTIONS (dbname %L, port %L)', current_database(), current_setting('port'));
END
$$;
CREATE USER MAPPING FOR CURRENT_USER SERVER optional;
CREATE TABLE remote.optional (id int PRIMARY KEY, amount numeric);
INSERT INTO remote.optional SELECT i, i FROM generate_series(1, 40000) i;
ANALYZE remote.optional;
CREATE FOREIGN TABLE optional (id int, amount numeric) SERVER optional OPTIONS (schema_name 'remote');
ANALYZE optional;

-- values
\set VERBOSITY terse
ALTER SERVER optional OPTIONS (compatibility 'none');
ALTER SERVER optional OPTIONS (direct_results 'perhaps');
ALTER SERVER optional OPTIONS (statement_cache_size '-1');
ALTER SERVER optional OPTIONS (statement_cache_size 'many');
ALTER FOREIGN TABLE optional OPTIONS (ADD compatibility 'stock');
ALTER FOREIGN TABLE optional OPTIONS (ADD unawaited_commit 'false');
ALTER FOREIGN TABLE optional OPTIONS (ADD remote_isolation 'read committed');
ALTER USER MAPPING FOR CURRENT_USER SERVER optional OPTIONS (direct_results 'false');
\set VERBOSITY default
ALTER SERVER optional OPTIONS (compatibility 'none');
ALTER FOREIGN TABLE optional OPTIONS (ADD compatibility 'stock');
-- For a misspelt option of ours the nearest one is suggested.
ALTER SERVER optional OPTIONS (ADD direct_result 'false');
ALTER SERVER optional OPTIONS (ADD statement_cachesize '10', ADD parallel_commit 'true');
ALTER FOREIGN TABLE optional OPTIONS (ADD remote_limit 'false');

-- How the table is read and written, by EXPLAIN
CREATE FUNCTION ways(query text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		CONTINUE WHEN line !~ 'Method|Autocommit';
		RETURN NEXT trim(line);
	END LOOP;
END
$$;
CREATE FUNCTION show() RETURNS TABLE (way text) LANGUAGE sql
AS $$
	SELECT ways('SELECT * FROM optional WHERE id = 1')
	UNION ALL SELECT ways('SELECT sum(id) FROM optional o WHERE id > random()')
	UNION ALL SELECT ways('INSERT INTO optional SELECT 0, 0');
$$;
SELECT * FROM show();
ALTER SERVER optional OPTIONS (direct_results 'false');
SELECT * FROM show();
ALTER FOREIGN TABLE optional OPTIONS (ADD direct_results 'yes', ADD autocommit_scans 'false', ADD pipelined_writes 'off');
SELECT * FROM show();
ALTER SERVER optional OPTIONS (ADD compatibility 'stock');
SELECT * FROM show();
ALTER SERVER optional OPTIONS (SET compatibility 'tollfree', DROP direct_results);
ALTER FOREIGN TABLE optional OPTIONS (DROP direct_results, DROP autocommit_scans, DROP pipelined_writes);
SELECT * FROM show();

-- the settings count beside: what either closes is closed
SET tollfree_postgres_fdw.direct_results = off;
ALTER SERVER optional OPTIONS (ADD direct_results 'true');
SELECT * FROM show();
RESET tollfree_postgres_fdw.direct_results;

-- a prepared plan follows the options
SET plan_cache_mode = force_generic_plan;
PREPARE lookup (int) AS SELECT id FROM optional WHERE id = $1;
SET tollfree_postgres_fdw.debug_require = 'direct';
EXECUTE lookup (1);
ALTER FOREIGN TABLE optional OPTIONS (ADD direct_results 'false');
EXECUTE lookup (1);
ALTER FOREIGN TABLE optional OPTIONS (DROP direct_results);
EXECUTE lookup (1);
ALTER SERVER optional OPTIONS (SET direct_results 'false');
EXECUTE lookup (1);
ALTER SERVER optional OPTIONS (DROP direct_results);
EXECUTE lookup (1);

-- a join: its tables must all allow it
CREATE FOREIGN TABLE optional_too (id int, amount numeric) SERVER optional OPTIONS (schema_name 'remote', table_name 'optional');
ANALYZE optional_too;
SELECT count(*) FROM optional a JOIN optional_too b USING (id) WHERE a.id < 3;
ALTER FOREIGN TABLE optional_too OPTIONS (ADD direct_results 'false');
SELECT count(*) FROM optional a JOIN optional_too b USING (id) WHERE a.id < 3;
ALTER FOREIGN TABLE optional_too OPTIONS (DROP direct_results);

-- kept statements, and the COMMIT
SET tollfree_postgres_fdw.debug_require = '';
EXECUTE lookup (2);
EXECUTE lookup (2);
SET tollfree_postgres_fdw.debug_require = 'cached';
EXECUTE lookup (2);
ALTER SERVER optional OPTIONS (ADD statement_cache_size '0');
SET tollfree_postgres_fdw.debug_require = '';
EXECUTE lookup (2);
EXECUTE lookup (2);
SET tollfree_postgres_fdw.debug_require = 'cached';
EXECUTE lookup (2);
ALTER SERVER optional OPTIONS (DROP statement_cache_size, ADD autocommit_scans 'false');
-- the first COMMIT of a connection is always waited for
SET tollfree_postgres_fdw.debug_require = '';
EXECUTE lookup (3);
SET tollfree_postgres_fdw.debug_require = 'unawaited_commit';
EXECUTE lookup (3);
ALTER SERVER optional OPTIONS (ADD unawaited_commit 'false');
EXECUTE lookup (3);
ALTER SERVER optional OPTIONS (DROP unawaited_commit, SET compatibility 'stock');
EXECUTE lookup (3);
RESET tollfree_postgres_fdw.debug_require;

-- without kept statements nothing is prepared on the server: a pooler may hand its connections around
CREATE VIEW remote.all_prepared AS SELECT count(*) AS n FROM pg_prepared_statements;
CREATE FOREIGN TABLE all_prepared (n int8) SERVER optional OPTIONS (schema_name 'remote');
SELECT n FROM all_prepared;
SELECT n FROM all_prepared;
BEGIN;
UPDATE optional SET amount = 0 WHERE id = 1;
SELECT n FROM all_prepared;
SELECT n FROM all_prepared;
COMMIT;

-- nothing of it is postgres_fdw's
SELECT tollfree_postgres_fdw_release('optional');
ALTER SERVER optional OPTIONS (DROP compatibility, DROP autocommit_scans);
SELECT tollfree_postgres_fdw_release('optional');
DROP SERVER optional CASCADE;
DROP VIEW remote.all_prepared;
DROP TABLE remote.optional;
DROP FUNCTION show, ways;
