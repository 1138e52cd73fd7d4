-- Several processes scan one file.
\getenv abs_builddir PG_ABS_BUILDDIR
\set marked :abs_builddir '/results/marked.txt'
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.parallel_chunk_size = '1kB';
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
-- What is behind an end-of-data marker is in no chunk.
COPY (SELECT CASE i WHEN 1500 THEN '.' ELSE i::text END FROM generate_series(1, 3000) i) TO :'marked';
\set mark 'cat > /dev/null; sed -i ''s/^\\.$/\\\\./'' ''' :marked ''''
COPY (SELECT) TO PROGRAM :'mark';
SELECT make_pair('marked', 'a int', :'marked', $$format 'text'$$),
	make_pair('marked_csv', 'a text', :'marked', $$format 'csv'$$);
SELECT agree('SELECT count(a) FROM marked'), agree('SELECT count(a) FROM marked_csv');
SET tollfree_file_fdw.parallel_scan = off;
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT agree('SELECT count(a) FROM marked') ~ 'DIFFERENT.*required fast path';
