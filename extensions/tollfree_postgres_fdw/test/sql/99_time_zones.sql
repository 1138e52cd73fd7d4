-- Times in the session's zone, decided by the remote server.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
SET datestyle = ISO;
-- Around changes of clocks, from seconds to months; the ends of time, infinity and null
CREATE TABLE remote.zone_moments (id serial PRIMARY KEY, ts timestamptz, t timestamp, d date, x int);
INSERT INTO remote.zone_moments (ts, t, d, x)
SELECT ts, ts AT TIME ZONE 'UTC', (ts AT TIME ZONE 'UTC')::date, n
FROM (SELECT c + i * s AS ts, row_number() OVER () % 7 AS n
	  FROM unnest(ARRAY[timestamptz '2024-03-31 01:00+00', '2024-10-27 01:00+00', '2024-03-10 07:00+00', '2024-11-03 06:00+00',
						'2024-04-06 15:00+00', '2024-10-05 15:30+00', '1945-05-24 00:00+00', '1899-12-31 23:00+00', '2038-01-19 03:14:08+00']) c,
		 unnest(ARRAY[interval '20 minutes 0.7 seconds', '7 hours 13 minutes', '26 hours 30 minutes']) s,
		 generate_series(-12, 12) i) q
UNION ALL
SELECT ts, CASE WHEN isfinite(ts) THEN ts AT TIME ZONE 'UTC' END, '2024-01-01', 9
FROM unnest(ARRAY[timestamptz '0044-03-15 12:00+00 BC', '4001-02-28 23:59:59.999999+00 BC', '1066-10-14 09:00+00', '1752-09-02 23:30+00',
				  '9999-12-31 23:59:59+00', '2500-07-01 00:00+00', '200000-01-01 00:00+00', 'infinity', '-infinity', NULL]) ts;
ANALYZE remote.zone_moments;
IMPORT FOREIGN SCHEMA remote LIMIT TO (zone_moments) FROM SERVER loopback INTO public;

-- A condition: the remote command, rows that come in vain, and whether the local table agrees
CREATE FUNCTION decided(condition text) RETURNS TABLE (remote_condition text, excess bigint, same bool)
LANGUAGE plpgsql
AS $$
DECLARE
	ids int[];
	locals int[];
BEGIN
	EXECUTE format('SELECT ARRAY(SELECT id FROM zone_moments WHERE %s ORDER BY id)', condition) INTO ids;
	EXECUTE format('SELECT ARRAY(SELECT id FROM remote.zone_moments WHERE %s ORDER BY id)', condition) INTO locals;
	remote_condition := regexp_replace(explained(format('SELECT id FROM zone_moments WHERE %s', condition), 'Remote SQL') #>> '{}',
									   '^.*? FROM remote.zone_moments', '');
	excess := explained(format('SELECT id FROM zone_moments WHERE %s', condition), 'Rows Received')::int - cardinality(ids);
	same := ids = locals;
	RETURN NEXT;
END
$$;
CREATE TABLE zone_conditions (n serial, condition text);
INSERT INTO zone_conditions (condition) VALUES
	($$ts::date = '2024-03-31'$$),
	($$ts::date = current_date OR ts::date < '1900-01-01'$$),
	($$ts::date BETWEEN '2024-03-30' AND '2024-04-02'$$),
	($$ts::date IN ('2024-03-31', '2024-11-03')$$),
	($$ts::date = d$$),
	($$ts::time < '02:30'$$),
	($$ts::timestamp > '2024-10-27 02:30'$$),
	($$t::timestamptz >= '2024-03-31 01:00+00'$$),
	($$d::timestamptz = date_trunc('day', ts)$$),
	($$extract(hour FROM ts) = 2$$),
	($$extract(epoch FROM ts) < -1e10 OR extract(year FROM ts) < 0$$),
	($$date_part('isodow', ts) = 7 AND extract(month FROM ts) = 3$$),
	($$extract(second FROM ts) > 50 OR date_part('week', ts) = 1$$),
	($$date_trunc('day', ts) = '2024-10-27'$$),
	($$date_trunc('month', ts) = date_trunc('month', timestamptz '2024-11-05 12:00+00')$$),
	($$date_trunc('century', ts) < '1900-02-01' OR date_trunc('week', ts) > '2038-01-01'$$),
	($$date_trunc('hour', ts) IN ('2024-10-27 00:00+00', '2024-10-27 01:00+00', '2024-11-03 05:00+00', '2024-04-06 14:30+00')$$),
	($$date_trunc('minute', ts) < '1850-01-01'$$),
	($$ts + interval '1 day' > '2024-10-28 02:00+00' AND ts - interval '1 month' < '2024-10-02 12:00+00'$$),
	($$ts + interval '1 month -1 day 2 hours' > '2024-11-27 03:00+00'$$),
	($$ts - interval '90 minutes' > '2024-10-27 00:00+00'$$),
	($$ts >= date '2024-03-31' AND ts < date '2024-04-01'$$),
	($$ts >= timestamp '2024-10-27 02:30' AND x = 3$$),
	($$ts <> timestamp '2024-10-27 02:30' AND date '2024-03-31' <= ts$$),
	($$ts > current_date - 30$$),
	($$NOT ts > localtimestamp OR ts = current_date$$),
	($$coalesce(ts::date, d) = '2024-03-31'$$);
-- In UTC once; then in other zones, of which only what differs is shown
SET timezone = 'UTC';
SELECT c.condition, decided.* FROM zone_conditions c, decided(c.condition) ORDER BY n;
CREATE FUNCTION in_zone(zone text) RETURNS TABLE (conditions bigint, differ bigint, excess bigint) LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('timezone', zone, false);
	RETURN QUERY SELECT count(*), count(*) FILTER (WHERE NOT d.same), sum(d.excess)::bigint FROM zone_conditions c, decided(c.condition) d;
END
$$;
SELECT zone, in_zone.* FROM unnest(ARRAY['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/Sao_Paulo',
	'Etc/GMT+5', '<+03>-03', '<+0330>-3:30', 'EST5EDT,M3.2.0,M11.1.0', 'Africa/Casablanca', 'Antarctica/Troll']) zone, in_zone(zone);
-- The zone CET has summer time, AT TIME ZONE 'CET' has none: evaluated here.
SELECT conditions, differ, excess > 0 AS travels FROM in_zone('CET');
SELECT conditions, differ, excess FROM in_zone('Europe/Berlin');

-- A plan outlives the session's zone; where the rules differ it is made again.
SET timezone = 'Europe/Berlin';
SELECT tollfree_postgres_fdw_disconnect_all();
SET plan_cache_mode = force_generic_plan;
PREPARE of_day(date) AS SELECT count(*), min(id) FROM zone_moments WHERE ts::date = $1;
PREPARE of_day_local(date) AS SELECT count(*), min(id) FROM remote.zone_moments WHERE ts::date = $1;
PREPARE of_days AS SELECT ts::date, count(*) FROM zone_moments WHERE ts::date > '2024-10-26' GROUP BY ts::date ORDER BY 1 LIMIT 3;
EXECUTE of_day('2024-10-27');
EXECUTE of_day_local('2024-10-27');
EXECUTE of_days;
SET timezone = 'America/New_York';
EXECUTE of_day('2024-10-27');
EXECUTE of_day_local('2024-10-27');
EXECUTE of_days;
SET timezone = 'CET';
EXECUTE of_day('2024-10-27');
EXECUTE of_day_local('2024-10-27');
EXECUTE of_days;
SELECT explained('EXECUTE of_day(''2024-10-27'')', 'Rows Received');
SET timezone = 'Asia/Kolkata';
EXECUTE of_day('2024-10-27');
EXECUTE of_day_local('2024-10-27');
EXECUTE of_days;
SELECT explained('EXECUTE of_day(''2024-10-27'')', 'Rows Received');
RESET plan_cache_mode;
DEALLOCATE ALL;

-- A cursor keeps the zone that it was opened in, for what is sent.
SET timezone = 'UTC';
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM zone_moments WHERE ts::date = '2024-10-27' ORDER BY id;
SET LOCAL timezone = 'CET';
FETCH 1 FROM c;
ROLLBACK;
BEGIN;
SET LOCAL timezone = 'CET';
DECLARE c SCROLL CURSOR FOR SELECT id FROM zone_moments WHERE ts::date = '2024-10-27' ORDER BY id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;

-- One question for a connection and zone, with its setup if that is when it is needed
SET timezone = 'Europe/Berlin';
SELECT round_trips_since(0) AS trips \gset
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT count(*) FROM zone_moments WHERE ts::date = '2024-10-27';
SELECT round_trips_since(:trips) AS with_setup, round_trips_since(0) AS trips \gset
SELECT count(*) FROM zone_moments WHERE ts::date = '2024-10-28';
SELECT round_trips_since(:trips) AS known, round_trips_since(0) AS trips \gset
SET timezone = 'Asia/Tokyo';
BEGIN;
SELECT count(*) FROM zone_moments WHERE x = 1;
SELECT count(*) FROM zone_moments WHERE ts::date = '2024-10-28';
SELECT count(*) FROM zone_moments WHERE ts::date = '2024-10-27';
COMMIT;
SELECT :with_setup AS with_setup, :known AS known, round_trips_since(:trips) AS in_transaction;

-- Groups, aggregates and HAVING
SET timezone = 'Australia/Lord_Howe';
CREATE FUNCTION run(query text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT to_jsonb(q) FROM (%s) q', query);
END
$$;
CREATE TABLE zone_queries (n serial, query text);
INSERT INTO zone_queries (query) VALUES
	($$SELECT ts::date, count(*) FROM %s GROUP BY ts::date ORDER BY 1$$),
	($$SELECT date_trunc('day', ts), count(*), sum(x) FROM %s WHERE ts > '2000-01-01' GROUP BY 1 ORDER BY 1$$),
	($$SELECT date_trunc('hour', ts) AS h, min(ts) FROM %s GROUP BY 1 ORDER BY 1$$),
	($$SELECT extract(hour FROM ts) AS h, x, count(*) FROM %s GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2$$),
	($$SELECT ts::date + 1 AS next, count(*) FROM %s GROUP BY ts::date HAVING ts::date > '2024-04-01' AND max(ts)::date < '2025-01-01' ORDER BY 1$$),
	($$SELECT max(ts::date), count(*) FILTER (WHERE ts::date = '2024-03-31'), count(DISTINCT ts::date) FROM %s$$),
	($$SELECT x, max(ts)::date AS last FROM %s GROUP BY x ORDER BY 1$$),
	($$SELECT ts::date AS day, to_char(ts::date, 'YYYY'), count(*) FROM %s GROUP BY ts::date HAVING to_char(ts::date, 'DD') = '27' ORDER BY 1$$),
	($$SELECT x, count(*) FROM %s GROUP BY x HAVING max(ts::date) = '2024-01-01' OR to_char(max(ts::date), 'YYYY') > '2000' ORDER BY 1$$),
	($$SELECT a.ts::date AS day, count(*) FROM %1$s a JOIN %1$s b USING (id) WHERE b.ts::date < '2024-12-01' GROUP BY 1 ORDER BY 1$$),
	($$SELECT date_trunc('hour', ts) AS h, count(DISTINCT ts::date) FROM %s WHERE extract(isodow FROM ts) = 7 GROUP BY 1 ORDER BY 1$$),
	($$SELECT day, count(*) FROM (SELECT ts::date AS day, x FROM %s WHERE x > 1) q GROUP BY day ORDER BY day LIMIT 5$$);
SELECT q.query, ARRAY(SELECT run(format(q.query, 'zone_moments'))) = ARRAY(SELECT run(format(q.query, 'remote.zone_moments'))) AS same
FROM zone_queries q ORDER BY n;
-- Groups travel, not rows: their number is estimated by the days that there are.
CREATE TABLE remote.zone_readings AS
SELECT i AS id, timestamptz '2024-09-01 00:00+00' + i * interval '4 minutes' AS ts, i % 8 AS x FROM generate_series(1, 20000) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (zone_readings) FROM SERVER loopback INTO public;
ANALYZE zone_readings;
SELECT query, explained(format(query, 'zone_readings'), 'Remote SQL') AS remote, explained(format(query, 'zone_readings'), 'Rows Received') AS received,
	ARRAY(SELECT run(format(query, 'zone_readings'))) = ARRAY(SELECT run(format(query, 'remote.zone_readings'))) AS same
FROM unnest(ARRAY[
	$$SELECT ts::date, count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT date_trunc('day', ts) AS day, x, count(*) FROM %s WHERE ts >= '2024-09-20'::date GROUP BY 1, 2 ORDER BY 1, 2$$,
	$$SELECT date_trunc('month', ts) AS month, sum(x) FROM %s WHERE ts::date > '2024-09-05' GROUP BY 1 ORDER BY 1$$,
	$$SELECT extract(hour FROM ts) AS hour, max(ts)::date FROM %s GROUP BY 1 HAVING count(*) > 1 ORDER BY 1$$
]) AS query;
SET timezone = 'CET';
SELECT count(*) FILTER (WHERE ARRAY(SELECT run(format(q.query, 'zone_moments'))) <> ARRAY(SELECT run(format(q.query, 'remote.zone_moments')))) AS differ FROM zone_queries q;
SET timezone = 'Europe/Berlin';
SELECT count(*) FILTER (WHERE ARRAY(SELECT run(format(q.query, 'zone_moments'))) <> ARRAY(SELECT run(format(q.query, 'remote.zone_moments')))) AS differ FROM zone_queries q;

-- One command; RETURNING and the condition of a locked row are evaluated as written.
BEGIN;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE zone_moments SET d = ts::date, x = extract(hour FROM ts) WHERE ts::date = '2024-10-27';
UPDATE zone_moments SET d = ts::date, x = extract(hour FROM ts) WHERE ts::date = '2024-10-27';
SELECT bool_and(d = ts::date AND x = extract(hour FROM ts)), count(*) FROM zone_moments WHERE ts::date = '2024-10-27';
SET LOCAL timezone = 'CET';
UPDATE zone_moments SET d = ts::date, x = extract(hour FROM ts) WHERE ts::date = '2024-10-28' RETURNING d = ts::date AND x = extract(hour FROM ts) AS is_right;
DELETE FROM zone_moments WHERE ts::date = '2024-10-28';
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM zone_moments WHERE ts::date = '2024-10-28' FOR UPDATE;
ROLLBACK;

-- Partitions: partial aggregates
SET timezone = 'Europe/Berlin';
CREATE TABLE zone_parts (id int, ts timestamptz, x int) PARTITION BY LIST (x);
CREATE TABLE remote.zone_readings1 AS SELECT * FROM remote.zone_readings WHERE x < 4;
CREATE TABLE remote.zone_readings2 AS SELECT * FROM remote.zone_readings WHERE x >= 4;
CREATE FOREIGN TABLE zone_part1 PARTITION OF zone_parts FOR VALUES IN (0, 1, 2, 3) SERVER loopback OPTIONS (schema_name 'remote', table_name 'zone_readings1');
CREATE FOREIGN TABLE zone_part2 PARTITION OF zone_parts FOR VALUES IN (4, 5, 6, 7) SERVER loopback OPTIONS (schema_name 'remote', table_name 'zone_readings2');
ANALYZE zone_part1, zone_part2;
SET enable_partitionwise_aggregate = on;
SELECT explained('SELECT ts::date, count(*), avg(x) FROM zone_parts GROUP BY 1', 'Remote SQL');
SELECT count(*) FROM ((SELECT ts::date, count(*), avg(x) FROM zone_parts GROUP BY 1) EXCEPT ALL
	(SELECT ts::date, count(*), avg(x) FROM remote.zone_readings GROUP BY 1)) q;
SET timezone = 'CET';
SELECT count(*) FROM ((SELECT ts::date, count(*), avg(x) FROM zone_parts GROUP BY 1) EXCEPT ALL
	(SELECT ts::date, count(*), avg(x) FROM remote.zone_readings GROUP BY 1)) q;
RESET enable_partitionwise_aggregate;
RESET timezone;

-- Switches
\set query 'SELECT id FROM zone_moments WHERE ts::date = \'2024-10-27\''
SET timezone = 'Europe/Berlin';
SELECT explained(:'query', 'Rows Received');
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT explained(:'query', 'Rows Received');
RESET tollfree_postgres_fdw.remote_expressions;
ALTER FOREIGN TABLE zone_moments OPTIONS (ADD remote_expressions 'false');
SELECT explained(:'query', 'Rows Received');
ALTER FOREIGN TABLE zone_moments OPTIONS (DROP remote_expressions);

-- A small table does not ask, but uses what is known.
ANALYZE zone_moments;
SET timezone = 'Asia/Dhaka';
SELECT explained(:'query', 'Filter');
SELECT count(*) > 0 AS asked FROM zone_readings WHERE ts::date = '2024-09-30';
SELECT explained(:'query', 'Filter');

DROP TABLE zone_parts;
DROP FOREIGN TABLE zone_moments, zone_readings;
DROP TABLE remote.zone_readings;
DROP TABLE remote.zone_moments, remote.zone_readings1, remote.zone_readings2, zone_conditions, zone_queries;
DROP FUNCTION decided, in_zone, run;
RESET timezone;
RESET datestyle;
RESET client_min_messages;
