-- What is said of connections, beside what postgres_fdw says of its own in the same situation.
SET client_min_messages = error;
CREATE ROLE regress_tollfree_seen;
GRANT regress_tollfree_seen TO CURRENT_USER;
DO $$
BEGIN
	FOR i IN 1..4 LOOP
		EXECUTE format('CREATE SERVER ours_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', i, server_options());
		EXECUTE format('CREATE SERVER stock_%s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', i, server_options());
	END LOOP;
END
$$;
CREATE VIEW remote.one AS SELECT 1 AS one, pg_backend_pid() AS pid;
DO $$
DECLARE
	kind text;
BEGIN
	FOREACH kind IN ARRAY '{ours, stock}'::text[] LOOP
		FOR i IN 1..4 LOOP
			EXECUTE format('CREATE FOREIGN TABLE %s_one_%s (one int, pid int) SERVER %1$s_%2$s OPTIONS (schema_name ''remote'', table_name ''one'')', kind, i);
			EXECUTE format('CREATE USER MAPPING FOR %s SERVER %s_%s OPTIONS (password_required ''false'')',
						   CASE i WHEN 2 THEN 'PUBLIC' ELSE 'CURRENT_USER' END, kind, i);
		END LOOP;
		EXECUTE format('CREATE USER MAPPING FOR regress_tollfree_seen SERVER %s_1 OPTIONS (user %L, password_required ''false'')', kind, current_user);
		EXECUTE format('GRANT SELECT ON %s_one_1 TO regress_tollfree_seen', kind);
	END LOOP;
END
$$;

-- what stock's declaration has ours has, too, in the same order
CREATE VIEW columns AS
SELECT p.proname LIKE 'tollfree%' AS ours, a.mode, a.name, a.type::regtype, a.place
FROM pg_proc p, unnest(p.proallargtypes, p.proargnames, p.proargmodes) WITH ORDINALITY a(type, name, mode, place)
WHERE p.proname IN ('postgres_fdw_get_connections', 'tollfree_postgres_fdw_get_connections');
SELECT mode, name, type FROM columns WHERE ours ORDER BY place;
SELECT count(*) FILTER (WHERE o.name IS NULL) AS missing, array_agg(o.place ORDER BY o.place) = array_agg(o.place ORDER BY s.place) AS same_order
FROM columns s LEFT JOIN columns o ON o.ours AND (s.mode, s.name, s.type) = (o.mode, o.name, o.type) WHERE NOT s.ours;
SELECT count(*) FROM pg_proc WHERE proname = 'tollfree_postgres_fdw_get_connections';

-- What a query of stock's function finds, or the same with one name changed. Of a server's name it
-- says the number, and nothing of the remote process, which each wrapper has its own of.
CREATE FUNCTION seen(kind text, argument text, columns text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	script text = format('SELECT %s FROM postgres_fdw_get_connections(%s) c', columns, argument);
BEGIN
	IF kind = 'ours' THEN
		script = replace(script, 'postgres_fdw_get_connections', 'tollfree_postgres_fdw_get_connections');
	END IF;
	RETURN QUERY EXECUTE format(
		'SELECT (to_jsonb(s) - ''remote_backend_pid''
				 || jsonb_build_object(''server_name'', substr(server_name, length(%L) + 2)))::text
		 FROM (%s) s
		 WHERE server_name IS NULL OR starts_with(server_name, %1$L) ORDER BY 1', kind, script);
END
$$;

-- Compares all that stock's function of this major says, and shows what ours does.
CREATE FUNCTION compared(what text, closing bool = true) RETURNS TABLE (situation text, same bool, ours text)
LANGUAGE plpgsql
AS $$
DECLARE
	is_old bool = current_setting('server_version_num')::int < 180000;
	columns text = CASE WHEN is_old THEN 'server_name, valid'
		ELSE 'server_name, user_name, valid, used_in_xact, closed, remote_backend_pid' END;
	arguments text[] = CASE WHEN is_old THEN '{""}' ELSE '{"", false, true, check_conn => true, "null"}'::text[] END;
	argument text;
	is_same bool = true;
BEGIN
	FOREACH argument IN ARRAY arguments LOOP
		is_same = is_same AND ARRAY(SELECT seen('ours', argument, columns)) = ARRAY(SELECT seen('stock', argument, columns));
	END LOOP;
	RETURN QUERY SELECT what, is_same, replace(s, current_user, 'me')
	FROM seen('ours', closing::text, 'server_name, user_name, valid, used_in_xact, closed, remote_backend_pid') s;
END
$$;

SELECT tollfree_postgres_fdw_disconnect_all() IS NULL, postgres_fdw_disconnect_all() IS NULL;
SELECT * FROM compared('none');
SELECT count(*) FROM (SELECT one FROM ours_one_1 UNION ALL SELECT one FROM stock_one_1
					  UNION ALL SELECT one FROM ours_one_2 UNION ALL SELECT one FROM stock_one_2) s;
SET ROLE regress_tollfree_seen;
SELECT o.one FROM ours_one_1 o, stock_one_1;
RESET ROLE;
SELECT * FROM compared('idle');
SELECT * FROM compared('not looked at', false) LIMIT 1;
BEGIN;
SELECT o.one FROM ours_one_1 o, stock_one_1;
SAVEPOINT s;
SELECT o.one FROM ours_one_2 o, stock_one_2;
SELECT * FROM compared('in a savepoint');
ROLLBACK TO s;
SELECT * FROM compared('rolled back');
ALTER SERVER ours_1 OPTIONS (ADD application_name 'other');
ALTER SERVER stock_1 OPTIONS (ADD application_name 'other');
SELECT * FROM compared('altered');
COMMIT;
SELECT * FROM compared('committed');
BEGIN;
SELECT o.one FROM ours_one_2 o, stock_one_2;
SELECT o.one FROM ours_one_3 o, stock_one_3;
DROP USER MAPPING FOR PUBLIC SERVER ours_2;
DROP USER MAPPING FOR PUBLIC SERVER stock_2;
SELECT * FROM compared('mapping dropped');
DROP SERVER ours_3 CASCADE;
DROP SERVER stock_3 CASCADE;
SELECT * FROM compared('server dropped');
SELECT tollfree_postgres_fdw_disconnect_all(), postgres_fdw_disconnect_all();
ROLLBACK;
SELECT * FROM compared('restored');
SELECT o.pid AS ours_pid, s.pid AS stock_pid FROM ours_one_4 o, stock_one_4 s \gset
SELECT pg_terminate_backend(:ours_pid, 10000), pg_terminate_backend(:stock_pid, 10000);
SELECT * FROM compared('ended while idle');
SELECT * FROM compared('not looked at', false);
BEGIN;
SELECT o.pid AS ours_pid, s.pid AS stock_pid FROM ours_one_4 o, stock_one_4 s \gset
SELECT * FROM compared('replaced');
SELECT remote_backend_pid = :ours_pid AS is_it FROM tollfree_postgres_fdw_get_connections();
SELECT pg_terminate_backend(:ours_pid, 10000), pg_terminate_backend(:stock_pid, 10000);
SELECT * FROM compared('ended in a transaction');
ROLLBACK;
SELECT * FROM compared('noticed');

DROP FUNCTION compared, seen;
DROP VIEW columns;
DROP SERVER ours_1 CASCADE;
DROP SERVER ours_2 CASCADE;
DROP SERVER ours_3 CASCADE;
DROP SERVER ours_4 CASCADE;
DROP SERVER stock_1 CASCADE;
DROP SERVER stock_2 CASCADE;
DROP SERVER stock_3 CASCADE;
DROP SERVER stock_4 CASCADE;
DROP VIEW remote.one;
DROP ROLE regress_tollfree_seen;
