-- Several processes make a record index.
\getenv abs_builddir PG_ABS_BUILDDIR
\set csv :abs_builddir '/results/made_shared.csv'
\set text :abs_builddir '/results/made_shared.txt'
\set long :abs_builddir '/results/made_long.csv'
\set marked :abs_builddir '/results/made_marked.txt'
CREATE FUNCTION index_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT DISTINCT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Record Index'
$$;
CREATE FUNCTION indexes() RETURNS TABLE (relation text, is_cut bool, columns text[]) LANGUAGE sql
AS $$
SELECT relation::text, blocks > 2, columns FROM tollfree_file_fdw_record_indexes() ORDER BY 1
$$;
-- Records of several lines, a header, and an error far behind
COPY (SELECT i AS id, CASE WHEN i % 10 = 3 THEN E'two\nlines ' || i ELSE 'text ' || i END AS what, CASE i WHEN 29950 THEN 'x' ELSE (i % 100)::text END AS n FROM generate_series(1, 30000) i)
	TO :'csv' (FORMAT csv, HEADER);
COPY (SELECT i, 'text ' || i, CASE i WHEN 29950 THEN 'x' ELSE (i % 100)::text END FROM generate_series(1, 30000) i) TO :'text';
-- Some records are longer than a chunk.
COPY (SELECT i, repeat('long ' || i, CASE WHEN i % 5000 = 0 THEN 10000 ELSE 1 END), 0 FROM generate_series(1, 30000) i) TO :'long' (FORMAT csv);
-- The data end in the middle of the file.
\set mark 'sed ''20000s/.*/\\\\./'' > ' :marked
COPY (SELECT i, 'text ' || i, 7 FROM generate_series(1, 30000) i) TO PROGRAM :'mark';
SELECT make_pair('made_csv', 'id int, what text, n int', :'csv', $$format 'csv', header 'true'$$);
SELECT make_pair('made_text', 'id int, what text, n int', :'text', $$format 'text'$$);
SELECT make_pair('made_long', 'id int, what text, n int', :'long', $$format 'csv'$$);
SELECT make_pair('made_marked', 'id int, what text, n int', :'marked', $$format 'text'$$);
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '16kB';

-- Not with a LIMIT, nor where a process cannot read on.  (The leader reads for certain where no worker does.)
SET max_parallel_workers = 0;
SELECT index_lines('SELECT id FROM ours.made_csv LIMIT 5');
RESET max_parallel_workers;
SELECT agree('SELECT sum(id), sum(n) FROM made_csv');
SELECT * FROM indexes();

SELECT agree('SELECT sum(id) FROM ' || t) FROM unnest('{made_csv, made_text, made_long, made_marked}'::text[]) t;
SELECT * FROM indexes();
CREATE TABLE queries (query text);
INSERT INTO queries
SELECT format(query, t)
FROM unnest('{made_csv, made_text, made_long, made_marked}'::text[]) t,
	unnest('{"SELECT count(id), sum(id), min(id), max(id) FROM %s", "SELECT count(id) FROM %s WHERE id BETWEEN 15000 AND 15100", "SELECT id FROM %s WHERE id IN (1, 777, 4999, 5000, 5001, 19999, 29951) ORDER BY id", "SELECT sum(id) FROM %s WHERE id > 29000"}'::text[]) query;
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM outcome(query, 'stock');
SET max_parallel_workers_per_gather = 0;
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM outcome(query, 'stock');
RESET tollfree_file_fdw.debug_require;

-- A column is added by one process, which keeps the blocks.  Lines are counted as by COPY.
SET max_parallel_workers_per_gather = 2;
CREATE TABLE before AS SELECT * FROM tollfree_file_fdw_record_indexes();
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT sum(length(what)) FROM ours.made_csv;
RESET tollfree_file_fdw.debug_require;
SELECT agree('SELECT sum(length(what)), sum(id) FROM ' || t) FROM unnest('{made_csv, made_text, made_long, made_marked}'::text[]) t;
SELECT agree('SELECT max(what COLLATE "C") FROM ' || t) FROM unnest('{made_csv, made_text, made_long, made_marked}'::text[]) t;
SELECT * FROM indexes();
SELECT relation FROM before JOIN tollfree_file_fdw_record_indexes() USING (relation, file_size, blocks) ORDER BY 1;
SELECT agree('SELECT sum(n), sum(id) FROM made_csv'), agree('SELECT sum(n) FROM made_text');
SELECT agree('SELECT sum(n) FROM made_csv WHERE id > 29000'), agree('SELECT sum(n) FROM made_text WHERE id > 29000');
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT sum(n) FROM made_csv WHERE id > 29000'), agree('SELECT sum(n) FROM made_text WHERE id > 29000');
SELECT tollfree_file_fdw_drop_record_index('ours.made_csv'), tollfree_file_fdw_drop_record_index('ours.made_text');
SET max_parallel_workers_per_gather = 2;

-- The columns kept with the index are kept while it gets more columns.
SELECT agree('SELECT sum(id) FROM made_text');
SET tollfree_file_fdw.column_cache = on;
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT sum(id) FROM made_text');
SELECT agree('SELECT max(what COLLATE "C") FROM made_text');
SELECT column_name, segments FROM tollfree_file_fdw_cached_columns() ORDER BY 1;
RESET tollfree_file_fdw.column_cache;

-- Without workers, without the leader, and again and again
SET max_parallel_workers_per_gather = 2;
SELECT tollfree_file_fdw_drop_record_index('ours.made_long');
SET max_parallel_workers = 0;
SELECT index_lines('SELECT sum(id) FROM ours.made_long') ~ '^Record Index: [0-9]+ blocks written$';
RESET max_parallel_workers;
SELECT tollfree_file_fdw_drop_record_index('ours.made_long');
SET parallel_leader_participation = off;
SELECT index_lines('SELECT sum(id) FROM ours.made_long') ~ '^Record Index: [0-9]+ blocks written$';
RESET parallel_leader_participation;
SELECT tollfree_file_fdw_drop_record_index('ours.made_long');
SELECT agree('SELECT a, (SELECT sum(id) FROM made_long WHERE id > a) FROM generate_series(0, 30000, 10000) a');
SELECT * FROM indexes();
SELECT query FROM queries WHERE query ~ 'made_long' AND outcome(query, 'ours') IS DISTINCT FROM outcome(query, 'stock');
RESET tollfree_file_fdw.record_index;
RESET tollfree_file_fdw.debug_record_index_age;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
DROP FOREIGN TABLE ours.made_csv, stock.made_csv, ours.made_text, stock.made_text, ours.made_long, stock.made_long, ours.made_marked, stock.made_marked;
DROP TABLE queries, before;
DROP FUNCTION index_lines, indexes;
