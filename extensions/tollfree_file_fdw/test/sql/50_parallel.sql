-- Several processes scan one file.
\getenv abs_builddir PG_ABS_BUILDDIR
\set marked :abs_builddir '/results/marked.txt'
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SET tollfree_file_fdw.push_aggregates = off;
SET client_min_messages = warning;
SET tollfree_file_fdw.debug_require = 'parallel';
ALTER FOREIGN TABLE stock.csvs OPTIONS (SET header 'true');
ALTER FOREIGN TABLE ours.csvs OPTIONS (SET header 'true');
SELECT shown_plan('SELECT id, sum(amount) FROM ours.texts WHERE id < 100 GROUP BY id');
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT * FROM texts ORDER BY id',
	'SELECT * FROM csvs ORDER BY id',
	'SELECT count(*), sum(amount), count(name) FROM texts WHERE small = 3',
	'SELECT count(*), sum(amount), count(name) FROM csvs WHERE name LIKE ''%line%''',
	'SELECT count(*) FROM texts x JOIN csvs y USING (id)']) query;

-- The line of an error is counted from the file's beginning.
SELECT name, agree_on((SELECT string_agg(i || E',"a\nb"' || E'\n', '') FROM generate_series(1, 999) i) || E'x,c\n' ||
					  (SELECT string_agg(i || E',d\n', '') FROM generate_series(1, 999) i),
					  'a int, b text', $$format 'csv'$$, 'SELECT count(a), count(b) FROM odd') FROM (VALUES ('csv')) t (name);
SELECT bad, agree_on((SELECT string_agg(CASE i WHEN bad THEN 'x' ELSE repeat('0', i % 40) || i END || E'\n', '') FROM generate_series(1, 1200) i),
					 'a int', $$format 'text'$$, 'SELECT count(a) FROM odd')
FROM unnest('{1, 100, 333, 700, 1001, 1200}'::int[]) bad;

-- Records for COPY's parser in the middle of a chunk
RESET tollfree_file_fdw.debug_require;
SELECT agree_on((SELECT string_agg(i || CASE WHEN i % 10 = 0 THEN E',\\303\\251\n' ELSE E',a\n' END, '') FROM generate_series(1, 999) i),
				'a int, b text', $$delimiter ',', encoding 'UTF8'$$, 'SELECT count(a), count(b) FROM odd WHERE b <> ''a''');
-- EXPLAIN counts the workers that did so, and why; one that got no chunk did not.
SET parallel_leader_participation = off;
\set octal :abs_builddir '/results/octal.txt'
COPY (SELECT i, CASE WHEN i > 1 THEN '\303\251' END FROM generate_series(1, 3000) i) TO :'octal' (FORMAT csv, DELIMITER '|');
SELECT make_pair('octal', 'a int, b text', :'octal', $$delimiter '|', encoding 'UTF8'$$);
SELECT agree('SELECT count(b), max(b) FROM octal');
SELECT DISTINCT regexp_replace(line, 'in [12] workers \(an escaped byte: \d+\)', 'in some workers (an escaped byte: so often)') AS line FROM unnest('{"",LIMIT 1500}'::text[]) part,
	shown_plan('SELECT a, b FROM ours.octal ' || part, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line LIKE '%Fast Path%';
CREATE FUNCTION shown_path(query text) RETURNS SETOF text LANGUAGE sql
AS $$
	SELECT trim(regexp_replace(line, 'in [12] workers', 'in some workers'))
	FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line
	WHERE line LIKE '%Fast Path%' AND line LIKE '%parallel%'
$$;
SELECT shown_path('SELECT count(a), count(b) FROM ours.octal');
SET tollfree_file_fdw.push_aggregates = on;
SELECT regexp_replace(shown_path('SELECT count(a), count(b) FROM ours.octal'), '\d+', 'N');
SET tollfree_file_fdw.push_aggregates = off;
RESET parallel_leader_participation;
-- What is behind an end-of-data marker is in no chunk.
COPY (SELECT CASE i WHEN 1500 THEN '.' ELSE i::text END FROM generate_series(1, 3000) i) TO :'marked';
\set mark 'cat > /dev/null; sed -i ''s/^\\.$/\\\\./'' ''' :marked ''''
COPY (SELECT) TO PROGRAM :'mark';
SELECT make_pair('marked', 'a int', :'marked', $$format 'text'$$),
	make_pair('marked_csv', 'a text', :'marked', $$format 'csv'$$);
SELECT agree('SELECT count(a) FROM marked'), agree('SELECT count(a) FROM marked_csv');
SELECT shown_path('SELECT count(a) FROM ours.marked');
\set whole :abs_builddir '/results/whole.txt'
\set make_whole 'tr ''\n'' ''\r'' > ' :whole
COPY (SELECT generate_series(1, 3000)) TO PROGRAM :'make_whole';
SELECT make_pair('whole', 'a int', :'whole', $$format 'text'$$);
SELECT agree('SELECT count(a) FROM whole');
SELECT regexp_replace(shown_path('SELECT count(a) FROM ours.whole'), ', (stopped|fallback).*', '');
SET tollfree_file_fdw.parallel_scan = off;
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT agree('SELECT count(a) FROM marked') ~ 'DIFFERENT.*required fast path';
RESET tollfree_file_fdw.parallel_scan;
RESET tollfree_file_fdw.push_aggregates;
RESET tollfree_file_fdw.debug_require;

-- Each process aggregates its chunks; PostgreSQL combines the states.
SELECT shown_plan('SELECT small, avg(amount), count(*) FROM ours.texts WHERE id > 5 GROUP BY small HAVING sum(id) > 9');
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT list, agree(format('SELECT %1$s FROM texts', list)), agree(format('SELECT %1$s FROM csvs WHERE id > 4000 AND amount < 70', list)),
	agree(format('SELECT %1$s FROM texts WHERE id < 0', list)), agree(format('SELECT small, %1$s FROM texts GROUP BY small HAVING count(*) > 3 ORDER BY small', list))
FROM unnest(ARRAY[
	'count(*)', 'count(amount), count(name)', 'sum(id), sum(small), sum(big)', 'avg(id), avg(small), avg(big)',
	'sum(amount), avg(amount), min(amount), max(amount)', 'sum(amount * (1 - amount)), avg(amount + id)', 'sum(-1 - id), avg(0 - amount), sum(-7 - big), avg(-7 - big)',
	'sum(id * small), sum(id - 1)', 'round(sum(ratio)::numeric, 9), round(avg(ratio)::numeric, 9), min(ratio), max(ratio)', 'round(avg(part)::numeric, 3), min(part), max(part)',
	'min(day), max(day), min(at), max(at)', 'min(tag COLLATE "C"), max(tag COLLATE "C")', 'count(*) FILTER (WHERE ok), sum(amount) FILTER (WHERE small > 6)',
	'sum(amount) / count(*) + max(id)']) list;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT code, count(*), sum(amount) FROM texts GROUP BY code ORDER BY code',
	'SELECT tag, small, avg(amount) FROM csvs WHERE ok GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT small, count(*) FROM texts WHERE small = 3 GROUP BY small',
	'SELECT v, (SELECT sum(id) FROM texts) FROM (VALUES (1), (2)) x (v)']) query;
RESET tollfree_file_fdw.debug_require;
-- This one need not read on when it has found a row.
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT agree('SELECT small FROM texts WHERE small = 3 GROUP BY small');
RESET tollfree_file_fdw.debug_require;
-- A process that has to start over reads the chunks that it has taken.
SELECT bad, agree_on((SELECT string_agg(CASE i WHEN bad THEN 'NaN' ELSE i || '.5' END || E',a\n', '') FROM generate_series(1, 3000) i),
					 'a numeric(8,2), b text', $$format 'csv'$$, 'SELECT b, count(a), min(a), sum(a) FILTER (WHERE a < 5000) FROM odd GROUP BY b')
FROM unnest('{1, 100, 700, 2001, 3000}'::int[]) bad;
SELECT agree_on((SELECT string_agg(i || CASE WHEN i % 100 = 0 THEN E',\\303\\251\n' ELSE E',a\n' END, '') FROM generate_series(1, 3000) i),
				'a int, b text', $$delimiter ',', encoding 'UTF8'$$, 'SELECT count(a), count(b), sum(a) FROM odd');
SELECT agree_on((SELECT string_agg(i || CASE WHEN i = 1500 THEN E',x\n' ELSE E',1\n' END, '') FROM generate_series(1, 3000) i),
				'a int, b int', $$format 'csv'$$, 'SELECT count(a), count(b) FROM odd') LIKE 'ERROR 22P02 %';
SELECT agree('SELECT count(a), max(a) FROM marked'), agree('SELECT count(a) FROM marked_csv');

-- Gather begins again.
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT shown_plan('SELECT v, n FROM (VALUES (1), (2), (3)) x (v) LEFT JOIN (SELECT count(id) n FROM ours.texts OFFSET 0) y ON v < n');
SELECT agree('SELECT v, n FROM (VALUES (1), (2), (3)) x (v) LEFT JOIN (SELECT count(id) n FROM texts OFFSET 0) y ON v < n');
SELECT bad, agree_on((SELECT string_agg(CASE i WHEN bad THEN 'NaN' ELSE i || '.5' END || E'\n', '') FROM generate_series(1, 3000) i),
					 'a numeric(8,2)', $$format 'csv'$$, 'SELECT v, s FROM (VALUES (1), (2), (3)) x (v) LEFT JOIN (SELECT count(a) n, sum(a) s FROM odd OFFSET 0) y ON v < n')
FROM unnest('{1, 100, 3001}'::int[]) bad;
RESET enable_material;

-- What is behind an end-of-data marker is nobody's, wherever it is; an escaped backslash before a dot is none.
CREATE FUNCTION marked(place int, marker text) RETURNS text LANGUAGE sql
RETURN (SELECT string_agg(CASE WHEN i < place THEN i || E',\\\\.\\\n\\\\' WHEN i = place THEN marker ELSE 'x' END || E'\n', '') FROM generate_series(1, 1000) i);
SELECT place, marker, count(*), count(*) FILTER (WHERE result LIKE 'DIFFERENT%') AS different
FROM (VALUES (1), (2), (77), (78), (79), (500), (999), (1000)) p (place), unnest('{\\.,"7,\\\\\\."}'::text[]) m (marker),
	unnest('{on,off}'::text[]) aggregates,
	LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false) ||
			 set_config('tollfree_file_fdw.debug_require', CASE WHEN place > 1 AND marker = '\.' THEN 'parallel' ELSE 'none' END, false)) s (settings),
	agree_on(marked(place, marker), 'a int, b text', $$delimiter ','$$, format('SELECT count(a), sum(a), count(b) FROM odd /* %s */', settings)) result
GROUP BY place, marker ORDER BY place, marker;
-- In CSV format up to 17, what looks like one ends the data wherever a line of the file begins.
SELECT place, value, count(*), count(*) FILTER (WHERE result LIKE 'DIFFERENT%') AS different
FROM (VALUES (1), (2), (77), (78), (79), (500), (999), (1000)) p (place), unnest('{"\\.","\"a\n\\.\nb\"","\"a\n\\.b\"","\"\\.\"","a\\."}'::text[]) m (value),
	unnest('{on,off}'::text[]) aggregates,
	LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false)) s (settings),
	agree_on((SELECT string_agg(CASE i WHEN place THEN replace(value, 'n', E'\n') ELSE i || ',"a' || E'\n' || repeat('x', i % 90) || '"' END || E'\n', '') FROM generate_series(1, 1000) i),
			 'a text, b text', $$format 'csv'$$, format('SELECT count(a), max(a), count(b) FROM odd /* %s */', settings)) result
GROUP BY place, value ORDER BY place, value;

-- Every byte is read once, though it is looked at twice.
\set twice :abs_builddir '/results/twice.txt'
COPY (SELECT i, repeat(E'"x\\', i % 20) FROM generate_series(1, 50000) i) TO :'twice' (DELIMITER '|');
SELECT make_pair('twice_text', 'a int, b text', :'twice', $$delimiter '|'$$);
\set twice :abs_builddir '/results/twice.csv'
COPY (SELECT i, repeat(E'"x\n', i % 20) FROM generate_series(1, 50000) i) TO :'twice' (FORMAT csv);
SELECT make_pair('twice_csv', 'a int, b text', :'twice', $$format 'csv'$$);
CREATE FUNCTION times_read(query text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	plan text := '';
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING off) ' || query LOOP
		plan := plan || line;
	END LOOP;
	RETURN concat(CASE WHEN plan ~ 'Gather' THEN 'parallel, ' END, 'read ',
				  round(substring(plan FROM 'Fast Path Read: (\d+) b')::numeric / substring(plan FROM 'Foreign File Size: (\d+) b')::numeric, 1), ' times');
END
$$;
SET tollfree_file_fdw.debug_parallel_chunk_size = '256kB';
SELECT workers, aggregates, name, result
FROM unnest('{2,0}'::text[]) workers, unnest('{on,off}'::text[]) aggregates, unnest('{twice_text,twice_csv}'::text[]) name,
	LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false) || set_config('max_parallel_workers_per_gather', workers, false) || name) s (settings),
	times_read(format('SELECT count(a), count(b) FROM ours.%s /* %s */', name, settings)) result
ORDER BY workers, aggregates, name;
