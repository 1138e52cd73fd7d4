-- A server on this very database, and tables on both sides of it.
CREATE FUNCTION server_options() RETURNS text
LANGUAGE sql
RETURN format('dbname %L, host %L, port %L', current_database(),
			  split_part(current_setting('unix_socket_directories'), ',', 1),
			  current_setting('port'));
-- Makes so many servers on this very database, NAME_0 and so on, with further options.
CREATE PROCEDURE make_servers(name text, number int, options text)
LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 0..number - 1 LOOP
		EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, %s)', name || '_' || i, server_options(), options);
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %I OPTIONS (password_required ''false'')', name || '_' || i);
	END LOOP;
END
$$;

DO $$
BEGIN
	EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)',
				   server_options());
	EXECUTE format('CREATE SERVER read_committed FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, remote_isolation ''read committed'')',
				   server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER read_committed OPTIONS (password_required 'false');

CREATE SCHEMA remote;
CREATE TABLE remote.items (
	id int PRIMARY KEY,
	name text,
	made timestamptz,
	price numeric
);
INSERT INTO remote.items
SELECT i, 'item ' || i, '2020-01-01 00:00+00'::timestamptz + i * interval '1 hour', i / 4.0
FROM generate_series(1, 1000) i;
ANALYZE remote.items;

CREATE FOREIGN TABLE items (
	id int NOT NULL,
	label text OPTIONS (column_name 'name'),
	made timestamptz,
	price numeric
) SERVER loopback OPTIONS (schema_name 'remote', table_name 'items');

ANALYZE items;

-- Drops this session's prepared statements whose texts are like the argument.
CREATE FUNCTION remote.forget() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
	kept text;
BEGIN
	FOR kept IN SELECT name FROM pg_prepared_statements WHERE statement LIKE TG_ARGV[0] LOOP
		EXECUTE format('DEALLOCATE %I', kept);
	END LOOP;
	RETURN NEW;
END
$$;

-- A property of a plan, as EXPLAIN says it first; the query is executed.
CREATE FUNCTION explained(query text, property text, options text = 'ANALYZE, VERBOSE') RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (%s, FORMAT JSON) %s', options, query) INTO plan;
	RETURN jsonb_path_query_first(plan, format('strict $.**.%I', property)::jsonpath);
END
$$;

-- A plan, without the names of its subplans, which are numbers before 19.
CREATE FUNCTION shown_plan(query text, options text = 'COSTS OFF') RETURNS TABLE ("QUERY PLAN" text)
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		"QUERY PLAN" = regexp_replace(line, 'SubPlan \w+', 'SubPlan', 'g');
		RETURN NEXT;
	END LOOP;
END
$$;

-- How many round trips were waited for since the last call; the first connects.
CREATE FUNCTION round_trips_since(before int8, server text = 'loopback') RETURNS int8
LANGUAGE sql
RETURN (SELECT round_trips - before
		FROM tollfree_postgres_fdw_get_connections()
		WHERE server_name = server);
SELECT count(*) FROM items WHERE id = 1;
SELECT server_name, valid, used_in_xact, round_trips
FROM tollfree_postgres_fdw_get_connections();
