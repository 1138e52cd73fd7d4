-- Estimates that postgres_fdw asks the remote server for, over its own connection.
DO $$
BEGIN
	EXECUTE format('CREATE SERVER estimated FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, use_remote_estimate ''true'')',
				   server_options());
	EXECUTE format('CREATE SERVER stock_estimated FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s, use_remote_estimate ''true'')',
				   server_options());
	CREATE USER MAPPING FOR PUBLIC SERVER estimated OPTIONS (password_required 'false');
	CREATE USER MAPPING FOR PUBLIC SERVER stock_estimated OPTIONS (password_required 'false');
END
$$;
CREATE TABLE remote.measured (id int PRIMARY KEY, kind int, size int);
INSERT INTO remote.measured SELECT i, i % 10, i % 7 FROM generate_series(1, 1000) i;
CREATE TABLE remote.kinds (kind int PRIMARY KEY, name text);
INSERT INTO remote.kinds SELECT i, 'kind ' || i FROM generate_series(0, 9) i;
ANALYZE remote.measured, remote.kinds;
CREATE FOREIGN TABLE measured (id int, kind int, size int) SERVER estimated
	OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE kinds (kind int, name text) SERVER estimated OPTIONS (schema_name 'remote');
CREATE SCHEMA stock_estimates;
CREATE FOREIGN TABLE stock_estimates.measured (id int, kind int, size int) SERVER stock_estimated
	OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE stock_estimates.kinds (kind int, name text) SERVER stock_estimated
	OPTIONS (schema_name 'remote');

-- the locks that others have on the two tables, and what they do with them
CREATE FUNCTION locks() RETURNS int8
LANGUAGE sql
RETURN (SELECT count(*) FROM pg_locks
		WHERE relation IN ('remote.measured'::regclass, 'remote.kinds'::regclass)
		  AND pid <> pg_backend_pid());
CREATE FUNCTION plan(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN ' || query;
END
$$;
\set table 'SELECT * FROM measured WHERE id = 7 FOR UPDATE'
\set join 'SELECT name, sum(size) FROM measured JOIN kinds USING (kind) WHERE id < 500 GROUP BY name ORDER BY name LIMIT 3'
\set QUIET off

-- planned, nothing is locked, until it is executed; the plans are postgres_fdw's
BEGIN;
SELECT count(*) > 0 AS planned FROM plan(:'table');
SELECT count(*) > 0 AS planned FROM plan(:'join');
SELECT locks();
:table;
SELECT locks() > 0 AS locked;
SELECT * FROM plan(:'join') EXCEPT ALL
	SELECT * FROM plan(replace(replace(:'join', 'FROM measured', 'FROM stock_estimates.measured'),
							   'JOIN kinds', 'JOIN stock_estimates.kinds'));
ROLLBACK;
:join;

-- in a subtransaction of one's own, and an estimate that fails there
BEGIN;
SAVEPOINT a;
SELECT count(*) FROM measured WHERE kind = 3;
ALTER FOREIGN TABLE kinds OPTIONS (ADD table_name 'gone');
SELECT count(*) FROM kinds;
ROLLBACK TO a;
SELECT count(*) FROM measured JOIN kinds USING (kind) WHERE kind = 3;
DO $$
BEGIN
	ALTER FOREIGN TABLE kinds OPTIONS (ADD table_name 'gone');
	PERFORM FROM kinds;
EXCEPTION WHEN undefined_table THEN
	RAISE NOTICE 'there is no such table';
END
$$;
SELECT count(*) FROM measured JOIN kinds USING (kind) WHERE kind = 3;
UPDATE measured SET size = -1 WHERE id = 3;
COMMIT;
SELECT size FROM remote.measured WHERE id = 3;

-- while a scan's rows are in the air, and by a function that a parallel worker may call
CREATE FUNCTION kind_name(k int) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	RETURN (SELECT name FROM kinds WHERE kinds.kind = k);
END
$$;
SELECT id, kind_name(kind) FROM measured WHERE id BETWEEN 8 AND 11 ORDER BY id;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count(kind_name(kind)), count(DISTINCT kind_name(kind)) FROM remote.measured;
RESET ALL;
\set QUIET on
DROP FUNCTION locks, plan, kind_name;
DROP SERVER estimated, stock_estimated CASCADE;
