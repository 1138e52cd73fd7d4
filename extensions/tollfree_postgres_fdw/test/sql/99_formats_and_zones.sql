-- to_char of times, times in zones that a query names, and orders by times of the session's zone, decided by the remote server.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
SET datestyle = ISO;
SET timezone = 'Europe/Berlin';
CREATE TABLE remote.formats AS
SELECT i AS id, ts, ts AT TIME ZONE 'UTC' AS t, (ts AT TIME ZONE 'UTC')::date AS d, i % 7 AS x
FROM generate_series(1, 6000) i, LATERAL (SELECT timestamptz '2023-12-29 22:00+00' + i * interval '91 minutes 7.123457 seconds') q (ts)
WHERE i % 50 > 0;
ANALYZE remote.formats;
IMPORT FOREIGN SCHEMA remote LIMIT TO (formats) FROM SERVER loopback INTO public;
ANALYZE formats;
-- Odd ones: before Christ, beyond four digits, infinite, noon and midnight, changes of clocks
CREATE TABLE remote.odd_formats AS
SELECT row_number() OVER () AS id, ts, CASE WHEN isfinite(ts) THEN ts AT TIME ZONE 'UTC' ELSE ts::timestamp END AS t,
	CASE WHEN isfinite(ts) THEN (ts AT TIME ZONE 'UTC')::date END AS d, 1 AS x
FROM unnest(ARRAY[timestamptz '0044-03-15 12:00+00 BC', '4001-02-28 23:59:59.999999+00 BC', '0001-01-01 00:00+00', '0001-12-31 23:00+00 BC', '0099-02-03 11:59:59+00',
	'0999-12-31 23:59:59+00', '1066-10-14 09:00+00', '9999-12-31 23:59:59.999999+00', '10000-01-01 00:00+00', '200000-01-01 12:00+00', 'infinity',
	'-infinity', NULL, '2024-03-31 01:00+00', '2024-10-27 00:30+00', '2024-10-27 01:30+00', '2024-12-30 00:00+00', '2027-01-01 12:30+00',
	'2024-09-04 00:00:00.001+00', '2024-09-04 12:59:59.9999+00']) ts;
ANALYZE remote.odd_formats;
IMPORT FOREIGN SCHEMA remote LIMIT TO (odd_formats) FROM SERVER loopback INTO public;
-- As if it were large, so that it is asked about zones
ANALYZE odd_formats;
UPDATE pg_class SET reltuples = 6000 WHERE oid = 'odd_formats'::regclass;

CREATE FUNCTION run(query text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT to_jsonb(q) FROM (%s) q', query);
END
$$;
-- Rows received, and whether a local table gives the same
CREATE FUNCTION decided(query text, tab text DEFAULT 'formats') RETURNS TABLE (received int, same bool) LANGUAGE plpgsql AS $$
BEGIN
	received := explained(format(query, tab), 'Rows Received');
	same := ARRAY(SELECT run(format(query, tab))) = ARRAY(SELECT run(format(query, 'remote.' || tab)));
	RETURN NEXT;
END
$$;

-- Formats: each odd time has the same text there as here, if all rows with one are found by it.
CREATE TABLE format_list (n serial, f text);
INSERT INTO format_list (f) VALUES ('YYYY'), ('YYYY-MM'), ('yyyy-mm-dd'), ('YYYY-MM-DD HH24:MI:SS.MS'), ('HH24'), ('HH12:MI am'), ('hh PM'), ('US'), ('IYYY-"W"IW-ID'),
	('iyyyiw'), ('Month'), ('MONTH'), ('month'), ('Mon MON mon'), ('Day'), ('DAY'), ('day'), ('Dy DY dy'), ('DDD'), ('WW'), ('Q'), ('D'), ('YYYY"Q"Q'),
	('FMMonth FMDD, FMYYYY'), ('FMDay'), ('FMHH24 FMMI FMSS FMMS'), ('FMDDD FMWW FMIW'), ('fmmm/fmdd'), ('DD.MM.YYYY'), ('"at" HH24 "o''clock"'), ('ddD');
CREATE FUNCTION found_by_text(c text, f text) RETURNS TABLE (received int, texts int) LANGUAGE plpgsql AS $$
DECLARE
	list text;
BEGIN
	EXECUTE format('SELECT string_agg(quote_literal(id || to_char(%I, %L)), '', ''), count(to_char(%1$I, %2$L)) FROM remote.odd_formats', c, f) INTO list, texts;
	received := explained(format('SELECT id FROM odd_formats WHERE id || to_char(%I, %L) IN (%s)', c, f, list), 'Rows Received');
	RETURN NEXT;
END
$$;
SELECT count(*) AS formats, count(*) FILTER (WHERE d.received <> d.texts) AS differ, min(d.texts), max(d.texts)
FROM format_list f, unnest(ARRAY['ts', 't', 'd']) c, found_by_text(c, f.f) d;
SELECT f.f, c.c, d.received, d.same
FROM format_list f, unnest(ARRAY['ts', 't', 'd']) c,
	decided(format($$SELECT to_char(%I, %L) AS f, count(*) AS n, min(id) FROM %%s GROUP BY 1 ORDER BY min(id)$$, c.c, f.f), 'odd_formats') d
WHERE NOT d.same;
SELECT count(*) AS formats, count(*) FILTER (WHERE d.received = 1) AS decided, count(*) FILTER (WHERE NOT d.same) AS differ
FROM format_list f, unnest(ARRAY['ts', 't', 'd']) c,
	decided(format($$SELECT count(*) FROM %%s WHERE to_char(%I, %L) = to_char(timestamp '2024-12-30 00:00', %L)$$, c.c, f.f, f.f), 'odd_formats') d;
-- What stays: settings, what is not known, patterns of other cases and longer ones, no constant
SELECT f, d.received > 1 AS stays, d.same
FROM unnest(ARRAY['TMMonth', 'tmday', 'TZ', 'OF', 'YYYY TZH:TZM', 'DDth', 'YYYYTH', 'Y,YYY', 'YYY', 'IDDD', 'SSSS', 'SSSSS', 'FF3', 'CC', 'RM', 'J', 'AD', 'A.M.', 'W', 'Mi', 'FM', '', '-',
	E'YYYY\\"x', 'YYYY"x', 'FX YYYY', 'Yyyy', 'YYYYY', 'hello']) f,
	decided(format($$SELECT count(*) FROM %%s WHERE to_char(ts, %L) = '2024'$$, f), 'odd_formats') d;
SELECT * FROM decided($$SELECT count(*) FROM %s WHERE to_char(ts, 'YYYY' || x) = '20241'$$, 'odd_formats');
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM formats WHERE to_char(t, 'TMMonth') = 'x';

-- Groups
EXPLAIN (VERBOSE, COSTS OFF) SELECT to_char(t, 'YYYY-MM'), count(*) FROM formats GROUP BY 1;
SELECT q, d.* FROM unnest(ARRAY[
	$$SELECT to_char(t, 'YYYY-MM-DD'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT to_char(ts, 'YYYY-MM'), sum(x) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT to_char(date_trunc('month', ts), 'Mon YYYY') AS m, count(*) FROM %s GROUP BY date_trunc('month', ts) ORDER BY date_trunc('month', ts)$$,
	$$SELECT to_char(d, 'Day'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT to_char(t, 'HH12 AM'), count(*) FILTER (WHERE to_char(ts, 'Dy') = 'Sun') FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT x, count(DISTINCT to_char(ts, 'IYYY-IW')) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT to_char(ts, 'HH24') FROM %s GROUP BY 1 HAVING min(to_char(t, 'MM')) = '01' ORDER BY 1 LIMIT 3$$
]) q, decided(q) d;

-- Zones that a query names
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM formats WHERE (ts AT TIME ZONE 'Asia/Tokyo')::date = '2024-03-31' AND (ts AT TIME ZONE 'UTC')::time < '12:00';
SELECT q, d.* FROM unnest(ARRAY[
	$$SELECT date_trunc('day', ts AT TIME ZONE 'America/New_York'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT date_trunc('day', ts, 'America/New_York'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT date_trunc('month', ts, 'UTC'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT (ts AT TIME ZONE 'UTC')::date, count(*) FROM %s GROUP BY 1 ORDER BY 1 LIMIT 5$$,
	$$SELECT extract(hour FROM ts AT TIME ZONE 'gmt'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT to_char(ts AT TIME ZONE 'Asia/Kolkata', 'HH24'), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT (ts AT TIME ZONE 'Asia/Tokyo')::date, (ts AT TIME ZONE 'Europe/Berlin')::date, ts::date, count(*) FROM %s GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT 5$$,
	$$SELECT count(*) FROM %s WHERE t AT TIME ZONE 'Australia/Lord_Howe' > '2024-04-06 15:00+00'$$,
	$$SELECT id FROM %s WHERE date_trunc('hour', ts, 'Australia/Lord_Howe') = '2024-04-06 14:30+00' ORDER BY id$$,
	$$SELECT count(*) FROM %s WHERE (ts AT TIME ZONE interval '02:00')::date = '2024-05-05'$$
]) q, decided(q) d;
-- Abbreviations stay: AT TIME ZONE 'CET' has no summer time, and since 18 they may be the session's.
SELECT d.received > 1 AS stays, d.same FROM decided($$SELECT count(*) FROM %s WHERE (ts AT TIME ZONE 'CET')::date = '2024-05-05'$$) d;
SELECT run('SELECT ts AT TIME ZONE ''no/zone'' FROM formats');
-- More zones in a transaction than a session remembers
SELECT count(*), bool_and(d.same), max(d.received)
FROM unnest(ARRAY['Africa/Cairo', 'America/Bogota', 'America/Lima', 'Asia/Dhaka', 'Asia/Dubai', 'Asia/Seoul', 'Europe/Madrid', 'Europe/Paris', 'Europe/Rome', 'Pacific/Guam', 'Africa/Cairo']) z,
	decided(format($$SELECT count(*) FROM %%s WHERE (ts AT TIME ZONE %L)::date = '2024-05-05'$$, z)) d;

-- A plan outlives the session's zone, not that of the query.
SET plan_cache_mode = force_generic_plan;
PREPARE of_day AS SELECT count(*), min(id) FROM formats WHERE (ts AT TIME ZONE 'Asia/Tokyo')::date = '2024-05-05' AND to_char(ts, 'DD') = '05';
PREPARE of_day_local AS SELECT count(*), min(id) FROM remote.formats WHERE (ts AT TIME ZONE 'Asia/Tokyo')::date = '2024-05-05' AND to_char(ts, 'DD') = '05';
EXECUTE of_day;
EXECUTE of_day_local;
SET timezone = 'America/New_York';
EXECUTE of_day;
EXECUTE of_day_local;
SET timezone = 'CET';
EXECUTE of_day;
EXECUTE of_day_local;
SELECT tollfree_postgres_fdw_disconnect_all();
SET timezone = 'Europe/Berlin';
EXECUTE of_day;
RESET plan_cache_mode;
DEALLOCATE ALL;
-- UTC needs no question; another zone one, once a connection.
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT count(*) FROM formats WHERE x = 3;
SELECT round_trips_since(0) AS trips \gset
SELECT count(*) FROM formats WHERE (ts AT TIME ZONE 'UTC')::date = '2024-05-05';
SELECT round_trips_since(:trips) AS utc, round_trips_since(0) AS trips \gset
SELECT count(*) FROM formats WHERE (ts AT TIME ZONE 'Asia/Tokyo')::date = '2024-05-05';
SELECT round_trips_since(:trips) AS asked, round_trips_since(0) AS trips \gset
SELECT count(*) FROM formats WHERE (ts AT TIME ZONE 'Asia/Tokyo')::date = '2024-05-05';
SELECT :utc AS utc, :asked AS asked, round_trips_since(:trips) AS known;

-- Orders
EXPLAIN (VERBOSE, COSTS OFF) SELECT ts::date, sum(x) FROM formats GROUP BY 1 ORDER BY 1 DESC LIMIT 30;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id, ts::date FROM formats ORDER BY ts::date DESC, id LIMIT 10;
SELECT q, d.* FROM unnest(ARRAY[
	$$SELECT ts::date, sum(x) FROM %s GROUP BY 1 ORDER BY 1 DESC LIMIT 30$$,
	$$SELECT ts::date, sum(x) FROM %s GROUP BY 1 ORDER BY 1 DESC NULLS LAST OFFSET 10 LIMIT 7$$,
	$$SELECT date_trunc('week', ts) AS w, x, count(*) FROM %s GROUP BY 1, 2 ORDER BY 1 DESC, 2 LIMIT 9$$,
	$$SELECT x, ts::date + 1 AS next, count(*) FROM %s GROUP BY x, ts::date ORDER BY ts::date, x LIMIT 9$$,
	$$SELECT ts::date AS day, sum(x) AS s FROM %s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 9$$,
	$$SELECT coalesce(x, 0) AS x, count(*) FROM %s GROUP BY 1 ORDER BY 1 DESC LIMIT 2$$,
	$$SELECT id FROM %s ORDER BY ts::date DESC, id LIMIT 10$$,
	$$SELECT id, ts::time FROM %s WHERE x = 3 ORDER BY ts::time, id LIMIT 10$$,
	$$SELECT id, coalesce(x, 3) AS c FROM %s ORDER BY coalesce(x, 3) DESC, extract(hour FROM ts), id LIMIT 10$$,
	$$SELECT id FROM %s ORDER BY to_char(t, 'DD'), id LIMIT 10$$,
	$$SELECT a.id FROM %1$s a JOIN %1$s b USING (id) ORDER BY a.ts::date DESC, b.ts::time, a.id LIMIT 10$$,
	$$SELECT DISTINCT ts::date FROM %s ORDER BY 1 LIMIT 3$$,
	$$SELECT max(id) OVER (PARTITION BY ts::date ORDER BY id) FROM %s ORDER BY 1 LIMIT 3$$
]) q, decided(q) d;

-- Partitions are aggregated where they are, unless the user has decided about it.
CREATE TABLE format_parts (id int, ts timestamptz, t timestamp, d date, x int) PARTITION BY LIST (x);
CREATE TABLE remote.formats1 AS SELECT id::int, ts, t, d, x FROM remote.formats WHERE x < 4;
CREATE TABLE remote.formats2 AS SELECT id::int, ts, t, d, x FROM remote.formats WHERE x >= 4;
CREATE FOREIGN TABLE format_part1 PARTITION OF format_parts FOR VALUES IN (0, 1, 2, 3) SERVER loopback OPTIONS (schema_name 'remote', table_name 'formats1');
CREATE FOREIGN TABLE format_part2 PARTITION OF format_parts FOR VALUES IN (4, 5, 6) SERVER loopback OPTIONS (schema_name 'remote', table_name 'formats2');
ANALYZE format_part1, format_part2;
CREATE FUNCTION of_parts(query text) RETURNS TABLE (scans bigint, aggregated bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || format(query, 'format_parts') INTO plan;
	SELECT count(*), count(*) FILTER (WHERE scan->>'Relations' LIKE 'Aggregate%') INTO scans, aggregated
	FROM jsonb_path_query(plan, 'strict $.**?(@."Node Type" == "Foreign Scan")') scan;
	same := ARRAY(SELECT run(format(query, 'format_parts'))) = ARRAY(SELECT run(format(query, 'remote.formats')));
	RETURN NEXT;
END
$$;
SELECT q, p.* FROM unnest(ARRAY[
	$$SELECT date_trunc('month', t) AS month, sum(x), avg(id), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT to_char(ts, 'YYYY-MM') AS month, max(d) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT x, count(*) FROM %s WHERE ts::date > '2024-03-01' GROUP BY 1 ORDER BY 1$$,
	$$SELECT count(*) FROM (SELECT d FROM %s GROUP BY d) q$$,
	$$SELECT sum(x) FROM %s$$,
	$$SELECT sum(x::float8) FROM %s$$
]) q, of_parts(q) p;
SHOW enable_partitionwise_aggregate;
SET enable_partitionwise_aggregate = off;
SELECT * FROM of_parts('SELECT sum(x) FROM %s');
RESET enable_partitionwise_aggregate;
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT * FROM of_parts('SELECT sum(x) FROM %s');
RESET tollfree_postgres_fdw.remote_expressions;
-- Not with a partition that is a local table, nor after an error
PREPARE broken AS SELECT sum(x) / 0 FROM format_parts;
EXECUTE broken;
SELECT count(*) AS n, sum(id / 0) FROM format_parts WHERE 1 / 0 > 0;
SHOW enable_partitionwise_aggregate;
CREATE TABLE format_part3 PARTITION OF format_parts FOR VALUES IN (7);
SELECT * FROM of_parts('SELECT sum(x) FROM %s');
DEALLOCATE broken;
DROP TABLE format_parts;

-- Switches
\set query 'SELECT count(*) FROM formats WHERE to_char(t, \'YYYY-MM\') = \'2024-05\' AND (ts AT TIME ZONE \'Asia/Tokyo\')::date > \'2024-05-05\''
SELECT explained(:'query', 'Rows Received');
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT explained(:'query', 'Rows Received') > '1' AS off;
SELECT explained('SELECT id FROM formats ORDER BY ts::date, id LIMIT 10', 'Rows Received') > '10' AS off;
RESET tollfree_postgres_fdw.remote_expressions;

DROP FOREIGN TABLE formats, odd_formats;
DROP TABLE remote.formats, remote.formats1, remote.formats2, remote.odd_formats, format_list;
DROP FUNCTION decided, found_by_text, of_parts, run;
RESET timezone;
RESET datestyle;
RESET client_min_messages;
