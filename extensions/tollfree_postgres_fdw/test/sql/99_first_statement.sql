-- A session's first statement, whose planning loads the library, is planned as the others are.
SET client_min_messages = warning;
CREATE TABLE remote.firsts (id int PRIMARY KEY, k int, doc jsonb);
INSERT INTO remote.firsts SELECT i, i % 7, jsonb_build_object('k', 'k' || i % 5) FROM generate_series(1, 3000) i;
CREATE TABLE remote.firsts_1 AS SELECT * FROM remote.firsts WHERE id <= 1500;
CREATE TABLE remote.firsts_2 AS SELECT * FROM remote.firsts WHERE id > 1500;
ANALYZE remote.firsts, remote.firsts_1, remote.firsts_2;
IMPORT FOREIGN SCHEMA remote LIMIT TO (firsts) FROM SERVER loopback INTO public;
CREATE TABLE first_parts (id int, k int, doc jsonb) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE first_parts_1 PARTITION OF first_parts FOR VALUES FROM (1) TO (1501) SERVER loopback
OPTIONS (schema_name 'remote', table_name 'firsts_1');
CREATE FOREIGN TABLE first_parts_2 PARTITION OF first_parts FOR VALUES FROM (1501) TO (3001) SERVER loopback
OPTIONS (schema_name 'remote', table_name 'firsts_2');
ANALYZE firsts, first_parts_1, first_parts_2;
CREATE TABLE counted (k int, n bigint);
CREATE FUNCTION number_of_keys() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT count(*) FROM (SELECT DISTINCT doc->>'k' FROM firsts) q);
END
$$;

\c -
EXPLAIN (VERBOSE, COSTS OFF) SELECT DISTINCT doc->>'k' FROM firsts;
\c -
EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM first_parts;
\c -
SELECT DISTINCT doc->>'k' FROM firsts ORDER BY 1;
\c -
INSERT INTO counted SELECT k, count(*) FROM first_parts WHERE doc->>'k' = 'k1' GROUP BY k RETURNING *;
\c -
CREATE TABLE of_keys AS SELECT DISTINCT doc->>'k' AS k FROM firsts;
SELECT count(*) FROM of_keys;
\c -
-- A kept plan is made anew.
PREPARE keys AS SELECT count(*) FROM (SELECT DISTINCT doc->>'k' FROM firsts) q;
EXECUTE keys;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE keys;
\c -
-- One of two statements, a cursor and a function keep the first plan.
SELECT 1 AS one\; SELECT count(*) FROM (SELECT DISTINCT k FROM firsts) q;
\c -
BEGIN;
DECLARE keys SCROLL CURSOR FOR SELECT DISTINCT k FROM firsts ORDER BY k;
FETCH 2 FROM keys;
FETCH BACKWARD 1 FROM keys;
COMMIT;
\c -
SELECT number_of_keys();
SELECT number_of_keys();
\c -
-- Rules, and writes
CREATE RULE twice AS ON INSERT TO counted WHERE new.k = 1 DO ALSO DELETE FROM counted WHERE n < 100;
INSERT INTO counted SELECT k, count(*) FROM firsts WHERE k < 2 GROUP BY k;
SELECT * FROM counted ORDER BY k, n;
\c -
UPDATE firsts SET k = k + 1 WHERE id IN (SELECT k FROM counted) RETURNING id, k;
\c -
WITH gone AS (DELETE FROM firsts WHERE id < 3 RETURNING k) SELECT count(*) FROM gone;

SET client_min_messages = warning;
DROP FUNCTION number_of_keys;
DROP TABLE counted, of_keys, first_parts;
DROP FOREIGN TABLE firsts;
DROP TABLE remote.firsts, remote.firsts_1, remote.firsts_2;
RESET client_min_messages;
