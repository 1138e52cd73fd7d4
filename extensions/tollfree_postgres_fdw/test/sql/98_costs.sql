-- Plans and ways to fetch that must not send much more than postgres_fdw would.
CREATE TABLE remote.logins AS SELECT i AS id, i % 2000 AS usr FROM generate_series(1, 20000) i;
CREATE INDEX ON remote.logins (usr);
CREATE TABLE remote.sales AS SELECT i AS id, i % 100 AS product FROM generate_series(1, 5000) i;
CREATE TABLE remote.products AS SELECT i AS id, 'p' || i AS name, repeat('d', 1280) AS description FROM generate_series(0, 99) i;
CREATE TABLE remote.states AS SELECT i AS id, CASE WHEN i % 1000 = 0 THEN 'new' ELSE 'done' END AS state, repeat('x', 100) AS filler
FROM generate_series(1, 30000) i;
ANALYZE remote.logins, remote.sales, remote.products, remote.states;
IMPORT FOREIGN SCHEMA remote LIMIT TO (logins, sales, products, states) FROM SERVER loopback INTO public;
ANALYZE logins, sales, products;
CREATE TABLE visits AS SELECT i AS id, i * 7919 % 2000 AS usr FROM generate_series(1, 20000) i;
ANALYZE visits;
ALTER SERVER loopback OPTIONS (ADD batched_lookups 'true');

-- A lookup brings all rows of a key, also where a join stops at the first: worth it for few keys.
SELECT explained('SELECT count(*) FROM visits WHERE EXISTS (SELECT FROM logins WHERE logins.usr = visits.usr)', 'Keys');
SELECT explained('SELECT count(*) FROM visits WHERE EXISTS (SELECT FROM logins WHERE logins.usr = visits.usr) AND visits.id < 4', 'Keys');

-- A remote join repeats what is wide in a row that many others match.
SELECT explained('SELECT sales.id, products.name FROM sales JOIN products ON products.id = sales.product', 'Relations', 'COSTS OFF');
SELECT explained('SELECT sales.id, products.description FROM sales JOIN products ON products.id = sales.product', 'Relations', 'COSTS OFF');

-- Of a table that was never analyzed nobody knows how much comes.
CREATE FUNCTION is_any(id int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
SELECT explained(query, 'Fetch Method')
FROM unnest(ARRAY['SELECT * FROM states WHERE state = ''new''', 'SELECT * FROM states WHERE state = ''done''',
				  'SELECT * FROM states WHERE state = ''done'' AND is_any(id) LIMIT 1', 'SELECT * FROM states WHERE state = ''done'' LIMIT 1']) query;
-- The same rows, however often they are asked for.
CREATE FUNCTION counted(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := 0;
	r record;
BEGIN
	FOR r IN EXECUTE query LOOP
		n := n + 1;
		IF n = 100 THEN
			PERFORM count(*) FROM logins;
		END IF;
	END LOOP;
	RETURN n || ' rows';
END
$$;
SELECT counted('SELECT * FROM states WHERE state = ''done''');
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), sum(states.id) FROM (VALUES (1), (2), (3)) v (i) LEFT JOIN states ON states.id > 29000 + i AND states.state = 'done' AND is_any(states.id);
SELECT i, (SELECT count(*) FROM states WHERE state = 'done' AND is_any(id + i)) FROM generate_series(1, 2) i;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT sum(n) FROM (SELECT count(*) AS n FROM states WHERE state = 'done' AND is_any(id) UNION ALL
					SELECT count(*) FROM states WHERE state = 'done' AND is_any(id + 1) UNION ALL SELECT count(*) FROM states WHERE state = 'new') counts;

-- Many partitions do not make the batches of lookups small.
CREATE TABLE slices (id int, v text) PARTITION BY HASH (id);
DO $$
BEGIN
	FOR i IN 0..63 LOOP
		EXECUTE format('CREATE TABLE remote.slice_%1$s (id int PRIMARY KEY, v text)', i);
		EXECUTE format('CREATE FOREIGN TABLE slice_%1$s PARTITION OF slices FOR VALUES WITH (MODULUS 64, REMAINDER %1$s) SERVER loopback'
					   ' OPTIONS (schema_name ''remote'')', i);
	END LOOP;
END
$$;
INSERT INTO slices SELECT i, 'v' || i FROM generate_series(1, 3000) i;
CREATE TABLE lookers AS SELECT i AS n, i * 3 AS id FROM generate_series(1, 1500) i;
ANALYZE lookers;
ALTER SERVER loopback OPTIONS (ADD fdw_tuple_cost '100');
SELECT explained('SELECT count(v), sum(length(v)) FROM lookers JOIN slices USING (id)', 'Batches');
SELECT count(v), sum(length(v)) FROM lookers JOIN slices USING (id);
ALTER SERVER loopback OPTIONS (DROP fdw_tuple_cost, DROP batched_lookups);
DROP TABLE slices, lookers, visits;
DROP FOREIGN TABLE logins, sales, products, states;
DROP TABLE remote.logins, remote.sales, remote.products, remote.states;
DROP FUNCTION is_any, counted;
DO $$
BEGIN
	FOR i IN 0..63 LOOP
		EXECUTE format('DROP TABLE remote.slice_%s', i);
	END LOOP;
END
$$;
