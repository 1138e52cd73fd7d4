-- Files whose lines are JSON objects.
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/lines.jsonl'
\set folder :abs_builddir '/results/lines'
SET search_path = ours, public;
SET client_min_messages = warning;
CREATE FUNCTION put_lines(content bytea, path text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, content);
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
CREATE FUNCTION put_lines(content text, path text) RETURNS void LANGUAGE sql
AS $$SELECT put_lines(convert_to(content, 'UTF8'), path)$$;
SELECT put_lines(text $$
{"id": 1, "name": "one", "user": {"tags": ["a", "b"], "age": 40}, "at": "2026-01-31", "v": 1.50}
  {"v": 2e1, "id": 2, "name": null, "extra": [1, {"id": 7}], "ok": true}

{"id": 3, "name": "\"q\"\\ \u00e9\ud83d\ude00\t|", "user": {"tags": []}, "id": 4}$$, :'file');
CREATE FOREIGN TABLE lines (id int, name text, v numeric(8,2), at date, ok bool, tag text OPTIONS (path '/user/tags/1'),
	"user" jsonb, rest jsonb OPTIONS (rest 'true')) SERVER ours OPTIONS (filename :'file', format 'jsonl');
SELECT * FROM lines;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM lines;
RESET tollfree_file_fdw.fast_scan;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT count(*), sum(v), max(name COLLATE "C") FROM lines WHERE id > 1;
RESET tollfree_file_fdw.debug_require;
-- All of a line; a key with a slash and a tilde; strings for json, numbers for text
SELECT put_lines(text E'{"a/b~c": "1", "": 2, "t": 1e2, "j": "x\\u0000", "u": [ ]}\n', :'file');
CREATE FOREIGN TABLE places ("a/b~c" int, empty int OPTIONS (path '/'), again int OPTIONS (path '/a~1b~0c'), t text, j json, u text, line json OPTIONS (path '')) SERVER ours OPTIONS (filename :'file', format 'jsonl');
SELECT * FROM places;
-- A byte order mark
SELECT put_lines(text E'\uFEFF{"a/b~c": 3}\n', :'file');
SELECT "a/b~c" FROM places;
SET tollfree_file_fdw.fast_scan = off;
SELECT "a/b~c" FROM places;
RESET tollfree_file_fdw.fast_scan;
-- Lines that are no records, where they are due
SELECT put_lines(text E'{"id": 1}\n{"id": 2}\n\n[3]\n', :'file');
SELECT id FROM lines LIMIT 2;
SELECT regexp_replace(file, '.*/', '') AS file, line, column_name, reason, record FROM tollfree_file_fdw_rejects('lines');
CREATE FUNCTION fails(query text) RETURNS TABLE (state text, message text, detail text, context text) LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE query;
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	message = regexp_replace(message, '"/[^"]*/', '".../');
	context = split_part(context, E'\n', 1);
	RETURN NEXT;
END
$$;
SELECT * FROM fails('SELECT id FROM lines');
SELECT * FROM fails('SELECT count(*) FROM lines');
SELECT put_lines(text E'{"id": 1}\n{"id": 2,}\n', :'file');
SELECT * FROM fails('SELECT id FROM lines');
SELECT put_lines(text E'{"id": 1}\n{"id": "x"}\n', :'file');
SELECT * FROM fails('SELECT id FROM lines');
SELECT put_lines(text E'{"name": "x"}\n{"name": "\\ud800"}\n', :'file');
SELECT * FROM fails('SELECT name FROM lines');
SELECT * FROM fails('SELECT id FROM lines');
CREATE FOREIGN TABLE arrays (a int[]) SERVER ours OPTIONS (filename :'file', format 'jsonl');
SELECT put_lines(text E'{"a": "{1,2}"}\n{"a": [1, 2]}\n', :'file');
SELECT * FROM arrays LIMIT 1;
SELECT * FROM fails('SELECT a FROM arrays');
SELECT line, column_name, reason, record FROM tollfree_file_fdw_rejects('arrays');
SELECT put_lines('{"id": 1}\012{"name": "\377"}\012'::bytea, :'file');
SELECT * FROM fails('SELECT id FROM lines');
-- Options that do not go together, or have no such value
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', format 'jsonl', header 'true');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', format 'jsonl', encoding 'LATIN1');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (program 'x', format 'jsonl');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', format 'jsonl', writable 'true');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', format 'jsonl', comment '#');
CREATE FOREIGN TABLE wrong (a int OPTIONS (path 'a')) SERVER ours OPTIONS (filename 'x', format 'jsonl');
CREATE FOREIGN TABLE wrong (a int OPTIONS (rest 'maybe')) SERVER ours OPTIONS (filename 'x', format 'jsonl');
CREATE FOREIGN TABLE wrong (a int OPTIONS (path '/a', rest 'true')) SERVER ours OPTIONS (filename 'x', format 'jsonl');
SELECT * FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a jsonb OPTIONS (rest 'true'), b json OPTIONS (rest 'true')) SERVER ours OPTIONS (filename 'x', format 'jsonl');
SELECT * FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a int OPTIONS (path '/a')) SERVER ours OPTIONS (filename 'x', format 'csv');
SELECT * FROM wrong;
DROP FOREIGN TABLE wrong;
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename '/dev/null', format 'jsonl');
SELECT * FROM wrong;
DROP FOREIGN TABLE wrong;
-- Many files; several processes for one
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s', :'folder'));
SELECT put_lines((SELECT string_agg(format(E'{"id": %s, "name": "n%s", "in": [%s]}\n%s', i, i % 7, i % 100, repeat(E'\n', (i % 500 = 0)::int)), '') FROM generate_series(1, n) i), :'folder' || '/' || n || '.jsonl')
FROM unnest(ARRAY[1, 2000, 3000]) n;
CREATE FOREIGN TABLE folder (id int, name text, n int OPTIONS (path '/in/0'), file text OPTIONS (source 'file'), line int OPTIONS (source 'line')) SERVER ours OPTIONS (filenames :'folder', format 'jsonl');
SELECT regexp_replace(file, '.*/', '') AS file, count(*), sum(id), sum(n), max(line) FROM folder GROUP BY file ORDER BY 1;
ANALYZE folder;
SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'folder' AND attname IN ('name', 'n') ORDER BY attname;
\set one :folder '/3000.jsonl'
CREATE FOREIGN TABLE one (id int, name text, n int OPTIONS (path '/in/0')) SERVER ours OPTIONS (filename :'one', format 'jsonl');
ANALYZE one;
SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'one' AND attname IN ('name', 'n') ORDER BY attname;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = 65536;
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT count(*), sum(id), sum(n), max(name) FROM one;
SELECT count(*), sum(id), sum(n), max(name) FROM folder;
RESET tollfree_file_fdw.debug_require;
SELECT * FROM shown_plan('SELECT sum(id) FROM one WHERE n > 1');
-- COPY's parser reads the chunk of a line that is none, up to the next chunk.
SELECT put_lines((SELECT string_agg(format(E'{"id": %s, "name": "%s"}\n', i, CASE i WHEN 1500 THEN '\u0000' ELSE repeat('x', 50) END), '') FROM generate_series(1, 3000) i), :'one');
SELECT count(*), sum(id) FROM one;
SELECT state, message, context FROM fails('SELECT count(name) FROM one');
-- What is found in files
SELECT put_lines(text E'{"id": 1, "user": {"n": 1}, "at": "2026-01-31T12:00:00Z", "zip": "012"}\n\n[3]\n', :'one');
SELECT put_lines(text E'{"v": 1.50, "id": 3000000000, "": true}\n', :'folder' || '/1.jsonl');
SELECT property, regexp_replace(found, '''/[^'']*/', '''.../') AS found, reason FROM tollfree_file_fdw_sniff(:'one', 'ours');
\set all :folder '/*'
CREATE SCHEMA json_raw;
IMPORT FOREIGN SCHEMA :"all" FROM SERVER ours INTO json_raw;
SELECT attname, format_type(atttypid, atttypmod) AS type, attfdwoptions FROM pg_attribute WHERE attrelid = 'json_raw.lines'::regclass AND attnum > 0 ORDER BY attnum;
SELECT put_lines(text E'{"id": 1}\n', :'one');
SELECT * FROM json_raw.lines ORDER BY id DESC LIMIT 1;
DROP SCHEMA json_raw CASCADE;
-- It is no option of file_fdw.
CREATE SERVER of_lines FOREIGN DATA WRAPPER tollfree_file_fdw;
CREATE FOREIGN TABLE not_stock (id int) SERVER of_lines OPTIONS (filename :'one', format 'jsonl');
SELECT tollfree_file_fdw_release('of_lines');
DROP SERVER of_lines CASCADE;
DROP FOREIGN TABLE lines, places, arrays, folder, one;
DROP FUNCTION put_lines(text, text), put_lines(bytea, text), fails;
