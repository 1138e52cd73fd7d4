-- What we send ourselves means pg_catalog's relations and types, whatever a remote function leaves in
-- the session's temporary schema, which comes before pg_catalog. Here one of each name is there.
CREATE TABLE remote.shaded (id int PRIMARY KEY, n int, word text);
ALTER TABLE remote.shaded SET (autovacuum_enabled = off);
INSERT INTO remote.shaded SELECT i, i % 5, 'word ' || i % 7 FROM generate_series(1, 3000) i;
SELECT pg_stat_force_next_flush();
ANALYZE remote.shaded;
CREATE FOREIGN TABLE shaded (id int, n int, word text) SERVER loopback
	OPTIONS (schema_name 'remote', analyze_sampling 'auto', batch_size '100');
CREATE FOREIGN TABLE shaded_numbers (id int, n int) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'shaded', analyze_sampling 'import');
-- Makes some of these tables and returns how many were missing. All at once would be more news than this
-- session can miss without thinking that everything has changed, its servers too.
CREATE FUNCTION remote.shadow() RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	missing name[] := ARRAY(
		(SELECT relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind IN ('r', 'v')
		 UNION
		 SELECT typname FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype <> 'c' AND typelem = 0)
		EXCEPT
		SELECT relname FROM pg_class WHERE relnamespace = pg_my_temp_schema());
BEGIN
	FOR i IN 1..least(cardinality(missing), 50) LOOP
		EXECUTE format('CREATE TABLE pg_temp.%I ()', missing[i]);
	END LOOP;
	RETURN cardinality(missing);
END
$$;
CREATE VIEW remote.shadows AS SELECT remote.shadow() AS missing;
CREATE FOREIGN TABLE shadows (missing bigint) SERVER loopback OPTIONS (schema_name 'remote');
SELECT 'SELECT missing FROM shadows WHERE missing < 0' FROM generate_series(1, 8) \gexec
SELECT missing FROM shadows;
SELECT remote_backend_pid AS pid FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback' \gset

SET tollfree_postgres_fdw.debug_require = 'arrays';
INSERT INTO shaded SELECT i, i % 5, 'word ' || i % 7 FROM generate_series(3001, 9000) i;
RESET tollfree_postgres_fdw.debug_require;
INSERT INTO shaded VALUES (9001, 1, 'one');
COPY shaded FROM stdin;
9002	2	two
9003	3	three
\.
SELECT count(*), sum(n), count(DISTINCT word) FROM shaded;
SELECT n FROM shaded WHERE id = 9003;
-- the second time it is prepared
SELECT n FROM shaded WHERE id = 9003;
SET tollfree_postgres_fdw.debug_require = 'autocommit';
SELECT n FROM shaded WHERE id = 9003;
RESET tollfree_postgres_fdw.debug_require;
UPDATE shaded SET n = n + 1 WHERE id = 9003;
UPDATE shaded SET n = n + 1 WHERE id = 9002 RETURNING n;
DELETE FROM shaded WHERE id = 9001;

DO $$
DECLARE
	method text;
BEGIN
	FOREACH method IN ARRAY '{off, random, system, bernoulli, auto}'::text[] LOOP
		EXECUTE format('ALTER FOREIGN TABLE shaded OPTIONS (SET analyze_sampling %L)', method);
		DELETE FROM pg_statistic WHERE starelid = 'shaded'::regclass;
		ANALYZE shaded;
		RAISE NOTICE '%: %', method,
			(SELECT string_agg(attname, ' ' ORDER BY attname) FROM pg_stats WHERE tablename = 'shaded' AND schemaname = 'public');
	END LOOP;
END
$$;
-- the remote session reports once a second what it has changed, behind a COMMIT that the next SELECT waits for
SELECT pg_sleep(1.1)::text;
SELECT count(*) FROM shaded WHERE id < 0;
SELECT count(*) FROM shaded WHERE id < 0;
ANALYZE remote.shaded;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE shaded_numbers;
RESET tollfree_postgres_fdw.debug_require;
SELECT attname, n_distinct FROM pg_stats WHERE tablename = 'shaded_numbers' ORDER BY 1;
TRUNCATE shaded;
SELECT count(*) FROM remote.shaded;
SELECT remote_backend_pid = :pid AS was_it FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'loopback';
SELECT tollfree_postgres_fdw_disconnect('loopback');

DROP FOREIGN TABLE shaded, shaded_numbers, shadows;
DROP VIEW remote.shadows;
DROP FUNCTION remote.shadow;
DROP TABLE remote.shaded;
