-- Joins that look up the foreign rows of many outer rows at once.
CREATE TABLE remote.shelf AS SELECT i AS id, i % 100 AS k, 'name ' || i AS name, date '2020-01-01' + i % 1000 AS made,
	(i / 4.0)::numeric(12, 2) AS amount, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 50 END AS part
FROM generate_series(1, 20000) i;
ALTER TABLE remote.shelf ADD PRIMARY KEY (id);
CREATE INDEX ON remote.shelf (name);
CREATE INDEX ON remote.shelf (k, part);
ANALYZE remote.shelf;
IMPORT FOREIGN SCHEMA remote LIMIT TO (shelf) FROM SERVER loopback INTO public;
ALTER FOREIGN TABLE shelf OPTIONS (ADD use_remote_estimate 'true');
CREATE TABLE picks AS SELECT i AS n, i * 17 % 23000 AS id, 'name ' || i * 13 AS name, i % 120 AS k, nullif(i % 9, 0) AS part FROM generate_series(1, 1000) i;
INSERT INTO picks VALUES (1001, NULL, NULL, NULL, NULL), (1002, 5, E'na"me \\ ''5''', 5, 5), (1003, 17, 'name 13', 1, 1);
ANALYZE picks;
-- fetching all of the table is dear, looking up is not
ALTER SERVER loopback OPTIONS (ADD fdw_tuple_cost '10', ADD batched_lookups 'true');
ANALYZE shelf;
-- The plan; 15 writes the operands of an equality in the other order.
CREATE FUNCTION plan_of(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		RETURN NEXT regexp_replace(line, '\(([^( ]+) = id\)', '(id = \1)');
	END LOOP;
END
$$;
SELECT plan_of('SELECT picks.n, shelf.name FROM picks JOIN shelf ON shelf.id = picks.id');
-- Keys, batches and round trips; and whether the rows are those of the remote table itself.
CREATE FUNCTION batched(query text) RETURNS text
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
	RETURN (SELECT coalesce(string_agg(format('%s keys, %s batches', node->'Keys', node->'Batches'), ', '), 'no batches')
			FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Keys"))') node)
		|| (SELECT format(', %s round trips', sum((node->'Round Trips')::int))
			FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Round Trips"))') node)
		|| CASE WHEN here IS DISTINCT FROM there THEN ', WRONG: ' || here || ', not ' || there ELSE '' END;
END
$$;
SELECT query, batched(query || ' ORDER BY 1, 2')
FROM unnest(ARRAY[
	'SELECT picks.n, shelf.name FROM picks JOIN shelf USING (id)',
	'SELECT picks.n, shelf FROM picks LEFT JOIN shelf USING (id)',
	'SELECT n, id FROM picks WHERE EXISTS (SELECT FROM shelf WHERE shelf.id = picks.id)',
	'SELECT n, id FROM picks WHERE NOT EXISTS (SELECT FROM shelf WHERE shelf.id = picks.id)',
	'SELECT n, shelf.id FROM picks JOIN shelf USING (name)',
	'SELECT n, shelf.id FROM picks JOIN shelf USING (k, part) WHERE n < 50',
	'SELECT n, shelf.id FROM picks JOIN shelf ON shelf.id = picks.id + 1',
	'SELECT n, shelf.id FROM picks LEFT JOIN shelf ON shelf.id = picks.id AND shelf.part > picks.part',
	'SELECT n, shelf.id FROM picks LEFT JOIN shelf ON shelf.id = picks.id AND picks.part > 4',
	$$SELECT n, shelf.id FROM picks JOIN shelf ON shelf.id BETWEEN picks.id AND picks.id + 2 AND shelf.name NOT LIKE '%$1''%'$$
	]) AS query;
-- what EXPLAIN ANALYZE says of the scan that is looked up: how, and what it has received
CREATE FUNCTION received(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT string_agg(format('%s: %s rows, %s bytes', coalesce(node->>'Lookups', 'one by one'), node->'Rows Received', node->'Bytes Received'), '; ')
			FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Rows Received"))') node);
END
$$;
SELECT received('SELECT picks.n, shelf.name FROM picks JOIN shelf USING (id) WHERE n <= 20');
SET tollfree_postgres_fdw.batched_lookups = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT received('SELECT picks.n, shelf.name FROM picks JOIN shelf USING (id) WHERE n <= 20');
RESET tollfree_postgres_fdw.batched_lookups;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
-- without asking the remote server for estimates; where the query may stop early batches grow
ALTER FOREIGN TABLE shelf OPTIONS (DROP use_remote_estimate);
SELECT plan_of('SELECT picks.n, shelf.name FROM picks JOIN shelf ON shelf.id = picks.id');
SELECT query, batched(format('SELECT * FROM (%s LIMIT 100000) q ORDER BY 1, 2', query))
FROM unnest(ARRAY[
	'SELECT picks.n, shelf.name FROM picks JOIN shelf USING (id)',
	'SELECT picks.n, shelf FROM picks LEFT JOIN shelf USING (id)',
	'SELECT n, id FROM picks WHERE EXISTS (SELECT FROM shelf WHERE shelf.id = picks.id)',
	'SELECT n, id FROM picks WHERE NOT EXISTS (SELECT FROM shelf WHERE shelf.id = picks.id)',
	'SELECT n, shelf.id FROM picks JOIN shelf USING (name)',
	'SELECT n, shelf.id FROM picks JOIN shelf USING (k, part) WHERE n < 50',
	'SELECT n, shelf.id FROM picks JOIN shelf ON shelf.id = picks.id + 1',
	'SELECT n, shelf.id FROM picks LEFT JOIN shelf ON shelf.id = picks.id AND shelf.part > picks.part'
	]) AS query;
-- all of a LATERAL subquery, if the remote server executes all of it
SELECT query, batched(query || ' ORDER BY 1, 2, 3')
FROM unnest(ARRAY[
	'SELECT n, x.* FROM picks, LATERAL (SELECT id, name FROM shelf WHERE shelf.id >= picks.id ORDER BY id LIMIT 2) x',
	'SELECT n, x.*, 1 FROM picks, LATERAL (SELECT count(*) FROM shelf WHERE shelf.k = picks.k) x',
	'SELECT n, x.*, 1 FROM picks LEFT JOIN LATERAL (SELECT max(made) FROM shelf WHERE shelf.k = picks.k AND shelf.part > picks.part GROUP BY amount > 9) x ON x.max > ''2020-01-01''::date + n'
	]) AS query;
SELECT batched('SELECT n, x.* FROM picks, LATERAL (SELECT id, batched(name) FROM shelf WHERE shelf.id = picks.id OFFSET 0) x WHERE n < 0');
-- but not with a subquery of its own, which is executed once for many outer rows
SELECT batched('SELECT n, x.*, 1 FROM picks, LATERAL (SELECT count(*) FROM shelf WHERE shelf.k = picks.k AND shelf.id >= (SELECT max(p.id) FROM picks p WHERE p.k = picks.k)) x WHERE n < 20 ORDER BY 1');
-- nor by keys whose arrays have another delimiter
CREATE TABLE remote.cases AS SELECT i AS id, box(point(i, i), point(i + 1, i + 1)) AS place FROM generate_series(1, 20) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (cases) FROM SERVER loopback INTO public;
SELECT batched('SELECT n, x.*, 1 FROM picks, LATERAL (SELECT min(id) FROM cases WHERE place ~= box(point(n, n), point(n + 1, n + 1))) x WHERE n < 20 ORDER BY 1');
DROP TABLE remote.cases;
DROP FOREIGN TABLE cases;
-- names that could be taken for the keys'
CREATE TABLE remote.keys ("$1" int, keys_1 int, n int, p1 int, "a'b" text);
INSERT INTO remote.keys VALUES (17, 2, 3, 4, 'x'), (34, 3, 4, 5, 'y$1');
IMPORT FOREIGN SCHEMA remote LIMIT TO (keys) FROM SERVER loopback INTO public;
SELECT picks.n, x.* FROM picks, LATERAL (SELECT * FROM keys WHERE "$1" = picks.id AND "a'b" <> 'it''s $1 \ "' OFFSET 0) x ORDER BY 1;
ALTER TABLE remote.keys DROP COLUMN n, DROP COLUMN keys_1, DROP COLUMN p1;
\set VERBOSITY terse
SELECT x.* FROM picks, LATERAL (SELECT keys_1 FROM keys WHERE "$1" = picks.id OFFSET 0) x;
SELECT x.* FROM picks, LATERAL (SELECT n FROM keys WHERE "$1" = picks.id OFFSET 0) x;
SELECT x.* FROM picks, LATERAL (SELECT p1 FROM keys WHERE "$1" = picks.id OFFSET 0) x;
\set VERBOSITY default
DROP FOREIGN TABLE keys;
DROP TABLE remote.keys;
-- parameters of the query's own
PREPARE look(int, text) AS SELECT picks.n, shelf.name FROM picks JOIN shelf ON shelf.id = picks.id AND shelf.k > $1 AND shelf.name <> $2 WHERE n < 5 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE look(1, 'x');
EXECUTE look(1, 'name 34');
EXECUTE look(50, 'name 17');
RESET plan_cache_mode;
DEALLOCATE look;
-- under a limit the first batch is small; a rescan begins anew
SELECT batched('SELECT n, shelf.id FROM picks JOIN shelf USING (id) LIMIT 5');
SELECT batched('SELECT a.n, (SELECT count(*) FROM picks p JOIN shelf s USING (id) WHERE p.n BETWEEN a.n AND a.n + 30) FROM picks a WHERE a.n % 300 = 0 ORDER BY 1, 2');
-- a key that comes again is sent once a batch, and its rows are returned again, from a file, too
CREATE TABLE again AS SELECT i AS n, i * 7 % 10 AS k, (i * 3 % 5) * 10 + 1 AS id FROM generate_series(1, 300) i;
ANALYZE again;
SELECT query, batched(format('SELECT * FROM (%s LIMIT 100000) q ORDER BY 1, 2', query))
FROM unnest(ARRAY[
	'SELECT n, shelf.id FROM again JOIN shelf USING (id)',
	'SELECT n, shelf.id FROM again LEFT JOIN shelf ON shelf.id = again.id AND shelf.part > n % 7',
	'SELECT n, id FROM again WHERE n < 200 AND EXISTS (SELECT FROM shelf WHERE shelf.k = again.k AND shelf.id > again.n)',
	'SELECT n, x.id FROM again, LATERAL (SELECT id FROM shelf WHERE shelf.id >= again.id ORDER BY id LIMIT 2) x'
	]) AS query;
SET work_mem = '64kB';
SELECT batched('SELECT n, s.id, repeat(s.name, 10) FROM again JOIN shelf s USING (k) WHERE n < 60 ORDER BY 1, 2');
RESET work_mem;
DROP TABLE again;
-- rows that exceed work_mem
SET work_mem = '64kB';
SELECT batched('SELECT n, s.id, repeat(s.name, 10) FROM picks JOIN shelf s ON s.k = picks.k AND s.part = picks.part ORDER BY 1, 2');
SELECT sum(spills) > 0 AS spilled FROM pg_stat_tollfree_postgres_fdw;
RESET work_mem;
-- the outer rows come from the same server
SELECT batched('SELECT a.id, b.name, b.id FROM (SELECT * FROM shelf ORDER BY id OFFSET 100 LIMIT 500) a JOIN shelf b ON b.id = a.id + 7 ORDER BY 1, 2');
-- what the remote server can join is left to it; rows of another table are looked up by those that were, or with the estimates of postgres_fdw fetched
EXPLAIN (COSTS OFF) SELECT a.name FROM shelf a JOIN shelf b ON b.id = a.part;
EXPLAIN (COSTS OFF) SELECT n, b.name FROM picks JOIN shelf a USING (id) JOIN shelf b ON b.id = a.part;
SELECT batched('SELECT n, b.name FROM picks JOIN shelf a USING (id) JOIN shelf b ON b.id = a.part ORDER BY 1, 2');
SET tollfree_postgres_fdw.join_estimates = off;
EXPLAIN (COSTS OFF) SELECT n, b.name FROM picks JOIN shelf a USING (id) JOIN shelf b ON b.id = a.part;
RESET tollfree_postgres_fdw.join_estimates;
-- whole rows, and a condition of nulls
SELECT batched('SELECT n, s FROM picks LEFT JOIN shelf s ON s.id = picks.id AND s.part IS NULL ORDER BY 1, 2');
-- in a function, and by a cursor that stops early
CREATE FUNCTION name_of(pick int) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT max(s.name) FROM picks p JOIN shelf s USING (id) WHERE p.n < pick); END $$;
SELECT name_of(40), name_of(2);
BEGIN;
DECLARE few CURSOR FOR SELECT n, shelf.id FROM picks JOIN shelf USING (id);
FETCH 2 FROM few;
SAVEPOINT s;
SELECT count(*) FROM shelf WHERE id < 3;
ROLLBACK TO s;
FETCH 2 FROM few;
COMMIT;
-- ctids are asked for row by row
EXPLAIN (COSTS OFF) SELECT n, s.ctid FROM picks LEFT JOIN shelf s ON s.id = picks.id;
-- under a remote statement_timeout batches begin with one row
ALTER SERVER loopback OPTIONS (ADD options '-c statement_timeout=60s');
SET enable_hashjoin TO off;
SELECT batched('SELECT n, shelf.id FROM picks JOIN shelf USING (id) LIMIT 1');
RESET enable_hashjoin;
SELECT batched('SELECT n, shelf.id FROM picks JOIN shelf USING (id) ORDER BY 1, 2') !~ ', 1 batches|no batches|WRONG' AS batched;
ALTER SERVER loopback OPTIONS (DROP options);
-- as a user with few rights
CREATE ROLE looks_up;
GRANT SELECT ON picks, shelf TO looks_up;
GRANT USAGE ON FOREIGN SERVER loopback TO looks_up;
SET ROLE looks_up;
SELECT count(*) FROM picks JOIN shelf USING (id);
RESET ROLE;
-- where a local table is written
CREATE TABLE found (n int, name text);
EXPLAIN (COSTS OFF) UPDATE picks SET name = shelf.name FROM shelf WHERE shelf.id = picks.id;
EXPLAIN (COSTS OFF) DELETE FROM picks USING shelf WHERE shelf.id = picks.id;
EXPLAIN (COSTS OFF) INSERT INTO found SELECT n, shelf.name FROM picks JOIN shelf USING (id);
BEGIN;
UPDATE picks SET name = shelf.name FROM shelf WHERE shelf.id = picks.id AND n > 10;
SELECT count(*) FROM picks JOIN remote.shelf s USING (id) WHERE picks.name = s.name;
INSERT INTO found SELECT n, shelf.name FROM picks JOIN shelf USING (id);
SELECT count(*) FROM picks JOIN found USING (n) WHERE n > 10 AND picks.name = found.name;
DELETE FROM picks USING shelf WHERE shelf.id = picks.id AND n <= 10 RETURNING n, shelf.name;
DELETE FROM picks WHERE NOT EXISTS (SELECT FROM shelf WHERE shelf.id = picks.id);
SELECT count(*) FROM picks;
ROLLBACK;
-- neither with triggers, nor where rows are written remotely or locked, nor with volatile functions
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER look BEFORE UPDATE ON picks FOR EACH ROW EXECUTE FUNCTION look();
EXPLAIN (COSTS OFF) UPDATE picks SET n = n FROM shelf WHERE shelf.id = picks.id;
DROP FUNCTION look CASCADE;
EXPLAIN (COSTS OFF) WITH w AS (INSERT INTO found VALUES (1, 'x') RETURNING n) SELECT * FROM w, picks JOIN shelf USING (id);
DROP TABLE found;
EXPLAIN (COSTS OFF) SELECT * FROM picks JOIN shelf USING (id) FOR UPDATE OF picks;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM picks ORDER BY id FOR UPDATE SKIP LOCKED) p JOIN shelf USING (id) LIMIT 1;
EXPLAIN (COSTS OFF) WITH p AS (SELECT * FROM picks FOR SHARE) SELECT * FROM p JOIN shelf USING (id) LIMIT 1;
EXPLAIN (COSTS OFF) SELECT random() FROM picks JOIN shelf USING (id);
SELECT * FROM shown_plan($$SELECT (SELECT n + random() FROM generate_series(1, 1)) FROM picks JOIN shelf USING (id)$$);
-- switched off
SET tollfree_postgres_fdw.batched_lookups = off;
SELECT batched('SELECT n, shelf.id FROM picks JOIN shelf USING (id) ORDER BY 1, 2');
RESET tollfree_postgres_fdw.batched_lookups;
ALTER FOREIGN TABLE shelf OPTIONS (ADD batched_lookups 'off');
EXPLAIN (COSTS OFF) SELECT * FROM picks JOIN shelf USING (id);
ALTER FOREIGN TABLE shelf OPTIONS (SET batched_lookups 'on', ADD direct_results 'off');
EXPLAIN (COSTS OFF) SELECT * FROM picks JOIN shelf USING (id);
ALTER FOREIGN TABLE shelf OPTIONS (DROP direct_results);
-- an error of the remote server
CREATE VIEW remote.fragile AS SELECT id, 1 / (id - 51) AS broken FROM remote.shelf;
IMPORT FOREIGN SCHEMA remote LIMIT TO (fragile) FROM SERVER loopback INTO public;
ANALYZE fragile;
\set VERBOSITY terse
SELECT n, broken FROM picks JOIN fragile ON fragile.id = picks.id WHERE n < 40;
\set VERBOSITY default
SELECT count(*) FROM picks JOIN shelf USING (id);
ALTER SERVER loopback OPTIONS (DROP fdw_tuple_cost, DROP batched_lookups);
DROP FOREIGN TABLE fragile, shelf;
DROP VIEW remote.fragile;
DROP TABLE remote.shelf, picks;
DROP FUNCTION batched, plan_of, name_of;
DROP OWNED BY looks_up;
DROP ROLE looks_up;
