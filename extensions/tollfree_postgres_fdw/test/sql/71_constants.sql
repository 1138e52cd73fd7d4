-- Constants that are sent as parameters, so that short commands are kept
-- prepared whatever constants are in them.
SELECT tollfree_postgres_fdw_disconnect_all();
SET datestyle = ISO;
CREATE TABLE remote.constants (id int PRIMARY KEY, small int2, big int8,
	amount numeric(8, 2), ratio float8, name text, code varchar(5), pad char(5),
	letter "char", is_open bool, made date, seen timestamptz, key uuid, doc jsonb);
INSERT INTO remote.constants
SELECT i, i, i, i, i, 'name ' || i, 'c' || i, 'p' || i, chr(64 + i), i % 2 = 0,
	date '2024-01-01' + i, timestamptz '2024-01-01 00:00:00+00' + i * interval '1 hour',
	('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, to_jsonb(i)
FROM generate_series(1, 9) i;
IMPORT FOREIGN SCHEMA remote LIMIT TO (constants) FROM SERVER loopback INTO public;
CREATE VIEW remote.kept AS
SELECT parameter_types, regexp_replace(statement, '^.*? (WHERE|SET) ', '\1 ') AS statement
FROM pg_prepared_statements WHERE name ~ '^tollfree_[0-9a-f]{8}_s\d';
CREATE FOREIGN TABLE kept (parameter_types regtype[], statement text) SERVER loopback
	OPTIONS (schema_name 'remote');

-- three constants, one statement: by equality, for each type
CREATE FUNCTION find_three(condition text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	found int[];
	ids text := '';
BEGIN
	FOR i IN 1..3 LOOP
		PERFORM set_config('tollfree_postgres_fdw.debug_require',
						   CASE i WHEN 3 THEN 'cached' ELSE '' END, true);
		EXECUTE 'SELECT ARRAY(SELECT id FROM constants WHERE '
			|| replace(condition, '?', i::text) || ')' INTO found;
		ids := concat_ws(' ', ids, found::text);
	END LOOP;
	PERFORM set_config('tollfree_postgres_fdw.debug_require', '', true);
	RETURN ids;
END
$$;
SELECT condition, find_three(condition)
FROM unnest(ARRAY['id = ?', 'small = ?::int2', 'big = ?', 'big = ?00000000000',
	'id = ? AND big = ? AND big > 0', $$name || '' = 'name ?'$$]) AS condition;
SELECT * FROM kept ORDER BY statement COLLATE "C";

-- these keep theirs: what is no equality, no integer, or a string whose type is
-- for the remote server to find out
CREATE FUNCTION is_kept(condition text) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM find_three(condition);
	RETURN true;
EXCEPTION WHEN object_not_in_prerequisite_state THEN
	RETURN false;
END
$$;
SELECT condition, is_kept(condition)
FROM unnest(ARRAY['id < ?', 'id IN (?, 7)', 'amount = ?', $$name = 'name ?'$$,
	$$name || '' = E'back\\slash ?'$$]) AS condition;
SET tollfree_postgres_fdw.constants_as_parameters = off;
SELECT is_kept('id = ?');
RESET tollfree_postgres_fdw.constants_as_parameters;

-- what is assigned, or computed with; quotes and signs
UPDATE constants SET big = big + 5, name = 'it''s ' || name, code = 'a''b' WHERE id = 1;
UPDATE constants SET big = big + 6, name = 'it''s ' || name, code = '''''' WHERE id = 2;
UPDATE constants SET big = big + 7, name = '' || name, code = '' WHERE id = 3;
UPDATE constants SET big = big * -5, small = (-1)::int2, name = NULL WHERE id = 4;
UPDATE constants SET big = big * -6, small = (-2)::int2, name = NULL WHERE id = 5;
UPDATE constants SET amount = 1.5, pad = 'x', letter = 'y', made = '2024-12-24' WHERE id = 6;
UPDATE constants SET amount = 2.5, pad = 'y', letter = 'z', made = '2024-12-25' WHERE id = 7;
UPDATE constants SET big = 123456789012, small = 3 WHERE id = 8;
UPDATE constants SET big = 123456789013, small = 4 WHERE id = 9;
DELETE FROM constants WHERE name || '' = 'name 8';
DELETE FROM constants WHERE name || '' = 'name 9';
SELECT id, small, big, amount, name, code, pad, letter, made FROM remote.constants ORDER BY id;
SELECT * FROM kept WHERE statement ~ '^SET|name' ORDER BY statement COLLATE "C";

-- modifications stay kept from one transaction to the next, whatever happens to the table
BEGIN;
UPDATE constants SET big = 1 WHERE id = 1;
UPDATE constants SET big = 2 WHERE id = 2;
UPDATE constants SET small = 1 WHERE id = 1;
UPDATE constants SET small = 2 WHERE id = 2;
COMMIT;
ALTER TABLE remote.constants ALTER big TYPE text USING 'was ' || big;
BEGIN;
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
UPDATE constants SET small = 3 WHERE id = 3;
UPDATE constants SET big = 3 WHERE id = 3;
COMMIT;
SELECT id, small, big FROM remote.constants ORDER BY id;
ALTER TABLE remote.constants ALTER big TYPE int8 USING 0;
BEGIN;
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
UPDATE constants SET small = 4 WHERE id = 4;
UPDATE constants SET big = 4 WHERE id = 4;
COMMIT;
SELECT id, small, big FROM remote.constants ORDER BY id;

-- the sign of an exponent is a part of the number
UPDATE constants SET ratio = -0.00001 WHERE id = 1;
UPDATE constants SET ratio = -0.00001 WHERE id = 2;
UPDATE constants SET ratio = -0.00001 WHERE id = 3;
UPDATE constants SET ratio = -1e20 WHERE id = 4;
UPDATE constants SET ratio = -1e20 WHERE id = 5;
UPDATE constants SET ratio = -1e20 WHERE id = 6;
UPDATE constants SET ratio = ratio * (-1e-5) WHERE id = 7;
UPDATE constants SET ratio = ratio * (-1e-5) WHERE id = 8;
UPDATE constants SET ratio = ratio * (-1e-5) WHERE id = 9;
SELECT id, ratio FROM remote.constants ORDER BY id;

-- errors name the command that was written
UPDATE constants SET big = 5 WHERE id = 1;
ALTER TABLE remote.constants ADD CHECK (big < 10);
UPDATE constants SET big = 11 WHERE id = 1;
UPDATE constants SET big = 12 WHERE id = 2;
UPDATE constants SET big = 13 WHERE id = 3;

-- what few rows are made from many: also by position
SELECT is_open, count(*) FROM constants WHERE small = 1 GROUP BY 1;
SELECT is_open, count(*) FROM constants WHERE small = 2 GROUP BY 1;
SELECT is_open, count(*) FROM constants WHERE small = 3 GROUP BY 1;
SELECT tollfree_postgres_fdw_disconnect_all();
DROP FOREIGN TABLE constants, kept;
DROP FUNCTION find_three, is_kept;
DROP VIEW remote.kept;
DROP TABLE remote.constants;
