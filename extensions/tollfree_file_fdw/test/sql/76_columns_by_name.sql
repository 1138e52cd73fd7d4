-- Files whose columns come in another order, or that lack some: their headers name them.
\getenv abs_builddir PG_ABS_BUILDDIR
\set folder :abs_builddir '/results/named'
\set wrong :folder '/wrong/'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s/wrong', :'folder'));
SELECT count(put_file(:'folder' || file, content)) FROM (VALUES
	('/a.csv', 'id,word,amount,day\n1,one,1.50,2026-01-01\n2,two,2.50,2026-01-02\n'), ('/b.csv', 'day,amount,id\n2026-02-01,3.5,3\n2026-2-2,1e1,4\n'),
	('/c.csv', '"word","id"\n"five",5\n,6\n'), ('/d.csv', ''), ('/e.csv', 'amount,word,day,id\n'), ('/f.csv', 'word\nonly'), ('/g.csv', 'id\n8\n')) files (file, content);
CREATE FOREIGN TABLE ours.named (id int, word text, amount numeric(9, 2), day date) SERVER ours
	OPTIONS (filenames :'folder', format 'csv', header 'true', columns 'by name');
CREATE TABLE named_rows (id int, word text, amount numeric(9, 2), day date);
INSERT INTO named_rows VALUES (1, 'one', 1.5, '2026-01-01'), (2, 'two', 2.5, '2026-01-02'), (3, NULL, 3.5, '2026-02-01'), (4, NULL, 10, '2026-02-02'), (5, 'five', NULL, NULL),
	(6, NULL, NULL, NULL), (NULL, 'only', NULL, NULL), (8, NULL, NULL, NULL);
SELECT * FROM ours.named;
CREATE FUNCTION compare_named() RETURNS TABLE (query text, agrees text) LANGUAGE sql
AS $$
SELECT query, CASE WHEN outcome(replace(query, 'NAMED', 'ours.named'), 'public') = outcome(replace(query, 'NAMED', 'named_rows'), 'public')
	THEN outcome(replace(query, 'NAMED', 'named_rows'), 'public')::text ELSE 'DIFFERENT: ' || outcome(replace(query, 'NAMED', 'ours.named'), 'public')::text END
FROM unnest(ARRAY[
	'SELECT count(*), count(id), sum(id), sum(amount), min(day), count(word) FROM NAMED', 'SELECT id FROM NAMED WHERE word IS NULL', 'SELECT word FROM NAMED', 'SELECT day, id FROM NAMED WHERE amount > 2',
	'SELECT amount FROM NAMED WHERE id > 1 AND (word IS NULL OR day < ''2026-01-03'')', 'SELECT word, sum(amount) FROM NAMED GROUP BY word ORDER BY word', 'SELECT count(*) FROM NAMED',
	'SELECT x.id FROM NAMED x JOIN NAMED y USING (day) ORDER BY 1']) query
$$;
SELECT * FROM compare_named();
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM compare_named();
RESET tollfree_file_fdw.fast_scan;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), count(id), sum(id), sum(amount), min(day), count(word) FROM ours.named;
RESET max_parallel_workers_per_gather;
SET max_parallel_workers_per_gather = 0;
ALTER FOREIGN TABLE ours.named OPTIONS (ADD lazy 'true');
SELECT * FROM compare_named();
ALTER FOREIGN TABLE ours.named OPTIONS (DROP lazy);
SELECT * FROM shown_plan('SELECT sum(id) FROM ours.named', 'costs off, analyze, timing off, summary off, buffers off');
ANALYZE ours.named;
SELECT attname, null_frac FROM pg_stats WHERE schemaname = 'ours' AND tablename = 'named' ORDER BY attname;
-- Options of columns that a file lacks, and defaults
ALTER FOREIGN TABLE ours.named ALTER word OPTIONS (ADD force_not_null 'true');
SELECT id, word FROM ours.named WHERE id > 2;
ALTER FOREIGN TABLE ours.named ALTER word SET DEFAULT 'none';
SELECT id, word FROM ours.named WHERE id > 2;
SELECT count(*), count(word) FROM ours.named;
SELECT * FROM shown_plan('SELECT word FROM ours.named', 'costs off, analyze, timing off, summary off, buffers off');
ALTER FOREIGN TABLE ours.named ALTER word DROP DEFAULT;

-- What a header cannot name, and values that are none
ALTER FOREIGN TABLE ours.named OPTIONS (SET filenames :'wrong');
SELECT put_file(:'wrong' || 'a.csv', 'id,more\n1,x\n') IS NULL;
SELECT failure('SELECT id FROM named');
SELECT put_file(:'wrong' || 'a.csv', 'id,word,id\n1,x,2\n') IS NULL;
SELECT failure('SELECT id FROM named');
SELECT put_file(:'wrong' || 'a.csv', 'id,,day\n1,x,2\n') IS NULL;
SELECT failure('SELECT id FROM named');
SELECT put_file(:'wrong' || 'a.csv', 'day,id\n2026-01-01,1\n2026-01-02,x\n') IS NULL;
SELECT failure(query) FROM unnest(ARRAY['SELECT id FROM named', 'SELECT sum(id) FROM named', 'SELECT day FROM named']) query;
SELECT put_file(:'wrong' || 'a.csv', 'day,id\n2026-01-01,1\n2026-01-02\n') IS NULL;
SELECT failure(query) FROM unnest(ARRAY['SELECT id FROM named', 'SELECT count(*) FROM named']) query;
\set VERBOSITY terse
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames :'folder', format 'csv', columns 'by name');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames :'folder', format 'csv', header 'match', columns 'by name');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filename 'x', format 'csv', header 'true', columns 'by name');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (filenames :'folder', format 'csv', header 'true', columns 'by nam');
\set VERBOSITY default
SELECT shell(format('rm -rf %s', :'folder'));
DROP FOREIGN TABLE ours.named;
DROP TABLE named_rows;
