-- Moving a server between postgres_fdw and this wrapper.
DO $$
BEGIN
	EXECUTE format('CREATE SERVER moved FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)',
				   server_options());
END
$$;
CREATE USER MAPPING FOR CURRENT_USER SERVER moved;
CREATE FOREIGN TABLE moved_items (id int, name text) SERVER moved
	OPTIONS (schema_name 'remote', table_name 'items');
CREATE FUNCTION shown_state() RETURNS TABLE (wrapper name, depends_on name, ours int8)
LANGUAGE sql
AS $$
	SELECT w.fdwname, d.fdwname,
		   (SELECT count(*) FROM tollfree_postgres_fdw_get_connections() c WHERE c.server_name = s.srvname)
	FROM pg_foreign_server s
		JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
		JOIN pg_depend p ON p.classid = 'pg_foreign_server'::regclass AND p.objid = s.oid
			AND p.refclassid = 'pg_foreign_data_wrapper'::regclass
		JOIN pg_foreign_data_wrapper d ON d.oid = p.refobjid
	WHERE s.srvname = 'moved'
$$;
PREPARE item AS SELECT name FROM moved_items WHERE id = 8;
EXECUTE item;
SELECT * FROM shown_state();
SELECT tollfree_postgres_fdw_adopt('moved');
EXECUTE item;
SELECT * FROM shown_state();
SELECT tollfree_postgres_fdw_adopt('moved');
ALTER SERVER moved OPTIONS (ADD remote_isolation 'read committed');
SELECT tollfree_postgres_fdw_release('moved');
ALTER SERVER moved OPTIONS (DROP remote_isolation);
ALTER FOREIGN TABLE moved_items OPTIONS (ADD insert_arrays 'true');
SELECT tollfree_postgres_fdw_release('moved');
ALTER FOREIGN TABLE moved_items OPTIONS (DROP insert_arrays);
SELECT tollfree_postgres_fdw_release('moved');
EXECUTE item;
SELECT * FROM shown_state();
BEGIN;
SELECT tollfree_postgres_fdw_adopt('moved');
ROLLBACK;
SET default_transaction_read_only = on;
SELECT tollfree_postgres_fdw_adopt('moved');
SELECT tollfree_postgres_fdw_release('moved');
RESET default_transaction_read_only;
CREATE ROLE regress_tollfree_user;
SET ROLE regress_tollfree_user;
SELECT tollfree_postgres_fdw_adopt('moved');
RESET ROLE;
DROP ROLE regress_tollfree_user;
SELECT tollfree_postgres_fdw_adopt('nowhere');
DROP SERVER moved CASCADE;

-- not after its tables were used by the same query
DO $$
BEGIN
	EXECUTE format('CREATE SERVER moved FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER moved OPTIONS (password_required 'false');
CREATE FOREIGN TABLE moved_items (id int, name text) SERVER moved
	OPTIONS (schema_name 'remote', table_name 'items');
DO $$
BEGIN
	UPDATE moved_items SET name = name WHERE id = 1;
	PERFORM tollfree_postgres_fdw_adopt('moved');
	UPDATE moved_items SET name = name WHERE id = 1;
END
$$;
CREATE TABLE remote.emptied (n int);
CREATE FOREIGN TABLE moved_emptied (n int) SERVER moved
	OPTIONS (schema_name 'remote', table_name 'emptied');
DO $$
BEGIN
	TRUNCATE moved_emptied;
	PERFORM tollfree_postgres_fdw_adopt('moved');
	INSERT INTO moved_emptied VALUES (1);
END
$$;
DO $$
BEGIN
	TRUNCATE moved_emptied;
	DROP FOREIGN TABLE moved_emptied;
	PERFORM tollfree_postgres_fdw_adopt('moved');
	UPDATE moved_items SET name = name WHERE id = 1;
END
$$;
SELECT tollfree_postgres_fdw_adopt('moved');
UPDATE moved_items SET name = name WHERE id = 1;
DROP SERVER moved CASCADE;
