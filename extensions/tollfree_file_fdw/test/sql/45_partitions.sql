-- Aggregates of partitioned tables, computed in the scan of each partition
\getenv abs_builddir PG_ABS_BUILDDIR
\set first :abs_builddir '/results/first.csv'
\set second :abs_builddir '/results/second.csv'
\set third :abs_builddir '/results/third.csv'
COPY (SELECT id, code, amount, day FROM rows WHERE id <= 1000) TO :'first' (FORMAT csv);
COPY (SELECT day, amount, id, code FROM rows WHERE id BETWEEN 1001 AND 3000) TO :'second' (FORMAT csv);
COPY (SELECT id, code, amount, day FROM rows WHERE id > 3000) TO :'third' (FORMAT csv);
-- The second has its columns in another order; the third is a partition of a partition.
CREATE FUNCTION make_partitions(side text, first text, second text, third text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('search_path', side || ', public', true);
	CREATE TABLE parts (id int, code char(4), amount numeric(12, 2), day date) PARTITION BY RANGE (id);
	CREATE TABLE parts_inner PARTITION OF parts FOR VALUES FROM (3001) TO (9999) PARTITION BY RANGE (id);
	EXECUTE format('CREATE FOREIGN TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1001) SERVER %I OPTIONS (filename %L, format ''csv'')', side, first);
	EXECUTE format('CREATE FOREIGN TABLE parts_2 (day date, gone int, amount numeric(12, 2), id int, code char(4)) SERVER %I OPTIONS (filename %L, format ''csv'')', side, second);
	ALTER FOREIGN TABLE parts_2 DROP COLUMN gone;
	ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (1001) TO (3001);
	EXECUTE format('CREATE FOREIGN TABLE parts_3 PARTITION OF parts_inner FOR VALUES FROM (3001) TO (9999) SERVER %I OPTIONS (filename %L, format ''csv'')', side, third);
END
$$;
SELECT make_partitions('stock', :'first', :'second', :'third'), make_partitions('ours', :'first', :'second', :'third');
ANALYZE ours.parts;
SET enable_partitionwise_aggregate = on;
SET max_parallel_workers_per_gather = 0;
SELECT shown_plan('SELECT code, count(*), sum(amount) FROM ours.parts WHERE day > ''2000-02-01'' GROUP BY code HAVING count(*) > 1');
SELECT shown_plan('SELECT id, sum(amount) FROM ours.parts GROUP BY id HAVING sum(amount) > 99');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT workers, query, agree(query)
FROM unnest('{0,2}'::text[]) workers, LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers, false)) s (setting),
	unnest(ARRAY[
	'SELECT count(*), sum(amount), avg(amount), min(day), max(id) FROM parts',
	'SELECT code, count(*), sum(amount * (1 - amount)), avg(id) FROM parts GROUP BY code ORDER BY code',
	'SELECT place, code, count(*), avg(id) FROM (SELECT ''here'' AS place, * FROM parts) p GROUP BY place, code ORDER BY place, code',
	'SELECT code, avg(amount) FILTER (WHERE id > 990), count(*) FROM parts WHERE day > ''2000-02-01'' GROUP BY code HAVING count(amount) > 1000 ORDER BY code',
	'SELECT id, sum(amount), max(day) FROM parts WHERE amount < 3 GROUP BY id HAVING max(amount) > 2 ORDER BY id',
	'SELECT day, code FROM parts WHERE id BETWEEN 998 AND 1003 GROUP BY day, code ORDER BY day',
	'SELECT sum(id) FROM parts WHERE id < 500',
	'SELECT count(*) FROM parts WHERE id < 0']) query;
SET tollfree_file_fdw.debug_require = 'aggregate';
SET max_parallel_workers_per_gather = 0;
RESET enable_partitionwise_aggregate;
SELECT count(id) FROM ours.parts;
RESET tollfree_file_fdw.debug_require;
SELECT workers, agree('SELECT v, (SELECT sum(id) FROM parts WHERE id < v) FROM (VALUES (1000), (4000)) x (v)')
FROM unnest('{0,2}'::text[]) workers, LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers, false)) s (setting);
SET max_parallel_workers_per_gather = 0;
SET enable_partitionwise_aggregate = on;
-- One partition starts over.
COPY (SELECT id, code, CASE id WHEN 700 THEN 'NaN' ELSE amount END, day FROM rows WHERE id <= 1000) TO :'first' (FORMAT csv);
SELECT workers, query, agree(query)
FROM unnest('{0,2}'::text[]) workers, LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers, false)) s (setting),
	unnest(ARRAY[
	'SELECT count(*), sum(amount), max(amount) FROM parts',
	'SELECT code, max(amount), avg(amount) FROM parts GROUP BY code ORDER BY code',
	'SELECT count(DISTINCT code), stddev(amount) FROM parts']) query;
SET max_parallel_workers_per_gather = 0;
SELECT shown_plan('SELECT max(amount) FROM ours.parts', 'analyze, costs off, timing off, summary off, buffers off');
COPY (SELECT id, code, CASE id WHEN 700 THEN 'x' ELSE amount::text END, day FROM rows WHERE id <= 1000) TO :'first' (FORMAT csv);
SELECT agree('SELECT code, max(amount) FROM parts GROUP BY code ORDER BY code');
RESET enable_partitionwise_aggregate;
-- A foreign table with a child, and one that has had one
\set parent :abs_builddir '/results/log_parent.csv'
\set child :abs_builddir '/results/log_child.csv'
COPY (SELECT i, i % 5 FROM generate_series(1, 3000) i) TO :'parent' (FORMAT csv);
COPY (SELECT i, i % 7 FROM generate_series(3001, 5000) i) TO :'child' (FORMAT csv);
SELECT make_pair('parent', 'id int, n int', :'parent', $$format 'csv'$$), make_pair('child', 'id int, n int', :'child', $$format 'csv'$$);
ALTER FOREIGN TABLE ours.child INHERIT ours.parent;
ALTER FOREIGN TABLE stock.child INHERIT stock.parent;
CREATE TABLE of_parents (query text);
INSERT INTO of_parents VALUES
	('SELECT count(*), sum(id) FROM parent'),
	('SELECT n, count(*), max(id) FROM parent GROUP BY n ORDER BY n'),
	('SELECT id FROM parent WHERE id > 2990 AND n = 3 ORDER BY id'),
	('SELECT count(*) FROM ONLY parent WHERE id > 10');
SELECT workers, query, agree(query)
FROM unnest('{0,2}'::text[]) workers, LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers, false)) s (setting), of_parents;
ALTER FOREIGN TABLE ours.child NO INHERIT ours.parent;
ALTER FOREIGN TABLE stock.child NO INHERIT stock.parent;
SELECT query, agree(query) FROM of_parents;
SET max_parallel_workers_per_gather = 0;
DROP FOREIGN TABLE ours.parent, stock.parent, ours.child, stock.child;
DROP TABLE of_parents;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
