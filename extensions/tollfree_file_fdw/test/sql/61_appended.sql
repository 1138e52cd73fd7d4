-- A file that is only ever appended to: its record index is used and extended.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_growing.csv'
\set more 'cat >> ' :log
COPY (SELECT i, CASE WHEN i % 10 = 3 THEN E'two\nlines' ELSE 'one' END, i % 7 FROM generate_series(1, 20000) i) TO :'log' (FORMAT csv);
SELECT make_pair('appended', 'id int, what text, few int', :'log', $$format 'csv'$$);
CREATE FUNCTION index_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Record Index'
$$;
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;

-- Who does not say so has it read once more.
SELECT agree('SELECT count(*) FROM appended');
COPY (SELECT i, 'more', i % 7 FROM generate_series(20001, 21000) i) TO PROGRAM :'more' (FORMAT csv);
SELECT index_lines('SELECT sum(id) FROM ours.appended WHERE id > 20500');
SELECT agree('SELECT count(*) FROM appended');
ALTER SERVER ours OPTIONS (ADD append_only 'true');
ALTER FOREIGN TABLE ours.appended OPTIONS (ADD append_only 'perhaps');
ALTER FOREIGN TABLE ours.appended OPTIONS (ADD append_only 'true');
SELECT index_lines('SELECT count(*) FROM ours.appended');
COPY (SELECT i, 'more', i % 7 FROM generate_series(21001, 24000) i) TO PROGRAM :'more' (FORMAT csv);
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT index_lines('SELECT * FROM ours.appended WHERE id BETWEEN 20990 AND 21010');
SELECT agree('SELECT * FROM appended WHERE id BETWEEN 20990 AND 21010'), agree('SELECT count(*), sum(id) FROM appended'), agree('SELECT count(*) FROM appended');
SELECT index_lines('SELECT * FROM ours.appended WHERE id BETWEEN 20990 AND 21010'), index_lines('SELECT count(*) FROM ours.appended');
-- The last record goes on; so does its value.
\set part 'printf "24001,more,1" >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'part';
SELECT agree('SELECT * FROM appended WHERE id > 23999'), agree('SELECT count(*) FROM appended WHERE few = 1');
\set part 'printf "99\\n24002,\\"x\\ny\\",1\\n" >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'part';
SELECT agree('SELECT * FROM appended WHERE few > 6'), agree('SELECT * FROM appended WHERE few > 6'), agree('SELECT count(*) FROM appended');
-- A query of fewer columns extends the index by those.
COPY (SELECT i, 'more', i % 7 FROM generate_series(124003, 126000) i) TO PROGRAM :'more' (FORMAT csv);
SELECT index_lines('SELECT sum(id) FROM ours.appended WHERE id > 200000');
SELECT index_lines('SELECT sum(id) FROM ours.appended WHERE id > 200000');
SELECT index_lines('SELECT sum(id) FROM ours.appended WHERE few > 200000 AND id > 0');
SELECT columns FROM tollfree_file_fdw_record_indexes();
SELECT agree('SELECT sum(id) FROM appended WHERE few > 3 AND id > 0');
-- It need not have been left alone: what was there remains.
SET tollfree_file_fdw.debug_record_index_age = '1h';
COPY (SELECT i, 'more', i % 7 FROM generate_series(126001, 126500) i) TO PROGRAM :'more' (FORMAT csv);
SELECT index_lines('SELECT sum(id) FROM ours.appended WHERE id > 200000');
SELECT agree('SELECT sum(id) FROM appended WHERE id > 200');
SET tollfree_file_fdw.debug_record_index_age = 0;
-- LIMIT ends before the new part; a cursor begins again.
COPY (SELECT i, 'more', i % 7 FROM generate_series(126001, 128000) i) TO PROGRAM :'more' (FORMAT csv);
SELECT agree('SELECT id FROM appended WHERE id > 100 LIMIT 3');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM ours.appended WHERE id > 127990 OR id IN (1, 2);
FETCH 4 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH ALL FROM c;
COMMIT;
-- Several processes use it, and do not extend it.
COPY (SELECT i, 'more', i % 7 FROM generate_series(128001, 130000) i) TO PROGRAM :'more' (FORMAT csv);
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET tollfree_file_fdw.debug_parallel_chunk_size = '16kB';
SELECT agree('SELECT count(*), sum(id) FROM appended'), agree('SELECT id FROM appended WHERE id > 129990 OR id < 4 ORDER BY id'), agree('SELECT count(*) FROM appended');
SELECT index_lines('SELECT id FROM ours.appended WHERE id > 129990 OR id < 4');
-- A record for COPY's parser among the new ones, and another file of the same name.
\set odd 'printf "130001,two,3,4\\n130002,end,1\\n" >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'odd';
SELECT agree('SELECT count(*), sum(id) FROM appended'), agree('SELECT id FROM appended WHERE id > 129990 OR id < 4 ORDER BY id');
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT id FROM appended WHERE id > 129990 OR id < 4'), agree('SELECT sum(few) FROM appended WHERE id > 5'), agree('SELECT id FROM appended WHERE id < 4 LIMIT 3');
RESET tollfree_file_fdw.debug_require;
-- Written anew, longer than before, under the same inode, as logs are rotated.
\set anew 'cat > ' :log
COPY (SELECT i, 'again', i % 5 FROM generate_series(1, 40000) i) TO PROGRAM :'anew' (FORMAT csv);
SELECT agree('SELECT count(*), sum(few) FROM appended'), agree('SELECT id FROM appended WHERE id = 39999');
SELECT agree('SELECT id FROM appended WHERE id = 39999');
-- The owner no longer says so, and says it again: each is another index.
ALTER FOREIGN TABLE ours.appended OPTIONS (DROP append_only);
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT id FROM ours.appended WHERE id = 39999;
ALTER FOREIGN TABLE ours.appended OPTIONS (ADD append_only 'true');
SELECT agree('SELECT id FROM appended WHERE id = 39999');
RESET tollfree_file_fdw.debug_require;
-- Touched.
\set touch 'touch -d 2001-01-01 ' :log
COPY (SELECT WHERE false) TO PROGRAM :'touch';
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT agree('SELECT id FROM appended WHERE id = 39999');
-- Of one that has become twice as long a new one is made.
\set double 'cp ' :log ' ' :log '.1; cat ' :log '.1 ' :log '.1 >> ' :log '; rm ' :log '.1'
COPY (SELECT WHERE false) TO PROGRAM :'double';
SELECT id FROM ours.appended WHERE id = 39999;
RESET tollfree_file_fdw.debug_require;
SELECT agree('SELECT id FROM appended WHERE id = 39999');

-- Text, with another line end, and an end-of-data marker that ends no longer the file.
\set plain :abs_builddir '/results/log_growing.txt'
\set crlf 'awk ''{printf "%s\\t%s\\r\\n", NR, NR % 100}'' > ' :plain
COPY (SELECT FROM generate_series(1, 9000)) TO PROGRAM :'crlf';
SELECT make_pair('appended_text', 'id int, n int', :'plain', $$format 'text'$$);
ALTER FOREIGN TABLE ours.appended_text OPTIONS (ADD append_only 'true');
SELECT agree('SELECT count(*) FROM appended_text');
SET tollfree_file_fdw.debug_require = 'record_index';
\set part 'printf "9001\\t1\\r\\n\\\\\\\\.\\r\\n" >> ' :plain
COPY (SELECT WHERE false) TO PROGRAM :'part';
SELECT agree('SELECT count(*), sum(id) FROM appended_text'), agree('SELECT * FROM appended_text WHERE id > 8999'), agree('SELECT count(*) FROM appended_text');
\set part 'printf "9002\\t1\\r\\n" >> ' :plain
COPY (SELECT WHERE false) TO PROGRAM :'part';
SELECT agree('SELECT count(*), sum(id) FROM appended_text'), agree('SELECT * FROM appended_text WHERE id > 8999'), agree('SELECT count(*) FROM appended_text');
SET max_parallel_workers_per_gather = 2;
SELECT agree('SELECT count(*), sum(id) FROM appended_text'), agree('SELECT * FROM appended_text WHERE id > 8999'), agree('SELECT count(*) FROM appended_text');
DROP FOREIGN TABLE ours.appended, stock.appended, ours.appended_text, stock.appended_text;
DROP FUNCTION index_lines;
