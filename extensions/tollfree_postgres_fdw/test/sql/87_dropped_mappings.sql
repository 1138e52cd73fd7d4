-- What a session keeps of user mappings does not grow with those that have been dropped.
DO $$
BEGIN
	EXECUTE format('CREATE SERVER passing FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE FOREIGN TABLE passing_items (id int) SERVER passing OPTIONS (schema_name 'remote', table_name 'items');
CREATE FUNCTION kept(OUT sessions bigint, OUT bytes numeric)
LANGUAGE sql
RETURN (SELECT (count(*) FILTER (WHERE name = 'tollfree_postgres_fdw flight'), sum(total_bytes))
		FROM pg_backend_memory_contexts
		WHERE name LIKE 'tollfree%' OR name = 'TopMemoryContext');
CREATE PROCEDURE use_mappings(times int)
LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..times LOOP
		CREATE USER MAPPING FOR CURRENT_USER SERVER passing OPTIONS (password_required 'false');
		PERFORM count(*) FROM passing_items;
		COMMIT;
		DROP USER MAPPING FOR CURRENT_USER SERVER passing;
		COMMIT;
	END LOOP;
END
$$;
SELECT count(*) FROM items;
CALL use_mappings(10);
SELECT sessions AS before, bytes AS bytes_before FROM kept() \gset
CALL use_mappings(200);
SELECT sessions - :before AS more_sessions, bytes - :bytes_before < 10000 AS no_more_bytes FROM kept();

-- one that is in use stays to the end, and what is counted for others, too
CREATE USER MAPPING FOR CURRENT_USER SERVER passing OPTIONS (password_required 'false');
BEGIN;
SELECT count(*) FROM passing_items;
DROP USER MAPPING FOR CURRENT_USER SERVER passing;
CREATE USER MAPPING FOR CURRENT_USER SERVER passing OPTIONS (password_required 'false');
SELECT count(*) FROM passing_items;
SELECT server_name, valid FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'passing' ORDER BY valid;
COMMIT;
SELECT count(*) FROM passing_items;
SELECT server_name, valid FROM tollfree_postgres_fdw_get_connections() WHERE server_name = 'passing';
SELECT count(*) FROM tollfree_postgres_fdw_statistics() WHERE server_name = 'loopback';

-- one whose drop is rolled back
BEGIN;
DROP USER MAPPING FOR CURRENT_USER SERVER passing;
SELECT count(*) FROM items;
ROLLBACK;
SELECT count(*) FROM passing_items;
DROP PROCEDURE use_mappings;
DROP FUNCTION kept;
DROP SERVER passing CASCADE;
