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
CREATE TABLE remote.odd (id int, a text, b bytea, c text[], d float8, e varchar(5));
INSERT INTO remote.odd
SELECT i, nullif(repeat('a', i % 3), 'aa'), decode(repeat('00ff', i % 5), 'hex'), ARRAY[NULL, i::text], i / 7.0, nullif(i, 1)::text
FROM generate_series(1, 2000) i;
INSERT INTO remote.odd SELECT 2000 + i, repeat('ä', i * 100000) FROM generate_series(1, 5) i;
CREATE FOREIGN TABLE odd (id int, a text, b bytea, c text[], d float8, e varchar(5)) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FUNCTION differing() RETURNS int8 LANGUAGE plpgsql
AS $$
DECLARE
	found record;
	different int8 := 0;
BEGIN
	FOR found IN SELECT odd AS whole, ctid AS place, odd.* FROM odd ORDER BY id LOOP
		PERFORM run_in_a_block();
		different := different + (SELECT count(*) FROM remote.odd o WHERE ctid = found.place AND
			(o.*)::text IS DISTINCT FROM (found.whole)::text OR id = found.id AND
			(a, b, c, d, e) IS DISTINCT FROM (found.a, found.b, found.c, found.d, found.e));
	END LOOP;
	RETURN different;
END
$$;
SELECT differing();
SET tollfree_postgres_fdw.binary_results = off;
SELECT differing();
RESET tollfree_postgres_fdw.binary_results;
RESET tollfree_postgres_fdw.direct_results;
SELECT differing();
RESET work_mem;
DROP FOREIGN TABLE watched_rows, few_rows, scribbled_rows, spots, odd;
DROP FUNCTION run_in_a_block, differing;
DROP DOMAIN watched_int, few;
DROP FUNCTION is_ours, is_few;
DROP TABLE spot, elsewhere.spot;
DROP SCHEMA elsewhere;
DROP ROLE regress_definer;
