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

-- a lost connection of a mapping for everybody is replaced by that of the same mapping,
-- and for the one who asks
CREATE ROLE regress_tollfree_low LOGIN;
CREATE ROLE regress_tollfree_high LOGIN;
CREATE ROLE regress_tollfree_one;
CREATE ROLE regress_tollfree_other;
CREATE VIEW remote.who AS SELECT current_user::text AS who;
GRANT USAGE ON SCHEMA remote TO PUBLIC;
GRANT SELECT ON remote.who TO PUBLIC;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER common FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
	EXECUTE format('CREATE SERVER trusting FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER common OPTIONS (user 'regress_tollfree_low', password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER trusting;
CREATE FOREIGN TABLE who (who text) SERVER common OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE trusted (who text) SERVER trusting OPTIONS (schema_name 'remote', table_name 'who');
GRANT SELECT ON who, trusted TO PUBLIC;
CREATE FUNCTION kill_remotes() RETURNS bool
LANGUAGE sql
RETURN (SELECT bool_and(pg_terminate_backend(remote_backend_pid, 10000))
		FROM tollfree_postgres_fdw_get_connections());
SET ROLE regress_tollfree_one;
SELECT * FROM who;
RESET ROLE;
SELECT count(*) FROM trusted;
-- the user shown is the mapping's, while there is one
SELECT server_name, c.user_name AS connected, s.user_name AS counted
FROM tollfree_postgres_fdw_get_connections() c
JOIN tollfree_postgres_fdw_statistics() s USING (server_name) ORDER BY server_name;
BEGIN;
SELECT * FROM who;
DROP USER MAPPING FOR PUBLIC SERVER common;
SELECT c.user_name AS connected, s.user_name AS counted, valid
FROM tollfree_postgres_fdw_get_connections() c
JOIN tollfree_postgres_fdw_statistics() s USING (server_name) WHERE server_name = 'common';
ROLLBACK;
SET ROLE regress_tollfree_one;
SELECT * FROM who;
RESET ROLE;
CREATE USER MAPPING FOR regress_tollfree_one SERVER common
	OPTIONS (user 'regress_tollfree_high', password_required 'false');
SELECT kill_remotes();
SET ROLE regress_tollfree_other;
SELECT * FROM who;
\set VERBOSITY sqlstate
SELECT count(*) FROM trusted;
\set VERBOSITY default
RESET ROLE;
SET ROLE regress_tollfree_one;
SELECT * FROM who;
RESET ROLE;
SELECT server_name, user_name FROM tollfree_postgres_fdw_get_connections() ORDER BY 1, 2;
-- of several users in a statement the first one counts
CREATE VIEW entrusted AS SELECT * FROM trusted;
GRANT SELECT ON entrusted TO PUBLIC;
SELECT count(*) FROM trusted;
SELECT pg_terminate_backend(remote_backend_pid, 10000)
FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'trusting';
SET ROLE regress_tollfree_other;
SELECT count(*) FROM (SELECT FROM entrusted UNION ALL SELECT FROM trusted) u;
RESET ROLE;
SELECT pg_terminate_backend(remote_backend_pid, 10000)
FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'trusting';
SET ROLE regress_tollfree_other;
\set VERBOSITY sqlstate
SELECT count(*) FROM (SELECT FROM trusted UNION ALL SELECT FROM entrusted) u;
\set VERBOSITY default
RESET ROLE;
DROP VIEW entrusted;
DROP SERVER common CASCADE;
DROP SERVER trusting CASCADE;
DROP VIEW remote.who;
REVOKE USAGE ON SCHEMA remote FROM PUBLIC;
DROP ROLE regress_tollfree_low, regress_tollfree_high, regress_tollfree_one, regress_tollfree_other;

-- a cancellation that the remote server does not heed is repeated
CREATE FUNCTION remote.sleep_twice() RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM pg_sleep(600);
	RETURN 'slept';
EXCEPTION WHEN query_canceled THEN
	PERFORM pg_sleep(600);
	RETURN 'slept again';
END
$$;
CREATE VIEW remote.stubborn AS SELECT remote.sleep_twice() AS s;
CREATE FOREIGN TABLE stubborn (s text) SERVER loopback OPTIONS (schema_name 'remote');
SET client_min_messages = warning;
SET tollfree_postgres_fdw.cleanup_timeout = '20s';
BEGIN;
SELECT count(*) FROM items;
SAVEPOINT s;
SET LOCAL statement_timeout = '100ms';
SELECT * FROM stubborn;
ROLLBACK TO s;
SELECT count(*) FROM items;
COMMIT;
RESET tollfree_postgres_fdw.cleanup_timeout;
