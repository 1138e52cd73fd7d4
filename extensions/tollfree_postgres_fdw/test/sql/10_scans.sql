-- Scans: rows, parameters, system columns, joins, large results.
SET timezone = 'UTC';
SELECT id, label, made, price FROM items WHERE id = 7;
SELECT * FROM items WHERE id < 0;
SELECT count(*), sum(price) FROM items;
SELECT a.id, b.label FROM items a JOIN items b ON b.id = a.id + 1 WHERE a.id < 3 ORDER BY 1;

-- whole rows, of a table and of a join
SELECT items FROM items WHERE id = 2;
SELECT a, b FROM items a JOIN items b ON b.id = a.id + 1 WHERE a.id = 1;
SELECT tableoid::regclass, ctid IS NOT NULL AS has_ctid, xmin, xmax, cmin
FROM items WHERE id = 2;

-- parameters, again and again; also null ones, and dates under odd settings
PREPARE by_id(int) AS SELECT label FROM items WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_id(3);
EXECUTE by_id(NULL);
PREPARE by_time(timestamptz) AS SELECT id FROM items WHERE made = $1;
SET datestyle = 'German';
EXECUTE by_time('2020-01-01 05:00+00');
RESET datestyle;
RESET plan_cache_mode;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT v.n, i.label FROM (VALUES (1), (2), (2), (NULL), (5000)) v(n)
	LEFT JOIN LATERAL (SELECT label FROM items WHERE id = v.n OFFSET 0) i ON true
ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- the same rows whichever way they are carried
CREATE TABLE carried (way text, n int8, hash text);
CREATE FUNCTION carry(way text) RETURNS void
LANGUAGE sql
AS $$
	INSERT INTO carried
	SELECT way, count(*), md5(string_agg(i::text, ',' ORDER BY id))
	FROM (SELECT * FROM items OFFSET 0) i
$$;
SELECT carry('expected small');
SET work_mem = '64kB';
SELECT carry('larger than work_mem');
RESET work_mem;
SET tollfree_postgres_fdw.direct_results = off;
SELECT carry('cursor');
ALTER FOREIGN TABLE items OPTIONS (ADD fetch_size '7');
BEGIN;
DECLARE locked CURSOR FOR SELECT id FROM items ORDER BY id FOR UPDATE;
FETCH 1 FROM locked;
FETCH 20 FROM locked;
CLOSE locked;
COMMIT;
ALTER FOREIGN TABLE items OPTIONS (DROP fetch_size);
RESET tollfree_postgres_fdw.direct_results;
SELECT count(*), count(DISTINCT hash), min(n), max(n) FROM carried;

-- large results, stopped early, read twice, interleaved
CREATE TABLE remote.numbers AS SELECT i AS n, repeat('x', 100) AS filler FROM generate_series(1, 30000) i;
CREATE FOREIGN TABLE numbers (n int, filler text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'numbers');
ANALYZE numbers;
SELECT count(*), sum(n), sum(length(filler)) FROM (SELECT * FROM numbers OFFSET 0) x;
SELECT n FROM (SELECT * FROM numbers OFFSET 0) x LIMIT 2;
SET work_mem = '64kB';
SELECT count(*), sum(a.n - b.n)
FROM (SELECT * FROM numbers ORDER BY n OFFSET 0) a,
	(SELECT * FROM numbers WHERE n > 29998 OFFSET 0) b;
RESET work_mem;
BEGIN;
DECLARE first CURSOR FOR SELECT n FROM numbers ORDER BY n;
DECLARE second CURSOR FOR SELECT n FROM numbers ORDER BY n DESC;
FETCH 2 FROM first;
FETCH 2 FROM second;
MOVE 25000 FROM first;
FETCH 1 FROM first;
FETCH 1 FROM second;
COMMIT;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT id FROM items WHERE id < 4 ORDER BY id;
COMMIT;
FETCH ALL FROM held;
CLOSE held;

-- a table whose size is not known to the planner, and turns out to be large
CREATE FOREIGN TABLE unknown_numbers (n int, filler text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'numbers');
SET work_mem = '64kB';
SELECT count(*), sum(n) FROM (SELECT * FROM unknown_numbers WHERE filler = repeat('x', 100) OFFSET 0) x;
RESET work_mem;

-- domains see nulls; errors name the column
CREATE DOMAIN wanted AS text CHECK (VALUE IS NOT NULL);
CREATE TABLE remote.gaps (id int, word text);
INSERT INTO remote.gaps VALUES (1, 'one'), (2, NULL), (3, 'three');
CREATE FOREIGN TABLE gaps (id int, word wanted) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'gaps');
SELECT id, word FROM gaps WHERE id = 1;
SELECT id, word FROM gaps;
CREATE FOREIGN TABLE misread (id int, word int) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'gaps');
SELECT word AS w FROM misread g;
SELECT id FROM gaps WHERE id = 3;

-- a type whose input asks the same server, while a large result arrives
CREATE FUNCTION is_known(word text) RETURNS bool
LANGUAGE sql
AS 'SELECT count(*) = 1 FROM public.items WHERE id = length(word)';
CREATE DOMAIN known AS text CHECK (is_known(VALUE));
CREATE FOREIGN TABLE known_numbers (n int, filler known) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'numbers');
SET work_mem = '64kB';
SELECT count(*), sum(length(filler)) FROM (SELECT * FROM known_numbers WHERE n / 1001 = 0 OFFSET 0) x;
RESET work_mem;

-- the same, with a subtransaction that is rolled back for every row
CREATE OR REPLACE FUNCTION is_known(word text) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM 1 / (SELECT count(*) - 1 FROM public.items WHERE id = length(word));
	RETURN false;
EXCEPTION WHEN division_by_zero THEN
	RETURN true;
END
$$;
SET work_mem = '64kB';
SELECT count(*), sum(length(filler)) FROM (SELECT * FROM known_numbers WHERE n / 1001 = 0 OFFSET 0) x;
RESET work_mem;

-- rows much larger than the planner expects
CREATE TABLE remote.wide AS SELECT i AS n, repeat(i::text, 100000) AS filler FROM generate_series(1, 250) i;
CREATE FOREIGN TABLE wide (n int, filler text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'wide');
SELECT count(*), sum(n), sum(length(filler)) FROM (SELECT * FROM wide OFFSET 0) x;

-- a cursor that goes on after a subtransaction was rolled back, and fetches ahead
CREATE FOREIGN TABLE few_at_a_time (id int) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'items', fetch_size '1');
DO $$
DECLARE
	c CURSOR FOR SELECT id FROM few_at_a_time ORDER BY id;
	i int;
	j int;
BEGIN
	OPEN c;
	FETCH c INTO i;
	BEGIN
		PERFORM 1 / (count(*) - 1) FROM items WHERE id = 1;
	EXCEPTION WHEN division_by_zero THEN
		FETCH c INTO j;
		RAISE NOTICE '% and %', i, j;
	END;
END
$$;
SELECT count(*) FROM items;

-- how much is to be expected: what is sent, not what is left of it here
CREATE FUNCTION fetch_method(query text) RETURNS jsonb
LANGUAGE sql
RETURN explained(query, 'Fetch Method', 'VERBOSE');
CREATE FUNCTION looks_good(filler text) RETURNS bool
LANGUAGE plpgsql
AS $$ BEGIN RETURN true; END $$;
CREATE FOREIGN TABLE unknown (a text, b text, c text, d text, e text, f text, g text, h text, i text, j text,
							  k text, l text, m text, n text, o text, p text, q text, r text, s text, t text)
	SERVER loopback;
SELECT fetch_method('SELECT * FROM unknown') AS all_of_unknown,
	   fetch_method($$SELECT * FROM unknown WHERE a = 'x'$$) AS few_of_unknown;
ANALYZE wide;
SELECT fetch_method('SELECT n FROM wide') AS narrow,
	   fetch_method('SELECT n, md5(filler) FROM wide') AS computed,
	   fetch_method('SELECT n FROM wide WHERE looks_good(filler)') AS looked_at,
	   fetch_method('SELECT md5(a.filler) FROM wide a JOIN wide b USING (n)') = '"direct"' AS joined_direct,
	   fetch_method('SELECT n FROM wide WHERE n = 1 AND looks_good(n::text)') AS kept_here;

-- rows to be updated by their location are locked as they are asked for, those of a join as well
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT fetch_method('UPDATE items SET price = price + random()') AS updated,
	   fetch_method('UPDATE items a SET price = a.price + random() FROM items b WHERE b.id = a.id + 1') AS joined,
	   fetch_method('SELECT b.id FROM items a JOIN items b ON b.id = a.id + 1') AS read;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;

-- a join that begins its scan again is given the rows at hand, and asks for nothing
CREATE TABLE remote.broad AS
SELECT i AS n, repeat('x', 20000) AS fill FROM generate_series(1, 100) i;
CREATE FOREIGN TABLE broad (n int, fill text) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FUNCTION agree(a int, b int, fill text) RETURNS bool
LANGUAGE plpgsql IMMUTABLE
AS $$ BEGIN RETURN fill IS NOT NULL; END $$;
SELECT fetch_method('SELECT n, fill FROM broad');
SET enable_material = off;
SET work_mem = '1MB';
SELECT round_trips_since(0) AS before \gset
SELECT count(*) FROM generate_series(1, 20) g
WHERE EXISTS (SELECT FROM broad b WHERE agree(g, b.n, b.fill));
SELECT round_trips_since(:before) < 5 AS few;
RESET enable_material;
RESET work_mem;
DROP FOREIGN TABLE broad;
DROP FUNCTION agree;
DROP TABLE remote.broad;
