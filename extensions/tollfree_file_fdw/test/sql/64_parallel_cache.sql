-- Several processes read column segments, and make them.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_cached_shared.csv'
COPY (SELECT i, CASE WHEN i % 10 = 3 THEN E'two\nlines ' || i ELSE 'text ' || i END, CASE i WHEN 59500 THEN 'NaN' ELSE (i % 100)::text END, i % 3000 < 1500, (ARRAY['red', 'green', NULL])[1 + i % 3] FROM generate_series(1, 60000) i)
	TO :'log' (FORMAT csv);
SELECT make_pair('kept', 'id int, what text, n numeric(6,2), flips bool, colour text', :'log', $$format 'csv'$$);
CREATE FUNCTION kept_lines(query text) RETURNS text LANGUAGE sql
AS $$
SELECT string_agg(trim(line), '; ') FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Column Cache'
$$;
-- Makes something of the kept files: in a condition, when the file has been cut.
CREATE FUNCTION spoil(command text) RETURNS bool LANGUAGE plpgsql VOLATILE PARALLEL SAFE
AS $$
BEGIN
	EXECUTE format('COPY (SELECT WHERE false) TO PROGRAM %L', 'cd pgsql_tmp_tollfree_file_fdw; n=' || 'ours.kept'::regclass::oid || '; ' || command);
	RETURN true;
END
$$;
CREATE FUNCTION spoiled(command text) RETURNS bool LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	RETURN spoil(command);
END
$$;
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.column_cache = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SET tollfree_file_fdw.debug_segment_size = '60kB';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;

-- They make an index, and without one no segments.
SELECT kept_lines('SELECT sum(id) FROM ours.kept');
SET max_parallel_workers = 0;
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT sum(id) FROM ours.kept;
RESET tollfree_file_fdw.debug_require;
RESET max_parallel_workers;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM ours.kept;
SET max_parallel_workers_per_gather = 2;
-- With one they do, of whole parts.
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
SELECT kept_lines('SELECT sum(id) FROM ours.kept WHERE id <> 7');
SELECT kept_lines('SELECT sum(id) FROM ours.kept WHERE id <> 7');
SET parallel_leader_participation = off;
SELECT kept_lines('SELECT sum(id) FROM ours.kept WHERE id <> 7');
SELECT kept_lines('SELECT id, colour FROM ours.kept');
SELECT kept_lines('SELECT id, colour FROM ours.kept');
RESET parallel_leader_participation;
SELECT column_name, segments FROM tollfree_file_fdw_cached_columns() WHERE relation = 'ours.kept'::regclass ORDER BY 1;
-- One process reads what several have made.
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT agree('SELECT id, colour FROM kept');
SELECT agree('SELECT sum(id), count(colour), min(colour) FROM kept WHERE id > 5000');
RESET tollfree_file_fdw.debug_require;
SET max_parallel_workers_per_gather = 2;
-- Of an open value there is no segment: that part is read as text, whatever the filter.
SELECT kept_lines('SELECT id, n FROM ours.kept'), kept_lines('SELECT id, n FROM ours.kept');
SET max_parallel_workers = 0;
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT count(n) FROM ours.kept WHERE id < 30000;
SELECT count(what) FROM ours.kept WHERE id < 0;
RESET tollfree_file_fdw.debug_require;
RESET max_parallel_workers;

CREATE TABLE queries (query text, path text, expected text[]);
INSERT INTO queries (query, path) VALUES
	('SELECT count(*) FROM kept WHERE id > 59999', 'column_cache'),
	('SELECT count(*) FROM kept WHERE id < 1000 OR id > 30000', 'column_cache'),
	('SELECT sum(id), min(what), count(colour) FROM kept WHERE id BETWEEN 30000 AND 37000', 'column_cache'),
	('SELECT id, what, flips, colour FROM kept WHERE id IN (1, 27777, 59999) ORDER BY id', 'record_index'),
	('SELECT id, what FROM kept WHERE what LIKE ''%7777'' ORDER BY id', 'column_cache'),
	('SELECT colour, flips, count(*), sum(id), max(what) FROM kept GROUP BY colour, flips ORDER BY colour, flips', 'column_cache'),
	('SELECT count(*) FROM kept WHERE id > 60000', 'column_cache'),
	('SELECT a, (SELECT count(what) FROM kept WHERE id > a) FROM generate_series(0, 60000, 20000) a', 'column_cache'),
	('SELECT count(*) FROM kept x JOIN kept y USING (id) WHERE x.id > 50000', 'column_cache'),
	('SELECT count(*) FROM (SELECT id FROM kept WHERE id > 1000 LIMIT 7000) x', 'column_cache'),
	('SELECT sum(id) / count(*) FROM kept WHERE NOT flips', 'column_cache'),
	('SELECT id / (id - 27777) FROM kept', 'column_cache'),
	('SELECT sum(hashtextextended(k::text, 0)) FROM kept k', 'record_index'),
	('SELECT sum(n), count(n) FROM kept WHERE colour = ''red''', 'record_index'),
	('SELECT flips, avg(n) FROM kept WHERE id < 59000 GROUP BY flips ORDER BY flips', 'record_index');
UPDATE queries SET expected = outcome(query, 'stock');
SELECT query, left(expected[1], 60) FROM queries;
-- Those that are answered in another way, or that do not take their path.
CREATE FUNCTION differing() RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	q queries;
	found text[];
BEGIN
	FOR q IN SELECT * FROM queries LOOP
		PERFORM set_config('tollfree_file_fdw.debug_require', q.path, false);
		found := outcome(q.query, 'ours');
		IF found[1:4] IS DISTINCT FROM q.expected[1:4] THEN
			RETURN NEXT q.query || ': ' || found[1:3]::text;
		END IF;
	END LOOP;
	PERFORM set_config('tollfree_file_fdw.debug_require', 'none', false);
END
$$;
SELECT kept_lines('SELECT id, what, flips, colour FROM ours.kept');
SELECT * FROM differing();
SET parallel_leader_participation = off;
SELECT * FROM differing();
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT * FROM differing();
SELECT kept_lines('SELECT id, what, flips, colour FROM ours.kept');
-- Where parts would be too many, each is of several segments.
SET tollfree_file_fdw.debug_segment_size = '1kB';
SELECT kept_lines('SELECT id, what, flips, colour FROM ours.kept'), kept_lines('SELECT id, what, flips, colour FROM ours.kept');
SELECT * FROM differing();
RESET max_parallel_workers;
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
SELECT kept_lines('SELECT id, what, flips, colour FROM ours.kept'), kept_lines('SELECT id, what, flips, colour FROM ours.kept');
SELECT * FROM differing();
SET tollfree_file_fdw.debug_segment_size = '60kB';

-- A scan that starts again reads them again.
SET enable_material = off;
SET enable_memoize = off;
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
SELECT kept_lines('SELECT id, what FROM ours.kept') IS NOT NULL AS are_made;
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT agree('SELECT v, s FROM (VALUES (0), (1), (2)) x (v) LEFT JOIN (SELECT count(id) c, sum(id) s, max(what) FROM kept OFFSET 0) y ON c > v');
SELECT agree('SELECT v, (SELECT count(*) FROM (SELECT id, what FROM kept OFFSET 0) y WHERE id > v * 1000) FROM (VALUES (0), (1), (2)) x (v)');
SELECT agree('SELECT v, (SELECT count(*) FROM (SELECT id FROM kept LIMIT 38000) y WHERE id > v * 0) FROM (VALUES (0), (1), (2)) x (v)');
RESET tollfree_file_fdw.debug_require;
SELECT kept_lines('SELECT v, s FROM (VALUES (0), (1), (2)) x (v) LEFT JOIN (SELECT count(id) c, sum(id) s, max(what) FROM ours.kept OFFSET 0) y ON c > v');
RESET enable_material;
RESET enable_memoize;
-- An aggregation that is left to the plan below reads and makes them there.
SELECT agree('SELECT sum(n) / count(*) FROM kept WHERE id > 0'), agree('SELECT sum(id * 100000000000000::bigint) FROM kept'), agree('SELECT count(*), sum(n) FROM kept WHERE id > 2000 AND (n = 1 OR id > 0)');
-- A scan that stops early keeps what it has read to the end, and that is right.
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
SELECT count(*) FROM (SELECT id, what FROM ours.kept LIMIT 20000) x;
SELECT agree('SELECT count(*), sum(id), min(what) FROM kept'), kept_lines('SELECT id, what FROM ours.kept');

-- What is lost behind the cut is read as text; here the only process has done the cutting.
SET max_parallel_workers = 0;
SELECT count(*), sum(id), min(what) FROM ours.kept WHERE spoiled('rm *_${n}_1_0 *_${n}_2_1');
SELECT kept_lines('SELECT id, what FROM ours.kept');
SELECT kept_lines('SELECT id, what FROM ours.kept WHERE spoiled(''for f in *_${n}_4_0; do truncate -s 1500 $f; done'')');
SELECT kept_lines('SELECT id, what FROM ours.kept WHERE spoiled(''for f in *_${n}_4_0; do cp $f ${f%_0}_1; done'')');
SELECT kept_lines('SELECT id, what FROM ours.kept WHERE spoiled(''for f in *_${n}_4_0; do (head -c 3000 $f; printf x; tail -c +3002 $f) > $f.1; mv $f.1 $f; done'')');
SELECT kept_lines('SELECT id, what FROM ours.kept');
SELECT count(*), sum(id), min(what) FROM ours.kept WHERE spoiled('for f in *_$n; do mv $f x$f; done');
SELECT spoil('for f in x*_$n; do mv $f ${f#x}; done');
SELECT kept_lines('SELECT id, what FROM ours.kept WHERE spoiled(''for f in *_$n; do mv $f x$f; done'')');
SELECT spoil('for f in x*_$n; do mv $f ${f#x}; done');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT count(what) FROM ours.kept WHERE id > 5 AND spoiled('for f in *_$n; do mv $f x$f; done');
RESET tollfree_file_fdw.debug_require;
SELECT spoil('for f in x*_$n; do mv $f ${f#x}; done');
SELECT kept_lines('SELECT id, what FROM ours.kept');
RESET max_parallel_workers;

-- Where none can be written, workers are silent.
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
COPY (SELECT WHERE false) TO PROGRAM 'chmod 500 pgsql_tmp_tollfree_file_fdw';
SET parallel_leader_participation = off;
SELECT sum(id) FROM ours.kept;
RESET parallel_leader_participation;
COPY (SELECT WHERE false) TO PROGRAM 'chmod 700 pgsql_tmp_tollfree_file_fdw';
SELECT kept_lines('SELECT id FROM ours.kept');

-- All processes share the room, but for what each is writing.
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
SET tollfree_file_fdw.column_cache_size = '700kB';
SELECT agree('SELECT count(id), min(what), max(colour) FROM kept');
SELECT sum(size) BETWEEN 400 * 1024 AND 900 * 1024 AS fits FROM tollfree_file_fdw_cached_columns();
SET tollfree_file_fdw.column_cache_size = 0;
SELECT agree('SELECT count(what) FROM kept'), agree('SELECT count(colour) FROM kept');
RESET tollfree_file_fdw.column_cache_size;

-- The file grows: what is behind the blocks is text, the rest is read from segments.
ALTER FOREIGN TABLE ours.kept OPTIONS (ADD append_only 'true');
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.push_aggregates = off;
SELECT count(*) FROM ours.kept;
RESET tollfree_file_fdw.push_aggregates;
SET max_parallel_workers_per_gather = 2;
SELECT kept_lines('SELECT id FROM ours.kept');
\set more 'cat >> ' :log
COPY (SELECT i, 'more', 1, true, 'blue' FROM generate_series(60001, 65000) i) TO PROGRAM :'more' (FORMAT csv);
SELECT agree('SELECT count(*), sum(id), max(colour) FROM kept'), agree('SELECT count(id) FROM kept WHERE id > 59000');
SELECT kept_lines('SELECT id FROM ours.kept'), kept_lines('SELECT id FROM ours.kept');
SELECT agree('SELECT sum(id) FROM kept');

-- The file is changed: an error is that of file_fdw.
\set break 'sed -i ''s/^50001,/5000x,/'' ' :log
COPY (SELECT WHERE false) TO PROGRAM :'break';
ALTER FOREIGN TABLE ours.kept OPTIONS (DROP append_only);
SELECT agree('SELECT sum(id) FROM kept WHERE NOT flips');
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT count(what) FROM kept WHERE NOT flips');
SET max_parallel_workers_per_gather = 2;
SELECT agree('SELECT count(what) FROM kept WHERE NOT flips'), agree('SELECT sum(id) FROM kept WHERE NOT flips');
DROP FOREIGN TABLE ours.kept, stock.kept;
DROP TABLE queries;
DROP FUNCTION kept_lines, spoil, spoiled, differing;
