-- Who may do what, what is kept of files for whom, and rows that are hidden.
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/rights.txt'
SET client_min_messages = warning;
LOAD 'tollfree_file_fdw';

-- functions: none runs as its owner
SELECT p.proname, p.prosecdef AS as_owner, has_function_privilege('public', p.oid, 'EXECUTE') AS everybody
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'tollfree_file_fdw'
ORDER BY p.proname COLLATE "C";
SELECT has_foreign_data_wrapper_privilege('public', 'tollfree_file_fdw', 'USAGE') AS everybody;
-- settings that not everybody may change
SELECT name, context FROM pg_settings WHERE name LIKE 'tollfree\_file\_fdw.%' AND context <> 'user' ORDER BY name COLLATE "C";

-- What is kept is the server's user's alone.
CREATE TABLE kept AS SELECT i AS id, i % 7 AS v, 'name ' || i AS name FROM generate_series(1, 20000) i;
COPY kept TO :'file';
SELECT make_pair('kept', 'id int, v int, name text', :'file', $$format 'text'$$);
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.column_cache = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT sum(v), count(name) FROM ours.kept;
SELECT sum(v), count(name) FROM ours.kept;
CREATE TABLE modes (kind text, mode text);
COPY modes FROM PROGRAM 'cd pgsql_tmp_tollfree_file_fdw && find . -printf "%y\t%m\n" | sort -u';
SELECT * FROM modes ORDER BY kind;

-- Rows that row security, or a view, hides: what could tell of them does not see them.
CREATE FUNCTION public.is_shown(x int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN x <> 3; END';
CREATE FUNCTION public.snoop(x int) RETURNS bool STABLE COST 0.000001 LANGUAGE plpgsql
AS 'BEGIN IF x = 3 THEN RAISE EXCEPTION ''leak''; END IF; RETURN true; END';
CREATE ROLE regress_tollfree_reader;
GRANT USAGE ON SCHEMA stock, ours TO regress_tollfree_reader;
CREATE TABLE sought AS SELECT i AS k FROM generate_series(1, 100) i;
ANALYZE sought;
GRANT SELECT ON sought TO PUBLIC;
DO $$
DECLARE
	side text;
BEGIN
	FOREACH side IN ARRAY '{stock,ours}'::text[] LOOP
		EXECUTE format('SET LOCAL search_path = %I', side);
		CREATE TABLE hiding (id int, v int, name text) PARTITION BY RANGE (id);
		ALTER TABLE hiding ATTACH PARTITION kept FOR VALUES FROM (0) TO (100000);
		ALTER TABLE hiding ENABLE ROW LEVEL SECURITY;
		CREATE POLICY shown ON hiding USING (public.is_shown(id));
		CREATE VIEW barriers WITH (security_barrier) AS SELECT * FROM kept WHERE public.is_shown(id);
		CREATE VIEW simple WITH (security_barrier) AS SELECT * FROM kept WHERE id <> 3;
		GRANT SELECT ON hiding, barriers, simple TO regress_tollfree_reader;
	END LOOP;
END
$$;
SET ROLE regress_tollfree_reader;
SELECT relation, query, agree(replace(query, 'hiding', relation))
FROM unnest(ARRAY['hiding', 'barriers', 'simple']) relation, unnest(ARRAY[
	'SELECT count(*) FROM hiding WHERE snoop(id)',
	'SELECT count(*) FROM hiding WHERE id = 3 AND snoop(id)',
	'SELECT count(*) FROM hiding WHERE id < 10 AND 6 / (id - 3) > -7',
	'SELECT sum(6 / (id - 3)), sum(v) FROM hiding',
	'SELECT v, count(*) FROM hiding WHERE snoop(id) GROUP BY v ORDER BY v',
	'SELECT count(*) FROM sought JOIN hiding ON id = k AND snoop(id)',
	'SELECT count(*) FROM sought JOIN hiding ON id = k WHERE 6 / (id - 3) > -7']) query
ORDER BY relation COLLATE "C", query COLLATE "C";
-- neither what is kept nor its files are for whom may not read the table
SELECT count(*) FROM tollfree_file_fdw_record_indexes() WHERE relation = 'ours.kept'::regclass;
SELECT count(*) FROM tollfree_file_fdw_cached_columns() WHERE relation = 'ours.kept'::regclass;
\set VERBOSITY sqlstate
SELECT * FROM tollfree_file_fdw_load_columns('ours.kept');
SELECT tollfree_file_fdw_drop_record_index('ours.kept');
SELECT tollfree_file_fdw_drop_cached_columns('ours.kept');
SET tollfree_file_fdw.record_index_size = 0;
\set VERBOSITY default
RESET ROLE;

RESET tollfree_file_fdw.record_index;
RESET tollfree_file_fdw.column_cache;
RESET tollfree_file_fdw.debug_record_index_age;
DROP VIEW stock.barriers, stock.simple, ours.barriers, ours.simple;
DROP TABLE stock.hiding, ours.hiding, kept, sought, modes;
DROP FUNCTION is_shown, snoop;
REVOKE ALL ON SCHEMA stock, ours FROM regress_tollfree_reader;
DROP ROLE regress_tollfree_reader;
