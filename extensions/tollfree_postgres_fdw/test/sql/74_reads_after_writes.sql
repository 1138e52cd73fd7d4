-- A SELECT that follows a modification of its table gives what is there, whatever has
-- been altered since it was prepared: it is executed as prepared only where its
-- table has been locked since then.
SELECT tollfree_postgres_fdw_disconnect_all();
CREATE TABLE remote.accounts (id int PRIMARY KEY, balance int, note text);
INSERT INTO remote.accounts SELECT i, 0, 'note ' || i FROM generate_series(1, 9) i;
CREATE TABLE remote.others (id int PRIMARY KEY, balance int);
INSERT INTO remote.others SELECT i, 0 FROM generate_series(1, 9) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (accounts, others) FROM SERVER loopback INTO public;
ANALYZE accounts, others;

-- Adds 1 to an account, and reads what is in another table's row.
CREATE PROCEDURE deposit(reads text DEFAULT 'accounts', who int DEFAULT 1)
LANGUAGE plpgsql
AS $$
DECLARE
	found int;
	before int8 := (SELECT round_trips FROM tollfree_postgres_fdw_get_connections());
BEGIN
	EXECUTE format('UPDATE accounts SET balance = balance + 1 WHERE id = %s', who);
	EXECUTE format('SELECT balance::int FROM %I WHERE id = %s', reads, who) INTO found;
	COMMIT;
	RAISE NOTICE '% has %, after % round trips', reads, found, round_trips_since(before);
END
$$;
CALL deposit();
CALL deposit();
CALL deposit();
CALL deposit();
CALL deposit(who => 2);

-- altered: the modification is done once, and the SELECT gives what is there
ALTER TABLE remote.accounts ALTER balance TYPE int8;
CALL deposit();
CALL deposit();
CALL deposit();
CALL deposit();
ALTER TABLE remote.accounts ADD extra int DEFAULT 5;
CALL deposit();
ALTER TABLE remote.accounts RENAME note TO remark;
CALL deposit();
ALTER TABLE remote.accounts RENAME balance TO saldo;
CALL deposit();
ALTER TABLE remote.accounts RENAME saldo TO balance;
CALL deposit();
SELECT id, balance FROM remote.accounts WHERE balance <> 0 ORDER BY id;

-- another table is not locked before it is read, so its statement is not kept
CALL deposit(reads => 'others');
CALL deposit(reads => 'others');
CALL deposit(reads => 'others');
CALL deposit(reads => 'others');
CALL deposit();
CALL deposit();
CALL deposit();
CREATE VIEW remote.locked AS
SELECT relation::regclass::text AS name, mode FROM pg_locks
WHERE pid = pg_backend_pid() AND relation::regclass::text IN ('remote.accounts', 'remote.others');
CREATE FOREIGN TABLE locked (name text, mode text) SERVER loopback OPTIONS (schema_name 'remote');
BEGIN;
UPDATE accounts SET balance = balance + 1 WHERE id = 1;
SELECT * FROM locked ORDER BY 1, 2;
ROLLBACK;

-- prepared in the same transaction, it is used there; not in the next one, nor
-- after a rollback, which gives the lock up
BEGIN;
UPDATE accounts SET balance = balance + 1 WHERE id = 1;
SELECT balance::int FROM accounts WHERE id = 1;
SELECT balance::int FROM accounts WHERE id = 2;
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
SELECT balance::int FROM accounts WHERE id = 3;
COMMIT;
BEGIN;
UPDATE accounts SET balance = balance + 1 WHERE id = 1;
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
SELECT balance::int FROM accounts WHERE id = 3;
ROLLBACK;
BEGIN;
UPDATE accounts SET balance = balance + 1 WHERE id = 1;
SAVEPOINT a;
SELECT balance::int FROM accounts WHERE id = 1;
SELECT balance::int FROM accounts WHERE id = 2;
ROLLBACK TO a;
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
SELECT balance::int FROM accounts WHERE id = 1;
ROLLBACK;

-- an error of the modification is its own
UPDATE remote.accounts SET balance = 9 WHERE id = 1;
ALTER TABLE remote.accounts ALTER balance TYPE numeric, ADD CHECK (balance < 10);
CALL deposit();
CALL deposit(who => 3);
SELECT id, balance FROM remote.accounts WHERE id IN (1, 3) ORDER BY id;

-- a statement that somebody has dropped
CREATE TRIGGER forget BEFORE UPDATE ON remote.accounts
FOR EACH ROW WHEN (NEW.id = 4) EXECUTE FUNCTION remote.forget('SELECT balance%');
CALL deposit(who => 5);
CALL deposit(who => 5);
CALL deposit(who => 5);
CALL deposit(who => 5);
CALL deposit(who => 4);
CALL deposit(who => 5);
SELECT tollfree_postgres_fdw_disconnect_all();
DROP PROCEDURE deposit;
DROP FOREIGN TABLE accounts, others, locked;
DROP VIEW remote.locked;
DROP TABLE remote.accounts, remote.others;
