-- Correlated subqueries look up the foreign rows of many outer rows at once.
CREATE TABLE remote.prices (id int PRIMARY KEY, kind int, price numeric, note text);
INSERT INTO remote.prices SELECT i, i % 20, i / 4.0, CASE WHEN i % 7 > 0 THEN 'note ' || i END FROM generate_series(1, 500) i;
CREATE INDEX ON remote.prices (kind);
ANALYZE remote.prices;
CREATE FOREIGN TABLE prices (id int, kind int, price numeric, note text) SERVER loopback OPTIONS (schema_name 'remote');
CREATE TABLE baskets (n int, id int, kind int, who text);
INSERT INTO baskets SELECT i, CASE WHEN i % 9 > 0 THEN i * 3 % 600 END, i % 25, 'name ' || i % 4 FROM generate_series(1, 1000) i;
ANALYZE baskets;
-- In a target list, in a condition, and in both
SELECT * FROM shown_plan($$SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b$$, 'VERBOSE, COSTS OFF');
SELECT * FROM shown_plan($$SELECT b.n FROM baskets b WHERE n < 50 AND 10 < (SELECT price FROM prices p WHERE p.id = b.id) AND who = 'name 1'$$, 'VERBOSE, COSTS OFF');
SELECT * FROM shown_plan($$SELECT upper((SELECT note FROM prices p WHERE p.id = b.n)), count(*), (SELECT count(*) FROM prices p WHERE p.kind = max(b.kind))
FROM baskets b GROUP BY n HAVING 10 > (SELECT price FROM prices p WHERE p.id = b.n) AND (SELECT kind FROM prices p WHERE p.id = max(b.id)) > 3$$, 'VERBOSE, COSTS OFF');
-- Of EXISTS one row comes for a key; of IN all would come, and none are looked up.
CREATE FUNCTION subquery_commands(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Remote SQL' THEN
			RETURN NEXT btrim(line);
		END IF;
	END LOOP;
END
$$;
SELECT subquery_commands('SELECT n, EXISTS (SELECT FROM prices p WHERE p.kind = b.kind AND p.id > b.n) FROM baskets b');
SELECT * FROM shown_plan($$SELECT n, n IN (SELECT id FROM prices p WHERE p.kind = b.kind), EXISTS (SELECT FROM prices p WHERE p.kind = b.kind AND p.note COLLATE "C" > b.who) FROM baskets b$$);
-- Executes a query of the foreign table and of the remote one: is the answer the same, and how many batches were there?
CREATE FUNCTION compare_subqueries(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	here text;
	there text;
	plan jsonb;
BEGIN
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'')) FROM (%s) q', query) INTO here;
	PERFORM set_config('search_path', 'remote, public', true);
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'')) FROM (%s) q', query) INTO there;
	PERFORM set_config('search_path', 'public', true);
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN format('%s, %s: %s', CASE WHEN here IS NOT DISTINCT FROM there THEN 'same' ELSE here || ' but ' || there END, here,
				  (SELECT coalesce(string_agg(format('%s keys in %s batches', node->'Keys', node->'Batches'), ', '), 'no batches')
				   FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Keys"))') node));
END
$$;
SELECT compare_subqueries('SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT n, who FROM baskets b WHERE n < 500 AND 10 < (SELECT price FROM prices p WHERE p.id = b.id) ORDER BY n');
SELECT compare_subqueries('SELECT n, (SELECT note FROM prices p WHERE p.id = b.n) FROM baskets b WHERE 20 > (SELECT price FROM prices p WHERE p.id = b.id) AND (SELECT count(*) FROM prices p WHERE p.kind = b.kind) > 0 ORDER BY n');
SELECT compare_subqueries('SELECT n, EXISTS (SELECT FROM prices p WHERE p.kind = b.kind AND p.id > b.n), ARRAY(SELECT p.id FROM prices p WHERE p.kind = b.kind ORDER BY p.id), b.n IN (SELECT p.id FROM prices p WHERE p.kind = b.kind) FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT n, (SELECT p FROM prices p WHERE p.id = b.id), (SELECT max(price) - count(note) FROM prices p WHERE p.kind = b.kind), (SELECT note FROM prices p WHERE p.kind = b.kind ORDER BY price DESC LIMIT 1) FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT kind, (SELECT count(*) FROM prices p WHERE p.kind = b.kind), sum(n), (SELECT note FROM prices p WHERE p.id = sum(b.n) / 100) FROM baskets b GROUP BY ROLLUP (kind) ORDER BY kind');
-- In a join, and behind an outer one
SELECT compare_subqueries('SELECT b.n, c.n FROM baskets b JOIN baskets c ON c.n = b.id AND c.kind < (SELECT p.price FROM prices p WHERE p.id = b.n) + (SELECT p.price FROM prices p WHERE p.id = c.n) ORDER BY 1, 2');
SELECT compare_subqueries('SELECT b.n, c.n, (SELECT note FROM prices p WHERE p.id = c.n AND p.kind = b.kind) FROM baskets b LEFT JOIN baskets c ON c.n = b.id + 900 ORDER BY 1, 2');
-- A local condition, two foreign tables, and a subquery in a subquery
SELECT compare_subqueries('SELECT n, (SELECT max(note COLLATE "C") FROM prices p WHERE p.kind = b.kind AND p.note COLLATE "C" > b.who) FROM baskets b WHERE n < 100 ORDER BY n');
SELECT compare_subqueries('SELECT n, (SELECT count(*) FROM prices p JOIN baskets c ON c.n = p.id WHERE p.kind = b.kind) FROM baskets b WHERE n < 100 ORDER BY n');
SELECT compare_subqueries('SELECT n, (SELECT sum(p.price + (SELECT price FROM prices q WHERE q.id = p.id - b.n)) FROM prices p WHERE p.kind = b.kind) FROM baskets b WHERE n < 30 ORDER BY n');
SELECT compare_subqueries('SELECT n, (SELECT (SELECT note FROM prices q WHERE q.id = c.n) FROM baskets c WHERE c.n = b.n) FROM baskets b WHERE n < 30 ORDER BY n');
-- What may stop early begins with a small batch; a rescan begins anew.
SELECT compare_subqueries('SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b LIMIT 30');
SELECT compare_subqueries('SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT n, (SELECT note FROM prices p WHERE p.id = b.n) FROM baskets b WHERE b.kind = g ORDER BY n) q');
SELECT compare_subqueries('SELECT g, (SELECT max((SELECT note FROM prices p WHERE p.id = b.n)) FROM baskets b WHERE b.kind = g) FROM generate_series(1, 3) g');
-- What is perhaps not evaluated is not looked up.
SELECT compare_subqueries('SELECT n, CASE WHEN n < 5 THEN (SELECT 1 / (p.id - 6) FROM prices p WHERE p.id = b.n) END, coalesce(n, (SELECT kind FROM prices p WHERE p.id = b.n)) FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT n FROM baskets b WHERE n < 5 OR n < (SELECT price FROM prices p WHERE p.id = b.n) ORDER BY n');
SELECT compare_subqueries('SELECT n FROM baskets b WHERE (n, (SELECT kind FROM prices p WHERE p.id = b.n AND 1 / (p.id - 6) < 5)) < (5, 10) ORDER BY n');
SELECT compare_subqueries('SELECT n, (CASE WHEN n > 6 THEN ARRAY[1, 2] END)[(SELECT kind FROM prices p WHERE p.id = b.n AND 1 / (p.id - 6) < 5)] FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT n, (ARRAY(SELECT p.id FROM prices p WHERE p.kind = b.kind ORDER BY p.id))[2] FROM baskets b ORDER BY n');
-- Nor is anything if somebody could tell that rows are read ahead.
SELECT * FROM shown_plan($$SELECT random() < 2, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b$$);
SELECT * FROM shown_plan($$SELECT (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b FOR UPDATE$$);
SELECT * FROM shown_plan($$UPDATE prices q SET note = (SELECT note FROM prices p WHERE p.id = q.id + 1)$$);
SELECT * FROM shown_plan($$DECLARE scrolled SCROLL CURSOR FOR SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b$$);
SET tollfree_postgres_fdw.batched_lookups = off;
SELECT compare_subqueries('SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b WHERE n < 20 ORDER BY n');
RESET tollfree_postgres_fdw.batched_lookups;
-- A query that writes
SELECT * FROM shown_plan($$UPDATE baskets b SET who = (SELECT note FROM prices p WHERE p.id = b.id)$$);
CREATE TABLE priced (n int, price numeric, note text, kind int, other text);
INSERT INTO priced SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b;
UPDATE priced SET note = (SELECT note FROM prices p WHERE p.id = n), (kind, other) = (SELECT kind, note FROM prices p WHERE p.id = n + 1) WHERE (SELECT kind FROM prices p WHERE p.id = n) < 12;
SELECT count(price), sum(price), count(note), max(note COLLATE "C"), sum(kind), count(other) FROM priced;
SELECT count(b.price), sum(b.price), count(note), max(note COLLATE "C"), sum(kind), count(other)
FROM (SELECT (SELECT price FROM remote.prices p WHERE p.id = b.id), x.note, y.kind, y.note AS other
	  FROM baskets b LEFT JOIN remote.prices x ON x.id = b.n AND x.kind < 12 LEFT JOIN remote.prices y ON y.id = x.id + 1) b;
DELETE FROM priced WHERE (SELECT kind FROM prices p WHERE p.id = n) = 7 RETURNING n, (SELECT note FROM prices p WHERE p.id = n);
-- A plan that is kept, with a parameter beside the key
PREPARE kept(int, text) AS SELECT n, (SELECT price FROM prices p WHERE p.id = b.id AND p.kind > $1) AS price FROM baskets b WHERE who = $2 AND n <= 20 ORDER BY n;
SET plan_cache_mode = force_generic_plan;
EXECUTE kept(3, 'name 1');
EXECUTE kept(9, 'name 2');
DEALLOCATE kept;
-- Aggregates of a parameter alone are those of the subquery, and not looked up.
PREPARE kept(int) AS SELECT n, (SELECT sum($1) FILTER (WHERE $1 > 0) FROM prices p WHERE p.kind = b.kind) AS sum, (SELECT count(*) FROM prices p WHERE p.kind = b.kind HAVING count($1) > 3) AS count FROM baskets b WHERE n IN (1, 24) ORDER BY n;
EXECUTE kept(2);
EXECUTE kept(-2);
EXECUTE kept(NULL);
RESET plan_cache_mode;
DEALLOCATE kept;
-- A sort below keeps no more rows than a LIMIT above wants, also when it is executed again.
CREATE FUNCTION sorts(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF) ' || query LOOP
		IF line ~ 'Batched|Sort Method' THEN
			RETURN NEXT btrim(regexp_replace(line, '( *Memory|\(actual).*| *->  ', '', 'g'));
		END IF;
	END LOOP;
END
$$;
SELECT sorts('SELECT who, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b ORDER BY who, n LIMIT 10');
SELECT sorts('SELECT who, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b ORDER BY who, n');
SELECT compare_subqueries('SELECT g, q.* FROM generate_series(1, 6) g, LATERAL (SELECT n, (SELECT note FROM prices p WHERE p.id = b.n) FROM baskets b ORDER BY who, n OFFSET g % 4 LIMIT CASE WHEN g % 3 > 0 THEN g * 5 END) q');
-- A cursor asks for no more batches than it needs.
BEGIN;
DECLARE reading CURSOR FOR SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) FROM baskets b ORDER BY n;
FETCH 3 FROM reading;
SAVEPOINT s;
FETCH 2 FROM reading;
ROLLBACK TO s;
FETCH 18 FROM reading;
COMMIT;
-- WHERE CURRENT OF finds the row that a cursor of a plain scan is at.
BEGIN;
DECLARE reading CURSOR FOR SELECT n, (SELECT price FROM prices p WHERE p.id = b.id) AS price FROM baskets b;
FETCH 3 FROM reading;
UPDATE baskets SET who = 'here' WHERE CURRENT OF reading RETURNING n;
FETCH BACKWARD 1 FROM reading;
ROLLBACK;
-- Partitions: each server is asked for the keys that it can have.
CREATE TABLE split_prices (id int, kind int, price numeric, note text) PARTITION BY HASH (id);
DO $$
BEGIN
	CREATE TABLE remote.split_prices (id int, kind int, price numeric, note text) PARTITION BY HASH (id);
	FOR i IN 0..2 LOOP
		EXECUTE format('CREATE TABLE remote.split_prices_%s PARTITION OF remote.split_prices FOR VALUES WITH (MODULUS 3, REMAINDER %s)', i, i);
		EXECUTE format('CREATE FOREIGN TABLE split_prices_%s PARTITION OF split_prices FOR VALUES WITH (MODULUS 3, REMAINDER %s) SERVER loopback OPTIONS (schema_name ''remote'')', i, i);
	END LOOP;
END
$$;
INSERT INTO remote.split_prices SELECT * FROM remote.prices;
SELECT compare_subqueries('SELECT n, (SELECT price FROM split_prices p WHERE p.id = b.id) FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT n, (SELECT sum(price) FROM split_prices p WHERE p.kind = b.kind) FROM baskets b ORDER BY n');
-- Partitions that are pruned when the query begins, before others that keys choose
CREATE TABLE daily_prices (id int, kind int, price numeric, note text) PARTITION BY RANGE (id);
DO $$
BEGIN
	CREATE TABLE remote.daily_prices (id int, kind int, price numeric, note text) PARTITION BY RANGE (id);
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE TABLE remote.daily_prices_%s PARTITION OF remote.daily_prices FOR VALUES FROM (%s) TO (%s)', i, i * 150, i * 150 + 150);
		EXECUTE format('CREATE FOREIGN TABLE daily_prices_%s PARTITION OF daily_prices FOR VALUES FROM (%s) TO (%s) SERVER loopback OPTIONS (schema_name ''remote'')', i, i * 150, i * 150 + 150);
	END LOOP;
END
$$;
INSERT INTO remote.daily_prices SELECT * FROM remote.prices;
SET tests.low = '200';
SELECT compare_subqueries('SELECT n, (SELECT sum(price) FROM daily_prices p WHERE p.id = b.id AND p.id >= current_setting(''tests.low'')::int) FROM baskets b ORDER BY n');
SELECT compare_subqueries('SELECT n FROM baskets b WHERE (SELECT count(*) FROM daily_prices p WHERE p.id = b.id AND p.id >= current_setting(''tests.low'')::int) = 0 ORDER BY n');
SET plan_cache_mode = force_generic_plan;
PREPARE kept(int) AS SELECT n, id, (SELECT price FROM daily_prices p WHERE p.id = b.id AND p.id >= $1) FROM baskets b WHERE n IN (60, 120, 170, 199) ORDER BY n;
EXECUTE kept(200);
EXECUTE kept(400);
DEALLOCATE kept;
RESET plan_cache_mode;
-- Outer partitions share the plan of a condition's subquery, and are read in turn.
CREATE TABLE split_baskets (LIKE baskets) PARTITION BY HASH (n);
CREATE TABLE split_baskets_0 PARTITION OF split_baskets FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE split_baskets_1 PARTITION OF split_baskets FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE FOREIGN TABLE split_baskets_2 PARTITION OF split_baskets FOR VALUES WITH (MODULUS 3, REMAINDER 2) SERVER loopback OPTIONS (schema_name 'remote');
CREATE TABLE remote.split_baskets_2 (LIKE baskets);
INSERT INTO split_baskets SELECT * FROM baskets;
CREATE INDEX ON split_baskets_0 (n);
CREATE INDEX ON split_baskets_1 (n);
ANALYZE split_baskets;
SET enable_sort = off;
SET enable_hashjoin = off;
SELECT * FROM shown_plan($$SELECT n FROM split_baskets b WHERE (SELECT kind FROM prices p WHERE p.id = b.id) > 3 ORDER BY n$$);
SELECT compare_subqueries('SELECT n FROM split_baskets b WHERE (SELECT kind FROM prices p WHERE p.id = b.id) > 3 ORDER BY n');
SELECT compare_subqueries('SELECT b.n, c.n FROM split_baskets b JOIN split_baskets c ON c.n = b.n + 1 WHERE (SELECT kind FROM prices p WHERE p.id = b.id) > 3 AND (SELECT kind FROM prices p WHERE p.id = c.id) > 3 ORDER BY b.n');
RESET enable_sort;
RESET enable_hashjoin;
-- More rows than one, and an error of the remote server
SELECT n, (SELECT price FROM prices p WHERE p.kind = b.kind) FROM baskets b;
SELECT n, (SELECT 1 / (p.id - 6) FROM prices p WHERE p.id = b.id) FROM baskets b ORDER BY n;
SELECT count(*), count((SELECT price FROM prices p WHERE p.id = b.id)) FROM baskets b;
