-- Semi and anti joins of two foreign tables of one server, foreign rows that match local ones, and subqueries in aggregates.
CREATE TABLE remote.clients AS SELECT i AS id, 'client ' || i AS name, nullif(i % 50, 7) AS region FROM generate_series(1, 2000) i;
CREATE TABLE remote.bills AS SELECT i AS id, nullif(i * 7 % 2100, 14) AS client, i % 1000 AS day FROM generate_series(1, 10000) i;
ALTER TABLE remote.clients ADD PRIMARY KEY (id);
ALTER TABLE remote.bills ADD PRIMARY KEY (id);
CREATE FOREIGN TABLE clients (id int, name text, region int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE bills (id int, client int, day int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE TABLE picks AS SELECT i AS n, nullif(i * 9 % 12000, 9) AS k FROM generate_series(1, 800) i;
ANALYZE remote.clients, remote.bills, clients, bills, picks;
-- Is the answer of a query that of the tables themselves, how many foreign scans has it, and how many rows do these return?
CREATE FUNCTION compare_semi(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
	here text;
	there text;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, E''\n'' ORDER BY q::text)), '''') FROM (%s) q', query) INTO here;
	SET LOCAL search_path = remote, public;
	EXECUTE format('SELECT count(*) || '' rows '' || coalesce(md5(string_agg(q::text, E''\n'' ORDER BY q::text)), '''') FROM (%s) q', query) INTO there;
	RESET search_path;
	RETURN (SELECT format('%s, %s foreign scans of %s rows', CASE WHEN here = there THEN 'same' ELSE here || ' but ' || there END, count(*),
						  sum((node->>'Actual Rows')::numeric * (node->>'Actual Loops')::numeric)::int)
			FROM jsonb_path_query(plan, 'strict $.**?(@."Node Type" == "Foreign Scan")') node);
END
$$;
SELECT compare_semi('SELECT count(*) FROM clients c WHERE EXISTS (SELECT FROM bills b WHERE b.client = c.id)');
SELECT compare_semi('SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id)');
SELECT compare_semi('SELECT c.name FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id AND b.day > 600) AND c.region < 20');
SELECT compare_semi('SELECT * FROM clients c WHERE id IN (SELECT client FROM bills WHERE day > 990) AND c.region < 20');
SELECT compare_semi('SELECT c.*, b FROM clients c LEFT JOIN bills b ON b.client = c.id WHERE b.client IS NULL');
SELECT compare_semi('SELECT region, count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id) AND EXISTS (SELECT FROM bills b WHERE b.id = c.id AND b.day > 300) GROUP BY region');
SELECT compare_semi('SELECT c.id FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id AND NOT EXISTS (SELECT FROM clients d WHERE d.id = b.day AND d.region > 30))');
SELECT compare_semi('SELECT c.id, b.day FROM (SELECT * FROM clients c WHERE EXISTS (SELECT FROM bills b WHERE b.client = c.id AND b.day < 40)) c LEFT JOIN bills b ON b.id = c.id');
SELECT compare_semi('SELECT c.id, b.day FROM (SELECT * FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id AND b.day < 990)) c FULL JOIN (SELECT * FROM bills WHERE day < 9) b ON b.id = c.id');
-- Conditions that are not sent, and operators that nulls meet
SELECT split_part(compare_semi('SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id AND random() < 2)'), ' of ', 1);
SELECT compare_semi('SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client IS NOT DISTINCT FROM c.region AND b.day < 20)');
SELECT compare_semi('SELECT count(*) FROM clients c WHERE id NOT IN (SELECT client FROM bills WHERE client < 40)');
-- What is sent; strings and names are no part of a condition.
CREATE FUNCTION semi_commands(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Remote SQL' THEN
			RETURN NEXT btrim(regexp_replace(line, '\mr\d+\M', 'r', 'g'));
		END IF;
	END LOOP;
END
$$;
SELECT semi_commands('SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id)');
SELECT compare_semi($$SELECT count(*) FROM clients c WHERE EXISTS (SELECT FROM bills b WHERE b.client = c.id AND c.name <> ') r2 ON (' AND c.name <> 'client ''(5')$$);
-- The local order of texts counts, as where the join is executed here.
SELECT semi_commands('SELECT max(c.name) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id)');
SELECT split_part(compare_semi('SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM clients d WHERE d.id = c.region AND d.name > c.name)'), ' of ', 1);
-- Kept plans, and rows that are locked or changed
PREPARE kept(int) AS SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id AND b.day % 10 < $1);
SET plan_cache_mode = force_generic_plan;
EXECUTE kept(2);
EXECUTE kept(9);
RESET plan_cache_mode;
DEALLOCATE kept;
SELECT count(*) FROM (SELECT FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id) FOR UPDATE) q;
UPDATE clients c SET name = 'none' WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id);
DELETE FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id);
SELECT count(*), count(*) FILTER (WHERE name = 'none') FROM remote.clients;
-- Switched off
SET tollfree_postgres_fdw.remote_expressions = off;
SELECT compare_semi('SELECT count(*) FROM clients c WHERE NOT EXISTS (SELECT FROM bills b WHERE b.client = c.id)');
RESET tollfree_postgres_fdw.remote_expressions;
-- Foreign rows that match local ones: the different values of these are looked up.
SELECT compare_semi('SELECT * FROM bills b WHERE id IN (SELECT k FROM picks)');
SELECT compare_semi('SELECT count(*), sum(day) FROM bills b WHERE EXISTS (SELECT FROM picks p WHERE p.k = b.id AND p.n % 2 = 0)');
-- Many local keys: the remote server reads its table once, rather than an index for each of them.
SELECT compare_semi('SELECT p.n, b.day FROM picks p JOIN bills b ON b.id = p.k');
-- Subqueries in the arguments of aggregates
CREATE FUNCTION batches_of(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN (SELECT coalesce(string_agg(format('%s keys in %s batches', node->'Keys', node->'Batches'), ', '), 'no batches')
			FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Keys"))') node) || ', ' || compare_semi(query);
END
$$;
SELECT batches_of('SELECT sum((SELECT day FROM bills b WHERE b.id = p.k)) FROM picks p');
SELECT batches_of('SELECT n % 7, sum((SELECT day FROM bills b WHERE b.id = p.k)), max(n + (SELECT client FROM bills b WHERE b.id = p.n)) FROM picks p GROUP BY 1 HAVING sum((SELECT day FROM bills b WHERE b.id = p.k)) > 50');
SELECT batches_of('SELECT array_agg((SELECT day FROM bills b WHERE b.id = p.k) ORDER BY n DESC), count(DISTINCT (SELECT day FROM bills b WHERE b.id = p.k)) FROM picks p GROUP BY ROLLUP (n % 3)');
SELECT batches_of('SELECT x, (SELECT string_agg((SELECT day + x FROM bills b WHERE b.id = p.k)::text, '','' ORDER BY n) FROM picks p WHERE n % 50 = x) FROM generate_series(2, 4) x');
SELECT batches_of('SELECT count(*) FILTER (WHERE EXISTS (SELECT FROM bills b WHERE b.id = p.k)), sum((SELECT day FROM bills b WHERE b.id = p.k)) FILTER (WHERE n < 3) FROM picks p WHERE n < 20');
-- Beside window functions
SELECT batches_of('SELECT n, (SELECT day FROM bills b WHERE b.id = p.k), row_number() OVER (ORDER BY n DESC) + sum(n) OVER (PARTITION BY n % 5) FROM picks p WHERE n BETWEEN 2 AND 60');
SELECT * FROM shown_plan($$SELECT n % 7, sum((SELECT day FROM bills b WHERE b.id = p.k)) FROM picks p GROUP BY 1$$, 'VERBOSE, COSTS OFF');
SELECT sum((SELECT day FROM bills b WHERE b.client = p.k)) FROM picks p;
