-- UPDATE and DELETE of a foreign table joined with local rows: its rows are looked up, all of them before the first one is modified.
CREATE SCHEMA plain;
CREATE TABLE plain.ledger (id int PRIMARY KEY, k int, v int, twice int GENERATED ALWAYS AS (v * 2) STORED, note text);
INSERT INTO plain.ledger (id, k, v) SELECT i, i % 500, i FROM generate_series(1, 20000) i;
CREATE INDEX ON plain.ledger (k);
CREATE TABLE remote.ledger (LIKE plain.ledger INCLUDING ALL);
INSERT INTO remote.ledger (id, k, v) SELECT id, k, v FROM plain.ledger;
CREATE VIEW plain.part_of AS SELECT * FROM plain.ledger WHERE v < 15000 WITH CHECK OPTION;
VACUUM ANALYZE remote.ledger, plain.ledger;
IMPORT FOREIGN SCHEMA remote LIMIT TO (ledger) FROM SERVER loopback INTO public;
CREATE VIEW part_of AS SELECT * FROM ledger WHERE v < 15000 WITH CHECK OPTION;
CREATE TABLE bookings AS SELECT i AS n, i * 97 % 21000 AS id, i % 3 AS k FROM generate_series(1, 200) i;
ANALYZE bookings, ledger;
-- 15 writes the operands of an equality in the other order
SELECT regexp_replace("QUERY PLAN", '\(([^( ]+) = id\)', '(id = \1)') AS plan
FROM shown_plan('UPDATE ledger l SET v = b.n FROM bookings b WHERE l.id = b.id', 'VERBOSE, COSTS OFF');
SELECT shown_plan('DELETE FROM ledger WHERE id IN (SELECT n FROM bookings)');
-- Executes a statement on the foreign table and on a local one with the same rows: how many rows are modified, how many remote ones are
-- locked, how often is the server waited for (unless it depends on how fast many rows are written), and are the rows the same afterwards?
CREATE FUNCTION writes(statement text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	waited int8 := round_trips_since(0);
	here int;
	there int;
	locked int;
	differ int;
BEGIN
	EXECUTE statement;
	GET DIAGNOSTICS here = ROW_COUNT;
	waited := round_trips_since(waited);
	locked := (SELECT count(*) FROM remote.ledger) - (SELECT count(*) FROM (SELECT FROM remote.ledger FOR UPDATE SKIP LOCKED) l);
	PERFORM set_config('search_path', 'plain, public', true);
	EXECUTE statement;
	GET DIAGNOSTICS there = ROW_COUNT;
	PERFORM set_config('search_path', 'public', true);
	SELECT count(*) INTO differ FROM (SELECT * FROM ledger EXCEPT ALL SELECT * FROM plain.ledger) d;
	RETURN format('%s rows, %s locked, %s round trips', here, locked, CASE WHEN locked < 1000 THEN waited END)
		|| CASE WHEN here <> there THEN ', WRONG: ' || there || ' rows' ELSE '' END
		|| CASE WHEN differ <> 0 THEN ', WRONG: ' || differ || ' differ' ELSE '' END;
END
$$;
-- the same in a transaction that is rolled back
CREATE PROCEDURE try_writes(statement text)
LANGUAGE plpgsql
AS $$
DECLARE
	told text := writes(statement);
BEGIN
	ROLLBACK;
	RAISE NOTICE '%', told;
END
$$;
\set VERBOSITY terse
SET tollfree_postgres_fdw.batched_lookups = off;
CALL try_writes('UPDATE ledger l SET v = b.n FROM bookings b WHERE l.id = b.id');
RESET tollfree_postgres_fdw.batched_lookups;
CALL try_writes('UPDATE ledger l SET v = b.n FROM bookings b WHERE l.id = b.id');
CALL try_writes('DELETE FROM ledger l USING bookings b WHERE l.id = b.id');
CALL try_writes('UPDATE ledger l SET v = b.n FROM bookings b WHERE l.id = b.id AND l.k = b.k');
CALL try_writes('UPDATE ledger SET v = -v WHERE id IN (SELECT id FROM bookings)');
CALL try_writes('DELETE FROM ledger l WHERE EXISTS (SELECT FROM bookings b WHERE b.id = l.id AND b.n > 100)');
CALL try_writes('UPDATE ledger l SET v = 0, note = b.n FROM bookings b WHERE l.id = b.id AND upper(b.n::text) <> l.v::text');
-- none
CALL try_writes('UPDATE ledger l SET v = b.n FROM bookings b WHERE l.id = -b.n');
-- a local row is found twice, and so is a remote one; a remote row is modified once
CALL try_writes('UPDATE ledger l SET v = 0 FROM (SELECT id FROM bookings UNION ALL SELECT id FROM bookings) b WHERE l.id = b.id');
CALL try_writes('DELETE FROM ledger l USING bookings b WHERE l.k = b.k');
-- over several batches, too: a row that has been modified is not found by another key
SET enable_hashjoin = off;
SET enable_mergejoin = off;
CALL try_writes('UPDATE ledger l SET k = l.k + 1 FROM (SELECT i % 11000 AS k FROM generate_series(1, 12000) i) b WHERE l.k = b.k AND l.id <= 2000');
CALL try_writes('UPDATE ledger l SET id = l.id + 100000 FROM (SELECT 1 + i % 15000 AS id FROM generate_series(1, 16000) i) b WHERE l.id = b.id AND l.id <= 3000');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- a queue: the oldest rows of the foreign table itself
CALL try_writes('DELETE FROM ledger WHERE id IN (SELECT id FROM ledger ORDER BY v, id LIMIT 30)');
CALL try_writes('DELETE FROM ledger WHERE id IN (SELECT id FROM ledger ORDER BY v, id LIMIT 30 FOR UPDATE SKIP LOCKED)');
CALL try_writes('UPDATE ledger l SET v = 0 FROM (SELECT id FROM ledger WHERE k < 5 ORDER BY id LIMIT 30 FOR UPDATE) q WHERE l.id = q.id');
-- by the result of a subquery it is one remote command
CALL try_writes('UPDATE ledger SET v = 0 WHERE id = (SELECT max(id) FROM bookings WHERE id < 20000)');
CALL try_writes('DELETE FROM ledger WHERE id = ANY (ARRAY(SELECT id FROM bookings))');
-- in WITH
CALL try_writes('WITH gone AS (DELETE FROM ledger l USING bookings b WHERE l.id = b.id RETURNING l.v) INSERT INTO bookings (n) SELECT v FROM gone');
-- a view's check
CALL try_writes('UPDATE part_of p SET v = p.v + b.n FROM bookings b WHERE p.id = b.id AND p.v < 14000');
CALL try_writes('UPDATE part_of p SET v = 20000 FROM bookings b WHERE p.id = b.id');
-- rows that a function may change in between are not looked up; those that a subquery has locked may look up; as many keys as the table has rows
-- would cost more than these
SELECT statement, (SELECT bool_or("QUERY PLAN" LIKE '%Lookups Before Writes%') FROM shown_plan(statement)) AS looked_up
FROM unnest(ARRAY[
	'UPDATE ledger l SET v = b.n * random() FROM bookings b WHERE l.id = b.id',
	'DELETE FROM ledger WHERE id IN (SELECT n FROM bookings LIMIT 20 FOR UPDATE)',
	'UPDATE ledger l SET v = 0 FROM generate_series(1, 2000) i WHERE l.id = i',
	'UPDATE ledger l SET v = 0 FROM generate_series(1, 20000) i WHERE l.id = i'
	]) AS statement;
-- RETURNING, and triggers
BEGIN;
UPDATE ledger l SET v = b.n FROM bookings b WHERE l.id = b.id AND b.n < 4 RETURNING l.*, b.n;
DELETE FROM ledger l USING bookings b WHERE l.id = b.id AND b.n < 4 RETURNING l, b;
ROLLBACK;
CREATE TRIGGER shown BEFORE UPDATE OR DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION show_row();
BEGIN;
UPDATE ledger l SET v = -1 FROM bookings b WHERE l.id = b.id AND b.n < 3;
DELETE FROM ledger WHERE id IN (SELECT id FROM bookings WHERE n = 1);
ROLLBACK;
DROP TRIGGER shown ON ledger;
-- rows of remote partitions, whose ctids are the same
CREATE TABLE remote.branches (id int, part int, v int) PARTITION BY LIST (part);
CREATE TABLE remote.branches_0 PARTITION OF remote.branches FOR VALUES IN (0);
CREATE TABLE remote.branches_1 PARTITION OF remote.branches FOR VALUES IN (1);
INSERT INTO remote.branches SELECT i, i % 2, i FROM generate_series(1, 4000) i;
CREATE INDEX ON remote.branches (id);
ANALYZE remote.branches;
CREATE FOREIGN TABLE branches (id int, part int, v int) SERVER loopback OPTIONS (schema_name 'remote');
ANALYZE branches;
SELECT regexp_replace("QUERY PLAN", '\(([^( ]+) = id\)', '(id = \1)') AS plan
FROM shown_plan('UPDATE branches s SET v = -b.n FROM bookings b WHERE s.id = b.id', 'VERBOSE, COSTS OFF');
UPDATE branches s SET v = -b.n FROM bookings b WHERE s.id = b.id;
SELECT count(*), sum(s.v) = sum(-b.n) AS right FROM remote.branches s LEFT JOIN bookings b ON b.id = s.id WHERE s.v < 0;
DELETE FROM branches WHERE id IN (SELECT n FROM bookings WHERE n <= 50);
SELECT count(*), count(*) FILTER (WHERE id <= 50) AS wrong FROM remote.branches;
\set VERBOSITY default
DROP FOREIGN TABLE branches;
DROP TABLE remote.branches;
DROP VIEW part_of;
DROP FOREIGN TABLE ledger;
DROP TABLE remote.ledger, bookings;
DROP SCHEMA plain CASCADE;
