-- Estimates that the remote server is asked for, over the connection that executes the query.
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

-- who else has locks on the two tables: our connection and nobody else?
CREATE FUNCTION locked_by() RETURNS text
LANGUAGE sql
RETURN (SELECT CASE WHEN array_agg(DISTINCT pid) = (SELECT array_agg(remote_backend_pid) FROM tollfree_postgres_fdw_get_connections()
													WHERE server_name = 'estimated')
					THEN 'our connection' ELSE count(DISTINCT pid) || ' processes' END
		FROM pg_locks
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

-- Planned, the tables are locked by the connection that executes, and by no other.  The plans are postgres_fdw's.
BEGIN;
SELECT count(*) > 0 AS planned FROM plan(:'table');
SELECT count(*) > 0 AS planned FROM plan(:'join');
SELECT locked_by();
:table;
SELECT locked_by();
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

-- What the transaction has changed is seen, TRUNCATE included.
BEGIN;
TRUNCATE kinds;
SELECT count(*) FROM kinds;
SELECT count(*) FROM measured JOIN kinds USING (kind);
ROLLBACK;
SELECT count(*) AS second_connections FROM postgres_fdw_get_connections() WHERE server_name = 'estimated';

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

-- Plans and costs are postgres_fdw's, whatever it asks for.
\set QUIET on
CREATE TABLE beside AS SELECT i AS id, i * 13 % 1000 AS far FROM generate_series(1, 50) i;
ANALYZE beside;
CREATE TABLE parts (id int, kind int, size int) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE part_0 PARTITION OF parts FOR VALUES IN (0, 1, 2, 3, 4) SERVER estimated OPTIONS (schema_name 'remote', table_name 'measured');
CREATE FOREIGN TABLE part_1 PARTITION OF parts DEFAULT SERVER estimated OPTIONS (schema_name 'remote', table_name 'measured');
CREATE TABLE stock_estimates.parts (LIKE parts) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE stock_estimates.part_0 PARTITION OF stock_estimates.parts FOR VALUES IN (0, 1, 2, 3, 4) SERVER stock_estimated
	OPTIONS (schema_name 'remote', table_name 'measured');
CREATE FOREIGN TABLE stock_estimates.part_1 PARTITION OF stock_estimates.parts DEFAULT SERVER stock_estimated
	OPTIONS (schema_name 'remote', table_name 'measured');
CREATE FUNCTION is_small(int) RETURNS bool LANGUAGE plpgsql COST 10 AS 'BEGIN RETURN $1 < 3; END';
CREATE FUNCTION costs_of(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan text;
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		plan := concat_ws(E'\n', plan, line);
	END LOOP;
	RETURN plan;
END
$$;
CREATE FUNCTION compare_costs(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	ours text := costs_of(query);
	stock text;
BEGIN
	SET LOCAL search_path = stock_estimates, public;
	stock := costs_of(query);
	RESET search_path;
	RETURN CASE WHEN ours = stock THEN 'same' ELSE ours || E'\nbut ' || stock END;
END
$$;
CREATE TABLE queries AS SELECT query FROM unnest(ARRAY[
	'SELECT * FROM measured', 'SELECT size FROM measured WHERE id = 7', 'SELECT * FROM measured WHERE is_small(size)',
	'SELECT * FROM measured WHERE is_small(size) AND id < 100 ORDER BY id LIMIT 3', 'SELECT * FROM measured ORDER BY size, id',
	'SELECT * FROM measured ORDER BY id LIMIT 3', 'SELECT * FROM measured LIMIT 5 OFFSET 2', 'SELECT * FROM measured WHERE id < 10 FOR UPDATE',
	'SELECT * FROM measured JOIN kinds USING (kind) WHERE id < 10 FOR UPDATE', 'SELECT kind, count(*) FROM measured GROUP BY kind',
	'SELECT kind, count(*) FROM measured GROUP BY kind HAVING is_small(count(*)::int) AND sum(size) > 3 ORDER BY kind',
	'SELECT kind, sum(size) FROM measured GROUP BY kind ORDER BY kind LIMIT 3', 'SELECT max(id) FROM measured WHERE kind = 3',
	'SELECT m.id + 1, upper(k.name) FROM measured m JOIN kinds k USING (kind) ORDER BY m.id + 1 LIMIT 4',
	'SELECT * FROM measured m LEFT JOIN kinds k ON k.kind = m.size AND is_small(m.size)',
	'SELECT * FROM measured m WHERE EXISTS (SELECT FROM kinds k WHERE k.kind = m.size AND k.name > ''kind 3'')',
	'SELECT * FROM measured a JOIN measured b ON a.id = b.size JOIN kinds k ON k.kind = b.kind WHERE a.id < 500',
	'SELECT * FROM beside JOIN measured m ON m.id = beside.far', 'SELECT * FROM beside LEFT JOIN measured m ON m.id = beside.far AND m.kind = beside.id',
	'SELECT * FROM beside JOIN measured m ON m.id = beside.far JOIN kinds k USING (kind)',
	'SELECT * FROM beside JOIN measured m ON m.id > beside.far', 'SELECT * FROM beside, LATERAL (SELECT * FROM measured m WHERE m.id = beside.far ORDER BY size LIMIT 1) x',
	'SELECT (SELECT name FROM kinds k WHERE k.kind = beside.id) FROM beside', 'SELECT * FROM beside WHERE far IN (SELECT id FROM measured WHERE kind = 3)',
	'SELECT * FROM parts WHERE id = 7', 'SELECT * FROM parts ORDER BY id LIMIT 3', 'SELECT * FROM beside JOIN parts p ON p.id = beside.far',
	'SELECT kind, count(*), sum(size) FROM parts GROUP BY kind', 'SELECT count(*) FROM parts p JOIN kinds k USING (kind)',
	'UPDATE measured SET size = 1 WHERE id = 7', 'UPDATE measured SET size = 1 FROM kinds k WHERE k.kind = measured.kind AND k.name = ''kind 1''',
	'UPDATE measured SET size = 1 FROM beside WHERE beside.far = measured.id', 'DELETE FROM measured WHERE is_small(id)']) query;
SET tollfree_postgres_fdw.batched_lookups = off;
SET tollfree_postgres_fdw.partial_aggregates = off;
\set QUIET off
SELECT query, compare_costs(query) FROM queries WHERE compare_costs(query) <> 'same';
SET enable_hashjoin = off;
SET geqo_threshold = 2;
SELECT query, compare_costs(query) FROM queries WHERE compare_costs(query) <> 'same';
SET enable_nestloop = off;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT query, compare_costs(query) FROM queries WHERE compare_costs(query) <> 'same';
ALTER SERVER estimated OPTIONS (ADD fdw_startup_cost '7', ADD fdw_tuple_cost '0.5');
ALTER SERVER stock_estimated OPTIONS (ADD fdw_startup_cost '7', ADD fdw_tuple_cost '0.5');
RESET enable_nestloop;
RESET enable_hashjoin;
SELECT query, compare_costs(query) FROM queries WHERE compare_costs(query) <> 'same';
-- Parameters whose values nobody knows, of types that are written in many ways
SET plan_cache_mode = force_generic_plan;
PREPARE unknown(int, numeric(10, 2), text, timestamp, "char") AS
	SELECT * FROM measured WHERE id = $1 AND size < $2 AND 'it''s $1::integer' <> $3 AND $5 <> 'x' AND $4 > '2000-01-01' ORDER BY id LIMIT $1;
SELECT costs_of('EXECUTE unknown(1, 2, ''3'', ''2001-01-01'', ''y'')') AS ours \gset
DEALLOCATE unknown;
SET search_path = stock_estimates, public;
PREPARE unknown(int, numeric(10, 2), text, timestamp, "char") AS
	SELECT * FROM measured WHERE id = $1 AND size < $2 AND 'it''s $1::integer' <> $3 AND $5 <> 'x' AND $4 > '2000-01-01' ORDER BY id LIMIT $1;
SELECT costs_of('EXECUTE unknown(1, 2, ''3'', ''2001-01-01'', ''y'')') = :'ours' AS same;
DEALLOCATE unknown;
RESET ALL;

-- Round trips: one for all questions about tables, one for those about a join, and the scan.  Equal questions are asked once.
SELECT round_trips_since(0, 'estimated') AS before \gset
SELECT size FROM measured WHERE id = 7;
SELECT round_trips_since(:before, 'estimated') AS round_trips;
SELECT round_trips_since(0, 'estimated') AS before \gset
SELECT count(*) FROM (SELECT m.id, k.name FROM measured m JOIN kinds k USING (kind) WHERE m.id < 10 OFFSET 0) x;
SELECT round_trips_since(:before, 'estimated') AS round_trips;
SELECT round_trips_since(0, 'estimated') AS before \gset
SELECT count(*) FROM (SELECT id FROM measured WHERE kind = 3 UNION ALL SELECT id FROM measured WHERE kind = 3) x;
SELECT round_trips_since(:before, 'estimated') AS round_trips;
\set QUIET on
DROP TABLE parts, stock_estimates.parts, queries, beside;
DROP FUNCTION locked_by, plan, kind_name, compare_costs, costs_of, is_small;
DROP SERVER estimated, stock_estimated CASCADE;
