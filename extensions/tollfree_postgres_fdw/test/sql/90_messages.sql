-- What is sent, as DEBUG1 messages.  The first statements connect.
SELECT label FROM items WHERE id = 1;
SELECT label FROM items WHERE id = 1;
SELECT label FROM items WHERE id = 1;
SET client_min_messages = debug1;

-- a SELECT that is sent alone; when it comes again it is prepared, then executed
SELECT price FROM items WHERE id = 1;
SELECT price FROM items WHERE id = 2;
SELECT price FROM items WHERE id = 3;

-- a transaction with a savepoint; the values of parameters are not shown
BEGIN;
SELECT count(*) FROM items WHERE id < 10;
SAVEPOINT a;
INSERT INTO items VALUES (2001, 'secret'), (2002, 'secret'), (2003, 'secret');
UPDATE items SET label = 'secret' WHERE id = 2001;
ROLLBACK TO a;
DELETE FROM items WHERE id = 2001;
COMMIT;

-- those of constants that are not sent as parameters are
SET tollfree_postgres_fdw.constants_as_parameters = off;
UPDATE items SET label = 'no secret' WHERE id = 2001;
RESET tollfree_postgres_fdw.constants_as_parameters;

-- a cursor, and a remote error
SET tollfree_postgres_fdw.direct_results = off;
BEGIN;
SELECT price FROM items WHERE id = 4;
DO $$
BEGIN
	PERFORM price FROM items WHERE 1 / (id - 1) > 0 AND id = 1;
EXCEPTION WHEN division_by_zero THEN
	RAISE NOTICE '%', SQLERRM;
END
$$;
ROLLBACK;
RESET tollfree_postgres_fdw.direct_results;

-- statements that are dropped
SET tollfree_postgres_fdw.statement_cache_size = 0;
SELECT price FROM items WHERE id = 5;
SELECT price FROM items WHERE id = 6;
RESET tollfree_postgres_fdw.statement_cache_size;

-- nothing at other levels
SET client_min_messages = log;
SELECT price FROM items WHERE id = 7;

-- a COMMIT and a rollback are not disturbed by what the client cannot show
DO $$
BEGIN
	EXECUTE format('CREATE SERVER "Ő" FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)',
				   server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER "Ő" OPTIONS (password_required 'false');
CREATE TABLE remote.unshown (note int);
CREATE FOREIGN TABLE unshown (note int) SERVER "Ő" OPTIONS (schema_name 'remote');
CREATE PROCEDURE "Ő"()
LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO unshown VALUES (1);
	BEGIN
		INSERT INTO unshown VALUES (2);
		PERFORM 1 / 0;
	EXCEPTION WHEN division_by_zero THEN
	END;
	SET client_encoding = latin1;
	SET client_min_messages = debug1;
	BEGIN
		INSERT INTO unshown VALUES (3);
		PERFORM 1 / 0;
	EXCEPTION WHEN division_by_zero THEN
	END;
	COMMIT;
END
$$;
CALL "Ő"();
RESET client_min_messages;
RESET client_encoding;
SELECT * FROM remote.unshown;
