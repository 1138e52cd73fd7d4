-- Groups and first rows of groups that postgres_fdw makes here, made by the remote server.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
SET datestyle = ISO;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER groups_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
	EXECUTE format('CREATE SERVER groups_other FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER groups_stock OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER groups_other OPTIONS (password_required 'false');
CREATE TABLE remote.occasions (id int PRIMARY KEY, k int, x int, ts timestamp, name text, code varchar(8), c text COLLATE "C",
	uid uuid, n numeric, f float8, doc jsonb);
INSERT INTO remote.occasions
SELECT i, nullif(i % 7, 0), nullif(i % 5, 3), timestamp '2024-01-01' + i % 500 * interval '1 hour', 'name ' || i % 9, nullif('k' || i % 4, 'k2'),
	'c' || i % 3, md5((i % 6)::text)::uuid, (i % 3)::numeric(4, 1), i % 4 / 8.0, jsonb_build_object('k', 'k' || i % 6, 'n', i % 5)
FROM generate_series(1, 3000) i;
ANALYZE remote.occasions;
CREATE TABLE remote.occasions_0 AS SELECT * FROM remote.occasions WHERE id % 2 = 0;
CREATE TABLE remote.occasions_1 AS SELECT * FROM remote.occasions WHERE id % 2 = 1;
IMPORT FOREIGN SCHEMA remote LIMIT TO (occasions) FROM SERVER loopback INTO public;
CREATE SCHEMA stock_groups;
IMPORT FOREIGN SCHEMA remote LIMIT TO (occasions) FROM SERVER groups_stock INTO stock_groups;
CREATE TABLE occasion_parts (LIKE remote.occasions) PARTITION BY LIST ((id % 2));
CREATE FOREIGN TABLE occasion_parts_0 PARTITION OF occasion_parts FOR VALUES IN (0) SERVER loopback OPTIONS (schema_name 'remote', table_name 'occasions_0');
CREATE FOREIGN TABLE occasion_parts_1 PARTITION OF occasion_parts FOR VALUES IN (1) SERVER groups_other OPTIONS (schema_name 'remote', table_name 'occasions_1');
ANALYZE occasions, stock_groups.occasions, occasion_parts_0, occasion_parts_1;

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
	stock := rows_sent_for(format(query, 'stock_groups.occasions'));
	ours := rows_sent_for(format(query, 'occasions'));
	same := digest(format(query, 'occasions')) IS NOT DISTINCT FROM digest(format(query, 'remote.occasions'))
		AND digest(format(query, 'stock_groups.occasions')) IS NOT DISTINCT FROM digest(format(query, 'remote.occasions'));
END
$$;
-- The same for partitions on two servers
CREATE FUNCTION of_parts(query text, OUT rows int, OUT same bool) LANGUAGE plpgsql AS $$
BEGIN
	rows := rows_sent_for(format(query, 'occasion_parts'));
	same := digest(format(query, 'occasion_parts')) IS NOT DISTINCT FROM digest(format(query, 'remote.occasions'));
END
$$;
SET enable_partitionwise_aggregate = on;
-- Groups by expressions, and aggregates of them
EXPLAIN (VERBOSE, COSTS OFF) SELECT doc->>'k', count(*), sum(x) FROM occasions GROUP BY 1;
EXPLAIN (VERBOSE, COSTS OFF) SELECT coalesce(x, 0) + 1, id % 10 || '%', round(avg(k), 2), 100.0 * count(*) FILTER (WHERE doc->>'k' = 'k3') / count(*) FROM occasions GROUP BY coalesce(x, 0), id % 10 || '%';
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT doc->>''k'', count(*) FROM %s GROUP BY 1',
	'SELECT doc->>''k'' AS key, count(*) FROM %s GROUP BY 1 ORDER BY 1',
	'SELECT doc->>''k'', (doc->>''k'') || ''!'', count(*) FROM %s GROUP BY 1 HAVING count(*) > 3',
	'SELECT k, count(*) FROM %s GROUP BY k HAVING count(*) FILTER (WHERE doc->>''k'' = ''k1'') > 0',
	'SELECT coalesce(x, 0), count(*) FROM %s GROUP BY 1 HAVING coalesce(x, 0) + count(*) > 5',
	'SELECT coalesce(x, 0), count(*) FROM %s GROUP BY 1 ORDER BY 1 LIMIT 2',
	'SELECT coalesce(code, name), nullif(x, 2), count(*) FROM %s GROUP BY 1, 2',
	'SELECT CASE WHEN x > 2 THEN doc->>''k'' ELSE name END, CASE doc->>''k'' WHEN ''k1'' THEN 1 END, count(*) FROM %s GROUP BY 1, 2',
	'SELECT k::text, uid::text, n::text, count(*) FROM %s GROUP BY 1, 2, 3',
	'SELECT name || k, concat(code, ''-'', x), count(*) FROM %s GROUP BY 1, 2',
	'SELECT greatest(k, x) IS NOT NULL, count(*) FROM %s GROUP BY 1',
	'SELECT count(DISTINCT doc->>''k''), count(*) FILTER (WHERE doc->>''k'' IN (''k1'', ''k2'')) FROM %s',
	'SELECT k, min(CASE WHEN doc->>''k'' = ''k3'' THEN id END), sum(coalesce(x, 0)) FROM %s GROUP BY k',
	'SELECT name, count(*) FILTER (WHERE doc->>''k'' = ''k1'') FROM %s GROUP BY name ORDER BY name',
	'SELECT a.k, coalesce(b.x, 0), count(*) FROM %1$s a JOIN %1$s b USING (id) GROUP BY 1, 2',
	'SELECT count(*) FROM %s WHERE id::text = ''45'' OR concat(name, ''/'', k) = ''name 4/3'' OR name || x = ''name 32''',
	'SELECT count(*) FROM %s WHERE uid::text LIKE ''c4%%'' AND n::text <> ''1.0'''
]) AS query, beside(query);
-- Two expressions with the same form
SELECT coalesce(x, 0), CASE WHEN x IS NOT NULL THEN x ELSE 0 END AS same, count(*), count(concat(name)), count(coalesce(name, '')) FROM occasions GROUP BY 1, 2 ORDER BY 1 LIMIT 1;
SELECT count(concat(name)), count(coalesce(name, '')) FROM occasions;
-- What looks at an order of texts, or could fail where no row needs it
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT doc->>''k'', upper(doc->>''k''), count(*) FROM %s WHERE id < 50 GROUP BY 1',
	'SELECT doc->>''k'', max(name) FROM %s WHERE id < 50 GROUP BY 1',
	'SELECT doc->>''k'', max(doc->>''n'') FROM %s WHERE id < 50 GROUP BY 1',
	'SELECT coalesce(x, 0), count(*) FILTER (WHERE doc->>''k'' > ''k2'') FROM %s WHERE id < 50 GROUP BY 1',
	'SELECT ts::text, f::text, count(*) FROM %s WHERE id < 50 GROUP BY 1, 2',
	'SELECT doc->>''k'', count(*) FROM %s WHERE id < 50 AND (x IS NULL OR doc->>''k'' > '''') GROUP BY 1'
]) AS query, beside(query);
-- Another result column has the name of the column that is sorted by, so they are sorted here.
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT k::text, k, count(*) FROM %s GROUP BY 1, 2 ORDER BY 2 LIMIT 3',
	'SELECT coalesce(x, k), k, count(*) FROM %s GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 3',
	'SELECT concat(k), k FROM %s GROUP BY 1, 2 ORDER BY k DESC LIMIT 3',
	'SELECT k::text, k, count(*) FROM %s GROUP BY 1, ROLLUP (2) ORDER BY 2 LIMIT 3',
	'SELECT date_trunc(''hour'', ts), ts, count(*) FROM %s WHERE id < 50 GROUP BY 1, ROLLUP (2) ORDER BY 1, 2',
	'SELECT coalesce(x, k), k, grouping(k) FROM %s GROUP BY GROUPING SETS ((1, 2), (2), ()) ORDER BY 2, 1 LIMIT 3',
	'SELECT k::text, x, count(*) FROM %s GROUP BY 1, 2 ORDER BY 2, 1 LIMIT 3'
]) AS query, beside(query);
PREPARE grouped(int) AS SELECT coalesce(x, 1 / $1), count(*) FROM occasions WHERE x IS NOT NULL GROUP BY 1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE grouped(0);
EXECUTE grouped(1);
RESET plan_cache_mode;
DEALLOCATE grouped;
SELECT query, of_parts.* FROM unnest(ARRAY[
	'SELECT doc->>''k'', count(*), avg(x), sum(coalesce(n, 0)) FROM %s GROUP BY 1',
	'SELECT coalesce(x, 0), avg(k) FILTER (WHERE doc->>''k'' <> ''k1'') FROM %s GROUP BY 1',
	'SELECT max(coalesce(x, k)), count(*) FILTER (WHERE doc->>''k'' <> ''k1'') FROM %s'
]) AS query, of_parts(query);
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT doc->>''k'', count(*) FROM %s GROUP BY 1',
	'SELECT coalesce(x, 0), id %% 10 || ''%%'', count(*) FROM %s GROUP BY 1, 2'
]) AS query, beside(query);
RESET tollfree_postgres_fdw.remote_expressions;
ALTER SERVER loopback OPTIONS (ADD use_remote_estimate 'true');
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT doc->>''k'', count(*) FROM %s GROUP BY 1',
	'SELECT coalesce(x, 0), id %% 10 || ''%%'', count(*) FROM %s GROUP BY 1, 2'
]) AS query, beside(query);
ALTER SERVER loopback OPTIONS (DROP use_remote_estimate);
-- A session's first query loads the library when it is being planned.
\connect -
SET client_min_messages = warning;
SELECT coalesce(x, 0), count(*) FROM occasions GROUP BY 1 ORDER BY 1;
SET enable_partitionwise_aggregate = on;

-- SELECT DISTINCT
EXPLAIN (VERBOSE, COSTS OFF) SELECT DISTINCT k, name FROM occasions WHERE x > 1;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT k FROM %s',
	'SELECT DISTINCT k, x, k FROM %s WHERE id > 100',
	'SELECT DISTINCT name, code FROM %s',
	'SELECT DISTINCT name FROM %s ORDER BY name',
	'SELECT DISTINCT k, x FROM %s ORDER BY x, k',
	'SELECT DISTINCT k + x, ''text'' FROM %s',
	'SELECT DISTINCT date_trunc(''month'', ts) FROM %s',
	'SELECT DISTINCT extract(hour FROM ts), coalesce(x, 0) FROM %s',
	'SELECT DISTINCT doc->>''k'' FROM %s',
	'SELECT count(*), sum(x) FROM (SELECT DISTINCT k, x FROM %s) q WHERE k > 2',
	'SELECT DISTINCT k FROM (SELECT k, x FROM %s WHERE x > 1) q',
	'SELECT k FROM (SELECT DISTINCT k, name FROM %s) q WHERE name = ''name 3''',
	'SELECT DISTINCT a.k, b.x FROM %1$s a JOIN %1$s b USING (id) WHERE a.x = 2',
	'SELECT DISTINCT k FROM %1$s UNION SELECT DISTINCT x FROM %1$s',
	'SELECT i FROM generate_series(1, 9) i WHERE i IN (SELECT DISTINCT k FROM %s)',
	'SELECT DISTINCT k FROM %s WHERE id < 0',
	'WITH q AS (SELECT DISTINCT k, c FROM %s) SELECT max(k), min(c) FROM q'
]) AS query, beside(query);
-- These were evaluated here, by the local collation, or are not the same there; what is volatile, too.
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT upper(name) FROM %s WHERE id < 50',
	'SELECT DISTINCT name < ''name 3'' FROM %s WHERE id < 50',
	'SELECT DISTINCT f::text FROM %s WHERE id < 50',
	'SELECT DISTINCT k, random() < 0 FROM %s WHERE id < 50',
	'SELECT DISTINCT k, (SELECT 1) FROM %s WHERE id < 50',
	'SELECT DISTINCT k, count(*) FROM %s WHERE id < 50 GROUP BY k, x'
]) AS query, beside(query);
CREATE COLLATION nondeterministic (provider = icu, locale = 'und', deterministic = false);
CREATE FOREIGN TABLE odd_occasions (id int, name text COLLATE nondeterministic) SERVER loopback OPTIONS (schema_name 'remote', table_name 'occasions');
SELECT explained('SELECT DISTINCT name FROM odd_occasions', 'Relations', 'VERBOSE') AS grouped;
CREATE TEMP TABLE here AS SELECT i AS id, i % 3 AS k FROM generate_series(1, 30) i;
EXPLAIN (COSTS OFF) SELECT DISTINCT k FROM here;
-- Nor are rows for these sorted there, as they would be brought together by another value.
SET enable_hashagg = off;
SELECT explained(format('SELECT DISTINCT %s FROM occasions WHERE code IN (''k1'', current_setting(''app.none'', true))', selected), 'Remote SQL')::text LIKE '%ORDER BY%' AS sorted_there
FROM unnest(ARRAY['id % 3, name < ''name 3''', 'id % 3, name', 'row_number() OVER (PARTITION BY upper(name))']) AS selected;
RESET enable_hashagg;
-- Prepared, of a cursor, in a view; without a table, and for rows to be locked
PREPARE of_key(int) AS SELECT DISTINCT x FROM occasions WHERE k = $1 ORDER BY x;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_key(3);
RESET plan_cache_mode;
CREATE VIEW distinct_keys AS SELECT DISTINCT k, x FROM occasions;
SELECT count(*) FROM distinct_keys WHERE k = 2;
SELECT * FROM distinct_keys WHERE k = 2 ORDER BY x FOR UPDATE;
SELECT pg_get_viewdef('distinct_keys') LIKE '%DISTINCT%' AS is_distinct;
DROP VIEW distinct_keys;
SELECT DISTINCT 1 AS one;
DEALLOCATE of_key;
SELECT query, of_parts.* FROM unnest(ARRAY[
	'SELECT DISTINCT k, name FROM %s',
	'SELECT DISTINCT coalesce(x, 0) FROM %s ORDER BY 1 LIMIT 2',
	'SELECT DISTINCT doc->>''k'' FROM %s',
	'SELECT count(*) FROM (SELECT DISTINCT k, x FROM %s) q'
]) AS query, of_parts(query);
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT name, code FROM %s'
]) AS query, beside(query);
RESET tollfree_postgres_fdw.remote_expressions;
ALTER SERVER loopback OPTIONS (ADD use_remote_estimate 'true');
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT name, code FROM %s',
	'SELECT DISTINCT k, x FROM %s ORDER BY x, k LIMIT 3 OFFSET 1'
]) AS query, beside(query);
EXPLAIN (VERBOSE, COSTS OFF) SELECT DISTINCT k, x FROM occasions ORDER BY k DESC, x LIMIT 3;
SELECT explained('SELECT DISTINCT name FROM occasions ORDER BY name LIMIT 3', 'Remote SQL');
ALTER SERVER loopback OPTIONS (DROP use_remote_estimate);
DROP TABLE here;
DROP FOREIGN TABLE odd_occasions;
DROP COLLATION nondeterministic;

-- The first rows of groups
SELECT explained('SELECT DISTINCT ON (k) k, id, ts FROM occasions ORDER BY k, ts DESC, id', 'Remote SQL');
SELECT explained('SELECT id, n FROM (SELECT id, row_number() OVER (PARTITION BY name ORDER BY ts DESC, id) AS n FROM occasions WHERE x > 1) q WHERE n <= 2', 'Remote SQL');
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, id, ts, doc FROM %s ORDER BY k, ts DESC, id',
	'SELECT DISTINCT ON (x, k) * FROM %s WHERE id > 500 ORDER BY k DESC NULLS LAST, x, ts NULLS FIRST, id DESC',
	'SELECT DISTINCT ON (name) name, id FROM %s ORDER BY name, id DESC',
	'SELECT DISTINCT ON (code) code, c, id FROM %s ORDER BY code, c DESC, id',
	'SELECT DISTINCT ON (k) k FROM %s',
	'SELECT DISTINCT ON (k) k, id + 1 FROM %s WHERE ts < localtimestamp ORDER BY k, id',
	'SELECT q.id FROM (SELECT DISTINCT ON (k) * FROM %s ORDER BY k, id) q WHERE x = 2',
	'SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts DESC, id) AS r FROM %s) q WHERE r = 1',
	'SELECT * FROM (SELECT id, name, row_number() OVER (PARTITION BY name, k ORDER BY id) AS r FROM %s) q WHERE r < 3 AND name <> ''name 3''',
	'SELECT * FROM (SELECT id, rank() OVER w AS r, row_number() OVER w AS i FROM %s WINDOW w AS (PARTITION BY k ORDER BY x, id)) q WHERE r <= 4',
	'SELECT k, x, r FROM (SELECT k, x, dense_rank() OVER (PARTITION BY k ORDER BY x) AS r FROM %s) q WHERE r <= 2::bigint',
	'SELECT * FROM (SELECT id, row_number() OVER (ORDER BY ts DESC, id) AS r, random() < 2 FROM %s WHERE id < 50) q WHERE r <= 5',
	'SELECT i, id FROM generate_series(1, 2) i, LATERAL (SELECT DISTINCT ON (k) * FROM %s WHERE x = i ORDER BY k, id) q'
]) AS query, beside(query);
-- Orders with another meaning there, and what needs the other rows, too
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, name FROM %s WHERE id < 50 ORDER BY k, name, id',
	'SELECT DISTINCT ON (k) k, id FROM %s WHERE id < 50 ORDER BY k, doc, id',
	'SELECT DISTINCT ON (k + 1) k, id FROM %s WHERE id < 50 ORDER BY k + 1, id',
	'SELECT DISTINCT ON (k) k, id FROM %s WHERE id < 50 AND upper(doc->>''k'') <> ''K3'' ORDER BY k, id',
	'SELECT DISTINCT ON (k) k, count(*), sum(id) FROM %s WHERE id < 50 GROUP BY k, x ORDER BY k, 2, 3',
	'SELECT * FROM (SELECT id, row_number() OVER w AS r, count(*) OVER w FROM %s WHERE id < 50 WINDOW w AS (PARTITION BY k ORDER BY id)) q WHERE r <= 2',
	'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS r, rank() OVER (ORDER BY id) FROM %s WHERE id < 50) q WHERE r <= 2',
	'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM %s WHERE id < 50) q WHERE r > 2',
	'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM %s WHERE id < 50 LIMIT 100) q WHERE r <= 2',
	'SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) FROM %s WHERE id < 50'
]) AS query, beside(query);
SELECT count(*) FROM (SELECT row_number() OVER () AS r FROM occasions) q WHERE r <= 3;
SELECT rows_sent_for('SELECT DISTINCT ON (a.k) a.id FROM occasions a JOIN occasions b USING (id) WHERE a.id < 50 ORDER BY a.k, a.id') AS received;
SELECT query, of_parts.* FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, id, ts FROM %s ORDER BY k, ts DESC, id',
	'SELECT * FROM (SELECT id, name, row_number() OVER (PARTITION BY name ORDER BY ts DESC, id) AS r FROM %s) q WHERE r <= 2',
	'SELECT * FROM (SELECT id, row_number() OVER (ORDER BY ts DESC, id) AS r FROM %s) q WHERE r <= 2'
]) AS query, of_parts(query);
SELECT explained('SELECT * FROM (SELECT id, row_number() OVER (ORDER BY ts DESC, id) AS r FROM occasions WHERE x > 2) q WHERE r < 3', 'Remote SQL'),
	explained('SELECT * FROM (SELECT id, rank() OVER (ORDER BY ts DESC, id) AS r FROM occasions WHERE x > 2) q WHERE r < 3', 'Remote SQL');
-- Values of this session in groups, aggregates and HAVING, and parts of intervals
EXPLAIN (VERBOSE, COSTS OFF) SELECT k, count(*) FILTER (WHERE ts > localtimestamp - interval '1 day') FROM occasions GROUP BY k HAVING max(ts) < localtimestamp;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT count(*) FILTER (WHERE ts > localtimestamp - interval ''1 day''), count(*) FROM %s',
	'SELECT sum(CASE WHEN ts < localtimestamp THEN x END) FROM %s',
	'SELECT CASE WHEN ts < localtimestamp THEN ''past'' ELSE ''to come'' END, count(*) FROM %s GROUP BY 1',
	'SELECT localtimestamp - ts > interval ''1 day'', count(*) FROM %s GROUP BY 1',
	'SELECT current_date - ts::date > 7 AS old, k, count(*) FROM %s GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT DISTINCT current_date > ts FROM %s',
	'SELECT k FROM %s GROUP BY k HAVING max(ts) > localtimestamp - interval ''1 day''',
	'SELECT k FROM %s GROUP BY k HAVING max(ts) < localtimestamp AND count(*) > 3 ORDER BY 1 LIMIT 2',
	'SELECT k FROM %s GROUP BY k HAVING max(ts) < localtimestamp AND count(*) > random()',
	'SELECT count(*) FROM %s WHERE extract(epoch FROM localtimestamp - ts) > 86400 AND k = 3',
	'SELECT date_trunc(''day'', ts), k, count(*) FROM %s WHERE ts > timestamp ''2024-01-18'' GROUP BY 1, 2',
	'SELECT id FROM %s WHERE doc @> jsonb_build_object(''k'', ''k1'') AND x = 2',
	'SELECT max(date_trunc(''day'', timestamp ''2030-01-01'' - ts)), min(extract(day FROM timestamp ''2030-01-01'' - ts)) FROM %s',
	'SELECT sum(x) FILTER (WHERE k = current_setting(''effective_io_concurrency'')::int) FROM %s WHERE k IS NULL AND id < 30'
]) AS query, beside(query);
SELECT query, of_parts.* FROM unnest(ARRAY[
	'SELECT count(*) FILTER (WHERE ts > localtimestamp - interval ''1 day'') FROM %s',
	'SELECT CASE WHEN ts < localtimestamp THEN ''past'' ELSE ''to come'' END, count(*) FROM %s GROUP BY 1',
	'SELECT DISTINCT name FROM %s',
	'SELECT name FROM %1$s UNION SELECT c FROM %1$s'
]) AS query, of_parts(query);
-- Parts of UNION and the like, whose rows count once
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT name FROM %1$s UNION SELECT code FROM %1$s',
	'SELECT name, k FROM %1$s UNION SELECT c, x FROM %1$s',
	'SELECT k FROM %1$s INTERSECT SELECT x FROM %1$s',
	'SELECT k FROM %1$s EXCEPT SELECT x FROM %1$s',
	'SELECT k FROM %1$s UNION (SELECT x FROM %1$s UNION ALL SELECT mod(id, 3) FROM %1$s) ORDER BY 1',
	'SELECT k FROM %1$s UNION SELECT 3',
	'SELECT k FROM %1$s UNION ALL SELECT x FROM %1$s',
	'SELECT k FROM %1$s UNION (SELECT x FROM %1$s INTERSECT ALL SELECT k FROM %1$s)',
	'SELECT k FROM %1$s UNION SELECT x::bigint FROM %1$s',
	'SELECT k FROM %1$s UNION (SELECT x FROM %1$s ORDER BY id LIMIT 3)',
	'SELECT k, count(*) FROM %1$s GROUP BY 1 UNION SELECT x, count(*) FROM %1$s GROUP BY 1',
	'WITH RECURSIVE r AS (SELECT k FROM %1$s UNION SELECT k + 1 FROM r WHERE k < 9) SELECT * FROM r'
]) AS query, beside(query);
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, id, ts FROM %s ORDER BY k, ts DESC, id'
]) AS query, beside(query);
RESET tollfree_postgres_fdw.remote_expressions;
ALTER SERVER loopback OPTIONS (ADD use_remote_estimate 'true');
SELECT query, beside.* FROM unnest(ARRAY[
	'SELECT DISTINCT ON (k) k, id, ts FROM %s ORDER BY k, ts DESC, id'
]) AS query, beside(query);
ALTER SERVER loopback OPTIONS (DROP use_remote_estimate);

DROP FUNCTION beside, of_parts, digest, rows_sent_for;
DROP TABLE occasion_parts;
DROP FOREIGN TABLE occasions;
DROP SCHEMA stock_groups CASCADE;
DROP TABLE remote.occasions, remote.occasions_0, remote.occasions_1;
DROP SERVER groups_stock, groups_other CASCADE;
RESET enable_partitionwise_aggregate;
RESET client_min_messages;
RESET datestyle;
