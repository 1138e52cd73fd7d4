-- The record index: made of a scan that reads all of a file, used by those behind it.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log.csv'
\set part :abs_builddir '/results/log_part.csv'
COPY (SELECT i, to_char(timestamp '2020-01-01' + i * interval '1 minute', 'YYYY-MM-DD HH24:MI:SS'), CASE WHEN i % 10 = 3 THEN E'two\nlines ' || i ELSE 'text ' || i END,
			 CASE WHEN i % 7 > 0 THEN (i % 100)::numeric(6,2) END, i % 2 = 0
	  FROM generate_series(1, 20000) i) TO :'log' (FORMAT csv);
SELECT make_pair('indexed', 'id int, at timestamp, what text, n numeric(6,2), even bool', :'log', $$format 'csv'$$);
CREATE FUNCTION index_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line
WHERE line ~ 'Record Index|Removed'
$$;
CREATE FUNCTION index_files() RETURNS SETOF text LANGUAGE plpgsql
AS $$
BEGIN
	CREATE TEMP TABLE names (name text);
	COPY names FROM PROGRAM 'stat -c "%a %n" pgsql_tmp_tollfree_file_fdw pgsql_tmp_tollfree_file_fdw/* 2>/dev/null || true';
	RETURN QUERY SELECT replace(regexp_replace(name, '_\d+$', '_T'), oid::text, 'D') FROM names, pg_database
		WHERE datname = current_database() AND (name ~ ('_' || oid || '_') OR name ~ 'fdw$') ORDER BY 1;
	DROP TABLE names;
END
$$;
SET max_parallel_workers_per_gather = 0;

-- Off by default, and not of a file that was changed a moment ago.
SELECT count(*) FROM ours.indexed;
SELECT * FROM index_files() WHERE index_files ~ '_T';
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = '1h';
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT count(*) FROM ours.indexed;
RESET tollfree_file_fdw.debug_require;
SELECT * FROM index_files() WHERE index_files ~ '_T';
SET tollfree_file_fdw.debug_record_index_age = 0;

-- The first scan of all columns makes it.
SELECT agree('SELECT count(*) FROM indexed');
SELECT * FROM index_files();
SELECT relation, file_size > 0 AS has_size, blocks, columns, index_size > 0 AS has_index_size FROM tollfree_file_fdw_record_indexes();
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT index_lines('SELECT count(*) FROM ours.indexed');
SELECT index_lines('SELECT * FROM ours.indexed WHERE id = 77');
SET quote_all_identifiers = on;
SELECT index_lines('SELECT count(*) FROM ours.indexed');
RESET quote_all_identifiers;
SELECT index_lines('SELECT id FROM ours.indexed WHERE at BETWEEN ''2020-01-03'' AND ''2020-01-04'' AND what LIKE ''%7''');
SELECT index_lines('SELECT count(*) FROM ours.indexed WHERE id > 10000');
SELECT index_lines('SELECT sum(n) FROM ours.indexed WHERE id IN (5, 19999)');
SELECT index_lines('SELECT sum(n) FROM ours.indexed WHERE n > 1000');
SELECT index_lines('SELECT * FROM ours.indexed WHERE id > 10 LIMIT 1');
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT count(*) FROM indexed',
	'SELECT count(*) FROM indexed WHERE id > 10000',
	'SELECT count(*) FROM indexed WHERE id < 300 OR id >= 19000',
	'SELECT count(*) FROM indexed WHERE NOT (id < 300 OR id >= 19000)',
	'SELECT * FROM indexed WHERE id BETWEEN 4000 AND 6000',
	'SELECT * FROM indexed WHERE at = ''2020-01-02 03:04:00''',
	'SELECT * FROM indexed WHERE at < ''2020-01-02'' AND n IS NULL',
	'SELECT id FROM indexed WHERE id IN (1, 2, 9999, NULL)',
	'SELECT id FROM indexed WHERE id NOT IN (1, 2, NULL)',
	'SELECT id FROM indexed WHERE n > 98.5 AND even',
	'SELECT count(*) FROM indexed WHERE even IS NULL',
	'SELECT what FROM indexed WHERE what = ''text 15000'' AND id > 3',
	'SELECT min(id), max(id), sum(n), count(n) FROM indexed WHERE id > 12345',
	'SELECT even, count(*) FROM indexed WHERE id < 2000 GROUP BY even ORDER BY even',
	'SELECT a, (SELECT count(*) FROM indexed WHERE id > a) FROM generate_series(0, 20000, 5000) a',
	'SELECT a, b.what FROM generate_series(1000, 20000, 6000) a, LATERAL (SELECT * FROM indexed WHERE id > 7000 AND id = a OFFSET 0) b',
	'SELECT id FROM indexed WHERE false'
]) query;
-- A cursor stops in the middle, and starts again.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM ours.indexed WHERE id BETWEEN 3000 AND 9000;
FETCH 2 FROM c;
MOVE FORWARD 5000 IN c;
FETCH 2 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 1 FROM c;
COMMIT;
RESET tollfree_file_fdw.debug_require;

-- Columns are added as queries come that read them.
SELECT tollfree_file_fdw_drop_record_index('ours.indexed'), tollfree_file_fdw_drop_record_index('ours.indexed');
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 100');
SELECT columns FROM tollfree_file_fdw_record_indexes();
SELECT index_lines('SELECT sum(n) FROM ours.indexed WHERE id < 100');
SELECT columns FROM tollfree_file_fdw_record_indexes();
SELECT index_lines('SELECT sum(n) FROM ours.indexed WHERE id < 100');

-- Another file, other options, another type: it is not used.
COPY (SELECT i, 'x', 'y', i, true FROM generate_series(1, 5000) i) TO :'part' (FORMAT csv);
SET tollfree_file_fdw.debug_require = 'record_index';
ALTER FOREIGN TABLE ours.indexed OPTIONS (ADD null 'none');
SELECT sum(id) FROM ours.indexed WHERE id < 100;
ALTER FOREIGN TABLE ours.indexed OPTIONS (DROP null);
SELECT sum(id) FROM ours.indexed WHERE id < 100;
ALTER FOREIGN TABLE ours.indexed ALTER n TYPE numeric(8,3);
SELECT sum(n) FROM ours.indexed WHERE id < 100;
ALTER FOREIGN TABLE ours.indexed ALTER n TYPE numeric(6,2);
SELECT sum(n) FROM ours.indexed WHERE id < 100;
ALTER FOREIGN TABLE ours.indexed OPTIONS (SET filename :'part');
SELECT sum(n) FROM ours.indexed WHERE id < 100;
ALTER FOREIGN TABLE ours.indexed OPTIONS (SET filename :'log');
SELECT sum(n) FROM ours.indexed WHERE id < 100;
SET client_encoding = 'LATIN1';
SELECT sum(n) FROM ours.indexed WHERE id < 100;
RESET client_encoding;
-- Touched, but not written to.
\set touch 'touch -d 2001-01-01 ' :log
COPY (SELECT WHERE false) TO PROGRAM :'touch';
SELECT sum(n) FROM ours.indexed WHERE id < 100;
RESET tollfree_file_fdw.debug_require;
SELECT index_lines('SELECT sum(n) FROM ours.indexed WHERE id < 100');
SELECT index_lines('SELECT sum(n) FROM ours.indexed WHERE id < 100');
-- Appended: the index is made anew.
\set append 'printf ''30000,2030-01-01 00:00:00,end,1,t\\n'' >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'append';
SELECT agree('SELECT sum(id), count(*), max(at) FROM indexed WHERE id > 19000');
SELECT index_lines('SELECT sum(id), count(*), max(at) FROM ours.indexed WHERE id > 19000');
SELECT agree('SELECT sum(id), count(*), max(at) FROM indexed WHERE id > 19000');

-- Switched off by the table, and where the header must match.
ALTER FOREIGN TABLE ours.indexed OPTIONS (ADD record_index 'false');
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT count(*) FROM ours.indexed;
ALTER FOREIGN TABLE ours.indexed OPTIONS (SET record_index 'perhaps');
ALTER FOREIGN TABLE ours.indexed OPTIONS (DROP record_index);
CREATE FOREIGN TABLE ours.indexed_headed (id int, at timestamp, what text, n numeric(6,2), even bool) SERVER ours OPTIONS (filename :'log', format 'csv', header 'match');
SELECT id FROM ours.indexed_headed;
DROP FOREIGN TABLE ours.indexed_headed;
RESET tollfree_file_fdw.debug_require;

-- What is not clean is read: errors are those of file_fdw, filter or not.
\set wrong :abs_builddir '/results/log_wrong.csv'
COPY (SELECT i, CASE i WHEN 15000 THEN 'wrong' WHEN 3000 THEN ' 3000' ELSE i::text END, CASE i WHEN 18000 THEN 'longer' ELSE 'short' END, i FROM generate_series(1, 20000) i)
	TO :'wrong' (FORMAT csv, FORCE_QUOTE *);
SELECT make_pair('indexed_wrong', 'id int, a int, b varchar(5), c int', :'wrong', $$format 'csv'$$);
SELECT agree('SELECT count(*) FROM indexed_wrong WHERE id > 10'), agree('SELECT sum(c) FROM indexed_wrong WHERE id > 10');
SELECT columns FROM tollfree_file_fdw_record_indexes() WHERE relation = 'ours.indexed_wrong'::regclass;
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT a FROM indexed_wrong WHERE id < 10',
	'SELECT c FROM indexed_wrong WHERE id < 10',
	'SELECT id, c FROM indexed_wrong WHERE c < 10',
	'SELECT b FROM indexed_wrong WHERE id < 10',
	'SELECT count(*) FROM indexed_wrong WHERE a < 10',
	'SELECT count(*) FROM indexed_wrong WHERE id < 10',
	'SELECT a FROM indexed_wrong WHERE id < 10 LIMIT 9',
	'SELECT count(*) FROM indexed_wrong'
]) query;
-- With a value that is spelt in another way the block is read, though it is no error.
\set spelt :abs_builddir '/results/log_spelt.csv'
COPY (SELECT i, CASE i WHEN 3000 THEN ' 3000 ' ELSE i::text END, to_char(timestamptz '2020-01-01' + i * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS".00"') FROM generate_series(1, 20000) i)
	TO :'spelt' (FORMAT csv);
SELECT make_pair('indexed_spelt', 'id int, a int, at timestamptz', :'spelt', $$format 'csv'$$);
SELECT query, agree(query) FROM unnest(ARRAY['SELECT id, a FROM indexed_spelt WHERE a > 19990', 'SELECT id, a FROM indexed_spelt WHERE a = 3000', 'SELECT id, a FROM indexed_spelt WHERE id < 5']) query;
SELECT index_lines('SELECT id, a FROM ours.indexed_spelt WHERE id < 5');
-- What depends on the session is never clean.
SELECT agree('SELECT id, at FROM indexed_spelt WHERE at < ''2020-01-02''');
SET TimeZone = 'Asia/Tokyo';
SET DateStyle = 'German';
SELECT agree('SELECT id, at FROM indexed_spelt WHERE at < ''2020-01-02''');
SELECT index_lines('SELECT id, at FROM ours.indexed_spelt WHERE id < 5');
RESET TimeZone;
RESET DateStyle;
-- A record that is odd: no index.
\set odd :abs_builddir '/results/log_odd.csv'
COPY (SELECT CASE i WHEN 19000 THEN '19000' ELSE i || ',x' END FROM generate_series(1, 20000) i) TO :'odd';
SELECT make_pair('indexed_odd', 'id int, x text', :'odd', $$format 'csv'$$);
SELECT agree('SELECT count(*) FROM indexed_odd'), agree('SELECT * FROM indexed_odd WHERE id < 5'), agree('SELECT * FROM indexed_odd WHERE id < 5 LIMIT 4');
SELECT count(*) FROM tollfree_file_fdw_record_indexes() WHERE relation = 'ours.indexed_odd'::regclass;
-- Lazy: a column that only rows ruled out have wrong is not looked at.
CREATE FOREIGN TABLE ours.indexed_lazy (id int, a int, b varchar(5), c int) SERVER ours OPTIONS (filename :'wrong', format 'csv', lazy 'true');
SELECT a FROM ours.indexed_lazy WHERE id < 3;
SELECT index_lines('SELECT a FROM ours.indexed_lazy WHERE id < 3');
SELECT index_lines('SELECT count(*) FROM ours.indexed_lazy');
SELECT index_lines('SELECT a FROM ours.indexed_lazy WHERE id < 3 AND c < 2');
SELECT columns FROM tollfree_file_fdw_record_indexes() WHERE relation = 'ours.indexed_lazy'::regclass;
SELECT id, b FROM ours.indexed_lazy WHERE id = 18000;

-- Text format, other line ends, a header, no line end at the end.
\set plain :abs_builddir '/results/log_plain.txt'
\set crlf 'awk ''{printf "%s\\t%s%s", NR, NR % 7 ? NR % 100 : "\\\\N", NR < 9000 ? "\\r\\n" : ""}'' > ' :plain
COPY (SELECT FROM generate_series(1, 9000)) TO PROGRAM :'crlf';
SELECT make_pair('indexed_plain', 'id int, n int', :'plain', $$header 'true'$$);
SELECT agree('SELECT count(*) FROM indexed_plain'), agree('SELECT count(*) FROM indexed_plain'), agree('SELECT * FROM indexed_plain WHERE id > 8990'), agree('SELECT count(*) FROM indexed_plain WHERE n IS NULL'), agree('SELECT count(*) FROM indexed_plain WHERE id > 10 AND n > 98');
SELECT index_lines('SELECT * FROM ours.indexed_plain WHERE id = 9000');

-- Texts and floats: texts by their first bytes.
\set words :abs_builddir '/results/log_words.csv'
COPY (SELECT to_char(i, 'FM"2020-01-"00000'), lpad(i::text, 6, '0') || '  ', CASE i WHEN 9000 THEN 'NaN' WHEN 1 THEN '-Infinity' ELSE ((i / 8.0 - 500)::float8)::text END, CASE WHEN i > 5000 THEN 'ä' END || i FROM generate_series(1, 10000) i)
	TO :'words' (FORMAT csv);
SELECT make_pair('indexed_words', 'long text COLLATE "C", padded char(9) COLLATE "C", f float8, word text', :'words', $$format 'csv'$$);
SELECT agree('SELECT count(*) FROM indexed_words');
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT query, agree(query), (SELECT string_agg(line, '') FROM index_lines(replace(query, 'indexed', 'ours.indexed')) line WHERE line ~ 'Index') FROM unnest(ARRAY[
	'SELECT * FROM indexed_words WHERE long = ''2020-01-01234''',
	'SELECT * FROM indexed_words WHERE long < ''2020''',
	'SELECT count(*) FROM indexed_words WHERE long > ''2020-01-09990''',
	'SELECT count(*) FROM indexed_words WHERE NOT (long >= ''2020-01'')',
	'SELECT * FROM indexed_words WHERE padded = ''001234''',
	'SELECT count(*) FROM indexed_words WHERE padded <= ''000010 ''',
	'SELECT count(*) FROM indexed_words WHERE padded BETWEEN ''005'' AND ''006''',
	'SELECT * FROM indexed_words WHERE padded IN (''000001'', ''009999'', ''x'')',
	'SELECT count(*) FROM indexed_words WHERE word = ''ä7777''',
	'SELECT count(*) FROM indexed_words WHERE word IS NULL',
	'SELECT count(*) FROM indexed_words WHERE f > 740',
	'SELECT count(*) FROM indexed_words WHERE f < -490',
	'SELECT count(*) FROM indexed_words WHERE f = ''NaN''',
	'SELECT * FROM indexed_words WHERE f IN (0, 1.5)',
	'SELECT count(*) FROM indexed_words WHERE NOT (f > 0)'
]) query;
RESET tollfree_file_fdw.debug_require;
DROP FOREIGN TABLE ours.indexed_words, stock.indexed_words;

-- The same types and options, but for other fields: not the same index.
\set forced :abs_builddir '/results/log_forced.csv'
COPY (SELECT i || ',"",""' FROM generate_series(1, 5000) i) TO :'forced' (FORMAT text);
SELECT make_pair('indexed_forced', 'id int, a text, b text OPTIONS (force_null ''true'')', :'forced', $$format 'csv'$$);
SELECT agree('SELECT count(*) FROM indexed_forced WHERE a IS NULL AND b IS NULL'), agree('SELECT count(*) FROM indexed_forced WHERE a IS NULL AND b IS NULL');
ALTER FOREIGN TABLE ours.indexed_forced DROP a, ADD c text;
SELECT count(*) FROM ours.indexed_forced WHERE b IS NULL AND c IS NOT NULL;
SELECT count(*) FROM ours.indexed_forced WHERE b IS NULL AND c IS NOT NULL;

-- A damaged, older or foreign index is found, removed and made again.
CREATE FUNCTION damage(command text) RETURNS text LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT WHERE false) TO PROGRAM %L', 'for f in pgsql_tmp_tollfree_file_fdw/*_' || 'ours.indexed'::regclass::oid || '; do ' || command || '; done');
	RETURN command;
END
$$;
SELECT damage('(head -c 3000 $f; printf x; tail -c +3002 $f) > $f.1; mv $f.1 $f');
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 19000');
SELECT agree('SELECT sum(id) FROM indexed WHERE id > 19000');
SELECT damage('truncate -s 1500 $f');
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 19000');
SELECT agree('SELECT sum(id) FROM indexed WHERE id > 19000');
SELECT damage('truncate -s 0 $f');
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 19000');
SELECT agree('SELECT sum(id) FROM indexed WHERE id > 19000');
SELECT damage('(head -c 8 $f; printf \\377; tail -c +10 $f) > $f.1; mv $f.1 $f');
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 19000');
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 19000');
-- Where none can be written, the query goes on; one warning tells of it.
SELECT tollfree_file_fdw_drop_record_index('ours.indexed');
COPY (SELECT WHERE false) TO PROGRAM 'chmod 500 pgsql_tmp_tollfree_file_fdw';
\set VERBOSITY sqlstate
SELECT sum(id) FROM ours.indexed WHERE id > 19000;
SELECT sum(id) FROM ours.indexed WHERE id > 19000;
\set VERBOSITY default
COPY (SELECT WHERE false) TO PROGRAM 'chmod 700 pgsql_tmp_tollfree_file_fdw';
SELECT sum(id) FROM ours.indexed WHERE id > 19000;
SELECT index_lines('SELECT sum(id) FROM ours.indexed WHERE id > 19000');

-- Who may not read the table sees nothing of it; only its owner may drop it.
CREATE ROLE regress_tollfree_reader;
GRANT USAGE ON SCHEMA ours TO regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
SELECT count(*) FROM tollfree_file_fdw_record_indexes();
SELECT tollfree_file_fdw_drop_record_index('ours.indexed');
RESET ROLE;
GRANT SELECT ON ours.indexed TO regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
SELECT relation FROM tollfree_file_fdw_record_indexes();
SELECT count(*) FROM ours.indexed WHERE id > 19000;
RESET ROLE;
REVOKE ALL ON ours.indexed FROM regress_tollfree_reader;
REVOKE USAGE ON SCHEMA ours FROM regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;

-- The index of a table that is dropped goes when the next one is written.
SELECT count(*) > 1 AS has_several FROM index_files() WHERE index_files ~ 'D_T';
DROP FOREIGN TABLE ours.indexed_wrong, stock.indexed_wrong, ours.indexed_spelt, stock.indexed_spelt, ours.indexed_odd, stock.indexed_odd, ours.indexed_lazy, ours.indexed_plain, stock.indexed_plain, ours.indexed_forced, stock.indexed_forced;
SELECT tollfree_file_fdw_drop_record_index('ours.indexed');
SELECT count(*) FROM ours.indexed;
SELECT * FROM index_files();
SELECT tollfree_file_fdw_drop_record_index('ours.indexed');
DROP FOREIGN TABLE ours.indexed, stock.indexed;
DROP FUNCTION index_lines, index_files, damage;
