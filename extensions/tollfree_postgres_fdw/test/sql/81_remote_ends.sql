-- What the remote server ends by itself, or refuses at the end.
SET client_min_messages = warning;
CREATE VIEW remote.much AS SELECT i AS n, repeat('x', 1000) AS pad FROM generate_series(1, 5000) i;

-- Its statement_timeout does not run while rows wait for somebody to read them.
SELECT server_options() || $$, options '-c statement_timeout=2s'$$ AS timed \gset
CREATE SERVER timed FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:timed);
CREATE USER MAPPING FOR PUBLIC SERVER timed OPTIONS (password_required 'false');
CREATE FOREIGN TABLE much_timed (n int, pad text) SERVER timed OPTIONS (schema_name 'remote', table_name 'much');
CREATE FOREIGN TABLE much (n int, pad text) SERVER loopback OPTIONS (schema_name 'remote');
\set QUIET off
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM much_timed;
MOVE 700 FROM c;
SELECT pg_sleep(2.5) IS NULL AS slept;
MOVE ALL FROM c;
COMMIT;
\set QUIET on
CREATE FUNCTION fetches_ahead(query text) RETURNS bool
LANGUAGE sql
RETURN explained(query, 'Fetches Ahead')::int > 0;
SET tollfree_postgres_fdw.direct_results = off;
SELECT fetches_ahead('SELECT * FROM much') AS ahead, fetches_ahead('SELECT * FROM much_timed') AS ahead_timed;
RESET tollfree_postgres_fdw.direct_results;
-- nor would it leave a stream the time that its reader takes
SELECT explained('SELECT * FROM much', 'Fetch Method') AS method, explained('SELECT * FROM much_timed', 'Fetch Method') AS timed;
-- nor would it leave rows the time that they wait in an asynchronous Append
CREATE TABLE much_twice (n int, pad text, part int) PARTITION BY LIST (part);
CREATE VIEW remote.much_1 AS SELECT *, 1 AS part FROM remote.much;
CREATE VIEW remote.much_2 AS SELECT *, 2 AS part FROM remote.much;
ALTER SERVER timed OPTIONS (ADD async_capable 'true');
CREATE SERVER timed_too FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:timed, async_capable 'true');
CREATE USER MAPPING FOR PUBLIC SERVER timed_too OPTIONS (password_required 'false');
CREATE FOREIGN TABLE much_1 PARTITION OF much_twice FOR VALUES IN (1) SERVER timed OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE much_2 PARTITION OF much_twice FOR VALUES IN (2) SERVER timed_too OPTIONS (schema_name 'remote');
\set QUIET off
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM much_twice;
MOVE 600 FROM c;
SELECT pg_sleep(2.5) IS NULL AS slept;
MOVE ALL FROM c;
COMMIT;
\set QUIET on
DROP SERVER timed, timed_too CASCADE;

-- What it cancels it cancels for who uses its rows, not for an exception block that begins meanwhile.
-- (of short rows 10, 100 and 1000 are fetched; the last ones are asked for when the others have come)
CREATE VIEW remote.cancelled AS
SELECT n, 'x' AS pad FROM generate_series(1, 1000) n
WHERE CASE n WHEN 140 THEN pg_cancel_backend(pg_backend_pid()) ELSE true END;
CREATE FOREIGN TABLE cancelled (n int, pad text) SERVER loopback OPTIONS (schema_name 'remote', fetch_size '10');
SET tollfree_postgres_fdw.direct_results = off;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM cancelled;
MOVE 50 FROM c;
DO $$
BEGIN
	PERFORM 1;
	RAISE WARNING 'still here';
EXCEPTION WHEN OTHERS THEN
	RAISE WARNING 'in the block: %', SQLERRM;
END
$$;
MOVE ALL FROM c;
ROLLBACK;
RESET tollfree_postgres_fdw.direct_results;

-- A write that is cancelled leaves no statement prepared.
CREATE TABLE remote.sluggish (n int CHECK (CASE n WHEN 3 THEN pg_sleep(60) IS NOT NULL ELSE true END));
CREATE FOREIGN TABLE sluggish (n int) SERVER loopback OPTIONS (schema_name 'remote');
SET statement_timeout = '300ms';
INSERT INTO sluggish SELECT g FROM generate_series(1, 5) g;
INSERT INTO sluggish SELECT g FROM generate_series(1, 5) g;
RESET statement_timeout;
SELECT n FROM prepared;

-- A COMMIT that nobody waits for can fail where a remote function writes further on.
CREATE TABLE remote.farthest (n int UNIQUE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO remote.farthest VALUES (1);
CREATE FOREIGN TABLE remote.further (n int) SERVER loopback OPTIONS (schema_name 'remote', table_name 'farthest');
CREATE FUNCTION remote.note_further(int) RETURNS int LANGUAGE sql VOLATILE
AS 'INSERT INTO remote.further VALUES ($1) RETURNING n';
CREATE VIEW remote.noted AS SELECT remote.note_further(n) AS n FROM (VALUES (1)) v (n);
CREATE FOREIGN TABLE noted (n int) SERVER loopback OPTIONS (schema_name 'remote');
SELECT n FROM noted;
SELECT count(*) FROM items WHERE id = 1;
SET tollfree_postgres_fdw.unawaited_commit = off;
SELECT n FROM noted;
RESET tollfree_postgres_fdw.unawaited_commit;
SELECT count(*) FROM remote.farthest;

DROP FOREIGN TABLE much, cancelled, sluggish, noted, remote.further;
DROP FUNCTION fetches_ahead;
RESET client_min_messages;
