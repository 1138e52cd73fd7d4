-- What the sessions of all backends have done.  The scope differs by major, and by how the library
-- is loaded; what is counted does not.
DO $$
BEGIN
	EXECUTE format('CREATE SERVER counted FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR CURRENT_USER SERVER counted OPTIONS (password_required 'false');
CREATE TABLE remote.counted (id int PRIMARY KEY, label text);
INSERT INTO remote.counted SELECT i, repeat('x', 100) FROM generate_series(1, 5000) i;
CREATE FOREIGN TABLE counted (id int, label text) SERVER counted OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE counted_again (id int, label text) SERVER counted OPTIONS (schema_name 'remote', table_name 'counted');
CREATE VIEW counts AS
SELECT connects, reconnects AS again, round_trips AS trips, rows, statement_hits AS hits, statement_misses AS misses,
	statement_evictions AS evictions, repeats, unawaited_commits AS unawaited, autocommit_scans AS autocommit, spills, errors
FROM pg_stat_tollfree_postgres_fdw WHERE server_name = 'counted';

SELECT tollfree_postgres_fdw_reset_statistics();
SELECT count(*) FROM pg_stat_tollfree_postgres_fdw;

-- one row for the user, with names
SELECT id FROM counted WHERE id = 7;
SELECT * FROM counts;
SELECT datname = current_database() AS database, server_name, user_name = current_user AS "user",
	bytes_received, bytes_sent, stats_reset BETWEEN now() - interval '1 hour' AND now() AS recently, scope IN ('server', 'session') AS scoped
FROM pg_stat_tollfree_postgres_fdw WHERE server_name = 'counted';

-- statements kept, their stale repetition, an error
SELECT id FROM counted WHERE id = 8;
SELECT id FROM counted WHERE id = 9;
ALTER TABLE remote.counted ALTER id TYPE bigint;
SELECT id FROM counted WHERE id = 9;
INSERT INTO counted VALUES (7);
SELECT * FROM counts;

-- nothing is added before the transaction's end, also if that is a rollback
BEGIN;
SELECT count(*) FROM counted WHERE id < 3;
CREATE TEMP TABLE before AS SELECT * FROM counts;
COMMIT;
SELECT n.trips - b.trips AS trips, n.rows - b.rows AS rows FROM counts n, before b;
BEGIN;
UPDATE counted SET label = 'none' WHERE id = 1;
ROLLBACK;
SELECT n.trips - b.trips AS trips, n.rows - b.rows AS rows, n.unawaited - b.unawaited AS unawaited FROM counts n, before b;

-- a result that is put aside for another one, beyond work_mem and within it
ANALYZE counted;
CREATE FUNCTION again(int) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM counted_again WHERE id = $1); END';
BEGIN;
SET LOCAL work_mem = '64kB';
SELECT count(label), sum(CASE id % 1000 WHEN 0 THEN again(id) END) FROM counted;
COMMIT;
SELECT spills FROM counts;
SELECT count(label), sum(CASE id % 1000 WHEN 0 THEN again(id) END) FROM counted;
SELECT spills FROM counts;
-- no row is put aside for its size alone, as one of the size of a file
CREATE VIEW remote.counted_large AS SELECT id, repeat(label, 100000) AS label FROM remote.counted;
CREATE FOREIGN TABLE counted_large (id int, label text) SERVER counted OPTIONS (schema_name 'remote');
DO $$DECLARE pad text; BEGIN SELECT label INTO pad FROM counted_large WHERE id = 1; RAISE NOTICE '% bytes', length(pad); END$$;
SELECT length(label || random()) > 10000000 AS large FROM counted_large WHERE id = 1;
SELECT spills FROM counts;

-- a connection that is lost between two transactions
SELECT pg_terminate_backend(remote_backend_pid, 10000) FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'counted';
SELECT id FROM counted WHERE id = 10;
SELECT connects, again FROM counts;

-- what is anybody's, and what is not
CREATE ROLE regress_tollfree_reader;
SET ROLE regress_tollfree_reader;
SELECT server_name, connects FROM pg_stat_tollfree_postgres_fdw WHERE server_name = 'counted';
SELECT tollfree_postgres_fdw_reset_statistics();
RESET ROLE;

-- the row of a mapping that is dropped stays; that of a server has no name then
DROP USER MAPPING FOR CURRENT_USER SERVER counted;
SELECT connects FROM counts;
CREATE USER MAPPING FOR PUBLIC SERVER counted OPTIONS (password_required 'false');
SELECT id FROM counted WHERE id = 11;
SELECT userid = 0 AS public, user_name = current_user AS own, connects FROM pg_stat_tollfree_postgres_fdw
WHERE server_name = 'counted' ORDER BY 1;
SELECT serverid AS counted FROM pg_stat_tollfree_postgres_fdw WHERE server_name = 'counted' LIMIT 1 \gset
DROP SERVER counted CASCADE;
SELECT count(*), count(server_name), count(datname) FROM pg_stat_tollfree_postgres_fdw WHERE serverid = :counted;
SELECT tollfree_postgres_fdw_reset_statistics();
SELECT count(*) FROM pg_stat_tollfree_postgres_fdw;

DROP ROLE regress_tollfree_reader;
DROP VIEW counts;
DROP FUNCTION again;
DROP VIEW remote.counted_large;
DROP TABLE remote.counted, before;
