-- Rows of a remote table with partitions or children, modified row by row: several have the same ctid.
CREATE SCHEMA their;
CREATE SCHEMA ours;
SET search_path TO ours, public;
CREATE FUNCTION here(anyelement) RETURNS anyelement
LANGUAGE plpgsql
AS $$ BEGIN RETURN $1; END $$;
CREATE TABLE their.parted (a int, b text) PARTITION BY LIST (a);
CREATE TABLE their.parted_1 PARTITION OF their.parted FOR VALUES IN (1);
CREATE TABLE their.parted_2 PARTITION OF their.parted FOR VALUES IN (2);
CREATE TABLE their.parted_3 PARTITION OF their.parted FOR VALUES IN (3, 4) PARTITION BY LIST (a);
CREATE TABLE their.parted_3_3 PARTITION OF their.parted_3 FOR VALUES IN (3);
CREATE TABLE their.parted_3_4 PARTITION OF their.parted_3 FOR VALUES IN (4);
INSERT INTO their.parted VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four');
SELECT count(DISTINCT ctid) FROM their.parted;
CREATE FOREIGN TABLE parted (a int, b text) SERVER loopback OPTIONS (schema_name 'their');

-- awaited and pipelined, the first row and later ones
EXPLAIN (VERBOSE, COSTS OFF) UPDATE parted SET b = b || '*' WHERE here(a) = 1;
UPDATE parted SET b = b || '*' WHERE here(a) = 1;
UPDATE parted SET b = b || '+' WHERE here(a) IN (2, 4) RETURNING *;
UPDATE parted SET b = b || '-' FROM (VALUES (2), (3)) AS v(x) WHERE a = here(x);
DELETE FROM parted WHERE here(a) = 1;
DELETE FROM parted WHERE here(a) = 3 RETURNING parted;
SELECT * FROM parted ORDER BY a, b;
INSERT INTO their.parted SELECT i % 4 + 1, i::text FROM generate_series(1, 1000) i;
UPDATE parted SET b = b || '!' WHERE here(a) = 3;
DELETE FROM parted WHERE here(a) = 4;
SELECT a, count(*), count(*) FILTER (WHERE b LIKE '%!') AS marked FROM their.parted GROUP BY a ORDER BY a;

-- joined here, joined there; sorted and kept in between
CREATE TABLE pairs (x int, y text);
INSERT INTO pairs VALUES (2, '500'), (3, '500!'), (1, '500'), (2, '5'), (2, '5');
ANALYZE pairs;
SET enable_mergejoin TO off;
UPDATE parted SET b = 'local ' || x FROM pairs WHERE x = a AND y = b RETURNING a, b, y;
SET enable_hashjoin TO off;
DELETE FROM parted USING pairs WHERE x = a AND 'local ' || x = here(b) RETURNING a, b, y;
RESET enable_hashjoin;
RESET enable_mergejoin;
CREATE TABLE their.others (x int, y text);
INSERT INTO their.others VALUES (3, '6!'), (2, '9'), (3, '9');
CREATE FOREIGN TABLE others (x int, y text) SERVER loopback OPTIONS (schema_name 'their');
SELECT explained($$UPDATE parted SET b = 'remote ' || x FROM others WHERE x = a AND y = b AND here(a + x) = 6$$, 'Relations', 'VERBOSE');
UPDATE parted SET b = 'remote ' || x FROM others WHERE x = a AND y = b AND here(a + x) = 6 RETURNING a, b, others;
SELECT a, b FROM their.parted WHERE b ~ '^(remote|local|9$|6!)' ORDER BY a, b;

-- with a trigger, which has the whole row sent; rows that move to another partition
CREATE FUNCTION say_row() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN RAISE NOTICE '% %: % %', TG_WHEN, TG_OP, OLD, NEW; RETURN coalesce(NEW, OLD); END $$;
CREATE TRIGGER before_row BEFORE UPDATE OR DELETE ON parted FOR EACH ROW EXECUTE FUNCTION say_row();
CREATE TRIGGER after_row AFTER UPDATE OR DELETE ON parted FOR EACH ROW EXECUTE FUNCTION say_row();
UPDATE parted SET a = 2 WHERE b LIKE 'remote%';
DELETE FROM parted WHERE b = '1' OR b = '2!';
DROP TRIGGER before_row ON parted;
DROP TRIGGER after_row ON parted;
SELECT a, b FROM their.parted WHERE b ~ '^(remote|1$|2!)' ORDER BY a, b;

-- by a function, with savepoints, by a generic plan
DO $$
BEGIN
	FOR i IN 1..7 LOOP
		BEGIN
			UPDATE parted SET b = b || '?' WHERE here(b) = (i * 8)::text;
			IF i > 5 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
END
$$;
SELECT a, b FROM their.parted WHERE b LIKE '%?' ORDER BY a, b;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM parted WHERE here(a) = 2 FOR UPDATE;
FETCH c \gset
UPDATE parted SET b = 'current' WHERE CURRENT OF c;
ROLLBACK;

-- A table with children has rows of its own.  Names are quoted.
CREATE SCHEMA "re mo'te";
CREATE TABLE "re mo'te"."Par\ent "" WHERE ctid = $1" (a int, "b, c FROM" text);
CREATE TABLE "re mo'te".child (extra int) INHERITS ("re mo'te"."Par\ent "" WHERE ctid = $1");
INSERT INTO "re mo'te"."Par\ent "" WHERE ctid = $1" VALUES (1, 'parent'), (2, 'parent');
INSERT INTO "re mo'te".child VALUES (1, 'child'), (2, 'child'), (3, 'child');
CREATE FOREIGN TABLE odd (a int, b text OPTIONS (column_name 'b, c FROM'))
SERVER loopback OPTIONS (schema_name 're mo''te', table_name 'Par\ent " WHERE ctid = $1');
UPDATE odd SET b = b || ' 1' WHERE here(a) = 1 AND b = 'child';
UPDATE odd SET b = b || ' 2' WHERE here(a) = 2 AND b = 'parent' RETURNING *;
DELETE FROM odd WHERE here(b) = 'child';
SELECT * FROM odd ORDER BY a, b;

-- Children that a session has not seen yet.
UPDATE odd SET b = b || '!' WHERE here(a) = 2;
CREATE TABLE "re mo'te".late () INHERITS ("re mo'te"."Par\ent "" WHERE ctid = $1");
INSERT INTO "re mo'te".late SELECT i, 'late' FROM generate_series(1, 5) i;
UPDATE odd SET b = b || '!' WHERE here(a) = 2;
SELECT * FROM odd ORDER BY a, b;

-- A partition of a local table is a remote table with partitions.
CREATE TABLE top (a int, b text) PARTITION BY RANGE (a);
CREATE TABLE top_here PARTITION OF top FOR VALUES FROM (10) TO (20);
ALTER TABLE top ATTACH PARTITION parted FOR VALUES FROM (1) TO (5);
INSERT INTO top VALUES (10, 'here'), (11, 'here'), (1, 'there'), (2, 'there');
UPDATE top SET b = 'changed' WHERE here(b) IN ('here', 'there') AND a IN (10, 2) RETURNING tableoid::regclass, a, b;
DELETE FROM top WHERE here(b) = 'there' RETURNING *;
ALTER TABLE top DETACH PARTITION parted;

-- What refers to ctid gets that of the row, or fails.
UPDATE parted SET b = ctid::text WHERE here(a) = 2;
DELETE FROM parted WHERE here(ctid) = '(0,1)';
UPDATE parted SET b = 'returned' WHERE here(b) = 'changed' RETURNING ctid IS NOT NULL AS has_ctid, a, b;
CREATE VIEW their.view AS SELECT * FROM their.parted;
CREATE FOREIGN TABLE of_view (a int, b text) SERVER loopback OPTIONS (schema_name 'their', table_name 'view');
DELETE FROM of_view WHERE here(a) = 1;

-- Random commands do to a remote table with partitions, and to one with children, what they do to a local one.
CREATE TABLE their.tree (id int, k int, v text);
CREATE TABLE their.tree_1 () INHERITS (their.tree);
CREATE TABLE their.tree_2 () INHERITS (their.tree_1);
CREATE FOREIGN TABLE tree (id int, k int, v text) SERVER loopback OPTIONS (schema_name 'their');
CREATE TABLE their.parts (id int, k int, v text) PARTITION BY LIST (k);
SELECT format('CREATE TABLE their.parts_%s PARTITION OF their.parts FOR VALUES IN (%s)', i, i) FROM generate_series(0, 5) i \gexec
CREATE FOREIGN TABLE parts (id int, k int, v text) SERVER loopback OPTIONS (schema_name 'their');
CREATE TABLE plain (id int, k int, v text);
INSERT INTO plain SELECT i, i % 6, repeat(i::text, i % 40) FROM generate_series(1, 600) i;
INSERT INTO their.tree SELECT * FROM plain WHERE id % 3 = 0;
INSERT INTO their.tree_1 SELECT * FROM plain WHERE id % 3 = 1;
INSERT INTO their.tree_2 SELECT * FROM plain WHERE id % 3 = 2;
INSERT INTO their.parts SELECT * FROM plain;
ANALYZE plain, tree, parts;
CREATE FUNCTION differences(target text) RETURNS int8
LANGUAGE plpgsql
AS $$
DECLARE
	n int8;
BEGIN
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$I EXCEPT ALL TABLE plain) UNION ALL (TABLE plain EXCEPT ALL TABLE %1$I)) d', target) INTO n;
	RETURN n;
END
$$;
DO $$
DECLARE
	target text;
	command text;
	commands text[] := ARRAY[
		'UPDATE %1$s SET v = v || %2$s WHERE here(id) %% 41 = %2$s',
		'UPDATE %1$s SET k = (k + 1) %% 6 WHERE here(id) %% 37 = %2$s',
		'UPDATE %1$s SET k = (k + 1) %% 6 WHERE here(id) %% 37 = %2$s RETURNING *',
		'UPDATE %1$s t SET v = s.v || 1 FROM plain s WHERE s.id = t.id + 1 AND here(t.id) %% 43 = %2$s',
		'UPDATE %1$s t SET v = ''s'' || s FROM generate_series(1, 3) s WHERE here(t.id) = s * %2$s',
		'DELETE FROM %1$s WHERE here(id) %% 97 = %2$s',
		'DELETE FROM %1$s t USING generate_series(1, 3) s WHERE t.id = here(s * %2$s)',
		'INSERT INTO %1$s SELECT i, i %% 6, ''new'' FROM generate_series(1000, 1000 + %2$s) i'];
	number int;
BEGIN
	PERFORM setseed(0.41);
	FOR i IN 1..60 LOOP
		command := commands[1 + floor(random() * array_length(commands, 1))];
		number := floor(random() * 30);
		FOREACH target IN ARRAY ARRAY['tree', 'parts', 'plain'] LOOP
			EXECUTE format(command, target, number);
		END LOOP;
		CONTINUE WHEN differences('tree') + differences('parts') = 0;
		RAISE WARNING 'different after %: %', i, format(command, 'plain', number);
		EXIT;
	END LOOP;
END
$$;
SELECT differences('tree') AS tree, differences('parts') AS parts, count(*) > 100 AS many FROM plain;
SET client_min_messages = warning;
DROP SCHEMA ours CASCADE;
DROP SCHEMA their CASCADE;
RESET client_min_messages;
