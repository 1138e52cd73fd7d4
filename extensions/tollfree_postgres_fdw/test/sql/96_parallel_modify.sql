-- UPDATE and DELETE of partitions that several servers execute at a time.
DO $$
BEGIN
	FOR i IN 0..2 LOOP
		EXECUTE format('CREATE SERVER parcel_server_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER parcel_server_%s OPTIONS (password_required ''false'')', i);
	END LOOP;
	FOR i IN 0..5 LOOP
		EXECUTE format('CREATE TABLE remote.parcels_%s (id int PRIMARY KEY, weight numeric CHECK (weight < 1000000), at_work int)', i);
	END LOOP;
END
$$;
CREATE TABLE parcels (id int, weight numeric, at_work int) PARTITION BY LIST ((id % 7));
DO $$
BEGIN
	FOR i IN 0..5 LOOP
		EXECUTE format('CREATE FOREIGN TABLE parcels_%s PARTITION OF parcels FOR VALUES IN (%s) SERVER parcel_server_%s OPTIONS (schema_name ''remote'')', i, i, i % 3);
	END LOOP;
END
$$;
CREATE TABLE parcels_6 PARTITION OF parcels FOR VALUES IN (6);
INSERT INTO parcels SELECT i, i, NULL FROM generate_series(1, 70) i;
-- The servers' triggers see how many of them are at work, and wait for as many as they are told.
CREATE TABLE remote.awaited (workers int);
INSERT INTO remote.awaited VALUES (1);
CREATE FUNCTION remote.count_workers() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog
AS $$
DECLARE
	key int8 := 1000 + right(tg_table_name, 1)::int % 3;
	workers int;
BEGIN
	PERFORM pg_advisory_xact_lock(key);
	FOR i IN 1..1000 LOOP
		SELECT count(DISTINCT objid) FROM pg_locks WHERE locktype = 'advisory' AND objid BETWEEN 1000 AND 1002 AND objsubid = 1 INTO workers;
		EXIT WHEN workers >= (SELECT a.workers FROM remote.awaited a);
		PERFORM pg_sleep(0.01);
	END LOOP;
	NEW.at_work := workers;
	RETURN NEW;
END
$$;
DO $$
BEGIN
	FOR i IN 0..5 LOOP
		EXECUTE format('CREATE TRIGGER t BEFORE UPDATE ON remote.parcels_%s FOR EACH ROW EXECUTE FUNCTION remote.count_workers()', i);
	END LOOP;
END
$$;
-- By default one server works after the other: the first is alone.
UPDATE parcels SET weight = weight + 1 WHERE id % 7 IN (0, 1, 2) AND id IN (21, 22, 23);
SELECT id, weight, at_work FROM parcels WHERE id IN (21, 22, 23) ORDER BY id;
-- All work at a time if their owner allows it.
ALTER SERVER parcel_server_0 OPTIONS (ADD parallel_modify 'true');
ALTER SERVER parcel_server_1 OPTIONS (ADD parallel_modify 'true');
ALTER SERVER parcel_server_2 OPTIONS (ADD parallel_modify 'true');
UPDATE remote.awaited SET workers = 3;
UPDATE parcels SET weight = weight + 1 WHERE id % 7 IN (0, 1, 2) AND id IN (21, 22, 23);
SELECT id, weight, at_work FROM parcels WHERE id IN (21, 22, 23) ORDER BY id;
-- Each server has two partitions here.
EXPLAIN (VERBOSE, COSTS OFF) UPDATE parcels SET weight = weight * 2 WHERE id % 7 IN (0, 1, 2, 3, 4, 5) AND id < 20;
UPDATE parcels SET weight = weight * 2 WHERE id % 7 IN (0, 1, 2, 3, 4, 5) AND id < 20;
SELECT id, weight, at_work FROM parcels WHERE id < 22 ORDER BY id;
-- Parameters: of the statement, of an expression that is computed once, and of one that reads a partition.
PREPARE heavier(int, int) AS UPDATE parcels SET weight = weight + $1 WHERE id % 7 IN (0, 1, 2) AND id < $2;
EXECUTE heavier(100, 20);
SET plan_cache_mode = force_generic_plan;
EXECUTE heavier(100, 20);
RESET plan_cache_mode;
UPDATE remote.awaited SET workers = 1;
UPDATE parcels SET weight = (SELECT max(weight) FROM parcels_6) WHERE id % 7 IN (0, 1, 2) AND id > 65;
UPDATE parcels SET weight = (SELECT sum(weight) FROM parcels) WHERE id % 7 IN (0, 1, 2) AND id > 67;
SELECT id, weight FROM parcels WHERE id % 7 IN (0, 1, 2) AND (id < 20 OR id > 60) ORDER BY id;
-- How many rows a statement says; RETURNING
DO $$
DECLARE
	written int8;
BEGIN
	UPDATE parcels SET weight = 1 WHERE id % 7 IN (0, 1, 2) AND id > 50;
	GET DIAGNOSTICS written = ROW_COUNT;
	RAISE INFO '% rows', written;
	DELETE FROM parcels WHERE id % 7 IN (3, 4, 5) AND id > 50;
	GET DIAGNOSTICS written = ROW_COUNT;
	RAISE INFO '% rows', written;
END
$$;
UPDATE parcels SET weight = 2 WHERE id % 7 IN (0, 1, 2) AND id > 60 RETURNING id, weight;
-- The error is that of the first partition that fails; nothing stays.
\set VERBOSITY terse
UPDATE parcels SET weight = CASE WHEN id IN (23, 22) THEN 1e6 ELSE 0 END WHERE id % 7 IN (0, 1, 2);
UPDATE parcels SET weight = CASE WHEN id = 23 THEN 1e6 ELSE 0 END WHERE id % 7 IN (0, 1, 2);
\set VERBOSITY default
SELECT count(*), sum(weight) FROM parcels WHERE id % 7 IN (0, 1, 2);
-- In a subtransaction, whose rollback undoes the statement everywhere
BEGIN;
UPDATE parcels SET weight = weight + 1000 WHERE id % 7 IN (0, 1, 2);
SAVEPOINT s;
DELETE FROM parcels WHERE id % 7 IN (0, 1, 2, 3, 4, 5);
SELECT count(*) FROM parcels;
ROLLBACK TO s;
DO $$
BEGIN
	UPDATE parcels SET weight = CASE WHEN id = 22 THEN 1e6 ELSE 0 END WHERE id % 7 IN (0, 1, 2);
EXCEPTION WHEN check_violation THEN
	RAISE INFO '%', sqlerrm;
END
$$;
SELECT count(*), sum(weight) FROM parcels WHERE id % 7 IN (0, 1, 2);
COMMIT;
SELECT count(*), sum(weight) FROM parcels WHERE id % 7 IN (0, 1, 2);
-- A local partition among them has the servers work one after the other; so has a table's option.
UPDATE remote.awaited SET workers = 1;
UPDATE parcels SET weight = 5 WHERE id BETWEEN 21 AND 27;
SELECT id, weight, at_work FROM parcels WHERE id BETWEEN 21 AND 27 ORDER BY id;
ALTER FOREIGN TABLE parcels_1 OPTIONS (ADD parallel_modify 'false');
UPDATE parcels SET weight = 6 WHERE id % 7 IN (0, 1, 2) AND id IN (21, 22, 23);
SELECT id, weight, at_work FROM parcels WHERE id IN (21, 22, 23) ORDER BY id;
ALTER FOREIGN TABLE parcels_1 OPTIONS (DROP parallel_modify);
-- With ON CONFLICT, rows that are inserted are awaited one by one unless that is allowed.
TRUNCATE parcels_0, parcels_1, parcels_2;
CREATE FUNCTION insert_parcels() RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	waited int8;
	written int8;
BEGIN
	SELECT sum(round_trips) FROM tollfree_postgres_fdw_get_connections() INTO waited;
	INSERT INTO parcels SELECT i, 1, NULL FROM generate_series(1, 70) i WHERE i % 7 < 3 ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS written = ROW_COUNT;
	RETURN format('%s rows, %s round trips', written,
				  (SELECT sum(round_trips) - coalesce(waited, 0) FROM tollfree_postgres_fdw_get_connections()));
END
$$;
SELECT insert_parcels();
SELECT insert_parcels();
ALTER SERVER parcel_server_0 OPTIONS (SET parallel_modify 'false');
ALTER SERVER parcel_server_1 OPTIONS (SET parallel_modify 'false');
ALTER SERVER parcel_server_2 OPTIONS (SET parallel_modify 'false');
SELECT count(*) FROM parcels;
SELECT insert_parcels();
ALTER SERVER parcel_server_2 OPTIONS (SET parallel_modify 'perhaps');
