-- ANALYZE: over our own connection, and only as many rows as are wanted.
CREATE TABLE remote.big (id int, few int, word text);
ALTER TABLE remote.big SET (autovacuum_enabled = off);
INSERT INTO remote.big SELECT i, i % 7, 'word ' || i FROM generate_series(1, 20000) i;
CREATE FOREIGN TABLE big (id int, few int, word text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'big');
-- 3000 rows are wanted
SET default_statistics_target = 10;

-- What is known of a table: rows, and each column's distinct values and order.
CREATE FUNCTION shown(regclass) RETURNS TABLE (pages bool, reltuples real, attname name, n_distinct numeric, in_order bool)
LANGUAGE sql
AS $$
	SELECT c.relpages = pg_relation_size('remote.big') / 8192, c.reltuples,
		   s.attname, round(s.n_distinct::numeric, 1), s.correlation > 0.99
	FROM pg_class c
		LEFT JOIN pg_stats s ON s.tablename = c.relname
			AND s.schemaname = c.relnamespace::regnamespace::name
	WHERE c.oid = $1
	ORDER BY s.attname
$$;

-- nothing is known remotely: counted first
SELECT count(*) FROM items WHERE id = 1;
SELECT round_trips_since(0) AS before \gset
ANALYZE big;
SELECT round_trips_since(:before);
SELECT * FROM shown('big');

-- all rows of few: the same as locally
CREATE FUNCTION statistics(regclass) RETURNS SETOF text
LANGUAGE sql
AS $$
	SELECT concat_ws(' ', replace(attname, 'label', 'name'), null_frac, avg_width, n_distinct,
					 most_common_vals, most_common_freqs, histogram_bounds, correlation)
	FROM pg_stats
	WHERE format('%I.%I', schemaname, tablename)::regclass = $1
$$;
ANALYZE remote.items, items;
(SELECT * FROM statistics('items') EXCEPT SELECT * FROM statistics('remote.items'))
UNION ALL
(SELECT * FROM statistics('remote.items') EXCEPT SELECT * FROM statistics('items'));
SELECT count(*) FROM statistics('items');

-- by each method, in two round trips; what remains is where it came from
ANALYZE remote.big;
ALTER FOREIGN TABLE big OPTIONS (ADD analyze_sampling 'off');
DO $$
DECLARE
	method		text;
	before		int8;
BEGIN
	FOREACH method IN ARRAY '{off,random,system,bernoulli,auto}'::text[] LOOP
		EXECUTE format('ALTER FOREIGN TABLE big OPTIONS (SET analyze_sampling %L)', method);
		DELETE FROM pg_statistic WHERE starelid = 'big'::regclass;
		before := round_trips_since(0);
		ANALYZE big;
		RAISE NOTICE '%: % round trips, %', method, round_trips_since(before),
			(SELECT string_agg(k::text, ' ') FROM shown('big') k);
	END LOOP;
END
$$;

-- what is sent by each method, seen in an error; old statistics stay
ALTER FOREIGN TABLE big ADD missing int;
DO $$
DECLARE
	method		text;
	context		text;
BEGIN
	FOREACH method IN ARRAY '{off,random,system,bernoulli,auto}'::text[] LOOP
		EXECUTE format('ALTER FOREIGN TABLE big OPTIONS (SET analyze_sampling %L)', method);
		BEGIN
			ANALYZE big;
		EXCEPTION WHEN undefined_column THEN
			GET STACKED DIAGNOSTICS context = pg_exception_context;
			RAISE NOTICE '%: %', method,
				regexp_replace(split_part(context, E'\n', 1), 'ctid, \d+', 'ctid, seed');
		END;
	END LOOP;
END
$$;
SELECT * FROM shown('big');
ALTER FOREIGN TABLE big DROP missing;

-- rows of some blocks, where there are more blocks than rows wanted
SET default_statistics_target = 1;
ALTER TABLE remote.big SET (fillfactor = 10);
VACUUM FULL remote.big;
ALTER FOREIGN TABLE big ADD missing int;
\set VERBOSITY default
ANALYZE big;
ALTER FOREIGN TABLE big DROP missing;
ANALYZE big;
SELECT * FROM shown('big');
SET default_statistics_target = 10;

-- options
\set VERBOSITY terse
ALTER FOREIGN TABLE big OPTIONS (SET analyze_sampling 'nonsense');
ALTER FOREIGN TABLE big ALTER id OPTIONS (ADD analyze_sampling 'off');
ALTER FOREIGN TABLE big OPTIONS (DROP analyze_sampling);
ALTER SERVER loopback OPTIONS (ADD analyze_sampling 'nonsense');
ALTER SERVER loopback OPTIONS (ADD analyze_sampling 'system');
ALTER SERVER loopback OPTIONS (DROP analyze_sampling);
\set VERBOSITY default

-- an empty table, a view, partitions, children
CREATE TABLE remote.none (LIKE remote.big);
CREATE VIEW remote.seen AS TABLE remote.big;
CREATE TABLE remote.parts (LIKE remote.big) PARTITION BY RANGE (id);
CREATE TABLE remote.parts_1 PARTITION OF remote.parts FOR VALUES FROM (1) TO (5000);
CREATE TABLE remote.parts_2 PARTITION OF remote.parts DEFAULT;
CREATE TABLE remote.parent (LIKE remote.big);
CREATE TABLE remote.child () INHERITS (remote.parent);
INSERT INTO remote.parts TABLE remote.big;
INSERT INTO remote.child TABLE remote.big;
ANALYZE remote.parts_1, remote.parts_2;
DO $$
DECLARE
	place		text;
BEGIN
	FOREACH place IN ARRAY '{none,seen,parts,parent}'::text[] LOOP
		EXECUTE format('CREATE FOREIGN TABLE %I (id int, few int, word text) SERVER loopback OPTIONS (schema_name ''remote'')', place);
		EXECUTE format('ANALYZE %I', place);
		RAISE NOTICE '%: %, %', place,
			(SELECT reltuples FROM pg_class WHERE oid = place::regclass),
			(SELECT string_agg((s.attname, round(s.n_distinct::numeric, 1))::text, ' ' ORDER BY attname)
			 FROM pg_stats s WHERE s.schemaname = 'public' AND s.tablename = place);
	END LOOP;
END
$$;

-- as a part of a local table
CREATE TABLE whole (id int, few int, word text) PARTITION BY LIST (few);
CREATE FOREIGN TABLE whole_far PARTITION OF whole FOR VALUES IN (3) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'three');
CREATE TABLE whole_here PARTITION OF whole DEFAULT;
CREATE TABLE remote.three AS SELECT * FROM remote.big WHERE few = 3;
INSERT INTO whole_here SELECT * FROM remote.big WHERE few <> 3;
ANALYZE whole;
SELECT reltuples BETWEEN 19000 AND 21000 FROM pg_class WHERE oid = 'whole'::regclass;
SELECT n_distinct FROM pg_stats WHERE tablename = 'whole' AND attname = 'few';
DROP TABLE whole;

-- remote statistics that are out of date are noticed, and the sample is large
-- enough in spite of them
CREATE TABLE remote.shrunk (id int, few int, word text);
ALTER TABLE remote.shrunk SET (autovacuum_enabled = off);
INSERT INTO remote.shrunk SELECT i, i % 7, 'word' FROM generate_series(1, 200000) i;
ANALYZE remote.shrunk;
DELETE FROM remote.shrunk WHERE id % 10 <> 0;
CREATE FOREIGN TABLE shrunk (id int, few int, word text) SERVER loopback
	OPTIONS (schema_name 'remote', analyze_sampling 'auto');
DO $$
DECLARE
	method		text;
BEGIN
	FOREACH method IN ARRAY '{random,system,bernoulli,auto}'::text[] LOOP
		EXECUTE format('ALTER FOREIGN TABLE shrunk OPTIONS (SET analyze_sampling %L)', method);
		ANALYZE shrunk;
		RAISE NOTICE '%: rows %, histogram %', method,
			(SELECT reltuples BETWEEN 12000 AND 30000 FROM pg_class WHERE oid = 'shrunk'::regclass),
			(SELECT array_length(histogram_bounds::text::int[], 1) = 11
			 FROM pg_stats WHERE schemaname = 'public' AND tablename = 'shrunk' AND attname = 'id');
	END LOOP;
END
$$;
DROP FOREIGN TABLE shrunk;

-- it sees what its transaction did, after TRUNCATE too
BEGIN;
DELETE FROM big WHERE id > 100;
ANALYZE big;
SELECT max(bound) <= 100
FROM pg_stats, unnest(histogram_bounds::text::int[]) AS bound
WHERE schemaname = 'public' AND tablename = 'big' AND attname = 'id';
TRUNCATE big;
ANALYZE big;
SELECT reltuples FROM pg_class WHERE oid = 'big'::regclass;
ROLLBACK;

-- its query is not compiled, and later ones are as before
CREATE VIEW remote.jit AS SELECT current_setting('jit') AS jit;
CREATE FOREIGN TABLE remote_jit (jit text) SERVER loopback OPTIONS (schema_name 'remote', table_name 'jit');
CREATE TABLE remote.settings AS SELECT i AS id, i % 7 AS few, 'word'::text AS word FROM generate_series(1, 20000) i;
CREATE FUNCTION remote.is_seen(text) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	IF current_setting('jit') <> 'off' THEN
		RAISE EXCEPTION 'jit is %', current_setting('jit');
	END IF;
	RETURN true;
END
$$;
ALTER TABLE remote.settings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY seen ON remote.settings USING (remote.is_seen(word));
ANALYZE remote.settings;
CREATE ROLE regress_tollfree_reader LOGIN;
GRANT USAGE ON SCHEMA remote TO regress_tollfree_reader;
GRANT SELECT ON remote.settings, remote.jit TO regress_tollfree_reader;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (ADD user 'regress_tollfree_reader');
CREATE FOREIGN TABLE settings (id int, few int, word text) SERVER loopback OPTIONS (schema_name 'remote');
ALTER ROLE regress_tollfree_reader SET jit = off;
BEGIN;
ANALYZE settings;
SELECT * FROM remote_jit;
COMMIT;
SELECT tollfree_postgres_fdw_disconnect('loopback');
ALTER ROLE regress_tollfree_reader SET jit = on;
BEGIN;
ANALYZE settings;
SELECT * FROM remote_jit;
ROLLBACK;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (DROP user);
DROP FOREIGN TABLE settings, remote_jit;
DROP TABLE remote.settings;
DROP OWNED BY regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;

-- interrupted, locked, dropped, without rights: an error, and old statistics
SELECT count(*) FROM shown('big');
BEGIN;
SAVEPOINT s;
LOCK TABLE remote.big;
SET LOCAL statement_timeout = '200ms';
ANALYZE big;
ROLLBACK TO s;
SELECT count(*) FROM items;
COMMIT;
CREATE VIEW remote.minute AS SELECT i AS id, 1 AS few, '' AS word FROM generate_series(1, 600) i, LATERAL pg_sleep(0.1 + 0 * i);
ALTER FOREIGN TABLE big OPTIONS (SET table_name 'minute');
BEGIN;
SET LOCAL statement_timeout = '200ms';
ANALYZE big;
ROLLBACK;
ALTER FOREIGN TABLE big OPTIONS (SET table_name 'gone');
ANALYZE big;
ALTER FOREIGN TABLE big OPTIONS (SET table_name 'big');
CREATE ROLE regress_tollfree_reader;
GRANT USAGE ON SCHEMA remote TO regress_tollfree_reader;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (ADD user 'regress_tollfree_reader');
ALTER ROLE regress_tollfree_reader LOGIN;
ANALYZE big;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (DROP user);
SELECT count(*) FROM shown('big');
DROP VIEW remote.minute;
DROP OWNED BY regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;

-- a value that cannot be read names its column
ALTER FOREIGN TABLE big ALTER word TYPE int;
ALTER FOREIGN TABLE big OPTIONS (ADD analyze_sampling 'off');
\set VERBOSITY terse
ANALYZE big;
\set VERBOSITY default
ALTER FOREIGN TABLE big ALTER word TYPE text;

-- reading a value may use the session that brings it
CREATE FUNCTION is_item(int) RETURNS bool
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN $1 NOT IN (1, 700) OR EXISTS (SELECT FROM public.items WHERE id = $1);
EXCEPTION
	WHEN division_by_zero THEN RETURN false;
END
$$;
CREATE DOMAIN item_id AS int CHECK (public.is_item(VALUE));
ALTER FOREIGN TABLE big ALTER id TYPE item_id;
ANALYZE big;
SELECT * FROM shown('big');
DROP FOREIGN TABLE big, none, seen, parts, parent;
DROP DOMAIN item_id;
RESET default_statistics_target;
