-- Where a fast path is not taken, it is said why, in words that a user knows.
\getenv abs_builddir PG_ABS_BUILDDIR
\set rows :abs_builddir '/results/reasons.csv'
\set latin :abs_builddir '/results/reasons_latin.csv'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

-- Options that a program cannot have, and names that are nearly right
\set VERBOSITY default
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (program 'echo 1', append_only 'true');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (record_index 'on', program 'echo 1');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (program 'echo 1', column_cache 'true');
CREATE FOREIGN TABLE ours.right (a int) SERVER ours OPTIONS (program 'echo 1', append_only 'false', record_index 'false', lazy 'true');
ALTER FOREIGN TABLE ours.right OPTIONS (SET append_only 'true');
ALTER FOREIGN TABLE ours.right OPTIONS (DROP program, ADD filename :'rows', SET append_only 'true');
ALTER FOREIGN TABLE ours.right OPTIONS (DROP filename, ADD program 'echo 1');
DROP FOREIGN TABLE ours.right;
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filename :'rows', apend_only 'true');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filename :'rows', lasy 'true');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filename :'rows', record_indexes 'true');
\set VERBOSITY sqlstate
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filename :'rows', nonsense 'true');
CREATE SERVER wrong FOREIGN DATA WRAPPER tollfree_file_fdw OPTIONS (apend_only 'true');
\set VERBOSITY default

-- Blocks that are not skipped, and columns that are not kept
COPY (SELECT i, CASE WHEN i % 500 = 7 THEN '1e3' ELSE i::text END, i % 10, jsonb_build_object('i', i) FROM generate_series(1, 5000) i) TO :'rows' (FORMAT csv);
SELECT make_pair('reasons', 'id int, odd numeric(9, 2), few int, j jsonb', :'rows', $$format 'csv'$$);
CREATE FUNCTION reason_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Record Index|Column Cache|Fast Path'
$$;
SET tollfree_file_fdw.debug_record_index_age = 0;
-- Kept columns need an index, which is kept for them.
SET tollfree_file_fdw.column_cache = on;
SELECT * FROM tollfree_file_fdw_load_columns('ours.reasons');
SELECT * FROM tollfree_file_fdw_load_columns('ours.reasons', '{few,odd}');
SELECT query, reason_lines(query) FROM unnest(ARRAY['SELECT id FROM ours.reasons', 'SELECT id FROM ours.reasons WHERE few = 3', 'SELECT id FROM ours.reasons WHERE id > 4990',
	'SELECT id FROM ours.reasons WHERE odd > 5000 AND id > 4990', 'SELECT id, j FROM ours.reasons WHERE id < 5000', 'SELECT odd FROM ours.reasons WHERE id > 0']) query;
ALTER FOREIGN TABLE ours.reasons OPTIONS (ADD record_index 'false');
SELECT reason_lines('SELECT id FROM ours.reasons WHERE id > 4990');
SELECT * FROM tollfree_file_fdw_load_columns('ours.reasons');
ALTER FOREIGN TABLE ours.reasons OPTIONS (DROP record_index);
SET tollfree_file_fdw.column_cache = off;
SELECT reason_lines('SELECT id FROM ours.reasons WHERE id > 4990');
RESET tollfree_file_fdw.column_cache;
RESET tollfree_file_fdw.debug_record_index_age;

-- Characters of another encoding
COPY (SELECT i, CASE WHEN i > 2 THEN 'é' ELSE 'e' END FROM generate_series(1, 5) i) TO :'latin' (FORMAT csv, ENCODING 'LATIN1');
SELECT make_pair('reasons_latin', 'a int, b text', :'latin', $$format 'csv', encoding 'LATIN1'$$);
SELECT agree('SELECT * FROM reasons_latin'), reason_lines('SELECT * FROM ours.reasons_latin');
COPY (SELECT i, 'é' FROM generate_series(1, 5) i) TO :'latin' (FORMAT csv, ENCODING 'LATIN1');
SELECT agree('SELECT * FROM reasons_latin'), reason_lines('SELECT * FROM ours.reasons_latin');
DROP FUNCTION reason_lines;
DROP FOREIGN TABLE stock.reasons, ours.reasons, stock.reasons_latin, ours.reasons_latin;
RESET client_min_messages;
