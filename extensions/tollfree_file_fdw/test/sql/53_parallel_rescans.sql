-- Scans by several processes that start again, after they have left the fast path and before
\getenv abs_builddir PG_ABS_BUILDDIR
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SET enable_material = off;
SET enable_memoize = off;
SET client_min_messages = warning;
\set finite :abs_builddir '/results/again_finite.txt'
\set nans :abs_builddir '/results/again_nans.txt'
\set escapes :abs_builddir '/results/again_escapes.txt'
\set markers :abs_builddir '/results/again_markers.txt'
COPY (SELECT i, i % 7, '1.00', 'x' FROM generate_series(1, 3000) i) TO :'finite' (DELIMITER '|');
COPY (SELECT i, i % 7, CASE i % 3 WHEN 0 THEN 'NaN' ELSE '1.00' END, 'x' FROM generate_series(1, 3000) i) TO :'nans' (DELIMITER '|');
COPY (SELECT i, i % 7, '1.00', CASE i % 20 WHEN 0 THEN '\303\251' ELSE 'x' END FROM generate_series(1, 3000) i) TO :'escapes' (FORMAT csv, DELIMITER '|');
COPY (SELECT i, i % 7, '1.00', CASE i WHEN 2000 THEN '\.' ELSE 'x' END FROM generate_series(1, 3000) i) TO :'markers' (DELIMITER '|');
SELECT make_pair(name, 'id int, k int, a numeric(8, 2), t text', file, $$delimiter '|', encoding 'UTF8'$$)
FROM (VALUES ('finite', :'finite'), ('nans', :'nans'), ('escapes', :'escapes'), ('markers', :'markers')) f (name, file);
ANALYZE ours.finite, ours.nans, ours.escapes, ours.markers;

-- All chunks are dealt out again each time, so groups of the share that a process had before are of no use.
CREATE FUNCTION loops(query text) RETURNS SETOF text LANGUAGE sql
AS $$
	SELECT substring(line, 'Partial.*|Fast Path.*(?:given up|stopped).*')
	FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line
	WHERE line ~ 'Partial|given up|stopped'
$$;
SET max_parallel_workers = 0;
SET enable_hashagg = off;
SELECT loops('SELECT v, (SELECT sum(c) FROM (SELECT k, sum(a) c FROM ours.nans GROUP BY k ORDER BY k OFFSET 0) y WHERE c > v) FROM (VALUES (0), (1), (2)) x (v)');
SELECT loops('SELECT v, (SELECT sum(c) FROM (SELECT k, count(a) c, max(t) FROM ours.escapes GROUP BY k ORDER BY k OFFSET 0) y WHERE c > v) FROM (VALUES (0), (1), (2)) x (v)');
SELECT loops('SELECT v, (SELECT count(*) FROM (SELECT id, t FROM ours.escapes OFFSET 0) y WHERE id > v) FROM (VALUES (0), (1), (2)) x (v)');
SELECT name, kind, count(*), count(*) FILTER (WHERE result LIKE 'DIFFERENT%') AS different, min(result) FILTER (WHERE result LIKE 'DIFFERENT%') AS example
FROM unnest('{finite,nans,escapes,markers}'::text[]) name, (VALUES ('on', '8'), ('on', '0'), ('off', '8')) p (leader, workers),
	(VALUES
		('grouped', 'SELECT v, (SELECT sum(c) FROM (SELECT k, count(a) c, max(t) m FROM %I GROUP BY k ORDER BY k OFFSET 0) y WHERE c > v) FROM (VALUES (0), (1), (2)) x (v)'),
		('plain', 'SELECT v, s FROM (VALUES (0), (1), (2)) x (v) LEFT JOIN (SELECT count(a) c, sum(a) s, max(t) FROM %I OFFSET 0) y ON c > v'),
		('lateral', 'SELECT v, y.* FROM (VALUES (0), (1), (2)) x (v), LATERAL (SELECT k, c + v FROM (SELECT k, count(a) c FROM %I GROUP BY k OFFSET 0) z WHERE k <> v) y ORDER BY v, k'),
		('stopped early', 'SELECT v FROM (VALUES (0), (1), (2)) x (v) WHERE EXISTS (SELECT FROM (SELECT k, count(a) c FROM %I GROUP BY k OFFSET 0) y WHERE c > v)'),
		('limited', 'SELECT v, (SELECT sum(c) FROM (SELECT k, count(a) c FROM %I GROUP BY k ORDER BY k LIMIT 3) y WHERE c > v) FROM (VALUES (0), (1), (2)) x (v)'),
		('rows', 'SELECT v, (SELECT count(*) FROM (SELECT id, t FROM %I OFFSET 0) y WHERE id > v) FROM (VALUES (0), (1), (2)) x (v)'),
		('limited rows', 'SELECT v, (SELECT count(*) FROM (SELECT id FROM %I LIMIT 1900) y WHERE id > v * 0) FROM (VALUES (0), (1), (2)) x (v)'),
		('rows of another limit', 'SELECT v, (SELECT count(*) FROM (SELECT id FROM %I LIMIT v * 600) y WHERE id > 0) FROM (VALUES (1), (3), (2)) x (v)'),
		('rows behind another offset', 'SELECT v, (SELECT count(*) FROM (SELECT id FROM %I LIMIT 9 OFFSET v * 600) y WHERE id > 0) FROM (VALUES (1), (3), (2)) x (v)')) q (kind, query),
	LATERAL (SELECT set_config('parallel_leader_participation', leader, false), set_config('max_parallel_workers', workers, false)) s (a, b),
	LATERAL agree(format(query, name) || format(' /* %s %s */', a, b)) result
GROUP BY name, kind ORDER BY name, kind;
RESET enable_hashagg;
RESET parallel_leader_participation;
RESET max_parallel_workers;
DROP FUNCTION loops;
DROP FOREIGN TABLE stock.finite, ours.finite, stock.nans, ours.nans, stock.escapes, ours.escapes, stock.markers, ours.markers;
RESET enable_material;
RESET enable_memoize;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
RESET client_min_messages;
