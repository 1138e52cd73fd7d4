-- Rows of a file are inserted into a table of another server, many at a time: they are kept in slots like the scan's.
SET client_min_messages = warning;
CREATE EXTENSION postgres_fdw;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER batches FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %L, host %L, port %L, batch_size ''7'')',
				   current_database(), split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'));
END
$$;
CREATE USER MAPPING FOR CURRENT_USER SERVER batches OPTIONS (user 'postgres', password_required 'false');
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/batched.csv'
COPY (SELECT i, CASE WHEN i % 3 > 0 THEN 'text ' || i END, i / 8.0, CASE WHEN i % 4 = 0 THEN '{1,2}' END FROM generate_series(1, 100) i) TO :'file' (FORMAT csv);
SELECT make_pair('batched', 'id int, what text, n numeric(8,3), several int[]', :'file', $$format 'csv'$$);
CREATE TABLE target (LIKE ours.batched, CHECK (id > 0));
CREATE FOREIGN TABLE far_target (id int, what text, n numeric(8,3), several int[]) SERVER batches OPTIONS (table_name 'target');
CREATE TABLE parts (LIKE ours.batched) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE far_part PARTITION OF parts FOR VALUES FROM (0) TO (1000) SERVER batches OPTIONS (table_name 'target');
CREATE FUNCTION inserted(statement text) RETURNS SETOF far_target LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE statement;
	RETURN QUERY SELECT * FROM far_target ORDER BY id;
	DELETE FROM far_target;
END
$$;
CREATE FUNCTION compare_inserts() RETURNS TABLE (statement text, outcome text) LANGUAGE sql
AS $$
SELECT statement, agree(format('SELECT * FROM inserted(%L)', statement)) FROM unnest(ARRAY[
	'INSERT INTO far_target SELECT * FROM batched', 'INSERT INTO far_target SELECT * FROM batched WHERE id % 5 = 1',
	'INSERT INTO far_target SELECT * FROM batched WHERE n > 3 LIMIT 20', 'INSERT INTO parts SELECT * FROM batched',
	'INSERT INTO far_target (what, id) SELECT what, id FROM batched']) statement
$$;
SELECT * FROM compare_inserts();
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM compare_inserts();
RESET tollfree_file_fdw.fast_scan;
DROP FUNCTION inserted, compare_inserts;
DROP TABLE parts, target;
DROP FOREIGN TABLE far_target, stock.batched, ours.batched;
DROP SERVER batches CASCADE;
DROP EXTENSION postgres_fdw;
RESET client_min_messages;
