-- Several processes read what the record index says.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_shared.csv'
COPY (SELECT i, CASE WHEN i % 10 = 3 THEN E'two\nlines ' || i ELSE 'text ' || i END, CASE i WHEN 299500 THEN 'NaN' ELSE (i % 100)::text END, i % 3000 < 1500 FROM generate_series(1, 300000) i)
	TO :'log' (FORMAT csv);
SELECT make_pair('shared', 'id int, what text, n numeric(6,2), flips bool', :'log', $$format 'csv'$$);
CREATE FUNCTION index_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT DISTINCT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Record Index'
$$;
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '16kB';

-- An aggregation that starts over makes none.
SELECT agree('SELECT sum(n) FROM shared');
SELECT count(*) FROM tollfree_file_fdw_record_indexes();
SET max_parallel_workers = 0;
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT sum(n) FROM ours.shared;
RESET tollfree_file_fdw.debug_require;
RESET max_parallel_workers;
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT count(*) FROM shared');
SELECT blocks, columns FROM tollfree_file_fdw_record_indexes();
SET max_parallel_workers_per_gather = 2;

CREATE TABLE queries (query text, expected text[]);
INSERT INTO queries (query) VALUES
	('SELECT count(*) FROM shared'),
	('SELECT count(*) FROM shared WHERE id > 299999'),
	('SELECT count(*) FROM shared WHERE id < 1000 OR id > 150000'),
	('SELECT count(*) FROM shared WHERE id BETWEEN 150000 AND 170000'),
	('SELECT sum(id), min(what), count(n) FROM shared WHERE id BETWEEN 150000 AND 170000'),
	('SELECT * FROM shared WHERE id IN (1, 77777, 299999) ORDER BY id'),
	('SELECT id, what FROM shared WHERE what LIKE ''%77777'' ORDER BY id'),
	('SELECT flips, count(*), sum(id) FROM shared GROUP BY flips ORDER BY flips'),
	('SELECT count(*) FROM shared WHERE id > 300000'),
	('SELECT a, (SELECT count(*) FROM shared WHERE id > a) FROM generate_series(0, 300000, 100000) a'),
	('SELECT count(*) FROM shared x JOIN shared y USING (id) WHERE x.id > 290000'),
	('SELECT count(*) FROM (SELECT FROM shared WHERE id > 1000 LIMIT 7000) x');
UPDATE queries SET expected = outcome(query, 'stock');
SELECT query, expected[1] FROM queries;
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM expected;
SELECT index_lines('SELECT count(*) FROM ours.shared WHERE id BETWEEN 150000 AND 170000');
SELECT index_lines('SELECT sum(id) FROM ours.shared WHERE id BETWEEN 150000 AND 170000');
-- Where parts would be too many, more is read.
SELECT index_lines('SELECT * FROM ours.shared WHERE flips');
SELECT index_lines('SELECT * FROM ours.shared WHERE id < 3000');
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM expected;
SELECT index_lines('SELECT id FROM ours.shared WHERE id < 150000 OR id > 152000');
RESET tollfree_file_fdw.debug_parallel_chunk_size;
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM expected;
SET parallel_leader_participation = off;
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM expected;
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT query FROM queries WHERE outcome(query, 'ours') IS DISTINCT FROM expected;
SELECT trim(line) FROM shown_plan('SELECT id FROM ours.shared WHERE id > 299990 AND n < 95', 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Index|Removed';

-- A value ends an aggregation that has counted rows it did not read: these are read then.
SELECT agree('SELECT count(*) FROM shared WHERE id > 2000 AND (n = 1 OR id > 0)');
SELECT line FROM shown_plan('SELECT count(*) FROM ours.shared WHERE id > 2000 AND (n = 1 OR id > 0)', 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Index|Fast Path';
RESET max_parallel_workers;
SELECT agree('SELECT count(*) FROM shared WHERE id > 2000 AND (n = 1 OR id > 0)');
SET tollfree_file_fdw.debug_parallel_chunk_size = '16kB';
SELECT agree('SELECT count(*) FROM shared WHERE id > 2000 AND (n = 1 OR id > 0)');
SELECT agree('SELECT a, b FROM generate_series(0, 290000, 145000) a, LATERAL (SELECT count(*) FROM shared WHERE id > 2000 AND (n = 1 OR id > 0) OFFSET a * 0) b');

-- Without an index that knows the column, the error is that of file_fdw.
\set break 'sed -i ''s/^250001,/25000x,/'' ' :log
COPY (SELECT WHERE false) TO PROGRAM :'break';
RESET tollfree_file_fdw.debug_require;
SET max_parallel_workers_per_gather = 0;
SELECT sum(n) FROM ours.shared WHERE NOT flips AND n < 1;
SET max_parallel_workers_per_gather = 2;
SELECT columns FROM tollfree_file_fdw_record_indexes();
SELECT agree('SELECT sum(n) FROM shared WHERE NOT flips AND n < 1');
SELECT agree('SELECT sum(id) FROM shared WHERE n < 1');
-- The file is another one: the index is not used.
COPY (SELECT i, 'x', i, true FROM generate_series(1, 5000) i) TO :'log' (FORMAT csv);
SET max_parallel_workers = 0;
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT count(*) FROM ours.shared WHERE n > 0;
RESET tollfree_file_fdw.debug_require;
SELECT agree('SELECT count(*), sum(n) FROM shared WHERE n > 0 AND flips');
-- Who has had no part of the file stores no index of it.
RESET max_parallel_workers;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
SELECT tollfree_file_fdw_drop_record_index('ours.shared');
SELECT index_lines('SELECT sum(id) FROM ours.shared');
SELECT tollfree_file_fdw_drop_record_index('ours.shared');
SELECT index_lines('SELECT sum(id) FROM ours.shared');
SELECT tollfree_file_fdw_drop_record_index('ours.shared');
SELECT index_lines('SELECT sum(id) FROM ours.shared');
DROP FOREIGN TABLE ours.shared, stock.shared;
DROP TABLE queries;
DROP FUNCTION index_lines;
