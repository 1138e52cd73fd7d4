-- Remote transactions follow local ones.
CREATE TABLE remote.log (word text);
CREATE FOREIGN TABLE log (word text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'log');

BEGIN;
INSERT INTO log VALUES ('kept');
SAVEPOINT one;
INSERT INTO log VALUES ('rolled back');
SAVEPOINT two;
INSERT INTO log VALUES ('rolled back too');
RELEASE two;
SELECT count(*) FROM log;
ROLLBACK TO one;
SELECT count(*) FROM log;
INSERT INTO log VALUES ('kept too');
RELEASE one;
COMMIT;
SELECT * FROM remote.log ORDER BY word;

BEGIN;
INSERT INTO log VALUES ('never');
ROLLBACK;
SELECT count(*) FROM remote.log;

-- an error inside a savepoint leaves the transaction, and open cursors, alone
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM items ORDER BY id;
FETCH 1 FROM c;
SAVEPOINT s;
SELECT 1 / (id - 1) FROM items WHERE 1 / (id - 1) > 0;
ROLLBACK TO s;
FETCH 1 FROM c;
SET tollfree_postgres_fdw.direct_results = off;
DECLARE d CURSOR FOR SELECT n FROM numbers ORDER BY n;
FETCH 1 FROM d;
SAVEPOINT t;
INSERT INTO log VALUES ('lost');
SELECT word::int FROM misread;
ROLLBACK TO t;
MOVE 20000 FROM d;
FETCH 1 FROM d;
COMMIT;
RESET tollfree_postgres_fdw.direct_results;
SELECT count(*) FROM remote.log;

-- a cursor that is done with is closed remotely, whatever was rolled back since
CREATE VIEW remote.portals AS SELECT name FROM pg_cursors WHERE name ~ '^c[0-9]';
CREATE FOREIGN TABLE portals (name text) SERVER loopback
	OPTIONS (schema_name 'remote');
CREATE FUNCTION remotely_open() RETURNS bigint
LANGUAGE sql SET tollfree_postgres_fdw.direct_results = on
AS 'SELECT count(*) FROM portals';
SET tollfree_postgres_fdw.direct_results = off;
BEGIN;
DECLARE before CURSOR FOR SELECT n FROM numbers;
MOVE 1 IN before;
SAVEPOINT a;
CLOSE before;
ROLLBACK TO a;
SELECT remotely_open();
DECLARE around CURSOR FOR SELECT n FROM numbers;
MOVE 1 IN around;
SAVEPOINT b;
INSERT INTO log VALUES ('lost');
MOVE 1 IN around;
ROLLBACK TO b;
SELECT remotely_open();
CLOSE around;
SELECT remotely_open();
SAVEPOINT c;
DECLARE released CURSOR FOR SELECT n FROM numbers;
MOVE 1 IN released;
RELEASE c;
SAVEPOINT d;
INSERT INTO log VALUES ('lost');
ROLLBACK TO d;
SELECT remotely_open();
CLOSE released;
SELECT remotely_open();
SAVEPOINT e;
DECLARE inside CURSOR FOR SELECT n FROM numbers;
MOVE 1 IN inside;
SELECT remotely_open();
ROLLBACK TO e;
SELECT remotely_open();
COMMIT;
RESET tollfree_postgres_fdw.direct_results;

-- PL/pgSQL's exception blocks
DO $$
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			INSERT INTO log VALUES ('block ' || i);
			IF i = 2 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
			INSERT INTO log VALUES ('handled ' || i);
		END;
	END LOOP;
END
$$;
SELECT * FROM remote.log ORDER BY word;

-- statements of executions that an error ended are dropped, too
CREATE VIEW remote.prepared AS
	SELECT count(*) AS n FROM pg_prepared_statements WHERE name ~ '^tollfree_[0-9a-f]{8}_[0-9]+$';
CREATE FOREIGN TABLE prepared (n int8) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'prepared');
SELECT n FROM prepared;

-- a remote error that is handled where the remote transaction cannot go back
BEGIN;
INSERT INTO log VALUES ('before');
DECLARE broken CURSOR FOR SELECT id / (id - 1) FROM items WHERE id / (id - 1) > 0;
SAVEPOINT s;
FETCH 1 FROM broken;
ROLLBACK TO s;
COMMIT;
SELECT count(*) FROM remote.log WHERE word = 'before';

-- isolation
CREATE FOREIGN TABLE isolation (level text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'isolation');
CREATE VIEW remote.isolation AS SELECT current_setting('transaction_isolation') AS level;
SELECT * FROM isolation;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM isolation;
COMMIT;
CREATE FOREIGN TABLE isolation_rc (level text) SERVER read_committed
	OPTIONS (schema_name 'remote', table_name 'isolation');
SELECT * FROM isolation_rc;
ALTER SERVER read_committed OPTIONS (SET remote_isolation 'serializable');
ALTER SERVER read_committed OPTIONS (SET remote_isolation 'repeatable read');
SELECT * FROM isolation_rc;
ALTER FOREIGN TABLE isolation_rc OPTIONS (ADD remote_isolation 'read committed');

-- round trips: an autocommit SELECT, and its parts with each fast way switched off
SELECT round_trips_since(0) AS before \gset
SELECT label FROM items WHERE id = 4;
SELECT round_trips_since(:before) AS round_trips;
SELECT round_trips_since(0) AS before \gset
SET tollfree_postgres_fdw.unawaited_commit = off;
SELECT label FROM items WHERE id = 4;
SELECT round_trips_since(:before) AS round_trips;
RESET tollfree_postgres_fdw.unawaited_commit;
SELECT round_trips_since(0) AS before \gset
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
SELECT label FROM items WHERE id = 4;
RELEASE a;
SELECT label FROM items WHERE id = 5;
COMMIT;
SELECT round_trips_since(:before) AS round_trips;

-- a function of the remote server that writes is waited for
CREATE TABLE remote.calls (n int);
CREATE FUNCTION remote.noting() RETURNS int
LANGUAGE sql VOLATILE
AS 'INSERT INTO remote.calls VALUES (1) RETURNING n';
CREATE VIEW remote.notes AS SELECT remote.noting() AS n;
CREATE FOREIGN TABLE notes (n int) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'notes');
SELECT round_trips_since(0) AS before \gset
SELECT * FROM notes;
SELECT round_trips_since(:before) AS round_trips;
SELECT count(*) FROM remote.calls;

BEGIN;
SELECT count(*) FROM items;
PREPARE TRANSACTION 'refused';
ROLLBACK;
