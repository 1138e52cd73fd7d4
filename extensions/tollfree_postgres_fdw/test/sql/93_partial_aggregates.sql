-- Aggregates over partitions that are on several servers.
CREATE TABLE remote.facts AS
SELECT i AS id, i % 37 AS g, 'kind ' || i % 3 AS kind, (i * 7 % 1000 - 300)::int2 AS i2, i * 31 % 100000 - 40000 AS i4,
	(i::int8 * 922337203685 * (1 - i % 2 * 2)) AS i8, (i * 13 % 9999 / 7.0)::numeric(14, 4) AS n, (i % 101 / 3.0)::float4 AS f4, (i * 17 % 10007 / 11.0)::float8 AS f8,
	date '2020-01-01' + i % 700 AS d, i % 5 <> 0 AS b
FROM generate_series(1, 20000) i;
INSERT INTO remote.facts (id, g) SELECT 20000 + i, i % 40 FROM generate_series(1, 400) i;
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE SERVER shard_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, async_capable ''true'')', i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER shard_%s OPTIONS (password_required ''false'')', i);
		EXECUTE format('CREATE TABLE remote.facts_%s AS SELECT * FROM remote.facts WHERE id %% 4 = %s', i, i);
	END LOOP;
END
$$;
CREATE TABLE facts (LIKE remote.facts) PARTITION BY LIST ((id % 4));
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE FOREIGN TABLE facts_%s PARTITION OF facts FOR VALUES IN (%s) SERVER shard_%s OPTIONS (schema_name ''remote'')', i, i, i);
		EXECUTE format('ANALYZE facts_%s', i);
	END LOOP;
END
$$;
SET enable_partitionwise_aggregate TO on;
EXPLAIN (VERBOSE, COSTS OFF) SELECT g, count(*), avg(i4) FROM facts GROUP BY g HAVING sum(i2) > 0;
-- Rows received; and whether the answer is that of a local table.
CREATE FUNCTION aggregated(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	digest text := format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) q', query);
	plan jsonb;
	here text;
	there text;
BEGIN
	EXECUTE digest INTO here;
	PERFORM set_config('search_path', 'remote, public', true);
	EXECUTE digest INTO there;
	PERFORM set_config('search_path', 'public', true);
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT format('%s rows from %s scans', sum((node->'Actual Rows')::numeric)::int, count(*))
			FROM jsonb_path_query(plan, 'strict $.**?(@."Node Type" == "Foreign Scan")') node)
		|| CASE WHEN here IS DISTINCT FROM there THEN E', WRONG:\n' || here || E'\nnot\n' || there ELSE '' END;
END
$$;
SELECT aggregate, aggregated(format('SELECT g, %s FROM facts GROUP BY g', aggregate)),
	aggregated(format('SELECT %s FROM facts', aggregate)),
	aggregated(format('SELECT %s FROM facts WHERE id < 0', aggregate))
FROM unnest(ARRAY[
	'count(*)', 'count(i4)', 'min(i4), max(n), min(kind), max(d)', 'bool_and(b), bool_or(b), every(b)', 'bit_and(i4), bit_or(i2)',
	'sum(i2), sum(i4), sum(i8), sum(n)', 'avg(i2), avg(i4), avg(i8), avg(n)', 'sum(i8), avg(i8), count(i8)',
	'stddev(i2), variance(i4), stddev_pop(i8), var_pop(n), stddev(n), var_samp(i2), var_pop(i4)',
	'avg(n), stddev(n), sum(n), count(*) FILTER (WHERE b), avg(i4) FILTER (WHERE i2 > 0)',
	'count(*) FILTER (WHERE false), avg(n) FILTER (WHERE g < 0), stddev(i4) FILTER (WHERE g < 0), avg(f8) FILTER (WHERE g < 0)',
	'sum(i4 + i2), avg(i4 * 2)', 'avg(i4) + sum(i2) * 2']) aggregate;
SELECT aggregated('SELECT kind, g % 2, count(*) FROM facts GROUP BY kind, g % 2'),
	aggregated('SELECT kind FROM facts GROUP BY kind HAVING avg(i4) > 0 AND count(*) > 3'),
	aggregated('SELECT g, g, count(*) FROM facts GROUP BY g'),
	aggregated('SELECT count(*) FROM facts WHERE id % 4 = 1'),
	aggregated('SELECT string_agg(kind, '','' ORDER BY kind), count(DISTINCT g) FROM facts WHERE g = 3 AND i4 > 50000');
-- Special values, in one partition and in both
CREATE TABLE remote.special_0 (id int, n numeric, f float8);
CREATE TABLE remote.special_1 (LIKE remote.special_0);
CREATE VIEW remote.special AS SELECT * FROM remote.special_0 UNION ALL SELECT * FROM remote.special_1;
CREATE TABLE special (LIKE remote.special_0) PARTITION BY LIST ((id % 2));
CREATE FOREIGN TABLE special_0 PARTITION OF special FOR VALUES IN (0) SERVER shard_0 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE special_1 PARTITION OF special FOR VALUES IN (1) SERVER shard_1 OPTIONS (schema_name 'remote');
INSERT INTO remote.special_0 SELECT 2 * i, i, i FROM generate_series(1, 100) i;
INSERT INTO remote.special_1 SELECT 2 * i + 1, i / 7.0, i / 7.0 FROM generate_series(1, 100) i;
ANALYZE special_0, special_1;
CREATE PROCEDURE aggregate_with(VARIADIC texts text[])
LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO remote.special_0 SELECT 0, value::numeric, value::float8 FROM unnest(texts[1:1]) value;
	INSERT INTO remote.special_1 SELECT 1, value::numeric, value::float8 FROM unnest(texts[2:]) value;
	COMMIT;
	RAISE INFO '%: %', texts, aggregated('SELECT sum(n), avg(n), stddev(n), var_pop(n), sum(f) = ''NaN'', round(avg(f)::numeric, 2), round(stddev(f)::numeric, 2) FROM special');
	DELETE FROM remote.special_0 WHERE id = 0;
	DELETE FROM remote.special_1 WHERE id = 1;
END
$$;
CALL aggregate_with('NaN');
CALL aggregate_with('Infinity');
CALL aggregate_with('-Infinity', '-Infinity');
CALL aggregate_with('Infinity', '-Infinity');
CALL aggregate_with('Infinity', 'NaN', '5');
CALL aggregate_with('1e10', '-1e10', '1e-30');
-- What is not aggregated by the servers: a state that we do not make, a condition that cannot be sent, and when it is switched off
CREATE FUNCTION own(int) RETURNS bool
LANGUAGE plpgsql
IMMUTABLE
AS 'BEGIN RETURN $1 % 2 = 0; END';
CREATE FUNCTION is_partial(query text) RETURNS bool
LANGUAGE sql
RETURN explained(query, 'Relations', 'VERBOSE') IS NOT NULL;
SELECT query, is_partial(query), aggregated(query)
FROM unnest(ARRAY[
	'SELECT g, count(*) FROM facts WHERE d < ''2021-01-01'' GROUP BY g',
	'SELECT g, corr(i4, i8)::numeric(10, 5) FROM facts GROUP BY g',
	'SELECT g, count(*) FROM facts WHERE own(i4) GROUP BY g',
	'SELECT g, count(*) FILTER (WHERE own(i4)) FROM facts GROUP BY g',
	'SELECT g, count(*) FROM facts GROUP BY g HAVING own(count(*)::int)',
	'SELECT g, kind, count(*) FROM facts GROUP BY GROUPING SETS (g, kind)',
	'SELECT g, count(DISTINCT kind) FROM facts GROUP BY g',
	'SELECT g % 2 + 1, count(*) FROM facts GROUP BY g % 2',
	'SELECT NOT g > 2, count(*) FROM facts GROUP BY g > 2',
	'SELECT g % 2, count(*) FROM facts GROUP BY g % 2 HAVING g % 2 + count(*) > 1 ORDER BY -(g % 2)']) query;
-- Columns of GROUP BY that conditions make superfluous, that are constants, or that come twice
SELECT query, is_partial(query), aggregated(query)
FROM unnest(ARRAY[
	'SELECT g, kind, count(*) FROM facts WHERE g = 2 GROUP BY g, kind',
	'SELECT kind, count(*) FROM facts WHERE g = 2 GROUP BY kind, g',
	'SELECT g, i4, count(*), avg(n) FROM facts WHERE g = i4 GROUP BY i4, g',
	'SELECT ''all'' AS label, g, count(*) FROM facts GROUP BY label, g',
	'SELECT g AS a, g AS b, kind, sum(i4) FROM facts GROUP BY 1, 2, 3']) query;
CREATE TABLE all_facts (gone int, LIKE remote.facts) PARTITION BY RANGE (id);
ALTER TABLE all_facts DROP gone;
ALTER TABLE all_facts ATTACH PARTITION facts FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
CREATE VIEW remote.all_facts AS SELECT * FROM remote.facts;
SELECT query, is_partial(query), aggregated(query)
FROM unnest(ARRAY[
	'SELECT g, kind, count(*) FROM all_facts WHERE g = 2 GROUP BY g, kind',
	'SELECT g % 2, kind, avg(n) FROM all_facts WHERE g % 2 = 1 GROUP BY g % 2, kind']) query;
ALTER TABLE all_facts DETACH PARTITION facts;
DROP TABLE all_facts;
DROP VIEW remote.all_facts;
SET tollfree_postgres_fdw.partial_aggregates TO off;
SELECT is_partial('SELECT count(*) FROM facts');
RESET tollfree_postgres_fdw.partial_aggregates;
ALTER SERVER shard_1 OPTIONS (ADD partial_aggregates 'false');
SELECT aggregated('SELECT g, avg(n) FROM facts GROUP BY g');
ALTER SERVER shard_1 OPTIONS (DROP partial_aggregates);
ALTER SERVER shard_2 OPTIONS (ADD compatibility 'stock');
SELECT aggregated('SELECT g, avg(n) FROM facts GROUP BY g');
ALTER SERVER shard_2 OPTIONS (DROP compatibility);
-- Again and again, by a generic plan; for each row of an outer query
PREPARE total(int) AS SELECT count(*), sum(i4) FROM facts WHERE i2 > $1;
SET plan_cache_mode TO force_generic_plan;
EXECUTE total(0);
EXECUTE total(500);
RESET plan_cache_mode;
SELECT x, f.* FROM generate_series(600, 690, 30) x, LATERAL (SELECT count(*), avg(i4) FROM facts WHERE i2 > x) f;
