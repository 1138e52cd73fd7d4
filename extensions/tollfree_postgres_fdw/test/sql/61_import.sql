-- ANALYZE by importing the remote server's own statistics.
CREATE FUNCTION same_statistics(foreign_table regclass, remote_table regclass) RETURNS TABLE (name text, same bool)
LANGUAGE sql
AS $$
	SELECT coalesce(f.attname, r.attname),
		   coalesce((f.null_frac, f.avg_width, f.n_distinct, f.most_common_vals::text,
					 f.most_common_freqs, f.histogram_bounds::text, f.correlation)
					IS NOT DISTINCT FROM
					(r.null_frac, r.avg_width, r.n_distinct, r.most_common_vals::text,
					 r.most_common_freqs, r.histogram_bounds::text, r.correlation), false)
	FROM (SELECT * FROM pg_stats WHERE format('%I.%I', schemaname, tablename)::regclass = $1) f
		FULL JOIN (SELECT * FROM pg_stats WHERE format('%I.%I', schemaname, tablename)::regclass = $2) r
			USING (attname)
	ORDER BY 1
$$;
CREATE FUNCTION estimated(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	line		text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		RETURN substring(line FROM 'rows=(\d+)');
	END LOOP;
END
$$;

CREATE TABLE remote.goods (
	id int PRIMARY KEY, kind text, weight float8, made timestamptz, price numeric(10,2),
	code char(6), gone int, note text, shape point);
ALTER TABLE remote.goods SET (autovacuum_enabled = off);
INSERT INTO remote.goods
SELECT i, CASE WHEN i % 3 = 0 THEN 'common, "quoted" {}\' ELSE 'kind ' || i % 500 END, i / 7.0,
	   '2020-01-01 00:00+00'::timestamptz + i * interval '1 minute', i % 100, i % 50,
	   NULL, nullif(i % 4, 0)::text, point(i, i)
FROM generate_series(1, 5000) i;
-- else these changes would be counted after ANALYZE
SELECT pg_stat_force_next_flush();
ANALYZE remote.goods;
CREATE FOREIGN TABLE goods (
	id int, kind text, weight float8, made timestamptz, price numeric(10,2),
	code char(6), gone int, note text, shape point)
	SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
SELECT count(*) FROM items WHERE id = 1;
SELECT round_trips_since(0) AS before \gset
ANALYZE goods;
SELECT round_trips_since(:before);
SELECT * FROM same_statistics('goods', 'remote.goods');
SELECT reltuples, relpages = pg_relation_size('remote.goods') / 8192 AS pages
FROM pg_class WHERE oid = 'goods'::regclass;
SELECT query, estimated(replace(query, '%', 'goods')) = estimated(replace(query, '%', 'remote.goods')) AS same
FROM unnest(ARRAY[
	'SELECT FROM % WHERE id < 1000',
	'SELECT FROM % WHERE kind = ''kind 7''',
	'SELECT FROM % WHERE made > ''2020-01-03''',
	'SELECT FROM % WHERE price BETWEEN 10 AND 20 AND weight < 300',
	'SELECT FROM % WHERE gone IS NULL AND note IS NOT NULL']) AS query;

-- again: rows are replaced; values changed by hand come back
UPDATE pg_statistic SET stadistinct = 3 WHERE starelid = 'goods'::regclass;
ANALYZE goods;
SELECT bool_and(same) FROM same_statistics('goods', 'remote.goods');

-- columns that nobody wants statistics of, and a setting that decides
ALTER FOREIGN TABLE goods ALTER note SET STATISTICS 0;
ALTER FOREIGN TABLE goods ALTER kind SET (n_distinct = 42);
DELETE FROM pg_statistic WHERE starelid = 'goods'::regclass;
ANALYZE goods;
SELECT name, n_distinct FROM same_statistics('goods', 'remote.goods')
	LEFT JOIN pg_stats ON schemaname = 'public' AND tablename = 'goods' AND attname = name
WHERE NOT same;
ALTER FOREIGN TABLE goods ALTER note SET STATISTICS -1;
ALTER FOREIGN TABLE goods ALTER kind RESET (n_distinct);

-- what cannot be imported is sampled
ALTER FOREIGN TABLE goods ALTER gone TYPE int8;
ANALYZE goods;
SET tollfree_postgres_fdw.debug_require = 'import';
ANALYZE goods;
ALTER FOREIGN TABLE goods ALTER gone TYPE int;
ANALYZE goods;
RESET tollfree_postgres_fdw.debug_require;
SELECT bool_and(same) FROM same_statistics('goods', 'remote.goods') WHERE name <> 'gone';
ALTER TABLE remote.goods ALTER note TYPE text COLLATE "C";
ALTER FOREIGN TABLE goods ALTER note TYPE text COLLATE "POSIX";
ANALYZE remote.goods;
\set VERBOSITY terse
ANALYZE goods;
\set VERBOSITY default
ALTER FOREIGN TABLE goods ALTER note TYPE text COLLATE "C";
ANALYZE goods;
CREATE DOMAIN note AS text COLLATE "C";
ALTER FOREIGN TABLE goods ALTER note TYPE note;
ANALYZE goods;
ALTER FOREIGN TABLE goods ALTER note TYPE text COLLATE "C";
ALTER TABLE remote.goods ADD words text[];
ALTER FOREIGN TABLE goods ADD words text[];
ANALYZE remote.goods;
ANALYZE goods;
ALTER FOREIGN TABLE goods DROP words;
CREATE STATISTICS pairs ON kind, code FROM goods;
ANALYZE goods;
DROP STATISTICS pairs;
SET track_activities = off;
ANALYZE goods;
RESET track_activities;
ALTER TABLE remote.goods ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY everything ON remote.goods USING (true);
CREATE ROLE regress_tollfree_reader LOGIN;
GRANT USAGE ON SCHEMA remote TO regress_tollfree_reader;
GRANT SELECT ON remote.goods TO regress_tollfree_reader;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (ADD user 'regress_tollfree_reader');
ANALYZE goods;
ALTER TABLE remote.goods DISABLE ROW LEVEL SECURITY;
ANALYZE goods;
ALTER USER MAPPING FOR PUBLIC SERVER loopback OPTIONS (DROP user);
DROP OWNED BY regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;

-- nothing to import, or nothing that is true of it any more
INSERT INTO remote.goods (id) SELECT generate_series(10001, 11000);
SELECT pg_stat_force_next_flush();
ANALYZE goods;
SELECT reltuples FROM pg_class WHERE oid = 'goods'::regclass;
ANALYZE remote.goods;
ANALYZE goods;
CREATE TABLE remote.new (a int);
ALTER TABLE remote.new SET (autovacuum_enabled = off);
INSERT INTO remote.new SELECT generate_series(1, 100);
-- whether these have been counted makes no difference
SELECT pg_stat_force_next_flush();
CREATE VIEW remote.view_of_goods AS SELECT id FROM remote.goods;
CREATE TABLE remote.parent_of_goods (id int);
CREATE TABLE remote.child_of_goods () INHERITS (remote.parent_of_goods);
CREATE FOREIGN TABLE new (a int) SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
CREATE FOREIGN TABLE view_of_goods (id int) SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
CREATE FOREIGN TABLE parent_of_goods (id int) SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
ANALYZE new;
ANALYZE view_of_goods;
ANALYZE parent_of_goods;
ALTER FOREIGN TABLE new OPTIONS (ADD table_name 'gone');
\set VERBOSITY terse
ANALYZE new;
\set VERBOSITY default
SELECT reltuples FROM pg_class WHERE oid = 'new'::regclass;

-- as a part of a local table: imported for itself, sampled for the whole
CREATE TABLE all_goods (a int) PARTITION BY RANGE (a);
CREATE TABLE remote.far_goods AS SELECT generate_series(1, 1000) AS a;
SELECT pg_stat_force_next_flush();
ANALYZE remote.far_goods;
CREATE FOREIGN TABLE far_goods PARTITION OF all_goods FOR VALUES FROM (1) TO (2000)
	SERVER loopback OPTIONS (schema_name 'remote', analyze_sampling 'import');
ANALYZE all_goods;
SELECT * FROM same_statistics('far_goods', 'remote.far_goods');
SELECT n_distinct, inherited FROM pg_stats WHERE tablename = 'all_goods';
DROP TABLE all_goods;

-- postgres_fdw does not know it
ALTER SERVER loopback OPTIONS (ADD analyze_sampling 'import');
SELECT tollfree_postgres_fdw_release('loopback');
ALTER SERVER loopback OPTIONS (DROP analyze_sampling);
SELECT tollfree_postgres_fdw_release('loopback');
DROP FOREIGN TABLE goods, new, view_of_goods, parent_of_goods;
DROP DOMAIN note;
