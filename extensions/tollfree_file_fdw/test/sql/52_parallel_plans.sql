-- Plans that several processes execute: what each of them does by itself
\getenv abs_builddir PG_ABS_BUILDDIR
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SET client_min_messages = warning;
CREATE FUNCTION has_gather(query text) RETURNS bool LANGUAGE sql
AS $$SELECT coalesce(bool_or(line LIKE '%Gather%'), false) FROM shown_plan(query) line$$;

-- Where each needs all groups, one that starts over reads the whole file, even if scanning it together is cheaper.
CREATE FUNCTION pause(int) RETURNS bool LANGUAGE sql VOLATILE PARALLEL SAFE COST 100000
AS 'SELECT true FROM pg_sleep(0.01)';
CREATE TABLE visits (id int, filler text);
ALTER TABLE visits ALTER filler SET STORAGE PLAIN;
INSERT INTO visits SELECT i, repeat('x', 5000) FROM generate_series(1, 60) i;
ANALYZE visits;
\set members :abs_builddir '/results/members.txt'
COPY (SELECT i, 1, CASE i WHEN 3000 THEN 'NaN' ELSE '1' END FROM generate_series(1, 3000) i) TO :'members' (DELIMITER '|');
SELECT make_pair('members', 'k int, s int, amount numeric(8, 2)', :'members', $$delimiter '|'$$);
ANALYZE ours.members;
SELECT shown_plan('SELECT count(*), max(m) FROM visits JOIN (SELECT k, max(amount) m FROM ours.members WHERE s = 1 GROUP BY k) g ON id = k WHERE pause(id)');
SELECT trim(line) AS line
FROM shown_plan('SELECT count(*) FROM visits WHERE pause(id) AND id NOT IN (SELECT k FROM ours.members WHERE s = 1 GROUP BY k HAVING max(amount) > 0)') line
WHERE line ~ 'Gather|Foreign Scan';
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT count(*), max(m) FROM visits JOIN (SELECT k, max(amount) m FROM members WHERE s = 1 GROUP BY k) g ON id = k WHERE pause(id)',
	'SELECT count(*) FROM visits WHERE pause(id) AND id NOT IN (SELECT k FROM members WHERE s = 1 GROUP BY k HAVING max(amount) > 0)']) query;
RESET parallel_leader_participation;

-- What only the session's own process may convert, it converts alone: a domain's CHECK calls anything, and other types may have one in them.
CREATE SEQUENCE checks;
CREATE FUNCTION is_counted(int) RETURNS bool LANGUAGE sql VOLATILE AS 'SELECT nextval(''checks'') > 0';
CREATE DOMAIN counted AS int CHECK (is_counted(VALUE));
CREATE DOMAIN counted_again AS counted;
CREATE TYPE counted_row AS (x int, y counted);
CREATE TYPE counted_range AS RANGE (subtype = counted, multirange_type_name = counted_ranges);
CREATE TYPE plain_row AS (x int, y text);
CREATE TYPE own;
CREATE FUNCTION own_in(cstring) RETURNS own LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION own_out(own) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE own (INPUT = own_in, OUTPUT = own_out, LIKE = int4);
\set inputs :abs_builddir '/results/inputs.csv'
COPY (SELECT i, i, i, ARRAY[i], ROW(i, i), ARRAY[ROW(i, i)], int4range(i, i + 5), int4multirange(int4range(i, i + 5)), i, ARRAY[i], ROW(i, i), int4range(i, i + 5)
	  FROM generate_series(1, 1000) i) TO :'inputs' (FORMAT csv);
SELECT make_pair('inputs', 'id int, domain counted, nested counted_again, list counted[], composite counted_row, composites counted_row[], range counted_range, multirange counted_ranges,
				 own own, plain_list int[], plain plain_row, plain_range int4range', :'inputs', $$format 'csv'$$);
SELECT part, has_gather(format('SELECT %s FROM ours.inputs', part)), agree(format('SELECT %s FROM inputs', part))
FROM unnest('{count(id),count(domain),count(nested),count(list),count(composite),count(composites),count(range),count(multirange),count(own),
			  "count(plain_list), count(plain), count(plain_range)",count(*),count(inputs),count(id) FILTER (WHERE domain IS NULL)}'::text[]) part;
SELECT query, has_gather(replace(query, 'inputs', 'ours.inputs')), agree(query) FROM unnest(ARRAY[
	'SELECT count(id) FROM inputs WHERE id > 3', 'SELECT count(id) FROM inputs WHERE domain > 3', 'SELECT count(id) FROM inputs WHERE list[1] > 3']) query;
ALTER FOREIGN TABLE ours.inputs OPTIONS (ADD lazy 'true');
SELECT has_gather('SELECT count(*) FROM ours.inputs'), agree('SELECT count(*) FROM inputs');
ALTER FUNCTION own_in PARALLEL SAFE;
SELECT has_gather('SELECT count(own) FROM ours.inputs'), agree('SELECT count(own) FROM inputs');
