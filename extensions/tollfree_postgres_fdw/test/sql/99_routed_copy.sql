-- COPY into partitions on several servers.
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE SERVER dock_%s FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', i, server_options());
		EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER dock_%s OPTIONS (password_required ''false'')', i);
		EXECUTE format('CREATE TABLE remote.cargo_%s (id int PRIMARY KEY, weight numeric CHECK (weight < 1000000), label text)', i);
	END LOOP;
END
$$;
CREATE TABLE cargo (id int, weight numeric, label text) PARTITION BY LIST ((id % 5));
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('CREATE FOREIGN TABLE cargo_%s PARTITION OF cargo FOR VALUES IN (%s) SERVER dock_%s OPTIONS (schema_name ''remote'')', i, i, i);
	END LOOP;
END
$$;
CREATE TABLE cargo_4 PARTITION OF cargo FOR VALUES IN (4);
-- Writes the rows of a query to a file, copies these, and tells how many COPY counts, how many are there, and whether few round trips were waited for.
-- Before 16 PostgreSQL gives the rows of partitions one by one, and each is.
CREATE FUNCTION copy_rows(target text, query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	path text := current_setting('data_directory') || '/routed_copy.data';
	waited int8;
	written int8;
	there int8;
BEGIN
	EXECUTE format('COPY (%s) TO %L', query, path);
	EXECUTE format('SELECT count(*) FROM %I', target) INTO there;
	SELECT sum(round_trips) FROM tollfree_postgres_fdw_get_connections() INTO waited;
	EXECUTE format('COPY %I FROM %L', target, path);
	GET DIAGNOSTICS written = ROW_COUNT;
	SELECT sum(round_trips) - waited FROM tollfree_postgres_fdw_get_connections() INTO waited;
	EXECUTE format('SELECT count(*) - %s FROM %I', there, target) INTO there;
	RETURN format('%s rows counted, %s there, %s', written, there,
				  CASE WHEN waited <= 30 OR current_setting('server_version_num')::int < 160000 THEN 'few round trips' ELSE 'each awaited' END);
END
$$;
SELECT count(*) FROM cargo;
SELECT copy_rows('cargo', 'SELECT i, i / 4.0, ''cargo '' || i FROM generate_series(1, 5000) i');
SELECT tableoid::regclass, count(*), sum(id), sum(weight), md5(string_agg(label, ',' ORDER BY id)) FROM cargo GROUP BY 1 ORDER BY 1;
-- An error of any row ends COPY, and nothing of it stays.
\set VERBOSITY terse
SELECT copy_rows('cargo', 'SELECT i, CASE i WHEN 5702 THEN 1e6 ELSE 1 END, NULL FROM generate_series(5001, 6000) i');
SELECT copy_rows('cargo', 'SELECT i % 5990, 1, NULL FROM generate_series(5001, 6000) i');
SELECT copy_rows('cargo', 'SELECT i, CASE i WHEN 5999 THEN ''heavy'' ELSE ''1'' END, NULL FROM generate_series(5001, 6000) i');
\set VERBOSITY default
SELECT count(*), max(id) FROM cargo;
-- Rows that a remote trigger skips are not counted.
CREATE FUNCTION skip_cargo() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN CASE WHEN NEW.weight < 0 THEN NULL ELSE NEW END;
END
$$;
CREATE TRIGGER skipping BEFORE INSERT ON remote.cargo_1 FOR EACH ROW EXECUTE FUNCTION skip_cargo();
SELECT copy_rows('cargo', 'SELECT i, CASE WHEN i % 2 = 0 THEN -1 ELSE 1 END, NULL FROM generate_series(6001, 6500) i');
DROP TRIGGER skipping ON remote.cargo_1;
-- A local trigger of a partition sees all rows before its own.
CREATE FUNCTION count_cargo() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
	NEW.weight := (SELECT count(*) FROM cargo WHERE id > 7000);
	RETURN NEW;
END
$$;
CREATE TRIGGER counting BEFORE INSERT ON cargo_4 FOR EACH ROW EXECUTE FUNCTION count_cargo();
SELECT copy_rows('cargo', 'SELECT i, 0, NULL FROM generate_series(7001, 7020) i') LIKE '20 rows counted, 20 there%' AS copied;
SELECT id, weight FROM cargo WHERE id > 7000 AND id % 5 = 4 ORDER BY id;
DROP TRIGGER counting ON cargo_4;
-- In arrays
DO $$
BEGIN
	FOR i IN 0..3 LOOP
		EXECUTE format('ALTER SERVER dock_%s OPTIONS (ADD batch_size ''100'')', i);
	END LOOP;
END
$$;
SELECT copy_rows('cargo', 'SELECT i, i / 4.0, ''cargo '' || i FROM generate_series(8001, 13000) i');
SELECT tableoid::regclass, count(*), sum(id), sum(weight), md5(string_agg(label, ',' ORDER BY id)) FROM cargo WHERE id > 8000 GROUP BY 1 ORDER BY 1;
-- Several partitions on one server: rows are written in their order, one by one, unless batch_size says that several go into an INSERT.
CREATE TABLE remote.ships (id int PRIMARY KEY, kind text);
CREATE TABLE remote.boats (id int PRIMARY KEY REFERENCES remote.ships, kind text);
CREATE TABLE vessels (id int, kind text) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE vessels_ships PARTITION OF vessels FOR VALUES IN ('ship') SERVER dock_0 OPTIONS (schema_name 'remote', table_name 'ships');
CREATE FOREIGN TABLE vessels_boats PARTITION OF vessels FOR VALUES IN ('boat') SERVER dock_0 OPTIONS (schema_name 'remote', table_name 'boats');
SELECT copy_rows('vessels', 'SELECT i / 2, CASE i % 2 WHEN 0 THEN ''ship'' ELSE ''boat'' END FROM generate_series(2, 101) i') LIKE '100 rows counted, 100 there%' AS in_order;
ALTER TABLE remote.boats DROP CONSTRAINT boats_id_fkey;
ALTER SERVER dock_0 OPTIONS (SET batch_size '10');
SELECT copy_rows('vessels', 'SELECT i / 2, CASE i % 2 WHEN 0 THEN ''ship'' ELSE ''boat'' END FROM generate_series(1002, 3001) i');
-- Partitions of partitions
CREATE TABLE cargo_of_cargo (id int, weight numeric, label text) PARTITION BY RANGE (id);
ALTER TABLE cargo_of_cargo ATTACH PARTITION cargo FOR VALUES FROM (0) TO (1000000);
SELECT copy_rows('cargo_of_cargo', 'SELECT i, i / 4.0, ''cargo '' || i FROM generate_series(20001, 21000) i');
ALTER TABLE cargo_of_cargo DETACH PARTITION cargo;
