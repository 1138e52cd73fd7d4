-- Casts of texts, which are sent to a server of the same major version.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER casts_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER casts_stock OPTIONS (password_required 'false');
CREATE DOMAIN public.code AS text CHECK (VALUE <> '');
CREATE TABLE remote.spelled (id int PRIMARY KEY, t text, v varchar(20), c char(6), e code, doc jsonb);
INSERT INTO remote.spelled
SELECT i, CASE WHEN i % 7 > 0 THEN ' ' || i % 50 || ' ' END, i % 40 || '.5', i % 30, 'käse ' || i % 60,
	jsonb_build_object('n', i % 20, 'x', i / 8.0, 'b', i % 3 = 0, 'u', md5((i % 20)::text)::uuid,
					   'a', '10.0.0.' || i % 25, 'k', 'ö' || i % 30)
FROM generate_series(1, 1000) i;
ANALYZE remote.spelled;
IMPORT FOREIGN SCHEMA remote LIMIT TO (spelled) FROM SERVER loopback INTO public;
CREATE FOREIGN TABLE stock_spelled (id int, t text, v varchar(20), c char(6), e code, doc jsonb)
	SERVER casts_stock OPTIONS (schema_name 'remote', table_name 'spelled');
ANALYZE spelled, stock_spelled;

-- A condition: the remote command, rows that come, and whether stock and the local table agree.
CREATE FUNCTION read_alike(condition text) RETURNS TABLE (remote_condition text, excess bigint, same bool)
LANGUAGE plpgsql
AS $$
DECLARE
	ids int[];
	others int[];
	locals int[];
BEGIN
	EXECUTE format('SELECT ARRAY(SELECT id FROM spelled WHERE %s ORDER BY id)', condition) INTO ids;
	EXECUTE format('SELECT ARRAY(SELECT id FROM stock_spelled WHERE %s ORDER BY id)', condition) INTO others;
	EXECUTE format('SELECT ARRAY(SELECT id FROM remote.spelled WHERE %s ORDER BY id)', condition) INTO locals;
	remote_condition := regexp_replace(explained(format('SELECT * FROM spelled WHERE %s', condition), 'Remote SQL') #>> '{}',
									   '^.*? FROM remote.spelled', '');
	excess := explained(format('SELECT id FROM spelled WHERE %s', condition), 'Rows Received')::int - cardinality(ids);
	same := ids = others AND ids = locals AND cardinality(ids) > 0;
	RETURN NEXT;
END
$$;
SELECT condition, read_alike.* FROM unnest(ARRAY[
	$$(doc->>'n')::int = 7$$,
	$$(doc->>'n')::int2 IN (7, 8)$$,
	$$(doc->>'n')::bigint > 17$$,
	$$(doc->>'x')::numeric < 3.25$$,
	$$(doc->>'x')::numeric(10, 1) = 3.3$$,
	$$(doc->>'x')::float8 < 3.25$$,
	$$(doc->>'x')::real < 3.25$$,
	$$(doc->>'b')::bool$$,
	$$(doc->>'b')::bool IS NOT TRUE$$,
	$$(doc->>'u')::uuid = md5('7')::uuid$$,
	$$(doc->>'a')::inet <<= '10.0.0.0/29'$$,
	$$t::int = 7$$,
	$$t::int IS NULL$$,
	$$t::int BETWEEN (doc->>'n')::int AND 12$$,
	$$v::numeric > 30$$,
	$$c::int = 7$$,
	$$coalesce(t::int, -1) = -1$$
]) AS condition, read_alike(condition);

-- These stay here: their values depend on settings, or they would be evaluated without a row.
SELECT condition, read_alike.* FROM unnest(ARRAY[
	$$id < 5 AND (date '2024-01-01' + id)::text::date > '2024-01-01'$$,
	$$id < 5 AND (t || ' days')::interval > '0'$$,
	$$id < 5 AND ('{' || t || '}')::int[] <> '{}'$$,
	$$id < 5 AND t::money IS NOT NULL$$,
	$$id < 5 AND ('"' || v || '"')::jsonb <> 'null'$$
]) AS condition, read_alike(condition);

-- Groups, aggregates, and what SET assigns
EXPLAIN (VERBOSE, COSTS OFF) SELECT (doc->>'n')::int, sum((doc->>'x')::numeric), count(*) FILTER (WHERE (doc->>'b')::bool)
FROM spelled GROUP BY 1 HAVING max(t::int) > 3;
SELECT count(*) AS rows, bool_and(ours = stock) AS same FROM
	(SELECT (doc->>'n')::int AS n, to_jsonb(row(sum((doc->>'x')::numeric), count(*) FILTER (WHERE (doc->>'b')::bool))) AS ours
	 FROM spelled GROUP BY 1 HAVING max(t::int) > 3) a
	FULL JOIN
	(SELECT (doc->>'n')::int AS n, to_jsonb(row(sum((doc->>'x')::numeric), count(*) FILTER (WHERE (doc->>'b')::bool))) AS stock
	 FROM stock_spelled GROUP BY 1 HAVING max(t::int) > 3) b USING (n);
EXPLAIN (VERBOSE, COSTS OFF) UPDATE spelled SET id = (doc->>'n')::int WHERE t::int = 3;

-- A text that is no number is an error, there as here.
\set VERBOSITY terse
SELECT count(*) FROM spelled WHERE (doc->>'k')::int = 7;
SELECT count(*) FROM stock_spelled WHERE (doc->>'k')::int = 7;
SELECT count(*) FROM spelled WHERE id < 0 AND current_setting('app.text', true)::int = id;
PREPARE of_text(text) AS SELECT count(*) FROM spelled WHERE id < 0 AND (t::int = $1::int OR id = 3);
SET plan_cache_mode = force_generic_plan;
EXECUTE of_text('none');
EXECUTE of_text('3');
RESET plan_cache_mode;
\set VERBOSITY default

-- Switched off
SET tollfree_postgres_fdw.remote_expressions = off;
EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM spelled WHERE (doc->>'n')::int = 7;
RESET tollfree_postgres_fdw.remote_expressions;

-- Characters of domains and of values of jsonb, which are counted where the encoding is the same
SELECT condition, read_alike.* FROM unnest(ARRAY[
	$$left(e, 6) = 'käse 7'$$,
	$$length(e) = 6$$,
	$$octet_length(doc->>'k') = 3$$,
	$$char_length(doc->>'k') = 2$$,
	$$left(doc->>'k', 2) = 'ö7'$$,
	$$substring(doc->>'k' FROM 2) = '7'$$,
	$$substr(e, 2, 1) = 'ä' AND id < 20$$,
	$$split_part(e, ' ', 2) = '7'$$,
	$$replace(doc->>'k', 'ö', 'o') = 'o7'$$,
	$$position('7' IN doc->>'k') = 2$$,
	$$strpos(e, '7') > 0$$,
	$$md5(doc->>'k') = md5('ö7')$$,
	$$doc->>'k' LIKE '_7'$$,
	$$lpad(doc->>'k', 3, '-') = '-ö7'$$,
	$$left(id::text, 2) = '77'$$,
	$$(split_part(e, ' ', 2))::int = 7$$
]) AS condition, read_alike(condition);
EXPLAIN (VERBOSE, COSTS OFF) SELECT left(doc->>'k', 2), count(*) FROM spelled GROUP BY 1;
-- An order is not sent.
SELECT condition, read_alike.* FROM unnest(ARRAY[$$id < 5 AND left(doc->>'k', 2) > 'a'$$]) AS condition, read_alike(condition);
EXPLAIN (VERBOSE, COSTS OFF) SELECT max(left(doc->>'k', 2)) FROM spelled;

DROP FOREIGN TABLE spelled, stock_spelled;
DROP TABLE remote.spelled;
DROP DOMAIN public.code;
DROP FUNCTION read_alike(text);
DROP SERVER casts_stock CASCADE;
RESET client_min_messages;
