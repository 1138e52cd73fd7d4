-- What remote transactions come to when something fails.
SET tollfree_postgres_fdw.cleanup_timeout = '20s';
SHOW tollfree_postgres_fdw.cleanup_timeout;

-- a COMMIT that nobody waited for fails: nothing was lost with it
CREATE FUNCTION remote.fails_at_commit() RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE 'DECLARE held CURSOR WITH HOLD FOR SELECT 1 / (i - 2) FROM generate_series(1, 3) i';
	RETURN 1;
END
$$;
CREATE VIEW remote.doomed AS SELECT remote.fails_at_commit() AS n;
CREATE FOREIGN TABLE doomed (n int) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'doomed');
SELECT tollfree_postgres_fdw_disconnect_all() IS NOT NULL AS done;
SELECT * FROM doomed;
SELECT label FROM items WHERE id = 4;
SELECT * FROM doomed;
BEGIN;
UPDATE items SET label = 'kept' WHERE id = 4;
SELECT label FROM items WHERE id = 4;
COMMIT;
SELECT label FROM items WHERE id = 4;
UPDATE items SET label = 'item 4' WHERE id = 4;

-- nor is anything lost with it when an interrupt has its answer read by a subtransaction that is rolled back
CREATE FUNCTION remote.commits_slowly() RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE 'DECLARE held CURSOR WITH HOLD FOR SELECT pg_sleep(2)';
	RETURN 1;
END
$$;
CREATE VIEW remote.lingering AS SELECT remote.commits_slowly() AS n;
CREATE FOREIGN TABLE lingering (n int) SERVER loopback OPTIONS (schema_name 'remote');
SELECT * FROM lingering;
BEGIN;
SAVEPOINT a;
SET LOCAL statement_timeout = '200ms';
\set VERBOSITY sqlstate
SET LOCAL client_min_messages = error;
SELECT count(*) FROM items;
ROLLBACK TO a;
\set VERBOSITY default
RELEASE a;
UPDATE items SET label = 'not lost' WHERE id = 4;
SAVEPOINT b;
UPDATE items SET label = 'not lost either' WHERE id = 5;
COMMIT;
SELECT id, label FROM items WHERE id IN (4, 5) ORDER BY id;
UPDATE items SET label = 'item ' || id WHERE id IN (4, 5);

-- one that is waited for aborts the local transaction
SET tollfree_postgres_fdw.unawaited_commit = off;
CREATE TABLE here (n int);
BEGIN;
INSERT INTO here VALUES (1);
SELECT * FROM doomed;
COMMIT;
SELECT * FROM here;
RESET tollfree_postgres_fdw.unawaited_commit;

-- so does a deferred constraint
CREATE TABLE remote.parents (id int PRIMARY KEY);
CREATE TABLE remote.children (
	id int REFERENCES remote.parents DEFERRABLE INITIALLY DEFERRED
);
CREATE FOREIGN TABLE children (id int) SERVER loopback OPTIONS (schema_name 'remote');
BEGIN;
INSERT INTO here VALUES (1);
INSERT INTO children VALUES (7);
COMMIT;
INSERT INTO children VALUES (8);
SELECT * FROM here;
SELECT * FROM children;

-- and one of a third server, to which a trigger passes on what is inserted, so that no row is
DO $$
BEGIN
	EXECUTE format('CREATE SERVER third_here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER third_here OPTIONS (password_required 'false');
CREATE TABLE remote.passed_on (id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO remote.passed_on VALUES (1);
CREATE FOREIGN TABLE remote.passing (id int) SERVER third_here OPTIONS (schema_name 'remote', table_name 'passed_on');
CREATE TABLE remote.inbox (id int);
CREATE FUNCTION remote.pass_on() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO remote.passing VALUES (NEW.id);
	RETURN NULL;
END
$$;
CREATE TRIGGER pass_on BEFORE INSERT ON remote.inbox FOR EACH ROW EXECUTE FUNCTION remote.pass_on();
CREATE FOREIGN TABLE inbox (id int) SERVER loopback OPTIONS (schema_name 'remote');
BEGIN;
INSERT INTO inbox VALUES (1);
SELECT count(*) FROM inbox;
INSERT INTO here VALUES (1);
\set VERBOSITY terse
COMMIT;
\set VERBOSITY default
SELECT * FROM here;
SET client_min_messages = warning;
DROP SERVER third_here CASCADE;
RESET client_min_messages;
DROP FOREIGN TABLE inbox;

-- one in rows that are read ahead, met when a subtransaction begins
-- (of short rows 10, 100 and 1000 are fetched; the last ones are asked for when the others have come)
CREATE VIEW remote.late AS
SELECT 'x' AS pad, 1 / (i - 400) AS q FROM generate_series(1, 1000) i;
CREATE FOREIGN TABLE late (pad text, q int) SERVER loopback OPTIONS (schema_name 'remote', fetch_size '10');
CREATE FUNCTION cautious(n int) RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN n;
EXCEPTION
	WHEN division_by_zero THEN
		RETURN -1;
END
$$;
SET tollfree_postgres_fdw.direct_results = off;
DELETE FROM here;
SELECT count(cautious(length(pad))) FROM late WHERE q IS NOT NULL;
DO $$
BEGIN
	INSERT INTO here VALUES (1);
	BEGIN
		PERFORM count(cautious(length(pad))) FROM late WHERE q IS NOT NULL;
	EXCEPTION
		WHEN division_by_zero THEN
			RAISE NOTICE 'caught: %', SQLERRM;
	END;
	INSERT INTO here SELECT count(*) FROM items WHERE id < 3;
END
$$;
TABLE here;
-- (one whose rows have been asked for, and come behind those of another server)
CREATE VIEW remote.early AS SELECT 'x' AS pad, 1 AS q FROM generate_series(1, 100);
CREATE VIEW remote.later AS SELECT 'x' AS pad, 1 / (i - 1) AS q FROM generate_series(1, 1) i WHERE pg_sleep(0.3) IS NOT NULL;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER early_here FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER early_here OPTIONS (password_required 'false');
CREATE FOREIGN TABLE early (pad text, q int) SERVER early_here OPTIONS (schema_name 'remote', async_capable 'true');
CREATE FOREIGN TABLE later (pad text, q int) SERVER loopback OPTIONS (schema_name 'remote', async_capable 'true');
CREATE VIEW in_time AS SELECT * FROM early UNION ALL SELECT * FROM later;
-- met at a savepoint it is raised at every use until what it happened in is gone
BEGIN;
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
SAVEPOINT b;
UPDATE items SET label = 'lost' WHERE id = 4;
ROLLBACK TO b;
UPDATE items SET label = 'lost' WHERE id = 4;
ROLLBACK TO a;
UPDATE items SET label = 'kept' WHERE id = 4;
SAVEPOINT b;
UPDATE items SET label = 'lost' WHERE id = 4;
ROLLBACK TO b;
COMMIT;
SELECT label FROM items WHERE id = 4;
-- or at the end
BEGIN;
UPDATE items SET label = 'lost' WHERE id = 4;
INSERT INTO here VALUES (2);
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
SAVEPOINT a;
RELEASE a;
CLOSE c;
COMMIT;
TABLE here;
-- then no other server has committed, either
CREATE TABLE remote.elsewhere (n int);
DO $$
BEGIN
	FOR i IN 1..3 LOOP
		EXECUTE format('CREATE SERVER other_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER other_%s OPTIONS (password_required ''false'')', i);
		EXECUTE format('CREATE FOREIGN TABLE elsewhere_%s (n int) SERVER other_%1$s OPTIONS (schema_name ''remote'', table_name ''elsewhere'')', i);
	END LOOP;
END
$$;
CREATE FOREIGN TABLE late_elsewhere (pad text, q int) SERVER other_3 OPTIONS (schema_name 'remote', table_name 'late', fetch_size '10');
CREATE FOREIGN TABLE later_elsewhere (pad text, q int) SERVER other_3 OPTIONS (schema_name 'remote', table_name 'later', async_capable 'true');
BEGIN;
INSERT INTO elsewhere_1 VALUES (1);
INSERT INTO elsewhere_2 VALUES (2);
DECLARE c CURSOR FOR SELECT pad FROM (SELECT * FROM early UNION ALL SELECT * FROM later_elsewhere) x WHERE q IS NOT NULL;
MOVE 50 FROM c;
SAVEPOINT a;
SELECT count(*) FROM elsewhere_3;
ROLLBACK TO a;
COMMIT;
TABLE remote.elsewhere;
-- nor if the remote transaction is known to have failed
BEGIN;
INSERT INTO elsewhere_1 VALUES (1);
INSERT INTO elsewhere_2 VALUES (2);
DECLARE c CURSOR FOR SELECT q FROM late_elsewhere;
MOVE 1 FROM c;
SAVEPOINT a;
MOVE ALL FROM c;
ROLLBACK TO a;
COMMIT;
TABLE remote.elsewhere;
SET client_min_messages = warning;
DROP SERVER other_1, other_2, other_3 CASCADE;
RESET client_min_messages;
-- or at whatever else comes next: a command, the cursor's end, a COMMIT without it
UPDATE items SET label = 'item 4' WHERE id = 4;
BEGIN;
UPDATE items SET label = 'lost' WHERE id = 4;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
SELECT count(*) FROM items;
COMMIT;
BEGIN;
UPDATE items SET label = 'lost' WHERE id = 4;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
CLOSE c;
COMMIT;
BEGIN;
UPDATE items SET label = 'lost' WHERE id = 4;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
COMMIT;
SELECT count(length(pad)) FROM (SELECT pad FROM in_time WHERE q IS NOT NULL AND random() >= 0 LIMIT 50) x;
SELECT label FROM items WHERE id = 4;
-- not where what it happened in is rolled back
BEGIN;
UPDATE items SET label = 'lost' WHERE id = 4;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
ROLLBACK;
BEGIN;
UPDATE items SET label = 'kept' WHERE id = 4;
SAVEPOINT a;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
ROLLBACK TO a;
SELECT label FROM items WHERE id = 4;
DECLARE c CURSOR FOR SELECT pad FROM in_time WHERE q IS NOT NULL;
MOVE 50 FROM c;
SAVEPOINT b;
ROLLBACK TO a;
COMMIT;
SELECT label FROM items WHERE id = 4;
UPDATE items SET label = 'item 4' WHERE id = 4 RETURNING (SELECT count(*) FROM here);
SET client_min_messages = warning;
DROP SERVER early_here CASCADE;
RESET client_min_messages;
RESET tollfree_postgres_fdw.direct_results;

-- a server that is changed or dropped while it is used
BEGIN;
SELECT label FROM items WHERE id = 4;
ALTER SERVER loopback OPTIONS (ADD application_name 'changed');
SELECT valid, used_in_xact FROM tollfree_postgres_fdw_get_connections()
WHERE server_name = 'loopback';
SELECT label FROM items WHERE id = 4;
COMMIT;
SELECT count(*) FROM tollfree_postgres_fdw_get_connections()
WHERE server_name = 'loopback';
BEGIN;
UPDATE items SET label = 'lost' WHERE id = 4;
ALTER SERVER loopback OPTIONS (DROP application_name);
ROLLBACK;
SELECT label FROM items WHERE id = 4;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER passing FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)',
				   server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER passing OPTIONS (password_required 'false');
CREATE FOREIGN TABLE passing_items (id int) SERVER passing
	OPTIONS (schema_name 'remote', table_name 'children');
BEGIN;
INSERT INTO remote.parents VALUES (9);
COMMIT;
BEGIN;
INSERT INTO passing_items VALUES (9);
DROP USER MAPPING FOR PUBLIC SERVER passing;
DROP SERVER passing CASCADE;
COMMIT;
SELECT * FROM children;

-- rollbacks at several servers
DO $$
BEGIN
	IF current_setting('server_version_num')::int >= 160000 THEN
		ALTER SERVER async_1 OPTIONS (ADD parallel_abort 'true');
		ALTER SERVER async_2 OPTIONS (ADD parallel_abort 'true');
	END IF;
END
$$;
ALTER SERVER async_1 OPTIONS (ADD parallel_commit 'true');
ALTER SERVER async_2 OPTIONS (ADD parallel_commit 'true');
BEGIN;
INSERT INTO shards VALUES (0, -2, ''), (1, -2, ''), (9, -2, '');
SAVEPOINT a;
INSERT INTO shards VALUES (0, -3, ''), (1, -3, ''), (9, -3, '');
ROLLBACK TO a;
SELECT part, n FROM shards WHERE n < 0 ORDER BY part, n;
COMMIT;
SELECT part, n FROM shards WHERE n < 0 ORDER BY part, n;
BEGIN;
DELETE FROM shards WHERE n < 0;
ROLLBACK;
BEGIN;
DELETE FROM shards WHERE n < 0;
SELECT 1 / 0;
COMMIT;
DELETE FROM shards WHERE n < 0;
SELECT count(*) FROM shards;

-- a remote query is cancelled with the local one
CREATE VIEW remote.sleeping AS SELECT pg_sleep(600)::text AS slept;
CREATE FOREIGN TABLE sleeping (slept text) SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FUNCTION slow_queries() RETURNS bigint
LANGUAGE sql
RETURN (SELECT count(*) FROM pg_stat_activity
		WHERE state = 'active' AND query LIKE '%remote.sleeping%' AND pid <> pg_backend_pid());
SET statement_timeout = '200ms';
SELECT * FROM sleeping;
RESET statement_timeout;
BEGIN;
INSERT INTO shards VALUES (0, -4, '');
SAVEPOINT a;
SET LOCAL statement_timeout = '200ms';
SELECT * FROM sleeping;
ROLLBACK TO a;
SELECT part, n FROM shards WHERE n < 0;
ROLLBACK;
SELECT slow_queries();
SELECT count(*) FROM shards;

-- so is a write, with more on its way than is executed; or it is lost with its connection
CREATE TABLE remote.tedious (n int PRIMARY KEY, pad text);
CREATE FUNCTION remote.dawdle() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN IF NEW.n % 500 = 0 THEN PERFORM pg_sleep(0.1); END IF; RETURN NEW; END $$;
CREATE TRIGGER dawdle BEFORE INSERT ON remote.tedious FOR EACH ROW EXECUTE FUNCTION remote.dawdle();
CREATE FOREIGN TABLE tedious (n int, pad text) SERVER loopback OPTIONS (schema_name 'remote');
BEGIN;
INSERT INTO tedious VALUES (-1, 'kept');
SAVEPOINT a;
SET LOCAL statement_timeout = '1s';
INSERT INTO tedious SELECT i, repeat('x', 1000) FROM generate_series(1, 50000) i;
ROLLBACK TO a;
SELECT count(*) FROM tedious;
INSERT INTO tedious SELECT i, repeat('x', 1000) FROM generate_series(1, 1000) i;
COMMIT;
SELECT count(*) FROM tedious;
CREATE FUNCTION cuts(n int) RETURNS bool LANGUAGE plpgsql
AS $$
BEGIN
	IF n = 15000 THEN
		PERFORM pg_terminate_backend(remote_backend_pid, 20000)
		FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback';
	END IF;
	RETURN true;
END
$$;
CREATE DOMAIN cutting AS int CHECK (cuts(VALUE));
\set VERBOSITY sqlstate
INSERT INTO tedious SELECT i::cutting, repeat('x', 1000) FROM generate_series(10001, 16000) i;
\set VERBOSITY default
SELECT count(*) FROM tedious;
DROP FOREIGN TABLE tedious;
DROP DOMAIN cutting;
DROP FUNCTION cuts;

-- a server that does not end what it does takes no time from another one
CREATE FUNCTION remote.deaf() RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..4 LOOP
		BEGIN
			PERFORM pg_sleep(1);
		EXCEPTION WHEN query_canceled THEN
		END;
	END LOOP;
	RETURN 1;
END
$$;
CREATE VIEW remote.deaf AS SELECT remote.deaf() AS n;
CREATE FOREIGN TABLE deaf_1 (n int) SERVER async_1 OPTIONS (schema_name 'remote', table_name 'deaf');
CREATE FOREIGN TABLE deaf_2 (n int) SERVER async_2 OPTIONS (schema_name 'remote', table_name 'deaf');
CREATE FOREIGN TABLE healthy_1 (id int) SERVER async_1 OPTIONS (schema_name 'remote', table_name 'items');
CREATE FOREIGN TABLE healthy_2 (id int) SERVER async_2 OPTIONS (schema_name 'remote', table_name 'items');
SET tollfree_postgres_fdw.cleanup_timeout = '1s';
BEGIN;
SELECT count(*) FROM healthy_2;
SAVEPOINT a;
SELECT count(*) FROM healthy_2;
SET LOCAL statement_timeout = '200ms';
SELECT * FROM deaf_1;
ROLLBACK TO a;
SELECT count(*) FROM healthy_2;
SELECT * FROM deaf_1;
ROLLBACK;
SELECT server_name FROM tollfree_postgres_fdw_get_connections()
WHERE server_name IN ('async_1', 'async_2');
BEGIN;
SELECT count(*) FROM healthy_1;
SAVEPOINT a;
SELECT count(*) FROM healthy_1;
SET LOCAL statement_timeout = '200ms';
SELECT * FROM deaf_2;
ROLLBACK TO a;
SELECT count(*) FROM healthy_1;
SELECT * FROM deaf_2;
ROLLBACK;
SELECT server_name FROM tollfree_postgres_fdw_get_connections()
WHERE server_name IN ('async_1', 'async_2');
RESET tollfree_postgres_fdw.cleanup_timeout;
