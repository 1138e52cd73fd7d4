-- The column cache: segments made of what a scan has converted, read by those behind it.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_cached.csv'
COPY (SELECT i, to_char(timestamp '2020-01-01' + i * interval '1 minute', 'YYYY-MM-DD HH24:MI:SS'), CASE WHEN i % 10 = 3 THEN E'two\nlines ' || i ELSE 'text ' || i END, CASE WHEN i % 7 > 0 THEN (i % 100)::numeric(6,2) END, i % 2 = 0,
			 (ARRAY['red', 'green', NULL])[1 + i % 3], (i / 8.0)::float8, (i / 4.0)::float4, i * 10000000000, md5((i % 50)::text)::uuid, to_char(date '2020-01-01' + i % 900, 'YYYY-MM-DD'), i % 3 - 1
	  FROM generate_series(1, 20000) i) TO :'log' (FORMAT csv);
SELECT make_pair('cached', 'id int, at timestamp, what text, n numeric(6,2), even bool, colour char(6), f float8, g float4, big int8, u uuid, day date, small int2', :'log', $$format 'csv'$$);
CREATE FUNCTION cache_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Column Cache|Record Index|Removed'
$$;
CREATE FUNCTION cache_files(relation regclass) RETURNS SETOF text LANGUAGE plpgsql
AS $$
BEGIN
	CREATE TEMP TABLE names (name text);
	COPY names FROM PROGRAM 'stat -c "%a %n" pgsql_tmp_tollfree_file_fdw/* 2>/dev/null || true';
	RETURN QUERY SELECT replace(replace(name, '_' || relation::oid, '_T'), oid::text, 'D') FROM names, pg_database
		WHERE datname = current_database() AND name ~ ('_' || oid || '_' || relation::oid || '(_|$)') ORDER BY 1;
	DROP TABLE names;
END
$$;
CREATE FUNCTION damage(relation regclass, files text, command text) RETURNS text LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT WHERE false) TO PROGRAM %L', 'for f in pgsql_tmp_tollfree_file_fdw/*_' || relation::oid || '_' || files || '; do ' || command || '; done');
	RETURN command;
END
$$;
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.debug_record_index_age = 0;

-- Off by default. The record index that it needs is kept with it.
SELECT name, setting, unit, context FROM pg_settings WHERE name ~ 'tollfree_file_fdw.*(column|segment)' ORDER BY 1;
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT sum(id) FROM ours.cached;
SET tollfree_file_fdw.column_cache = on;
SELECT sum(id) FROM ours.cached;
SET tollfree_file_fdw.record_index = on;
SELECT sum(id) FROM ours.cached;
RESET tollfree_file_fdw.debug_require;
SELECT tollfree_file_fdw_drop_cached_columns('ours.cached'), tollfree_file_fdw_drop_record_index('ours.cached'), tollfree_file_fdw_drop_cached_columns('ours.cached');

-- The first scan makes it, with the index; later ones use it, or add columns.
SELECT cache_lines('SELECT sum(id) FROM ours.cached');
SELECT cache_lines('SELECT sum(id) FROM ours.cached');
SELECT * FROM cache_files('ours.cached');
SELECT cache_lines('SELECT sum(n) FROM ours.cached WHERE id > 5000');
SELECT cache_lines('SELECT sum(n) FROM ours.cached WHERE id > 5000');
SELECT cache_lines('SELECT * FROM ours.cached');
SELECT cache_lines('SELECT count(*) FROM ours.cached WHERE what <> ''''');
SELECT relation, column_name, segments, size > 0 AS has_size FROM tollfree_file_fdw_cached_columns() ORDER BY 2;

-- All types, plainly and aggregated; the same of parts as small as they can be.
CREATE TABLE queries (query text);
INSERT INTO queries VALUES
	('SELECT * FROM cached'),
	('SELECT * FROM cached WHERE id BETWEEN 4000 AND 6000'),
	('SELECT * FROM cached WHERE n IS NULL AND even'),
	('SELECT * FROM cached WHERE colour = ''green'' AND day < ''2020-02-01'''),
	('SELECT id, what FROM cached WHERE what LIKE ''%99'' AND n > 50'),
	('SELECT what FROM cached WHERE id IN (1, 77, 15000) OR colour IS NULL'),
	('SELECT id, u FROM cached WHERE u = ''c4ca4238-a0b9-2382-0dcc-509a6f75849b'''),
	('SELECT count(*), sum(big), avg(f), min(g), max(at), sum(n * 2 - 1), sum(small) FROM cached'),
	('SELECT colour, even, count(*), sum(n), min(what), max(day) FROM cached GROUP BY 1, 2 ORDER BY 1, 2'),
	('SELECT u, count(*) FROM cached WHERE id > 10000 GROUP BY u ORDER BY u'),
	('SELECT day, sum(f) FROM cached WHERE f < 100 GROUP BY day ORDER BY day'),
	('SELECT count(*) FILTER (WHERE even), avg(n) FROM cached WHERE small <> 0'),
	('SELECT * FROM cached WHERE id > 19990 ORDER BY id DESC LIMIT 3'),
	('SELECT * FROM cached OFFSET 12345 LIMIT 2'),
	('SELECT a, (SELECT count(what) FROM cached WHERE id > a) FROM generate_series(0, 20000, 5000) a'),
	('SELECT a.id, b.what FROM cached a JOIN cached b ON a.id = b.id * 2 WHERE a.id < 5000 ORDER BY 1'),
	('SELECT sum(id / (id - 15000)) FROM cached WHERE even'),
	('SELECT id FROM cached WHERE false');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT query, agree(query) FROM queries;
RESET tollfree_file_fdw.debug_require;
SET tollfree_file_fdw.debug_segment_size = '1kB';
SELECT query, agree(query) FROM queries WHERE query ~ 'LIKE|JOIN|IS NULL';
SET tollfree_file_fdw.debug_segment_size = '300kB';
SELECT cache_lines('SELECT * FROM ours.cached');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT query, agree(query) FROM queries;
SELECT cache_lines('SELECT * FROM ours.cached WHERE id BETWEEN 12000 AND 12010');
SELECT cache_lines('SELECT sum(id) FROM ours.cached WHERE id <> 12000');
-- A cursor stops in the middle, and starts again.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, what, colour FROM ours.cached WHERE id BETWEEN 3000 AND 19000;
FETCH 2 FROM c;
MOVE FORWARD 12000 IN c;
FETCH 2 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH 1 FROM c;
COMMIT;
RESET tollfree_file_fdw.debug_require;
RESET tollfree_file_fdw.debug_segment_size;

-- Switched off by the table.
ALTER FOREIGN TABLE ours.cached OPTIONS (ADD column_cache 'false');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT sum(id) FROM ours.cached;
ALTER FOREIGN TABLE ours.cached OPTIONS (SET column_cache 'perhaps');
ALTER FOREIGN TABLE ours.cached OPTIONS (DROP column_cache);
RESET tollfree_file_fdw.debug_require;

-- What is damaged, short, or of something else is found, removed and made again.
SELECT tollfree_file_fdw_drop_record_index('ours.cached');
SELECT cache_lines('SELECT sum(id), sum(n) FROM ours.cached');
SELECT cache_lines('SELECT sum(id), sum(n) FROM ours.cached');
SELECT damage, (SELECT string_agg(line, '; ') FROM cache_lines('SELECT sum(id), sum(n) FROM ours.cached') line), agree('SELECT sum(id), sum(n) FROM cached')
FROM unnest(ARRAY[
	'(head -c 3000 $f; printf x; tail -c +3002 $f) > $f.1; mv $f.1 $f',
	'truncate -s 1500 $f', 'truncate -s 8 $f', 'truncate -s 0 $f', 'printf x >> $f',
	'(head -c 8 $f; printf \\377; tail -c +10 $f) > $f.1; mv $f.1 $f',
	'cp ${f%_*}_0 ${f%_*}_3', 'rm $f; mkfifo $f; rm $f'
]) command, damage('ours.cached', '0_3', command);
SELECT * FROM cache_files('ours.cached');
-- Segments of an index that is gone are of no use.
SELECT damage('ours.cached', '0_0', 'rm ${f%_0_0}');
SELECT cache_lines('SELECT sum(id) FROM ours.cached');
SELECT * FROM cache_files('ours.cached');
SELECT cache_lines('SELECT sum(id), sum(n) FROM ours.cached');

-- Another file, other options, another type.
SELECT agree('SELECT sum(n) FROM cached');
\set part :abs_builddir '/results/log_cached_part.csv'
COPY (SELECT i, '2020-01-01', 'y', i, true, 'red', 1, 2, 3, NULL, '2020-01-01', 1 FROM generate_series(1, 5000) i) TO :'part' (FORMAT csv);
SET tollfree_file_fdw.debug_require = 'column_cache';
ALTER FOREIGN TABLE ours.cached OPTIONS (SET filename :'part');
SELECT sum(n) FROM ours.cached;
ALTER FOREIGN TABLE ours.cached OPTIONS (SET filename :'log');
ALTER FOREIGN TABLE ours.cached ALTER n TYPE numeric(8,3);
SELECT sum(n) FROM ours.cached;
ALTER FOREIGN TABLE ours.cached ALTER n TYPE numeric(6,2);
\set touch 'touch -d 2001-01-01 ' :log
COPY (SELECT WHERE false) TO PROGRAM :'touch';
SELECT sum(n) FROM ours.cached;
RESET tollfree_file_fdw.debug_require;
\set append 'printf ''30000,2030-01-01 00:00:00,end,1,t,red,1,2,3,,2020-01-01,7\\n'' >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'append';
SELECT agree('SELECT sum(id), count(n), max(at) FROM cached'), agree('SELECT sum(id), count(n), max(at) FROM cached');
SELECT cache_lines('SELECT sum(id), count(n), max(at) FROM ours.cached');

-- Where a value is open, text is read, and errors are those of file_fdw.
\set wrong :abs_builddir '/results/log_cached_wrong.csv'
COPY (SELECT i, CASE i WHEN 15000 THEN 'wrong' WHEN 3000 THEN ' 3000' ELSE i::text END, CASE i WHEN 18000 THEN 'longer' ELSE 'short' END, i, to_char(timestamptz '2020-01-01' + i * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS".00"') FROM generate_series(1, 20000) i)
	TO :'wrong' (FORMAT csv);
SELECT make_pair('cached_wrong', 'id int, a int, b varchar(5), c int, at timestamptz', :'wrong', $$format 'csv'$$);
SET tollfree_file_fdw.debug_segment_size = '100kB';
SELECT agree('SELECT id, c, at FROM cached_wrong'), agree('SELECT sum(c) FROM cached_wrong WHERE id > 10');
SELECT query, agree(query), agree(query) FROM unnest(ARRAY['SELECT a FROM cached_wrong WHERE id < 10', 'SELECT a FROM cached_wrong LIMIT 14999', 'SELECT a FROM cached_wrong LIMIT 15000', 'SELECT c FROM cached_wrong WHERE id < 10',
	'SELECT b FROM cached_wrong WHERE id < 10', 'SELECT count(*) FROM cached_wrong WHERE a < 10', 'SELECT max(b) FROM cached_wrong', 'SELECT count(*) FROM cached_wrong']) query;
SET TimeZone = 'Asia/Tokyo';
SELECT agree('SELECT id, at FROM cached_wrong');
RESET TimeZone;
SELECT column_name, segments FROM tollfree_file_fdw_cached_columns() WHERE relation = 'ours.cached_wrong'::regclass ORDER BY 1;
RESET tollfree_file_fdw.debug_segment_size;
-- Lazy: what has not been converted in all rows is not kept.
CREATE FOREIGN TABLE ours.cached_lazy (id int, a int, b varchar(5), c int, at timestamptz) SERVER ours OPTIONS (filename :'wrong', format 'csv', lazy 'true');
SELECT a FROM ours.cached_lazy WHERE id < 3;
SELECT count(c) FROM ours.cached_lazy WHERE id > 0;
SELECT column_name FROM tollfree_file_fdw_cached_columns() WHERE relation = 'ours.cached_lazy'::regclass;
SELECT c FROM ours.cached_lazy WHERE c > 19998;
SELECT cache_lines('SELECT c FROM ours.cached_lazy WHERE id > 19998');
SELECT c FROM ours.cached_lazy WHERE id > 19998;
-- A record that is odd, or a file of one block: no index, and nothing that stays.
\set odd :abs_builddir '/results/log_cached_odd.csv'
COPY (SELECT CASE i WHEN 19000 THEN '19000' ELSE i || ',x' END FROM generate_series(1, 20000) i) TO :'odd';
SELECT make_pair('cached_odd', 'id int, x text', :'odd', $$format 'csv'$$);
SELECT agree('SELECT * FROM cached_odd'), agree('SELECT * FROM cached_odd WHERE id < 5'), cache_lines('SELECT id FROM ours.cached_odd LIMIT 2');
COPY (SELECT i || ',x' FROM generate_series(1, 200) i) TO :'odd';
SELECT agree('SELECT * FROM cached_odd'), agree('SELECT * FROM cached_odd WHERE id < 5');
SELECT * FROM cache_files('ours.cached_odd');
-- Text format, other line ends, a header, no line end at the end.
\set plain :abs_builddir '/results/log_cached_plain.txt'
\set crlf 'awk ''{printf "%s\\t%s%s", NR, NR % 7 ? NR % 100 : "\\\\N", NR < 9000 ? "\\r\\n" : ""}'' > ' :plain
COPY (SELECT FROM generate_series(1, 9000)) TO PROGRAM :'crlf';
SELECT make_pair('cached_plain', 'id int, n text', :'plain', $$header 'true'$$);
SELECT agree('SELECT * FROM cached_plain');
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT agree('SELECT * FROM cached_plain'), agree('SELECT count(*), max(id) FROM cached_plain WHERE n IS NULL');
RESET tollfree_file_fdw.debug_require;

-- The limit: what was used least often for its size goes first, but nothing that this scan has used.
DROP FOREIGN TABLE ours.cached_wrong, stock.cached_wrong, ours.cached_lazy, ours.cached_plain, stock.cached_plain;
SELECT tollfree_file_fdw_drop_record_index('ours.cached');
CREATE VIEW kept AS SELECT column_name, pg_size_pretty(size) FROM tollfree_file_fdw_cached_columns() ORDER BY 1;
SELECT count(*) FROM ours.cached;
SELECT * FROM kept;
SELECT count(*) FROM ours.cached WHERE NOT id < 0;
SELECT sum(n), min(what) FROM ours.cached WHERE NOT id < 0;
DO $$ BEGIN FOR i IN 1..5 LOOP PERFORM sum(n), min(what) FROM ours.cached WHERE NOT id < 0; END LOOP; END $$;
SELECT max(day) FROM ours.cached;
SELECT * FROM kept;
SELECT pg_sleep(0.02);
SET tollfree_file_fdw.column_cache_size = '300kB';
SELECT cache_lines('SELECT max(big), count(id) FROM ours.cached');
SELECT * FROM kept;
SELECT cache_lines('SELECT max(big), count(id) FROM ours.cached');
SET tollfree_file_fdw.column_cache_size = '100kB';
SELECT cache_lines('SELECT max(big), count(id), u FROM ours.cached GROUP BY u');
SELECT * FROM kept;
SET tollfree_file_fdw.column_cache_size = 0;
SELECT agree('SELECT what FROM cached'), agree('SELECT what FROM cached');
SELECT * FROM kept;
RESET tollfree_file_fdw.column_cache_size;
DROP VIEW kept;

-- Where none can be written, the query goes on; one warning tells of it.
SELECT tollfree_file_fdw_drop_cached_columns('ours.cached');
COPY (SELECT WHERE false) TO PROGRAM 'chmod 500 pgsql_tmp_tollfree_file_fdw';
\set VERBOSITY sqlstate
SELECT sum(id) FROM ours.cached;
SELECT sum(id) FROM ours.cached;
\set VERBOSITY default
COPY (SELECT WHERE false) TO PROGRAM 'chmod 700 pgsql_tmp_tollfree_file_fdw';
SELECT sum(id) FROM ours.cached;
SELECT cache_lines('SELECT sum(id) FROM ours.cached');

-- A file that is only appended to keeps the segments of all parts but the last.
SET tollfree_file_fdw.debug_segment_size = '100kB';
SELECT make_pair('cached_log', 'id int, x text', :'odd', $$format 'csv'$$);
ALTER FOREIGN TABLE ours.cached_log OPTIONS (ADD append_only 'true');
COPY (SELECT i, 'some text' FROM generate_series(1, 20000) i) TO :'odd' (FORMAT csv);
\set more 'cat >> ' :odd
SELECT cache_lines('SELECT sum(id) FROM ours.cached_log'), cache_lines('SELECT sum(id) FROM ours.cached_log');
COPY (SELECT i, 'more text' FROM generate_series(20001, 29000) i) TO PROGRAM :'more' (FORMAT csv);
SELECT agree('SELECT count(id), sum(id) FROM cached_log');
SELECT cache_lines('SELECT sum(id) FROM ours.cached_log'), cache_lines('SELECT sum(id) FROM ours.cached_log');
SELECT agree('SELECT count(id), sum(id) FROM cached_log');
\set part 'printf "24001,mo" >> ' :odd
COPY (SELECT WHERE false) TO PROGRAM :'part';
SELECT agree('SELECT * FROM cached_log WHERE id > 23000'), agree('SELECT x FROM cached_log WHERE id > 23999');
\set part 'printf "re\\n24002,y\\n" >> ' :odd
COPY (SELECT WHERE false) TO PROGRAM :'part';
SELECT agree('SELECT * FROM cached_log WHERE id > 23000'), agree('SELECT x FROM cached_log WHERE id > 23999'), agree('SELECT * FROM cached_log');
RESET tollfree_file_fdw.debug_segment_size;

-- Who may not read the table sees nothing of it; only its owner may drop it.
CREATE ROLE regress_tollfree_reader;
GRANT USAGE ON SCHEMA ours TO regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
SELECT count(*) FROM tollfree_file_fdw_cached_columns();
SELECT tollfree_file_fdw_drop_cached_columns('ours.cached');
RESET ROLE;
GRANT SELECT ON ours.cached TO regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
SELECT relation, column_name FROM tollfree_file_fdw_cached_columns();
RESET ROLE;
REVOKE ALL ON ours.cached FROM regress_tollfree_reader;
REVOKE USAGE ON SCHEMA ours FROM regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;

-- The segments of a table that is dropped go when room is looked for.
SELECT 'ours.cached_log'::regclass::oid AS dropped \gset
SELECT count(*) > 1 AS has_several FROM cache_files(:dropped);
DROP FOREIGN TABLE ours.cached_odd, stock.cached_odd, ours.cached_log, stock.cached_log;
SELECT cache_lines('SELECT sum(n) FROM ours.cached');
SELECT count(*) FROM cache_files(:dropped);
SELECT tollfree_file_fdw_drop_record_index('ours.cached');
SELECT * FROM cache_files('ours.cached');
DROP FOREIGN TABLE ours.cached, stock.cached;
DROP TABLE queries;
DROP FUNCTION cache_lines, cache_files, damage;
