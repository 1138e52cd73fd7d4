-- Joins whose lookups cannot be batched as usual: none of them may ask once for each of the 500 rows of `wanted_gadgets`.
CALL make_servers('gadgets', 2, 'fdw_tuple_cost ''1''');
CREATE TABLE remote.gadgets AS SELECT i AS id, i % 3 AS kind, 'gadget ' || i AS name FROM generate_series(1, 20000) i;
CREATE TABLE remote.even_gadgets AS SELECT * FROM remote.gadgets WHERE id % 2 = 0;
CREATE TABLE remote.odd_gadgets AS SELECT * FROM remote.gadgets WHERE id % 2 = 1;
CREATE FOREIGN TABLE gadgets (id int, kind int, name text) SERVER gadgets_0 OPTIONS (schema_name 'remote');
CREATE TABLE kinds_of_gadgets AS SELECT generate_series(0, 1) AS kind;
CREATE TABLE wanted_gadgets AS SELECT i * 7 AS id FROM generate_series(1, 500) i;
ANALYZE gadgets, kinds_of_gadgets, wanted_gadgets;
-- Does a query wait for fewer round trips than it has outer rows, and what is its answer?
CREATE FUNCTION waits_little(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	before int8 := (SELECT sum(round_trips) FROM tollfree_postgres_fdw_get_connections());
	waited int8;
	answer text;
BEGIN
	EXECUTE query INTO answer;
	SELECT sum(round_trips) - before FROM tollfree_postgres_fdw_get_connections() INTO waited;
	RETURN format('%s: %s', answer, CASE WHEN waited < 50 THEN 'few round trips' ELSE waited || ' round trips' END);
END
$$;
SELECT count(*) FROM gadgets;
-- An array is no key: neither the value of an InitPlan nor that of a parameter of a generic plan.
SELECT waits_little('SELECT count(w.id) || '' '' || max(g.name) FROM wanted_gadgets w JOIN gadgets g USING (id) WHERE g.kind = ANY (ARRAY(SELECT kind FROM kinds_of_gadgets))');
PREPARE gadgets_of_kinds(int[]) AS SELECT count(w.id) || ' ' || max(g.name) FROM wanted_gadgets w JOIN gadgets g USING (id) WHERE g.kind = ANY ($1);
SET plan_cache_mode = force_generic_plan;
SELECT waits_little('EXECUTE gadgets_of_kinds(''{0,1}'')');
SET plan_cache_mode = force_custom_plan;
SELECT waits_little('EXECUTE gadgets_of_kinds(''{0,1}'')');
-- A condition without columns, in a view on the nullable side of an outer join: 15 checks it above the scan.
CREATE VIEW shown_gadgets AS SELECT * FROM gadgets WHERE current_setting('gadgets.shown', true) = 'on';
CREATE VIEW shown_wanted AS SELECT * FROM wanted_gadgets WHERE current_setting('gadgets.shown', true) = 'on';
SET gadgets.shown = 'on';
SELECT waits_little('SELECT count(*) || '' '' || count(s.name) FROM wanted_gadgets w LEFT JOIN shown_gadgets s USING (id)');
SELECT waits_little('SELECT count(*) || '' '' || count(s.name) FROM kinds_of_gadgets k LEFT JOIN (shown_wanted w JOIN gadgets s USING (id)) ON k.kind < 1');
PREPARE gadgets_if(bool) AS SELECT count(*) || ' ' || count(s.name) FROM wanted_gadgets w LEFT JOIN (SELECT * FROM gadgets WHERE $1) s USING (id);
SET plan_cache_mode = force_generic_plan;
SELECT waits_little('EXECUTE gadgets_if(true)');
SELECT waits_little('EXECUTE gadgets_if(false)');
RESET plan_cache_mode;
-- Asynchronous partitions under a remote statement_timeout have their lookups batched, too.
CREATE TABLE all_gadgets (id int, half int, name text) PARTITION BY LIST (half);
ALTER TABLE remote.even_gadgets ADD half int DEFAULT 0;
ALTER TABLE remote.odd_gadgets ADD half int DEFAULT 1;
CREATE FOREIGN TABLE even_gadgets PARTITION OF all_gadgets FOR VALUES IN (0) SERVER gadgets_0 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE odd_gadgets PARTITION OF all_gadgets FOR VALUES IN (1) SERVER gadgets_1 OPTIONS (schema_name 'remote');
ANALYZE even_gadgets, odd_gadgets;
ALTER SERVER gadgets_0 OPTIONS (ADD async_capable 'true', ADD options '-c statement_timeout=60s');
ALTER SERVER gadgets_1 OPTIONS (ADD async_capable 'true', ADD options '-c statement_timeout=60s');
SELECT count(*) FROM all_gadgets;
EXPLAIN (COSTS OFF) SELECT count(w.id), max(s.name) FROM wanted_gadgets w JOIN all_gadgets s USING (id);
SELECT waits_little('SELECT count(w.id) || '' '' || max(s.name) FROM wanted_gadgets w JOIN all_gadgets s USING (id)');
DEALLOCATE gadgets_of_kinds;
DEALLOCATE gadgets_if;
