-- The first rows of a table whose partitions are on several servers.
CREATE TABLE remote.events AS SELECT i AS id, i * 7919 % 10007 AS score, nullif(i % 11, 0) AS part, 'event ' || i AS name FROM generate_series(1, 8000) i;
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE SERVER place_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER place_%s OPTIONS (password_required ''false'')', i);
		EXECUTE format('CREATE TABLE remote.events_%s AS SELECT * FROM remote.events WHERE id %% 4 = %s', i, i);
	END LOOP;
END
$$;
CREATE TABLE events (LIKE remote.events) PARTITION BY LIST ((id % 4));
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE FOREIGN TABLE events_%s PARTITION OF events FOR VALUES IN (%s) SERVER place_%s OPTIONS (schema_name ''remote'')', i, i, i);
		EXECUTE format('ANALYZE events_%s', i);
	END LOOP;
END
$$;
EXPLAIN (VERBOSE, COSTS OFF) SELECT name FROM events ORDER BY score LIMIT 10;
CREATE FUNCTION is_even(int) RETURNS bool
LANGUAGE plpgsql
IMMUTABLE
AS 'BEGIN RETURN $1 % 2 = 0; END';
-- Rows received, LIMITs sent; and whether the answer is that of a local table.
CREATE FUNCTION first_rows(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	digest text := format('SELECT count(*) || md5(string_agg(q::text, '','')) FROM (%s) q', query);
	plan jsonb;
	here text;
	there text;
BEGIN
	EXECUTE digest INTO here;
	PERFORM set_config('search_path', 'remote, public', true);
	EXECUTE digest INTO there;
	PERFORM set_config('search_path', 'public', true);
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT format('%s rows from %s scans, %s limits', sum((node->'Actual Rows')::numeric)::int, count(*),
						  count(*) FILTER (WHERE node ? 'Remote Limit'))
			FROM jsonb_path_query(plan, 'strict $.**?(@."Node Type" == "Foreign Scan")') node)
		|| CASE WHEN here IS DISTINCT FROM there THEN E', WRONG: ' || here || ', not ' || there ELSE '' END;
END
$$;
SET tollfree_postgres_fdw.batched_lookups = off;
SELECT query, first_rows(query)
FROM unnest(ARRAY[
	'SELECT name FROM events ORDER BY score LIMIT 10',
	'SELECT name FROM events ORDER BY score DESC, id OFFSET 5 LIMIT 10',
	'SELECT part, id FROM events WHERE part > 3 ORDER BY part NULLS FIRST, id LIMIT 3',
	'SELECT id FROM events WHERE id = 5 ORDER BY id LIMIT 3',
	'SELECT score FROM events ORDER BY score LIMIT 0',
	'SELECT score FROM events WHERE id % 4 IN (1, 2) ORDER BY score LIMIT 4',
	-- those that need more of a partition, or do not say how much
	'SELECT name FROM events WHERE is_even(score) ORDER BY score LIMIT 10',
	'SELECT score % 7 FROM events GROUP BY score % 7 ORDER BY 1 LIMIT 2',
	'SELECT DISTINCT part FROM events ORDER BY part LIMIT 2',
	'SELECT part FROM events ORDER BY part FETCH FIRST 3 ROWS WITH TIES',
	'SELECT name, generate_series(1, 2) FROM events ORDER BY score LIMIT 4',
	'SELECT e.name, f.id FROM events e JOIN events f ON e.id = f.score ORDER BY e.score, f.id LIMIT 3',
	'SELECT name FROM events ORDER BY score LIMIT (SELECT 3)',
	'SELECT sum(score) OVER (ORDER BY score) FROM events ORDER BY 1 LIMIT 3',
	'SELECT name FROM (SELECT name, score FROM events ORDER BY score LIMIT 100) e ORDER BY name LIMIT 2']) query;
RESET tollfree_postgres_fdw.batched_lookups;
SELECT id % 4 FROM events_1 ORDER BY score LIMIT 1;
-- A LIMIT that is not known to the planner, or only guessed
PREPARE top(int) AS SELECT score FROM events ORDER BY score LIMIT $1;
SET plan_cache_mode TO force_generic_plan;
EXECUTE top(2);
EXECUTE top(5);
SET plan_cache_mode TO force_custom_plan;
EXECUTE top(2);
RESET plan_cache_mode;
-- Rows are locked in all partitions before it is known which ones are the first.
EXPLAIN (VERBOSE, COSTS OFF) SELECT name FROM events ORDER BY score LIMIT 1 FOR UPDATE;
-- By the setting and by the option
SET tollfree_postgres_fdw.remote_limits TO off;
SELECT first_rows('SELECT name FROM events ORDER BY score LIMIT 10');
RESET tollfree_postgres_fdw.remote_limits;
ALTER SERVER place_1 OPTIONS (ADD remote_limits 'false');
SELECT first_rows('SELECT name FROM events ORDER BY score LIMIT 10');
ALTER SERVER place_1 OPTIONS (DROP remote_limits);
-- All scans have begun before one is waited for; so an error of the last one does not keep the others from ending.
ALTER FOREIGN TABLE events_3 OPTIONS (ADD table_name 'no_events');
SELECT name FROM events ORDER BY score LIMIT 1;
SELECT count(*) FROM events_0;
ALTER FOREIGN TABLE events_3 OPTIONS (DROP table_name);
-- For each outer row, from the start and in a cursor
SELECT o.x, e.id FROM generate_series(1, 3) o(x), LATERAL (SELECT id FROM events WHERE part = o.x ORDER BY id DESC LIMIT 2) e;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM events ORDER BY id LIMIT 6;
FETCH 4 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
COMMIT;
-- Two partitions of one server share its connection.
CREATE FOREIGN TABLE events_4 (id int, score int, part int, name text) SERVER place_0 OPTIONS (schema_name 'remote', table_name 'events_1');
SELECT id FROM (SELECT * FROM events UNION ALL SELECT * FROM events_4) e ORDER BY id LIMIT 5;
