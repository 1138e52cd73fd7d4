-- Fields that are read otherwise than COPY reads them, and last lines that are left out
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/fields.csv'
\set written :abs_builddir '/results/fields_written.csv'
SET search_path = ours, public;
CREATE FUNCTION put_fields(content text, path text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, convert_to(content, 'UTF8'));
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
-- Several null strings: of fields without quotes, and of those with them only where the column says so
SELECT put_fields(E'1,NA,"NA"\nNULL,"",-\n-,, "x, y" \n"4",  "a ""b""", n/a\nTotal: 4 rows\nprinted "today\n', :'file');
CREATE FOREIGN TABLE exported (a int, b text OPTIONS (force_not_null 'true'), c text OPTIONS (force_null 'true')) SERVER ours
OPTIONS (filename :'file', format 'csv', null_strings 'NA, NULL, -, " n/a"', quote_blanks 'skip', skip_last_lines '2');
\pset null <null>
SELECT * FROM exported;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM exported;
RESET tollfree_file_fdw.fast_scan;
SELECT shown_plan('SELECT a FROM exported WHERE c IS NULL', 'analyze, costs off, timing off, summary off, buffers off');
SELECT count(*), count(a), count(b), count(c) FROM exported;
ANALYZE exported;
SELECT count(*) FROM tollfree_file_fdw_rejects('exported');
-- Nothing is kept of the file, and one process reads it.
SET tollfree_file_fdw.column_cache = on;
SELECT tollfree_file_fdw_load_columns('exported');
ALTER FOREIGN TABLE exported OPTIONS (DROP skip_last_lines, SET null_strings 'NA, NULL, -, n/a');
SELECT tollfree_file_fdw_load_columns('exported');
RESET tollfree_file_fdw.column_cache;
-- What is left is no row.
SELECT a FROM exported;
ALTER FOREIGN TABLE exported OPTIONS (ADD skip_last_lines '1');
SELECT line, column_name, record FROM tollfree_file_fdw_rejects('exported');
ALTER FOREIGN TABLE exported OPTIONS (DROP skip_last_lines);
-- Text format: null strings are compared before escapes are read
SELECT put_fields(E'NA\t\\N\n\\N\tN\\x41\n\\-\t-\n', :'file');
CREATE FOREIGN TABLE exported_text (a text, b text) SERVER ours OPTIONS (filename :'file', null_strings 'NA, -, \N');
SELECT * FROM exported_text;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM exported_text;
RESET tollfree_file_fdw.fast_scan;
-- Rows that are written are read back.
SELECT put_fields('', :'written');
CREATE FOREIGN TABLE written (a text, b text) SERVER ours OPTIONS (filename :'written', format 'csv', writable 'true', null_strings 'NA, ""', quote_blanks 'skip');
INSERT INTO written VALUES ('NA', ''), (NULL, ' "x"'), ('"', NULL);
SELECT * FROM written;
ALTER FOREIGN TABLE written OPTIONS (ADD skip_last_lines '1');
INSERT INTO written VALUES ('1', '2');
-- Files whose end is not known before they are read
ALTER FOREIGN TABLE exported OPTIONS (ADD skip_last_lines '1', compression 'gzip');
DO $$
DECLARE
	hint text;
BEGIN
	PERFORM * FROM exported;
EXCEPTION WHEN feature_not_supported THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RAISE WARNING '%', regexp_replace(SQLERRM, '"/.*/', '"') USING HINT = hint;
END
$$;
-- Options that say nothing
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', skip_last_lines '-1');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', quote_blanks 'yes');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', null_strings 'NA,,-');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', null_strings 'NA,');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', null_strings '"NA');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', null_strings '"N"A');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', null_strings E'N\nA');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (program 'true', null_strings 'NA');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', null_string 'NA');
\pset null ''
DROP FOREIGN TABLE exported, exported_text, written;
DROP FUNCTION put_fields;
RESET search_path;
