-- Statements kept prepared on the remote server, and what makes them stale.
SELECT tollfree_postgres_fdw_disconnect_all();
SET statement_timeout = '20s';
CREATE FUNCTION cached_since(INOUT hits int8, INOUT misses int8, INOUT evictions int8)
LANGUAGE sql
RETURN (SELECT ROW(statement_hits - $1, statement_misses - $2, statement_evictions - $3)
		FROM tollfree_postgres_fdw_statistics()
		WHERE server_name = 'loopback');
CREATE TABLE remote.shape (id int PRIMARY KEY, v int);
INSERT INTO remote.shape SELECT i, i FROM generate_series(1, 20) i;
CREATE FOREIGN TABLE shape (id int, v text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'shape');
SELECT * FROM shape WHERE id = 1;
SELECT hits AS h, misses AS m, evictions AS e, round_trips AS f
FROM cached_since(0, 0, 0), round_trips_since(0) AS round_trips \gset

-- once, prepared, reused; each is one flight
SELECT v FROM shape WHERE id = 2;
SELECT v FROM shape WHERE id = 2;
SELECT v FROM shape WHERE id = 2;
SELECT v FROM shape WHERE id = 2;
SELECT * FROM cached_since(:h, :m, :e);
SELECT round_trips_since(:f);

-- texts that do not come again are not prepared; constants make no other text
CREATE VIEW remote.statements AS
SELECT regexp_replace(name, '_[0-9a-f]{8}_', '_NUMBER_') AS name, statement
FROM pg_prepared_statements WHERE name ~ '^tollfree_[0-9a-f]{8}_s\d';
CREATE FOREIGN TABLE statements (name text, statement text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'statements');
SELECT v FROM shape WHERE id < 2;
SELECT v FROM shape WHERE id > 19;
SELECT * FROM statements;

-- parameters: eight executions of one text
PREPARE by_id(int) AS SELECT v FROM shape WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
SET tollfree_postgres_fdw.statement_cache_size = 2;
EXECUTE by_id(1);
EXECUTE by_id(2);
SET tollfree_postgres_fdw.debug_require = 'cached, direct, unawaited_commit';
EXECUTE by_id(3);
EXECUTE by_id(NULL);
EXECUTE by_id(5);
EXECUTE by_id(6);
EXECUTE by_id(7);
EXECUTE by_id(8);
SELECT v FROM shape WHERE id * 2 = 4;
RESET tollfree_postgres_fdw.debug_require;

-- the table changes behind the connection's back
ALTER TABLE remote.shape ALTER v TYPE text USING 'text ' || v;
EXECUTE by_id(1);
EXECUTE by_id(2);
ALTER TABLE remote.shape ADD w int;
EXECUTE by_id(3);
DROP TABLE remote.shape;
\set VERBOSITY terse
EXECUTE by_id(4);
\set VERBOSITY default
CREATE TABLE remote.shape (v numeric, id int);
INSERT INTO remote.shape VALUES (5.50, 5);
EXECUTE by_id(5);
EXECUTE by_id(5);
EXECUTE by_id(5);

-- inside a transaction a stale statement must do no harm
BEGIN;
INSERT INTO shape VALUES (6, '6.6');
EXECUTE by_id(6);
COMMIT;
ALTER TABLE remote.shape ALTER v TYPE text;
BEGIN;
INSERT INTO shape VALUES (7, 'seven');
EXECUTE by_id(7);
EXECUTE by_id(7);
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
EXECUTE by_id(7);
COMMIT;
BEGIN;
SAVEPOINT s;
EXECUTE by_id(7);
ROLLBACK TO s;
SAVEPOINT s;
EXECUTE by_id(7);
EXECUTE by_id(5);
COMMIT;
SELECT * FROM remote.shape ORDER BY id;

-- the same for a modification
PREPARE change(int, text) AS UPDATE shape SET v = $2 WHERE id = $1 RETURNING v;
EXECUTE change(5, 'a');
EXECUTE change(5, 'b');
EXECUTE change(5, 'c');
ALTER TABLE remote.shape ALTER v TYPE varchar;
EXECUTE change(5, 'd');
SELECT * FROM remote.shape WHERE id = 5;

-- a remote trigger drops the session's statements, with those for transactions;
-- the connection that replaces the session's prepares none
CREATE FUNCTION remote.deallocate() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN EXECUTE 'DEALLOCATE ALL'; RETURN NEW; END $$;
CREATE TRIGGER deallocate BEFORE UPDATE ON remote.shape
FOR EACH ROW WHEN (NEW.v = 'deallocate') EXECUTE FUNCTION remote.deallocate();
UPDATE shape SET v = 'deallocate' WHERE id = 5;
EXECUTE by_id(5);
EXECUTE change(5, 'e');
EXECUTE by_id(5);
SELECT count(*) FROM statements;
SELECT tollfree_postgres_fdw_disconnect('loopback');
UPDATE shape SET v = 'deallocate' WHERE id = 5;
BEGIN ISOLATION LEVEL SERIALIZABLE;
EXECUTE by_id(5);
COMMIT;
SELECT tollfree_postgres_fdw_disconnect('loopback');
INSERT INTO shape VALUES (8, 'a');
INSERT INTO shape VALUES (8, 'b');
INSERT INTO shape VALUES (8, 'c');
UPDATE shape SET v = 'deallocate' WHERE id = 5;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO shape VALUES (8, 'd');
SELECT v FROM shape WHERE id = 8 ORDER BY v;
COMMIT;
SELECT tollfree_postgres_fdw_disconnect('loopback');

-- settings
SET tollfree_postgres_fdw.statement_cache_size = 1;
SELECT v FROM shape WHERE id = 7;
SELECT v FROM shape WHERE id = 7;
SELECT count(*) FROM statements;
SET tollfree_postgres_fdw.statement_cache_size = 0;
SELECT v FROM shape WHERE id = 7;
SELECT count(*) FROM statements;
SET tollfree_postgres_fdw.debug_require = 'cached';
SELECT v FROM shape WHERE id = 7;
SET tollfree_postgres_fdw.debug_require = 'direct';
SET tollfree_postgres_fdw.direct_results = off;
SELECT v FROM shape WHERE id = 7;
RESET tollfree_postgres_fdw.direct_results;
SET tollfree_postgres_fdw.debug_require = 'unawaited_commit';
UPDATE shape SET v = 'lost' WHERE id = 7;
RESET tollfree_postgres_fdw.debug_require;
SELECT v FROM shape WHERE id = 7;
SET tollfree_postgres_fdw.debug_require = 'faster';
SET tollfree_postgres_fdw.debug_require = 'direct cached';
RESET tollfree_postgres_fdw.statement_cache_size;

-- EXPLAIN says how; without VERBOSE it says what postgres_fdw says
EXPLAIN (COSTS OFF) SELECT v FROM shape WHERE id = 7;
EXPLAIN (COSTS OFF, VERBOSE) SELECT v FROM shape WHERE id = 7;
EXPLAIN (COSTS OFF, VERBOSE) SELECT v FROM shape WHERE id = 7 FOR UPDATE;
EXPLAIN (COSTS OFF, VERBOSE) UPDATE shape SET v = 'x' WHERE id = 7;
CREATE FUNCTION explained(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE, ANALYZE, TIMING OFF, SUMMARY OFF) ' || query LOOP
		CONTINUE WHEN line ~ 'Buffers:|Planning:|Output:|Remote SQL:';
		RETURN NEXT regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
	END LOOP;
END
$$;
SELECT explained('SELECT v FROM shape WHERE id = 7');
SELECT explained('SELECT v FROM shape WHERE id = 7');
SELECT explained('SELECT v FROM shape WHERE id = 7');
SELECT explained('SELECT i FROM items i FOR UPDATE LIMIT 3');
SELECT explained('UPDATE shape SET v = upper(v) WHERE id = 7');
-- rows that are returned count, too
SELECT explained('UPDATE shape SET v = v WHERE id IN (7, 8) RETURNING id, v');
SELECT explained('INSERT INTO shape (id, v) SELECT 900 + i, NULL FROM generate_series(1, 2) i RETURNING id, v');
DELETE FROM shape WHERE id > 900;

-- the counters
SELECT server_name, connects, round_trips > 0 AS round_trips, rows > 0 AS rows,
	   bytes_received > 0 AS received, statement_evictions, unawaited_commits > 0 AS unawaited
FROM tollfree_postgres_fdw_statistics() WHERE server_name = 'loopback';

-- a string without a type is read anew each time
CREATE TYPE remote.mood AS ENUM ('happy', 'sad');
CREATE TABLE remote.moods (id int, feeling remote.mood);
INSERT INTO remote.moods VALUES (1, 'happy'), (2, 'sad');
CREATE FOREIGN TABLE moods (id int, feeling text) SERVER loopback OPTIONS (schema_name 'remote');
SELECT id FROM moods WHERE feeling = 'happy';
SELECT id FROM moods WHERE feeling = 'happy';
SELECT id FROM moods WHERE feeling = 'happy';
ALTER TYPE remote.mood RENAME VALUE 'happy' TO 'glad';
SELECT id FROM moods WHERE feeling = 'happy';
ALTER TYPE remote.mood RENAME VALUE 'sad' TO 'happy';
SELECT id FROM moods WHERE feeling = 'happy';
SELECT id FROM moods WHERE 'glad' = feeling;
SELECT id FROM moods WHERE 'glad' = feeling;
ALTER TYPE remote.mood RENAME VALUE 'glad' TO 'merry';
SELECT id FROM moods WHERE 'glad' = feeling;
DELETE FROM moods WHERE feeling = 'happy';
SELECT * FROM remote.moods;
DROP FOREIGN TABLE moods;

-- nor may a label of an enum be kept, wherever it is written
ALTER EXTENSION tollfree_postgres_fdw ADD TYPE remote.mood;
-- its array comes along from PostgreSQL 17 on
DO $$
BEGIN
	ALTER EXTENSION tollfree_postgres_fdw ADD TYPE remote.mood[];
EXCEPTION WHEN OTHERS THEN
	NULL;
END
$$;
ALTER SERVER loopback OPTIONS (ADD extensions 'tollfree_postgres_fdw');
CREATE FOREIGN TABLE moods (id int, feeling remote.mood) SERVER loopback
	OPTIONS (schema_name 'remote');
TRUNCATE remote.moods;
INSERT INTO remote.moods VALUES (1, 'happy'), (2, 'merry');
PREPARE one_of AS SELECT id FROM moods WHERE feeling IN ('happy', 'merry') ORDER BY id;
PREPARE other_than AS SELECT id FROM moods WHERE feeling IS DISTINCT FROM 'merry';
PREPARE delete_of AS DELETE FROM moods WHERE feeling IN ('happy', 'merry') AND id > 2;
EXECUTE one_of;
EXECUTE one_of;
EXECUTE one_of;
EXECUTE other_than;
EXECUTE other_than;
EXECUTE other_than;
EXECUTE delete_of;
EXECUTE delete_of;
EXECUTE delete_of;
ALTER TYPE remote.mood RENAME VALUE 'merry' TO 'glad';
UPDATE remote.moods SET id = id + 2;
EXECUTE one_of;
EXECUTE other_than;
EXECUTE delete_of;
SELECT * FROM remote.moods ORDER BY id;
DEALLOCATE one_of;
DEALLOCATE other_than;
DEALLOCATE delete_of;
ALTER SERVER loopback OPTIONS (DROP extensions);
ALTER EXTENSION tollfree_postgres_fdw DROP TYPE remote.mood;
DO $$
BEGIN
	ALTER EXTENSION tollfree_postgres_fdw DROP TYPE remote.mood[];
EXCEPTION WHEN OTHERS THEN
	NULL;
END
$$;
DROP FOREIGN TABLE moods;
DROP TABLE remote.moods;
DROP TYPE remote.mood;
DROP FOREIGN TABLE shape, statements;
RESET statement_timeout;

-- each connection has names of its own: where a pooler hands one session another's connection, a name is
-- unknown, and never another statement's
CREATE VIEW remote.own_names AS SELECT DISTINCT substring(name, '^tollfree_[0-9a-f]{8}') AS prefix
FROM pg_prepared_statements WHERE name LIKE 'tollfree%';
CREATE FOREIGN TABLE own_names (prefix text) SERVER loopback OPTIONS (schema_name 'remote');
SELECT prefix AS first FROM own_names \gset
SELECT tollfree_postgres_fdw_disconnect('loopback');
SELECT count(*), bool_and(prefix <> :'first') AS differ FROM own_names;
DROP FOREIGN TABLE own_names;
DROP VIEW remote.own_names;
