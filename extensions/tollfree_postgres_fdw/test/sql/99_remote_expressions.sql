-- Conditions that postgres_fdw evaluates here, decided by the remote server.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
SET datestyle = ISO;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER expressions_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER expressions_stock OPTIONS (password_required 'false');
CREATE TABLE remote.instants (id int PRIMARY KEY, ts timestamptz, t timestamp, d date,
	name text, owner text, tenant int, doc jsonb, x int, y int);
INSERT INTO remote.instants
SELECT i, now() - i * interval '1 hour', localtimestamp - i * interval '1 hour',
	current_date - i % 40, 'name ' || i % 9, CASE WHEN i % 4 = 0 THEN session_user ELSE 'other' END,
	i % 10, jsonb_build_object('k', 'k' || i % 6, 'n', i % 5), nullif(i % 7, 0), nullif(i % 5, 0)
FROM generate_series(1, 2000) i;
ANALYZE remote.instants;
IMPORT FOREIGN SCHEMA remote LIMIT TO (instants) FROM SERVER loopback INTO public;
CREATE FOREIGN TABLE stock_instants (id int, ts timestamptz, t timestamp, d date,
	name text, owner text, tenant int, doc jsonb, x int, y int) SERVER expressions_stock
	OPTIONS (schema_name 'remote', table_name 'instants');
ANALYZE instants, stock_instants;

-- A condition: the remote command, rows that come, and whether stock and the local table agree.
CREATE FUNCTION decided(condition text) RETURNS TABLE (remote_condition text, excess bigint, same bool)
LANGUAGE plpgsql
AS $$
DECLARE
	ids int[];
	others int[];
	locals int[];
BEGIN
	EXECUTE format('SELECT ARRAY(SELECT id FROM instants WHERE %s ORDER BY id)', condition) INTO ids;
	EXECUTE format('SELECT ARRAY(SELECT id FROM stock_instants WHERE %s ORDER BY id)', condition) INTO others;
	EXECUTE format('SELECT ARRAY(SELECT id FROM remote.instants WHERE %s ORDER BY id)', condition) INTO locals;
	remote_condition := regexp_replace(explained(format('SELECT * FROM instants WHERE %s', condition), 'Remote SQL') #>> '{}',
									   '^.*? FROM remote.instants', '');
	excess := explained(format('SELECT id FROM instants WHERE %s', condition), 'Rows Received')::int - cardinality(ids);
	same := ids = others AND ids = locals;
	RETURN NEXT;
END
$$;
CREATE FUNCTION run(query text) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT to_jsonb(q) FROM (%s) q', query);
END
$$;
CREATE FUNCTION public.yesterday(days int) RETURNS date STABLE LANGUAGE sql AS 'SELECT current_date - days';
SET app.tenant = '3';
SET app.name = 'name 4';
SELECT condition, decided.* FROM unnest(ARRAY[
	$$ts > now() - interval '10 hours'$$,
	$$ts BETWEEN now() - interval '3 days' AND now() - interval '2 days'$$,
	$$ts > date_trunc('day', now()) - interval '1 day'$$,
	$$t >= localtimestamp - interval '1 day'$$,
	$$d = current_date - 3$$,
	$$d >= current_date - interval '1 week'$$,
	$$d > (now() - interval '2 days')::date$$,
	$$d = yesterday(2)$$,
	$$name = current_setting('app.name')$$,
	$$tenant = current_setting('app.tenant')::int$$,
	$$tenant = nullif(current_setting('app.nothing', true), '')::int$$,
	$$tenant = ANY (string_to_array(current_setting('app.tenant') || ',5', ',')::int[])$$,
	$$name = current_setting('app.nothing', true) OR d = current_date$$,
	$$x IS NULL AND ts < now()$$,
	$$CASE WHEN x = 3 THEN ts > now() - interval '1 day' ELSE false END$$
]) AS condition, decided(condition);

-- These stay here: they are volatile, may fail where nobody would see it, or their texts mean
-- something else there.
SELECT condition, decided.* FROM unnest(ARRAY[
	$$ts > clock_timestamp() - interval '10 hours' AND id < 5$$,
	$$id < 5 AND (x = 3 OR tenant = current_setting('app.tenant')::int)$$,
	$$id < 5 AND CASE WHEN current_setting('app.nothing', true) <> '' THEN tenant = current_setting('app.nothing')::int ELSE true END$$,
	$$id < 5 AND x::oid <> 'instants'::text::regclass$$
]) AS condition, decided(condition);

-- No error without a row, but where PostgreSQL evaluates the value to plan the query
SELECT count(*) FROM instants WHERE id < 0 AND CASE WHEN x = 3 THEN true ELSE tenant = current_setting('app.nothing')::int END;
SELECT count(*) FROM stock_instants WHERE id < 0 AND CASE WHEN x = 3 THEN true ELSE tenant = current_setting('app.nothing')::int END;
SELECT count(*) FROM instants WHERE id < 0 AND tenant = current_setting('app.nothing')::int;
SELECT count(*) FROM stock_instants WHERE id < 0 AND tenant = current_setting('app.nothing')::int;

-- The estimate is that of the condition as it is written.
SELECT explained(format(query, 'instants'), 'Plan Rows', 'COSTS') = explained(format(query, 'stock_instants'), 'Plan Rows', 'COSTS') AS same_estimate
FROM unnest(ARRAY['SELECT * FROM %s WHERE ts > now() - interval ''10 hours''',
	'SELECT * FROM %s WHERE ts BETWEEN now() - interval ''30 hours'' AND now() - interval ''20 hours''',
	'SELECT * FROM %s WHERE tenant = current_setting(''app.tenant'')::int AND x = 3']) AS query;

-- Each execution of a prepared statement has its own value, by custom and generic plans.
PREPARE of_tenant(int) AS SELECT count(*), min(tenant) FROM instants WHERE tenant = current_setting('app.tenant')::int AND x > $1;
PREPARE of_local_day AS SELECT (SELECT count(*) FROM instants WHERE d = current_date - 1) = (SELECT count(*) FROM remote.instants WHERE d = current_date - 1) AS same;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_tenant(2);
SET app.tenant = '4';
EXECUTE of_tenant(2);
SET timezone = 'Pacific/Kiritimati';
EXECUTE of_local_day;
SET timezone = 'Pacific/Pago_Pago';
EXECUTE of_local_day;
RESET timezone;
SET app.tenant = 'none';
EXECUTE of_tenant(2);
SET app.tenant = '4';
RESET plan_cache_mode;
EXECUTE of_tenant(2);

-- A rescan whose parameters change; a cursor; a subtransaction
SELECT n, (SELECT count(*) FROM instants WHERE tenant = n AND ts > now() - n * interval '100 hours')
FROM generate_series(1, 3) n;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM instants WHERE ts > now() - interval '4 hours' ORDER BY id;
FETCH 1 FROM c;
SAVEPOINT s;
SET LOCAL app.tenant = '5';
SELECT min(tenant) FROM instants WHERE tenant = current_setting('app.tenant')::int;
ROLLBACK TO s;
SELECT min(tenant) FROM instants WHERE tenant = current_setting('app.tenant')::int;
FETCH ALL FROM c;
COMMIT;

-- The role is the one that evaluates the condition here.
CREATE ROLE expressions_owner;
GRANT ALL ON instants, remote.instants TO expressions_owner;
GRANT USAGE ON SCHEMA remote TO expressions_owner;
INSERT INTO remote.instants (id, owner) VALUES (-1, 'expressions_owner');
CREATE FUNCTION public.mine() RETURNS int SECURITY DEFINER LANGUAGE sql
AS 'SELECT count(*) FROM instants WHERE owner = current_user::text';
ALTER FUNCTION public.mine() OWNER TO expressions_owner;
SELECT mine(), count(*) FILTER (WHERE id = -1), count(*) FROM instants WHERE owner = current_user::text;
SET ROLE expressions_owner;
SELECT min(id), count(*) FROM instants WHERE owner = current_user::text;
RESET ROLE;
DELETE FROM instants WHERE id = -1;

-- One command; RETURNING and the condition of a locked row are evaluated as written.
BEGIN;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM instants WHERE ts < now() - interval '960 hours';
DELETE FROM instants WHERE ts < now() - interval '1999 hours' RETURNING id < 0 OR ts < now() AS is_old;
WITH gone AS (DELETE FROM instants WHERE ts < now() - interval '960 hours' RETURNING id) SELECT count(*), min(id) FROM gone;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE instants SET ts = now(), d = current_date, name = name || '!' WHERE id = 3;
UPDATE instants SET ts = now(), d = current_date, t = now(), name = name || '!' WHERE id = 3 AND ts < now() RETURNING ts = now() AS now, d = current_date AS today, t = localtimestamp AS local, name;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE instants SET tenant = current_setting('app.tenant')::int WHERE id < 0;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM instants WHERE ts < now() AND id = 5 FOR UPDATE;
ROLLBACK;

-- Joins, and lookups in batches, also of subqueries
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM instants a JOIN instants b USING (id) WHERE a.ts > now() - interval '1 day' AND b.d > current_date - 5;
SELECT count(*) FROM instants a JOIN instants b USING (id) WHERE a.ts > now() - interval '1 day' AND b.d > current_date - 5;
SELECT (SELECT count(*) FROM stock_instants a JOIN stock_instants b USING (id) WHERE a.ts > now() - interval '1 day' AND b.d > current_date - 5);
CREATE TEMP TABLE wanted AS SELECT i * 7 AS id FROM generate_series(1, 20) i;
ANALYZE wanted;
SELECT explained(query, 'Rows Received'), explained(query, 'Round Trips') FROM unnest(ARRAY[
	'SELECT m.name FROM wanted w JOIN instants m ON m.id = w.id WHERE m.ts > now() - interval ''40 hours''',
	'SELECT (SELECT m.name FROM instants m WHERE m.id = w.id AND m.ts > now() - interval ''40 hours'') FROM wanted w'
]) AS query;

-- What does not depend on a collation
SELECT condition, decided.* FROM unnest(ARRAY[
	$$extract(year FROM d) = extract(year FROM current_date)$$,
	$$date_part('month', d) = date_part('month', current_date)$$,
	$$date_part('hour', t) < 5 AND extract(minute FROM t) >= 0$$,
	$$date_trunc('day', t) = date_trunc('day', localtimestamp)$$,
	$$doc->>'k' = 'k3'$$,
	$$doc->>'k' <> 'k3'$$,
	$$doc->>'k' IS DISTINCT FROM 'k3'$$,
	$$doc->>'k' IN ('k1', 'k2')$$,
	$$doc->>'k' LIKE 'k%' AND doc->>'n' NOT LIKE '%2'$$,
	$$doc #>> '{k}' = 'k3'$$,
	$$doc->'n' @> '3' AND (doc->'n')::int = 3$$,
	$$doc ? 'k' AND doc ?| '{a,n}' AND NOT doc ?& '{k,a}'$$,
	$$jsonb_extract_path_text(doc, 'k') = name OR doc->>'k' || '!' = 'k4!'$$,
	$$name COLLATE "C" = 'name 4'$$,
	$$owner = current_user$$
]) AS condition, decided(condition);
-- What postgres_fdw has no words for
SELECT condition, decided.* FROM unnest(ARRAY[
	$$coalesce(x, y, 3) = 3$$,
	$$coalesce(NULL, x) = 3$$,
	$$nullif(x, y) = 3$$,
	$$greatest(x, y) > least(y, 2, x)$$,
	$$(x > y) IS NOT TRUE$$,
	$$(x > y) IS UNKNOWN OR (y > 2) IS FALSE$$,
	$$(x, y, id) >= (3, 2, 100)$$,
	$$coalesce(nullif(doc->>'k', 'k3'), 'k4') = 'k4'$$,
	$$coalesce(tenant = current_setting('app.nothing', true)::int, d > current_date - 2)$$
]) AS condition, decided(condition);
-- What does, or might
SELECT condition, decided.* FROM unnest(ARRAY[
	$$id < 9 AND name > current_setting('app.name')$$,
	$$id < 9 AND coalesce(name, '') < 'name 3'$$,
	$$id < 9 AND (name, id) > ('name 3', 4)$$,
	$$id < 9 AND greatest(doc, '{}') = doc$$,
	$$id < 9 AND greatest(ARRAY[doc], '{}') = ARRAY[doc]$$,
	$$id < 9 AND coalesce(ARRAY[doc] > '{3}', true)$$,
	$$id < 9 AND coalesce(x, random()) > 3$$,
	$$id < 9 AND doc->>'k' < 'k3'$$,
	$$id < 9 AND doc->'n' < '3'$$,
	$$id < 9 AND upper(doc->>'k') = 'K3'$$,
	$$id < 9 AND name || (doc->>'k') < 'name 3'$$,
	$$id < 0 AND to_char(ts, 'YYYYMM') = to_char(now(), 'YYYYMM')$$
]) AS condition, decided(condition);
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM instants ORDER BY doc->>'k', doc->'n';
CREATE COLLATION nondeterministic (provider = icu, locale = 'und', deterministic = false);
CREATE FOREIGN TABLE odd_instants (id int, name text COLLATE nondeterministic, doc jsonb) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'instants');
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM odd_instants WHERE name COLLATE "C" = 'x' AND doc->>'k' = 'x' COLLATE nondeterministic;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM odd_instants WHERE name = current_user;
-- The remote server could not choose between the collations of two columns.
CREATE TABLE remote.two_collations (id int, c text COLLATE "C", p text COLLATE "POSIX");
INSERT INTO remote.two_collations VALUES (1, 'a', 'a'), (2, 'a', 'b');
IMPORT FOREIGN SCHEMA remote LIMIT TO (two_collations) FROM SERVER loopback INTO public;
SELECT id FROM two_collations WHERE c = p COLLATE "C" AND (c || p) COLLATE "C" LIKE 'a%' AND coalesce(c, p) COLLATE "C" IN ('a', p);
DROP FOREIGN TABLE two_collations;
DROP TABLE remote.two_collations;
-- Groups, aggregates, orders and joins, also of subqueries, and assignments
SELECT explained(format(query, 'instants'), 'Rows Received') AS received,
	ARRAY(SELECT run(format(query, 'instants'))) = ARRAY(SELECT run(format(query, 'stock_instants'))) AS same
FROM unnest(ARRAY[
	$$SELECT extract(hour FROM t), count(*) FROM %s WHERE x > 3 GROUP BY 1 ORDER BY 1$$,
	$$SELECT date_part('isodow', d), count(*) FROM %s GROUP BY 1 ORDER BY 1$$,
	$$SELECT count(*) FILTER (WHERE extract(hour FROM t) = 3), max(extract(day FROM d)) FROM %s$$,
	$$SELECT hour, count(*) FROM (SELECT extract(hour FROM t) AS hour, x FROM %s WHERE x > 3) q GROUP BY hour HAVING min(hour) >= 0 ORDER BY hour$$,
	$$SELECT sum(coalesce(x, 0)), max(greatest(x, y)), count(*) FILTER (WHERE (x > y) IS NOT TRUE) FROM %s$$,
	$$SELECT id FROM %s ORDER BY extract(hour FROM t), id LIMIT 3$$
]) AS query;
-- Aggregates that depend on an order of texts
SELECT explained(query, 'Rows Received') AS received FROM unnest(ARRAY[
	$$SELECT max(coalesce(nullif(ARRAY[doc], '{}'), '{}')) FROM instants WHERE id < 9$$,
	$$SELECT array_agg(coalesce(x, 0) ORDER BY name, id) FROM instants WHERE id < 9$$,
	$$SELECT array_agg(coalesce(x, 0) ORDER BY id) FROM instants WHERE id < 9$$
]) AS query;
BEGIN;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE instants SET name = doc->>'k', x = extract(year FROM d) WHERE doc->>'k' = 'k3';
UPDATE instants SET name = doc->>'k', x = extract(year FROM d) WHERE doc->>'k' = 'k3';
SELECT bool_and(name = 'k3' AND x = extract(year FROM d)), count(*) FROM instants WHERE doc->>'k' = 'k3';
ROLLBACK;
-- Evaluated here after all, it is what was written; and so are expressions of other tables.
SELECT count(*) FROM instants WHERE id < 20 AND (doc->>'k' = 'k3' OR random() < 0);
SELECT a.id FROM instants a JOIN wanted w ON a.id = w.id AND (a.doc->>'k' = 'k3' OR w.id = 7) ORDER BY 1;
CREATE TEMP TABLE here AS SELECT i AS id, timestamp '2000-01-01' + i * interval '1 day' AS t FROM generate_series(1, 1000) i;
CREATE INDEX by_month ON here (date_trunc('month', t));
ANALYZE here;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT h.id FROM here h JOIN instants m USING (id) WHERE date_trunc('month', h.t) = '2001-05-01' AND date_trunc('month', m.t) = '2001-05-01';
RESET enable_seqscan;

-- A test of a type is sent with what it guards, and before it.
SELECT condition, decided.* FROM unnest(ARRAY[
	$$jsonb_typeof(doc->'k') <> 'string' AND (doc->'k')::int > 1$$,
	$$jsonb_typeof(doc->'k') IN ('array', 'object') AND jsonb_array_length(doc->'k') > 1$$
]) AS condition, decided(condition);
-- The remote server would compute what parameters are known for, though no row needs it.
SET plan_cache_mode = force_generic_plan;
PREPARE divided(int) AS SELECT count(*) FROM instants WHERE coalesce(id, 1 / $1) = 3 AND (id, 1 / $1) > (2, 1);
EXECUTE divided(0);
PREPARE total(int) AS SELECT sum(coalesce(id, 1 / $1)) FROM instants WHERE id < 4;
EXECUTE total(0);
RESET plan_cache_mode;
BEGIN;
UPDATE instants SET x = 1 / (date_part('year', localtimestamp)::int - date_part('year', localtimestamp)::int) WHERE id < 0;
ROLLBACK;
DEALLOCATE divided;
DEALLOCATE total;
-- A condition of a semi-join that stays here
ALTER SERVER loopback OPTIONS (ADD use_remote_estimate 'true');
SELECT count(*) FROM instants a WHERE a.x IN (SELECT coalesce(b.y, 9) FROM instants b WHERE b.d <= current_date AND b.id < 9);
ALTER SERVER loopback OPTIONS (DROP use_remote_estimate);
-- Nested forms do not grow without bounds, and functions are not called twice.
SELECT n, length((explained(format('SELECT id FROM instants WHERE %s = 3', replace(repeat('coalesce(', n), 'coalesce', form) || 'x' || repeat(', y)', n)),
									'Remote SQL') #>> '{}')) < 10000 AS is_short
FROM unnest(ARRAY['coalesce', 'nullif', 'greatest']) AS form, unnest(ARRAY[2, 20]) n;
CREATE SEQUENCE calls;
CREATE FUNCTION public.count_calls(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''calls''); RETURN x; END';
SELECT sum(coalesce(count_calls(x), 0)) FROM instants WHERE x = 1 AND id < 20;
SELECT last_value FROM calls;
DROP FUNCTION count_calls;
DROP SEQUENCE calls;
-- What could see hidden rows is not sent before what hides them.
CREATE FUNCTION public.is_shown(x int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x <> 3; END';
CREATE VIEW shown WITH (security_barrier) AS SELECT * FROM instants WHERE is_shown(x);
BEGIN;
UPDATE shown SET y = 1 WHERE coalesce(6 / (x - 3), 0) = 6 AND ts < now();
UPDATE shown SET y = 1 WHERE extract(day FROM d) = 60 / (x - 3) AND id < 0;
DELETE FROM shown WHERE 6 / (x - 3) = extract(day FROM current_date)::int AND id < 0;
ROLLBACK;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE shown SET y = 1 WHERE ts < now();
DROP VIEW shown;
DROP FUNCTION is_shown;

-- What looks at an order of texts stays where postgres_fdw leaves it: the local collation counts.
EXPLAIN (COSTS OFF) SELECT max(name), count(*) FROM instants WHERE ts < now();
EXPLAIN (COSTS OFF) SELECT date_trunc('month', t), count(*) FILTER (WHERE name < 'name 4') FROM instants GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT sum(coalesce(x, 0)), min(name) FROM instants;
EXPLAIN (COSTS OFF) SELECT name, count(name) FILTER (WHERE name <> 'x') FROM instants WHERE ts < now() GROUP BY 1;
EXPLAIN (COSTS OFF) SELECT name, count(*) FROM instants WHERE ts < now() GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM instants a JOIN instants b ON a.x = b.x AND a.name < b.owner WHERE a.ts < now();
EXPLAIN (COSTS OFF) SELECT count(*) FROM instants a JOIN instants b ON a.x = b.x AND a.name = b.owner WHERE a.ts < now();

-- Switches
\set query 'SELECT id FROM instants WHERE ts > now() - interval \'10 hours\''
SELECT explained(:'query', 'Rows Received');
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT explained(:'query', 'Rows Received');
RESET tollfree_postgres_fdw.remote_expressions;
ALTER FOREIGN TABLE instants OPTIONS (ADD remote_expressions 'false');
SELECT explained(:'query', 'Rows Received');
ALTER FOREIGN TABLE instants OPTIONS (DROP remote_expressions);
ALTER SERVER loopback OPTIONS (ADD compatibility 'stock');
SELECT explained(:'query', 'Filter');
ALTER SERVER loopback OPTIONS (DROP compatibility);

-- A session's first query loads the library when it is being planned.
DROP TABLE wanted, here;
\connect -
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM instants WHERE ts < now() - interval '960 hours' AND coalesce(x, 1) = 1;
\connect -
SELECT count(*) FROM instants WHERE CASE WHEN id < 0 THEN true ELSE ts > now() END;
SET client_min_messages = warning;

DROP FOREIGN TABLE instants, stock_instants;
DROP FOREIGN TABLE odd_instants;
DROP COLLATION nondeterministic;
DROP TABLE remote.instants;
DROP FUNCTION decided, run, yesterday, mine;
DROP SERVER expressions_stock CASCADE;
REVOKE ALL ON SCHEMA remote FROM expressions_owner;
DROP ROLE expressions_owner;
RESET app.tenant;
RESET app.name;
RESET datestyle;
RESET client_min_messages;
