-- What is found in files, and foreign tables made of it.
\getenv abs_builddir PG_ABS_BUILDDIR
\set client :abs_builddir '/results/sniff_client.csv'
\set folder :abs_builddir '/results/sniffed'
\set pattern :abs_builddir '/results/sniffed/day-*.csv'
SET client_min_messages = warning;
SET datestyle = ISO;
CREATE FUNCTION ours.put_bytes(content text, path text, encoding text DEFAULT 'UTF8') RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, convert_to(content, encoding));
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
SELECT ours.put_bytes(E'\uFEFFClients of May\n\nId;Name;since;"paid; ""so far"""\n# none\n1;"Ann; Bob";2026-01-31;1.50\n2;;2026-02-28;NULL\n\n3;Zoé;2026-03-01\n', :'client');
SELECT property, regexp_replace(found, '/.*/', '') AS found, reason FROM tollfree_file_fdw_sniff(:'client', 'ours');
-- The statement makes what it says.
SELECT found AS statement FROM tollfree_file_fdw_sniff(:'client', 'ours') WHERE property = 'statement' \gset
:statement;
SELECT * FROM sniff_client;
DROP FOREIGN TABLE sniff_client;
SELECT ours.put_bytes(E'name\tprice\nCafé\t1,50\n', :'client', 'LATIN1');
SELECT property, found, reason FROM tollfree_file_fdw_sniff(:'client') WHERE property IN ('encoding', 'delimiter') OR property ~ 'column';
SELECT ours.put_bytes(E'price\n5€\n', :'client', 'WIN1252');
SELECT found FROM tollfree_file_fdw_sniff(:'client') WHERE property = 'encoding';
COPY (SELECT i, 'name ' || i, CASE WHEN i % 3 = 0 THEN E'a\tb' END FROM generate_series(1, 9) i) TO :'client';
SELECT property, found FROM tollfree_file_fdw_sniff(:'client') WHERE property IN ('format', 'delimiter', 'null') OR property ~ 'column';
-- A long file: what only its middle or its end has counts.
COPY (SELECT i, CASE WHEN i = 700000 THEN 'x' ELSE i::text END, repeat('y', 40) FROM generate_series(1, 1200000) i) TO :'client' (FORMAT csv);
SELECT property, regexp_replace(found, '/.*/', '') AS found, reason FROM tollfree_file_fdw_sniff(:'client') WHERE property ~ 'column' OR property = 'statement';
-- A folder, and a pattern
\set make 'mkdir -p ' :folder
COPY (SELECT WHERE false) TO PROGRAM :'make';
SELECT ours.put_bytes(E'id,day\n1,2026-01-01\n', :'folder' || '/day-1.csv');
SELECT ours.put_bytes(E'id,day\n3000000000,2026-01-01 12:00\n', :'folder' || '/day-2.csv');
SELECT ours.put_bytes(E'x\ty\n1\t2\n', :'folder' || '/other.tsv');
SELECT ours.put_bytes('nothing', :'folder' || '/readme.md');
CREATE SCHEMA raw;
IMPORT FOREIGN SCHEMA :"folder" FROM SERVER ours INTO raw;
SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relnamespace = 'raw'::regnamespace GROUP BY c.relname ORDER BY c.relname COLLATE "C";
SELECT * FROM raw."day-2";
IMPORT FOREIGN SCHEMA :"pattern" FROM SERVER ours INTO raw;
SELECT * FROM raw.day;
DROP FOREIGN TABLE raw."day-1", raw."day-2", raw.other, raw.day;
IMPORT FOREIGN SCHEMA :"folder" LIMIT TO (other, nothing) FROM SERVER ours INTO raw;
SELECT * FROM raw.other;
DROP SCHEMA raw CASCADE;
-- What cannot be read
\set VERBOSITY terse
SELECT ours.put_bytes('', :'client');
CREATE FUNCTION ours.sniffed(path text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM tollfree_file_fdw_sniff(path);
	RETURN 'found';
EXCEPTION WHEN OTHERS THEN
	RETURN concat(SQLSTATE, ' ', regexp_replace(SQLERRM, '"/.*/', '"'));
END
$$;
SELECT ours.sniffed(:'client');
SELECT ours.put_bytes(E'a,b\r\n1,2\n', :'client');
SELECT ours.sniffed(:'client');
COPY (SELECT 1) TO :'client' (FORMAT binary);
SELECT ours.sniffed(:'client');
SELECT ours.sniffed(path) FROM unnest(ARRAY['relative.csv', '/nonexistent/file.csv', :'folder']) path;
IMPORT FOREIGN SCHEMA "/nonexistent" FROM SERVER ours INTO ours;
IMPORT FOREIGN SCHEMA "/tmp" FROM SERVER ours INTO ours OPTIONS (wrong 'x');
CREATE ROLE regress_tollfree_sniffer;
GRANT USAGE ON SCHEMA ours TO regress_tollfree_sniffer;
SET ROLE regress_tollfree_sniffer;
SELECT ours.sniffed(:'client');
RESET ROLE;
DROP OWNED BY regress_tollfree_sniffer;
DROP ROLE regress_tollfree_sniffer;
\set VERBOSITY default
DROP FUNCTION ours.put_bytes, ours.sniffed;
RESET client_min_messages;
RESET datestyle;
