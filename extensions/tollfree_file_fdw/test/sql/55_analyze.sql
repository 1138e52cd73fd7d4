-- ANALYZE by random blocks
SET default_statistics_target = 1;
ANALYZE ours.texts, ours.csvs, stock.texts;
SELECT oid::regclass, reltuples BETWEEN 4000 AND 6000 AS has_rows, relpages = (SELECT relpages FROM pg_class WHERE oid = 'stock.texts'::regclass) AS has_pages
FROM pg_class WHERE oid = 'ours.texts'::regclass;
SELECT schemaname, tablename, attname, n_distinct
FROM pg_stats WHERE tablename IN ('texts', 'csvs') AND attname IN ('ok', 'code', 'small') ORDER BY 1, 2, 3;
SET tollfree_file_fdw.sample_blocks = off;
ANALYZE ours.texts;
SELECT reltuples FROM pg_class WHERE oid = 'ours.texts'::regclass;
RESET tollfree_file_fdw.sample_blocks;

-- A string that stands for a column's default, from 16 on
SELECT current_setting('server_version_num')::int >= 160000 AS has_default \gset
\if :has_default
\getenv abs_srcdir PG_ABS_SRCDIR
\set plain :abs_srcdir '/data/plain.txt'
CREATE FOREIGN TABLE ours.defaults (id int, name text DEFAULT 'none', amount text, day text) SERVER ours
	OPTIONS (filename :'plain', delimiter '|', default 'one');
ANALYZE ours.defaults;
DROP FOREIGN TABLE ours.defaults;
\endif
