-- INSERT and COPY FROM append to the file of a table with the option "writable".
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/written.csv'
\set other :abs_builddir '/results/written_other.csv'
\set folder :abs_builddir '/results'
SET search_path = ours, public;
SET client_min_messages = warning;
SET datestyle = ISO;
CREATE FUNCTION put_bytes(content text, path text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, convert_to(content, 'UTF8'));
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
SELECT put_bytes('', :'file');
CREATE FOREIGN TABLE written (id int, name text, made date) SERVER ours OPTIONS (filename :'file', format 'csv', header 'true', writable 'true');
INSERT INTO written VALUES (1, 'one', '2026-01-31'), (2, NULL, NULL), (3, '', '-infinity');
INSERT INTO written VALUES (4, 'a,"b"', NULL), (5, E'two\nlines', NULL), (6, '\.', NULL), (7, '  x ', NULL) RETURNING id, name;
SELECT pg_read_file(:'file');
SELECT * FROM written;
SELECT shown_plan('INSERT INTO written VALUES (1, ''x'', NULL)', 'costs off');
-- Nothing is written by a statement without rows, or one that fails; a statement reads what was there before it.
INSERT INTO written SELECT * FROM written WHERE false;
INSERT INTO written SELECT 10 / (3 - i), 'x' FROM generate_series(1, 3) i;
INSERT INTO written SELECT id + 100 FROM written;
SELECT count(*), count(name), max(id) FROM written;
COPY written FROM PROGRAM 'printf "200\tcopied\t2026-02-01\n201\t\\N\t\\N\n"';
COPY written (name, id) FROM PROGRAM 'printf "x\t202\ny\tz\n"';
COPY written (name, id) FROM PROGRAM 'printf "x\t202\n"';
SELECT * FROM written WHERE id >= 200;
-- It does not go back with its transaction, which the reference says.
BEGIN;
INSERT INTO written VALUES (300);
ROLLBACK;
SELECT count(*) FROM written WHERE id = 300;
-- Rows beyond work_mem, from partitions, generated columns, defaults, triggers
SET work_mem = 64;
INSERT INTO written SELECT i, repeat('x', 200), NULL FROM generate_series(1001, 5000) i;
RESET work_mem;
SELECT count(*), sum(id), sum(length(name)) FROM written WHERE id > 1000;
SELECT put_bytes('', :'other');
CREATE TABLE written_parts (id int DEFAULT 7, twice int GENERATED ALWAYS AS (id * 2) STORED, name text DEFAULT 'none') PARTITION BY LIST (name);
CREATE FOREIGN TABLE written_part PARTITION OF written_parts DEFAULT SERVER ours OPTIONS (filename :'other', writable 'true');
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.name = upper(NEW.name); RETURN NEW; END';
CREATE TRIGGER shout BEFORE INSERT ON written_part FOR EACH ROW EXECUTE FUNCTION shout();
INSERT INTO written_parts (id, name) VALUES (1, 'a'), (2, 'b');
INSERT INTO written_parts DEFAULT VALUES;
SELECT pg_read_file(:'other');
DROP TABLE written_parts;
DROP FUNCTION shout;

-- Every value is read again as it was, by both wrappers; or it is refused.
CREATE TABLE odd AS SELECT row_number() OVER () AS n, v
FROM unnest(ARRAY[NULL, '', ' ', 'x', 'NULL', '\N', '\\N', '\.', '\', E'\t', E'\n', E'\r', E'\r\n', E'\b\f\v', ',', ';', '"', '""', '"x"', '''', 'a"b,c;d', '# x', '#', 'D', '\D',
	'ä', 'ä,"ö"', E'\uFEFFx', '0', repeat('"', 100), E'a\nb\rc', '|', 'nb', 'bn', 'x0']) v;
CREATE FUNCTION written_again(options text, path text) RETURNS TABLE (rows bigint, differ bigint, stock_differs bigint, refused text) LANGUAGE plpgsql AS $$
DECLARE
	row odd;
	first text;
BEGIN
	PERFORM put_bytes('', path);
	EXECUTE format('CREATE FOREIGN TABLE ours.again (v text, n int, w text) SERVER ours OPTIONS (filename %L, writable ''true''%s)', path, ', ' || options);
	EXECUTE format('CREATE FOREIGN TABLE stock.again (v text, n int, w text) SERVER stock OPTIONS (filename %L%s)', path,
		', ' || nullif(regexp_replace(options, ',? ?(comment|blank_lines) ''[^'']*''', '', 'g'), ''));
	CREATE TEMP TABLE taken (v text, n int, w text);
	refused = '';
	FOR row IN SELECT * FROM odd LOOP
		BEGIN
			INSERT INTO ours.again VALUES (row.v, row.n, row.v);
			INSERT INTO taken VALUES (row.v, row.n, row.v);
		EXCEPTION WHEN data_exception THEN
			refused = refused || row.n || ' ';
		END;
	END LOOP;
	SELECT count(*), (SELECT count(*) FROM ((TABLE again EXCEPT ALL TABLE taken) UNION ALL (TABLE taken EXCEPT ALL TABLE again)) d) INTO rows, differ FROM again;
	SELECT count(*) INTO stock_differs FROM ((TABLE stock.again EXCEPT ALL TABLE taken) UNION ALL (TABLE taken EXCEPT ALL TABLE stock.again)) d;
	DROP FOREIGN TABLE ours.again, stock.again;
	DROP TABLE taken;
	RETURN NEXT;
END
$$;
SELECT options, w.* FROM unnest(ARRAY[
	'format ''text''', 'format ''text'', null ''''', 'format ''text'', null ''NULL''', 'format ''text'', null ''nb'', delimiter ''|''', 'format ''text'', encoding ''LATIN1''',
	'format ''csv''', 'format ''csv'', null ''NULL''', 'format ''csv'', delimiter '';'', quote '''''''', escape ''\''', 'format ''csv'', delimiter ''|'', escape ''"'', header ''true''',
	'format ''csv'', encoding ''LATIN1''', 'format ''csv'', comment ''#''', 'format ''csv'', comment ''#'', null ''#''', 'comment ''#''', 'comment ''x''']) options, written_again(options, :'other') w;
SELECT put_bytes('', :'other');
CREATE FOREIGN TABLE forced_nulls (a text OPTIONS (force_not_null 'true'), b text OPTIONS (force_null 'true')) SERVER ours OPTIONS (filename :'other', format 'csv', writable 'true');
INSERT INTO forced_nulls VALUES ('', NULL);
INSERT INTO forced_nulls VALUES (NULL, 'x');
INSERT INTO forced_nulls VALUES ('x', '');
SELECT a, b, a IS NULL, b IS NULL FROM forced_nulls;
DROP FOREIGN TABLE forced_nulls;
CREATE FOREIGN TABLE lonely (a text) SERVER ours OPTIONS (filename :'other', format 'csv', blank_lines 'skip', writable 'true');
SELECT put_bytes('', :'other');
INSERT INTO lonely VALUES (NULL);
INSERT INTO lonely VALUES (''), ('\.'), ('x');
SELECT quote_nullable(a) FROM lonely;

-- The end of the file: its lines' style, one without an end, a marker
CREATE FUNCTION appended(content text, path text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM put_bytes(content, path);
	INSERT INTO lonely VALUES ('a'), ('b');
	RETURN quote_literal(pg_read_file(path));
EXCEPTION WHEN OTHERS THEN
	RETURN concat_ws(' ', SQLSTATE, regexp_replace(SQLERRM, '"/.*/', '"'), quote_literal(pg_read_file(path)));
END
$$;
SELECT appended(c, :'other') FROM unnest(ARRAY['', E'x\n', E'x\r\n', E'x\r', 'x', E'x\r\ny', E'"x\ny"\r\nz', E'\n', E'x\\.\n']) c;
ALTER FOREIGN TABLE lonely OPTIONS (DROP blank_lines, SET format 'text');
SELECT appended(c, :'other') FROM unnest(ARRAY[E'x\\\ny\r\nz', E'x\n\\.\r\n', E'x\n\\.\n', '\.']) c;
DROP FOREIGN TABLE lonely;
-- A kept index grows with the file.
SET tollfree_file_fdw.debug_record_index_age = 0;
ALTER FOREIGN TABLE written OPTIONS (ADD record_index 'true', ADD column_cache 'true');
SELECT count(*), sum(id) FROM written;
INSERT INTO written VALUES (10000, 'last', NULL);
SELECT count(*), sum(id) FROM written;
SELECT count(*), sum(id) FROM written WHERE id > 4990;
RESET tollfree_file_fdw.debug_record_index_age;

-- What is not allowed
UPDATE written SET id = 1;
DELETE FROM written;
INSERT INTO written VALUES (1) ON CONFLICT (id) DO NOTHING;
SELECT table_name, is_insertable_into FROM information_schema.tables WHERE table_name = 'written';
ALTER FOREIGN TABLE written OPTIONS (SET writable 'false');
INSERT INTO written VALUES (1);
SELECT table_name, is_insertable_into FROM information_schema.tables WHERE table_name = 'written';
ALTER FOREIGN TABLE written OPTIONS (SET writable 'perhaps');
ALTER SERVER ours OPTIONS (ADD writable 'true');
CREATE FOREIGN TABLE no (a int) SERVER ours OPTIONS (program 'true', writable 'true');
CREATE FOREIGN TABLE no (a int) SERVER ours OPTIONS (filenames '/tmp/*.csv', writable 'true');
CREATE FOREIGN TABLE cannot (a int) SERVER ours OPTIONS (filename 'relative.csv', writable 'true');
INSERT INTO cannot VALUES (1);
ALTER FOREIGN TABLE cannot OPTIONS (SET filename '/nonexistent/folder/file.csv');
INSERT INTO cannot VALUES (1);
ALTER FOREIGN TABLE cannot OPTIONS (SET filename :'folder');
\set VERBOSITY sqlstate
INSERT INTO cannot VALUES (1);
\set VERBOSITY default
ALTER FOREIGN TABLE cannot OPTIONS (SET filename '/tmp/x.gz', ADD compression 'gzip');
INSERT INTO cannot VALUES (1);
ALTER FOREIGN TABLE cannot OPTIONS (DROP compression, ADD skip_lines '2');
INSERT INTO cannot VALUES (1);
ALTER FOREIGN TABLE cannot OPTIONS (DROP skip_lines, ADD format 'binary');
INSERT INTO cannot VALUES (1);
ALTER FOREIGN TABLE cannot OPTIONS (SET format 'text', ADD encoding 'SJIS');
INSERT INTO cannot VALUES (1);
DROP FOREIGN TABLE cannot;
-- Who may say that a file is written, and who may write it
CREATE ROLE regress_tollfree_writer;
GRANT USAGE ON FOREIGN SERVER ours TO regress_tollfree_writer;
GRANT USAGE, CREATE ON SCHEMA ours TO regress_tollfree_writer;
GRANT pg_read_server_files TO regress_tollfree_writer;
GRANT INSERT ON written TO regress_tollfree_writer;
ALTER FOREIGN TABLE written OPTIONS (SET writable 'true');
SET ROLE regress_tollfree_writer;
CREATE FOREIGN TABLE mine (a int) SERVER ours OPTIONS (filename '/tmp/x.csv', writable 'true');
INSERT INTO written VALUES (20000);
RESET ROLE;
GRANT pg_write_server_files TO regress_tollfree_writer;
SET ROLE regress_tollfree_writer;
CREATE FOREIGN TABLE mine (a int) SERVER ours OPTIONS (filename '/tmp/x.csv', writable 'true');
DROP FOREIGN TABLE mine;
RESET ROLE;
SELECT count(*) FROM written WHERE id = 20000;
DROP FOREIGN TABLE written;
DROP FUNCTION put_bytes, written_again, appended;
DROP TABLE odd;
DROP OWNED BY regress_tollfree_writer;
DROP ROLE regress_tollfree_writer;
RESET client_min_messages;
RESET datestyle;
