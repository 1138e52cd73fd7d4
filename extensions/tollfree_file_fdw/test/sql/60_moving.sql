-- Moving a server between file_fdw and this wrapper.
\getenv abs_srcdir PG_ABS_SRCDIR
\set plain :abs_srcdir '/data/plain.txt'
CREATE SERVER moved FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE moved_file (id int, name text, amount text, day text) SERVER moved
	OPTIONS (filename :'plain', delimiter '|');
CREATE FUNCTION shown_state() RETURNS TABLE (wrapper name, depends_on name)
LANGUAGE sql
AS $$
	SELECT w.fdwname, d.fdwname
	FROM pg_foreign_server s
		JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
		JOIN pg_depend p ON p.classid = 'pg_foreign_server'::regclass AND p.objid = s.oid
			AND p.refclassid = 'pg_foreign_data_wrapper'::regclass
		JOIN pg_foreign_data_wrapper d ON d.oid = p.refobjid
	WHERE s.srvname = 'moved'
$$;
PREPARE item AS SELECT name FROM moved_file WHERE id = 2;
EXECUTE item;
SELECT * FROM shown_state();
SELECT tollfree_file_fdw_adopt('moved');
EXECUTE item;
SELECT * FROM shown_state();
SELECT tollfree_file_fdw_adopt('moved');
ALTER FOREIGN TABLE moved_file OPTIONS (ADD lazy 'true');
SELECT tollfree_file_fdw_release('moved');
ALTER FOREIGN TABLE moved_file OPTIONS (DROP lazy);

-- With options of the server, which file_fdw refuses.
BEGIN;
SELECT tollfree_file_fdw_release('moved');
SELECT tollfree_file_fdw_adopt('moved', record_index => true, column_cache => false);
SELECT srvoptions FROM pg_foreign_server WHERE srvname = 'moved';
EXECUTE item;
SELECT tollfree_file_fdw_release('moved');
ROLLBACK;

-- A scan under way ends with the wrapper that it began with.
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM moved_file;
FETCH 1 FROM c;
SELECT tollfree_file_fdw_release('moved');
FETCH ALL FROM c;
EXECUTE item;
SELECT * FROM shown_state();
ROLLBACK;
SELECT * FROM shown_state();
SELECT tollfree_file_fdw_release('moved');
EXECUTE item;
SELECT * FROM shown_state();
SET default_transaction_read_only = on;
SELECT tollfree_file_fdw_adopt('moved');
SELECT tollfree_file_fdw_release('moved');
RESET default_transaction_read_only;
CREATE ROLE regress_tollfree_user;
SET ROLE regress_tollfree_user;
SELECT tollfree_file_fdw_adopt('moved');
RESET ROLE;
DROP ROLE regress_tollfree_user;
SELECT tollfree_file_fdw_adopt('nowhere');
DROP SERVER moved CASCADE;
