-- Aggregation below joins, which PostgreSQL 19 does: groups are no rows that postgres_fdw could join or that could be looked up.
CREATE SCHEMA far;
CREATE TABLE far.facts AS SELECT i AS id, i % 50 AS item, i % 7 AS v, i % 11 / 3.0 AS n, 'x' || i % 5 AS t FROM generate_series(1, 5000) i;
CREATE TABLE far.wares AS SELECT i AS item, i % 5 AS kind, 'name ' || i % 3 AS name FROM generate_series(0, 59) i;
CREATE TABLE far.kinds AS SELECT i AS kind, 'kind ' || i AS name FROM generate_series(0, 4) i;
CREATE TABLE far.halves (id int, item int, v int, n numeric, t text) PARTITION BY RANGE (id);
CREATE TABLE far.halves_1 PARTITION OF far.halves FOR VALUES FROM (MINVALUE) TO (2500);
CREATE TABLE far.halves_2 PARTITION OF far.halves FOR VALUES FROM (2500) TO (MAXVALUE);
INSERT INTO far.halves SELECT * FROM far.facts;
CREATE INDEX ON far.wares (item);
CREATE SCHEMA here;
CALL make_servers('eager', 2, $$batched_lookups 'true', join_estimates 'true', fdw_tuple_cost '0.2'$$);
IMPORT FOREIGN SCHEMA far LIMIT TO (facts, wares, kinds) FROM SERVER eager_0 INTO here;
CREATE TABLE here.halves (id int, item int, v int, n numeric, t text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE here.halves_1 PARTITION OF here.halves FOR VALUES FROM (MINVALUE) TO (2500) SERVER eager_0 OPTIONS (schema_name 'far');
CREATE FOREIGN TABLE here.halves_2 PARTITION OF here.halves FOR VALUES FROM (2500) TO (MAXVALUE) SERVER eager_1 OPTIONS (schema_name 'far');
-- wares and kinds of this side, under names of their own
CREATE TABLE here.local_wares AS SELECT * FROM far.wares;
CREATE TABLE here.local_facts AS SELECT * FROM far.facts;
CREATE VIEW far.local_wares AS SELECT * FROM far.wares;
CREATE VIEW far.local_facts AS SELECT * FROM far.facts;
ANALYZE far.facts, far.wares, far.kinds, far.halves, here.facts, here.wares, here.kinds, here.halves, here.local_wares, here.local_facts;
CREATE FUNCTION rows_of(query text, place text) RETURNS text[] LANGUAGE plpgsql
AS $$
DECLARE
	lines text[];
BEGIN
	PERFORM set_config('search_path', place || ', public', true);
	EXECUTE format('SELECT array_agg(q::text ORDER BY q::text COLLATE "C") FROM (%s) q', query) INTO lines;
	RETURN lines;
END
$$;
CREATE FUNCTION compare_eager() RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	joined text;
	outputs text;
	query text;
BEGIN
	FOREACH joined IN ARRAY ARRAY['facts f JOIN wares w USING (item)', 'facts f JOIN wares w USING (item) JOIN kinds k USING (kind)',
			'facts f LEFT JOIN wares w USING (item)', 'facts f JOIN local_wares w USING (item)', 'local_facts f JOIN wares w USING (item)',
			'local_facts f JOIN wares w USING (item) JOIN kinds k USING (kind)', 'halves f JOIN local_wares w USING (item)', 'halves f JOIN wares w USING (item)',
			'local_facts f JOIN wares w USING (item) JOIN local_wares x USING (item)'] LOOP
		-- arguments that are shipped, and one that is not
		FOREACH outputs IN ARRAY ARRAY['w.kind, count(*), sum(v), avg(n)', 'w.name, count(t COLLATE "POSIX"), max(v)', 'w.kind, sum(v + length(t COLLATE "POSIX")), stddev(v), sum(n)', 'f.item, count(t COLLATE "POSIX")'] LOOP
			query = format('SELECT %s FROM %s WHERE f.v < 6 GROUP BY 1', outputs, joined);
			IF rows_of(query, 'far') IS DISTINCT FROM rows_of(query, 'here') THEN
				RETURN NEXT 'DIFFERENT ' || query;
			END IF;
		END LOOP;
	END LOOP;
END
$$;
SELECT compare_eager();
-- where other joins are taken, and at any size of groups
SELECT count(set_config(name, '0', false)) <= 1 FROM pg_settings WHERE name = 'min_eager_agg_group_size';
SET enable_hashjoin = off;
SELECT compare_eager();
SET enable_mergejoin = off;
SELECT compare_eager();
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT compare_eager();
SET geqo_threshold = 2;
SELECT compare_eager();
RESET geqo_threshold;
RESET enable_partitionwise_aggregate;
RESET enable_partitionwise_join;
SELECT count(set_config(name, reset_val, false)) <= 1 FROM pg_settings WHERE name = 'min_eager_agg_group_size';
SET client_min_messages = warning;
DROP SCHEMA here, far CASCADE;
DROP SERVER eager_0, eager_1 CASCADE;
RESET client_min_messages;
DROP FUNCTION rows_of, compare_eager;
