-- All record indexes together have a limit; the oldest go first.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_limited.csv'
COPY (SELECT i, 'text ' || i, i % 7 FROM generate_series(1, 20000) i) TO :'log' (FORMAT csv);
SELECT make_pair(name, 'id int, what text, few int', :'log', $$format 'csv'$$) FROM unnest('{limited_a,limited_b,limited_c}'::text[]) name;
CREATE VIEW indexes AS SELECT relation FROM tollfree_file_fdw_record_indexes() ORDER BY relation::text;
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT count(*) FROM ours.limited_b;
SELECT count(*) FROM ours.limited_a;
SELECT * FROM indexes;
SELECT setting, unit, context FROM pg_settings WHERE name = 'tollfree_file_fdw.record_index_size';
SET tollfree_file_fdw.record_index_size = '9kB';
SELECT count(*) FROM ours.limited_c;
SELECT * FROM indexes;
SELECT count(*) FROM ours.limited_a;
SELECT * FROM indexes;
SELECT count(*) FROM ours.limited_b;
SELECT * FROM indexes;
-- One that is too large is not kept, and none goes for it.
SET tollfree_file_fdw.record_index_size = '2kB';
SELECT count(*) FROM ours.limited_a;
SELECT * FROM indexes;
-- One makes room for that which replaces it.
SET tollfree_file_fdw.record_index_size = '5kB';
SELECT agree('SELECT sum(id) FROM limited_a');
SELECT agree('SELECT sum(few) FROM limited_a'), agree('SELECT sum(few) FROM limited_a WHERE id > 19990');
SELECT relation, columns FROM tollfree_file_fdw_record_indexes();
SET tollfree_file_fdw.record_index_size = 0;
SELECT agree('SELECT count(what) FROM limited_a');
SELECT relation, columns FROM tollfree_file_fdw_record_indexes();
-- Where there is no room for a column, several processes may read the file.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT trim(line) FROM shown_plan('SELECT what FROM ours.limited_a', 'costs off') line WHERE line ~ 'Gather';
SET max_parallel_workers_per_gather = 0;
SELECT trim(line) FROM shown_plan('SELECT what FROM ours.limited_a', 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Index';
DROP VIEW indexes;
DROP FOREIGN TABLE ours.limited_a, ours.limited_b, ours.limited_c, stock.limited_a, stock.limited_b, stock.limited_c;
