-- Results of any size that are read to their end, in one round trip.
-- (Rows of 1 kB: about 500 are taken from the connection at a time.)
CREATE TABLE remote.long AS SELECT i AS n, i % 10 AS k, repeat('x', 1000) AS pad FROM generate_series(1, 3000) i;
CREATE TABLE remote.tens AS SELECT i AS k, 'ten ' || i AS name FROM generate_series(0, 9) i;
CREATE TABLE remote.dated AS SELECT i AS n, '2020-01-01'::date + i AS d, (i / 8.0)::numeric(12, 2) AS v FROM generate_series(1, 30000) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (long, tens, dated) FROM SERVER loopback INTO public;
CREATE SCHEMA far;
IMPORT FOREIGN SCHEMA remote LIMIT TO (long, tens) FROM SERVER read_committed INTO far;
CREATE TABLE picked AS SELECT k FROM generate_series(0, 12) k;
CREATE TABLE nothing (k int);
ANALYZE picked, nothing;
-- Each scan's table, how it was read, and the round trips that were waited for.
CREATE FUNCTION ways(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT string_agg(format('%s %s %s', scan->>'Relation Name', scan->>'Fetch Method', scan->'Round Trips'), ', '
							  ORDER BY scan->>'Relation Name', scan->>'Fetch Method')
			FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Fetch Method"))') scan);
END
$$;
-- The same, if the query's rows are those that it has with the tables themselves.
CREATE FUNCTION compared(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	digest text := format('SELECT count(*) || md5(string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) q', query);
	here text;
	there text;
BEGIN
	EXECUTE digest INTO here;
	PERFORM set_config('search_path', 'remote, public', true);
	EXECUTE digest INTO there;
	PERFORM set_config('search_path', 'public', true);
	RETURN ways(query) || CASE WHEN here IS DISTINCT FROM there THEN ', WRONG: ' || here || ', not ' || there ELSE '' END;
END
$$;
CREATE FUNCTION rows_since(before int8) RETURNS int8
LANGUAGE sql
RETURN (SELECT sum(rows) - before FROM tollfree_postgres_fdw_statistics() WHERE server_name = 'loopback');
CREATE FUNCTION kept_here(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN n; END $$;
-- asks the same server; and begins a subtransaction
CREATE FUNCTION asks(wanted int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT name FROM tens WHERE k = wanted); END $$;
CREATE FUNCTION tries(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / (n % 7); EXCEPTION WHEN division_by_zero THEN RETURN -1; END $$;

SELECT count(*) FROM tens;
SELECT compared('SELECT * FROM long');
SELECT compared('SELECT n FROM long WHERE kept_here(n) % 3 = 0');
SELECT compared('SELECT k, count(kept_here(n)), max(pad) FROM long GROUP BY k');
SELECT compared('SELECT n FROM long ORDER BY kept_here(-n) LIMIT 5');
SELECT compared('SELECT DISTINCT k + kept_here(0) FROM long');
SELECT compared('SELECT * FROM long UNION ALL SELECT n, kept_here(k), pad FROM long');
SELECT compared('SELECT n, row_number() OVER (ORDER BY kept_here(n)) FROM long');
-- may stop early
SELECT ways('SELECT * FROM long WHERE kept_here(n) > 0 LIMIT 5');
SELECT ways('SELECT k FROM picked p WHERE EXISTS (SELECT FROM long l WHERE kept_here(l.k) = p.k + 0 * l.n OFFSET 0)') ~ '^long cursor';
-- the whole table of a hash join is built at once; its other side is not read if that is empty
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT compared('SELECT k, count(*), max(pad) FROM long JOIN picked USING (k) GROUP BY k');
SELECT compared('SELECT k, count(*) FROM picked JOIN long USING (k) WHERE n < 100 GROUP BY k');
SELECT compared('SELECT p.k FROM picked p WHERE NOT EXISTS (SELECT FROM long l WHERE l.k = p.k)') ~ '^long (cursor 2|streamed 1)$' AS anti;
SELECT rows_since(0) AS before \gset
SELECT count(l.pad) FROM long l JOIN nothing USING (k);
SELECT rows_since(:before) AS rows;
-- a loop that asks the same server in between, or another one
SET enable_hashjoin = off;
SET enable_material = off;
SET enable_memoize = off;
RESET enable_nestloop;
SELECT compared('SELECT l.n, t.name FROM (SELECT * FROM long WHERE n <= 600 OFFSET 0) l LEFT JOIN LATERAL (SELECT name FROM tens WHERE k = l.k OFFSET 0) t ON true');
SELECT compared('SELECT l.n, t.name FROM (SELECT * FROM long WHERE n <= 600 OFFSET 0) l LEFT JOIN LATERAL (SELECT name FROM far.tens WHERE k = l.k OFFSET 0) t ON true');
SELECT compared('SELECT p.k, l.n FROM (SELECT * FROM picked WHERE k < 3 OFFSET 0) p LEFT JOIN (SELECT * FROM long OFFSET 0) l ON l.n % 13 = p.k');
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
-- functions that use the connection meanwhile: the rest is read first
SET work_mem = '64kB';
SELECT compared('SELECT n, asks(k), length(pad) FROM long WHERE n <= 1500');
SELECT compared('SELECT n, tries(n), pad FROM long');
SELECT compared('SELECT n, tries(n), asks(k) FROM (SELECT * FROM long WHERE n <= 1200 UNION ALL SELECT * FROM long WHERE n > 2000) l');
RESET work_mem;
-- what is written here, there, and elsewhere
SELECT ways('INSERT INTO nothing SELECT k FROM long');
SET tollfree_postgres_fdw.batched_lookups = off;
SELECT ways('UPDATE picked p SET k = p.k FROM long l WHERE l.k = p.k AND l.pad IS NOT NULL');
RESET tollfree_postgres_fdw.batched_lookups;
CREATE TABLE remote.received (n int, pad text);
IMPORT FOREIGN SCHEMA remote LIMIT TO (received) FROM SERVER loopback INTO public;
SELECT ways('INSERT INTO received SELECT n, pad FROM long WHERE n < 2500') ~ '^long cursor' AS copied_within;
SELECT ways('INSERT INTO received SELECT n, pad FROM far.long');
SELECT count(*), sum(n), sum(length(pad)) FROM remote.received;
SELECT count(*) FROM nothing;

-- cursors, here and in functions, may be left
CREATE FUNCTION leaves() RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
	FOR r IN SELECT * FROM long WHERE kept_here(n) > 0 LOOP
		IF r.n = 5 THEN RETURN r.n; END IF;
	END LOOP;
END
$$;
SELECT rows_since(0) AS before \gset
SELECT leaves();
SELECT rows_since(:before) AS rows;
\set QUIET off
BEGIN;
DECLARE c CURSOR FOR SELECT n, pad FROM long;
FETCH 2 FROM c \g |cut -c 1-20
MOVE 700 FROM c;
SELECT count(*) FROM tens;
SAVEPOINT s;
MOVE ALL FROM c;
COMMIT;
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT n, pad FROM long;
MOVE 3 FROM h;
COMMIT;
MOVE ALL FROM h;
CLOSE h;
\set QUIET on

-- an error here or there while rows are on their way
CREATE VIEW remote.failing AS SELECT n, pad, 1 / (n - 2500) AS q FROM remote.long;
CREATE FOREIGN TABLE failing (n int, pad text, q int) SERVER loopback OPTIONS (schema_name 'remote');
SELECT count(length(pad)) FROM failing WHERE kept_here(q) IS NOT NULL;
SELECT count(1 / (kept_here(n) - 700)) FROM long;
BEGIN;
UPDATE items SET label = 'kept' WHERE id = 1;
SAVEPOINT s;
SELECT count(1 / (kept_here(n) - 700)) FROM long;
ROLLBACK TO s;
SELECT count(length(pad)) FROM failing WHERE kept_here(q) IS NOT NULL;
ROLLBACK TO s;
SELECT compared('SELECT n, pad FROM long');
COMMIT;
SELECT name FROM remote.items WHERE id = 1;
UPDATE items SET label = 'item 1' WHERE id = 1;

-- several servers at the same time
CREATE TABLE longs (n int, k int, pad text) PARTITION BY LIST (k);
ALTER SERVER loopback OPTIONS (ADD async_capable 'true');
ALTER SERVER read_committed OPTIONS (ADD async_capable 'true');
CREATE VIEW remote.long_1 AS SELECT n, 1 AS k, pad FROM remote.long WHERE k = 1;
CREATE VIEW remote.long_2 AS SELECT n, 2 AS k, pad FROM remote.long WHERE k <> 1;
CREATE FOREIGN TABLE long_1 PARTITION OF longs FOR VALUES IN (1) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE long_2 PARTITION OF longs FOR VALUES IN (2) SERVER read_committed OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE long_3 PARTITION OF longs FOR VALUES IN (3) SERVER loopback OPTIONS (schema_name 'remote', table_name 'long_2');
SELECT ways('SELECT count(length(pad)) FROM longs WHERE kept_here(n) > 0');
SELECT count(*), sum(n), sum(length(pad)), count(asks(k)) FROM longs WHERE kept_here(n) > 0;
ALTER SERVER loopback OPTIONS (DROP async_capable);
ALTER SERVER read_committed OPTIONS (DROP async_capable);
DROP TABLE longs;

-- columns that gain by the binary form come through a cursor, which tells their types first
SELECT compared('SELECT * FROM dated'), explained('SELECT * FROM dated', 'Binary Fetches') AS binary;
SELECT compared('SELECT * FROM dated WHERE n <= 1000'), explained('SELECT * FROM dated WHERE n <= 1000', 'Binary Fetches') AS binary;
-- even if the first batch exceeds what is kept in memory
CREATE TABLE remote.dated_wide AS SELECT *, repeat('x', 1000) AS pad FROM remote.dated;
IMPORT FOREIGN SCHEMA remote LIMIT TO (dated_wide) FROM SERVER loopback INTO public;
SELECT compared('SELECT * FROM dated_wide') AS read, explained('SELECT * FROM dated_wide', 'Binary Fetches')::int > 0 AS binary;
DROP FOREIGN TABLE dated_wide;
SET tollfree_postgres_fdw.binary_results = off;
SELECT compared('SELECT * FROM dated');
RESET tollfree_postgres_fdw.binary_results;

-- both ways are required, and both can be turned off
SET tollfree_postgres_fdw.debug_require = 'direct';
SELECT count(length(pad)) FROM long WHERE kept_here(n) > 0;
SELECT count(*) FROM (SELECT FROM long WHERE kept_here(n) > 0 LIMIT 5) x;
RESET tollfree_postgres_fdw.debug_require;
SET tollfree_postgres_fdw.direct_results = off;
SELECT compared('SELECT * FROM long') ~ '^long cursor [0-9]+$' AS cursor;
RESET tollfree_postgres_fdw.direct_results;
DROP FOREIGN TABLE long, tens, dated, failing, received;
DROP FOREIGN TABLE far.long, far.tens;
DROP SCHEMA far;
DROP TABLE picked, nothing;
DROP FUNCTION ways, compared, rows_since, kept_here, asks, tries, leaves;
