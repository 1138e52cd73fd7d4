-- The owner's word that both databases have the same collations
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
SELECT current_database() AS home \gset
CREATE DATABASE regress_icu TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C';
DO $$
BEGIN
	EXECUTE format('CREATE SERVER same_here FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
	EXECUTE format('CREATE SERVER other_there FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)',
				   replace(server_options(), quote_literal(current_database()), '''regress_icu'''));
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER same_here OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER other_there OPTIONS (password_required 'false');
CREATE TABLE remote.words (id int PRIMARY KEY, w text, c text COLLATE "C", doc jsonb);
INSERT INTO remote.words SELECT i, (ARRAY['a', 'B', 'b', 'Z', 'é'])[i % 5 + 1], 'c' || i % 3,
	jsonb_build_object('k', (ARRAY['a', 'B', 'b', 'Z', 'É'])[i % 5 + 1]) FROM generate_series(1, 500) i;
ANALYZE remote.words;
CREATE FOREIGN TABLE words (id int, w text, c text COLLATE "C", doc jsonb) SERVER same_here OPTIONS (schema_name 'remote');
ANALYZE words;
\connect regress_icu
CREATE TABLE words AS SELECT i AS id, (ARRAY['a', 'B', 'b', 'Z', 'é'])[i % 5 + 1] AS w, 'c' || i % 3 AS c,
	jsonb_build_object('k', (ARRAY['a', 'B', 'b', 'Z', 'É'])[i % 5 + 1]) AS doc FROM generate_series(1, 500) i;
ANALYZE words;
\connect :home
SET client_min_messages = warning;
CREATE FOREIGN TABLE other_words (id int, w text, c text COLLATE "C", doc jsonb) SERVER other_there OPTIONS (schema_name 'public', table_name 'words');
ANALYZE other_words;

-- What the function says
SELECT split_part(local, ', version', 1) AS local, local = remote AS alike, same
FROM tollfree_postgres_fdw_compare_collations('same_here');
SELECT split_part(remote, ', version', 1) AS remote, local = remote AS alike, same
FROM tollfree_postgres_fdw_compare_collations('other_there');
CREATE ROLE collations_user;
SET ROLE collations_user;
SELECT same FROM tollfree_postgres_fdw_compare_collations('same_here');
RESET ROLE;
DROP ROLE collations_user;

-- Values of the option
ALTER SERVER same_here OPTIONS (collations 'equal');
ALTER FOREIGN TABLE words OPTIONS (ADD collations 'same');
ALTER SERVER same_here OPTIONS (collation 'same');

-- Rows that come and are not needed, and whether the answer is that of the local table
CREATE FUNCTION travelling(condition text, "table" text = 'words') RETURNS TABLE (excess bigint, same bool)
LANGUAGE plpgsql
AS $$
DECLARE
	ids int[];
	locals int[];
BEGIN
	EXECUTE format('SELECT ARRAY(SELECT id FROM %I WHERE %s ORDER BY id)', "table", condition) INTO ids;
	EXECUTE format('SELECT ARRAY(SELECT id FROM remote.words WHERE %s ORDER BY id)', condition) INTO locals;
	excess := explained(format('SELECT id FROM %I WHERE %s', "table", condition), 'Rows Received')::int - cardinality(ids);
	same := ids = locals;
	RETURN NEXT;
END
$$;
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES
	($$doc->>'k' < 'b'$$),
	($$lower(doc->>'k') = 'b'$$),
	($$upper(doc->>'k') > initcap('z')$$),
	($$doc->>'k' ILIKE 'B%'$$),
	($$doc->>'k' ~ '^[[:upper:]]'$$),
	($$w > current_setting('app.word')$$),
	($$coalesce(w, '') < 'b'$$),
	($$greatest(w, doc->>'k', 'x') = 'x'$$),
	($$(w, id) > ('a', 400)$$),
	($$w || (doc->>'k') < 'bb'$$),
	($$doc->>'k' LIKE '_'$$);
SET app.word = 'Z';
SELECT condition, t.* FROM conditions, travelling(condition) t;
ALTER SERVER same_here OPTIONS (ADD collations 'same');
SELECT condition, t.* FROM conditions, travelling(condition) t;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM words WHERE lower(doc->>'k') = 'b' AND greatest(w, c) < 'x';
-- A collation that is not the default one stays here.
SELECT condition, t.* FROM unnest(ARRAY[
	$$lower(c) || (doc->>'k') < 'c1'$$,
	$$doc->>'k' < 'b' COLLATE "C"$$,
	$$doc->'k' < '"b"'$$
]) AS condition, travelling(condition) t;
-- A condition that postgres_fdw sends does not wait for the answer when it is planned.
SELECT tollfree_postgres_fdw_disconnect_all();
EXPLAIN (COSTS OFF) SELECT id FROM words WHERE w < 'b';
SELECT count(*) FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'same_here';
-- Groups and orders above a condition in another form
EXPLAIN (COSTS OFF) SELECT max(w), count(*) FROM words WHERE coalesce(id, 1) > 3;
EXPLAIN (COSTS OFF) SELECT w, count(*) FROM words WHERE coalesce(id, 1) > 3 GROUP BY 1 ORDER BY 1;

-- A plan that relies on it is not executed where it is true no longer.
ALTER SERVER same_here OPTIONS (SET dbname 'regress_same');
CREATE DATABASE regress_same TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C';
\connect regress_same
CREATE SCHEMA remote;
CREATE TABLE remote.words AS SELECT i AS id, '' AS w, '' AS c, '{"k": "b"}'::jsonb AS doc FROM generate_series(1, 10) i;
\connect regress_icu
CREATE SCHEMA remote;
CREATE VIEW remote.words AS SELECT * FROM public.words;
\connect :home
SET client_min_messages = warning;
SET plan_cache_mode = force_generic_plan;
PREPARE of_case AS SELECT count(*) FROM words WHERE upper(doc->>'k') = 'B';
EXECUTE of_case;
SELECT tollfree_postgres_fdw_disconnect_all();
EXECUTE of_case;
SELECT tollfree_postgres_fdw_disconnect_all();
DROP DATABASE regress_same;
ALTER DATABASE regress_icu RENAME TO regress_same;
EXECUTE of_case;
\set VERBOSITY terse
EXECUTE of_case;
\set VERBOSITY default
DEALLOCATE of_case;
RESET plan_cache_mode;
SELECT tollfree_postgres_fdw_disconnect_all();
ALTER DATABASE regress_same RENAME TO regress_icu;

-- A word that is not true: one warning for a connection, and the local answer
ALTER SERVER other_there OPTIONS (ADD collations 'same');
\set VERBOSITY terse
SELECT condition, t.* FROM conditions, travelling(condition, 'other_words') t WHERE condition LIKE 'doc%' OR condition LIKE 'upper%';
EXPLAIN (COSTS OFF) SELECT max(w), count(*) FROM other_words WHERE coalesce(id, 1) > 3;
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT count(*) FROM other_words WHERE doc->>'k' < 'b';
\set VERBOSITY default
-- Nothing is asked, and nobody warned, where nothing depends on the answer.
SELECT tollfree_postgres_fdw_disconnect_all();
SELECT count(*) FROM other_words WHERE id < 3;
ALTER SERVER other_there OPTIONS (ADD compatibility 'stock');
SELECT count(*) FROM other_words WHERE doc->>'k' < 'b';

SELECT tollfree_postgres_fdw_disconnect_all();
DROP FUNCTION travelling;
DROP TABLE conditions;
DROP SERVER same_here, other_there CASCADE;
DROP TABLE remote.words;
DROP DATABASE regress_icu;
RESET app.word;
RESET client_min_messages;
