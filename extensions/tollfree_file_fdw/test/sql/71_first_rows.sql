-- Who wants a few rows of a file has no more read of it than with file_fdw, whatever is kept of it.
\getenv abs_builddir PG_ABS_BUILDDIR
\set rows :abs_builddir '/results/first_rows.csv'
\set wide :abs_builddir '/results/first_wide.csv'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
COPY (SELECT i, i % 1000, CASE i % 7 WHEN 3 THEN NULL ELSE 'text ' || i END, (i / 8.0)::numeric(9, 3), i % 365 FROM generate_series(1, 60000) i) TO :'rows' (FORMAT csv, HEADER);
SELECT make_pair('first_rows', 'a int, b int, c text, d numeric(9, 3), e int', :'rows', $$format 'csv', header 'true'$$);
COPY (SELECT repeat(i || ',', 999) || i FROM generate_series(10, 90) i) TO :'wide' (DELIMITER '|');
SELECT make_pair('first_wide', (SELECT string_agg(format('c%s int', i), ', ') FROM generate_series(1, 1000) i), :'wide', $$format 'csv'$$);

-- How many bytes of files a query has read: the kernel counts them for each process.
CREATE FUNCTION bytes_read() RETURNS bigint LANGUAGE sql VOLATILE
RETURN substring(pg_read_file('/proc/self/io', 0, 1000) FROM 'rchar: (\d+)')::bigint;
CREATE TABLE first_queries (query text);
INSERT INTO first_queries VALUES ('SELECT * FROM first_rows LIMIT 1'), ('SELECT * FROM first_rows LIMIT 10'),
	('SELECT EXISTS (SELECT FROM first_rows)'), ('SELECT v, (SELECT a FROM first_rows WHERE a > v LIMIT 1) FROM generate_series(1, 20) v'),
	('SELECT v, x.a FROM generate_series(1, 20) v, LATERAL (SELECT a + v AS a FROM first_rows LIMIT 1) x'),
	('SELECT a, c FROM first_rows WHERE b > 2 LIMIT 3'), ('SELECT a FROM first_rows WHERE c IS NULL LIMIT 2'), ('SELECT * FROM first_wide LIMIT 1'),
	('SELECT EXISTS (SELECT FROM first_wide WHERE c3 = 10)'),
	('DO $d$ DECLARE r record; BEGIN FOR r IN SELECT * FROM first_rows LOOP EXIT WHEN r.a > 2; END LOOP; END $d$');
CREATE FUNCTION compare_bytes() RETURNS TABLE (query text, agrees text, is_little bool) LANGUAGE sql VOLATILE
AS $$
SELECT query, CASE WHEN query LIKE 'SELECT%' THEN agree(query) END, counted_by('bytes_read()', query, 'ours') <= counted_by('bytes_read()', query, 'stock') * 1.1 FROM first_queries
$$;
SELECT * FROM compare_bytes();

-- With all that can be kept
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.column_cache = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.first_rows');
SELECT is_little, count(*) FROM compare_bytes() GROUP BY is_little;
SELECT * FROM compare_bytes() WHERE NOT is_little OR agrees LIKE 'DIFF%';

-- Who wants more gets all rows, once each: the first ones from text, the others from segments.
SELECT query, agree(query) FROM unnest(ARRAY['SELECT * FROM first_rows', 'SELECT * FROM first_rows LIMIT 255', 'SELECT * FROM first_rows LIMIT 257', 'SELECT * FROM first_rows LIMIT 5000',
	'SELECT a, c FROM first_rows WHERE b < 900', 'SELECT a FROM first_rows WHERE c IS NULL LIMIT 3000', 'SELECT count(*), sum(a) FROM (SELECT a FROM first_rows OFFSET 0) x',
	'SELECT * FROM first_rows WHERE a > 30000', 'SELECT count(*) FROM first_rows x, first_rows y WHERE x.a = y.a AND y.b < 3', 'SELECT * FROM first_wide']) query;
SELECT regexp_replace(line, '^ *', '') FROM unnest(ARRAY['SELECT * FROM ours.first_rows LIMIT 1', 'SELECT * FROM ours.first_rows LIMIT 5000', 'SELECT a FROM ours.first_rows WHERE b < 900', 'SELECT * FROM ours.first_wide']) query,
	shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Record|Column|Removed|Scan';
-- Blocks that several processes have made are smaller than what is read first; one that is made again passes over several.
SELECT tollfree_file_fdw_drop_record_index('ours.first_rows');
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SELECT count(a) FROM ours.first_rows;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT a, b FROM first_rows'), agree('SELECT a, b FROM first_rows'), agree('SELECT a, b FROM first_rows WHERE b > 5 LIMIT 2000');
-- Several processes, who have the file cut by what is kept of it, pass over nothing, however often they start.
SET max_parallel_workers_per_gather = 2;
SET enable_hashagg = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT workers, set_config('max_parallel_workers', workers, false), agree('SELECT v, (SELECT sum(c) FROM (SELECT b AS k, count(a) AS c FROM first_rows WHERE length(c) < 99 GROUP BY b ORDER BY 1 OFFSET 0) y WHERE c > v) FROM (VALUES (0), (1), (2)) x (v)')
FROM unnest('{0,8}'::text[]) workers;
RESET max_parallel_workers;
RESET enable_hashagg;
RESET enable_material;
RESET enable_memoize;
SET max_parallel_workers_per_gather = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
BEGIN;
DECLARE c CURSOR FOR SELECT a, b, c FROM ours.first_rows;
FETCH 2 FROM c;
MOVE 254 FROM c;
FETCH 2 FROM c;
MOVE 30000 FROM c;
FETCH 1 FROM c;
MOVE ALL FROM c;
COMMIT;
-- What a file of so few records cannot have is not looked for: a scan that found this, which is no index, would remove it.
\set small :abs_builddir '/results/first_small.csv'
COPY (SELECT i, i % 3, 'x' FROM generate_series(1, 10) i) TO :'small' (FORMAT csv);
SELECT make_pair('first_small', 'a int, b int, c text', :'small', $$format 'csv'$$);
SELECT format('pgsql_tmp_%s_%s', d.oid, 'ours.first_small'::regclass::oid) AS kept FROM pg_database d WHERE datname = current_database() \gset
\set write 'cat > pgsql_tmp_tollfree_file_fdw/' :kept
COPY (SELECT 'nothing') TO PROGRAM :'write';
SELECT query, agree(query) FROM unnest(ARRAY['SELECT count(*) FROM first_small', 'SELECT * FROM first_small', 'SELECT a FROM first_small WHERE b = 1',
	'SELECT b, sum(a) FROM first_small WHERE a > 2 GROUP BY b ORDER BY b']) query;
SELECT count(*) FROM pg_ls_dir('pgsql_tmp_tollfree_file_fdw') f WHERE f = :'kept';
\set write 'cat > /dev/null; rm pgsql_tmp_tollfree_file_fdw/' :kept
COPY (SELECT 'nothing') TO PROGRAM :'write';
DROP FOREIGN TABLE stock.first_small, ours.first_small;
RESET tollfree_file_fdw.record_index;
RESET tollfree_file_fdw.column_cache;
RESET tollfree_file_fdw.debug_record_index_age;
DROP FUNCTION compare_bytes, bytes_read;
DROP TABLE first_queries;
DROP FOREIGN TABLE stock.first_rows, ours.first_rows, stock.first_wide, ours.first_wide;
RESET client_min_messages;
