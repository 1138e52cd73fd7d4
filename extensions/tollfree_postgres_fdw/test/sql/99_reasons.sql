-- EXPLAIN (VERBOSE) says what is evaluated here, and why.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
CREATE EXTENSION citext;
CREATE TYPE public.tone AS ENUM ('low', 'high');
CREATE TABLE remote.reasons (id int PRIMARY KEY, v int, name text, other text COLLATE "C", ts timestamptz,
	m tone, doc jsonb);
INSERT INTO remote.reasons SELECT i, i % 7, 'name ' || i % 9, 'o', now() - i * interval '1 hour',
	CASE WHEN i % 2 = 0 THEN 'low' ELSE 'high' END::tone, '{"k": "v"}' FROM generate_series(1, 2000) i;
ANALYZE remote.reasons;
IMPORT FOREIGN SCHEMA remote LIMIT TO (reasons) FROM SERVER loopback INTO public;
ANALYZE reasons;
CREATE FUNCTION public.other_function(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION public.reasons_of(query text) RETURNS TABLE (expression text, reason text) LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT e->>'Expression', e->>'Reason'
	FROM jsonb_path_query(plan, 'strict $.**') node, jsonb_array_elements(node->'Evaluated Here') e;
END
$$;

EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM reasons WHERE v = other_function(id) AND random() < 2 AND name > 'name 1';
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM reasons WHERE v = other_function(id);
-- How many rows travelled for nothing PostgreSQL says.
SELECT name, explained('SELECT count(*) FROM reasons WHERE v = other_function(id)', name)
FROM unnest(ARRAY['Rows Received', 'Rows Removed by Filter']) AS name;
EXPLAIN (COSTS OFF) SELECT id FROM reasons WHERE v = other_function(id);
SET app.nothing = '1';
SELECT condition, r.reason FROM unnest(ARRAY[
	$$v = other_function(id)$$,
	$$coalesce(v, other_function(id)) = 3$$,
	$$upper(name)::citext = 'x'$$,
	$$name::citext = 'x'$$,
	$$m = 'low'$$,
	$$random() < 0.5$$,
	$$date_trunc('day', ts) = '2020-01-01'$$,
	$$to_char(v, '999') = '1'$$,
	$$v = 1 OR v = current_setting('app.nothing')::int$$,
	$$v > (SELECT random() * reasons.id)$$,
	$$reasons IS NOT NULL$$,
	$$tableoid > 0$$,
	$$v::text = '3'$$,
	$$ROW(v, id) = ROW(1, 2)$$,
	$$doc->>'k' < 'v'$$,
	$$upper(doc->>'k') = 'V'$$,
	$$name COLLATE "C" < 'x'$$,
	$$name || other < 'x' COLLATE "C"$$,
	$$coalesce(name, '') < 'x'$$,
	$$name > current_setting('app.name', true)$$,
	$$v = ANY (ARRAY(SELECT other_function(1)))$$
]) AS condition, reasons_of('SELECT id FROM reasons WHERE ' || condition) r;
-- What is done with the rows
SELECT query, r.* FROM unnest(ARRAY[
	$$SELECT other_function(v), count(*) FROM reasons GROUP BY 1$$,
	$$SELECT sum(other_function(v)) FROM reasons$$,
	$$SELECT v, sum(id) FROM reasons WHERE random() < 2 GROUP BY 1$$,
	$$SELECT 1 AS one, v, count(*) FROM reasons GROUP BY ROLLUP (one, v)$$,
	$$SELECT m, count(*) FROM reasons GROUP BY m$$,
	$$SELECT upper(doc->>'k'), count(*) FROM reasons GROUP BY 1 ORDER BY 1$$,
	$$SELECT doc->>'k', count(*) FROM reasons GROUP BY 1 ORDER BY 1$$,
	$$SELECT a.id FROM reasons a JOIN reasons b ON a.v = other_function(b.id) AND a.id < b.id$$,
	$$SELECT a.id FROM reasons a JOIN reasons b ON a.id = b.id WHERE a.v = other_function(1) AND b.v = other_function(b.id) AND a.v = other_function(a.id)$$,
	$$SELECT max(doc->>'k') FROM reasons$$,
	$$SELECT date_trunc('day', ts), count(*) FROM reasons GROUP BY 1 ORDER BY 2$$,
	$$SELECT id FROM reasons WHERE ts AT TIME ZONE 'CET' > '2024-05-05'$$,
	$$SELECT id FROM reasons WHERE ts AT TIME ZONE 'Europe/Berlin' > '2024-05-05'$$,
	$$SELECT string_agg(v::text, ',') FROM reasons$$,
	$$SELECT v, sum(id) FROM reasons GROUP BY v HAVING sum(id) > other_function(1)$$,
	$$SELECT count(*) FROM reasons WHERE v = 3$$,
	$$SELECT DISTINCT v FROM reasons$$
]) AS query, reasons_of(query) r;
-- A join, a subquery, a row that is locked, a parameter of an outer row
SELECT query, r.* FROM unnest(ARRAY[
	$$SELECT count(*) FROM reasons a JOIN reasons b USING (id) WHERE a.v = other_function(b.v)$$,
	$$SELECT (SELECT count(*) FROM reasons r WHERE r.v = other_function(n)) FROM generate_series(1, 2) n$$,
	$$SELECT id FROM reasons WHERE v = other_function(id) FOR UPDATE$$,
	$$UPDATE reasons SET name = 'x' WHERE v = other_function(id)$$,
	$$SELECT * FROM generate_series(1, 2) n CROSS JOIN LATERAL (SELECT id FROM reasons WHERE v = other_function(n) LIMIT 1) l$$
]) AS query, reasons_of(query) r;
-- An extension that the server's option names; switches
SELECT * FROM reasons_of($$SELECT id FROM reasons WHERE name::citext = 'x'::citext$$);
ALTER SERVER loopback OPTIONS (ADD extensions 'citext');
SELECT * FROM reasons_of($$SELECT id FROM reasons WHERE name::citext = 'x'::citext$$);
ALTER SERVER loopback OPTIONS (DROP extensions);
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT * FROM reasons_of($$SELECT id FROM reasons WHERE coalesce(v, 1) = 3$$);
RESET tollfree_postgres_fdw.remote_expressions;
-- A security barrier
CREATE VIEW shown_reasons WITH (security_barrier) AS SELECT * FROM reasons WHERE other_function(v) <> 3;
SELECT * FROM reasons_of($$UPDATE shown_reasons SET v = 1 WHERE coalesce(6 / (v - 3), 0) = 6$$);
DROP VIEW shown_reasons;

RESET app.nothing;
DROP FUNCTION reasons_of, other_function;
DROP FOREIGN TABLE reasons;
DROP TABLE remote.reasons;
DROP TYPE tone;
DROP EXTENSION citext;
RESET client_min_messages;
