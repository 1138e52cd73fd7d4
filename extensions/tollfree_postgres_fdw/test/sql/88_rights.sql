-- Who may do what, and that a connection, a statement, what is remembered and a result are those of the user.
-- What is of no superuser's is compared with postgres_fdw.

SET statement_timeout = '60s';
LOAD 'tollfree_postgres_fdw';

-- functions: none runs as its owner, and all but one are everybody's
SELECT p.proname, p.prosecdef AS as_owner, has_function_privilege('public', p.oid, 'EXECUTE') AS everybody,
	'internal'::regtype = ANY (p.proargtypes::oid[]) AS from_c_only
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tollfree_postgres_fdw'
ORDER BY p.proname COLLATE "C";
SELECT has_foreign_data_wrapper_privilege('public', 'tollfree_postgres_fdw', 'USAGE') AS everybody;
-- settings that not everybody may change
SELECT name, context FROM pg_settings WHERE name LIKE 'tollfree\_postgres\_fdw.%' AND context <> 'user' ORDER BY name COLLATE "C";

CREATE ROLE regress_tollfree_one;
CREATE ROLE regress_tollfree_two;
CREATE ROLE regress_tollfree_far_one LOGIN;
CREATE ROLE regress_tollfree_far_two LOGIN;
CREATE TABLE remote.secured (id int PRIMARY KEY, owner name, v int);
INSERT INTO remote.secured SELECT i, 'regress_tollfree_far_' || CASE i % 2 WHEN 0 THEN 'two' ELSE 'one' END, i FROM generate_series(1, 1000) i;
ALTER TABLE remote.secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON remote.secured USING (owner = current_user);
GRANT ALL ON remote.secured TO regress_tollfree_far_one, regress_tollfree_far_two;
GRANT USAGE ON SCHEMA remote TO PUBLIC;
CREATE TABLE keys AS SELECT i AS k FROM generate_series(1, 200) i;
GRANT SELECT ON keys TO PUBLIC;
ANALYZE remote.secured, keys;
DO $$
DECLARE
	side text;
BEGIN
	FOREACH side IN ARRAY '{tollfree_postgres_fdw, postgres_fdw}'::text[] LOOP
		EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER %I OPTIONS (%s)', 'of_' || side, side, server_options());
		EXECUTE format('CREATE SCHEMA %I', 'of_' || side);
		EXECUTE format('CREATE FOREIGN TABLE %I.secured (id int, owner name, v int) SERVER %I OPTIONS (schema_name ''remote'')',
					   'of_' || side, 'of_' || side);
		EXECUTE format('CREATE USER MAPPING FOR regress_tollfree_one SERVER %I OPTIONS (user ''regress_tollfree_far_one'', password_required ''false'')', 'of_' || side);
		EXECUTE format('CREATE USER MAPPING FOR regress_tollfree_two SERVER %I OPTIONS (user ''regress_tollfree_far_two'', password_required ''false'')', 'of_' || side);
		EXECUTE format('GRANT USAGE ON SCHEMA %I TO PUBLIC', 'of_' || side);
		EXECUTE format('GRANT ALL ON %I.secured TO regress_tollfree_one, regress_tollfree_two', 'of_' || side);
	END LOOP;
END
$$;
-- What queries see, as each role in turn in one session, and by one plan, and through both wrappers.
CREATE FUNCTION rights_seen(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	result text;
BEGIN
	EXECUTE query INTO result;
	-- rolled back: the same rows are then modified through the other wrapper
	RAISE EXCEPTION USING ERRCODE = 'TF000', MESSAGE = coalesce(result, 'null');
EXCEPTION WHEN OTHERS THEN
	RETURN CASE sqlstate WHEN 'TF000' THEN sqlerrm ELSE 'ERROR ' || sqlstate END;
END
$$;
CREATE PROCEDURE compare_rights(query text)
LANGUAGE plpgsql
AS $$
DECLARE
	role text;
	expected text;
	found text;
BEGIN
	-- the plan of the first role is that of the second one, too
	FOR i IN 1..2 LOOP
		FOREACH role IN ARRAY '{regress_tollfree_one, regress_tollfree_two}'::text[] LOOP
			EXECUTE format('SET LOCAL ROLE %I', role);
			SET LOCAL search_path = of_postgres_fdw, public;
			expected := rights_seen(query);
			SET LOCAL search_path = of_tollfree_postgres_fdw, public;
			found := rights_seen(query);
			RESET ROLE;
			IF expected IS DISTINCT FROM found THEN
				RAISE NOTICE 'DIFFERENT, %: % and %', role, expected, found;
			ELSIF i = 2 THEN
				RAISE NOTICE '%: %', role, found;
			END IF;
		END LOOP;
	END LOOP;
END
$$;
CALL compare_rights('SELECT count(*) || '' '' || min(owner) || '' '' || max(owner) FROM secured');
CALL compare_rights('SELECT owner FROM secured WHERE id = 7');
CALL compare_rights('SELECT count(owner) || '' '' || min(owner) FROM keys JOIN secured ON id = k');
CALL compare_rights('SELECT count(o) || '' '' || max(o) FROM (SELECT (SELECT owner FROM secured WHERE id = k) AS o FROM keys) q');
CALL compare_rights('SELECT owner FROM (SELECT owner, v FROM secured ORDER BY id LIMIT 1) q');
CALL compare_rights('UPDATE secured SET v = 0 WHERE id IN (7, 8) RETURNING owner');
CALL compare_rights('DELETE FROM secured WHERE id = 9 AND v < 0 RETURNING owner');
CALL compare_rights('INSERT INTO secured VALUES (0, ''regress_tollfree_far_one'', 1) RETURNING owner');
CALL compare_rights('DELETE FROM secured WHERE id = 0 RETURNING owner');

-- prepared statements, remote and local: of one plan, and executed by each in turn
SET search_path = of_tollfree_postgres_fdw, public;
PREPARE owner_of(int) AS SELECT owner FROM secured WHERE id = $1;
SET plan_cache_mode = force_generic_plan;
SET ROLE regress_tollfree_one;
EXECUTE owner_of(1);
EXECUTE owner_of(1);
EXECUTE owner_of(2);
SET ROLE regress_tollfree_two;
EXECUTE owner_of(1);
EXECUTE owner_of(2);
RESET ROLE;
\set VERBOSITY sqlstate
EXECUTE owner_of(2);
\set VERBOSITY default
RESET plan_cache_mode;

-- views: whose rights count
CREATE VIEW as_owner AS SELECT * FROM secured;
CREATE VIEW as_invoker WITH (security_invoker) AS SELECT * FROM secured;
ALTER VIEW as_owner OWNER TO regress_tollfree_two;
ALTER VIEW as_invoker OWNER TO regress_tollfree_two;
GRANT SELECT ON as_owner, as_invoker TO regress_tollfree_one;
SET ROLE regress_tollfree_one;
SELECT min(owner), max(owner) FROM as_owner;
SELECT min(owner), max(owner) FROM as_invoker;
SELECT min(owner), max(owner) FROM keys JOIN as_owner ON id = k;
SELECT min(owner), max(owner) FROM keys JOIN as_invoker ON id = k;
-- two owners' tables of one server are not joined there
SELECT count(*) FROM as_owner JOIN as_invoker USING (id);
RESET ROLE;
CREATE FUNCTION as_definer() RETURNS name LANGUAGE sql SECURITY DEFINER
SET search_path = of_tollfree_postgres_fdw, pg_temp
AS 'SELECT min(owner) FROM secured';
ALTER FUNCTION as_definer() OWNER TO regress_tollfree_two;
SET ROLE regress_tollfree_one;
SELECT as_definer(), min(owner) FROM secured;

-- what a user without rights gets
SET ROLE regress_tollfree_one;
SELECT tollfree_postgres_fdw_reset_statistics();
SELECT tollfree_postgres_fdw_release('of_tollfree_postgres_fdw');
SELECT tollfree_postgres_fdw_adopt('of_postgres_fdw');
SELECT same FROM tollfree_postgres_fdw_compare_collations('of_tollfree_postgres_fdw');
\set VERBOSITY sqlstate
SELECT tollfree_postgres_fdw_connection(0, 0, NULL);
\set VERBOSITY default
SET tollfree_postgres_fdw.cleanup_timeout = 1;
-- the options of mappings, passwords among them, are their owners' alone
SELECT srvname, usename, umoptions FROM pg_user_mappings WHERE srvname LIKE 'of\_%' ORDER BY srvname COLLATE "C", usename COLLATE "C";
-- the owner of a server needs USAGE on the wrapper, too
RESET ROLE;
ALTER SERVER of_tollfree_postgres_fdw OWNER TO regress_tollfree_one;
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO regress_tollfree_one;
ALTER SERVER of_postgres_fdw OWNER TO regress_tollfree_one;
SET ROLE regress_tollfree_one;
SELECT tollfree_postgres_fdw_adopt('of_postgres_fdw');
RESET ROLE;

RESET search_path;

-- Rows that row security, or a view, hides here: what could tell of them does not see them. What
-- postgres_fdw sends regardless is sent, and fails: 6 / (id - 3) for row security.
CREATE FUNCTION public.is_shown(x int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x <> 3; END';
CREATE FUNCTION public.snoop(x int) RETURNS bool STABLE COST 0.000001 LANGUAGE plpgsql
AS 'BEGIN IF x = 3 THEN RAISE EXCEPTION ''leak''; END IF; RETURN true; END';
CREATE TABLE remote.part (id int PRIMARY KEY, region int, v int);
INSERT INTO remote.part SELECT i, 1, i FROM generate_series(1, 100) i;
GRANT SELECT ON remote.part TO PUBLIC;
ANALYZE remote.part;
DO $$
DECLARE
	side text;
BEGIN
	FOREACH side IN ARRAY '{of_tollfree_postgres_fdw, of_postgres_fdw}'::text[] LOOP
		EXECUTE format('SET LOCAL search_path = %I', side);
		CREATE TABLE hiding (id int, region int, v int) PARTITION BY LIST (region);
		EXECUTE format('CREATE FOREIGN TABLE part PARTITION OF hiding FOR VALUES IN (1) SERVER %I OPTIONS (schema_name ''remote'')', side);
		ALTER TABLE hiding ENABLE ROW LEVEL SECURITY;
		CREATE POLICY shown ON hiding USING (public.is_shown(id));
		CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM part WHERE public.is_shown(id);
		CREATE VIEW outer_barrier WITH (security_barrier) AS SELECT * FROM barrier WHERE v < 90;
		GRANT SELECT ON hiding, barrier, outer_barrier TO regress_tollfree_one, regress_tollfree_two;
		ALTER VIEW barrier OWNER TO regress_tollfree_one;
		GRANT SELECT ON part TO regress_tollfree_one, regress_tollfree_two;
	END LOOP;
END
$$;
CREATE PROCEDURE compare_hidden(query text)
LANGUAGE plpgsql
AS $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY '{hiding, barrier, outer_barrier}'::text[] LOOP
		CALL compare_rights(replace(query, 'hiding', name));
	END LOOP;
END
$$;
CALL compare_hidden('SELECT count(*) FROM hiding WHERE snoop(id)');
CALL compare_hidden('SELECT count(*) FROM hiding WHERE id = 3 AND snoop(id)');
CALL compare_hidden('SELECT count(*) FROM hiding WHERE coalesce(6 / (id - 3), 0) >= -6');
CALL compare_hidden('SELECT count(*) FROM hiding WHERE coalesce(6 / (id - 3), 0) >= -6 AND v < extract(year FROM now())');
CALL compare_hidden('SELECT max(coalesce(6 / (id - 3), 0)) FROM hiding');
CALL compare_hidden('SELECT count(*) FROM (SELECT coalesce(6 / (id - 3), 0) FROM hiding GROUP BY 1) q');
CALL compare_hidden('SELECT max(id) FROM (SELECT id FROM hiding ORDER BY coalesce(6 / (id - 3), 0), id LIMIT 5) q');
CALL compare_hidden('SELECT max(id) FROM (SELECT DISTINCT ON (coalesce(6 / (id - 3), 0)) id FROM hiding ORDER BY coalesce(6 / (id - 3), 0), id DESC) q');
CALL compare_hidden('SELECT max(id) FROM (SELECT id, row_number() OVER (PARTITION BY coalesce(6 / (id - 3), 0) ORDER BY v) AS r FROM hiding) q WHERE r = 1');
CALL compare_hidden('SELECT count(*) FROM keys JOIN hiding ON id = k AND snoop(id)');
CALL compare_hidden('SELECT count(*) FROM keys JOIN hiding ON id = k WHERE coalesce(6 / (id - 3), 0) >= -6');
CALL compare_hidden('SELECT count(*) FROM keys JOIN hiding ON id = k AND k < 60 / (id - 3) + 1000');
CALL compare_hidden('SELECT count(v) FROM (SELECT (SELECT v FROM hiding WHERE id = k AND 6 / (id - 3) > -7) AS v FROM keys) q');
CALL compare_hidden('SELECT count(*) FROM keys WHERE EXISTS (SELECT FROM hiding WHERE id = k AND coalesce(6 / (id - 3), 0) >= -6)');
CALL compare_hidden('SELECT count(*) FROM hiding WHERE 6 / (id - 3) > -7');
CALL compare_hidden('SELECT count(*) FROM keys JOIN hiding ON id = k WHERE 6 / (id - 3) > -7');

SET client_min_messages = warning;
DROP SCHEMA of_tollfree_postgres_fdw, of_postgres_fdw CASCADE;
DROP SERVER of_tollfree_postgres_fdw, of_postgres_fdw CASCADE;
DROP TABLE keys, remote.secured, remote.part;
DROP FUNCTION is_shown, snoop, rights_seen;
DROP PROCEDURE compare_rights, compare_hidden;
REVOKE ALL ON FOREIGN DATA WRAPPER postgres_fdw FROM regress_tollfree_one;
SELECT FROM tollfree_postgres_fdw_disconnect_all();
RESET client_min_messages;
RESET statement_timeout;
DROP ROLE regress_tollfree_one, regress_tollfree_two, regress_tollfree_far_one, regress_tollfree_far_two;
