-- Columns that are kept before queries ask for them.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_loaded.csv'
COPY (SELECT i, CASE i % 3 WHEN 0 THEN 'x' ELSE 'y' END, i * 0.5, CASE i WHEN 1500 THEN 'NaN' ELSE i::text END, NULL FROM generate_series(1, 5000) i) TO :'log' (FORMAT csv);
SELECT make_pair('loaded', 'id int, gone text, "What" text, half numeric(9,1), odd numeric(9,1)', :'log', $$format 'csv'$$);
ALTER FOREIGN TABLE ours.loaded DROP gone;
ALTER FOREIGN TABLE stock.loaded DROP gone;
ALTER FOREIGN TABLE ours.loaded ADD u uuid NOT NULL;
ALTER FOREIGN TABLE stock.loaded ADD u uuid NOT NULL;
SET tollfree_file_fdw.debug_segment_size = '30kB';

-- What switches it off, and what cannot be kept.
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded');
SET tollfree_file_fdw.record_index = on;
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded');
SET tollfree_file_fdw.column_cache = on;
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded');
SET tollfree_file_fdw.debug_record_index_age = 0;
ALTER FOREIGN TABLE ours.loaded OPTIONS (ADD column_cache 'false');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded');
ALTER FOREIGN TABLE ours.loaded OPTIONS (DROP column_cache);
SELECT * FROM tollfree_file_fdw_load_columns('stock.loaded');
SELECT * FROM tollfree_file_fdw_load_columns('pg_class');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{id,gone}');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{ctid}');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{}');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{NULL}');
SELECT * FROM tollfree_file_fdw_load_columns(NULL);
CREATE FOREIGN TABLE ours.loaded_program (id int) SERVER ours OPTIONS (program 'seq 2000');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded_program');
\set header :abs_builddir '/results/log_loaded_header.csv'
COPY (SELECT i AS id FROM generate_series(1, 5000) i) TO :'header' (FORMAT csv, HEADER);
CREATE FOREIGN TABLE ours.loaded_header (id int) SERVER ours OPTIONS (filename :'header', format 'csv', header 'match');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded_header');
\set few :abs_builddir '/results/log_loaded_few.csv'
COPY (SELECT i FROM generate_series(1, 900) i) TO :'few' (FORMAT csv);
CREATE FOREIGN TABLE ours.loaded_few (id int) SERVER ours OPTIONS (filename :'few', format 'csv');
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded_few');
DROP FOREIGN TABLE ours.loaded_program, ours.loaded_header, ours.loaded_few;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded');
RESET tollfree_file_fdw.fast_scan;

-- Columns by name, all of them; a part with an open value has no segment.
SELECT column_name, segments, size > 0 AS has_size FROM tollfree_file_fdw_load_columns('ours.loaded', '{"What",id,id}');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT agree('SELECT id, "What" FROM loaded');
RESET tollfree_file_fdw.debug_require;
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.loaded');
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.loaded', '{odd}');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT agree('SELECT id, half, u FROM loaded'), agree('SELECT sum(half), count(u) FROM loaded');
RESET tollfree_file_fdw.debug_require;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT tollfree_file_fdw_drop_record_index('ours.loaded');
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.loaded', '{half}');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT agree('SELECT sum(half) FROM loaded');
RESET tollfree_file_fdw.debug_require;

-- Who may not read the table loads nothing; who may need not own it.
CREATE ROLE regress_tollfree_loader;
GRANT USAGE ON SCHEMA ours TO regress_tollfree_loader;
GRANT SELECT (id) ON ours.loaded TO regress_tollfree_loader;
SET ROLE regress_tollfree_loader;
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{id}');
RESET ROLE;
GRANT SELECT ON ours.loaded TO regress_tollfree_loader;
SET ROLE regress_tollfree_loader;
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.loaded', '{id}');
RESET ROLE;
REVOKE ALL ON ours.loaded FROM regress_tollfree_loader;
REVOKE USAGE ON SCHEMA ours FROM regress_tollfree_loader;
DROP ROLE regress_tollfree_loader;

-- What a query would raise, it raises; a record for COPY's parser is no part of an index.
\set append 'printf ''5001,z,wrong,1,\\n'' >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'append';
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{half}');
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.loaded', '{id}');
\set append 'printf ''5002,z,1\\n'' >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'append';
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded', '{id}');
COPY (SELECT i, 'x', 1, 1, NULL FROM generate_series(1, 10) i) TO :'log' (FORMAT csv);
SELECT * FROM tollfree_file_fdw_load_columns('ours.loaded');
DROP FOREIGN TABLE ours.loaded, stock.loaded;
