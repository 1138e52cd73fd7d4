-- Rows that a hash join above would drop are dropped by the scan.
\getenv abs_builddir PG_ABS_BUILDDIR
\set facts :abs_builddir '/results/join_facts.csv'
\set low :abs_builddir '/results/join_low.csv'
\set high :abs_builddir '/results/join_high.csv'
\set wrong :abs_builddir '/results/join_wrong.csv'
\set odd :abs_builddir '/results/join_odd.csv'
SET DateStyle = 'ISO';
CREATE VIEW fact_rows AS
	SELECT i AS id, CASE WHEN i % 7 > 0 THEN i % 500 END AS k, (i % 300)::int2 AS small, i % 900 * 10000000000 - 5000000000 AS big,
		date '2000-01-01' + i % 400 AS day, timestamp '2000-01-01' + i % 400 * interval '1 hour' AS at,
		CASE WHEN i % 5 > 0 THEN 'text ' || i % 250 ELSE '' END AS t, ('v' || i % 250)::varchar(9) AS v, ('c' || i % 250)::char(9) AS c, (i % 200 / 4.0)::numeric(9, 2) AS n
	FROM generate_series(1, 6000) i;
COPY (SELECT * FROM fact_rows) TO :'facts' (FORMAT csv, FORCE_QUOTE (t));
COPY (SELECT * FROM fact_rows WHERE id <= 3000) TO :'low' (FORMAT csv);
COPY (SELECT * FROM fact_rows WHERE id > 3000) TO :'high' (FORMAT csv);
COPY (SELECT id, k, CASE id WHEN 5000 THEN 'wrong' ELSE small::text END, big, day, at, t, v, c, n FROM fact_rows) TO :'wrong' (FORMAT csv);
COPY (SELECT id, k, small, big, day, at, CASE id WHEN 3000 THEN 'é' ELSE t END, v, c, n FROM fact_rows) TO :'odd' (FORMAT csv, ENCODING 'LATIN1');
\set columns 'id int, k int, small int2, big int8, day date, at timestamp, t text, v varchar(9), c char(9), n numeric(9, 2)'
SELECT make_pair(name, :'columns', file, 'format ''csv''')
FROM (VALUES ('facts', :'facts'), ('low', :'low'), ('high', :'high'), ('wrong', :'wrong')) f (name, file);
SELECT make_pair('odd', :'columns', :'odd', $$format 'csv', encoding 'LATIN1'$$);
CREATE TABLE dims AS
	SELECT i AS a, (i * 3)::int2 AS a2, i * 2::int8 AS a8, i * 10000000000 - 5000000000 AS big, date '2000-01-01' + i * 2 AS day, timestamp '2000-01-01 02:00' + i * interval '3 hours' AS at,
		'text ' || i AS t, ('v' || i * 2)::varchar AS v, ('c' || i * 3)::char(5) AS c, i / 2.0 AS n, nullif(i % 9, 0) AS x
	FROM generate_series(0, 39) i UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1 UNION ALL SELECT 3, 9, 6, NULL, NULL, NULL, 'text 3', 'v6', 'c9', 1, 0;
ANALYZE dims;
ANALYZE ours.facts, ours.low, ours.high, stock.facts;
CREATE FUNCTION join_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line
WHERE line ~ 'Fast Path|Removed by Hash Join'
$$;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;

-- A condition that can fail for a parameter, or has a subquery executed, sees the rows that the join would drop.
CREATE TABLE nobody (k int);
INSERT INTO nobody VALUES (-1);
ANALYZE nobody;
CREATE SEQUENCE asked;
SELECT count(*) FROM stock.facts f RIGHT JOIN nobody d ON f.k = d.k AND f.id > (SELECT 10 / count(*) FROM dims WHERE a > 100);
SELECT count(*) FROM ours.facts f RIGHT JOIN nobody d ON f.k = d.k AND f.id > (SELECT 10 / count(*) FROM dims WHERE a > 100);
SELECT count(*) FROM ours.facts f RIGHT JOIN nobody d ON f.k = d.k AND f.id > (SELECT nextval('asked'));
SELECT is_called FROM asked;
SELECT w, (SELECT count(*) FROM stock.facts f JOIN nobody d USING (k) WHERE f.id > 10 / x.w) FROM (VALUES (1), (0)) x (w);
SELECT w, (SELECT count(*) FROM ours.facts f JOIN nobody d USING (k) WHERE f.id > 10 / x.w) FROM (VALUES (1), (0)) x (w);
SET plan_cache_mode = force_generic_plan;
PREPARE divides (int) AS SELECT count(*) FROM ours.facts f RIGHT JOIN nobody d ON f.k = d.k AND f.id > 10 / $1;
EXECUTE divides (5);
EXECUTE divides (0);
DEALLOCATE divides;
PREPARE casts (text[]) AS SELECT count(*) FROM ours.facts f RIGHT JOIN nobody d ON f.k = d.k AND f.id = ANY ($1::int[]);
EXECUTE casts ('{1}');
EXECUTE casts ('{one}');
DEALLOCATE casts;
RESET plan_cache_mode;
SET tollfree_test.text = '';
SELECT d.k, s.z FROM nobody d LEFT JOIN (SELECT k, 10 / length(current_setting('tollfree_test.text')) AS z FROM stock.facts) s USING (k);
SELECT d.k, s.z FROM nobody d LEFT JOIN (SELECT k, 10 / length(current_setting('tollfree_test.text')) AS z FROM ours.facts) s USING (k);
SET tollfree_test.text = 'two';
PREPARE lengthy AS SELECT count(*) FROM ours.facts f RIGHT JOIN nobody d ON f.k = d.k AND f.id > 10 / length(current_setting('tollfree_test.text'));
EXECUTE lengthy;
SET tollfree_test.text = '';
EXECUTE lengthy;
DEALLOCATE lengthy;
SELECT join_lines('SELECT f.id FROM ours.facts f JOIN nobody d ON f.k = d.k WHERE f.day > current_date - 10000 AND (f.small > 5) IS TRUE');
SELECT agree('SELECT d.k, s.z FROM nobody d LEFT JOIN (SELECT k, 10 / (current_date - current_date) AS z FROM facts) s USING (k)');
DROP TABLE nobody;
DROP SEQUENCE asked;

-- Each type of key, and several of them.  A first row is asked for before there is a hash table.
SELECT shown_plan('SELECT * FROM ours.facts JOIN dims ON k = a WHERE facts.n < 30', 'analyze, costs off, timing off, summary off, buffers off');
SET tollfree_file_fdw.debug_require = 'join_filter';
SELECT query, agree('SELECT facts.*, dims.* FROM ' || query) FROM unnest(ARRAY[
	'facts JOIN dims ON k = a',
	'facts JOIN dims ON k = a2',
	'facts JOIN dims ON k = a8',
	'facts JOIN dims ON small = a',
	'facts JOIN dims ON small = a8',
	'facts JOIN dims USING (big)',
	'facts JOIN dims ON facts.big = dims.a',
	'facts JOIN dims USING (day)',
	'facts JOIN dims USING (at)',
	'facts JOIN dims USING (t)',
	'facts JOIN dims USING (v)',
	'facts JOIN dims ON facts.v = dims.t',
	'facts JOIN dims USING (c)',
	'facts JOIN dims ON k = a AND small = a2',
	'facts JOIN dims ON facts.t = dims.t AND k = a AND facts.c = dims.c',
	'facts JOIN dims ON k = a + 1',
	'facts JOIN dims ON k = a AND id > x * 1000',
	'facts RIGHT JOIN dims ON k = a',
	'facts RIGHT JOIN dims ON k = a AND id > x * 1000']) query;
SELECT query, agree('SELECT * FROM ' || query) FROM unnest(ARRAY[
	'facts WHERE k IN (SELECT a8 FROM dims)',
	'facts WHERE EXISTS (SELECT FROM dims WHERE a = k AND x < id)',
	'facts JOIN (SELECT a, count(*) FROM dims GROUP BY a) d ON a = small']) query;

-- A join that needs all rows of the scan, or whose keys nobody here can hash, is no use.
SELECT agree('SELECT count(*) FROM facts LEFT JOIN dims ON k = a');
RESET tollfree_file_fdw.debug_require;
SELECT query, agree('SELECT count(*), sum(id) FROM ' || query), join_lines('SELECT * FROM ours.' || query) FROM unnest(ARRAY[
	'facts LEFT JOIN dims ON k = a',
	'facts FULL JOIN dims ON k = a',
	'facts WHERE NOT EXISTS (SELECT FROM dims WHERE a = k)',
	'facts JOIN dims ON k + 0 = a',
	'facts JOIN dims ON facts.n = dims.n',
	'facts JOIN dims ON facts.t || '''' = dims.t']) query;

-- Upper joins reach through lower ones, unless these could fail or return other rows.
SELECT query, agree('SELECT count(*), sum(id) FROM ' || query), join_lines('SELECT * FROM ours.' || query) FROM unnest(ARRAY[
	'facts JOIN dims d ON k = d.a JOIN dims e ON small = e.a8',
	'facts JOIN (dims d JOIN dims f ON d.a8 = f.a) ON k = d.a JOIN dims e ON small = e.a8 JOIN dims g ON facts.day = g.day',
	'facts JOIN dims d ON k = d.a AND id / (d.x + 1) > 0 JOIN dims e ON small = e.a8',
	'facts LEFT JOIN dims d ON k = d.a JOIN dims e ON small = e.a8']) query;

-- So they do through the partitions of a table.
CREATE TABLE ours.halves (LIKE ours.facts) PARTITION BY RANGE (id);
ALTER TABLE ours.halves ATTACH PARTITION ours.low FOR VALUES FROM (1) TO (3001);
ALTER TABLE ours.halves ATTACH PARTITION ours.high FOR VALUES FROM (3001) TO (6001);
ANALYZE ours.halves;
SELECT join_lines('SELECT * FROM ours.halves JOIN dims ON k = a JOIN dims e ON small = e.a');
SELECT count(*), sum(id), sum(e.x) FROM ours.halves JOIN dims ON k = a JOIN dims e ON small = e.a;
SELECT count(*), sum(id), sum(e.x) FROM stock.facts JOIN dims ON k = a JOIN dims e ON small = e.a;

-- A table in several batches makes one of the tuples in its files too, most common values apart, if that does not get too large.
CREATE TABLE wide AS SELECT i AS a, repeat(md5(i::text), 30) AS filler FROM generate_series(1, 400) i;
ANALYZE wide;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT agree('SELECT count(*), sum(length(filler)) FROM facts JOIN wide ON k = a'), join_lines('SELECT id, filler FROM ours.facts JOIN wide ON k = a');
SET tollfree_file_fdw.debug_require = 'join_filter';
SELECT agree('SELECT count(*), sum(length(filler)) FROM facts JOIN wide ON k = a');
SELECT query, agree('SELECT count(*), sum(id), sum(length(filler)) FROM ' || query) FROM unnest(ARRAY[
	'facts JOIN wide ON k = a AND id > a * 4',
	'facts RIGHT JOIN wide ON k = a',
	'facts JOIN wide ON k = a JOIN dims ON small = dims.a']) query;
CREATE FUNCTION many() RETURNS SETOF int LANGUAGE plpgsql ROWS 10 AS $$ BEGIN RETURN QUERY SELECT generate_series(1, 20000); END $$;
SELECT agree('SELECT count(*), sum(m) FROM facts JOIN many() m ON k = m');
RESET tollfree_file_fdw.debug_require;
SELECT agree('SELECT count(*), sum(m) FROM facts JOIN many() m ON k = m'), join_lines('SELECT * FROM ours.facts JOIN many() m ON k = m');
DROP FUNCTION many;
RESET work_mem;
RESET hash_mem_multiplier;

-- A filter that drops few rows pauses; rows are tested again after it.
CREATE TABLE all_keys AS SELECT id AS a, id / 1000 AS b FROM fact_rows WHERE id < 5990;
ANALYZE all_keys;
SELECT query, agree('SELECT count(*), sum(id), sum(b) FROM ' || query), join_lines('SELECT id, b FROM ours.' || query) FROM unnest(ARRAY[
	'facts JOIN all_keys ON id = a',
	'facts JOIN all_keys ON id = a JOIN dims ON k = dims.a',
	'facts JOIN all_keys ON id = a AND k = b']) query;
DROP TABLE all_keys;

-- A scan that starts again forgets the table, whether that is built anew or not.
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT * FROM (VALUES (1), (5), (0), (5)) v (w), LATERAL (SELECT count(*), sum(id) FROM facts JOIN (SELECT a FROM dims WHERE x > w OFFSET 0) d ON k = a) s',
	'SELECT * FROM (VALUES (1), (500), (0), (500)) v (w), LATERAL (SELECT id, a FROM facts JOIN dims ON k = a WHERE id > w ORDER BY id LIMIT 3) s',
	'SELECT * FROM (VALUES (1), (5000), (0), (500)) v (w), LATERAL (SELECT id, a FROM facts JOIN dims ON k = a WHERE id > w LIMIT 3) s',
	'SELECT w, (SELECT sum(id) FROM facts JOIN dims d ON k = d.a JOIN (SELECT a8 FROM dims WHERE x = w OFFSET 0) e ON small = e.a8) FROM generate_series(1, 8) w']) query;

-- Errors are those of all rows: of values, and of what is computed of rows that a join would drop.
SELECT query, agree('SELECT count(*), sum(small) FROM ' || query) FROM unnest(ARRAY[
	'wrong JOIN dims ON k = a',
	'facts JOIN dims ON k = a WHERE 1 / (id - 5999) = 0',
	'facts JOIN dims d ON k = d.a JOIN dims e ON small = e.a8 AND 1 / (id - 5979) < 2']) query;
ALTER FOREIGN TABLE ours.wrong OPTIONS (ADD lazy 'true');
SELECT count(*), sum(small) FROM ours.wrong JOIN dims ON k = a;
ALTER FOREIGN TABLE ours.wrong OPTIONS (DROP lazy);
CREATE FUNCTION seen(id int) RETURNS bool LANGUAGE plpgsql COST 1e-6
AS $$ BEGIN IF id % 1500 = 0 THEN RAISE NOTICE 'seen: %', id; END IF; RETURN true; END $$;
SET client_min_messages = notice;
SELECT count(*) FROM ours.facts JOIN dims ON k = a WHERE seen(id);
RESET client_min_messages;

-- By a record index, blocks are skipped in which no key has a match; not those read before the hash table was there, nor any with an odd value.
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
CREATE TABLE some_keys AS SELECT i::int2 AS s, i AS a, i::int8 AS b, i AS w FROM generate_series(3100, 3140) i UNION ALL SELECT NULL, NULL, NULL, 0;
ANALYZE some_keys;
CREATE FUNCTION block_lines(query text) RETURNS SETOF text LANGUAGE sql
AS $$
SELECT trim(line) FROM shown_plan(query, 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Removed by|Record Index'
$$;
SELECT count(*), sum(k), sum(small), sum(big), max(day), max(at), max(t) FROM ours.facts;
SELECT query, agree('SELECT count(*), sum(id), sum(w) FROM ' || query), block_lines('SELECT id, w FROM ours.' || query) FROM unnest(ARRAY[
	'facts JOIN some_keys ON id = some_keys.a',
	'facts JOIN some_keys ON id = s',
	'facts JOIN some_keys ON id = b',
	'facts JOIN some_keys ON id = b * 10000000000',
	'facts JOIN some_keys ON id = some_keys.a AND k = s - 3000',
	'facts RIGHT JOIN some_keys ON id = some_keys.a',
	'facts LEFT JOIN some_keys ON id = some_keys.a',
	'facts JOIN some_keys ON id = some_keys.a WHERE facts.t LIKE ''text%''',
	'facts JOIN some_keys ON id = some_keys.a WHERE id > 4000',
	'facts JOIN some_keys ON id = some_keys.a JOIN dims ON k = dims.a',
	'facts JOIN (SELECT * FROM some_keys WHERE w = 0) f ON id = f.a']) query;
SELECT agree('SELECT id FROM facts WHERE id IN (SELECT b FROM some_keys) ORDER BY id'), agree('SELECT count(*) FROM facts WHERE NOT EXISTS (SELECT FROM some_keys WHERE a = id)');
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT * FROM (VALUES (3110), (3130), (0), (3120)) v (m), LATERAL (SELECT count(*), sum(id), min(w) FROM facts JOIN (SELECT * FROM some_keys WHERE w > m OFFSET 0) f ON id = a) s',
	'SELECT * FROM (VALUES (10), (4000), (100)) v (m), LATERAL (SELECT count(*), sum(id), min(w) FROM facts JOIN (SELECT a + m AS a, w FROM some_keys OFFSET 0) f ON id = a) s',
	'SELECT * FROM (VALUES (3110), (3130), (0), (3120)) v (m), LATERAL (SELECT id, w FROM facts JOIN some_keys ON id = a WHERE w > m LIMIT 2) s']) query;
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT count(*), sum(small) FROM wrong JOIN some_keys ON id = a',
	'SELECT count(*), sum(id) FROM wrong JOIN some_keys ON id = a',
	'SELECT count(*), sum(id) FROM odd JOIN some_keys ON id = a']) query;
-- A prepared statement sees another file, and another hash table.
PREPARE joined AS SELECT count(*), sum(id), sum(w) FROM ours.facts JOIN some_keys ON id = a;
EXECUTE joined;
UPDATE some_keys SET a = a - 3000;
EXECUTE joined;
COPY (SELECT * FROM fact_rows WHERE id > 120) TO :'facts' (FORMAT csv, FORCE_QUOTE (t));
EXECUTE joined;
UPDATE some_keys SET a = a + 3000;
EXECUTE joined;
COPY (SELECT * FROM fact_rows) TO :'facts' (FORMAT csv, FORCE_QUOTE (t));
EXECUTE joined;
EXECUTE joined;
DEALLOCATE joined;
-- What is kept of columns is read by parts.
SET tollfree_file_fdw.column_cache = on;
SELECT agree('SELECT count(*), sum(id), sum(w), max(facts.t) FROM facts JOIN some_keys ON id = a') FROM generate_series(1, 3);
SELECT block_lines('SELECT id, w, facts.t FROM ours.facts JOIN some_keys ON id = a');
RESET tollfree_file_fdw.column_cache;
-- Of a scan by several processes all blocks are read.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET tollfree_file_fdw.debug_parallel_chunk_size = '16kB';
SELECT agree('SELECT count(*), sum(id), sum(w) FROM facts JOIN some_keys ON id = a');
RESET tollfree_file_fdw.debug_parallel_chunk_size;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;
DROP FUNCTION block_lines;
DROP TABLE some_keys;
RESET tollfree_file_fdw.debug_record_index_age;
RESET tollfree_file_fdw.record_index;

-- Of a lazy table only the keys are converted before rows are dropped: by text, by blocks, and of what is kept.
ALTER FOREIGN TABLE ours.facts OPTIONS (ADD lazy 'true');
SET tollfree_file_fdw.debug_record_index_age = 0;
CREATE TABLE some_keys AS SELECT i AS a, i AS w FROM generate_series(3100, 3140) i;
ANALYZE some_keys;
CREATE FUNCTION lazy_queries() RETURNS TABLE (query text, agree text) LANGUAGE sql
AS $$
SELECT query, agree('SELECT count(*), sum(id), max(facts.t), max(facts.v), sum(facts.n), sum(small) FROM ' || query) FROM unnest(ARRAY[
	'facts JOIN some_keys ON id = a',
	'facts JOIN some_keys ON id = a WHERE k < 400 AND facts.t LIKE ''text%''',
	'facts JOIN dims ON k = a',
	'facts JOIN dims ON facts.t = dims.t AND k = a WHERE id > 17',
	'facts JOIN dims ON k = dims.a JOIN dims e ON small = e.a8 WHERE facts.n > 3',
	'facts RIGHT JOIN some_keys ON id = a',
	'facts LEFT JOIN some_keys ON id = a WHERE k < 10']) query
$$;
SELECT * FROM lazy_queries();
SET tollfree_file_fdw.record_index = on;
SELECT agree FROM lazy_queries(), generate_series(1, 2);
SET tollfree_file_fdw.column_cache = on;
SELECT agree FROM lazy_queries(), generate_series(1, 2);
ALTER FOREIGN TABLE ours.facts OPTIONS (DROP lazy);
SELECT agree FROM lazy_queries(), generate_series(1, 2);
RESET tollfree_file_fdw.column_cache;
ALTER FOREIGN TABLE ours.wrong OPTIONS (ADD lazy 'true');
SELECT count(*), sum(small) FROM ours.wrong JOIN some_keys ON id = a;
RESET tollfree_file_fdw.record_index;
SELECT count(*), sum(small) FROM ours.wrong JOIN some_keys ON id = a;
SELECT count(*), sum(small) FROM ours.wrong JOIN some_keys ON id = a + 1870;
RESET tollfree_file_fdw.debug_record_index_age;
DROP FUNCTION lazy_queries;
DROP TABLE some_keys;

-- What COPY's parser reads is given to the join as it is.
SELECT agree('SELECT count(*), max(odd.t), sum(id) FROM odd JOIN dims ON k = a'), join_lines('SELECT k, odd.t FROM ours.odd JOIN dims ON k = a');

-- A cursor that is asked for one row after the other.
BEGIN;
DECLARE c CURSOR FOR SELECT id, k, a FROM ours.facts JOIN dims ON k = a WHERE id > 990;
FETCH 2 FROM c;
FETCH 3 FROM c;
COMMIT;

-- Several processes: each has a table of its own, or all share one and make a filter each.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET tollfree_file_fdw.debug_parallel_chunk_size = '16kB';
SET enable_parallel_hash = off;
SELECT agree('SELECT count(*), sum(id) FROM facts JOIN dims ON k = a'), substring(line, 'Fast Path:.*') AS path
FROM shown_plan('SELECT count(*) FROM ours.facts JOIN dims ON k = a') line WHERE line ~ 'Fast Path';
SET enable_parallel_hash = on;
SELECT agree('SELECT count(*), sum(x.id) FROM facts x JOIN facts y ON x.k = y.id');
SELECT agree('SELECT count(*), sum(id), sum(a) FROM facts JOIN dims ON k = a'), substring(line, 'Fast Path:.*') AS path
FROM shown_plan('SELECT count(*) FROM ours.facts JOIN dims ON k = a', 'analyze, costs off, timing off, summary off, buffers off') line WHERE line ~ 'Fast Path:';
RESET enable_parallel_hash;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;

-- It can be switched off.
SET tollfree_file_fdw.join_filters = off;
SELECT agree('SELECT count(*), sum(id) FROM facts JOIN dims ON k = a'), join_lines('SELECT * FROM ours.facts JOIN dims ON k = a');
SET tollfree_file_fdw.debug_require = 'join_filter';
SELECT agree('SELECT count(*), sum(id) FROM facts JOIN dims ON k = a');
RESET tollfree_file_fdw.debug_require;
RESET tollfree_file_fdw.join_filters;
RESET enable_mergejoin;
RESET enable_nestloop;
RESET max_parallel_workers_per_gather;
DROP FUNCTION seen, join_lines;
DROP TABLE ours.halves, wide, dims;
DROP FOREIGN TABLE ours.facts, ours.odd, stock.odd, stock.facts, stock.low, stock.high, ours.wrong, stock.wrong;
DROP VIEW fact_rows;
RESET DateStyle;
