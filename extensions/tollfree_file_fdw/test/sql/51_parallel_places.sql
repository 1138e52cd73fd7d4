-- Several processes: where in the file an error is, in which encoding they read, what only one may open
\getenv abs_builddir PG_ABS_BUILDDIR
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET client_min_messages = warning;

-- Records that are longer than several chunks, with and without what may be an end-of-data marker in them
SET tollfree_file_fdw.parallel_chunk_size = '1kB';
SELECT format, before, value, count(*), count(*) FILTER (WHERE result LIKE 'DIFFERENT%') AS different
FROM unnest('{text,csv}'::text[]) format, unnest('{0,3000,5000,20000}'::int[]) before,
	unnest(ARRAY['y', E'\\.', E'\\\\.', E'n\\.', E'n\\.n', E'n\\.x']) value, unnest('{on,off}'::text[]) aggregates,
	LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false)) s (settings),
	agree_on((SELECT string_agg(CASE i WHEN 500 THEN CASE format WHEN 'csv' THEN format('"%s%s%s"', repeat('z', before), replace(value, 'n', E'\n'), repeat('z', 9000))
																 ELSE repeat('z', before) || value || repeat('z', 9000) END
									   ELSE 'a' || i END || E',b\n', '') FROM generate_series(1, 1000) i),
			 'a text, b text', format($$format %L, delimiter ','$$, format), format('SELECT count(a), max(a), count(b) FROM odd /* %s */', settings)) result
GROUP BY format, before, value ORDER BY format, before, value COLLATE "C";
RESET tollfree_file_fdw.push_aggregates;
