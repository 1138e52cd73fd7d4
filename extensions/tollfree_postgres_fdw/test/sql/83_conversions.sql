-- What converting a row runs belongs to the query that reads the row, whoever
-- has made the row be received: it finds that query's user and settings, and its
-- errors are that query's.
SET client_min_messages = warning;
CREATE ROLE regress_definer;
CREATE VIEW remote.thousands AS SELECT i AS n, 'spot' AS what, repeat('x', 1000) AS pad FROM generate_series(1, 3000) i;
CREATE FUNCTION run_in_a_block() RETURNS int SECURITY DEFINER SET search_path = elsewhere LANGUAGE plpgsql
AS $$
BEGIN
	RETURN 1;
EXCEPTION WHEN division_by_zero THEN
	RETURN 0;
END
$$;
ALTER FUNCTION run_in_a_block() OWNER TO regress_definer;
SET work_mem = '64kB';
SET tollfree_postgres_fdw.direct_results = off;

-- the user
CREATE FUNCTION is_ours(n int) RETURNS bool LANGUAGE plpgsql
AS $$
BEGIN
	IF current_user <> session_user THEN
		RAISE WARNING 'row % is converted by %', n, current_user;
	END IF;
	RETURN true;
END
$$;
CREATE DOMAIN watched_int AS int CHECK (is_ours(VALUE));
CREATE FOREIGN TABLE watched_rows (n watched_int, pad text) SERVER loopback OPTIONS (schema_name 'remote', table_name 'thousands');
\set QUIET off
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM watched_rows;
MOVE 102 FROM c;
SELECT run_in_a_block();
MOVE ALL FROM c;
COMMIT;

-- an error, where the user is another one meanwhile
CREATE FUNCTION is_few(n int) RETURNS bool SECURITY DEFINER LANGUAGE plpgsql
AS $$
BEGIN
	IF n > 150 THEN
		RAISE EXCEPTION 'row % is too many', n;
	END IF;
	RETURN true;
END
$$;
ALTER FUNCTION is_few(int) OWNER TO regress_definer;
CREATE DOMAIN few AS int CHECK (is_few(VALUE));
CREATE FOREIGN TABLE few_rows (n few, pad text) SERVER loopback OPTIONS (schema_name 'remote', table_name 'thousands');
\set VERBOSITY terse
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM few_rows;
MOVE 102 FROM c;
SAVEPOINT a;
SELECT current_user = session_user AS is_same;
MOVE 48 FROM c;
MOVE 1 FROM c;
ROLLBACK TO a;
SELECT current_user = session_user AS is_same;
COMMIT;
-- and where other rows are still to be written
CREATE TABLE remote.scribbled (n int, pad text);
CREATE FOREIGN TABLE scribbled_rows (n int, pad text) SERVER loopback OPTIONS (schema_name 'remote', table_name 'scribbled');
INSERT INTO scribbled_rows SELECT n, pad FROM few_rows;
SELECT current_user = session_user AS is_same, count(*) FROM remote.scribbled;
\set VERBOSITY default
\set QUIET on

-- the settings
CREATE TABLE spot ();
CREATE SCHEMA elsewhere;
CREATE TABLE elsewhere.spot ();
CREATE FOREIGN TABLE spots (n int, what regclass, pad text) SERVER loopback OPTIONS (schema_name 'remote', table_name 'thousands');
DO $$
DECLARE
	found record;
	astray int := 0;
BEGIN
	FOR found IN SELECT * FROM spots LOOP
		PERFORM run_in_a_block();
		astray := astray + (found.what <> 'public.spot'::regclass)::int;
	END LOOP;
	RAISE WARNING '% rows are read as elsewhere', astray;
END
$$;

-- nulls, empty and long values, whole rows and places keep what they are
CREATE TABLE remote.odd (id int PRIMARY KEY, a text, b bytea, c text[], d float8, e varchar(5), pad text);
INSERT INTO remote.odd
SELECT i, nullif(repeat('a', i % 3), 'aa'), decode(repeat('00ff', i % 5), 'hex'), ARRAY[NULL, i::text], i / 7.0, nullif(i % 10000, 1)::text, repeat('p', CASE WHEN i <= 300 THEN 20000 ELSE 1000 END)
FROM generate_series(1, 2000) i;
INSERT INTO remote.odd (id, a) SELECT 2000 + i, repeat('ä', i * 100000) FROM generate_series(1, 5) i;
CREATE FOREIGN TABLE odd (id int, a text, b bytea, c text[], d float8, e varchar(5), pad text) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FUNCTION equal_rows(c refcursor, columns text) RETURNS int8 LANGUAGE plpgsql
AS $$
DECLARE
	here record;
	there text;
	equal int8 := 0;
BEGIN
	LOOP
		FETCH c INTO here;
		EXIT WHEN NOT FOUND;
		PERFORM run_in_a_block();
		EXECUTE format('SELECT ROW(%s)::text FROM remote.odd WHERE id = $1', columns) INTO there USING here.id;
		equal := equal + (here.shown = there)::int;
	END LOOP;
	RETURN equal;
END
$$;
BEGIN;
DECLARE whole CURSOR FOR SELECT id, ROW(odd, a)::text AS shown FROM odd;
SELECT equal_rows('whole', 'odd, a');
DECLARE place CURSOR FOR SELECT id, ROW(ctid, a, e)::text AS shown FROM odd;
SELECT equal_rows('place', 'ctid, a, e');
DECLARE in_binary CURSOR FOR SELECT id, ROW(a, b, d, e, pad)::text AS shown FROM odd;
SELECT equal_rows('in_binary', 'a, b, d, e, pad');
SET LOCAL tollfree_postgres_fdw.binary_results = off;
DECLARE in_text CURSOR FOR SELECT id, ROW(a, b, d, e, pad)::text AS shown FROM odd;
SELECT equal_rows('in_text', 'a, b, d, e, pad');
-- text at hand, and what is in the air in binary form
DECLARE in_both CURSOR FOR SELECT id, ROW(a, b, d, e, pad)::text AS shown FROM odd;
MOVE 102 FROM in_both;
SET LOCAL tollfree_postgres_fdw.binary_results = on;
MOVE 28 FROM in_both;
SAVEPOINT a;
SELECT equal_rows('in_both', 'a, b, d, e, pad');
COMMIT;
SET tollfree_postgres_fdw.direct_results = on;
BEGIN;
DECLARE direct CURSOR FOR SELECT id, ROW(a, b, d, e)::text AS shown FROM odd;
SELECT equal_rows('direct', 'a, b, d, e');
COMMIT;
RESET tollfree_postgres_fdw.direct_results;
RESET work_mem;
DROP FOREIGN TABLE watched_rows, few_rows, scribbled_rows, spots, odd;
DROP FUNCTION run_in_a_block, equal_rows;
DROP DOMAIN watched_int, few;
DROP FUNCTION is_ours, is_few;
DROP TABLE spot, elsewhere.spot;
DROP SCHEMA elsewhere;
DROP ROLE regress_definer;
