-- Connections: lost, closed, changed, refused.
SET client_min_messages = error;
CREATE FUNCTION kill_remote() RETURNS bool
LANGUAGE sql
AS $$
	SELECT bool_and(pg_terminate_backend(remote_backend_pid, 10000))
	FROM tollfree_postgres_fdw_get_connections()
	WHERE server_name = 'loopback'
$$;

-- lost while idle: a new one is made
SELECT count(*) FROM items WHERE id = 1;
SELECT kill_remote();
SELECT count(*) FROM items WHERE id = 1;
SELECT kill_remote();
INSERT INTO log VALUES ('after a kill');
SELECT count(*) FROM remote.log WHERE word = 'after a kill';

-- lost inside a transaction: an error, and the next transaction works
\set VERBOSITY sqlstate
BEGIN;
INSERT INTO log VALUES ('lost with its connection');
SELECT kill_remote();
SELECT count(*) FROM items;
ROLLBACK;
BEGIN;
INSERT INTO log VALUES ('lost with its connection');
SELECT kill_remote();
COMMIT;
BEGIN;
INSERT INTO log VALUES ('lost with its connection');
SAVEPOINT s;
SELECT kill_remote();
SELECT count(*) FROM items;
ROLLBACK TO s;
SELECT count(*) FROM items;
ROLLBACK;
\set VERBOSITY default
SELECT count(*) FROM items;
SELECT count(*) FROM remote.log WHERE word LIKE 'lost%';

-- a cancelled statement
CREATE VIEW remote.slow AS SELECT pg_sleep(600)::text AS s;
CREATE FOREIGN TABLE slow (s text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'slow');
BEGIN;
INSERT INTO log VALUES ('before a timeout');
SAVEPOINT s;
SET LOCAL statement_timeout = '100ms';
SELECT * FROM slow;
ROLLBACK TO s;
RESET statement_timeout;
SELECT count(*) FROM log WHERE word = 'before a timeout';
COMMIT;
SELECT count(*) FROM remote.log WHERE word = 'before a timeout';
BEGIN;
SET LOCAL statement_timeout = '100ms';
SELECT * FROM slow;
ROLLBACK;
SELECT count(*) FROM items;
SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%remote.slow%' AND state = 'active' AND pid <> pg_backend_pid();

-- changes of a server's options count from the next transaction on
BEGIN;
SELECT count(*) FROM items;
ALTER SERVER loopback OPTIONS (ADD application_name 'changed %% %u');
SELECT valid, used_in_xact FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback';
COMMIT;
SELECT count(*) FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback';
CREATE VIEW remote.me AS SELECT current_setting('application_name') = 'changed % ' || session_user AS named;
CREATE FOREIGN TABLE me (named bool) SERVER loopback OPTIONS (schema_name 'remote', table_name 'me');
SELECT * FROM me;
ALTER SERVER loopback OPTIONS (DROP application_name);
ALTER SERVER loopback OPTIONS (ADD keep_connections 'off');
SELECT count(*) FROM items;
SELECT count(*) FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback';
ALTER SERVER loopback OPTIONS (DROP keep_connections);

-- closing them
RESET client_min_messages;
BEGIN;
SELECT count(*) FROM items;
SELECT tollfree_postgres_fdw_disconnect('loopback');
COMMIT;
SELECT tollfree_postgres_fdw_disconnect('loopback');
SELECT tollfree_postgres_fdw_disconnect('loopback');
SELECT tollfree_postgres_fdw_disconnect('nowhere');
SELECT count(*) FROM items;
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT count(*) FROM tollfree_postgres_fdw_get_connections();

-- whoever is no superuser needs a password of his own
CREATE ROLE regress_tollfree_user;
GRANT USAGE ON FOREIGN SERVER loopback TO regress_tollfree_user;
GRANT SELECT ON items TO regress_tollfree_user;
SET ROLE regress_tollfree_user;
CREATE USER MAPPING FOR regress_tollfree_user SERVER loopback;
\set VERBOSITY sqlstate
SELECT count(*) FROM items;
ALTER USER MAPPING FOR regress_tollfree_user SERVER loopback OPTIONS (ADD password_required 'false');
ALTER USER MAPPING FOR regress_tollfree_user SERVER loopback OPTIONS (ADD password 'unasked');
SELECT count(*) FROM items;
\set VERBOSITY default
RESET ROLE;
DROP USER MAPPING FOR regress_tollfree_user SERVER loopback;
REVOKE ALL ON items FROM regress_tollfree_user;
REVOKE ALL ON FOREIGN SERVER loopback FROM regress_tollfree_user;
DROP ROLE regress_tollfree_user;
