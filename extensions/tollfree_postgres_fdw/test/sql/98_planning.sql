-- Planning estimates each condition as often as postgres_fdw does: an operator's estimator may run a user's function.
DO $$
BEGIN
	EXECUTE format('CREATE SERVER stock_planned FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
	CREATE USER MAPPING FOR PUBLIC SERVER stock_planned OPTIONS (password_required 'false');
END
$$;
CREATE TABLE remote.judged AS SELECT i / 10 AS a, i AS b FROM generate_series(1, 100) i;
CREATE FOREIGN TABLE judged (a int, b int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE SCHEMA stock_planning;
CREATE FOREIGN TABLE stock_planning.judged (a int, b int) SERVER stock_planned OPTIONS (schema_name 'remote');
CREATE TABLE pieces (a int, b int) PARTITION BY LIST (b);
CREATE FOREIGN TABLE pieces_0 PARTITION OF pieces DEFAULT SERVER loopback OPTIONS (schema_name 'remote', table_name 'judged');
CREATE TABLE stock_planning.pieces (a int, b int) PARTITION BY LIST (b);
CREATE FOREIGN TABLE stock_planning.pieces_0 PARTITION OF stock_planning.pieces DEFAULT SERVER stock_planned
	OPTIONS (schema_name 'remote', table_name 'judged');
ANALYZE judged, stock_planning.judged, pieces_0, stock_planning.pieces_0;
CREATE FUNCTION counted_less(int, int) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('planning.calls', (current_setting('planning.calls')::int + 1)::text, false);
	RETURN $1 < $2;
END
$$;
CREATE OPERATOR <<< (PROCEDURE = counted_less, LEFTARG = int, RIGHTARG = int, RESTRICT = scalarltsel);
-- how often a query's conditions are estimated, beside postgres_fdw
CREATE FUNCTION calls(query text) RETURNS int
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('planning.calls', '0', false);
	EXECUTE 'EXPLAIN ' || query;
	RETURN current_setting('planning.calls')::int;
END
$$;
CREATE FUNCTION compare_calls(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	ours int := calls(query);
	stock int;
BEGIN
	SET LOCAL search_path = stock_planning, public;
	stock := calls(query);
	RESET search_path;
	RETURN CASE WHEN ours = stock AND stock > 0 THEN 'as often' ELSE ours || ' but ' || stock END;
END
$$;
\set QUIET off
SELECT compare_calls(query), query
FROM unnest(ARRAY['SELECT * FROM judged WHERE a <<< 1000',
				  'SELECT * FROM judged WHERE a <<< 1000 AND b <<< 50 AND b > 3 ORDER BY b',
				  'SELECT * FROM judged WHERE a <<< 1000 LIMIT 1',
				  'SELECT count(*) FROM judged WHERE a <<< 1000',
				  'SELECT * FROM judged x JOIN judged y USING (b) WHERE x.a <<< 1000',
				  'SELECT * FROM pieces WHERE a <<< 1000 ORDER BY a LIMIT 3',
				  'UPDATE judged SET b = 0 WHERE a <<< 1000',
				  'DELETE FROM judged WHERE a <<< 1000']) query;
\set QUIET on
-- What options say is kept, until they change: of a table, and of its server.
CREATE FUNCTION methods() RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM judged' LOOP
		IF line LIKE '%Fetch Method%' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END
$$;
\set QUIET off
SELECT methods();
ALTER FOREIGN TABLE judged OPTIONS (ADD direct_results 'false');
SELECT methods();
ALTER FOREIGN TABLE judged OPTIONS (DROP direct_results);
SELECT methods();
ALTER SERVER loopback OPTIONS (ADD compatibility 'stock');
SELECT methods();
ALTER SERVER loopback OPTIONS (DROP compatibility);
BEGIN;
ALTER FOREIGN TABLE judged OPTIONS (ADD direct_results 'false');
SELECT methods();
ROLLBACK;
SELECT methods();
\set QUIET on
DROP FUNCTION methods, compare_calls, calls;
DROP OPERATOR <<< (int, int);
DROP FUNCTION counted_less;
DROP TABLE pieces, stock_planning.pieces;
DROP FOREIGN TABLE judged;
DROP SERVER stock_planned CASCADE;
DROP SCHEMA stock_planning;
DROP TABLE remote.judged;
