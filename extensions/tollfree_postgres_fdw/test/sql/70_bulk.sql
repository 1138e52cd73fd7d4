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

-- either way of asking for rows, and either form that they come in
CREATE TABLE remote.extremes (LIKE remote.every_type);
INSERT INTO remote.extremes SELECT * FROM remote.every_type;
INSERT INTO remote.extremes
SELECT '-2147483648', '-32768', '-9223372036854775808', '4294967295', false,
	   (ARRAY['-3.4028235e38', '1e-45', '-0', 'NaN'])[1 + i % 4]::float4,
	   (ARRAY['1.7976931348623157e308', '-5e-324', '0.30000000000000004', 'Infinity'])[1 + i % 4]::float8,
	   (ARRAY['1e130000', '-1e-16383', '0.00010', '99999999999999999999.9999', '10000', '-0.5'])[1 + i % 6]::numeric,
	   -9999999999.99, '', '', '', (ARRAY['4713-01-01 BC', '5874897-12-31'])[1 + i % 2]::date,
	   (ARRAY['4713-01-01 BC', '1999-12-31 23:59:59.999999', '-infinity'])[1 + i % 3]::timestamp,
	   (ARRAY['4713-01-01 00:00+00 BC', '294276-12-31 23:59:59.999999+00', 'infinity'])[1 + i % 3]::timestamptz,
	   (ARRAY['00:00', '23:59:59.999999'])[1 + i % 2]::time,
	   (ARRAY['178000000 years', '-178000000 years', '-1 mon 1 day -00:00:00.000001', '0'])[1 + i % 4]::interval,
	   'ffffffff-ffff-ffff-ffff-ffffffffffff', decode('', 'hex'), 'null'
FROM generate_series(1, 60) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (extremes) FROM SERVER loopback INTO public;
ALTER FOREIGN TABLE extremes OPTIONS (ADD fetch_size '50');
CREATE FUNCTION carried(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
	scan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	scan := jsonb_path_query_first(plan, 'strict $.**?(@."Fetch Method" == "cursor")');
	RETURN format('ahead %s, binary %s', (scan->'Fetches Ahead')::int > 0, (scan->'Binary Fetches')::int > 0);
END
$$;
CREATE FUNCTION written(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
	writer jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	writer := jsonb_path_query_first(plan, 'strict $.**?(exists(@."Write Method"))');
	RETURN format('%s, round trips %s, hits %s', writer->>'Write Method',
				  writer->'Round Trips', writer->'Statement Cache Hits');
END
$$;
CREATE VIEW compared AS
SELECT current_setting('tollfree_postgres_fdw.binary_results') AS binary_results,
	   carried('SELECT * FROM extremes'),
	   (SELECT count(*) FROM (SELECT e::text FROM extremes e EXCEPT ALL SELECT r::text FROM remote.extremes r) x) AS wrong,
	   (SELECT count(*) FROM (SELECT r::text FROM remote.extremes r EXCEPT ALL SELECT e::text FROM extremes e) x) AS lacking;
SET tollfree_postgres_fdw.direct_results = off;
SELECT * FROM compared;
SET tollfree_postgres_fdw.binary_results = off;
SELECT * FROM compared;
RESET tollfree_postgres_fdw.binary_results;
-- not where no column gains by it, nor where rows are locked
SELECT carried('SELECT n, t FROM extremes');
SELECT carried('SELECT * FROM extremes FOR UPDATE');
RESET tollfree_postgres_fdw.direct_results;
-- nor many at once that come slowly, which who closes a cursor would wait for
CREATE SEQUENCE remote.trickled;
CREATE VIEW remote.trickle AS SELECT i AS n FROM generate_series(1, 100) i
WHERE nextval('remote.trickled') > 0 AND pg_sleep(0.51) IS NOT NULL;
CREATE FOREIGN TABLE trickle (n int) SERVER loopback OPTIONS (schema_name 'remote', fetch_size '2');
BEGIN;
DECLARE c CURSOR FOR SELECT n FROM trickle;
FETCH 5 FROM c;
COMMIT;
SELECT last_value FROM remote.trickled;

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

-- rows that are written without waiting for each
CREATE TABLE remote.written (id int PRIMARY KEY, v int CHECK (v <> 13), note text DEFAULT 'none');
CREATE FOREIGN TABLE written (id int, v int, note text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'written');
CREATE FUNCTION shown_written() RETURNS text
LANGUAGE sql
RETURN (SELECT format('%s rows, ids %s, values %s', count(*), sum(id), sum(v)) FROM remote.written);

-- round trips: the rows and the COMMIT; of an UPDATE row by row the scan before them
SELECT round_trips_since(0) AS before \gset
INSERT INTO written SELECT i, i FROM generate_series(101, 110) i;
SELECT round_trips_since(:before) AS round_trips;
SELECT round_trips_since(0) AS before \gset
UPDATE written SET v = v + (random() >= 0)::int WHERE id BETWEEN 101 AND 110;
SELECT round_trips_since(:before) AS round_trips;
SELECT round_trips_since(0) AS before \gset
DELETE FROM written WHERE random() >= 0;
SELECT round_trips_since(:before) AS round_trips;
SELECT shown_written();
ALTER FOREIGN TABLE written OPTIONS (ADD batch_size '100');
SELECT round_trips_since(0) AS before \gset
INSERT INTO written SELECT i, i + 1000 FROM generate_series(1, 250) i;
SELECT round_trips_since(:before) AS round_trips;
-- the error names the command that failed, a batch, and nothing after it is done
INSERT INTO written SELECT i + 1000, abs(i - 120) + 13 FROM generate_series(1, 250) i;
ALTER FOREIGN TABLE written OPTIONS (DROP batch_size);
INSERT INTO written SELECT i + 1000, abs(i - 120) + 13 FROM generate_series(1, 250) i;
INSERT INTO written SELECT i % 200 + 1000, 1 FROM generate_series(1, 250) i;
SELECT shown_written();
INSERT INTO written SELECT i, 1 FROM generate_series(200, 300) i ON CONFLICT DO NOTHING;
SELECT shown_written();

-- many batches, and rows that fill one by themselves
INSERT INTO written SELECT i, 1, repeat('x', 200) FROM generate_series(1001, 15000) i;
INSERT INTO written SELECT i, 1, repeat('x', 1000000) FROM generate_series(15001, 15005) i;
SELECT shown_written(), sum(length(note)) FROM remote.written;
-- more than can be in the air at a time, of which an early one fails, or a late row here; what is around it stays
CREATE PROCEDURE write_around_failures()
LANGUAGE plpgsql
AS $$
DECLARE
	n int8;
BEGIN
	INSERT INTO written VALUES (100000, 1);
	FOR i IN 1..3 LOOP
		BEGIN
			INSERT INTO written
			SELECT 100000 + g, CASE WHEN i = 1 AND g = 400 THEN 13 ELSE 1 / (CASE WHEN i = 2 THEN 11000 ELSE 0 END - g) END, repeat('x', 1000)
			FROM generate_series(1, 12000) g;
			GET DIAGNOSTICS n = ROW_COUNT;
			RAISE NOTICE '% inserted', n;
		EXCEPTION
			WHEN check_violation OR division_by_zero THEN
				RAISE NOTICE '%', SQLERRM;
		END;
	END LOOP;
	RAISE NOTICE '%', (SELECT format('%s rows, %s bytes', count(*), sum(length(note))) FROM written WHERE id >= 100000);
	DELETE FROM written WHERE id >= 100000;
END
$$;
CALL write_around_failures();
ALTER FOREIGN TABLE written OPTIONS (ADD batch_size '10');
CALL write_around_failures();
ALTER FOREIGN TABLE written OPTIONS (SET batch_size '1000');
CALL write_around_failures();
ALTER FOREIGN TABLE written OPTIONS (SET batch_size '100');
CALL write_around_failures();
ALTER FOREIGN TABLE written OPTIONS (DROP batch_size);
-- the source is the same server, or the table itself, in turns with the rows
INSERT INTO written SELECT id + 20000, v FROM written WHERE random() >= 0;
SELECT shown_written();
INSERT INTO written SELECT 50001 + (SELECT count(*) FROM written w WHERE w.id >= 50000 + i), 1
FROM generate_series(0, 0) i;
UPDATE written SET v = 2 WHERE id > 35000 AND random() >= 0;
DELETE FROM written WHERE id > 300 AND random() >= 0;
SELECT shown_written();

-- counts, when the remote server skips rows
CREATE FUNCTION remote.skip_some() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN IF coalesce(NEW.id, OLD.id) % 10 = 0 THEN RETURN NULL; END IF; RETURN coalesce(NEW, OLD); END $$;
CREATE TRIGGER skip BEFORE INSERT OR UPDATE OR DELETE ON remote.written
	FOR EACH ROW EXECUTE FUNCTION remote.skip_some();
\set QUIET off
INSERT INTO written SELECT i, 1 FROM generate_series(401, 500) i;
UPDATE written SET v = 3 WHERE id > 400 AND random() >= 0;
COPY written (id, v) FROM stdin;
500	1
501	1
\.
DELETE FROM written WHERE id > 300 AND random() >= 0;
WITH more AS (INSERT INTO written SELECT i, 1 FROM generate_series(401, 420) i RETURNING id)
SELECT count(*) FROM more;
INSERT INTO written SELECT i, 1 FROM generate_series(421, 430) i RETURNING id > 425;
\set QUIET on
DO $$
DECLARE
	n int8;
BEGIN
	INSERT INTO written SELECT i, 1 FROM generate_series(431, 450) i;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE NOTICE '% inserted', n;
	BEGIN
		INSERT INTO written SELECT i, 13 FROM generate_series(451, 470) i;
	EXCEPTION WHEN check_violation THEN
		RAISE NOTICE '% after %', SQLERRM, n;
	END;
	INSERT INTO written SELECT i, 1 FROM generate_series(471, 480) i;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE NOTICE '% inserted', n;
END
$$;
SELECT shown_written();
DROP TRIGGER skip ON remote.written;

-- a trigger at the end of the statement sees its rows
CREATE FUNCTION count_written() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN RAISE NOTICE '% written', (SELECT count(*) FROM written WHERE id > 500); RETURN NULL; END $$;
CREATE TRIGGER counted AFTER INSERT OR DELETE ON written EXECUTE FUNCTION count_written();
INSERT INTO written SELECT i, 1 FROM generate_series(501, 520) i;
DELETE FROM written WHERE id > 510 AND random() >= 0;
DROP TRIGGER counted ON written;
-- so does a function in the middle of it
CREATE FUNCTION above(id int) RETURNS int8
LANGUAGE sql
AS 'SELECT count(*) FROM public.written w WHERE w.id > above.id';
INSERT INTO written SELECT i, above(600) FROM generate_series(601, 605) i;
SELECT v FROM remote.written WHERE id > 600 ORDER BY id;
SET tollfree_postgres_fdw.pipelined_writes = off;
SELECT round_trips_since(0) AS before \gset
INSERT INTO written SELECT i, 1 FROM generate_series(701, 710) i;
SELECT round_trips_since(:before) AS round_trips;
RESET tollfree_postgres_fdw.pipelined_writes;

-- a row that cannot be computed ends the statement, whatever the remote server says of one before it
INSERT INTO written SELECT i, CASE WHEN i = 803 THEN 13 ELSE 1 / (805 - i) END FROM generate_series(801, 810) i;
INSERT INTO written SELECT i, CASE WHEN i = 807 THEN 13 ELSE 1 / (805 - i) END FROM generate_series(801, 810) i;
UPDATE written SET v = CASE id WHEN 601 THEN 13 ELSE 1 / (603 - id) END WHERE id > 600 AND random() >= 0;
INSERT INTO written SELECT i, CASE WHEN i = 19000 THEN 13 ELSE 1 / (19005 - i) END FROM generate_series(16001, 20000) i;
-- which is not waited for
CREATE FUNCTION remote.doze() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;
CREATE TRIGGER doze BEFORE INSERT ON remote.written FOR EACH ROW EXECUTE FUNCTION remote.doze();
SET statement_timeout = '5s';
INSERT INTO written SELECT i, 1 / (805 - i) FROM generate_series(801, 810) i;
RESET statement_timeout;
DROP TRIGGER doze ON remote.written;

-- what the remote server says may be found out in a subtransaction, whoever would catch it there
CREATE FUNCTION is_watched(v int) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN (SELECT count(*) FROM items WHERE id = v) >= 0;
EXCEPTION
	WHEN OTHERS THEN
		RAISE NOTICE 'at %: %', v, SQLERRM;
		RETURN true;
END
$$;
CREATE DOMAIN watched AS int CHECK (is_watched(VALUE));
SET tollfree_postgres_fdw.debug_require = 'pipelined';
SELECT shown_written();
INSERT INTO written SELECT i, (i - 890)::watched FROM generate_series(901, 905) i;
UPDATE written SET v = (CASE id WHEN 602 THEN 13 ELSE 1 END)::watched WHERE id > 600 AND random() >= 0;
DO $$
DECLARE
	failures int := 0;
BEGIN
	INSERT INTO written SELECT i, (i - 900)::watched FROM generate_series(901, 903) i;
	FOR i IN 1..3 LOOP
		BEGIN
			INSERT INTO written SELECT n, (n - 990)::watched FROM generate_series(1000 + i, 1005) n;
		EXCEPTION WHEN check_violation THEN
			failures := failures + 1;
		END;
	END LOOP;
	RAISE NOTICE '% failures', failures;
	DELETE FROM written WHERE id::watched IN (901, 902) AND random() >= 0;
END
$$;
-- the transaction, and the savepoint, in which the statement fails
BEGIN;
INSERT INTO written VALUES (910, 1);
SAVEPOINT a;
INSERT INTO written SELECT i, (i - 900)::watched FROM generate_series(911, 915) i;
ROLLBACK TO a;
INSERT INTO written VALUES (911, 1);
COMMIT;
BEGIN;
INSERT INTO written VALUES (912, 1);
INSERT INTO written SELECT i, (i - 900)::watched FROM generate_series(913, 915) i;
COMMIT;
SELECT shown_written();
SELECT id FROM remote.written WHERE id > 900 ORDER BY id;
RESET tollfree_postgres_fdw.debug_require;

-- batches as arrays: all types, nulls, a generated column
CREATE TABLE remote.copied (LIKE remote.every_type, twice int GENERATED ALWAYS AS (n * 2) STORED, made text DEFAULT 'remotely');
IMPORT FOREIGN SCHEMA remote LIMIT TO (copied) FROM SERVER loopback INTO public;
ALTER FOREIGN TABLE copied DROP COLUMN made;
ALTER FOREIGN TABLE copied OPTIONS (ADD batch_size '100');
SET tollfree_postgres_fdw.debug_require = 'arrays';
SELECT format('INSERT INTO copied (%1$s) SELECT %1$s FROM remote.every_type', string_agg(attname, ', ' ORDER BY attnum)) AS copy
FROM pg_attribute WHERE attrelid = 'remote.every_type'::regclass AND attnum > 0 \gset
:copy;
RESET tollfree_postgres_fdw.debug_require;
SELECT count(*), sum(twice), min(made) FROM remote.copied;
ALTER TABLE remote.copied DROP COLUMN twice, DROP COLUMN made;
SELECT count(*) FROM (SELECT c::text FROM remote.copied c EXCEPT ALL SELECT e::text FROM remote.every_type e) x;
SELECT count(*) FROM (SELECT e::text FROM remote.every_type e EXCEPT ALL SELECT c::text FROM remote.copied c) x;

-- a trigger of the COPY is called once all of its rows are there
CREATE TABLE remote.looked (id int CHECK (id < 900), r int);
CREATE FOREIGN TABLE looked (id int, r int DEFAULT (random() * 10)::int) SERVER loopback OPTIONS (schema_name 'remote', batch_size '100');
CREATE FUNCTION see_copied() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
	RAISE NOTICE 'called';
	RETURN NULL;
END
$$;
CREATE TRIGGER see_copied AFTER INSERT ON looked FOR EACH STATEMENT EXECUTE FUNCTION see_copied();
\set VERBOSITY sqlstate
COPY looked (id) FROM PROGRAM 'seq 1 900';
COPY looked (id) FROM PROGRAM 'seq 1 899';
\set VERBOSITY default
SELECT count(*) FROM remote.looked;

-- large batches, from the sixth on, unless that is switched off: for the server, or for the table, which counts before it
CREATE TABLE remote.many (n int, t text);
CREATE FOREIGN TABLE many (n int, t text) SERVER loopback OPTIONS (schema_name 'remote', table_name 'many');
CREATE FUNCTION write_many(rows int = 600) RETURNS jsonb
LANGUAGE sql
RETURN explained(format('INSERT INTO many SELECT i, i::text FROM generate_series(1, %s) i', rows), 'Write Method');
CREATE FUNCTION show_many() RETURNS text
LANGUAGE sql
AS $$ SELECT format('%s rows by %s commands', count(*), count(DISTINCT cmin::text)) FROM remote.many WHERE n::text = t $$;
\set fill_many 'TRUNCATE remote.many; SELECT write_many(); SELECT show_many();'
:fill_many
ALTER FOREIGN TABLE many OPTIONS (ADD batch_size '100');
:fill_many
TRUNCATE remote.many;
SELECT write_many(500) AS of_500;
TRUNCATE remote.many;
SELECT write_many(650) AS of_650;
SELECT show_many();
SET tollfree_postgres_fdw.insert_arrays = off;
:fill_many
RESET tollfree_postgres_fdw.insert_arrays;
ALTER SERVER loopback OPTIONS (ADD insert_arrays 'off');
:fill_many
ALTER FOREIGN TABLE many OPTIONS (ADD insert_arrays 'on');
:fill_many
ALTER SERVER loopback OPTIONS (DROP insert_arrays);
ALTER FOREIGN TABLE many OPTIONS (SET insert_arrays 'off');
:fill_many
ALTER FOREIGN TABLE many OPTIONS (SET insert_arrays 'perhaps');
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (ADD insert_arrays 'on');
ALTER FOREIGN TABLE many OPTIONS (DROP insert_arrays, SET batch_size '49');
:fill_many
ALTER FOREIGN TABLE many OPTIONS (SET batch_size '100');

-- rows, where a column is of another type there: a text is read by that one's input function
SELECT server_options() AS options \gset
CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:options);
CREATE USER MAPPING FOR PUBLIC SERVER stock OPTIONS (password_required 'false');
CREATE TABLE remote.other_type (n int, v int);
CREATE FOREIGN TABLE other_type (n int, v numeric) SERVER loopback OPTIONS (schema_name 'remote', batch_size '50');
CREATE FOREIGN TABLE other_type_stock (n int, v numeric) SERVER stock OPTIONS (schema_name 'remote', table_name 'other_type', batch_size '50');
CREATE DOMAIN remote.price AS numeric CHECK (VALUE < 10);
SELECT format(sql, target, type)
FROM unnest('{numeric,"numeric(8,1)",int4,float8,text,char(4),remote.price}'::text[]) WITH ORDINALITY t(type, i),
	(VALUES (1, 'other_type_stock'), (2, 'other_type')) w(j, target),
	(VALUES (1, 'TRUNCATE remote.other_type'), (2, 'ALTER TABLE remote.other_type ALTER v TYPE %2$s USING NULL'),
			(3, 'INSERT INTO %1$I SELECT i, CASE WHEN i > 500 THEN 1.50 ELSE 1 END FROM generate_series(1, 600) i'),
			(4, 'SELECT ''%2$s'' AS type, ''%1$s'' AS target, count(*), count(DISTINCT cmin::text) AS commands, max(v::text) FROM remote.other_type')) s(k, sql)
ORDER BY i, j, k \gexec
DROP FOREIGN TABLE other_type_stock;
DROP SERVER stock CASCADE;
DROP FOREIGN TABLE other_type;
DROP TABLE remote.other_type;
DROP DOMAIN remote.price;

-- triggers see the same rows and commands as without arrays; rows that one skips are not counted
CREATE TABLE remote.witnessed (who text);
CREATE FUNCTION remote.witness() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO remote.witnessed VALUES (format('%s, before it %s rows', TG_LEVEL, (SELECT count(*) FROM remote.many)));
	RETURN CASE WHEN NEW.n % 10 <> 0 THEN NEW END;
END
$$;
CREATE TRIGGER each_row BEFORE INSERT ON remote.many FOR EACH ROW EXECUTE FUNCTION remote.witness();
CREATE TRIGGER each_statement AFTER INSERT ON remote.many FOR EACH STATEMENT EXECUTE FUNCTION remote.witness();
TRUNCATE remote.many;
\set QUIET off
INSERT INTO many SELECT i, i::text FROM generate_series(1, 750) i;
\set QUIET on
SELECT count(*), count(*) FILTER (WHERE who LIKE 'STATEMENT%') AS statements, md5(string_agg(who, ',' ORDER BY ctid)) FROM remote.witnessed;
TRUNCATE remote.many, remote.witnessed;
SET tollfree_postgres_fdw.insert_arrays = off;
INSERT INTO many SELECT i, i::text FROM generate_series(1, 750) i;
SELECT count(*), count(*) FILTER (WHERE who LIKE 'STATEMENT%') AS statements, md5(string_agg(who, ',' ORDER BY ctid)) FROM remote.witnessed;
RESET tollfree_postgres_fdw.insert_arrays;
DROP TRIGGER each_row ON remote.many;
DROP TRIGGER each_statement ON remote.many;
DROP FUNCTION remote.witness;
DROP TABLE remote.witnessed;
-- rows, where each is looked at: RETURNING, a local trigger
SELECT explained('INSERT INTO many SELECT i, i::text FROM generate_series(1, 600) i RETURNING n', 'Write Method') AS returning;
CREATE TABLE fired (n int);
CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN INSERT INTO public.fired VALUES (NEW.n); RETURN NEW; END $$;
CREATE TRIGGER fire AFTER INSERT ON many FOR EACH ROW EXECUTE FUNCTION fire();
:fill_many
SELECT count(*) FROM fired;
DROP TRIGGER fire ON many;
DROP FUNCTION fire;
DROP TABLE fired;
-- batches that are awaited
CREATE FUNCTION plain(int) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
SELECT explained('INSERT INTO many SELECT i, plain(i) FROM generate_series(1, 600) i', 'Write Method') AS awaited;
DROP FUNCTION plain;
-- not in arrays: rows of more than 1 MB in a batch, a user whose arrays have no nulls
SELECT explained('INSERT INTO many SELECT i, repeat(''x'', CASE WHEN i > 500 THEN 20000 END) FROM generate_series(1, 700) i', 'Write Method') AS wide;
SELECT server_options() || ', options ''-c array_nulls=off''' AS options \gset
CREATE SERVER nullless FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:options);
CREATE USER MAPPING FOR PUBLIC SERVER nullless OPTIONS (password_required 'false');
CREATE FOREIGN TABLE many_nullless (n int, t text) SERVER nullless OPTIONS (schema_name 'remote', table_name 'many', batch_size '100');
SELECT explained('INSERT INTO many_nullless SELECT nullif(i, 600), NULL FROM generate_series(1, 600) i', 'Write Method') AS nullless;
DROP SERVER nullless CASCADE;
-- as varchar, whose length the remote server checks
ALTER TABLE remote.many ALTER t TYPE varchar(10) USING left(t, 10);
ALTER FOREIGN TABLE many ALTER t TYPE varchar;
:fill_many
-- and errors in arrays
\set VERBOSITY terse
INSERT INTO many SELECT i, repeat('x', i - 780) FROM generate_series(1, 800) i;
INSERT INTO many SELECT i, 'x' || 1 / (i - 795) FROM generate_series(1, 800) i;
INSERT INTO many SELECT i, repeat('x', (i - 790) / (i - 805)) || repeat('y', i - 780) FROM generate_series(1, 900) i;
\set VERBOSITY default

-- how rows are written shows, and can be required
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO many SELECT i, 'x' FROM generate_series(1, 3) i;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE many SET t = n WHERE random() >= 0;
EXPLAIN (VERBOSE, COSTS OFF) INSERT INTO many SELECT i, 'x' FROM generate_series(1, 3) i RETURNING n;
SET tollfree_postgres_fdw.debug_require = 'pipelined, arrays';
SELECT written('INSERT INTO many SELECT i, ''x'' FROM generate_series(1, 600) i');
SELECT written('INSERT INTO many SELECT i, ''x'' FROM generate_series(1, 3) i');
INSERT INTO many VALUES (1, 'x') RETURNING n;
ALTER FOREIGN TABLE many ALTER t TYPE text;
INSERT INTO many SELECT i, 'x' FROM generate_series(1, 600) i;
RESET tollfree_postgres_fdw.debug_require;
SELECT written('INSERT INTO many SELECT i, ''x'' FROM generate_series(1, 600) i');
SELECT written('INSERT INTO many SELECT i, ''x'' FROM generate_series(1, 3) i RETURNING n');
SELECT written('UPDATE many SET t = n WHERE n = 3 AND random() >= 0');
ALTER FOREIGN TABLE many OPTIONS (DROP batch_size);
INSERT INTO many VALUES (1, 'x');
INSERT INTO many VALUES (1, 'x');
-- rows of its own that a scan has sent are the writer's
SELECT written('INSERT INTO many SELECT i, (SELECT count(*) FROM many WHERE n = i AND n > -random()) FROM generate_series(1, 3) i');

CREATE TABLE remote.once (id int PRIMARY KEY, v int8);
INSERT INTO remote.once SELECT i FROM generate_series(1, 100) i;
CREATE FOREIGN TABLE once (id int, v int8) SERVER loopback OPTIONS (schema_name 'remote');
-- nothing is written, and a statement is dropped with the COMMIT that nobody waits for
SET tollfree_postgres_fdw.direct_results = off;
INSERT INTO once SELECT id FROM once ON CONFLICT DO NOTHING RETURNING id;
SELECT count(v) FROM once;
RESET tollfree_postgres_fdw.direct_results;
DROP FOREIGN TABLE once;
DROP TABLE remote.once;

-- COPY of more rows than a batch, all and without those that the remote skips
CREATE FUNCTION remote.skip_tenths() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN IF NEW.n % 10 = 0 THEN RETURN NULL; END IF; RETURN NEW; END $$;
TRUNCATE remote.many;
ALTER TABLE remote.many ALTER t TYPE text;
\set QUIET off
COPY many FROM PROGRAM 'seq -f "%g	copied" 1 2500';
SELECT count(*), sum(n), max(t) FROM remote.many;
CREATE TRIGGER skip BEFORE INSERT ON remote.many FOR EACH ROW EXECUTE FUNCTION remote.skip_tenths();
COPY many FROM PROGRAM 'seq -f "%g	copied" 1 2500';
SELECT count(*), sum(n), max(t) FROM remote.many;
\set QUIET on

-- COPY of rows for which arrays may stand, an error of the remote server, and one of a line
CREATE TABLE remote.shelf (n int PRIMARY KEY, t text);
CREATE FOREIGN TABLE shelf (n int, t text) SERVER loopback OPTIONS (schema_name 'remote', batch_size '100');
\set QUIET off
\set VERBOSITY terse
BEGIN;
COPY shelf FROM PROGRAM 'seq -f "%g	copied" 1 2500';
SAVEPOINT a;
COPY shelf FROM PROGRAM 'seq -f "%g	again" 2480 5000';
ROLLBACK TO a;
COPY shelf FROM PROGRAM 'seq -f "%g	copied" 2501 5000; echo nothing';
ROLLBACK TO a;
COPY shelf FROM PROGRAM 'seq -f "%g	copied" 2501 2600';
COMMIT;
\set VERBOSITY default
\set QUIET on
SELECT count(*), sum(n), max(t) FROM remote.shelf;
-- whoever looks at the table meanwhile sees the rows before
CREATE FUNCTION on_shelf() RETURNS text LANGUAGE sql VOLATILE AS 'SELECT count(*)::text FROM public.shelf';
ALTER FOREIGN TABLE shelf ALTER t SET DEFAULT on_shelf();
TRUNCATE shelf;
COPY shelf (n) FROM PROGRAM 'seq 0 99';
SELECT count(*), sum(n), count(*) FILTER (WHERE t::int = n) AS seen FROM remote.shelf;
ALTER FOREIGN TABLE shelf ALTER t DROP DEFAULT;
CREATE FUNCTION count_shelf() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE NOTICE '% on the shelf', on_shelf(); RETURN NULL; END $$;
CREATE TRIGGER counted AFTER INSERT ON shelf EXECUTE FUNCTION count_shelf();
COPY shelf FROM PROGRAM 'seq -f "%g	copied" 101 150';
DROP TRIGGER counted ON shelf;
CREATE TRIGGER counted AFTER INSERT ON shelf FOR EACH ROW WHEN (NEW.n % 20 = 0) EXECUTE FUNCTION count_shelf();
COPY shelf FROM PROGRAM 'seq -f "%g	copied" 151 200';
DROP FOREIGN TABLE shelf;
DROP FUNCTION on_shelf, count_shelf;
DROP TABLE remote.shelf;
-- no more FETCHes are sent than the rows that are expected take, whether or not there are as many
CREATE TABLE remote.readings AS
SELECT i AS id, i / 7.0::float8 AS x, i / 11.0::float8 AS y, i / 13.0::float8 AS z, timestamp '2020-01-01' + i * interval '1 min' AS made
FROM generate_series(1, 40000) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (readings) FROM SERVER loopback INTO public;
ANALYZE readings;
SELECT explained('SELECT sum(x + y + z), max(made) FROM readings WHERE random() >= 0', 'Binary Fetches')::int < 20 AS few;
INSERT INTO remote.readings SELECT * FROM remote.readings;
INSERT INTO remote.readings SELECT * FROM remote.readings;
SELECT count(*), sum(id), count(DISTINCT made) FROM readings WHERE random() >= 0;
-- dates and times whose texts are read without the input function, and others: as a cast, or the same error
CREATE TABLE remote.moments (id int, t text);
INSERT INTO remote.moments SELECT row_number() OVER (), t FROM unnest(ARRAY['2024-02-29', '2023-02-29', '0001-01-01', '0000-01-01', '9999-12-31', '10000-01-01',
	'2024-13-01', '2024-00-10', '2024-1-10', '2024-01-32', '24-01-10 BC', '2024/01/10', '2024-01-10 23:59:59', '2024-01-10 24:00:00', '2024-01-10 23:59:60',
	'2024-01-10 23:60:00', '2024-01-10 00:00:00.5', '2024-01-10 00:00:00.000001', '2024-01-10 00:00:00.1234567', '2024-01-10 00:00:00.', '2024-01-10T00:00:00',
	'2024-01-10 00:00:00+00', '2024-01-10 00:00:00.25+00', '2024-01-10 00:00:00+01', '2024-01-10 00:00:00-00', '2024-01-10 00:00+00', '2024-01-10 00:00:00 BC', '']) t;
CREATE FUNCTION read_moments(type regtype, OUT fetched int, OUT refused int, OUT wrong text)
LANGUAGE plpgsql
AS $$
DECLARE
	moment record;
	expected text;
	found text;
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE moments (id int, t %s) SERVER loopback OPTIONS (schema_name ''remote'')', type);
	fetched := 0;
	refused := 0;
	FOR moment IN SELECT * FROM remote.moments LOOP
		BEGIN
			EXECUTE format('SELECT %L::%s', moment.t, type) INTO expected;
		EXCEPTION WHEN data_exception THEN
			expected := sqlerrm;
		END;
		BEGIN
			SELECT t INTO found FROM moments WHERE id = moment.id;
			fetched := fetched + 1;
		EXCEPTION WHEN data_exception THEN
			found := sqlerrm;
			refused := refused + 1;
		END;
		IF found IS DISTINCT FROM expected THEN
			wrong := concat_ws(', ', wrong, moment.t);
		END IF;
	END LOOP;
	DROP FOREIGN TABLE moments;
END
$$;
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
SELECT type, m.* FROM unnest('{date,timestamp,timestamptz}'::regtype[]) type, read_moments(type) m;
RESET timezone;
RESET datestyle;
