-- Many files, read by several processes: each reads whole files.
\getenv abs_builddir PG_ABS_BUILDDIR
\set folder :abs_builddir '/results/shared'
\set one :folder '/20.csv'
SET client_min_messages = warning;
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s', :'folder'));
CREATE FUNCTION write_shared(folder text, number int, nrows int) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT %s, i, i %% 7, CASE WHEN i %% 50 = 3 AND %1$s %% 3 = 1 THEN ''\303\251'' ELSE repeat(''x'', i %% 20) END FROM generate_series(1, %s) i) TO %L (FORMAT csv)',
				   number, nrows, format('%s/%s.csv', folder, number));
END
$$;
SELECT write_shared(:'folder', i, i * 100) FROM generate_series(0, 20) i;
SELECT stock_files('shared', 'part int, a int, b int, c text', ARRAY(SELECT :'folder' || '/' || i || '.csv' FROM generate_series(0, 20) i), $$format 'csv'$$);
CREATE FOREIGN TABLE ours.shared (part int, a int, b int, c text) SERVER ours OPTIONS (filenames :'folder', format 'csv');
CREATE FUNCTION compare_shared() RETURNS TABLE (query text, agrees text) LANGUAGE sql
AS $$
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT count(*), sum(a), max(b), min(c COLLATE "C") FROM shared', 'SELECT part, sum(a) FROM shared WHERE b > 3 GROUP BY part ORDER BY part',
	'SELECT * FROM shared WHERE b = 2 ORDER BY part, a', 'SELECT count(*) FROM shared x JOIN shared y USING (part, a) WHERE x.b < 2',
	'SELECT sum(a::numeric / b) FROM shared WHERE b > 0', 'SELECT n, (SELECT sum(a) FROM shared WHERE b > n) FROM generate_series(1, 3) n']) query
$$;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM compare_shared();
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM compare_shared();
SET parallel_leader_participation = off;
SELECT * FROM compare_shared();
RESET parallel_leader_participation;
SET enable_hashagg = off;
SELECT * FROM compare_shared();
RESET enable_hashagg;
SELECT * FROM shown_plan('SELECT sum(a) FROM ours.shared WHERE b > 1');
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT sum(a) FROM ours.shared WHERE a < 0;
RESET tollfree_file_fdw.debug_require;

-- An aggregation that starts over in each process: a sum that overflows, and characters that COPY's parser has to read
SELECT query, agree(query) FROM unnest(ARRAY['SELECT sum(a * 1000000 + b) FROM shared', 'SELECT part, sum(a * 100000) FROM shared GROUP BY part ORDER BY part']) query;
ALTER FOREIGN TABLE ours.shared OPTIONS (ADD encoding 'latin1');
SELECT count(*), sum(a) FROM ours.shared;
SELECT part, count(c) FROM ours.shared WHERE c > 'xxxx' GROUP BY part ORDER BY part DESC LIMIT 3;
ALTER FOREIGN TABLE ours.shared OPTIONS (DROP encoding);
-- Executed again
SET enable_material = off;
SELECT n, s.a FROM generate_series(1, 3) n, LATERAL (SELECT sum(a) AS a FROM ours.shared WHERE part > 17 OFFSET 0) s;
PREPARE shared AS SELECT sum(a) FROM ours.shared WHERE b = $1;
EXECUTE shared(1);
EXECUTE shared(2);
DEALLOCATE shared;
-- As many workers as there are files to read beside the leader's
ALTER FOREIGN TABLE ours.shared OPTIONS (SET filenames :'one');
SELECT * FROM shown_plan('SELECT sum(a) FROM ours.shared WHERE b > 1');
SELECT shell(format('rm -rf %s', :'folder'));
DROP FOREIGN TABLE ours.shared;
