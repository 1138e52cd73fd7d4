-- Joins with partitions on several servers, whose rows are looked up for many outer rows at once.
-- To fetch all rows is dear.
CALL make_servers('depot', 3, 'fdw_tuple_cost ''100''');
-- Six partitions: four foreign, of which two are on one server, one of partitions itself, and one local.
CREATE TABLE whole_stock AS
	SELECT i AS id, i % 6 AS part, i % 100 AS k, CASE WHEN i % 50 <> 0 THEN i * 7 % 3000 END AS code, 'item ' || i AS name FROM generate_series(1, 3000) i;
CREATE TABLE stock_of (id int NOT NULL, part int, k int, code int, name text) PARTITION BY LIST (part);
CREATE TABLE stock_of_4 PARTITION OF stock_of FOR VALUES IN (4) PARTITION BY RANGE (id);
CREATE TABLE stock_of_5 PARTITION OF stock_of FOR VALUES IN (5);
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE TABLE remote.stock_of_%s AS SELECT * FROM whole_stock WHERE part = %s', i, i);
		EXECUTE format('CREATE FOREIGN TABLE stock_of_%s PARTITION OF stock_of FOR VALUES IN (%s) SERVER depot_%s OPTIONS (schema_name ''remote'')', i, i, i % 3);
	END LOOP;
END
$$;
CREATE TABLE remote.stock_of_4_low AS SELECT * FROM whole_stock WHERE part = 4 AND id < 1500;
CREATE TABLE remote.stock_of_4_high AS SELECT * FROM whole_stock WHERE part = 4 AND id >= 1500;
CREATE FOREIGN TABLE stock_of_4_low PARTITION OF stock_of_4 FOR VALUES FROM (MINVALUE) TO (1500) SERVER depot_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE stock_of_4_high PARTITION OF stock_of_4 FOR VALUES FROM (1500) TO (MAXVALUE) SERVER depot_2 OPTIONS (schema_name 'remote');
INSERT INTO stock_of SELECT * FROM whole_stock WHERE part = 5;
CREATE INDEX ON stock_of_5 (id);
CREATE INDEX ON stock_of_5 (code);
CREATE TABLE demand AS SELECT i AS n, CASE WHEN i % 10 <> 3 THEN i * 13 % 3300 END AS id, i * 13 % 3300 % 6 AS part, i * 11 % 3000 AS code FROM generate_series(1, 200) i;
ANALYZE demand, whole_stock, stock_of_5;
ANALYZE stock_of_0, stock_of_1, stock_of_2, stock_of_3, stock_of_4_low, stock_of_4_high;
-- Executes a query of stock_of and of the local table with the same rows: is the answer the same, and how often was a server waited for?
CREATE FUNCTION compare_partitions(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	waited int8;
	here text;
	there text;
	line text;
	batches text := 'no batches';
BEGIN
	SELECT sum(round_trips) FROM tollfree_postgres_fdw_get_connections() INTO waited;
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s) q', query) INTO here;
	SELECT sum(round_trips) - waited FROM tollfree_postgres_fdw_get_connections() INTO waited;
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text)) FROM (%s) q', replace(query, 'stock_of', 'whole_stock')) INTO there;
	FOR line IN EXECUTE format('EXPLAIN %s', query) LOOP
		IF line LIKE '%Batched Foreign Lookup%' THEN
			batches := 'batches';
		END IF;
	END LOOP;
	RETURN format('%s, %s: %s round trips, %s', CASE WHEN here IS NOT DISTINCT FROM there THEN 'same' ELSE here || ' but ' || there END, here, waited, batches);
END
$$;
SELECT count(*) FROM stock_of;
-- The plan; 15 writes the operands of an equality in the other order.
CREATE FUNCTION partitioned_plan(query text) RETURNS SETOF text
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
SELECT partitioned_plan('SELECT w.n, s.name FROM demand w JOIN stock_of s USING (id)');
-- How many keys were sent.
CREATE FUNCTION keys_sent(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT string_agg(format('%s keys, %s batches, %s queries', node->'Keys', node->'Batches', jsonb_array_length(node->'Remote SQL')), '; ')
			FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Keys"))') node);
END
$$;
SELECT keys_sent('SELECT w.n, s.name FROM demand w JOIN stock_of s USING (id)');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w JOIN stock_of s USING (id)');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id)');
SELECT compare_partitions('SELECT w.n FROM demand w WHERE EXISTS (SELECT FROM stock_of s WHERE s.id = w.id)');
SELECT compare_partitions('SELECT w.n FROM demand w WHERE NOT EXISTS (SELECT FROM stock_of s WHERE s.id = w.id)');
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.code = w.code');
SELECT compare_partitions('SELECT w.n, s.name FROM demand w LEFT JOIN stock_of s ON s.code = w.code AND s.id <> w.n AND s.name LIKE ''%7''');
SELECT compare_partitions('SELECT w.n, s.name, s.tableoid IS NULL AS no_table FROM demand w LEFT JOIN stock_of s ON s.id = w.id + 1');
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.id = w.id AND s.code = w.code');
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.id = w.n WHERE s.k < 20');
-- Only partitions that can have rows are asked, and sent keys.
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.id = w.n WHERE s.part = 1');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w JOIN stock_of s USING (id, part)');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id, part)');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s ON s.id = w.n AND s.part = w.n % 6 AND w.part IN (1, 2)');
SELECT keys_sent('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id, part)');
-- A query that may stop early, a rescan, a cursor, and two levels of lookups
SELECT compare_partitions('SELECT * FROM (SELECT w.n, s.name FROM demand w JOIN stock_of s USING (id) ORDER BY n LIMIT 7) q');
SELECT compare_partitions('SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT w.n, s.name FROM demand w JOIN stock_of s USING (id) WHERE w.n > g * 40 ORDER BY w.n LIMIT 20) q');
SELECT compare_partitions('SELECT w.n, s.name, t.name AS other FROM demand w JOIN stock_of s USING (id) JOIN stock_of t ON t.id = s.code');
BEGIN;
DECLARE c CURSOR FOR SELECT w.n, s.name FROM demand w JOIN stock_of s USING (id) ORDER BY w.n;
FETCH 3 FROM c;
SAVEPOINT s;
SELECT count(*) FROM stock_of;
FETCH 30 FROM c \g /dev/null
ROLLBACK TO s;
FETCH 3 FROM c;
COMMIT;
-- Rows that exceed work_mem
SET work_mem = '64kB';
SELECT compare_partitions('SELECT w.n, s.k, s.name FROM demand w JOIN stock_of s ON s.code = w.code');
RESET work_mem;
-- Asynchronous scans, servers that are asked for estimates, and one whose owner wants no batches
ALTER SERVER depot_0 OPTIONS (ADD async_capable 'true');
ALTER SERVER depot_1 OPTIONS (ADD async_capable 'true');
ALTER SERVER depot_2 OPTIONS (ADD async_capable 'true');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id)');
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.code = w.code');
ALTER SERVER depot_1 OPTIONS (ADD use_remote_estimate 'true');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id)');
ALTER SERVER depot_0 OPTIONS (ADD use_remote_estimate 'true');
ALTER SERVER depot_2 OPTIONS (ADD use_remote_estimate 'true');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id)');
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.code = w.code');
ALTER FOREIGN TABLE stock_of_2 OPTIONS (ADD batched_lookups 'false');
SELECT compare_partitions('SELECT w.n, s.* FROM demand w LEFT JOIN stock_of s USING (id)');
SET tollfree_postgres_fdw.batched_lookups = off;
SELECT compare_partitions('SELECT w.n, s.name FROM demand w JOIN stock_of s ON s.id = w.n AND w.n < 20');
RESET tollfree_postgres_fdw.batched_lookups;
RESET enable_hashjoin;
RESET enable_mergejoin;
