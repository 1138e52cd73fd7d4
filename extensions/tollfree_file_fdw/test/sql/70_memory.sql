-- A scan that begins again and again needs no more memory each time.
\getenv abs_builddir PG_ABS_BUILDDIR
\set plain :abs_builddir '/results/memory.csv'
\set octal :abs_builddir '/results/memory.txt'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET enable_material = off;
SET enable_memoize = off;
COPY (SELECT i, 'a' FROM generate_series(1, 10) i) TO :'plain' (FORMAT csv);
-- COPY's parser takes this one over.
COPY (SELECT i, '\303\251' FROM generate_series(1, 10) i) TO :'octal' (FORMAT csv);
SELECT make_pair('memory_plain', 'a int, b text', :'plain', $$format 'csv'$$),
	make_pair('memory_octal', 'a int, b text', :'octal', $$delimiter ',', encoding 'UTF8'$$);
CREATE FUNCTION query_memory() RETURNS bigint LANGUAGE sql VOLATILE
RETURN (SELECT sum(used_bytes)::bigint FROM pg_backend_memory_contexts WHERE name = 'ExecutorState');
-- How many bytes 500 more scans need
CREATE FUNCTION memory_growth(inner_query text, side text) RETURNS bigint LANGUAGE plpgsql
AS $$
DECLARE
	growth bigint;
BEGIN
	PERFORM set_config('search_path', side || ', public', true);
	EXECUTE format('SELECT max(bytes) FILTER (WHERE v = 600) - max(bytes) FILTER (WHERE v = 100)
					FROM (SELECT v, query_memory() AS bytes
						  FROM (SELECT v FROM generate_series(1, 600) v LEFT JOIN LATERAL (%s) s ON true OFFSET 0) x
						  WHERE v IN (100, 600) OFFSET 0) y', inner_query) INTO growth;
	RETURN growth;
END
$$;
SELECT query, side, memory_growth(query, side) < 10000 AS is_steady
FROM unnest(ARRAY[
	'SELECT a FROM memory_plain WHERE a > v * 0 LIMIT 1', 'SELECT a, b FROM memory_octal WHERE a > v * 0 LIMIT 1',
	'SELECT b, count(*), v + 1 FROM memory_plain GROUP BY b', 'SELECT b, count(*), v + 1 FROM memory_octal GROUP BY b']) query, unnest('{stock,ours}'::text[]) side;
-- Groups that do not fit are no longer held when the plan below has groups of its own.
\set groups :abs_builddir '/results/groups.csv'
COPY (SELECT i FROM generate_series(1, 100000) i) TO :'groups' (FORMAT csv);
SELECT make_pair('memory_groups', 'a int', :'groups', $$format 'csv'$$);
SET work_mem = '2MB';
SET hash_mem_multiplier = 1;
SELECT query_memory() < 1000000 AS is_little FROM (SELECT a, count(*) FROM ours.memory_groups GROUP BY a) g LIMIT 1;
SELECT shown_plan('SELECT a, count(*) FROM ours.memory_groups GROUP BY a', 'analyze, costs off, timing off, summary off, buffers off') plan
	OFFSET 2 LIMIT 1;
RESET work_mem;
RESET hash_mem_multiplier;
DROP FOREIGN TABLE stock.memory_groups, ours.memory_groups;
-- A scan that has ended holds nothing more, while 60 others of the query have not: how many megabytes the session has
-- at most, above what it had before, when the last row of one of them is returned.  A file has 1 MB.
\set large :abs_builddir '/results/memory_large.csv'
COPY (SELECT i, repeat('x', 90), CASE i WHEN 5000 THEN '\303\251' END FROM generate_series(1, 10000) i) TO :'large' (FORMAT csv);
SELECT make_pair('memory_large', 'a int, b text, c text', :'large', $$format 'csv'$$),
	make_pair('memory_handed_over', 'a int, b text, c text', :'large', $$delimiter ','$$),
	make_pair('memory_slow', 'a int, b text, c text', :'large', $$format 'csv', quote '"', encoding 'SJIS'$$);
CREATE FUNCTION session_memory() RETURNS bigint LANGUAGE sql VOLATILE PARALLEL RESTRICTED
RETURN (SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts);
CREATE FUNCTION memory_of_many(relation text) RETURNS numeric LANGUAGE plpgsql
AS $$
DECLARE
	before bigint := session_memory();
	most bigint;
BEGIN
	EXECUTE (SELECT format('SELECT max(session_memory()) FROM (%s OFFSET 0) x WHERE a = 10000', string_agg(format('SELECT a, b, c FROM ours.%I', relation), ' UNION ALL '))
			 FROM generate_series(1, 60)) INTO most;
	RETURN round((most - before) / 1e6);
END
$$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT workers, relation, memory_of_many(relation) < 8 AS is_little
FROM unnest('{0,2}'::text[]) workers, LATERAL (SELECT set_config('max_parallel_workers_per_gather', workers, false)) s (setting),
	unnest('{memory_large,memory_handed_over,memory_slow}'::text[]) relation;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
DROP FOREIGN TABLE stock.memory_large, ours.memory_large, stock.memory_handed_over, ours.memory_handed_over, stock.memory_slow, ours.memory_slow;
DROP FUNCTION memory_of_many, session_memory;
-- Values that only PostgreSQL's input functions know are asked for in the same memory again and again: an aggregation in the
-- scan of 20,000 of them does not take memory from the system for each batch.  What cannot be held is not, where only nulls count.
\set asked :abs_builddir '/results/memory_asked.csv'
COPY (SELECT i, jsonb_build_object('a', i, 'b', 'x'), int4range(i, i + 5), CASE i % 3 WHEN 0 THEN 'NaN' ELSE i::text END, repeat('x', i % 9 + 1) || '     '
	  FROM generate_series(1, 20000) i) TO :'asked' (FORMAT csv);
SELECT make_pair('memory_asked', 'a int, j jsonb, r int4range, n numeric(9, 0), t varchar(9) COLLATE "C"', :'asked', $$format 'csv'$$);
CREATE FUNCTION page_faults() RETURNS bigint LANGUAGE sql VOLATILE
RETURN split_part(pg_read_file('/proc/self/stat', 0, 1000), ' ', 10)::bigint;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT query, agree(query), counted_by('page_faults()', query, 'ours') < 2000 AS is_little
FROM unnest(ARRAY['SELECT count(*) FROM memory_asked', 'SELECT count(j), count(r), count(n) FROM memory_asked',
	'SELECT max(t), min(t) FROM memory_asked WHERE j IS NOT NULL', 'SELECT sum(a) FROM memory_asked WHERE r IS NOT NULL']) query;
RESET tollfree_file_fdw.debug_require;
DROP FUNCTION page_faults;
DROP FOREIGN TABLE stock.memory_asked, ours.memory_asked;
DROP FOREIGN TABLE stock.memory_plain, ours.memory_plain, stock.memory_octal, ours.memory_octal;
DROP FUNCTION memory_growth, query_memory;
RESET enable_material;
RESET enable_memoize;
RESET client_min_messages;
