-- Many files in one table.  What stock says of each file, one after the other, is what the table has.
\getenv abs_builddir PG_ABS_BUILDDIR
\set folder :abs_builddir '/results/folder'
\set a_to_f :folder '/[a-f]*.csv'
\set three :folder '/t[123]'
\set four :folder '/t[1-4]'
\set two :folder '/{a,t4}*'
\set nothing :folder '/*.nothing'
\set lines :folder '/empty/'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION shell(command text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'cat >/dev/null; ' || command);
END
$$;
CREATE FUNCTION put_file(path text, content text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM shell(format('printf ''%s'' > ''%s''', content, path));
END
$$;
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s/2026/01 %1$s/2026/02 %1$s/.hidden %1$s/empty', :'folder'));
SELECT count(put_file(:'folder' || file, content)) FROM (VALUES
	('/a.csv', 'id,word,day\n1,one,2026-01-01\n2,"two\nlines",2026-01-02'), ('/b.csv', ''), ('/c.csv', 'id,word,day\n'),
	('/d.csv', 'id,word,day\r\n3,three,2026-01-03\r\n4,,2026-1-4\r\n'), ('/e.csv', 'id,word,day\n5,"a ""b""",2026-01-05\n'),
	('/f*.csv', 'id,word,day\n6,star,2026-01-06\n'), ('/.g.csv', 'id,word,day\n99,hidden,2026-01-07\n'), ('/h.txt', 'id,word,day\n7,text,2026-01-08\n'),
	('/.hidden/a.csv', 'id,word,day\n98,hidden,2026-01-07\n'), ('/2026/01/a.csv', 'id,word,day\n8,jan,2026-01-08\n'),
	('/2026/02/b.csv', 'id,word,day\n9,feb,2026-02-08\n'), ('/2026/c.csv', 'id,word,day\n10,year,2026-02-09\n')) files (file, content);
SELECT shell(format('cd %s && mkfifo pipe.csv && ln -s a.csv link.csv && ln -s ../2026 2026/loop', :'folder'));

-- Which files a pattern names, by the rows that they have
CREATE FUNCTION ids(pattern text, options text DEFAULT '') RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	result text;
BEGIN
	DROP FOREIGN TABLE IF EXISTS ours.listed;
	EXECUTE format('CREATE FOREIGN TABLE ours.listed (id int, word text, day date) SERVER ours'
				   ' OPTIONS (filenames %L, format ''csv'', header ''true'' %s)', pattern, options);
	SELECT string_agg(id::text, ' ') INTO result FROM ours.listed;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, '/.*/', '');
END
$$;
SELECT pattern, ids(:'folder' || pattern) FROM unnest(ARRAY['', '/', '/*.csv', '/[a-d].csv', '/[!a-d].csv', '/?.csv', '/f\*.csv', '/f[*].csv', '/*.txt',
	'/.g.csv', '/.*.csv', '/{a,e}.csv', '/{e,a,a}.csv', '/{e,{a,d}}.csv', '/{a.csv,2026/c.csv}', '/{*.txt,2026/**}', '/**/*.csv', '/**', '/2026/**/a.csv', '/**/**/b.csv', '/2026/*/*', '/2026/*/',
	'/2026/0[12]/{a,b}.csv', '/{a}.csv', '/a.csv', '/nothing.csv', '/nothing/*', '/nothing/', '/*.nothing', '/{a,nothing}.csv', '/{a*,nothing*}.csv', '/empty', '/pipe.csv', '/pipe*',
	'/a.csv/*', '/{a', '/a}.csv']) pattern;

-- Rows and their order, errors and their places
CREATE FUNCTION stock_files(name text, columns text, files text[], options text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..cardinality(files) LOOP
		EXECUTE format('CREATE FOREIGN TABLE stock.%I (%s) SERVER stock OPTIONS (filename %L, %s)', name || i, columns, files[i], options);
	END LOOP;
	EXECUTE format('CREATE VIEW stock.%I AS %s', name, (SELECT string_agg(format('SELECT * FROM stock.%I', name || i), ' UNION ALL ' ORDER BY i)
														FROM generate_series(1, cardinality(files)) i));
END
$$;
SELECT stock_files('folder', 'id int, word text, day date', ARRAY(SELECT :'folder' || '/' || file FROM unnest('{a.csv,b.csv,c.csv,d.csv,e.csv,f*.csv}'::text[]) file),
				   $$format 'csv', header 'true'$$);
CREATE FOREIGN TABLE ours.folder (id int, word text, day date) SERVER ours OPTIONS (filenames :'a_to_f', format 'csv', header 'true');
CREATE FUNCTION compare_folder() RETURNS TABLE (query text, agrees text) LANGUAGE sql
AS $$
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT * FROM folder', 'SELECT count(*) FROM folder', 'SELECT id FROM folder WHERE word IS NULL', 'SELECT word FROM folder WHERE id > 2 LIMIT 2',
	'SELECT count(*), sum(id), min(word COLLATE "C"), max(day) FROM folder WHERE id <> 3', 'SELECT day, count(*) FROM folder GROUP BY day ORDER BY day',
	'SELECT id FROM folder OFFSET 4', 'SELECT folder FROM folder', 'SELECT x.id, y.word FROM folder x JOIN folder y USING (day) ORDER BY 1',
	'SELECT n, (SELECT string_agg(word, '','') FROM folder WHERE id > n) FROM generate_series(1, 3) n', 'SELECT 1 FROM folder']) query
$$;
SELECT * FROM compare_folder();
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM compare_folder();
RESET tollfree_file_fdw.fast_scan;
SET tollfree_file_fdw.push_aggregates = off;
SELECT * FROM compare_folder();
RESET tollfree_file_fdw.push_aggregates;

-- COPY's parser reads on to the end of a file, the next one is read fast again; an end-of-data marker ends its file.
SELECT count(put_file(:'folder' || file, content)) FROM (VALUES
	('/t1', '1\tone\n\\.\n2\tbehind\n'), ('/t2', '3\tth\\162ee\n4\t\\N'), ('/t3', '5\tfive\n'), ('/t4', '6\tsix\nseven\tx\n')) files (file, content);
SELECT stock_files('finale', 'id int, word text', ARRAY[:'folder' || '/t1', :'folder' || '/t2', :'folder' || '/t3'], $$format 'text'$$);
CREATE FOREIGN TABLE ours.finale (id int, word text) SERVER ours OPTIONS (filenames :'three');
SELECT query, agree(query) FROM unnest(ARRAY['SELECT * FROM finale', 'SELECT count(*), sum(id) FROM finale', 'SELECT id FROM finale WHERE id > 2']) query;
SELECT * FROM shown_plan('SELECT * FROM ours.finale', 'costs off, analyze, timing off, summary off, buffers off');
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE sql
AS $$
SELECT regexp_replace(array_to_string(outcome(query, 'ours'), ' | '), '"/[^"]*/', '"', 'g')
$$;
ALTER FOREIGN TABLE ours.finale OPTIONS (SET filenames :'four');
SELECT failure(query) FROM unnest(ARRAY['SELECT * FROM finale', 'SELECT sum(id) FROM finale', 'SELECT id FROM finale LIMIT 4', 'SELECT word FROM finale WHERE id = 6']) query;
ALTER FOREIGN TABLE ours.finale OPTIONS (ADD format 'csv', ADD header 'match', SET filenames :'two');
SELECT failure('SELECT * FROM finale');
ALTER FOREIGN TABLE ours.finale OPTIONS (SET format 'binary', DROP header);
SELECT failure('SELECT * FROM finale');
DROP FOREIGN TABLE ours.finale;

-- A file that is gone when its turn comes; one that comes is not read.
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM ours.folder;
FETCH 1 FROM c;
SELECT put_file(:'folder' || '/bb.csv', 'id,word,day\n50,late,2026-01-01\n');
FETCH ALL FROM c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM ours.folder;
FETCH 1 FROM c;
SELECT shell(format('rm %s/bb.csv', :'folder'));
\set VERBOSITY sqlstate
FETCH ALL FROM c;
\set VERBOSITY default
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM ours.folder;
FETCH 4 FROM c;
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
FETCH FIRST FROM c;
COMMIT;

-- Options
\set VERBOSITY terse
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames :'folder', filename 'x');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (program 'x', filenames :'folder');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames '');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames :'folder', format 'xml');
CREATE SERVER wrong FOREIGN DATA WRAPPER tollfree_file_fdw OPTIONS (filenames '/data');
CREATE FOREIGN TABLE stock.wrong (a int) SERVER stock OPTIONS (filenames '/data');
CREATE ROLE regress_tollfree_folder;
GRANT USAGE ON FOREIGN SERVER ours TO regress_tollfree_folder;
GRANT CREATE ON SCHEMA ours TO regress_tollfree_folder;
SET ROLE regress_tollfree_folder;
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames :'folder');
RESET ROLE;
REVOKE ALL ON FOREIGN SERVER ours FROM regress_tollfree_folder;
REVOKE ALL ON SCHEMA ours FROM regress_tollfree_folder;
DROP ROLE regress_tollfree_folder;
CREATE SERVER folders FOREIGN DATA WRAPPER tollfree_file_fdw;
CREATE FOREIGN TABLE ours.held (a int) SERVER folders OPTIONS (filenames :'folder');
\set VERBOSITY default
SELECT tollfree_file_fdw_release('folders');
DROP SERVER folders CASCADE;
-- A name that only looks like a pattern is that of one file, as for stock.
SELECT make_pair('star', 'id int, word text, day date', :'folder' || '/f*.csv', $$format 'csv', header 'true'$$);
SELECT agree('SELECT * FROM star');

-- Plans, sizes and statistics; nothing is kept of many files.
SELECT * FROM shown_plan('SELECT sum(id) FROM ours.folder WHERE id > 2');
SET tollfree_file_fdw.column_cache = on;
SELECT * FROM shown_plan('SELECT id FROM ours.folder', 'costs off, analyze, timing off, summary off, buffers off');
SELECT * FROM tollfree_file_fdw_load_columns('ours.folder');
RESET tollfree_file_fdw.column_cache;
ANALYZE ours.folder;
SELECT reltuples, relpages FROM pg_class WHERE oid = 'ours.folder'::regclass;
SELECT attname, n_distinct, null_frac::numeric(5, 3) FROM pg_stats WHERE schemaname = 'ours' AND tablename = 'folder' ORDER BY attname;
ALTER FOREIGN TABLE ours.folder OPTIONS (SET filenames :'nothing');
SELECT * FROM shown_plan('SELECT id FROM ours.folder');
SELECT failure('SELECT id FROM folder');

-- More files than a session may have open
SELECT shell(format('cd %s/empty && for i in $(seq 3000); do echo $i > $i; done', :'folder'));
CREATE FOREIGN TABLE ours.lines (id int) SERVER ours OPTIONS (filenames :'lines');
SELECT count(*), sum(id) FROM ours.lines;
SELECT id FROM ours.lines OFFSET 2997;
SELECT count(*) FROM ours.lines x JOIN ours.lines y ON x.id = y.id + 1;
SELECT shell(format('rm -rf %s', :'folder'));
DROP FOREIGN TABLE ours.lines, ours.folder, ours.listed, ours.star;
