-- Rows that are routed to partitions on several servers.
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE SERVER part_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER part_%s OPTIONS (password_required ''false'')', i);
		EXECUTE format('CREATE TABLE remote.orders_%s (id int PRIMARY KEY, amount numeric CHECK (amount < 1000000))', i);
	END LOOP;
END
$$;
CREATE TABLE orders (id int, amount numeric) PARTITION BY LIST ((id % 5));
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE FOREIGN TABLE orders_%s PARTITION OF orders FOR VALUES IN (%s) SERVER part_%s OPTIONS (schema_name ''remote'')', i, i, i);
	END LOOP;
END
$$;
CREATE TABLE orders_4 PARTITION OF orders FOR VALUES IN (4);
-- Executes a statement; how many rows it says, how often a server was waited for, and what is there.
CREATE FUNCTION insert_orders(statement text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	waited int8;
	written int8;
BEGIN
	SELECT sum(round_trips) FROM tollfree_postgres_fdw_get_connections() INTO waited;
	EXECUTE statement;
	GET DIAGNOSTICS written = ROW_COUNT;
	RETURN format('%s rows, %s round trips, %s', written,
				  (SELECT sum(round_trips) - waited FROM tollfree_postgres_fdw_get_connections()),
				  (SELECT count(*) || ' there: ' || md5(string_agg(o::text, ',' ORDER BY id)) FROM orders o));
END
$$;
SELECT count(*) FROM orders;
SELECT insert_orders('INSERT INTO orders SELECT i, i / 4.0 FROM generate_series(1, 500) i');
SELECT count(*), md5(string_agg((i, i / 4.0)::text, ',' ORDER BY i)) FROM generate_series(1, 500) i;
SELECT tableoid::regclass, count(*) FROM orders GROUP BY 1 ORDER BY 1;
-- With ON CONFLICT each row is awaited.
SELECT insert_orders('INSERT INTO orders SELECT i, i / 4.0 FROM generate_series(301, 600) i ON CONFLICT DO NOTHING');
-- An error of any row ends the statement, and nothing of it stays.
INSERT INTO orders SELECT i, CASE i WHEN 702 THEN 1e6 ELSE i END FROM generate_series(601, 800) i;
INSERT INTO orders SELECT i % 700, i FROM generate_series(601, 800) i;
INSERT INTO orders SELECT i, 1 / (800 - i) FROM generate_series(601, 800) i;
SELECT count(*), max(id) FROM orders;
-- In a subtransaction
BEGIN;
INSERT INTO orders VALUES (601, 1), (602, 2), (603, 3), (604, 4), (605, 5);
SAVEPOINT s;
INSERT INTO orders VALUES (606, 1), (607, 2), (608, 3), (608, 4), (610, 5);
ROLLBACK TO s;
INSERT INTO orders VALUES (611, 1), (612, 2), (613, 3), (614, 4), (615, 5);
COMMIT;
SELECT array_agg(id ORDER BY id) FROM orders WHERE id > 600;
-- The statement sees no row of its own, and the next one all.
SELECT insert_orders('INSERT INTO orders SELECT id + 1000, (SELECT count(*) FROM orders) FROM orders WHERE id <= 10');
SELECT id, amount FROM orders WHERE id > 1000 ORDER BY id;
-- Each row is awaited if a result is asked for, or where a trigger of any partition could see the others.
INSERT INTO orders VALUES (2001, 1), (2002, 2), (2003, 3) RETURNING *;
CREATE FUNCTION count_orders() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
	NEW.amount := (SELECT count(*) FROM orders_0);
	RETURN NEW;
END
$$;
CREATE TRIGGER t BEFORE INSERT ON orders_4 FOR EACH ROW EXECUTE FUNCTION count_orders();
SELECT insert_orders('INSERT INTO orders SELECT i, i FROM generate_series(3001, 3020) i');
SELECT id, amount FROM orders_4 WHERE id > 3000 ORDER BY id;
DROP TRIGGER t ON orders_4;
SELECT insert_orders('INSERT INTO orders SELECT i, i FROM generate_series(4001, 4020) i');
-- One row gains nothing, so the partitions are not looked at.
SELECT insert_orders('INSERT INTO orders VALUES (5001, 1)');
-- Several partitions on one server, of which one refers to the other: rows are written in their order.
CREATE TABLE remote.head (id int PRIMARY KEY, kind text);
CREATE TABLE remote.line (id int PRIMARY KEY REFERENCES remote.head, kind text);
CREATE TABLE papers (id int, kind text) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE papers_head PARTITION OF papers FOR VALUES IN ('head') SERVER part_0 OPTIONS (schema_name 'remote', table_name 'head');
CREATE FOREIGN TABLE papers_line PARTITION OF papers FOR VALUES IN ('line') SERVER part_0 OPTIONS (schema_name 'remote', table_name 'line');
INSERT INTO papers SELECT i / 2, CASE i % 2 WHEN 0 THEN 'head' ELSE 'line' END FROM generate_series(2, 101) i;
SELECT kind, count(*) FROM papers GROUP BY kind ORDER BY kind;
INSERT INTO papers SELECT i / 2, CASE i % 2 WHEN 1 THEN 'head' ELSE 'line' END FROM generate_series(202, 301) i;
SELECT kind, count(*) FROM papers GROUP BY kind ORDER BY kind;
-- They share a pipeline, also where batches become arrays.
CREATE FUNCTION insert_papers(first int) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	waited int8;
	written int8;
BEGIN
	PERFORM FROM papers;
	SELECT sum(round_trips) FROM tollfree_postgres_fdw_get_connections() INTO waited;
	INSERT INTO papers SELECT i / 2, CASE i % 2 WHEN 0 THEN 'head' ELSE 'line' END FROM generate_series(first, first + 99) i;
	GET DIAGNOSTICS written = ROW_COUNT;
	RETURN format('%s rows, %s round trips', written, (SELECT sum(round_trips) - waited FROM tollfree_postgres_fdw_get_connections()));
END
$$;
SELECT insert_papers(1000);
ALTER FOREIGN TABLE papers_line OPTIONS (ADD batch_size '50');
ALTER FOREIGN TABLE papers_head OPTIONS (ADD batch_size '50');
SELECT insert_papers(2000);
ALTER TABLE remote.line DROP CONSTRAINT line_id_fkey;
SET tollfree_postgres_fdw.debug_require = 'arrays';
INSERT INTO papers SELECT i / 2, CASE i % 2 WHEN 0 THEN 'head' ELSE 'line' END FROM generate_series(10000, 11999) i;
RESET tollfree_postgres_fdw.debug_require;
SELECT kind, count(*) FROM papers GROUP BY kind ORDER BY kind;
-- The cache has room for one statement.  The third and the fourth row may each have one, and come before the second has been answered.
CREATE FUNCTION remote.linger() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM pg_sleep(0.05);
	RETURN NEW;
END
$$;
CREATE TABLE letters (kind int, body text) PARTITION BY LIST (kind);
DO $$
BEGIN
	FOR i IN 0..2 LOOP
		EXECUTE format('CREATE TABLE remote.letters_%s (kind int, body text)', i);
		EXECUTE format('CREATE TRIGGER lingering BEFORE INSERT ON remote.letters_%s FOR EACH ROW EXECUTE FUNCTION remote.linger()', i);
		EXECUTE format('CREATE FOREIGN TABLE letters_%s PARTITION OF letters FOR VALUES IN (%s) SERVER part_0 OPTIONS (schema_name ''remote'')', i, i);
	END LOOP;
END
$$;
SET tollfree_postgres_fdw.statement_cache_size = 1;
INSERT INTO letters SELECT (ARRAY[0, 0, 1, 2])[i], repeat(chr(96 + i), 600000) FROM generate_series(1, 4) i;
INSERT INTO letters SELECT (ARRAY[0, 0, 1, 2])[i], repeat(chr(96 + i), 600000) FROM generate_series(1, 4) i;
INSERT INTO letters SELECT (ARRAY[0, 0, 1, 2])[i], repeat(chr(96 + i), 600000) FROM generate_series(1, 4) i;
RESET tollfree_postgres_fdw.statement_cache_size;
SELECT kind, count(*), sum(length(body)), string_agg(left(body, 1), '' ORDER BY body) FROM letters GROUP BY kind ORDER BY kind;
-- The first error is the one reported, whatever server it is of.
INSERT INTO orders SELECT CASE j WHEN 10030 THEN 1 WHEN 10020 THEN 3 ELSE j END, j FROM generate_series(10001, 10040) j;
INSERT INTO orders SELECT CASE j WHEN 10030 THEN 2 WHEN 10020 THEN 0 ELSE j END, j FROM generate_series(10001, 10040) j;
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('ALTER SERVER part_%s OPTIONS (ADD parallel_modify ''true'')', i);
	END LOOP;
END
$$;
-- In a new session the library is loaded when the first row is routed.
\c -
INSERT INTO orders SELECT i, i FROM generate_series(6001, 6400) i;
SELECT sum(round_trips) < 30 AS few FROM tollfree_postgres_fdw_get_connections();
SELECT count(*), sum(amount) FROM orders WHERE id > 6000;
\c -
INSERT INTO orders SELECT i, CASE i WHEN 6402 THEN 1e6 ELSE i END FROM generate_series(6401, 6410) i;
SELECT count(*) FROM orders WHERE id > 6400;
\c -
BEGIN;
INSERT INTO orders SELECT i, 1 / (6415 - i) FROM generate_series(6411, 6420) i;
ROLLBACK;
INSERT INTO orders VALUES (6401, 1), (6402, 2);
SELECT count(*) FROM orders WHERE id > 6400;
\c -
DO $$
DECLARE
	written int8;
BEGIN
	INSERT INTO orders SELECT i, i FROM generate_series(4021, 4040) i WHERE i % 5 < 4 ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS written = ROW_COUNT;
	RAISE INFO '% rows', written;
	INSERT INTO orders SELECT i, i FROM generate_series(4031, 4050) i WHERE i % 5 < 4 ON CONFLICT DO NOTHING;
	GET DIAGNOSTICS written = ROW_COUNT;
	RAISE INFO '% rows', written;
END
$$;
