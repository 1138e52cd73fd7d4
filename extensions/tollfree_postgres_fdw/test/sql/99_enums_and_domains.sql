-- Conditions on enums, by their labels, and on domains, as on their base types.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER types_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER types_stock OPTIONS (password_required 'false');
-- The remote enum has another order, and lacks a label; the remote domain allows less.
CREATE TYPE public.mood AS ENUM ('new', 'open', 'done', 'lost', 'NULL');
CREATE TYPE remote.mood AS ENUM ('NULL', 'done', 'open', 'new');
CREATE TYPE public.flag AS ENUM ('t', 'f', 'u');
CREATE DOMAIN public.mail AS text CHECK (value <> '');
CREATE DOMAIN public.amount AS int CHECK (value < 1000);
CREATE DOMAIN public.plain AS int;
CREATE DOMAIN public.state AS mood;
CREATE DOMAIN remote.mail AS text CHECK (value LIKE '%@%');
CREATE DOMAIN remote.amount AS int CHECK (value < 100);
CREATE TABLE remote.typed (id int PRIMARY KEY, m remote.mood, o remote.mood, t text, ms remote.mood[],
	e remote.mail, a remote.amount, p int, flag bool);
INSERT INTO remote.typed
SELECT i, (ARRAY['new', 'open', 'done', NULL])[i % 4 + 1]::remote.mood, (ARRAY['new', 'open', 'NULL'])[i % 3 + 1]::remote.mood,
	(ARRAY['new', 'open', NULL])[i % 3 + 1], ARRAY['open', (ARRAY['new', 'done'])[i % 2 + 1]]::remote.mood[],
	'u' || i % 20 || '@x', nullif(i % 50, 7), i % 9, i % 2 = 0
FROM generate_series(1, 1000) i;
CREATE INDEX ON remote.typed (a);
ANALYZE remote.typed;
CREATE FOREIGN TABLE typed (id int, m mood, o mood, t mood, ms mood[], e mail, a amount, p plain, s state OPTIONS (column_name 'm'), flag flag)
	SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE stock_typed (id int, m mood, o mood, t mood, ms mood[], e mail, a amount, p plain, s state OPTIONS (column_name 'm'), flag flag)
	SERVER types_stock OPTIONS (schema_name 'remote', table_name 'typed');
ANALYZE typed, stock_typed;

-- A condition: the remote command, rows that come for nothing, and whether stock agrees.
CREATE FUNCTION decided(condition text) RETURNS TABLE (remote_condition text, excess bigint, same bool)
LANGUAGE plpgsql
AS $$
DECLARE
	ids int[];
	others int[];
BEGIN
	EXECUTE format('SELECT ARRAY(SELECT id FROM typed WHERE %s ORDER BY id)', condition) INTO ids;
	EXECUTE format('SELECT ARRAY(SELECT id FROM stock_typed WHERE %s ORDER BY id)', condition) INTO others;
	remote_condition := regexp_replace(explained(format('SELECT * FROM typed WHERE %s', condition), 'Remote SQL') #>> '{}',
									   '^.*? FROM remote.typed', '');
	excess := explained(format('SELECT id FROM typed WHERE %s', condition), 'Rows Received')::int - cardinality(ids);
	same := ids = others;
	RETURN NEXT;
END
$$;
SELECT condition, decided.* FROM unnest(ARRAY[
	$$m = 'open'$$,
	$$'lost' = m$$,
	$$m <> 'lost'$$,
	$$m <> 'done' AND m IS NOT NULL$$,
	$$m IN ('open', 'lost', NULL)$$,
	$$m NOT IN ('open', 'lost')$$,
	$$m IS DISTINCT FROM 'new'$$,
	$$m = o$$,
	$$m = t$$,
	$$t = 'open'$$,
	$$o = 'NULL' OR t IS NULL$$,
	$$o IN ('NULL', 'done')$$,
	$$coalesce(m, 'lost') = 'lost'$$,
	$$'done' = ANY (ms)$$,
	$$ms @> '{open,done}'$$,
	$$ms && '{lost,new}' AND ms <> '{new}' AND ms IS NOT NULL$$,
	$$m = 'open'::text::mood$$,
	$$m::text = 'open'$$,
	$$m::text LIKE 'o%'$$,
	$$CASE m WHEN 'open' THEN id < 9 WHEN o THEN true ELSE o = 'new' END$$,
	$$s::mood = 'open'$$,
	$$s::mood IN ('open', 'lost', o)$$,
	$$s IS NULL$$,
	$$flag IS NULL$$
]) AS condition, decided(condition);
SELECT condition, decided.* FROM unnest(ARRAY[
	$$a = 5$$,
	$$a = 500$$,
	$$a > 40 AND a + p < 50$$,
	$$a IN (1, 2, 1000)$$,
	$$a IS NULL$$,
	$$coalesce(a, 0) = 0$$,
	$$greatest(a, p) = 8$$,
	$$p = 3$$,
	$$p = 3::plain$$,
	$$e = 'u3@x'$$,
	$$e = ''$$,
	$$e LIKE 'u1%'$$,
	$$e IN ('u3@x', 'u4')$$,
	$$upper(e) IS NOT NULL$$
]) AS condition, decided(condition);

-- These stay here: an order; a label that boolean sends; what fails here or checks something.
SELECT condition, decided.* FROM unnest(ARRAY[
	$$m > 'open'$$,
	$$greatest(m, o) = 'open'$$,
	$$flag = 't'$$,
	$$e > 'u3@x'$$,
	$$a = p::amount$$
]) AS condition, decided(condition);
SELECT count(*) FROM typed WHERE m = 'nothing';
SELECT count(*) FROM typed WHERE id < 0 AND m = 'nothing'::text::mood;
SELECT count(*) FROM stock_typed WHERE id < 0 AND m = 'nothing'::text::mood;

-- Estimates are those of the conditions as written, also where a join is estimated.
SELECT explained(format(query, 'typed'), 'Plan Rows', 'COSTS') = explained(format(query, 'stock_typed'), 'Plan Rows', 'COSTS') AS same_estimate
FROM unnest(ARRAY['SELECT * FROM %s WHERE m = ''open''', 'SELECT * FROM %s WHERE a = 5',
	'SELECT * FROM %s WHERE m IN (''open'', ''new'') AND a > 20',
	'SELECT * FROM %1$s a JOIN %1$s b ON a.m = b.o', 'SELECT * FROM %1$s a LEFT JOIN %1$s b ON a.m = b.o AND a.a = b.a']) AS query;
-- Statistics have values of the columns' own types.
CREATE STATISTICS of_typed (mcv) ON m, p FROM typed;
ANALYZE typed;
SELECT count(*) FROM typed WHERE m::text = 'open' AND p = 3 AND m IN ('open', 'new');
DROP STATISTICS of_typed;

-- Parameters
PREPARE by_label(mood, mood[], amount, mail, text) AS
SELECT count(*) FILTER (WHERE m = $1), count(*) FILTER (WHERE m = ANY ($2)), count(*) FROM typed
WHERE (m = $1 OR m = ANY ($2) OR m IS NULL) AND (a = $3 OR e = $4) AND m IS DISTINCT FROM $5::mood;
PREPARE stock_by_label(mood, mood[], amount, mail, text) AS
SELECT count(*) FILTER (WHERE m = $1), count(*) FILTER (WHERE m = ANY ($2)), count(*) FROM stock_typed
WHERE (m = $1 OR m = ANY ($2) OR m IS NULL) AND (a = $3 OR e = $4) AND m IS DISTINCT FROM $5::mood;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE by_label('open', '{open,NULL,"lost"}', 3, 'u3@x', 'new');
EXECUTE by_label('open', '{open,NULL,"NULL",lost}', 3, 'u3@x', 'new');
EXECUTE stock_by_label('open', '{open,NULL,"NULL",lost}', 3, 'u3@x', 'new');
EXECUTE by_label('lost', NULL, 900, 'u4@x', 'open');
EXECUTE stock_by_label('lost', NULL, 900, 'u4@x', 'open');
EXECUTE by_label('lost', NULL, 900, 'u4@x', 'nothing');
RESET plan_cache_mode;
EXECUTE by_label('open', '{new}', NULL, 'u5@x', NULL);
EXECUTE stock_by_label('open', '{new}', NULL, 'u5@x', NULL);

-- A label that is renamed while a plan is kept, and one that is added
PREPARE of_new AS SELECT count(*) FROM typed WHERE m = 'new';
PREPARE grouped AS SELECT m, count(*) FROM typed WHERE m <> 'done' GROUP BY m ORDER BY m;
SET plan_cache_mode = force_generic_plan;
EXECUTE of_new;
EXECUTE grouped;
ALTER TYPE public.mood RENAME VALUE 'new' TO 'fresh';
EXECUTE of_new;
EXECUTE grouped;
ALTER TYPE remote.mood RENAME VALUE 'new' TO 'fresh';
EXECUTE of_new;
EXECUTE grouped;
ALTER TYPE public.mood RENAME VALUE 'fresh' TO 'new';
ALTER TYPE remote.mood RENAME VALUE 'fresh' TO 'new';
ALTER TYPE remote.mood ADD VALUE 'lost' BEFORE 'NULL';
UPDATE remote.typed SET o = 'lost' WHERE id < 4;
SELECT count(*) FROM typed WHERE o = 'lost';
RESET plan_cache_mode;

-- Groups, aggregates, and joins of one server
EXPLAIN (VERBOSE, COSTS OFF) SELECT m, count(*) FROM typed WHERE o <> 'NULL' GROUP BY m;
SELECT m, count(*) FROM typed WHERE o <> 'NULL' GROUP BY m ORDER BY m;
SELECT m, count(*) FROM stock_typed WHERE o <> 'NULL' GROUP BY m ORDER BY m;
EXPLAIN (VERBOSE, COSTS OFF) SELECT s, a, count(m), count(DISTINCT o), sum(a) FILTER (WHERE m = 'open'), max(p) FROM typed GROUP BY s, a HAVING count(o) > 1 AND max(a) < 40;
SELECT md5(string_agg(q::text, ';' ORDER BY q::text)) FROM (SELECT s, a, count(m), count(DISTINCT o), sum(a) FILTER (WHERE m = 'open'), max(p) FROM typed GROUP BY s, a HAVING count(o) > 1 AND max(a) < 40) q;
SELECT md5(string_agg(q::text, ';' ORDER BY q::text)) FROM (SELECT s, a, count(m), count(DISTINCT o), sum(a) FILTER (WHERE m = 'open'), max(p) FROM stock_typed GROUP BY s, a HAVING count(o) > 1 AND max(a) < 40) q;
EXPLAIN (VERBOSE, COSTS OFF) SELECT m::text, m = 'open' AS is_open, count(*) FROM typed GROUP BY 1, 2 HAVING m = 'open' OR count(*) > 3;
SELECT m::text, m = 'open' AS is_open, count(*) FROM typed GROUP BY 1, 2 ORDER BY 1;
SELECT m, count(*) FROM typed GROUP BY m HAVING m::text = 'open' OR count(*) > 1000;
EXPLAIN (COSTS OFF) SELECT max(m), min(m) FROM typed;
EXPLAIN (COSTS OFF) SELECT m, max(e) FROM typed GROUP BY m;
EXPLAIN (VERBOSE, COSTS OFF) SELECT a.id, b.m FROM typed a JOIN typed b ON a.m = b.t AND a.a = b.id WHERE a.m <> 'done';
SELECT count(*), min(b.m) FROM typed a JOIN typed b ON a.m = b.t AND a.a = b.id WHERE a.m <> 'done';
SELECT count(*), min(b.m) FROM stock_typed a JOIN stock_typed b ON a.m = b.t AND a.a = b.id WHERE a.m <> 'done';
SELECT count(*), count(b.id), max(b.m) FROM typed a LEFT JOIN typed b ON a.m = b.o AND a.id = b.a AND b.m > 'new';
SELECT count(*), count(b.id), max(b.m) FROM stock_typed a LEFT JOIN stock_typed b ON a.m = b.o AND a.id = b.a AND b.m > 'new';

-- Lookups
CREATE TABLE keys (m mood, a amount, e mail, n int);
INSERT INTO keys SELECT 'lost', i, 'u' || i || '@x', i FROM generate_series(1, 6) i;
INSERT INTO keys VALUES ('NULL', 7, NULL, NULL), (NULL, NULL, 'u3@x', 3);
ANALYZE keys;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
-- Joins are planned many times by GEQO, in memory that it frees
SET geqo_threshold = 2;
SELECT count(*), sum(d.id) FROM typed a JOIN typed b ON a.m = b.m AND a.id = b.id JOIN typed c ON c.m = b.o AND c.id = a.id JOIN typed d ON d.id = c.id AND d.m = a.t;
SELECT count(*), sum(d.id) FROM stock_typed a JOIN stock_typed b ON a.m = b.m AND a.id = b.id JOIN stock_typed c ON c.m = b.o AND c.id = a.id JOIN stock_typed d ON d.id = c.id AND d.m = a.t;
RESET geqo_threshold;
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.a, t.id FROM keys k JOIN typed t ON t.a = k.a;
EXPLAIN (VERBOSE, COSTS OFF) SELECT k.a, t.id FROM keys k LEFT JOIN typed t ON t.e = k.e AND t.o = k.m AND t.m <> 'open';
SELECT count(*), sum(t.id) FROM keys k JOIN typed t ON t.a = k.a;
SELECT count(*), sum(t.id) FROM keys k JOIN stock_typed t ON t.a = k.a;
SELECT count(*), sum(t.id) FROM keys k LEFT JOIN typed t ON t.e = k.e AND t.m = 'open';
SELECT count(*), sum(t.id) FROM keys k LEFT JOIN stock_typed t ON t.e = k.e AND t.m = 'open';
SELECT count(*), sum(t.id) FROM keys k JOIN typed t ON t.o = k.m AND t.a = k.n;
SELECT count(*), sum(t.id) FROM keys k JOIN stock_typed t ON t.o = k.m AND t.a = k.n;
SELECT * FROM shown_plan('SELECT k.m, (SELECT count(*) FROM typed t WHERE t.o = k.m) FROM keys k', 'VERBOSE, COSTS OFF');
SELECT k.m, k.a, (SELECT count(*) FROM typed t WHERE t.o = k.m), (SELECT count(*) FROM typed t WHERE t.a = k.a) FROM keys k ORDER BY k.a;
SELECT k.m, k.a, (SELECT count(*) FROM stock_typed t WHERE t.o = k.m), (SELECT count(*) FROM stock_typed t WHERE t.a = k.a) FROM keys k ORDER BY k.a;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- One command
BEGIN;
EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM typed WHERE m = 'open' AND a = 3;
DELETE FROM typed WHERE m = 'open' AND a = 3 RETURNING m, s, a = 3 AS is_three;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE typed SET p = 1 WHERE m IN ('new', 'lost') AND e = 'u3@x';
UPDATE typed SET p = 1 WHERE m IN ('new', 'lost') AND e = 'u3@x' AND id < 200 RETURNING id, m, p, e;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE typed SET m = 'done', t = NULL, p = p + 1 WHERE m = 'open' AND e <> '$1::unknown';
UPDATE typed SET m = 'done', t = NULL, p = p + 1 WHERE m = 'open' AND e <> '$1::unknown' AND id < 30 RETURNING id, m, t, p;
UPDATE typed SET m = 'lost', t = 'open' WHERE id < 12 AND m = 'done' RETURNING id, m, t;
UPDATE typed SET m = 'lost' WHERE false;
PREPARE set_state(mood, plain) AS UPDATE typed SET m = $1, p = $2 WHERE id = 60 RETURNING m, p;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE set_state('open', 3);
EXECUTE set_state('open', 3);
EXECUTE set_state('new', NULL);
EXECUTE set_state(NULL, 4);
RESET plan_cache_mode;
SELECT explained('UPDATE typed SET o = m WHERE id = 60', 'Remote SQL'), explained('UPDATE typed SET a = 5 WHERE id = 60', 'Remote SQL');
ROLLBACK;
UPDATE typed SET m = 'done' WHERE id = 1 RETURNING m;
-- A label that the remote server lacks is an error only for a row.
ALTER TYPE public.mood ADD VALUE 'here';
UPDATE typed SET m = 'here' WHERE id < 0;
UPDATE typed SET m = 'here' WHERE id = 1;
UPDATE stock_typed SET m = 'here' WHERE id = 1;
SELECT count(*) FROM typed WHERE m = 'here' OR o IN ('here', 'lost');
UPDATE typed a SET m = 'open', p = 7 FROM typed b WHERE a.id = b.a AND b.m = 'done' AND b.id < 4 RETURNING a.id, a.m, b.m;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE typed a SET m = 'open', p = 7 FROM typed b WHERE a.id = b.a AND b.m = 'done' AND b.id < 4;
UPDATE typed SET flag = 't' WHERE id = 1 RETURNING flag;

-- Partitions; the columns of one have other numbers.
CREATE TABLE halved (p plain, m mood, id int) PARTITION BY LIST (m);
CREATE FOREIGN TABLE halved_1 (id int, state mood OPTIONS (column_name 'm'), m mood OPTIONS (column_name 'o'), p plain)
	SERVER loopback OPTIONS (schema_name 'remote', table_name 'typed');
ALTER FOREIGN TABLE halved_1 DROP state;
ALTER TABLE halved ATTACH PARTITION halved_1 FOR VALUES IN ('new', 'open');
EXPLAIN (VERBOSE, COSTS OFF) UPDATE halved SET p = 3 WHERE m = 'open' AND id < 9;
EXPLAIN (VERBOSE, COSTS OFF) UPDATE halved SET m = 'open', p = 4 WHERE m = 'open' AND id < 9;
BEGIN;
UPDATE halved SET p = 3 WHERE m = 'open' AND id < 9 RETURNING *;
UPDATE halved SET m = 'open', p = 4 WHERE m = 'open' AND id < 9 RETURNING *;
ROLLBACK;
DROP TABLE halved;

-- A type of an extension that the server knows is sent as before.
CREATE EXTENSION citext SCHEMA public;
ALTER TABLE remote.typed ADD c citext DEFAULT 'C';
CREATE FOREIGN TABLE extended (id int, c citext) SERVER loopback OPTIONS (schema_name 'remote', table_name 'typed');
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM extended WHERE c = 'c' AND c IS NOT NULL;
ALTER SERVER loopback OPTIONS (ADD extensions 'citext');
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM extended WHERE c = 'c' AND c IS NOT NULL;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM typed WHERE m = 'open';
ALTER SERVER loopback OPTIONS (DROP extensions);
DROP FOREIGN TABLE extended;
ALTER TABLE remote.typed DROP c;
DROP EXTENSION citext;

-- Switches
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT explained('SELECT id FROM typed WHERE m = ''open''', 'Rows Received'), explained('SELECT m FROM typed GROUP BY m', 'Rows Received');
RESET tollfree_postgres_fdw.remote_expressions;
SELECT explained('SELECT id FROM typed WHERE m = ''open''', 'Rows Received'), explained('SELECT m FROM typed GROUP BY m', 'Rows Received');

DEALLOCATE ALL;
DROP FOREIGN TABLE typed, stock_typed;
DROP TABLE remote.typed, keys;
DROP DOMAIN public.mail, public.amount, public.plain, public.state, remote.mail, remote.amount;
DROP TYPE public.mood, remote.mood, public.flag;
DROP FUNCTION decided;
DROP SERVER types_stock CASCADE;
RESET client_min_messages;
