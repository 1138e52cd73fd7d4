-- Columns whose values are of a file's path, or a row's line; conditions on these choose files before they are opened.
\getenv abs_builddir PG_ABS_BUILDDIR
\set folder :abs_builddir '/results/parted'
\set all :folder '/**/*.csv'
\set nulls :folder '/year=_*/*.csv'
\set odd :folder '/year=[^0-9]*/*.csv'
\set here :folder '/*.csv'
\set logs :folder '/log-[45].csv'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s', :'folder'));
CREATE FUNCTION write_parted(folder text, year int, month int) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM shell(format('mkdir -p %s/year=%s/month=%s', folder, year, month));
	EXECUTE format('COPY (SELECT i, %s * 100 + %s FROM generate_series(1, 3) i) TO %L (FORMAT csv)', year, month,
				   format('%s/year=%s/month=%s/log-%s.csv', folder, year, month, lpad(month::text, 2, '0')));
END
$$;
SELECT count(write_parted(:'folder', year, month)) FROM generate_series(2024, 2026) year, generate_series(1, 12) month;
CREATE FOREIGN TABLE ours.parted (
	month int OPTIONS (source 'path'), id int, name text OPTIONS (source 'file'), stamp int, year int OPTIONS (source 'path'),
	line bigint OPTIONS (source 'line'), digits text OPTIONS (source 'path', pattern 'log-(\d+)'))
SERVER ours OPTIONS (filenames :'all', format 'csv');
-- Without the columns that are computed
CREATE VIEW parted_rows AS SELECT y * 100 + m AS stamp, i AS id, y AS year, m AS month, i AS line, lpad(m::text, 2, '0') AS digits
FROM generate_series(2024, 2026) y, generate_series(1, 12) m, generate_series(1, 3) i;
SELECT regexp_replace(name, '.*/parted', '') AS name, id, stamp, year, month, line, digits FROM ours.parted WHERE month = 2 AND id = 1;
CREATE FUNCTION compare_parted() RETURNS TABLE (query text, agrees text) LANGUAGE sql
AS $$
SELECT query, CASE WHEN outcome(replace(query, 'PARTED', 'ours.parted'), 'public') = outcome(replace(query, 'PARTED', 'parted_rows'), 'public')
	THEN outcome(replace(query, 'PARTED', 'parted_rows'), 'public')::text ELSE 'DIFFERENT: ' || outcome(replace(query, 'PARTED', 'ours.parted'), 'public')::text END
FROM unnest(ARRAY[
	'SELECT count(*), sum(stamp) FROM PARTED', 'SELECT count(*), sum(stamp) FROM PARTED WHERE year = 2025', 'SELECT sum(stamp) FROM PARTED WHERE year IN (2024, 2026) AND month BETWEEN 3 AND 4 AND id <> 2',
	'SELECT stamp, line FROM PARTED WHERE digits < ''02'' AND line > 2 ORDER BY 1', 'SELECT year, month, digits, count(*) FROM PARTED WHERE stamp < 202403 GROUP BY year, month, digits ORDER BY 1, 2',
	'SELECT max(stamp) FROM PARTED WHERE year = (SELECT min(year) FROM PARTED)', 'SELECT n, (SELECT sum(stamp) FROM PARTED WHERE year = n) FROM generate_series(2025, 2027) n',
	'SELECT count(*) FROM PARTED WHERE year = 1', 'SELECT sum(x.stamp - y.stamp) FROM PARTED x JOIN PARTED y USING (month, id) WHERE x.year = 2025 AND y.year = 2024',
	'SELECT DISTINCT year FROM PARTED ORDER BY year DESC', 'SELECT year, lag(year) OVER (ORDER BY stamp, id) FROM PARTED WHERE month = 12', 'SELECT count(*) FROM PARTED WHERE year + month = 2027 OR digits LIKE ''%9''']) query
$$;
SELECT * FROM compare_parted();
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM compare_parted();
RESET tollfree_file_fdw.fast_scan;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM compare_parted();
SET max_parallel_workers_per_gather = 0;

-- Which files are read; what the planner cannot decide is decided when the query runs.
SELECT * FROM shown_plan('SELECT stamp FROM ours.parted WHERE year = 2026 AND month IN (1, 2) AND id > 1');
SELECT * FROM shown_plan('SELECT sum(stamp) FROM ours.parted WHERE year = 2026 AND id > 1');
SELECT * FROM shown_plan('SELECT stamp FROM ours.parted WHERE digits LIKE ''1%'' AND line = 1');
SELECT * FROM shown_plan('SELECT stamp FROM ours.parted WHERE digits LIKE ''1%'' AND line = 1', 'costs off, analyze, timing off, summary off, buffers off');
SELECT * FROM shown_plan('SELECT sum(stamp) FROM ours.parted WHERE year > 2025', 'costs off, analyze, timing off, summary off, buffers off');
SELECT * FROM shown_plan('SELECT sum(stamp) FROM ours.parted WHERE year = 1', 'costs off, analyze, timing off, summary off, buffers off');
SET plan_cache_mode = force_generic_plan;
PREPARE parted AS SELECT sum(stamp) FROM ours.parted WHERE year = $1 AND month < $2;
SELECT * FROM shown_plan('EXECUTE parted(2025, 3)', 'costs off');
SELECT * FROM shown_plan('EXECUTE parted(2025, 3)', 'costs off, analyze, timing off, summary off, buffers off');
EXECUTE parted(2025, 3);
EXECUTE parted(2024, 13);
EXECUTE parted(NULL, 3);
DEALLOCATE parted;
RESET plan_cache_mode;
-- What is read for an outer row
SELECT regexp_replace(shown_plan, 'SubPlan \w+', 'SubPlan') AS shown_plan FROM shown_plan('SELECT n, (SELECT sum(stamp) FROM ours.parted WHERE year = n) FROM generate_series(2025, 2027) n', 'costs off, analyze, timing off, summary off, buffers off');
-- A condition that is not the owner's sees no file that a view's hides.
CREATE FUNCTION tells(file text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE WARNING 'seen: %', regexp_replace(file, '.*/', ''); RETURN true; END $$;
CREATE VIEW barred WITH (security_barrier) AS SELECT * FROM ours.parted WHERE digits || '' = '12' AND year = 2026;
SELECT count(*) FROM barred WHERE tells(name);
-- Estimates
CREATE FUNCTION estimated(query text) RETURNS int LANGUAGE plpgsql
AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN (plan->0->'Plan'->>'Plan Rows')::int;
END
$$;
ANALYZE ours.parted;
SELECT reltuples FROM pg_class WHERE oid = 'ours.parted'::regclass;
SELECT attname, n_distinct FROM pg_stats WHERE schemaname = 'ours' AND tablename = 'parted' AND attname <> 'name' ORDER BY attname;
SELECT estimated('SELECT * FROM ours.parted'), estimated('SELECT * FROM ours.parted WHERE year = 2026'), estimated('SELECT * FROM ours.parted WHERE month = 1 AND year = 2024');

-- Values that a path does not have, or that are no values
SELECT shell(format('cd %s && mkdir year=__HIVE_DEFAULT_PARTITION__ && echo 1,1 > year=__HIVE_DEFAULT_PARTITION__/log-1.csv && mkdir year=x && echo 2,2 > year=x/log-2.csv && echo 3,3 > log-3.csv', :'folder'));
ALTER FOREIGN TABLE ours.parted OPTIONS (SET filenames :'nulls');
SELECT id, year, digits FROM ours.parted WHERE year IS NULL;
ALTER FOREIGN TABLE ours.parted OPTIONS (SET filenames :'odd');
SELECT id, digits FROM ours.parted;
SELECT failure(query) FROM unnest(ARRAY['SELECT year FROM parted', 'SELECT id FROM parted WHERE year = 1']) query;
ALTER FOREIGN TABLE ours.parted OPTIONS (SET filenames :'here');
SELECT failure(query) FROM unnest(ARRAY['SELECT year FROM parted', 'SELECT id FROM parted WHERE year = 1', 'SELECT id, digits FROM parted']) query;
ALTER FOREIGN TABLE ours.parted ALTER digits OPTIONS (SET pattern 'file-(.*)');
SELECT failure('SELECT digits FROM parted');
\set VERBOSITY terse
CREATE FOREIGN TABLE ours.wrong (a int OPTIONS (source 'nowhere')) SERVER ours OPTIONS (filenames :'folder');
CREATE FOREIGN TABLE ours.one (a int OPTIONS (source 'line'), b int) SERVER ours OPTIONS (filename :'folder');
SELECT * FROM ours.one;
DROP FOREIGN TABLE ours.one;
CREATE FOREIGN TABLE ours.none (a int OPTIONS (source 'line')) SERVER ours OPTIONS (filenames :'folder');
SELECT * FROM ours.none;
DROP FOREIGN TABLE ours.none;
CREATE FOREIGN TABLE ours.text (a text OPTIONS (source 'line'), b int) SERVER ours OPTIONS (filenames :'folder');
SELECT * FROM ours.text;
DROP FOREIGN TABLE ours.text;
CREATE FOREIGN TABLE stock.wrong (a int OPTIONS (source 'file')) SERVER stock OPTIONS (filename 'x');
CREATE SERVER folders FOREIGN DATA WRAPPER tollfree_file_fdw;
CREATE FOREIGN TABLE ours.held (a int, b text OPTIONS (source 'file')) SERVER folders OPTIONS (filename 'x');
SELECT tollfree_file_fdw_release('folders');
DROP SERVER folders CASCADE;
-- Lines within quotes, and those that COPY's parser reads
SELECT put_file(:'folder' || '/log-4.csv', '1,1\n"2",2\n3,"3"\n4,4\n') IS NULL;
SELECT put_file(:'folder' || '/log-5.csv', 'b,z\na,"x\ny"\nc,z\n') IS NULL;
CREATE FOREIGN TABLE ours.lined (a text, b text, line int OPTIONS (source 'line')) SERVER ours OPTIONS (filenames :'logs', format 'csv');
SELECT * FROM ours.lined;
SELECT a, line FROM ours.lined WHERE line > 2 OR a = 'b';
SELECT shell(format('rm -rf %s', :'folder'));
DROP FOREIGN TABLE ours.parted CASCADE;
DROP FUNCTION tells;
DROP FOREIGN TABLE ours.lined;
DROP VIEW parted_rows;
