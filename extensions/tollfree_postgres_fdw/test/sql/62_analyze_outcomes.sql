-- ANALYZE where something is in its way, by every method: a clear outcome, and
-- the statistics of before; beside it postgres_fdw, by its default.
CREATE TABLE remote.herd (id int, few int, word text);
ALTER TABLE remote.herd SET (autovacuum_enabled = off);
INSERT INTO remote.herd SELECT i, i % 7, 'word ' || i FROM generate_series(1, 5000) i;
SELECT pg_stat_force_next_flush();
ANALYZE remote.herd;
-- 3000 rows are wanted
SET default_statistics_target = 10;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER stock OPTIONS (password_required 'false');

-- A foreign table for each method, on a table that changes from test to test.
CREATE TABLE herds (name text, method text);
INSERT INTO herds
SELECT 'herd_' || method, method FROM unnest('{off,random,bernoulli,system,auto,import}'::text[]) method;
SELECT format('CREATE FOREIGN TABLE %I (id int, few int, word text) SERVER loopback'
			  ' OPTIONS (schema_name ''remote'', table_name ''herd'', analyze_sampling %L)', name, method)
FROM herds \gexec
CREATE FOREIGN TABLE herd_stock (id int, few int, word text) SERVER stock
	OPTIONS (schema_name 'remote', table_name 'herd');
INSERT INTO herds VALUES ('herd_stock', 'stock');
SELECT 'ANALYZE ' || name FROM herds \gexec

-- What is known of them, and whether it is what it was.
CREATE FUNCTION known_now() RETURNS TABLE (herd text, reltuples real, statistics text)
LANGUAGE sql
AS $$
	SELECT h.name, c.reltuples,
		   (SELECT md5(string_agg(s::text, ' ' ORDER BY s.staattnum))
			FROM pg_statistic s WHERE s.starelid = c.oid)
	FROM herds h JOIN pg_class c ON c.oid = h.name::regclass
$$;
CREATE TABLE known_herds AS SELECT * FROM known_now();
CREATE FUNCTION what_is_kept() RETURNS TABLE (herd text, reltuples real, is_kept bool)
LANGUAGE sql
AS $$
	SELECT herd, n.reltuples, n.statistics = k.statistics
	FROM known_now() n JOIN known_herds k USING (herd)
	ORDER BY 1
$$;

-- What becomes of an ANALYZE: nothing, or its error.
CREATE FUNCTION outcome(name text) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('ANALYZE %I', name);
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN concat_ws(': ', sqlstate, sqlerrm);
END
$$;
CREATE PROCEDURE point_at(what text)
LANGUAGE plpgsql
AS $$
DECLARE
	name		text;
BEGIN
	FOR name IN SELECT h.name FROM herds h LOOP
		EXECUTE format('ALTER FOREIGN TABLE %I OPTIONS (SET table_name %L)', name, what);
	END LOOP;
END
$$;
\set VERBOSITY terse

-- locked, until somebody gives up
BEGIN;
\set ON_ERROR_ROLLBACK on
LOCK TABLE remote.herd;
SET LOCAL statement_timeout = '200ms';
SELECT 'ANALYZE ' || name FROM herds \gexec
\set ON_ERROR_ROLLBACK off
ROLLBACK;
SELECT * FROM what_is_kept();

-- interrupted in the middle of the rows: a view that takes a minute, then a table whose
-- rows take long to look at
SET client_min_messages = warning;
CREATE VIEW remote.minute AS SELECT i AS id, 1 AS few, '' AS word FROM generate_series(1, 600) i, LATERAL pg_sleep(0.1 + 0 * i);
CALL point_at('minute');
SET statement_timeout = '200ms';
SELECT 'ANALYZE ' || name FROM herds \gexec
RESET statement_timeout;
CREATE FUNCTION remote.is_looked_at(int) RETURNS bool
LANGUAGE sql VOLATILE
AS 'SELECT true FROM pg_sleep(0.01)';
CREATE ROLE regress_tollfree_reader LOGIN;
GRANT USAGE ON SCHEMA remote TO regress_tollfree_reader;
GRANT SELECT ON remote.herd TO regress_tollfree_reader;
ALTER TABLE remote.herd ENABLE ROW LEVEL SECURITY;
CREATE POLICY slowly ON remote.herd USING (remote.is_looked_at(id));
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (ADD user 'regress_tollfree_reader');
ALTER USER MAPPING FOR PUBLIC SERVER stock OPTIONS (ADD user 'regress_tollfree_reader');
CALL point_at('herd');
SET statement_timeout = '200ms';
SELECT 'ANALYZE ' || name FROM herds \gexec
RESET statement_timeout;
ALTER TABLE remote.herd DISABLE ROW LEVEL SECURITY;
RESET client_min_messages;
SELECT * FROM what_is_kept();

-- without rights
REVOKE SELECT ON remote.herd FROM regress_tollfree_reader;
SELECT name, outcome(name) FROM herds;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (DROP user);
ALTER USER MAPPING FOR PUBLIC SERVER stock OPTIONS (DROP user);
DROP OWNED BY regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;

-- dropped; dropped and made anew without a column
CALL point_at('gone');
SELECT name, outcome(name) FROM herds;
CREATE TABLE remote.gone AS SELECT id, few FROM remote.herd;
SELECT pg_stat_force_next_flush();
ANALYZE remote.gone;
SELECT name, outcome(name) FROM herds;
SELECT * FROM what_is_kept();

-- empty: the statistics are those of before, the size is not
CREATE TABLE remote.empty_herd (LIKE remote.herd);
ANALYZE remote.empty_herd;
CALL point_at('empty_herd');
SELECT name, outcome(name) FROM herds;
SELECT * FROM what_is_kept();

-- views, and tables with partitions
CREATE VIEW remote.herd_seen AS TABLE remote.herd;
CREATE TABLE remote.parted_herd (LIKE remote.herd) PARTITION BY RANGE (id);
CREATE TABLE remote.parted_herd_1 PARTITION OF remote.parted_herd FOR VALUES FROM (1) TO (2000);
CREATE TABLE remote.parted_herd_2 PARTITION OF remote.parted_herd DEFAULT;
INSERT INTO remote.parted_herd TABLE remote.herd;
SELECT pg_stat_force_next_flush();
ANALYZE remote.parted_herd;
CREATE FUNCTION distinct_values() RETURNS TABLE (herd text, reltuples real, few real)
LANGUAGE sql
AS $$
	SELECT h.name, c.reltuples, s.n_distinct
	FROM herds h
		JOIN pg_class c ON c.oid = h.name::regclass
		LEFT JOIN pg_stats s ON s.schemaname = 'public' AND s.tablename = h.name AND s.attname = 'few'
	ORDER BY 1
$$;
CALL point_at('herd_seen');
DELETE FROM pg_statistic WHERE starelid IN (SELECT name::regclass FROM herds);
SELECT name, outcome(name) FROM herds;
SELECT * FROM distinct_values();
CALL point_at('parted_herd');
DELETE FROM pg_statistic WHERE starelid IN (SELECT name::regclass FROM herds);
SELECT name, outcome(name) FROM herds;
SELECT herd, reltuples BETWEEN 4500 AND 5500 AS has_rows, few FROM distinct_values();

-- whole blocks, of which chance may choose none: rows are found all the same
CALL point_at('herd');
SET default_statistics_target = 1;
DO $$
BEGIN
	FOR i IN 1..40 LOOP
		DELETE FROM pg_statistic WHERE starelid = 'herd_system'::regclass;
		ANALYZE herd_system;
		IF NOT EXISTS (SELECT FROM pg_statistic WHERE starelid = 'herd_system'::regclass) THEN
			RAISE EXCEPTION 'nothing was sampled';
		END IF;
	END LOOP;
END
$$;
SET default_statistics_target = 10;

-- the connections are as good as before
SELECT name, outcome(name) FROM herds;
\set VERBOSITY default
SELECT 'DROP FOREIGN TABLE ' || name FROM herds \gexec
DROP TABLE herds, known_herds;
DROP FUNCTION known_now, what_is_kept, outcome, distinct_values;
DROP PROCEDURE point_at;
DROP VIEW remote.minute, remote.herd_seen;
DROP TABLE remote.herd, remote.gone, remote.empty_herd, remote.parted_herd;
DROP FUNCTION remote.is_looked_at;
DROP USER MAPPING FOR PUBLIC SERVER stock;
DROP SERVER stock;
RESET default_statistics_target;
