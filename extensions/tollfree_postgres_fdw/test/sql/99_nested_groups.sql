-- Grouping sets, orders with a LIMIT, and aggregates of subqueries that have groups, made by the remote server.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
SET datestyle = ISO;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER nested_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER nested_stock OPTIONS (password_required 'false');
CREATE TYPE remote.parcel_state AS ENUM ('sent', 'lost');
CREATE TABLE remote.bundles (id int PRIMARY KEY, k int, x int, ts timestamp, name text, c text COLLATE "C", n numeric, f float8, ok bool, uid uuid,
	doc jsonb, state text);
INSERT INTO remote.bundles
SELECT i, nullif(i % 7, 0), nullif(i % 5, 3), timestamp '2024-01-01' + i % 500 * interval '1 hour', 'name ' || i % 9, nullif('c' || i % 3, 'c2'),
	(i % 3)::numeric(4, 1), i % 4 / 8.0, nullif(i % 4, 0) = 1, md5((i % 6)::text)::uuid, jsonb_build_object('k', 'k' || i % 6), (ARRAY['sent', 'lost'])[i % 2 + 1]
FROM generate_series(1, 3000) i;
ANALYZE remote.bundles;
CREATE TYPE parcel_state AS ENUM ('sent', 'lost');
CREATE TABLE remote.no_parcels (LIKE remote.bundles);
IMPORT FOREIGN SCHEMA remote LIMIT TO (bundles, no_parcels) FROM SERVER loopback INTO public;
ALTER FOREIGN TABLE bundles ALTER state TYPE parcel_state;
CREATE SCHEMA stock_nested;
IMPORT FOREIGN SCHEMA remote LIMIT TO (bundles, no_parcels) FROM SERVER nested_stock INTO stock_nested;
ALTER FOREIGN TABLE stock_nested.bundles ALTER state TYPE parcel_state;
ANALYZE bundles, stock_nested.bundles;

-- Rows that all scans of a query receive, by stock and by ours, and whether the answers are those of a local table.
CREATE FUNCTION rows_sent_for(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT sum(coalesce((node->'Rows Received')::numeric,
								((node->'Actual Rows')::numeric + coalesce((node->'Rows Removed by Filter')::numeric, 0)) * (node->'Actual Loops')::numeric))::int
			FROM jsonb_path_query(plan, 'strict $.**?(@."Node Type" == "Foreign Scan")') node);
END
$$;
CREATE FUNCTION digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	digest text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO digest;
	RETURN digest;
END
$$;
CREATE FUNCTION beside(query text, OUT stock int, OUT ours int, OUT same bool) LANGUAGE plpgsql AS $$
BEGIN
	stock := rows_sent_for(format(query, 'stock_nested.bundles'));
	ours := rows_sent_for(format(query, 'bundles'));
	same := digest(format(query, 'bundles')) IS NOT DISTINCT FROM digest(format(query, 'remote.bundles'))
		AND digest(format(query, 'stock_nested.bundles')) IS NOT DISTINCT FROM digest(format(query, 'remote.bundles'));
END
$$;
-- A session's first query loads the library when it is being planned.
SELECT count(*) FROM bundles;

-- Grouping sets
EXPLAIN (VERBOSE, COSTS OFF) SELECT k, x, count(*) FROM bundles GROUP BY ROLLUP (k, x);
EXPLAIN (VERBOSE, COSTS OFF) SELECT coalesce(name, 'all'), GROUPING(name, id % 7), GROUPING(name) + 1, sum(n) FILTER (WHERE x > 1) FROM bundles WHERE id < 2000
	GROUP BY CUBE (name, id % 7) HAVING GROUPING(name) = 0 OR count(*) > 3 ORDER BY id % 7 LIMIT 5;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT k, x, count(*) FROM %s GROUP BY ROLLUP (k, x)',
	'SELECT k, x, sum(n) FROM %s GROUP BY CUBE (k, x)',
	'SELECT k, id %% 7, sum(n) FROM %s GROUP BY GROUPING SETS ((k, id %% 7), (k), ())',
	'SELECT k, x, count(*) FROM %s GROUP BY k, ROLLUP (x, k)',
	'SELECT k, count(*) FROM %s GROUP BY GROUPING SETS ((k), (k), ())',
	'SELECT k, count(*) FROM %s GROUP BY DISTINCT GROUPING SETS ((k), (k), ())',
	'SELECT k, x, avg(f), count(DISTINCT n) FROM %s GROUP BY DISTINCT ROLLUP (k, x), ROLLUP (k)',
	'SELECT count(*) FROM %s GROUP BY ()',
	'SELECT count(*), sum(x) FROM %s WHERE id < 0 GROUP BY ()',
	'SELECT k, count(*) FROM %s WHERE id < 0 GROUP BY ROLLUP (k)',
	'SELECT k, count(*) FROM %s WHERE id < 0 GROUP BY GROUPING SETS ((k), (), ())',
	'SELECT k, count(*) FROM %s WHERE k = 3 GROUP BY ROLLUP (k) ORDER BY k',
	'SELECT name, count(*) FROM %s GROUP BY ROLLUP (name) ORDER BY name LIMIT 20',
	'SELECT k, x, count(*) FROM %s GROUP BY ROLLUP (k, x) ORDER BY k, x LIMIT 3',
	'SELECT k, count(*) FROM %s GROUP BY ROLLUP (k) ORDER BY count(*), k LIMIT 3',
	'SELECT k, x, count(*), GROUPING(k), GROUPING(x, k) FROM %s GROUP BY CUBE (k, x) ORDER BY GROUPING(k), 1, 2',
	'SELECT k, sum(x) FROM %s GROUP BY ROLLUP (k) HAVING GROUPING(k) = 1 OR sum(x) > 500',
	'SELECT k, sum(x) FROM %s GROUP BY ROLLUP (k) HAVING coalesce(k, -1) < 2',
	'SELECT id %% 3, sum(x) FROM %s GROUP BY ROLLUP (id %% 3) HAVING id %% 3 > 0',
	'SELECT id %% 3 + 1, abs(GROUPING(id %% 3)) FROM %s GROUP BY ROLLUP (id %% 3)',
	'SELECT coalesce(name, ''all''), k IS NULL, GROUPING(name), count(*) FROM %s GROUP BY CUBE (name, k IS NULL)',
	'SELECT doc->>''k'', GROUPING(doc->>''k''), count(*) FROM %s GROUP BY ROLLUP (doc->>''k'')',
	'SELECT coalesce(x, 0), GROUPING(coalesce(x, 0)), count(*) FROM %s GROUP BY CUBE (coalesce(x, 0), k)',
	'SELECT date_trunc(''month'', ts), ts::date, count(*) FROM %s WHERE id < 900 GROUP BY ROLLUP (date_trunc(''month'', ts), ts::date)',
	'SELECT state, GROUPING(state), count(*) FROM %s GROUP BY ROLLUP (state, k)',
	'SELECT ok, uid, c, count(*) FROM %s GROUP BY GROUPING SETS ((ok, uid), (c), (uid))',
	'SELECT a.k, b.x, count(*) FROM %1$s a JOIN %1$s b USING (id) GROUP BY ROLLUP (a.k, b.x)',
	'SELECT DISTINCT count(*) FROM %s GROUP BY CUBE (k, x)',
	'SELECT k, sum(sum(x)) OVER (PARTITION BY GROUPING(k)) FROM %s GROUP BY ROLLUP (k)',
	'SELECT k, GROUPING(k), count(*) FROM %s GROUP BY k HAVING GROUPING(k) = 0',
	'SELECT ''GROUP BY 1'' || k, count(*) FROM %s WHERE name <> '' GROUP BY 1, 2'' GROUP BY ROLLUP (k)',
	'SELECT k, max(id), min(ts), bool_and(ok), stddev(n), bit_or(x) FROM %s GROUP BY ROLLUP (k)',
	'SELECT * FROM (SELECT k, x, count(*) AS m FROM %s GROUP BY ROLLUP (k, x)) q WHERE k > 3 AND m > 10'
]) AS query, beside(query);
-- These stay here: orders of texts, constants, volatile functions.
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT k, max(name) FROM %s WHERE id < 50 GROUP BY ROLLUP (k)',
	'SELECT upper(name), count(*) FROM %s WHERE id < 50 GROUP BY ROLLUP (upper(name))',
	'SELECT 1 AS one, k, count(*) FROM %s WHERE id < 50 GROUP BY ROLLUP (one, k)',
	'SELECT k, count(random()) FROM %s WHERE id < 50 GROUP BY ROLLUP (k)'
]) AS query, beside(query);
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
ALTER FOREIGN TABLE bundles ALTER name TYPE text COLLATE any_case;
EXPLAIN (VERBOSE, COSTS OFF) SELECT name, count(*) FROM bundles GROUP BY ROLLUP (name);
ALTER FOREIGN TABLE bundles ALTER name TYPE text;
PREPARE by_sets(int) AS SELECT id % $1, GROUPING(id % $1), count(*) FROM bundles GROUP BY ROLLUP (id % $1) HAVING count(*) > $1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_sets(2);
EXECUTE by_sets(0);
RESET plan_cache_mode;
DEALLOCATE by_sets;
ALTER SERVER loopback OPTIONS (ADD use_remote_estimate 'true');
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT k, x, count(*), GROUPING(k) FROM %s GROUP BY ROLLUP (k, x) ORDER BY k, x LIMIT 3',
	'SELECT count(*) FROM (SELECT DISTINCT k, x FROM %s) q',
	'SELECT DISTINCT id FROM %s ORDER BY id LIMIT 7'
]) AS query, beside(query);
ALTER SERVER loopback OPTIONS (DROP use_remote_estimate);

-- An order and a LIMIT of groups
EXPLAIN (VERBOSE, COSTS OFF) SELECT DISTINCT id FROM bundles ORDER BY id LIMIT 7;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT id FROM %s ORDER BY id LIMIT 7',
	'SELECT DISTINCT ts FROM %s ORDER BY ts DESC LIMIT 7 OFFSET 3',
	'SELECT DISTINCT k, x FROM %s WHERE id > 100 ORDER BY k, x LIMIT 7',
	'SELECT count(*) FROM (SELECT DISTINCT ts FROM %s LIMIT 7) q',
	'SELECT ts, count(*) FROM %s GROUP BY ts ORDER BY ts LIMIT 7',
	'SELECT ts, count(*) FROM %s GROUP BY ts HAVING count(*) > 3 ORDER BY ts LIMIT 7',
	'SELECT ts, max(k) FROM %s GROUP BY ts ORDER BY max(k) DESC, ts LIMIT 7'
]) AS query, beside(query);

-- Aggregates of subqueries
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM (SELECT DISTINCT k FROM bundles) q;
EXPLAIN (VERBOSE, COSTS OFF) SELECT name, sum(m) / count(*), count(DISTINCT k) FROM (SELECT name, k, count(*) AS m FROM bundles GROUP BY name, k HAVING count(*) > 2) q GROUP BY name;
EXPLAIN (VERBOSE, COSTS OFF) SELECT sum(x) FROM (SELECT x FROM bundles ORDER BY id LIMIT 10) q;
EXPLAIN (VERBOSE, COSTS OFF) SELECT name, count(*) FROM (SELECT DISTINCT name, k FROM bundles) q GROUP BY name HAVING count(*) > 6;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT count(*) FROM (SELECT DISTINCT k FROM %s) q',
	'SELECT count(*) FROM (SELECT DISTINCT k, name FROM %s) q',
	'SELECT count(*), count(k) FROM (SELECT DISTINCT k FROM %s WHERE id < 0) q',
	'SELECT count(*), sum(k), avg(k), min(k), max(k) FROM (SELECT DISTINCT k, x FROM %s) q',
	'SELECT count(*) FROM (SELECT k FROM %s GROUP BY k HAVING count(*) > 428) q',
	'SELECT avg(m), max(m), stddev(m) FROM (SELECT name, count(*) AS m FROM %s GROUP BY name) q',
	'SELECT count(*) + 1, round(avg(m), 1) FROM (SELECT k, x, count(*) AS m FROM %s GROUP BY k, x) q WHERE m > 60',
	'SELECT max(s) FROM (SELECT k, sum(n) AS s FROM %s GROUP BY k) q HAVING count(*) > 3',
	'SELECT max(s) FROM (SELECT k, sum(n) AS s FROM %s GROUP BY k) q HAVING count(*) > 300',
	'SELECT name, count(*), sum(x) FROM (SELECT DISTINCT name, x FROM %s) q GROUP BY name',
	'SELECT name || ''!'', count(*) FROM (SELECT DISTINCT name, x FROM %s) q GROUP BY name HAVING sum(x) > 6',
	'SELECT c, count(*), sum(s) FROM (SELECT c, id %% 300 AS x, sum(n) AS s FROM %s GROUP BY 1, 2) q GROUP BY c',
	'SELECT DISTINCT m FROM (SELECT k, x, count(*) AS m FROM %s GROUP BY k, x) q',
	'SELECT DISTINCT count(*) FROM %s GROUP BY k, x',
	'SELECT count(*) FROM (SELECT id FROM %s LIMIT 10) q',
	'SELECT count(*), count(x), sum(x) FROM (SELECT x FROM %s ORDER BY id LIMIT 10 OFFSET 5) q',
	'SELECT count(*) FROM (SELECT * FROM %s OFFSET 0) q',
	'SELECT max(ts), count(DISTINCT c), count(state) FROM (SELECT ts, c, state FROM %s ORDER BY id LIMIT 100) q',
	'SELECT bool_or(ok), bool_and(ok), every(ok) FROM (SELECT DISTINCT ok, k FROM %s) q',
	'SELECT count(DISTINCT doc) FROM (SELECT doc->>''k'' AS doc FROM %s GROUP BY 1) q',
	'SELECT count(state), count(*) FROM (SELECT DISTINCT state FROM %s) q',
	'SELECT avg(m) FROM (SELECT k, x, count(*) AS m FROM %s GROUP BY ROLLUP (k, x)) q',
	'SELECT sum(c) FROM (SELECT count(*) AS c FROM (SELECT DISTINCT k, x FROM %s) p GROUP BY k) q',
	'WITH q AS (SELECT DISTINCT k FROM %s) SELECT count(*) FROM q',
	'SELECT (SELECT count(*) FROM (SELECT DISTINCT k FROM %s) q), 1',
	'SELECT i, (SELECT count(*) FROM (SELECT DISTINCT k FROM %s WHERE x = i) q) FROM generate_series(1, 2) i',
	'SELECT count(*) FROM (SELECT DISTINCT k FROM %1$s) p UNION ALL SELECT count(*) FROM (SELECT DISTINCT x FROM %1$s) q',
	'SELECT count(*) FROM (SELECT DISTINCT a.k, b.x FROM %1$s a JOIN %1$s b USING (id)) q',
	'SELECT count(*) FROM (SELECT DISTINCT k FROM %s WHERE ts < now() AND doc->>''k'' <> ''k1'') q'
]) AS query, beside(query);
-- These stay here: what looks at an order, at a filter, at what is evaluated here; rows that are locked.
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT max(name) FROM (SELECT DISTINCT name FROM %s) q',
	'SELECT string_agg(k::text, '','' ORDER BY k) FROM (SELECT DISTINCT k FROM %s) q',
	'SELECT count(*) FILTER (WHERE k > 2) FROM (SELECT DISTINCT k FROM %s) q',
	'SELECT count(*) FROM (SELECT DISTINCT k FROM %s WHERE random() < 2) q',
	'SELECT sum(k) FROM (SELECT k FROM %s WHERE random() < 2 LIMIT 3000) q'
]) AS query, beside(query);
SELECT sum(k), rows_sent_for('SELECT sum(k) FROM (SELECT k FROM bundles ORDER BY id LIMIT 7 FOR UPDATE) q') AS received FROM (SELECT k FROM bundles ORDER BY id LIMIT 7 FOR UPDATE) q;
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FILTER (WHERE k > 2) FROM (SELECT DISTINCT k FROM bundles) q;
SELECT count(*), sum(x), max(m) FROM (SELECT x, count(*) AS m FROM no_parcels GROUP BY x) q;
-- Who may not read the table may not read it so, either; what is read is known to the plan.
CREATE ROLE nested_reader;
SET ROLE nested_reader;
SELECT count(*) FROM (SELECT DISTINCT k FROM bundles) q;
RESET ROLE;
PREPARE counted AS SELECT count(*) FROM (SELECT DISTINCT k FROM bundles) q;
SET plan_cache_mode = force_generic_plan;
EXECUTE counted;
ALTER FOREIGN TABLE bundles OPTIONS (SET table_name 'no_parcels');
EXECUTE counted;
ALTER FOREIGN TABLE bundles OPTIONS (SET table_name 'bundles');
RESET plan_cache_mode;
DEALLOCATE counted;
DROP ROLE nested_reader;

SET tollfree_postgres_fdw.remote_expressions = off;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT k, x, count(*), GROUPING(k) FROM %s GROUP BY ROLLUP (k, x)',
	'SELECT DISTINCT id FROM %s ORDER BY id LIMIT 7',
	'SELECT count(*) FROM (SELECT k FROM %s GROUP BY k) q'
]) AS query, beside(query);
EXPLAIN (VERBOSE, COSTS OFF) SELECT k, count(*) FROM bundles GROUP BY ROLLUP (k);
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM (SELECT k FROM bundles GROUP BY k) q;
RESET tollfree_postgres_fdw.remote_expressions;
ALTER SERVER loopback OPTIONS (ADD compatibility 'stock');
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT k, x, count(*) FROM %s GROUP BY ROLLUP (k, x)',
	'SELECT count(*) FROM (SELECT k FROM %s GROUP BY k) q'
]) AS query, beside(query);
ALTER SERVER loopback OPTIONS (DROP compatibility);

DROP FUNCTION beside, digest, rows_sent_for;
DROP FOREIGN TABLE bundles, no_parcels;
DROP SCHEMA stock_nested CASCADE;
DROP TYPE parcel_state, remote.parcel_state;
DROP TABLE remote.bundles, remote.no_parcels;
DROP COLLATION any_case;
DROP SERVER nested_stock CASCADE;
RESET client_min_messages;
RESET datestyle;
