-- Joins that the remote server could execute, without use_remote_estimate.
CREATE TABLE remote.buyers AS SELECT i AS id, 'buyer ' || i AS name, i % 50 AS region FROM generate_series(1, 2000) i;
CREATE TABLE remote.orders_of_buyers AS SELECT i AS id, i * 7 % 2100 AS buyer, i % 1000 AS day FROM generate_series(1, 10000) i;
CREATE TABLE remote.lines_of_orders AS SELECT i AS id, i * 3 % 10000 AS order_id, i % 90 AS amount FROM generate_series(1, 30000) i;
CREATE FOREIGN TABLE buyers (id int, name text, region int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE orders_of_buyers (id int, buyer int, day int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE lines_of_orders (id int, order_id int, amount int) SERVER loopback OPTIONS (schema_name 'remote');
ANALYZE buyers, orders_of_buyers, lines_of_orders;
-- How many foreign scans a query has, and whether its answer is that of the tables themselves.
CREATE FUNCTION compare_joins(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
	here text;
	there text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s) q', query) INTO here;
	SET LOCAL search_path = remote, public;
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s) q', query) INTO there;
	RESET search_path;
	RETURN format('%s, %s foreign scans', CASE WHEN here = there THEN 'same' ELSE here || ' but ' || there END,
				  (SELECT count(*) FROM jsonb_path_query(plan, 'strict $.**?(@."Node Type" == "Foreign Scan")')));
END
$$;
SELECT compare_joins('SELECT b.name, o.day FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id');
SELECT compare_joins('SELECT b.name, o.day FROM buyers b LEFT JOIN orders_of_buyers o ON o.buyer = b.id AND o.day < 500');
SELECT compare_joins('SELECT b.name, o.day FROM buyers b FULL JOIN orders_of_buyers o ON o.buyer = b.id');
SELECT compare_joins('SELECT b.name, o.day FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id AND o.day > b.region * 10 WHERE b.region < 40 AND o.day < 900');
-- Three tables: the conditions of a join are counted in the one above it, too.
SELECT compare_joins('SELECT b.name, o.day, l.amount FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id JOIN lines_of_orders l ON l.order_id = o.id WHERE b.region < 30 AND l.amount > 20');
SELECT compare_joins('SELECT b.region, sum(l.amount) FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id JOIN lines_of_orders l ON l.order_id = o.id WHERE o.day < 900 GROUP BY 1');
SET geqo_threshold = 2;
SELECT compare_joins('SELECT b.region, sum(l.amount) FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id JOIN lines_of_orders l ON l.order_id = o.id WHERE o.day < 900 GROUP BY 1');
RESET geqo_threshold;
-- No condition that can be hashed: the remote server has a nested loop, too. And a local join, of which the result is many times its input: the costs of
-- conditions have been put back.
CREATE FUNCTION costs() RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
	condition text;
BEGIN
	FOREACH condition IN ARRAY ARRAY['o.buyer < b.id - 1990', 'o.day % 50 = b.region'] LOOP
		EXECUTE 'EXPLAIN (FORMAT JSON) SELECT FROM buyers b JOIN orders_of_buyers o ON ' || condition INTO plan;
		RETURN NEXT format('%s %s', plan->0->'Plan'->'Node Type', plan->0->'Plan'->'Total Cost');
	END LOOP;
END
$$;
CREATE TABLE costs_with AS SELECT costs() AS cost;
SET tollfree_postgres_fdw.join_estimates = off;
SELECT count(*) FROM costs_with JOIN costs() AS cost USING (cost);
-- Switched off: as postgres_fdw does
SELECT compare_joins('SELECT b.name, o.day FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id');
RESET tollfree_postgres_fdw.join_estimates;
ALTER FOREIGN TABLE buyers OPTIONS (ADD join_estimates 'false');
SELECT compare_joins('SELECT b.name, o.day FROM buyers b JOIN orders_of_buyers o ON o.buyer = b.id');
ALTER FOREIGN TABLE buyers OPTIONS (DROP join_estimates);
-- Partitions that are joined on their server
CREATE TABLE remote.parted_buyers (id int, name text, region int) PARTITION BY HASH (id);
CREATE TABLE remote.parted_orders (id int, buyer int, day int) PARTITION BY HASH (buyer);
CREATE TABLE split_buyers (id int, name text, region int) PARTITION BY HASH (id);
CREATE TABLE split_orders (id int, buyer int, day int) PARTITION BY HASH (buyer);
DO $$
BEGIN
	FOR i IN 0..1 LOOP
		EXECUTE format('CREATE TABLE remote.parted_buyers_%s PARTITION OF remote.parted_buyers FOR VALUES WITH (MODULUS 2, REMAINDER %s)', i, i);
		EXECUTE format('CREATE TABLE remote.parted_orders_%s PARTITION OF remote.parted_orders FOR VALUES WITH (MODULUS 2, REMAINDER %s)', i, i);
		EXECUTE format('CREATE FOREIGN TABLE split_buyers_%s PARTITION OF split_buyers FOR VALUES WITH (MODULUS 2, REMAINDER %s) SERVER loopback OPTIONS (schema_name ''remote'', table_name ''parted_buyers_%s'')', i, i, i);
		EXECUTE format('CREATE FOREIGN TABLE split_orders_%s PARTITION OF split_orders FOR VALUES WITH (MODULUS 2, REMAINDER %s) SERVER loopback OPTIONS (schema_name ''remote'', table_name ''parted_orders_%s'')', i, i, i);
	END LOOP;
END
$$;
INSERT INTO remote.parted_buyers SELECT * FROM remote.buyers;
INSERT INTO remote.parted_orders SELECT * FROM remote.orders_of_buyers;
CREATE VIEW remote.split_buyers AS SELECT * FROM remote.parted_buyers;
CREATE VIEW remote.split_orders AS SELECT * FROM remote.parted_orders;
ANALYZE split_buyers_0, split_buyers_1, split_orders_0, split_orders_1;
SET enable_partitionwise_join = on;
SELECT compare_joins('SELECT b.name, o.day FROM split_buyers b JOIN split_orders o ON o.buyer = b.id');
SELECT compare_joins('SELECT b.name, o.day, c.region FROM split_buyers b JOIN split_orders o ON o.buyer = b.id JOIN split_buyers c ON c.id = b.id WHERE c.region < 40 AND o.day > 10');
SET tollfree_postgres_fdw.join_estimates = off;
SELECT compare_joins('SELECT b.name, o.day FROM split_buyers b JOIN split_orders o ON o.buyer = b.id');
RESET tollfree_postgres_fdw.join_estimates;
RESET enable_partitionwise_join;
