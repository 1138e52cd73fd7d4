-- Plans that several processes execute: what each of them does by itself
\getenv abs_builddir PG_ABS_BUILDDIR
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SET tollfree_file_fdw.parallel_chunk_size = '1kB';
SET client_min_messages = warning;

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
