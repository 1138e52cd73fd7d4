-- A foreign table that has children: a join looks up the rows of all of them.
CREATE TABLE remote.branched (id int, v text);
INSERT INTO remote.branched SELECT i, 'remote ' || i FROM generate_series(1, 20000) i;
CREATE FOREIGN TABLE branched (id int, v text)
	SERVER loopback OPTIONS (schema_name 'remote', table_name 'branched');
CREATE TABLE branches () INHERITS (branched);
INSERT INTO branches SELECT i, 'local ' || i FROM generate_series(1, 20000) i;
CREATE TABLE keys_of_branched AS SELECT i AS id FROM generate_series(1, 20000, 1000) i;
ANALYZE remote.branched, keys_of_branched;
CREATE INDEX ON branches (id);
ANALYZE branched, branches;

SELECT count(*), count(*) FILTER (WHERE v LIKE 'local%') AS of_children
FROM keys_of_branched k JOIN branched USING (id);
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), count(*) FILTER (WHERE v LIKE 'local%') AS of_children
FROM keys_of_branched k JOIN branched USING (id);
EXPLAIN (COSTS OFF) SELECT v FROM keys_of_branched k JOIN branched USING (id);
SELECT count(*), count(v) FROM keys_of_branched k
LEFT JOIN LATERAL (SELECT v FROM branched p WHERE p.id = k.id OFFSET 0) x ON true;
SELECT sum((SELECT count(*) FROM branched p WHERE p.id = k.id)) FROM keys_of_branched k;
SELECT sum((SELECT count(*) FROM ONLY branched p WHERE p.id = k.id)) FROM keys_of_branched k;
RESET enable_hashjoin;
RESET enable_mergejoin;
