/*
 * Suite fdw, part travels: everyday statements, and the rows that travel for them.
 *
 * What dashboards, mappers and nightly jobs send, on a foreign table of 60,000
 * rows.  If the remote server could do all of a statement, no more rows would
 * travel than it returns, or than local tables must be joined with.  Each case
 * counts the rows that the remote server has sent, beside the rows that are needed.
 */
CREATE TABLE fdw_travels
(
	travel		text PRIMARY KEY,
	class		text NOT NULL,
	command		text NOT NULL,
	needed		int,
	reason		text,
	in_quick	bool NOT NULL DEFAULT false
);

COMMENT ON COLUMN fdw_travels.class IS 'what the remote server has to know to do all of it';
COMMENT ON COLUMN fdw_travels.reason IS
'why more rows travel through tollfree_postgres_fdw; NULL if none do';
COMMENT ON COLUMN fdw_travels.needed IS
'rows that have to travel; NULL if those are the rows that the statement returns';

/* What makes the tables: on the source, and in each database that is measured. */
CREATE TABLE fdw_travel_scripts (place text PRIMARY KEY, script text NOT NULL);

COMMENT ON COLUMN fdw_travel_scripts.place IS
'source; local: what is a local table everywhere; foreign: what stands for the tables of the source';

/* The newest event is of the moment when the table is made. */
INSERT INTO fdw_travel_scripts VALUES
	('source', $$
DROP VIEW IF EXISTS metric;
DROP TABLE IF EXISTS event, client, metric_1, metric_2;
DROP TYPE IF EXISTS event_state;
DROP DOMAIN IF EXISTS mail_address;
CREATE TYPE event_state AS ENUM ('new', 'open', 'paid', 'lost');
CREATE DOMAIN mail_address AS text CHECK (VALUE LIKE '%@%');
CREATE TABLE event AS
SELECT i AS id, i * 7 % 5000 + 1 AS client, 'kind ' || i % 20 AS kind,
	   ('c-' || i % 1000)::varchar(12) AS code,
	   CASE WHEN i % 100 = 0 THEN 'lost' WHEN i % 3 = 0 THEN 'paid' WHEN i % 3 = 1 THEN 'open' END
	   ::event_state AS state,
	   ('user' || i % 6000 || '@example.org')::mail_address AS address,
	   nullif(i % 50, 0) AS n, (i % 997 / 4.0)::numeric(12, 2) AS amount,
	   (now() - i * interval '10 minutes')::date AS d,
	   localtimestamp - i * interval '10 minutes' AS made,
	   now() - i * interval '10 minutes' AS ts,
	   jsonb_build_object('k', 'v' || i % 300, 'n', i % 400, 'o', jsonb_build_object('p', i % 500))
	   || CASE WHEN i % 1500 = 0 THEN '{"rare": true}' ELSE '{}' END::jsonb AS doc,
	   ARRAY['t' || i % 10, 'u' || i % 700] AS tags,
	   md5(i::text)::uuid AS token, i % 600 AS tenant,
	   CASE WHEN i % 800 = 0 THEN 'postgres' ELSE 'nobody' END AS owner
FROM generate_series(1, 60000) i;
ALTER TABLE event ADD PRIMARY KEY (id);
CREATE INDEX ON event (client);
CREATE INDEX ON event (ts);
CREATE TABLE client AS
SELECT i AS id, 'client ' || i AS name, 'region ' || i % 7 AS region, i % 40 = 0 AS blocked
FROM generate_series(1, 6000) i;
ALTER TABLE client ADD PRIMARY KEY (id);
CREATE TABLE metric_1 AS SELECT id, kind, client, amount, made FROM event WHERE id <= 30000;
CREATE TABLE metric_2 AS SELECT id, kind, client, amount, made FROM event WHERE id > 30000;
CREATE VIEW metric AS SELECT * FROM metric_1 UNION ALL SELECT * FROM metric_2;
$$),
	('foreign', $$
CREATE TYPE event_state AS ENUM ('new', 'open', 'paid', 'lost');
CREATE DOMAIN mail_address AS text CHECK (VALUE LIKE '%@%');
IMPORT FOREIGN SCHEMA public LIMIT TO (event, client) FROM SERVER source_server INTO public;
CREATE TABLE metric (id int, kind text, client int, amount numeric(12, 2), made timestamp)
PARTITION BY RANGE (id);
CREATE FOREIGN TABLE metric_1 PARTITION OF metric FOR VALUES FROM (1) TO (30001)
SERVER source_server;
CREATE FOREIGN TABLE metric_2 PARTITION OF metric FOR VALUES FROM (30001) TO (60001)
SERVER source_server;
ANALYZE event, client, metric;
$$),
	('local', $$
DROP TABLE IF EXISTS pick, wanted, kept;
CREATE TABLE pick AS SELECT i * 290 AS id, i AS v, 'group ' || i % 5 AS part
FROM generate_series(1, 200) i;
CREATE TABLE wanted AS SELECT i * 11 AS id, i % 5 AS part FROM generate_series(1, 5000) i;
CREATE TABLE kept (id int, kind text);
ANALYZE pick, wanted;
$$);

INSERT INTO fdw_travels (class, travel, needed, command) VALUES
	('values', 'recent', NULL, $$SELECT id, n FROM event WHERE ts > now() - interval '1 day'$$),
	('values', 'recent count', NULL, $$SELECT count(*) FROM event WHERE ts > now() - interval '7 days'$$),
	('values', 'today', NULL, $$SELECT id FROM event WHERE d = current_date$$),
	('values', 'last hours', NULL, $$SELECT id FROM event WHERE made > localtimestamp - interval '3 hours'$$),
	('values', 'tenant', NULL, $$SELECT id FROM event WHERE tenant = current_setting('app.tenant')::int$$),
	('values', 'tenant update', 0, $$UPDATE event SET n = n WHERE tenant = current_setting('app.tenant')::int$$),
	('values', 'owner', NULL, $$SELECT id FROM event WHERE owner = current_user$$),
	('values', 'yesterday', NULL, $$SELECT id FROM event WHERE ts BETWEEN now() - interval '2 days' AND now() - interval '1 day'$$),
	('values', 'this month', NULL, $$SELECT count(*), sum(amount) FROM event WHERE ts >= date_trunc('month', now())$$),
	('values', 'retention', 0, $$DELETE FROM event WHERE ts < now() - interval '400 days'$$),
	('values', 'touch', 0, $$UPDATE event SET ts = now() WHERE id = 7$$),
	('values', 'latest', NULL, $$SELECT id, ts FROM event WHERE ts < now() ORDER BY ts DESC LIMIT 10$$),
	('values', 'to_date', NULL, $$SELECT count(*) FROM event WHERE d >= to_date('20240101', 'YYYYMMDD')$$),
	('values', 'WITH recent', NULL, $$WITH r AS (SELECT * FROM event WHERE ts > now() - interval '3 days') SELECT kind, count(*) FROM r GROUP BY kind$$),
	('values', 'recent of clients', NULL, $$SELECT e.id, c.name FROM event e JOIN client c ON c.id = e.client WHERE e.ts > now() - interval '1 day'$$),
	('values', 'share of recent', NULL, $$SELECT count(*) FILTER (WHERE ts > now() - interval '1 day'), count(*) FROM event$$),
	('values', 'new or old', NULL, $$SELECT CASE WHEN ts > now() - interval '1 day' THEN 'new' ELSE 'old' END, count(*) FROM event GROUP BY 1$$),
	('values', 'by age in days', NULL, $$SELECT current_date - d, count(*) FROM event GROUP BY 1 ORDER BY 1 LIMIT 10$$),
	('values', 'idle clients', NULL, $$SELECT client FROM event GROUP BY client HAVING max(ts) < now() - interval '5 days'$$),
	('values', 'keep recent', 144, $$INSERT INTO kept SELECT id, kind FROM event WHERE ts > now() - interval '1 day'$$),

	('functions', 'by month', NULL, $$SELECT date_trunc('month', made), count(*) FROM event GROUP BY 1$$),
	('functions', 'by week, in order', NULL, $$SELECT date_trunc('week', made), sum(amount) FROM event GROUP BY 1 ORDER BY 1$$),
	('functions', 'of this day', NULL, $$SELECT id FROM event WHERE date_trunc('day', made) = date_trunc('day', localtimestamp)$$),
	('functions', 'year', NULL, $$SELECT count(*) FROM event WHERE extract(year FROM d) = 2026$$),
	('functions', 'day of week', NULL, $$SELECT date_part('dow', made), avg(amount) FROM event GROUP BY 1$$),
	('functions', 'hourly bins', NULL, $$SELECT date_bin('7 days', made, timestamp '2024-01-01'), count(*) FROM event GROUP BY 1$$),
	('functions', 'age in seconds', NULL, $$SELECT count(*) FROM event WHERE extract(epoch FROM now() - ts) < 86400$$),
	('functions', 'doc key', NULL, $$SELECT id FROM event WHERE doc->>'k' = 'v7'$$),
	('functions', 'doc number', NULL, $$SELECT id FROM event WHERE (doc->>'n')::int = 7$$),
	('functions', 'doc path', NULL, $$SELECT id FROM event WHERE doc #>> '{o,p}' = '7'$$),
	('functions', 'doc has key', NULL, $$SELECT id FROM event WHERE doc ? 'rare'$$),
	('functions', 'doc contains', NULL, $$SELECT id FROM event WHERE doc @> '{"k": "v7"}'$$),
	('functions', 'by doc key', NULL, $$SELECT doc->>'k', count(*) FROM event GROUP BY 1$$),
	('functions', 'FILTER doc key', NULL, $$SELECT count(*) FILTER (WHERE doc->>'k' = 'v7') FROM event$$),
	('functions', 'length', NULL, $$SELECT count(*) FROM event WHERE length(kind) > 6$$),
	('functions', 'left', NULL, $$SELECT id FROM event WHERE left(address, 7) = 'user77@'$$),
	('functions', 'substring', NULL, $$SELECT substring(code FROM 1 FOR 3), count(*) FROM event GROUP BY 1$$),
	('functions', 'split_part', NULL, $$SELECT id FROM event WHERE split_part(code, '-', 2) = '77'$$),
	('functions', 'replace', NULL, $$SELECT id FROM event WHERE replace(code, 'c-', '') = '77'$$),
	('functions', 'LIKE', NULL, $$SELECT id FROM event WHERE code LIKE 'c-77%'$$),
	('functions', 'ILIKE', NULL, $$SELECT id FROM event WHERE code ILIKE 'C-77'$$),
	('functions', 'lower', NULL, $$SELECT id FROM event WHERE lower(code) = 'c-77'$$),
	('functions', 'regular expression', NULL, $$SELECT id FROM event WHERE code ~ '^c-7[67]$'$$),
	('functions', 'COLLATE C', NULL, $$SELECT id FROM event WHERE code COLLATE "C" = 'c-77'$$),
	('functions', 'append', NULL, $$SELECT id FROM event WHERE kind || ':' || code = 'kind 17:c-77'$$),
	('functions', 'array has', NULL, $$SELECT id FROM event WHERE 'u77' = ANY (tags)$$),
	('functions', 'arrays overlap', NULL, $$SELECT id FROM event WHERE tags && ARRAY['u77', 'u78']$$),
	('functions', 'by tens', NULL, $$SELECT n / 10, count(*) FROM event GROUP BY 1$$),

	('forms', 'COALESCE', NULL, $$SELECT id FROM event WHERE coalesce(n, 0) = 0 AND client < 50$$),
	('forms', 'by COALESCE', NULL, $$SELECT coalesce(n, -1), count(*) FROM event GROUP BY 1$$),
	('forms', 'sum of COALESCE', NULL, $$SELECT kind, sum(coalesce(n, 0)) FROM event GROUP BY kind$$),
	('forms', 'ratio with NULLIF', NULL, $$SELECT kind, sum(amount) / nullif(sum(n), 0) FROM event GROUP BY kind$$),
	('forms', 'GREATEST', NULL, $$SELECT id FROM event WHERE greatest(n, tenant) < 2$$),
	('forms', 'by CASE', NULL, $$SELECT CASE WHEN n < 10 THEN 'few' ELSE 'many' END, count(*) FROM event GROUP BY 1$$),
	('forms', 'sum of CASE', NULL, $$SELECT sum(CASE WHEN n < 10 THEN amount ELSE 0 END) FROM event$$),
	('forms', 'next page', NULL, $$SELECT id, ts FROM event WHERE (ts, id) < (now() - interval '30 days', 77) ORDER BY ts DESC, id DESC LIMIT 20$$),
	('forms', 'IS NOT TRUE', NULL, $$SELECT count(*) FROM client WHERE blocked IS NOT TRUE$$),
	('forms', 'key as text', NULL, $$SELECT id FROM event WHERE id::text = '77'$$),
	('forms', 'concat', NULL, $$SELECT id FROM event WHERE concat(kind, ':', code) = 'kind 17:c-77'$$),
	('forms', 'append a number', NULL, $$SELECT id FROM event WHERE kind || '-' || n = 'kind 17-27' AND client < 500$$),
	('forms', 'DISTINCT', NULL, $$SELECT DISTINCT kind FROM event$$),
	('forms', 'DISTINCT, in order', NULL, $$SELECT DISTINCT client FROM event ORDER BY client LIMIT 20$$),
	('forms', 'count of DISTINCT', NULL, $$SELECT count(*) FROM (SELECT DISTINCT client FROM event) s$$),
	('forms', 'UNION', NULL, $$SELECT kind FROM event UNION SELECT region FROM client$$),
	('forms', 'EXCEPT', 20, $$SELECT kind FROM event EXCEPT SELECT 'kind 1'$$),
	('forms', 'count(DISTINCT)', NULL, $$SELECT count(DISTINCT client) FROM event$$),
	('forms', 'DISTINCT ON', NULL, $$SELECT DISTINCT ON (tenant) tenant, ts, id FROM event ORDER BY tenant, ts DESC$$),
	('forms', 'row_number', NULL, $$SELECT id, tenant FROM (SELECT id, tenant, row_number() OVER (PARTITION BY tenant ORDER BY ts DESC) AS r FROM event) s WHERE r <= 2$$),
	('forms', 'ROLLUP', NULL, $$SELECT kind, client, count(*) FROM event GROUP BY ROLLUP (kind, client)$$),
	('forms', 'totals', NULL, $$SELECT kind, tenant % 7, sum(amount) FROM event GROUP BY GROUPING SETS ((kind, tenant % 7), (kind), ())$$),
	('forms', 'array_agg', NULL, $$SELECT client, array_agg(id ORDER BY id) FROM event WHERE client < 20 GROUP BY client$$),
	('forms', 'string_agg', NULL, $$SELECT tenant, string_agg(DISTINCT kind, ',') FROM event GROUP BY tenant$$),
	('forms', 'json_agg', NULL, $$SELECT client, json_agg(id ORDER BY id) FROM event WHERE client < 20 GROUP BY client$$),
	('forms', 'bool_or', NULL, $$SELECT kind, bool_or(n IS NULL), bool_and(n > 0) FROM event GROUP BY kind$$),
	('forms', 'share of the sum', NULL, $$SELECT kind, sum(amount) / sum(sum(amount)) OVER () FROM event GROUP BY kind$$),
	('forms', 'HAVING', NULL, $$SELECT client FROM event GROUP BY client HAVING count(*) > 13$$),
	('forms', 'IS DISTINCT FROM', NULL, $$SELECT count(*) FROM event WHERE n IS DISTINCT FROM 7$$),

	('zone', 'since midnight', NULL, $$SELECT id FROM event WHERE ts >= current_date$$),
	('zone', 'of a day', NULL, $$SELECT id FROM event WHERE ts::date = current_date - 1$$),
	('zone', 'dashboard', NULL, $$SELECT date_trunc('hour', ts), count(*) FROM event WHERE ts > now() - interval '1 day' GROUP BY 1$$),
	('zone', 'by day', NULL, $$SELECT date_trunc('day', ts), count(*) FROM event GROUP BY 1$$),
	('zone', 'by date', NULL, $$SELECT ts::date, sum(amount) FROM event GROUP BY 1 ORDER BY 1 DESC LIMIT 30$$),
	('zone', 'by hour of the day', NULL, $$SELECT extract(hour FROM ts), count(*) FROM event GROUP BY 1$$),
	('zone', 'expired', NULL, $$SELECT count(*) FROM event WHERE ts + interval '30 days' < now()$$),
	('zone', 'after a timestamp', NULL, $$SELECT count(*) FROM event WHERE ts > timestamp '2026-01-01'$$),
	('zone', 'by to_char', NULL, $$SELECT to_char(ts, 'YYYY-MM'), count(*) FROM event GROUP BY 1$$),
	('zone', 'by to_char without a zone', NULL, $$SELECT to_char(made, 'YYYY-MM-DD'), count(*) FROM event GROUP BY 1$$),
	('zone', 'by day in a zone', NULL, $$SELECT date_trunc('day', ts AT TIME ZONE 'Europe/Berlin'), count(*) FROM event GROUP BY 1$$),

	('types', 'label', NULL, $$SELECT id FROM event WHERE state = 'lost'$$),
	('types', 'labels', NULL, $$SELECT count(*) FROM event WHERE state IN ('lost', 'new')$$),
	('types', 'not that label', NULL, $$SELECT count(*) FROM event WHERE state <> 'open'$$),
	('types', 'no label', NULL, $$SELECT count(*) FROM event WHERE state IS NULL$$),
	('types', 'by label', NULL, $$SELECT state, count(*) FROM event GROUP BY state$$),
	('types', 'FILTER label', NULL, $$SELECT kind, count(*) FILTER (WHERE state = 'paid') FROM event GROUP BY kind$$),
	('types', 'close by label', 0, $$UPDATE event SET state = 'lost' WHERE state = 'new'$$),
	('types', 'domain', NULL, $$SELECT id FROM event WHERE address = 'user77@example.org'$$),
	('types', 'domain IN', NULL, $$SELECT id FROM event WHERE address IN ('user77@example.org', 'user78@example.org')$$),
	('types', 'uuid', NULL, $$SELECT id FROM event WHERE token = md5('77')::uuid$$),

	('joins', 'EXISTS', NULL, $$SELECT count(*) FROM client c WHERE EXISTS (SELECT FROM event e WHERE e.client = c.id AND e.amount > 240)$$),
	('joins', 'NOT EXISTS', NULL, $$SELECT c.id FROM client c WHERE NOT EXISTS (SELECT FROM event e WHERE e.client = c.id)$$),
	('joins', 'IN', NULL, $$SELECT count(*) FROM event WHERE client IN (SELECT id FROM client WHERE blocked)$$),
	('joins', 'EXISTS as a column', NULL, $$SELECT id, EXISTS (SELECT FROM event e WHERE e.client = c.id) FROM client c WHERE id <= 20$$),
	('joins', 'count as a column', NULL, $$SELECT id, (SELECT count(*) FROM event e WHERE e.client = c.id) FROM client c WHERE id <= 20$$),
	('joins', 'sum of a subquery', 200, $$SELECT sum((SELECT n FROM event e WHERE e.id = p.id)) FROM pick p$$),
	('joins', '200 keys', 200, $$SELECT p.v, e.n FROM pick p JOIN event e USING (id)$$),
	('joins', '1,000 keys', 1000, $$SELECT w.id, e.n FROM wanted w JOIN event e USING (id) WHERE w.part = 0$$),
	('joins', '5,000 keys', 5000, $$SELECT count(e.n) FROM wanted w JOIN event e USING (id)$$),
	('joins', 'groups of 200 keys', 200, $$SELECT p.part, sum(e.amount) FROM pick p JOIN event e USING (id) GROUP BY 1$$),
	('joins', 'IN local rows', 200, $$SELECT id, n FROM event WHERE id IN (SELECT id FROM pick)$$),
	('joins', 'local LEFT JOIN', 200, $$SELECT p.v, e.n FROM pick p LEFT JOIN event e USING (id)$$),
	('joins', 'latest of each', 20, $$SELECT p.v, l.id FROM (SELECT * FROM pick WHERE v <= 20) p, LATERAL (SELECT id FROM event e WHERE e.client = p.v ORDER BY ts DESC LIMIT 1) l$$),
	('joins', 'clients of keys', 200, $$SELECT p.v, c.name FROM pick p JOIN event e USING (id) JOIN client c ON c.id = e.client$$),
	('joins', 'partitions by month', 28, $$SELECT date_trunc('month', made), sum(amount) FROM metric GROUP BY 1$$),
	('joins', 'partitions DISTINCT', 10000, $$SELECT count(DISTINCT client) FROM metric$$),
	('joins', 'UNION ALL', NULL, $$SELECT id FROM event WHERE id <= 10 UNION ALL SELECT id FROM client WHERE id <= 10$$),

	('writes', 'UPDATE FROM local', 200, $$UPDATE event e SET n = p.v FROM pick p WHERE e.id = p.id$$),
	('writes', 'UPDATE IN local', 200, $$UPDATE event SET n = 1 WHERE id IN (SELECT id FROM pick)$$),
	('writes', 'DELETE USING local', 200, $$DELETE FROM event e USING pick p WHERE e.id = p.id$$),
	('writes', 'DELETE IN local', 200, $$DELETE FROM event WHERE id IN (SELECT id FROM pick)$$),
	('writes', 'DELETE EXISTS local', 100, $$DELETE FROM event e WHERE EXISTS (SELECT FROM pick p WHERE p.id = e.id AND p.v % 2 = 0)$$),
	('writes', 'UPDATE FROM remote', 0, $$UPDATE event e SET n = 1 FROM client c WHERE c.id = e.client AND c.blocked$$),
	('writes', 'DELETE IN remote', 0, $$DELETE FROM event WHERE client IN (SELECT id FROM client WHERE blocked)$$),
	('writes', 'UPDATE EXISTS remote', 0, $$UPDATE client c SET blocked = true WHERE EXISTS (SELECT FROM event e WHERE e.client = c.id AND e.ts > now() - interval '1 day')$$),
	('writes', 'UPDATE RETURNING', NULL, $$UPDATE event SET n = 0 WHERE client = 7 RETURNING id$$),
	('writes', 'UPDATE by CASE', 0, $$UPDATE event SET n = CASE WHEN amount > 100 THEN 1 ELSE 2 END WHERE client = 7$$),
	('writes', 'UPDATE by COALESCE', 0, $$UPDATE event SET n = coalesce(n, 0) + 1 WHERE client = 7$$),
	('writes', 'UPDATE in a document', 0, $$UPDATE event SET doc = jsonb_set(doc, '{k}', '"w"') WHERE client = 7$$),
	('writes', 'UPDATE by a subquery', 0, $$UPDATE event SET n = 1 WHERE id = (SELECT max(id) FROM pick)$$);

/* What is left: the rest of these statements is sent. */
UPDATE fdw_travels t SET reason = left_out.reason
FROM (VALUES
	('json_agg', 'json_agg is stable: the text of its values depends on settings'),
	('EXISTS as a column', 'each row is looked up, in one batch'),
	('count as a column', 'each row is looked up, in one batch'),
	('clients of keys', 'clients are looked up by the events that were looked up'),
	('partitions DISTINCT', 'different values of several partitions are counted here')
) AS left_out (travel, reason)
WHERE t.travel = left_out.travel;

UPDATE fdw_travels SET in_quick = true WHERE travel IN ('recent', 'dashboard', 'by month', 'DISTINCT');

/* Where: through each wrapper, and directly, over a link on which rows are counted. */
CREATE VIEW fdw_travel_roads AS
SELECT target, kind, instance, dbname, link, wrapper, control
FROM fdw_roads
WHERE target IN ('FDW_external', 'direct') AND link = 'rmt:tcp:2000us';

/* Times of the day in the session's zone, which is not the remote server's. */
CREATE VIEW fdw_travel_testcases AS
SELECT 'fdw'::text AS suite,
	   p.profile,
	   concat_ws(':', 'TRAVEL', n.words, r.target, coalesce(r.wrapper, 'none'), r.link, 'travels')
	   AS testcase,
	   concat_ws(':', r.target, r.wrapper, r.link) AS candidate,
	   CASE WHEN r.wrapper IS NOT NULL THEN
		   concat_ws(':', 'TRAVEL', n.words, 'direct:none', r.link, 'travels')
	   END AS baseline,
	   'ms'::text AS figure, 'ms'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('bench', t.travel, 'target', r.target,
						  'wrapper', coalesce(r.wrapper, 'none'), 'link', r.link,
						  'protocol', 'simple', 'isolation', 'rc', 'clients', 1,
						  'measure', 'travels', 'class', t.class, 'needed', t.needed,
						  'repeats', 2, 'dbname', r.dbname) AS dims,
	   ARRAY['sh', '-c', 'printf %s "$0" | exec "$@" --file=-',
			 fdw_stop_script(ROW(t.travel, 'BEGIN;', t.command, 'ROLLBACK;', 0, false),
							 r.control, 1, 2)]
	   || CASE r.kind WHEN 'direct' THEN psql_words(link_conninfo(r.link, r.dbname))
			  ELSE psql_words(r.instance, r.dbname) END AS argv,
	   ARRAY['PGPASSFILE=' || source.passfile,
			 'PGOPTIONS=-c TimeZone=Europe/Berlin -c app.tenant=7'] AS env,
	   make_interval(mins => 5) AS time_limit,
	   'fdw_stops'::text AS format,
	   NULL::text[] AS probe_argv,
	   p.profile = 'full' OR t.in_quick AS chosen
FROM fdw_travel_roads r
	CROSS JOIN fdw_travels t
	CROSS JOIN LATERAL
		(SELECT trim('_' FROM regexp_replace(t.travel, '[^A-Za-z0-9]+', '_', 'g'))) AS n (words)
	JOIN profiles p ON p.suite = 'fdw'
	JOIN instances source ON source.instance = 'source';

INSERT INTO case_views VALUES ('fdw', 'fdw_travel_testcases');

/* The databases in which the present run executes such statements: most runs have none. */
CREATE VIEW fdw_travel_places AS
SELECT DISTINCT d.instance, d.dbname, d.server_port
FROM fdw_databases d
	JOIN run_cases c ON c.dims->>'dbname' = d.dbname AND c.dims->>'measure' = 'travels'
	JOIN runs r USING (run_id)
WHERE r.suite = 'fdw' AND r.state = 'running';
