-- ANALYZE where a hash of ctid chooses the rows: what is asked for, by whom,
-- and that statistics are none the worse for it.
-- 3000 rows are wanted
SET default_statistics_target = 10;
CREATE TABLE remote.flock (id int, half int, word text);
ALTER TABLE remote.flock SET (autovacuum_enabled = off);
INSERT INTO remote.flock SELECT i, i / 2, 'word ' || i FROM generate_series(1, 10000) i;
CREATE MATERIALIZED VIEW remote.flock_kept AS TABLE remote.flock;
CREATE TABLE remote.flocks (id int, half int, word text) PARTITION BY RANGE (id);
CREATE TABLE remote.flocks_1 PARTITION OF remote.flocks FOR VALUES FROM (0) TO (5001);
CREATE TABLE remote.flocks_2 PARTITION OF remote.flocks DEFAULT;
-- the same values at the same places, but for id
INSERT INTO remote.flocks SELECT i, i % 5000, 'word' FROM generate_series(1, 10000) i;
CREATE TABLE remote.flock_parent (id int, half int, word text);
INSERT INTO remote.flock_parent SELECT * FROM remote.flock WHERE id <= 5000;
CREATE TABLE remote.flock_child () INHERITS (remote.flock_parent);
INSERT INTO remote.flock_child SELECT * FROM remote.flock WHERE id > 5000;
CREATE FOREIGN TABLE remote.flock_far (id int, half int, word text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'flock');
ANALYZE remote.flock, remote.flock_kept, remote.flocks_1, remote.flocks_2,
	remote.flock_parent, remote.flock_child, remote.flock_far;

-- The connection's user sees every row; the reader what he is granted.  All of
-- their queries that can be executed in parallel are.
CREATE ROLE regress_tollfree_reader LOGIN;
GRANT USAGE ON SCHEMA remote TO regress_tollfree_reader;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER parallel FOREIGN DATA WRAPPER tollfree_postgres_fdw'
				   ' OPTIONS (%s, options ''-c min_parallel_table_scan_size=0'
				   ' -c parallel_setup_cost=0 -c parallel_tuple_cost=0'
				   ' -c max_parallel_workers_per_gather=2'
				   ' -c parallel_leader_participation=off'')', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER parallel OPTIONS (password_required 'false');
CREATE FOREIGN TABLE flock (id int, half int, word text) SERVER parallel
	OPTIONS (schema_name 'remote', table_name 'flock', analyze_sampling 'bernoulli');
CREATE PROCEDURE point_at(what text, method text)
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('ALTER FOREIGN TABLE flock OPTIONS (SET table_name %L, SET analyze_sampling %L)',
				   what, method);
	DELETE FROM pg_statistic WHERE starelid = 'flock'::regclass;
END
$$;

-- The query that ANALYZE sends, from its error at a column that is missing.
CREATE FUNCTION sent() RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	context		text;
BEGIN
	ALTER FOREIGN TABLE flock ADD missing int;
	ANALYZE flock;
EXCEPTION WHEN undefined_column THEN
	GET STACKED DIAGNOSTICS context = pg_exception_context;
	RETURN regexp_replace(split_part(context, E'\n', 1), '^.* missing|\d+(?=\) BETWEEN)', '_', 'g');
END
$$;

-- What is known of the table: rows, and whether statistics are as they should be.
CREATE FUNCTION known(OUT reltuples real, OUT few_values bool, OUT half numeric, OUT in_order bool)
LANGUAGE sql
AS $$
	SELECT (SELECT reltuples FROM pg_class WHERE oid = 'flock'::regclass),
		   bool_or(attname = 'id' AND n_distinct <> -1),
		   round(max(n_distinct::numeric) FILTER (WHERE attname = 'half'), 1),
		   max(correlation) FILTER (WHERE attname = 'id') = 1
	FROM pg_stats
	WHERE schemaname = 'public' AND tablename = 'flock'
$$;

-- what is sent for each kind of relation, and what becomes of it
DO $$
DECLARE
	place		text;
	method		text;
BEGIN
	FOR place, method IN VALUES ('flock', 'bernoulli'), ('flock', 'random'), ('flock', 'auto'),
		('flock_kept', 'bernoulli'), ('flocks', 'bernoulli'), ('flocks', 'random'),
		('flock_parent', 'bernoulli'), ('flock_far', 'random'), ('flock_far', 'auto') LOOP
		CALL point_at(place, method);
		RAISE NOTICE '%, %: %', place, method, sent();
		ANALYZE flock;
		RAISE NOTICE '%', known();
	END LOOP;
END
$$;

-- Rows that only a parallel worker sees, of a table whose order must not be lost.
CREATE FUNCTION remote.is_worker(int) RETURNS bool
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $$
BEGIN
	RETURN (SELECT backend_type = 'parallel worker'
			FROM pg_stat_get_activity(pg_backend_pid()));
END
$$;
ALTER TABLE remote.flock ENABLE ROW LEVEL SECURITY;
CREATE POLICY workers ON remote.flock USING (remote.is_worker(id));
GRANT SELECT ON remote.flock TO regress_tollfree_reader;
ALTER USER MAPPING FOR PUBLIC SERVER parallel OPTIONS (ADD user 'regress_tollfree_reader');
CALL point_at('flock', 'bernoulli');
ANALYZE flock;
SELECT * FROM known();
ALTER TABLE remote.flock DISABLE ROW LEVEL SECURITY;

-- Who may not read ctid has it sampled by TABLESAMPLE, as with postgres_fdw.
REVOKE SELECT ON remote.flock FROM regress_tollfree_reader;
GRANT SELECT (id, half, word) ON remote.flock TO regress_tollfree_reader;
DO $$
DECLARE
	method		text;
BEGIN
	FOREACH method IN ARRAY '{bernoulli,random,auto}'::text[] LOOP
		CALL point_at('flock', method);
		RAISE NOTICE '%: %', method, sent();
		ANALYZE flock;
		RAISE NOTICE '%', known();
	END LOOP;
END
$$;
ALTER USER MAPPING FOR PUBLIC SERVER parallel OPTIONS (DROP user);

-- a table without columns has a ctid all the same
CREATE TABLE remote.bare ();
INSERT INTO remote.bare SELECT FROM generate_series(1, 5000);
ANALYZE remote.bare;
CREATE FOREIGN TABLE bare () SERVER parallel
	OPTIONS (schema_name 'remote', analyze_sampling 'bernoulli');
ANALYZE bare;
SELECT reltuples FROM pg_class WHERE oid = 'bare'::regclass;
DROP FOREIGN TABLE bare;
DROP TABLE remote.bare;

DROP FOREIGN TABLE flock, remote.flock_far;
DROP FUNCTION sent, known;
DROP PROCEDURE point_at;
DROP MATERIALIZED VIEW remote.flock_kept;
DROP TABLE remote.flock, remote.flocks, remote.flock_parent, remote.flock_child;
DROP FUNCTION remote.is_worker;
DROP OWNED BY regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;
DROP USER MAPPING FOR PUBLIC SERVER parallel;
SELECT tollfree_postgres_fdw_disconnect('parallel');
DROP SERVER parallel;
RESET default_statistics_target;
