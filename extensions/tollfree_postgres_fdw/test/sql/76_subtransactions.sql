-- What is in the air, held back or lost while subtransactions begin and end.
SELECT tollfree_postgres_fdw_disconnect_all();
CREATE TABLE remote.events (n int);
-- A remote query of `tardy` does not answer while a lock is held here.
CREATE FUNCTION remote.wait_for_release() RETURNS void LANGUAGE plpgsql COST 1
AS $$
BEGIN
	PERFORM pg_advisory_lock_shared(76), pg_advisory_unlock_shared(76);
END
$$;
\set hold 'DO $$BEGIN PERFORM pg_advisory_lock(76); END$$;'
\set release 'DO $$BEGIN PERFORM pg_advisory_unlock(76); END$$;'
CREATE VIEW remote.tardy AS SELECT 1 AS part, n FROM remote.wait_for_release(), generate_series(1, 3) n;
CREATE VIEW remote.prompt AS SELECT 2 AS part, n FROM generate_series(1, 3) n;
CREATE FOREIGN TABLE events (n int) SERVER async_1 OPTIONS (schema_name 'remote');
CREATE TABLE parts (part int, n int) PARTITION BY LIST (part);
CREATE FOREIGN TABLE tardy PARTITION OF parts FOR VALUES IN (1)
	SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE prompt PARTITION OF parts FOR VALUES IN (2)
	SERVER async_2 OPTIONS (schema_name 'remote');

-- a savepoint that is released before the remote server has said that it is there
:hold
BEGIN;
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT * FROM parts;
FETCH 1 FROM c;
RELEASE a;
:release
INSERT INTO events VALUES (1);
SAVEPOINT b;
INSERT INTO events VALUES (2);
ROLLBACK TO b;
COMMIT;
SELECT * FROM remote.events;
SET tollfree_postgres_fdw.direct_results = off;
:hold
BEGIN;
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT * FROM parts;
FETCH 1 FROM c;
RELEASE a;
SAVEPOINT b;
:release
INSERT INTO events VALUES (3);
ROLLBACK TO b;
\set QUIET off
MOVE ALL FROM c;
\set QUIET on
COMMIT;
SELECT * FROM remote.events;

-- rows that are read ahead in another subtransaction than their scan's
CREATE VIEW remote.long_rows AS SELECT i AS n, repeat('x', 1000) AS pad FROM generate_series(1, 3000) i;
CREATE FOREIGN TABLE long_rows (n int, pad text) SERVER loopback OPTIONS (schema_name 'remote');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM long_rows;
SAVEPOINT a;
\set QUIET off
MOVE 200 FROM c;
ROLLBACK TO a;
MOVE ALL FROM c;
COMMIT;
BEGIN;
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT * FROM long_rows;
MOVE 1 FROM c;
RELEASE a;
SAVEPOINT b;
MOVE 200 FROM c;
ROLLBACK TO b;
MOVE ALL FROM c;
COMMIT;
\set QUIET on
RESET tollfree_postgres_fdw.direct_results;

-- a connection that is lost, and cannot be replaced in a subtransaction
CREATE FUNCTION cut() RETURNS bool
LANGUAGE sql
RETURN (SELECT pg_terminate_backend(remote_backend_pid, 20000)
		FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback');
CREATE FUNCTION tries(n int) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN n > 0;
EXCEPTION
	WHEN division_by_zero THEN
		RETURN false;
END
$$;
CREATE DOMAIN tried AS int CHECK (tries(VALUE));
CREATE FOREIGN TABLE events_here (n int) SERVER loopback OPTIONS (schema_name 'remote', table_name 'events');
CREATE TEMP TABLE here_only (n int);
\set VERBOSITY sqlstate
-- a scan, a write of one row, rows that are held back
SELECT id FROM items WHERE id = 1;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id = 1;
SELECT cut();
SAVEPOINT a;
ALTER SERVER loopback OPTIONS (SET port '1');
SELECT id FROM items WHERE id = 2;
ROLLBACK TO a;
FETCH c;
COMMIT;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id = 1;
SELECT cut();
SAVEPOINT a;
ALTER SERVER loopback OPTIONS (SET port '1');
UPDATE items SET label = 'x' WHERE id = 2;
ROLLBACK TO a;
INSERT INTO events_here VALUES (4);
FETCH c;
COMMIT;
SELECT * FROM remote.events;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id = 1;
SELECT cut();
SAVEPOINT a;
ALTER SERVER loopback OPTIONS (SET port '1');
INSERT INTO events_here SELECT g::tried FROM generate_series(5, 6) g;
ROLLBACK TO a;
INSERT INTO here_only VALUES (1);
FETCH c;
COMMIT;
BEGIN;
SAVEPOINT a;
INSERT INTO here_only VALUES (2);
COMMIT;
SELECT * FROM here_only;
SELECT * FROM remote.events;
-- nor afterwards
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id = 1;
SELECT cut();
SAVEPOINT a;
ALTER SERVER loopback OPTIONS (SET port '1');
SELECT id FROM items WHERE id = 2;
ROLLBACK TO a;
COMMIT;
SELECT id FROM items WHERE id = 3;
\set VERBOSITY default

-- the same twice, below a command that goes on
CREATE FUNCTION fails_to_reconnect() RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE 'ALTER SERVER loopback OPTIONS (SET port ''1'')';
	PERFORM id FROM items WHERE id = 2;
	RETURN 0;
EXCEPTION
	WHEN sqlclient_unable_to_establish_sqlconnection THEN
		RETURN 1;
END
$$;
CREATE FUNCTION fails_twice() RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM cut();
	RETURN 100 + fails_to_reconnect() + fails_to_reconnect();
END
$$;
INSERT INTO events_here VALUES (fails_twice());
SELECT * FROM remote.events;
SELECT id FROM items WHERE id = 3;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items WHERE id = 1;
SELECT fails_twice();
UPDATE events_here SET n = n + 1 WHERE n = 102;
FETCH c;
COMMIT;
SELECT * FROM remote.events;

-- rows held back while there is no connection
CREATE FUNCTION meddles(n int) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	IF n % 10 = 1 THEN
		PERFORM cut(), fails_to_reconnect();
	ELSIF n = 12 THEN
		BEGIN
			PERFORM id FROM items WHERE id = 2;
			RAISE EXCEPTION 'taken back';
		EXCEPTION
			WHEN raise_exception THEN
				NULL;
		END;
	ELSIF n = 22 THEN
		RAISE EXCEPTION 'broken' USING ERRCODE = 'internal_error';
	END IF;
	RETURN true;
END
$$;
CREATE DOMAIN meddling AS int CHECK (meddles(VALUE));
INSERT INTO events_here SELECT i::meddling FROM generate_series(11, 13) i;
SELECT * FROM remote.events;
BEGIN;
SAVEPOINT a;
INSERT INTO events_here SELECT i::meddling FROM generate_series(21, 23) i;
ROLLBACK TO a;
SELECT id FROM items WHERE id = 2;
COMMIT;
SELECT * FROM remote.events;

-- rows that ask their own server when they are put aside
CREATE FUNCTION looks(n int) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	IF n > 102 AND n % 50 = 0 THEN
		PERFORM id FROM items WHERE id = 1;
	END IF;
	RETURN true;
END
$$;
CREATE DOMAIN looking AS int CHECK (looks(VALUE));
CREATE FOREIGN TABLE long_rows_looking (n looking, pad text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'long_rows');
SET work_mem = '64kB';
SET tollfree_postgres_fdw.direct_results = off;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM long_rows_looking;
\set QUIET off
MOVE 102 FROM c;
SELECT id FROM items WHERE id = 2;
MOVE ALL FROM c;
\set QUIET on
COMMIT;
RESET tollfree_postgres_fdw.direct_results;
RESET work_mem;

-- What is in the air when a subtransaction begins is not waited for, nor is it touched
-- when one that has not used its connection is rolled back.
CREATE FUNCTION is_held() RETURNS bool LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..1000 LOOP
		IF EXISTS (SELECT FROM pg_locks l JOIN tollfree_postgres_fdw_get_connections() c ON l.pid = c.remote_backend_pid
				   WHERE server_name = 'async_1' AND locktype = 'advisory' AND NOT granted) THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.01);
	END LOOP;
	RETURN false;
END
$$;
:hold
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM parts;
FETCH 1 FROM c;
SAVEPOINT a;
SELECT id FROM items WHERE id = 1;
ROLLBACK TO a;
SAVEPOINT b;
RELEASE b;
SELECT is_held();
:release
\set QUIET off
MOVE ALL FROM c;
\set QUIET on
COMMIT;
-- One that uses the connection reads it first, for the cursor.
:hold
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM parts;
FETCH 1 FROM c;
SAVEPOINT a;
:release
INSERT INTO events VALUES (1000);
ROLLBACK TO a;
:hold
SET LOCAL statement_timeout = '20s';
\set QUIET off
MOVE ALL FROM c;
\set QUIET on
COMMIT;
-- Should that be interrupted, the level that it was for has lost it.
BEGIN;
INSERT INTO events VALUES (1001);
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT * FROM parts;
FETCH 1 FROM c;
SAVEPOINT b;
SET LOCAL statement_timeout = '200ms';
INSERT INTO events VALUES (1002);
ROLLBACK TO b;
SELECT * FROM events WHERE n > 1000;
ROLLBACK TO b;
FETCH 1 FROM c;
ROLLBACK TO b;
:release
FETCH ALL FROM c;
ROLLBACK TO a;
SELECT * FROM events WHERE n > 1000;
COMMIT;
-- A cursor that fails in a subtransaction leaves what was sent for it to nobody.
CREATE FUNCTION are_transactions_over() RETURNS bool LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..100 LOOP
		IF NOT EXISTS (SELECT FROM pg_stat_activity a JOIN tollfree_postgres_fdw_get_connections() c ON a.pid = c.remote_backend_pid
					   WHERE a.state <> 'idle' AND a.pid <> pg_backend_pid()) THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
	END LOOP;
	RETURN false;
END
$$;
SET work_mem = '64kB';
:hold
BEGIN;
DECLARE c CURSOR FOR SELECT 1 / (n - 2) FROM parts;
FETCH 1 FROM c;
SAVEPOINT a;
FETCH 1 FROM c;
ROLLBACK TO a;
:release
COMMIT;
SELECT are_transactions_over();
:hold
BEGIN;
DECLARE c CURSOR FOR SELECT 1 / (n - 2) FROM parts;
FETCH 1 FROM c;
SAVEPOINT a;
FETCH 1 FROM c;
ROLLBACK TO a;
:release
INSERT INTO events VALUES (1003);
CLOSE c;
SELECT * FROM events WHERE n > 1000;
COMMIT;
SELECT * FROM remote.events WHERE n > 1000;
-- also where its rows are read ahead, and more than memory is to hold
SET tollfree_postgres_fdw.direct_results = off;
BEGIN;
DECLARE c CURSOR FOR SELECT 1 / (n - 305) FROM long_rows WHERE pad <> '';
MOVE 300 FROM c;
SAVEPOINT a;
MOVE 10 FROM c;
ROLLBACK TO a;
INSERT INTO events_here VALUES (1004);
CLOSE c;
SELECT n FROM events_here WHERE n > 1003;
COMMIT;
SELECT are_transactions_over();
RESET tollfree_postgres_fdw.direct_results;
RESET work_mem;
DROP FUNCTION are_transactions_over, is_held;

DROP FOREIGN TABLE long_rows_looking;
DROP DOMAIN looking, meddling;
DROP FUNCTION fails_twice, fails_to_reconnect, looks, meddles;
DROP FOREIGN TABLE events, events_here, long_rows;
DROP TABLE parts;
DROP DOMAIN tried;
DROP FUNCTION cut, tries;
DROP VIEW remote.tardy, remote.prompt, remote.long_rows;
DROP FUNCTION remote.wait_for_release;
DROP TABLE remote.events;
