-- Tables without columns, or with generated ones alone: what is in the file is empty lines, or an error.
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/empty_lines.txt'
SET client_min_messages = warning;
SELECT * FROM (VALUES
	('a line', agree_on(E'\n', '', $$format 'text'$$, 'SELECT count(*) FROM odd')),
	('rows', agree_on(E'\n\n', '', $$format 'csv'$$)),
	('a header', agree_on(E'a\n\n', '', $$format 'csv', header 'true'$$)),
	('a field', agree_on(E'x\n', '', $$format 'text'$$, 'SELECT count(*) FROM odd')),
	('generated', agree_on(E'\n\n', 'a int GENERATED ALWAYS AS (1) STORED', $$format 'text'$$)),
	('generated, a field', agree_on(E'\n1\n', 'a int GENERATED ALWAYS AS (1) STORED', $$format 'csv'$$, 'SELECT count(a) FROM odd'))) t (name, result);
RESET client_min_messages;
COPY (SELECT FROM generate_series(1, 700)) TO :'file';
SELECT make_pair('lines', '', :'file', $$format 'text'$$);
ANALYZE ours.lines, stock.lines;
SELECT oid::regclass, reltuples FROM pg_class WHERE relname = 'lines' ORDER BY 1;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT workers, agree('SELECT count(*) FROM lines'), agree('SELECT FROM lines')
FROM unnest('{0,2}'::text[]) workers, LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers, false)) s (setting);
SELECT shown_plan('SELECT count(*) FROM ours.lines');
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;
DROP FOREIGN TABLE ours.lines, stock.lines;
