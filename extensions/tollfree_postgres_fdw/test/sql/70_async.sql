-- Scans on several servers at the same time.
DO $$
BEGIN
	FOR i IN 1..2 LOOP
		EXECUTE format('CREATE SERVER async_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, async_capable ''true'')',
					   i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER async_%s OPTIONS (password_required ''false'')', i);
	END LOOP;
END
$$;

-- Each of two views waits until the other is being read.
CREATE TABLE remote.patience (looks int);
INSERT INTO remote.patience VALUES (6000);
CREATE FUNCTION remote.meet(me int, other int) RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(7, me);
	FOR i IN 1..(SELECT looks FROM remote.patience) LOOP
		IF EXISTS (SELECT FROM pg_locks
				   WHERE locktype = 'advisory' AND classid = 7 AND objid = other) THEN
			RETURN me;
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RAISE EXCEPTION '% is alone', me;
END
$$;
CREATE VIEW remote.guest_1 AS SELECT remote.meet(1, 2) AS guest, n FROM generate_series(1, 3) n;
CREATE VIEW remote.guest_2 AS SELECT remote.meet(2, 1) AS guest, n FROM generate_series(1, 3) n;
CREATE TABLE guests (guest int, n int) PARTITION BY LIST (guest);
CREATE FOREIGN TABLE guest_1 PARTITION OF guests FOR VALUES IN (1)
	SERVER async_1 OPTIONS (schema_name 'remote', fetch_size '2');
CREATE FOREIGN TABLE guest_2 PARTITION OF guests FOR VALUES IN (2)
	SERVER async_2 OPTIONS (schema_name 'remote', fetch_size '2');

EXPLAIN (COSTS OFF) SELECT * FROM guests;
WITH met AS MATERIALIZED (SELECT * FROM guests) SELECT * FROM met ORDER BY 1, 2;
SELECT count(*) FROM guests;
BEGIN;
SELECT count(*) FROM guests;
WITH met AS MATERIALIZED (SELECT * FROM guests) SELECT * FROM met ORDER BY 1, 2;
COMMIT;
SET tollfree_postgres_fdw.direct_results = off;
WITH met AS MATERIALIZED (SELECT * FROM guests) SELECT * FROM met ORDER BY 1, 2;
RESET tollfree_postgres_fdw.direct_results;

-- one after the other they do not meet, once the locks of those before are gone
SET tollfree_postgres_fdw.unawaited_commit = off;
SELECT count(*) FROM guests;
UPDATE remote.patience SET looks = 5;
SET enable_async_append = off;
SELECT * FROM guests;
RESET enable_async_append;
RESET tollfree_postgres_fdw.unawaited_commit;

-- an error of one server while the other is busy
UPDATE remote.patience SET looks = 6000;
CREATE VIEW remote.broken AS SELECT 3 AS guest, 1 / (n - 2) AS n FROM generate_series(1, 3) n;
CREATE FOREIGN TABLE broken PARTITION OF guests FOR VALUES IN (3)
	SERVER async_2 OPTIONS (schema_name 'remote');
SELECT * FROM guests WHERE guest IN (1, 3);
DROP FOREIGN TABLE broken;
SELECT count(*) FROM guests;

-- several scans on one session take turns
CREATE TABLE remote.shards (part int, n int, fill text);
INSERT INTO remote.shards
SELECT i % 4, i, repeat('x', 1 + i % 50) FROM generate_series(1, 4000) i;
CREATE TABLE shards (part int, n int, fill text) PARTITION BY LIST (part);
CREATE TABLE shards_local PARTITION OF shards FOR VALUES IN (9);
INSERT INTO shards VALUES (9, 1, 'here'), (9, 2, 'here');
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE VIEW remote.shards_%s AS SELECT * FROM remote.shards WHERE part = %s', i, i);
		EXECUTE format('CREATE FOREIGN TABLE shards_%s PARTITION OF shards FOR VALUES IN (%s) SERVER async_%s OPTIONS (schema_name ''remote'')',
					   i, i, 1 + i % 2);
	END LOOP;
END
$$;
CREATE VIEW checks AS
SELECT count(*), sum(n), max(length(fill)) FROM shards;
CREATE FUNCTION check_all(direct bool) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('tollfree_postgres_fdw.direct_results', direct::text, true);
	RETURN QUERY SELECT c::text FROM checks c;
	-- an early end
	RETURN QUERY SELECT count(*)::text FROM (SELECT * FROM shards LIMIT 700) l;
	-- two Appends on the same sessions
	RETURN QUERY SELECT count(*)::text FROM shards a JOIN shards b USING (n);
	-- a rescan with another parameter, and one without
	RETURN QUERY SELECT string_agg(l.count::text, ' ')
		FROM generate_series(1, 3) g,
			LATERAL (SELECT count(*) FROM shards WHERE n % g = 0 AND length(fill) > g) l;
	RETURN QUERY SELECT count(*)::text
		FROM generate_series(1, 3) g, LATERAL (SELECT g FROM shards OFFSET 0) l;
	-- a filter that is local and asks the same servers
	RETURN QUERY SELECT count(*)::text FROM shards a
		WHERE n <= 20 AND (SELECT count(*) FROM shards b WHERE b.n = a.n AND b.part < 9) = 1;
	-- with writes in between
	INSERT INTO shards VALUES (0, -1, 'new');
	RETURN QUERY SELECT c::text FROM checks c;
	DELETE FROM shards WHERE n = -1;
	RETURN QUERY SELECT c::text FROM checks c;
END
$$;
SET enable_async_append = off;
CREATE TEMP TABLE expected AS SELECT * FROM check_all(true) WITH ORDINALITY;
RESET enable_async_append;
DISCARD PLANS;
EXPLAIN (COSTS OFF) SELECT * FROM checks;
SELECT * FROM expected;
SELECT * FROM check_all(true) WITH ORDINALITY EXCEPT SELECT * FROM expected;
SELECT * FROM check_all(false) WITH ORDINALITY EXCEPT SELECT * FROM expected;
SET work_mem = '64kB';
SELECT * FROM check_all(true) WITH ORDINALITY EXCEPT SELECT * FROM expected;
RESET work_mem;
ANALYZE shards_0, shards_1, shards_2, shards_3;
DISCARD PLANS;
SELECT * FROM check_all(true) WITH ORDINALITY EXCEPT SELECT * FROM expected;
SELECT * FROM check_all(false) WITH ORDINALITY EXCEPT SELECT * FROM expected;

CREATE FUNCTION count_rest(name refcursor) RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	shard record;
	rest int := 0;
BEGIN
	LOOP
		FETCH name INTO shard;
		EXIT WHEN NOT FOUND;
		rest := rest + 1;
	END LOOP;
	RETURN rest;
END
$$;

-- local cursors, and savepoints while answers are in the air
BEGIN;
DECLARE c CURSOR FOR SELECT n FROM shards;
MOVE 10 FROM c;
SAVEPOINT a;
MOVE 10 FROM c;
SELECT count(*) FROM shards WHERE n < 10;
ROLLBACK TO a;
SELECT count_rest('c');
CLOSE c;
COMMIT;
BEGIN;
DECLARE c CURSOR FOR SELECT n FROM shards;
SAVEPOINT a;
MOVE 10 FROM c;
INSERT INTO shards VALUES (1, -1, 'lost');
RELEASE a;
SAVEPOINT a;
INSERT INTO shards VALUES (2, -1, 'lost');
ROLLBACK TO a;
SELECT count_rest('c');
ROLLBACK;
-- a transaction begins once, also where nothing of its beginning has been read,
-- so its cursors go with the savepoint
CREATE VIEW remote.open_cursors AS SELECT name FROM pg_cursors WHERE name ~ '^c[0-9]';
CREATE FOREIGN TABLE open_1 (name text) SERVER async_1
	OPTIONS (schema_name 'remote', table_name 'open_cursors');
CREATE FOREIGN TABLE open_2 (name text) SERVER async_2
	OPTIONS (schema_name 'remote', table_name 'open_cursors');
CREATE VIEW remote.uneven_late AS SELECT 2 AS part, pg_sleep(0.5)::text;
CREATE TABLE uneven (part int, pg_sleep text) PARTITION BY LIST (part);
CREATE FOREIGN TABLE uneven_early PARTITION OF uneven FOR VALUES IN (0)
	SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE uneven_late PARTITION OF uneven FOR VALUES IN (2)
	SERVER async_2 OPTIONS (schema_name 'remote');
CREATE VIEW remote.uneven_early AS SELECT 0 AS part, ''::text AS pg_sleep FROM generate_series(1, 5);
SET tollfree_postgres_fdw.direct_results = off;
BEGIN;
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT * FROM uneven;
MOVE 1 FROM c;
DELETE FROM shards_1 WHERE n = 0;
ROLLBACK TO a;
SET LOCAL tollfree_postgres_fdw.direct_results = on;
SELECT (SELECT count(*) FROM open_1), (SELECT count(*) FROM open_2);
ROLLBACK;
RESET tollfree_postgres_fdw.direct_results;
DROP TABLE uneven;
BEGIN;
DECLARE c CURSOR FOR SELECT n FROM shards;
MOVE 10 FROM c;
COMMIT;
SELECT * FROM checks;
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT n FROM shards;
MOVE 10 FROM c;
COMMIT;
SELECT count_rest('c');
CLOSE c;
