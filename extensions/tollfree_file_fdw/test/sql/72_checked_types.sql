-- Values of types that the fast path does not hold, and that it knows to be valid: made when they are wanted, refused where stock refuses them.
\getenv abs_builddir PG_ABS_BUILDDIR
SET client_min_messages = warning;
CREATE TYPE grade AS ENUM ('low', 'mid', 'high', '');
CREATE TABLE spelled (type text, value text);
INSERT INTO spelled SELECT type, value FROM (VALUES
	('numeric', '{0,-12.50,+1,00012,12345678901234567890.12345678901234567890,.5,1.,1e3,NaN,--1,1.2.3,1x," 1 ",Infinity,1e200000}'::text[]),
	('numeric(20,2)', '{99.994,999999999999999999.99,999999999999999999.995,1000000000000000000,-1.005,1e17,1e18}'),
	('numeric(20,18)', '{9.9,99.9999999999999999999,99,100,0.0000000000000000001}'), ('numeric(20,-2)', '{150,99999999999999999999999}'),
	('interval', '{1 day,2 days 03:04:05.678901,00:00:00,1 year 2 mons 3 days 04:05:06,9999 years,99:59:59,0 mons,-1 day,1 day 2 days,1 day 2 mons,1 dayss,12345 days,
				  1:02:03,01:60:00,01:00:60,01:02:03.,01:02:03.1234567,01:02,1 day  2:00:00,1 days01:00:00,P1D,1 day ago,99999999999 years,1 years 1 year}'),
	('interval(2)', '{1 day 01:02:03.456}'), ('interval year to month', '{1 year 2 mons 3 days}'),
	('inet', '{0.0.0.0,192.168.1.17/24,255.255.255.255/32,10.0.0.1/0,::1,fe80::1/64,256.0.0.1,01.2.3.4,1.2.3.4/33,1.2.3.4/,1.2.3,1.2.3.4.5," 1.2.3.4"}'),
	('cidr', '{10.0.0.0/8,10.0.0.1/8,10}'),
	('time', '{00:00:00,23:59:59.999999,12:34:56.5,24:00:00,23:59:60,24:00:01,3:04 PM,030405,03:04,12:60:00,12:30:00.,12:30:00.1234567,allballs,12:00:00 UTC}'),
	('time(1)', '{12:34:56.5,12:34:56.55,23:59:59.99}'), ('timetz', '{12:00:00+01}'),
	('grade', '{low,high,"",LOW," low",lo,lowest}')) v (type, texts), unnest(texts) value;
INSERT INTO spelled SELECT type, value FROM unnest('{json,jsonb}'::text[]) type, unnest(ARRAY['{}', '[]', ' {"a" : [1, -2.50e+10, true, false, null, "x\"\u00e9\n"], "b":{}} ', '0', '-0.0', '""',
	'1E-99', '[[[]],[{}]]', '"é"', '{"a":1,"a":2}', '{', '[1,]', '{"a":1,}', '{"a"}', '{a:1}', '[1 2]', '01', '-', '1.', '.5', '+1', '1e', '1e1000', '1e999999', 'tru', 'truex',
	$$'a'$$, '"a', '"\x"', '"\u0000"', '"\ud83d\ude00"', '"\ud83d"', '"\u12"', '"\u12g4"', '{}{}', '[}', ']', '1,2', '{,}', '{"a":}', '{"a"1}', '"\', 'NaN',
	repeat('[', 64) || repeat(']', 64), repeat('[', 100) || repeat(']', 100)]) value;
-- Each alone in a file: made, only counted, and behind a filter.
CREATE FUNCTION compare_spellings(type text, folder text) RETURNS TABLE (spellings bigint, errors bigint, different text) LANGUAGE plpgsql
AS $$
DECLARE
	path text := folder || '/results/spelled.csv';
	value text;
	result text;
BEGIN
	PERFORM make_pair('spelled_as', 'a int, b ' || type, path, $o$format 'csv', null 'NULL', encoding 'UTF8'$o$);
	spellings := 0;
	errors := 0;
	FOR value IN SELECT s.value FROM spelled s WHERE s.type = compare_spellings.type LOOP
		EXECUTE format('COPY (SELECT 1, %L) TO %L (FORMAT csv, NULL ''NULL'', ENCODING ''UTF8'')', value, path);
		FOR result IN SELECT agree(query) FROM unnest('{SELECT * FROM spelled_as,SELECT count(*) FROM spelled_as,SELECT b::text FROM spelled_as WHERE a = 1}'::text[]) query LOOP
			spellings := spellings + 1;
			errors := errors + (result LIKE 'ERROR%')::int;
			IF result LIKE 'DIFFERENT%' THEN
				different := coalesce(different, '') || value || ': ' || result;
			END IF;
		END LOOP;
	END LOOP;
	DROP FOREIGN TABLE stock.spelled_as, ours.spelled_as;
	RETURN NEXT;
END
$$;
SELECT type, spellings, errors > 0 AS has_errors, different FROM (SELECT DISTINCT type FROM spelled) t, compare_spellings(type, :'abs_builddir') ORDER BY type;

-- They keep no query from the index, nor from counting its blocks.
\set checked :abs_builddir '/results/checked.csv'
SET IntervalStyle = postgres;
COPY (SELECT i, time '00:00' + i * interval '7 seconds', i % 5 * interval '1 day' + i * interval '1 second', json_build_object('a', i, 'b', repeat('x', i % 9)), inet '10.0.0.0' + i,
			 (ARRAY['low', 'mid', 'high'])[i % 3 + 1], round(i / 8.0, i % 4) FROM generate_series(1, 5000) i) TO :'checked' (FORMAT csv);
SELECT make_pair('checked', 'id int, t time, i interval, j jsonb, ip inet, g grade, n numeric', :'checked', $$format 'csv'$$);
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT agree('SELECT count(*) FROM checked');
SELECT trim(line) FROM shown_plan('SELECT count(*) FROM ours.checked', 'analyze, costs off, timing off, summary off, buffers off') line WHERE line LIKE '%Record Index%';
SELECT trim(line) FROM shown_plan($$SELECT count(j) FROM ours.checked WHERE t < '01:00'$$, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line LIKE '%Record Index%';
SELECT agree(query) FROM unnest(ARRAY['SELECT count(*) FROM checked', 'SELECT min(t), max(t), count(j), count(g), sum(n), max(n), min(ip), max(i) FROM checked',
	$$SELECT * FROM checked WHERE t BETWEEN '01:00' AND '01:00:30'$$, $$SELECT id, j->>'b' FROM checked WHERE g = 'mid' AND n > 600 AND ip < '10.0.20.0' AND i < '4 days'$$,
	'SELECT t, count(*) FROM checked WHERE id < 20 GROUP BY t ORDER BY t DESC', 'SELECT g, sum(n) FROM checked GROUP BY g ORDER BY g',
	$$SELECT n, n * 2, j FROM checked WHERE t IN ('00:00:07', '00:00:14') OR t IS NULL$$, $$SELECT count(*) FROM checked WHERE t <> '00:00:07' AND NOT t > '02:00'$$]) query;

-- A label that has another name by now is none, whatever an index says; one that is not committed is an error.
ALTER TYPE grade RENAME VALUE 'high' TO 'highest';
SELECT agree('SELECT count(*) FROM checked');
ALTER TYPE grade RENAME VALUE 'highest' TO 'high';
SELECT agree('SELECT count(*) FROM checked');
\set graded :abs_builddir '/results/graded.csv'
COPY (SELECT 'top') TO :'graded';
SELECT make_pair('graded', 'g grade', :'graded', $$format 'csv'$$);
BEGIN;
ALTER TYPE grade ADD VALUE 'top';
SELECT agree('SELECT g FROM graded'), agree('SELECT count(*) FROM graded');
COMMIT;
SELECT agree('SELECT g FROM graded'), agree('SELECT count(*) FROM graded');
RESET IntervalStyle;
RESET tollfree_file_fdw.record_index;
RESET tollfree_file_fdw.debug_record_index_age;
RESET max_parallel_workers_per_gather;
DROP FOREIGN TABLE stock.checked, ours.checked, stock.graded, ours.graded;
DROP FUNCTION compare_spellings;
DROP TABLE spelled;
DROP TYPE grade;
