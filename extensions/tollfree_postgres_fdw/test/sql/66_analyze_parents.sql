-- ANALYZE of a local table whose parts are all foreign: of remote tables, views,
-- partitioned tables and foreign tables, which have no size of their own.
-- 3000 rows are wanted
SET default_statistics_target = 10;
CREATE TABLE remote.herd (id int, side text) WITH (autovacuum_enabled = off);
INSERT INTO remote.herd SELECT i, CASE WHEN i <= 6000 THEN 'left' ELSE 'right' END
FROM generate_series(1, 60000) i;
CREATE TABLE remote.herd_left (LIKE remote.herd) WITH (autovacuum_enabled = off);
INSERT INTO remote.herd_left SELECT * FROM remote.herd WHERE side = 'left';
CREATE TABLE remote.herd_right (LIKE remote.herd) WITH (autovacuum_enabled = off);
INSERT INTO remote.herd_right SELECT * FROM remote.herd WHERE side = 'right';
CREATE VIEW remote.herd_left_seen AS TABLE remote.herd_left;
CREATE VIEW remote.herd_right_seen AS TABLE remote.herd_right;
CREATE TABLE remote.herd_left_parted (LIKE remote.herd) PARTITION BY RANGE (id);
CREATE TABLE remote.herd_left_part PARTITION OF remote.herd_left_parted DEFAULT
	WITH (autovacuum_enabled = off);
INSERT INTO remote.herd_left_parted TABLE remote.herd_left;
CREATE FOREIGN TABLE remote.herd_right_far (id int, side text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'herd_right');
CREATE TABLE remote.herd_right_parted (LIKE remote.herd) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE remote.herd_right_part PARTITION OF remote.herd_right_parted DEFAULT
	SERVER loopback OPTIONS (schema_name 'remote', table_name 'herd_right');
CREATE TABLE remote.herd_empty (LIKE remote.herd) WITH (autovacuum_enabled = off);
CREATE VIEW remote.herd_empty_seen AS TABLE remote.herd_empty;
ANALYZE remote.herd_left, remote.herd_right, remote.herd_left_part, remote.herd_right_far,
	remote.herd_right_part, remote.herd_empty;

-- What is known of the parent after ANALYZE: rows, a tenth of which are left.
CREATE FUNCTION gathered(on_the_left text, on_the_right text,
						 OUT reltuples real, OUT columns int8, OUT left_tenth bool, OUT ids bool)
LANGUAGE plpgsql
AS $$
BEGIN
	CREATE TABLE herd (id int, side text) PARTITION BY LIST (side);
	EXECUTE format('CREATE FOREIGN TABLE herd_left PARTITION OF herd FOR VALUES IN (''left'')'
				   ' SERVER loopback OPTIONS (schema_name ''remote'', table_name %L)', on_the_left);
	EXECUTE format('CREATE FOREIGN TABLE herd_right PARTITION OF herd FOR VALUES IN (''right'')'
				   ' SERVER loopback OPTIONS (schema_name ''remote'', table_name %L)', on_the_right);
	ANALYZE herd;
	-- estimated from some blocks, where a table has not been analyzed remotely
	SELECT round(c.reltuples / 3000) * 3000, (SELECT count(*) FROM pg_statistic WHERE starelid = c.oid)
	INTO reltuples, columns
	FROM pg_class c WHERE oid = 'herd'::regclass;
	SELECT most_common_freqs[array_position(most_common_vals::text::text[], 'left')] BETWEEN 0.08 AND 0.12
	INTO left_tenth
	FROM pg_stats WHERE schemaname = 'public' AND tablename = 'herd' AND attname = 'side';
	SELECT n_distinct = -1 INTO ids
	FROM pg_stats WHERE schemaname = 'public' AND tablename = 'herd' AND attname = 'id';
	DROP TABLE herd;
END
$$;
SELECT on_the_left, on_the_right, g.*
FROM (VALUES ('herd_left', 'herd_right'),
			 ('herd_left_seen', 'herd_right_seen'),
			 ('herd_left_parted', 'herd_right'),
			 ('herd_left', 'herd_right_far'),
			 ('herd_left_seen', 'herd_right_parted'),
			 ('herd_left_seen', 'herd_right'),
			 ('herd_empty', 'herd_right'),
			 ('herd_empty', 'herd_right_seen'),
			 ('herd_empty', 'herd_empty'),
			 ('herd_empty_seen', 'herd_empty_seen')) AS pair (on_the_left, on_the_right),
	LATERAL gathered(on_the_left, on_the_right) AS g;

-- a child, and a foreign table that is no part of anything
CREATE TABLE herd (id int, side text);
CREATE FOREIGN TABLE herd_child () INHERITS (herd) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'herd_right_seen');
CREATE FOREIGN TABLE herd_alone (id int, side text) SERVER loopback
	OPTIONS (schema_name 'remote', table_name 'herd_right_seen');
ANALYZE herd, herd_child, herd_alone;
SELECT relname, relpages > 0 AS has_pages, reltuples,
	   (SELECT count(*) FROM pg_statistic WHERE starelid = oid) AS columns
FROM pg_class WHERE relname IN ('herd', 'herd_child', 'herd_alone')
	AND relnamespace = 'public'::regnamespace
ORDER BY relname DESC;

-- a view that fails, asked for its size or its rows
ALTER TABLE remote.herd_right RENAME side TO other_side;
CREATE VIEW remote.herd_failing AS SELECT 1 / (id - id) AS id, other_side AS side FROM remote.herd_right;
ALTER FOREIGN TABLE herd_child OPTIONS (SET table_name 'herd_failing');
ANALYZE herd;
SELECT reltuples FROM pg_class WHERE oid = 'herd_child'::regclass;

-- A child that the remote user may not read has no rows, as with postgres_fdw.
CREATE ROLE regress_tollfree_shepherd LOGIN;
GRANT USAGE ON SCHEMA remote TO regress_tollfree_shepherd;
GRANT SELECT ON remote.herd_left TO regress_tollfree_shepherd;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER pasture FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER pasture OPTIONS (user 'regress_tollfree_shepherd', password_required 'false');
CREATE TABLE flock (id int, side text);
CREATE FOREIGN TABLE flock_left () INHERITS (flock) SERVER pasture OPTIONS (schema_name 'remote', table_name 'herd_left');
CREATE FOREIGN TABLE flock_right () INHERITS (flock) SERVER pasture OPTIONS (schema_name 'remote', table_name 'herd_right_seen');
-- from 18 on the children are analyzed, too, unless ONLY says otherwise
DO $$
BEGIN
	EXECUTE CASE WHEN current_setting('server_version_num')::int < 180000 THEN 'ANALYZE flock' ELSE 'ANALYZE ONLY flock' END;
END
$$;
SELECT attname, n_distinct FROM pg_stats WHERE schemaname = 'public' AND tablename = 'flock' AND inherited ORDER BY attname;
DROP TABLE flock CASCADE;
DROP SERVER pasture CASCADE;
REVOKE ALL ON remote.herd_left FROM regress_tollfree_shepherd;
REVOKE ALL ON SCHEMA remote FROM regress_tollfree_shepherd;
DROP ROLE regress_tollfree_shepherd;

\set VERBOSITY terse
DROP TABLE herd CASCADE;
DROP FOREIGN TABLE herd_alone, remote.herd_right_far;
DROP FUNCTION gathered;
DROP VIEW remote.herd_left_seen, remote.herd_right_seen, remote.herd_empty_seen, remote.herd_failing;
DROP TABLE remote.herd, remote.herd_left, remote.herd_right, remote.herd_left_parted,
	remote.herd_right_parted, remote.herd_empty;
\set VERBOSITY default
RESET default_statistics_target;
