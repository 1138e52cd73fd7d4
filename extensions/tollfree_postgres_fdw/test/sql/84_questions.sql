-- A remote user who may not ask what this wrapper likes to know gets what
-- postgres_fdw gives.
\set home :DBNAME
\set VERBOSITY terse
SET statement_timeout = '60s';
SET client_min_messages = warning;
CREATE ROLE regress_hardened LOGIN;
CREATE DATABASE regress_hardened;
SELECT replace(server_options(), quote_literal(current_database()), '''regress_hardened''') AS hardened \gset

-- over there: a schema for each run, with the same tables, and a way to give orders
\connect regress_hardened
CREATE FUNCTION make_tables(place text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('CREATE SCHEMA %I', place);
	PERFORM set_config('search_path', place, true);
	CREATE TABLE item (id int PRIMARY KEY, v text, n numeric CHECK (n < 1000));
	CREATE TABLE many (n int, t text);
	CREATE TABLE parted (n int, t text) PARTITION BY LIST (n);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
	CREATE VIEW seen AS SELECT id, v FROM item WHERE id <= 3;
	INSERT INTO item SELECT i, 'row ' || i, i / 4.0 FROM generate_series(1, 400) i;
	INSERT INTO parted VALUES (1, 'one');
	EXECUTE format('GRANT USAGE ON SCHEMA %I TO regress_hardened', place);
	EXECUTE format('GRANT ALL ON ALL TABLES IN SCHEMA %I TO regress_hardened', place);
END
$$;
SELECT make_tables('by_stock'), make_tables('by_ours'), make_tables('by_ours_again');
CREATE FUNCTION obey() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN EXECUTE NEW.command; RETURN NULL; END $$;
CREATE TABLE orders (command text);
CREATE TRIGGER obey BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION obey();

\connect :home
SET client_min_messages = warning;
CREATE SERVER hardened_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:hardened);
CREATE SERVER hardened_ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:hardened);
CREATE SERVER hardened_owner FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:hardened);
CREATE USER MAPPING FOR PUBLIC SERVER hardened_stock OPTIONS (user 'regress_hardened', password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER hardened_ours OPTIONS (user 'regress_hardened', password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER hardened_owner OPTIONS (password_required 'false');
CREATE FOREIGN TABLE orders (command text) SERVER hardened_owner;
CREATE FUNCTION make_tables(place text, server text) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
	name text;
BEGIN
	EXECUTE format('CREATE SCHEMA %I', place);
	FOREACH name IN ARRAY '{"item (id int NOT NULL, v text, n numeric)", "many (n int, t text)",
						  "parted (n int, t text)", "seen (id int, v text)"}'::text[] LOOP
		EXECUTE format('CREATE FOREIGN TABLE %I.%s SERVER %I', place, name, server);
	END LOOP;
END
$$;
SELECT make_tables('by_stock', 'hardened_stock'), make_tables('by_ours', 'hardened_ours'),
	make_tables('by_ours_again', 'hardened_ours');
CREATE FUNCTION done() RETURNS TABLE (autocommit_scans int8, unawaited_commits int8)
LANGUAGE sql
RETURN (SELECT (s.autocommit_scans, s.unawaited_commits)
		FROM public.tollfree_postgres_fdw_statistics() s WHERE server_name = 'hardened_ours');

-- each step is the client's own query
CREATE TABLE steps (n serial, sql text);
INSERT INTO steps (sql) VALUES
	('SELECT v FROM item WHERE id = 1'),
	('SELECT v FROM item WHERE id = 1'),
	('SELECT v FROM item WHERE id = 2'),
	('SELECT v FROM item WHERE id = 2'),
	('SELECT * FROM seen ORDER BY id'),
	('SELECT i.v, m.t FROM item i LEFT JOIN many m ON m.n = i.id WHERE i.id < 4 ORDER BY 1'),
	('SELECT id % 2 AS odd, count(*), sum(n) FROM item GROUP BY 1 ORDER BY 1'),
	('SELECT count(*) FROM item a JOIN item b USING (id)'),
	('INSERT INTO many SELECT i, ''t'' || i FROM generate_series(1, 600) i'),
	('INSERT INTO many SELECT i, ''u'' || i FROM generate_series(601, 1200) i'),
	('INSERT INTO parted SELECT 1, ''p'' || i FROM generate_series(1, 600) i'),
	('INSERT INTO item VALUES (401, ''new'', 1) RETURNING id, v'),
	('INSERT INTO item VALUES (401, ''again'', 1)'),
	('UPDATE item SET n = n + 1 WHERE id = 2'),
	('UPDATE item SET v = v || left(random()::text, 0) WHERE id <= 3 RETURNING id, v'),
	('UPDATE item SET n = 1000 WHERE id = 3'),
	('DELETE FROM many WHERE n > 1100'),
	('DELETE FROM many WHERE n = 1000 RETURNING t'),
	('DO $$ BEGIN INSERT INTO item VALUES (1); EXCEPTION WHEN unique_violation THEN PERFORM FROM item; END $$'),
	('BEGIN'),
	('SELECT v FROM item WHERE id = 5'),
	('SAVEPOINT s'),
	('INSERT INTO many SELECT i, ''v'' FROM generate_series(1, 600) i'),
	('INSERT INTO item VALUES (2)'),
	('ROLLBACK TO s'),
	('INSERT INTO many SELECT i, ''w'' FROM generate_series(1, 600) i'),
	('SELECT count(*), max(t) FROM many'),
	('DECLARE c CURSOR FOR SELECT id FROM item ORDER BY id'),
	('FETCH 2 FROM c'),
	('MOVE 300 FROM c'),
	('FETCH 1 FROM c'),
	('CLOSE c'),
	('COMMIT'),
	('BEGIN'), ('UPDATE item SET n = 7 WHERE id = 7'), ('SELECT n FROM item WHERE id = 7'), ('COMMIT'),
	('BEGIN'), ('UPDATE item SET n = 8 WHERE id = 7'), ('SELECT n FROM item WHERE id = 7'), ('COMMIT'),
	('BEGIN'), ('UPDATE item SET n = 9 WHERE id = 7'), ('SELECT n FROM item WHERE id = 7'), ('COMMIT'),
	('BEGIN'), ('UPDATE item SET n = 10 WHERE id = 7'), ('SELECT n FROM item WHERE id = 7'), ('ROLLBACK'),
	('BEGIN ISOLATION LEVEL SERIALIZABLE'), ('SELECT n FROM item WHERE id = 7'),
	('INSERT INTO many SELECT i, ''x'' FROM generate_series(1, 300) i'), ('COMMIT'),
	('TRUNCATE parted'),
	('SELECT count(*) FROM parted');
\pset format unaligned
\pset tuples_only

-- the size of a table is asked for without what takes long to answer, as pg_settings does
INSERT INTO orders VALUES ('REVOKE SELECT ON pg_catalog.pg_settings FROM PUBLIC');
SET search_path = by_ours, public;
ALTER FOREIGN TABLE item OPTIONS (ADD analyze_sampling 'import');
SET client_min_messages = notice;
\set VERBOSITY default
ANALYZE item;
\set VERBOSITY terse
SET client_min_messages = warning;
ALTER FOREIGN TABLE item OPTIONS (DROP analyze_sampling);

-- pg_class is hidden
INSERT INTO orders VALUES ('REVOKE SELECT ON pg_catalog.pg_class FROM PUBLIC');
SET search_path = by_stock, public;
SELECT sql FROM steps ORDER BY n \gexec
SET search_path = by_ours, public;
SELECT sql FROM steps ORDER BY n \gexec
SELECT done();
ANALYZE item;
SELECT c.reltuples, s.n_distinct FROM pg_class c, pg_stats s
WHERE c.oid = 'item'::regclass AND s.schemaname = 'by_ours' AND s.tablename = 'item' AND s.attname = 'id';
ALTER FOREIGN TABLE item OPTIONS (ADD analyze_sampling 'import');
SET client_min_messages = notice;
BEGIN;
SELECT count(*) FROM item;
ANALYZE item;
SELECT count(*) FROM item;
COMMIT;
SET client_min_messages = warning;

-- many rows are looked up at once as long as unnest may be called
CREATE TEMP TABLE wanted AS SELECT i AS id FROM generate_series(1, 400, 10) i;
ANALYZE wanted;
ALTER SERVER hardened_ours OPTIONS (ADD batched_lookups 'true', ADD fdw_tuple_cost '10');
PREPARE looked_up AS SELECT count(*), sum(n) FROM wanted JOIN item USING (id);
EXPLAIN (COSTS OFF) EXECUTE looked_up;
EXECUTE looked_up;

-- all of pg_catalog is, and so are the functions that are called for purposes of our own
INSERT INTO orders VALUES
	('REVOKE SELECT ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC'),
	('REVOKE EXECUTE ON FUNCTION pg_catalog.current_setting(text), pg_catalog.current_setting(text, boolean),
	  pg_catalog.set_config(text, text, boolean), pg_catalog.pg_current_xact_id_if_assigned(),
	  pg_catalog.pg_current_snapshot(), pg_catalog.unnest(anyarray), pg_catalog.random(),
	  pg_catalog.hashtidextended(tid, bigint), pg_catalog.has_table_privilege(oid, text) FROM PUBLIC');
SELECT tollfree_postgres_fdw_disconnect('hardened_ours');
EXECUTE looked_up;
DEALLOCATE looked_up;
EXPLAIN (COSTS OFF) SELECT sum(n) FROM wanted JOIN item USING (id);
ALTER SERVER hardened_ours OPTIONS (DROP batched_lookups, DROP fdw_tuple_cost);
SELECT tollfree_postgres_fdw_disconnect('hardened_ours');
SET search_path = by_ours_again, public;
SELECT sql FROM steps ORDER BY n \gexec
SELECT done();
ANALYZE item;
SELECT c.reltuples, s.n_distinct FROM pg_class c, pg_stats s
WHERE c.oid = 'item'::regclass AND s.schemaname = 'by_ours_again' AND s.tablename = 'item' AND s.attname = 'id';

-- only what postgres_fdw would not do either fails
INSERT INTO orders VALUES ('REVOKE EXECUTE ON FUNCTION pg_catalog.pg_relation_size(regclass) FROM PUBLIC');
ANALYZE item;
INSERT INTO orders VALUES ('GRANT EXECUTE ON FUNCTION pg_catalog.pg_relation_size(regclass) TO PUBLIC');
ANALYZE item;

-- not even the schema may be used
INSERT INTO orders VALUES ('REVOKE USAGE ON SCHEMA pg_catalog FROM PUBLIC');
SELECT tollfree_postgres_fdw_disconnect('hardened_ours');
SELECT v FROM item WHERE id = 1;
SELECT v FROM item WHERE id = 1;
INSERT INTO many SELECT i, 'y' FROM generate_series(1, 600) i;
DELETE FROM many WHERE t = 'y';
SELECT count(*) FROM many WHERE t = 'y';

-- what was written is the same
\connect regress_hardened
SELECT a.v = s.v AND a.v = o.v AS same, s.count
FROM (SELECT string_agg(x::text, ' ' ORDER BY x) AS v, count(*) FROM by_stock.item x) s,
	(SELECT string_agg(x::text, ' ' ORDER BY x) AS v FROM by_ours.item x) o,
	(SELECT string_agg(x::text, ' ' ORDER BY x) AS v FROM by_ours_again.item x) a;
SELECT a.v = s.v AND a.v = o.v AS same, s.count
FROM (SELECT string_agg(x::text, ' ' ORDER BY x) AS v, count(*) FROM by_stock.many x) s,
	(SELECT string_agg(x::text, ' ' ORDER BY x) AS v FROM by_ours.many x) o,
	(SELECT string_agg(x::text, ' ' ORDER BY x) AS v FROM by_ours_again.many x) a;
\connect :home
SET client_min_messages = warning;
SET search_path = by_ours, public;

-- a right that is revoked while a connection relies on it costs one transaction
INSERT INTO orders VALUES
	('GRANT USAGE ON SCHEMA pg_catalog TO PUBLIC'),
	('GRANT EXECUTE ON FUNCTION pg_catalog.pg_current_xact_id_if_assigned() TO PUBLIC');
-- (the second transaction waits for the answers to what was asked behind the first)
SELECT v FROM item WHERE id = 5;
SELECT v FROM item WHERE id = 5;
INSERT INTO orders VALUES
	('REVOKE EXECUTE ON FUNCTION pg_catalog.pg_current_xact_id_if_assigned() FROM PUBLIC');
SELECT v FROM item WHERE id = 5;
SELECT v FROM item WHERE id = 5;
SELECT done();

\pset format aligned
\pset tuples_only off
RESET search_path;
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT postgres_fdw_disconnect_all();
DROP SCHEMA by_stock, by_ours, by_ours_again CASCADE;
DROP SERVER hardened_stock, hardened_ours, hardened_owner CASCADE;
DROP FUNCTION make_tables, done;
DROP TABLE steps;
DROP DATABASE regress_hardened;
DROP ROLE regress_hardened;
RESET client_min_messages;
