-- Several processes: where in the file an error is, in which encoding they read, what only one may open
\getenv abs_builddir PG_ABS_BUILDDIR
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET client_min_messages = warning;

-- Lines before a chunk are counted for an error alone, not when COPY's parser takes over.
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
CREATE FUNCTION escaped_rows(bad int, has_header bool) RETURNS text LANGUAGE sql
RETURN CASE WHEN has_header THEN E'a,b\n' ELSE '' END ||
	(SELECT string_agg(CASE WHEN i = bad THEN 'x' ELSE i::text END || CASE WHEN i % 10 = 0 THEN E',\\303\\251\n' ELSE E',a\n' END, '') FROM generate_series(1, 1200) i);
SELECT bad, has_header, string_agg(DISTINCT result, E'\n') AS result
FROM unnest('{0,1,9,10,11,500,611,1200}'::int[]) bad, unnest('{false,true}'::bool[]) has_header, unnest('{on,off}'::text[]) aggregates,
	LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false)) s (settings),
	agree_on(escaped_rows(bad, has_header), 'a int, b text', format($$delimiter ',', encoding 'UTF8', header %L$$, has_header::text),
			 format('SELECT count(a), sum(a), count(b) FROM odd /* %s */', settings)) result
GROUP BY bad, has_header ORDER BY bad, has_header;
-- COPY's parser begins with the first record behind the header, and with that of each chunk.
SELECT has_header, agree_on((SELECT string_agg(i || E',\\303\\251\n', '') FROM generate_series(1, 999) i), 'a text, b text',
							format($$delimiter ',', encoding 'UTF8', header %L$$, has_header::text), 'SELECT count(a), max(b), count(b) FROM odd')
FROM unnest('{false,true}'::bool[]) has_header;
\set octal :abs_builddir '/results/octals.txt'
COPY (SELECT i, CASE WHEN i > 1 THEN '\303\251' END FROM generate_series(1, 50000) i) TO :'octal' (FORMAT csv, DELIMITER '|');
SELECT make_pair('octals', 'a int, b text', :'octal', $$delimiter '|', encoding 'UTF8'$$);
SET tollfree_file_fdw.push_aggregates = off;
SET max_parallel_workers = 0;
SELECT regexp_replace(trim(line), 'byte \d+', 'byte N') AS line
FROM shown_plan('SELECT count(b) FROM ours.octals', 'analyze, costs off, timing off, summary off, buffers off') line WHERE line LIKE '%Fast Path%';
RESET max_parallel_workers;
SET tollfree_file_fdw.debug_parallel_chunk_size = '64kB';
SELECT agree('SELECT count(a), max(a), count(b) FROM octals'),
	substring(times_read('SELECT count(a), count(b) FROM ours.octals') FROM 'parallel, read (\S+) times')::numeric < 2 AS is_read_once;
RESET tollfree_file_fdw.push_aggregates;

-- Records that are longer than several chunks, with and without what may be an end-of-data marker in them
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
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

-- An escape of its own, in quotes and not, in front of quotes, line ends and the ends of chunks
SELECT bad, query, agree_on(file, 'a int, b text, c text', $$format 'csv', escape '\'$$, query) AS result
FROM unnest('{0,1,500,1000}'::int[]) bad,
	unnest('{"SELECT count(a), md5(string_agg(b, c ORDER BY a)) FROM odd","SELECT count(a), count(b), min(length(b)), max(c COLLATE \"C\") FROM odd"}'::text[]) query,
	LATERAL (SELECT string_agg(format(E'%s,"%s%s",%s\n', CASE WHEN i = bad THEN 'x' ELSE i::text END,
									  (ARRAY['\"', 'a\"b', '\\', '\\\",', E'\\\\\n\n', '', '\""x"', '\"\"\\'])[i % 8 + 1], repeat('y', i % 61),
									  (ARRAY['\', '\\', 'a\b', ''])[i / 8 % 4 + 1]), '') FROM generate_series(1, 1000) i) f (file)
ORDER BY bad, query;

-- Without the option encoding a file has that of the client, in workers too, whose client is the leader.
\set accents :abs_builddir '/results/accents.txt'
COPY (SELECT CASE WHEN i > 1 THEN 'é' END FROM generate_series(1, 3000) i) TO :'accents' (ENCODING 'UTF8');
SELECT make_pair('accents', 'x text', :'accents', $$format 'text'$$);
SET plan_cache_mode = force_generic_plan;
PREPARE stock_lengths AS SELECT octet_length(x), count(*) FROM stock.accents GROUP BY 1;
PREPARE our_lengths AS SELECT octet_length(x), count(*) FROM ours.accents GROUP BY 1;
PREPARE our_count AS SELECT count(*) FROM ours.accents WHERE x = U&'\00C3\00A9';
SELECT shown_plan('EXECUTE our_lengths');
SELECT shown_plan('EXECUTE our_count');
SET parallel_leader_participation = off;
EXECUTE our_lengths;
SET client_encoding = 'LATIN1';
EXECUTE stock_lengths;
EXECUTE our_lengths;
EXECUTE our_count;
SET parallel_leader_participation = on;
EXECUTE our_lengths;
EXECUTE our_count;
SET client_encoding = 'SJIS';
EXECUTE stock_lengths;
EXECUTE our_lengths;
SET parallel_leader_participation = off;
EXECUTE our_lengths;
RESET parallel_leader_participation;
SET client_encoding = 'UTF8';
EXECUTE our_lengths;
RESET plan_cache_mode;
RESET client_encoding;

-- A pipe has what is in it for one process.
\set pipe :abs_builddir '/results/pipe'
\set make_pipe 'cat > /dev/null; mkfifo ' :pipe
COPY (SELECT) TO PROGRAM :'make_pipe';
SELECT make_pair('pipes', 'a int', :'pipe', $$format 'text'$$);
UPDATE pg_class SET reltuples = 1000000, relpages = 1 WHERE oid = 'ours.pipes'::regclass;
SELECT shown_plan('SELECT count(a) FROM ours.pipes');
\set remove_pipe 'cat > /dev/null; rm ' :pipe
COPY (SELECT) TO PROGRAM :'remove_pipe';
