-- Constants as parameters mean what they mean in postgres_fdw's text, also where
-- the remote columns are of other types than the foreign table says.
SELECT tollfree_postgres_fdw_disconnect_all();
SET datestyle = ISO;
CREATE TYPE remote.mood AS ENUM ('m1', 'm2', 'm3');
CREATE TABLE remote.exact (id int PRIMARY KEY, e remote.mood, s int2, b int8,
	n numeric, m numeric(10, 2), o oid, f float8, t text, v varchar(3), c char(4),
	d date, z timestamptz, k uuid, j jsonb, a int[], y bytea, l interval);
INSERT INTO remote.exact
SELECT i, ('m' || i)::remote.mood, i, i, i, i + 0.5, i, i, i::text, 'a' || i, 'a' || i,
	date '2024-01-01' + i, timestamptz '2024-01-01 00:00:00+00' + i * interval '1 hour',
	('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, jsonb_build_object('k', i),
	ARRAY[i, 7], decode('0' || i, 'hex'), i * interval '1 day'
FROM generate_series(1, 3) i;
-- the same tables of postgres_fdw; "other" says that the columns are of other types
CREATE SCHEMA ours;
CREATE SCHEMA stock;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER stock OPTIONS (password_required 'false');
DO $$
DECLARE
	place text;
BEGIN
	FOREACH place IN ARRAY ARRAY['ours', 'stock'] LOOP
		EXECUTE format($f$
			CREATE FOREIGN TABLE %1$s.exact (id int, e text, s int2, b int8, n numeric,
				m numeric(10, 2), o oid, f float8, t text, v varchar(3), c char(4), d date,
				z timestamptz, k uuid, j jsonb, a int[], y bytea, l interval)
				SERVER %2$s OPTIONS (schema_name 'remote');
			CREATE FOREIGN TABLE %1$s.other (id int8, e varchar, s int, b int, n int, m int,
				o int, f numeric, t int, v text, c text, d text, z text, k text, j text)
				SERVER %2$s OPTIONS (schema_name 'remote', table_name 'exact');
			CREATE TABLE %1$s.parted (LIKE %1$s.exact) PARTITION BY LIST (id);
			CREATE FOREIGN TABLE %1$s.part PARTITION OF %1$s.parted DEFAULT
				SERVER %2$s OPTIONS (schema_name 'remote', table_name 'exact');
			CREATE TABLE %1$s.parent (f float8, id int, b int8, m numeric(10, 2), v varchar(3));
			CREATE FOREIGN TABLE %1$s.child () INHERITS (%1$s.parent)
				SERVER %2$s OPTIONS (schema_name 'remote', table_name 'exact')
			$f$, place, CASE place WHEN 'ours' THEN 'loopback' ELSE 'stock' END);
	END LOOP;
END
$$;

-- What a statement makes of a table, or its error; nothing stays.
CREATE FUNCTION outcome(place text, statement text, relation text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	seen text;
BEGIN
	PERFORM set_config('search_path', place || ', public', true);
	BEGIN
		IF statement LIKE 'SELECT%' THEN
			EXECUTE format('SELECT ARRAY(%s)::text', statement) INTO seen;
		ELSE
			EXECUTE statement;
			EXECUTE format('SELECT string_agg(r::text, e''\n'' ORDER BY id) FROM %I r', relation) INTO seen;
		END IF;
		RAISE EXCEPTION USING errcode = 'TF001', message = coalesce(seen, 'nothing');
	EXCEPTION WHEN OTHERS THEN
		RETURN CASE sqlstate WHEN 'TF001' THEN sqlerrm ELSE sqlstate || ' ' || sqlerrm END;
	END;
END
$$;
CREATE FUNCTION remote_sql(place text, statement text) RETURNS text[] LANGUAGE plpgsql
AS $$
DECLARE
	line text;
	found text[];
BEGIN
	PERFORM set_config('search_path', place || ', public', true);
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || statement LOOP
		IF line ~ 'Remote SQL' THEN
			found := found || trim(line);
		END IF;
	END LOOP;
	RETURN found;
EXCEPTION WHEN OTHERS THEN
	RETURN ARRAY[sqlerrm];
END
$$;
-- Three values: is the outcome that of postgres_fdw, is the text that is shown, and
-- which statement is kept?
CREATE VIEW remote.kept AS
SELECT substring(name, '_s(\d+)$')::int AS number,
	regexp_replace(statement, '^.*? (WHERE|SET) ', '\1 ') || ' ' || parameter_types::text AS statement
FROM pg_prepared_statements WHERE name ~ '^tollfree_[0-9a-f]{8}_s\d' AND statement !~ 'remote.kept';
CREATE FOREIGN TABLE kept (number int, statement text) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FUNCTION compare(statement text, relation text, OUT same bool, OUT same_shown bool, OUT kept text)
LANGUAGE plpgsql
AS $$
DECLARE
	before int := (SELECT max(k.number) FROM public.kept k);
	one text;
BEGIN
	same := true;
	same_shown := true;
	FOR i IN 1..3 LOOP
		one := replace(replace(statement, '?', i::text), 'TABLE', relation);
		same := same AND outcome('ours', one, relation) = outcome('stock', one, relation);
		same_shown := same_shown AND remote_sql('ours', one) IS NOT DISTINCT FROM remote_sql('stock', one);
	END LOOP;
	kept := (SELECT string_agg(k.statement, E'\n' ORDER BY k.number) FROM public.kept k WHERE k.number > coalesce(before, 0));
END
$$;
SET tollfree_postgres_fdw.statement_cache_size = 500;
-- What is shown is compared, so conditions have postgres_fdw's form.
SET tollfree_postgres_fdw.remote_expressions = off;
CREATE TABLE conditions (position int GENERATED ALWAYS AS IDENTITY, condition text);
INSERT INTO conditions (condition) VALUES
	('id = ?'), ('? = id'), ('id = -?'), ('id = -2147483648'), ('id = ? OR id = 3'), ('NOT id = ? AND b <> 0'),
	('id % 2 = ?'), ('id IN (?, 7)'), ('id IS DISTINCT FROM ?'), ('id < ?'), ('id = NULL::int'),
	('CASE id WHEN ? THEN 5 ELSE 6 END = 5'), ('coalesce(id, ?) = ?'),
	('s = ?'), ('s = ?::int2'), ('b = ?'), ('b = ?::int8'), ('b = ?000000000000'), ('b = -?000000000000'),
	('b + 1 = ?::int8'), ('n = ?'), ('n = ?.0'), ('n = -?.5'), ('m = ?.5'), ('m = ?.5::numeric(10, 2)'),
	('m + 0 = ?.504::numeric(10, 2)'), ('o = ?'), ('o = ?::oid'), ('f = ?'), ('f = ?.0::float8'), ('f * 0 = ''-0''::float8'),
	('e = ''m?'''), ('e || '''' = ''m?'''), ('t = ''?'''), ('t || '''' = ''?'''), ('upper(v) = ''A?'''),
	('v = ''a?'''), ('v = ''a?''::varchar(2)'), ('c = ''a?'''), ('c = ''a?''::char(4)'), ('d = ''2024-01-0?'''),
	('d + 1 = ''2024-01-03'' AND id = ?'), ('d - 1 = ''2024-01-0?'''), ('z = ''2024-01-01 0?:00+00'''),
	('z = ''2024-01-01 0?:00+00''::timestamptz'), ('k = ''00000000-0000-0000-0000-00000000000?'''),
	('k::text = ''00000000-0000-0000-0000-00000000000?'''), ('j = ''{"k": ?}'''), ('j ->> ''k'' = ''?'''),
	('j -> ''k'' = ''?'''), ('a = ''{?,7}'''), ('a[1] = ?'), ('a || 1 = ''{?,7,1}'''), ('y = ''\x0?'''),
	('y || ''\x00'' = ''\x0?00'''), ('l = ''? days'''), ('l + l = ''? days'''), ('t LIKE ''?%'''),
	('t || e''\\'' = e''?\\'''), ('t || '''''''' = ''?'''''''), ('t || '' $1::integer'' = ''1 $1::integer'' AND id = ?');
SELECT condition, c.*
FROM conditions, compare('SELECT id FROM TABLE WHERE ' || condition, 'exact') AS c
ORDER BY position;
SELECT condition, c.*
FROM conditions, compare('SELECT id FROM TABLE WHERE ' || condition, 'other') AS c
WHERE condition !~ '^[aly]' ORDER BY position;
CREATE TABLE assignments (position int GENERATED ALWAYS AS IDENTITY, assignment text);
INSERT INTO assignments (assignment) VALUES
	('b = ?'), ('b = -?'), ('b = b + ?'), ('b = b * -? + 5 - ?'), ('b = NULL'), ('s = ?'), ('s = -32768'), ('n = ?.125'),
	('n = ?'), ('m = ?.125'), ('m = m * -?.5'), ('o = ?'), ('f = ?'), ('f = ''-0'''), ('f = f * 0 - ''-0''::float8'), ('f = ''NaN'''),
	('t = ''t?'''), ('t = ''it''''s \ ?'''), ('t = t || ''t?'''), ('t = ''t?'' || t'), ('t = left(t || ''xyz'', ?)'), ('v = ''b?'''),
	('v = ''b?  '''), ('c = ''b?'''), ('c = ''b?  '''), ('d = ''2024-02-0?'''), ('d = d + ?'), ('d = ''infinity'''),
	('z = ''2024-02-0? 12:00+02'''), ('z = z + ''? days'''), ('k = ''00000000-0000-0000-0000-00000000001?'''),
	('j = ''{"x": ?}'''), ('j = j || ''{"x": ?}'''), ('a = ''{?}'''), ('a = ARRAY[?, id]'), ('a = a || ?'), ('y = ''\xf?'''),
	('l = ''? hours'''), ('e = ''m?'''), ('e = ''m?'' || e'),
	('s = ?, b = ? + b, t = ''$1::integer'', v = ''?'', d = ''2024-03-0?'', n = n + ?'), ('m = DEFAULT'),
	('b = CASE WHEN s = ? THEN ? ELSE 5 END');
SELECT assignment, c.*
FROM assignments, compare('UPDATE TABLE SET ' || assignment || ' WHERE id = ? AND s <> 9', 'exact') AS c
ORDER BY position;
SELECT assignment, c.*
FROM assignments, compare('UPDATE TABLE SET ' || assignment || ' WHERE id = ? AND s <> 9', 'other') AS c
WHERE assignment !~ '^[aly]' ORDER BY position;
-- partitions and children are modified by commands of their own
SELECT assignment, c.*
FROM assignments, compare('UPDATE TABLE SET ' || assignment || ' WHERE id = ?', 'parted') AS c
WHERE assignment ~ '^[bs] = |^[mv] = ' ORDER BY position;
SELECT assignment, c.*
FROM assignments, compare('UPDATE TABLE SET ' || assignment || ' WHERE id = ?', 'parent') AS c
WHERE assignment ~ '^[b] = |^[mv] = ' ORDER BY position;
SELECT statement, relation, c.*
FROM (VALUES (1, 'DELETE FROM TABLE WHERE id = ?', 'exact'), (2, 'DELETE FROM TABLE WHERE t || '''' = ''?''', 'exact'),
	(3, 'DELETE FROM TABLE WHERE id = ?', 'parted'), (4, 'DELETE FROM TABLE WHERE id = ?', 'parent'),
	(5, 'DELETE FROM TABLE USING exact x WHERE TABLE.id = x.id AND x.b = ?', 'other'),
	(6, 'UPDATE TABLE SET b = ? FROM exact x WHERE TABLE.id = x.id AND x.b = ?', 'other'),
	(7, 'WITH gone AS (DELETE FROM TABLE WHERE id = ? RETURNING b + ?) SELECT * FROM gone', 'exact')) AS statements (position, statement, relation),
	compare(statement, relation) AS c
ORDER BY position;

-- with parameters of the query's own, custom and generic plans
SET search_path = ours, public;
PREPARE look(int, text) AS SELECT id, b, t FROM exact WHERE id = $1 AND s % 2 = 1 AND t || '' = $2 AND m + 0 = 1.5;
PREPARE change(int, int8) AS UPDATE exact SET b = $2 + 7, v = 'v7', n = 1.25, s = s + $1 WHERE s = 1 AND id = $1 AND o <> 9;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look(1, '1');
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE change(1, 5);
EXECUTE look(1, '1');
EXECUTE change(1, 5);
SELECT id, s, b, n, v FROM remote.exact ORDER BY id;
UPDATE remote.exact SET s = id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE look(1, '1');
EXPLAIN (VERBOSE, COSTS OFF) EXECUTE change(1, 5);
EXECUTE look(1, '1');
EXECUTE look(1, '2');
EXECUTE change(1, 6);
EXECUTE change(2, 7);
SELECT id, s, b, n, v FROM remote.exact ORDER BY id;
-- the setting counts when a query is planned
SET tollfree_postgres_fdw.constants_as_parameters = off;
EXECUTE look(1, '1');
DEALLOCATE look;
DEALLOCATE change;
RESET tollfree_postgres_fdw.constants_as_parameters;
RESET plan_cache_mode;
-- from the outer side of a nested loop, through a cursor, with rows locked
CREATE TABLE outside (x int);
INSERT INTO outside VALUES (1), (2), (3);
SELECT x, (SELECT b FROM exact WHERE id = x AND s + 0 = 3 AND b + x = x + b) FROM outside ORDER BY x;
-- a parameter of another type after a constant that could have been one
SELECT id, b FROM exact WHERE id = 2 AND id < (SELECT sum(x) + 0.5 FROM outside);
BEGIN;
DECLARE c CURSOR FOR SELECT id, b FROM exact WHERE m + 1 = 3.5::numeric(10, 2) AND id = 2 FOR UPDATE;
FETCH ALL FROM c;
COMMIT;
SET tollfree_postgres_fdw.direct_results = off;
SELECT id, b FROM exact WHERE m + 1 = 3.5::numeric(10, 2) AND id = 2;
SELECT id, b FROM exact WHERE id = 2 AND b / (s - 2) = 1;
RESET tollfree_postgres_fdw.direct_results;
DROP TABLE outside;
RESET search_path;
RESET tollfree_postgres_fdw.statement_cache_size;
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
DROP SERVER stock CASCADE;
DROP SCHEMA ours, stock CASCADE;
DROP FOREIGN TABLE kept;
DROP VIEW remote.kept;
DROP TABLE remote.exact, conditions, assignments;
DROP TYPE remote.mood;
DROP FUNCTION compare, outcome, remote_sql;
RESET client_min_messages;
