-- Large results and many rows written.
CREATE TABLE remote.every_type AS
SELECT i AS n, (i % 30000)::int2 AS i2, i * 4000000000 AS i8, i::oid AS o, i % 3 = 0 AS b,
	   i / 7.0::float4 AS f4, (ARRAY['NaN', '-Infinity', '-0', '1e-310', '0.1'])[1 + i % 5]::float8 AS f8,
	   (ARRAY['NaN', '-12.3400', '0.000', '1e40', '-Infinity'])[1 + i % 5]::numeric AS num, (i / 8.0)::numeric(12, 2) AS money,
	   'text ' || i AS t, ('v' || i)::varchar(10) AS vc, ('c' || i % 100)::char(5) AS ch,
	   (ARRAY['infinity', '0044-03-15 BC', '2024-02-29', '-infinity'])[1 + i % 4]::date AS d,
	   (ARRAY['infinity', '0044-03-15 01:02:03.456789 BC', '294276-12-31 23:59:59.999999'])[1 + i % 3]::timestamp AS ts,
	   '2020-01-01 00:00+00'::timestamptz + i * interval '1 second' AS tz, '24:00'::time AS tm,
	   make_interval(months => -i, days => i, secs => i / 3.0) AS iv, md5(i::text)::uuid AS u,
	   decode(md5(i::text), 'hex') AS raw, json_build_object('k', i) AS j
FROM generate_series(1, 3000) i;
INSERT INTO remote.every_type (n) SELECT i FROM generate_series(3001, 3100) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (every_type) FROM SERVER loopback INTO public;

-- equal in text form means equal in all digits, and in scale
SELECT count(*) FROM (SELECT e::text FROM every_type e EXCEPT ALL SELECT r::text FROM remote.every_type r) x;
SELECT count(*) FROM (SELECT r::text FROM remote.every_type r EXCEPT ALL SELECT e::text FROM every_type e) x;
-- -0 and 0 print differently, as does the same row without an identical type
ALTER FOREIGN TABLE every_type ALTER i2 TYPE int8, ALTER o TYPE text, ALTER money TYPE numeric(12, 1), ALTER ch TYPE char(7);
SELECT sum(length(i2::text || o || money || ch)) FROM (SELECT * FROM every_type ORDER BY n OFFSET 0) x;
SELECT sum(length(i2::text || o || money::numeric(12, 1) || ch::char(7))) FROM remote.every_type;

-- two cursors in turn, one connection; an early stop of each
ALTER FOREIGN TABLE every_type OPTIONS (ADD fetch_size '50');
BEGIN;
DECLARE up CURSOR FOR SELECT n FROM every_type ORDER BY n;
DECLARE down CURSOR FOR SELECT n, t FROM every_type ORDER BY n DESC;
MOVE 60 IN up;
MOVE 60 IN down;
FETCH 2 FROM up;
FETCH 2 FROM down;
MOVE 2900 IN up;
FETCH 2 FROM up;
MOVE 1900 IN down;
FETCH 2 FROM down;
CLOSE up;
SELECT count(*) FROM every_type WHERE n > 10;
FETCH 1 FROM down;
COMMIT;

-- a savepoint that is rolled back while rows are on their way
BEGIN;
DECLARE c CURSOR FOR SELECT n FROM every_type ORDER BY n;
MOVE 120 IN c;
SAVEPOINT s;
MOVE 30 IN c;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH 1 FROM c;
SAVEPOINT s;
MOVE 2700 IN c;
SELECT count(*) FROM every_type WHERE n < 10;
SELECT 1 / 0;
ROLLBACK TO s;
FETCH 1 FROM c;
MOVE ALL IN c;
COMMIT;

-- a loop that fails, and goes on, for each row
DO $$
DECLARE
	seen int := 0;
	failed int := 0;
	number int;
BEGIN
	FOR number IN SELECT n FROM every_type ORDER BY n LOOP
		seen := seen + 1;
		BEGIN
			IF number % 100 = 0 THEN
				PERFORM 1 / (SELECT count(*) - 1 FROM every_type e WHERE e.n = number);
			END IF;
		EXCEPTION WHEN division_by_zero THEN
			failed := failed + 1;
		END;
	END LOOP;
	RAISE NOTICE '% rows, % failures', seen, failed;
END
$$;

-- a rescan after a part of the rows, and after all of them
SELECT i, (SELECT count(*) FROM (SELECT n FROM every_type OFFSET 0) x WHERE x.n > i) AS after
FROM generate_series(3098, 3101) i;

-- rows that become wide, with something else asked of the server meanwhile
CREATE TABLE remote.widening AS
SELECT i AS n, repeat('x', CASE WHEN i > 300 THEN 100000 ELSE 10 END) AS filler FROM generate_series(1, 400) i;
CREATE FOREIGN TABLE widening (n int, filler text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'widening');
SET work_mem = '64kB';
BEGIN;
DECLARE c CURSOR FOR SELECT n, length(filler) FROM (SELECT * FROM widening ORDER BY n OFFSET 0) x;
MOVE 310 IN c;
SELECT count(*) FROM items;
FETCH 2 FROM c;
MOVE 20 IN c;
FETCH 1 FROM c;
MOVE ALL IN c;
COMMIT;
RESET work_mem;
