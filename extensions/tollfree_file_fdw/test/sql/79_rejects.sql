-- The records of a table's files that are no rows of it.
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/rejects.csv'
\set more :abs_builddir '/results/rejects_more.csv'
\set pattern :abs_builddir '/results/rejects{,_more}.csv'
SET search_path = ours, public;
SET client_min_messages = warning;
CREATE FUNCTION put_bytes(content text, path text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, convert_to(content, 'UTF8'));
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
CREATE DOMAIN small AS int CHECK (VALUE < 100);
SELECT put_bytes(E'id,name,made\n1,one,2026-01-31\nx,two,2026-01-31\n3,"th\nree",2026-13-01\n4\n5,five,2026-01-31,more\n100,six,\n7,seven,2026-01-32\n', :'file');
CREATE FOREIGN TABLE refused (id small, name varchar(5), made date) SERVER ours OPTIONS (filename :'file', format 'csv', header 'true');
SELECT regexp_replace(file, '.*/', '') AS file, line, column_name, reason, record FROM tollfree_file_fdw_rejects('refused');
ALTER FOREIGN TABLE refused ALTER name TYPE varchar(4);
SELECT line, column_name, reason, record FROM tollfree_file_fdw_rejects('refused');
ALTER FOREIGN TABLE refused ALTER name TYPE text;
-- Records that the options complete or cut are rows.
ALTER FOREIGN TABLE refused OPTIONS (ADD missing_fields 'null', ADD extra_fields 'ignore');
SELECT line, column_name, reason, record FROM tollfree_file_fdw_rejects('refused');
-- Many files, columns by name, lines that are left out
SELECT put_bytes(E'made,id\n2026-02-01,1\n# none\n2026-02-30,2\n', :'more');
CREATE FOREIGN TABLE refused_parts (id int, name text, made date, path text OPTIONS (source 'file')) SERVER ours
OPTIONS (filenames :'pattern', format 'csv', header 'true', columns 'by name', comment '#', extra_fields 'ignore');
SELECT regexp_replace(file, '.*/', '') AS file, line, column_name, reason, record FROM tollfree_file_fdw_rejects('refused_parts');
-- Text format, null strings, forced ones
SELECT put_bytes(E'1\t\\N\n\\N\tx\n2\t3\n\\x31\t-\nx\\ty\t\n', :'more');
CREATE FOREIGN TABLE refused_text (a int, b int) SERVER ours OPTIONS (filename :'more', null '-');
SELECT line, column_name, reason, record FROM tollfree_file_fdw_rejects('refused_text');
DROP FOREIGN TABLE refused_text;
SELECT put_bytes(E'1,\n"",2\n,3\n', :'more');
CREATE FOREIGN TABLE refused_nulls (a int OPTIONS (force_null 'true'), b int OPTIONS (force_not_null 'true')) SERVER ours OPTIONS (filename :'more', format 'csv');
SELECT line, column_name, reason, record FROM tollfree_file_fdw_rejects('refused_nulls');
DROP FOREIGN TABLE refused_nulls;
-- Many rejects; what is left out is what they are.
COPY (SELECT CASE WHEN i % 7 = 3 THEN 'x' || i ELSE i::text END, CASE WHEN i % 11 = 5 THEN '2026-02-30' ELSE '2026-02-01' END FROM generate_series(1, 3000) i) TO :'more' (FORMAT csv);
CREATE FOREIGN TABLE refused_many (a int, d date) SERVER ours OPTIONS (filename :'more', format 'csv');
SELECT count(*), min(line), max(line), count(DISTINCT line), count(*) FILTER (WHERE column_name = 'a'), count(*) FILTER (WHERE record ~ '^x') FROM tollfree_file_fdw_rejects('refused_many');
ALTER FOREIGN TABLE refused_many OPTIONS (ADD on_error 'ignore');
SELECT count(*) = (SELECT count(*) FROM generate_series(1, 3000) i WHERE i % 7 <> 3 AND i % 11 <> 5) AS same FROM refused_many;
DROP FOREIGN TABLE refused_many;
-- What cannot be read at all, and who may read
SELECT put_bytes(E'1,"one\n', :'more');
ALTER FOREIGN TABLE refused OPTIONS (SET filename :'more', DROP missing_fields, DROP extra_fields, SET header 'false');
SELECT line FROM tollfree_file_fdw_rejects('refused');
CREATE TABLE no_foreign ();
SELECT line FROM tollfree_file_fdw_rejects('no_foreign');
DROP TABLE no_foreign;
CREATE ROLE regress_tollfree_curious;
GRANT USAGE ON SCHEMA ours TO regress_tollfree_curious;
SET ROLE regress_tollfree_curious;
SELECT line FROM tollfree_file_fdw_rejects('ours.refused');
RESET ROLE;
DROP OWNED BY regress_tollfree_curious;
DROP ROLE regress_tollfree_curious;
SELECT * FROM tollfree_file_fdw_rejects(NULL);
DROP FOREIGN TABLE refused, refused_parts;
DROP DOMAIN small;
DROP FUNCTION put_bytes;
RESET client_min_messages;
