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
-- Records behind the first 16 kB may be longer.
\getenv abs_builddir PG_ABS_BUILDDIR
\set growing :abs_builddir '/results/growing.txt'
COPY (SELECT i, i % 13, repeat('x', CASE WHEN i <= 250 THEN 60 ELSE 3000 END) FROM generate_series(1, 3250) i) TO :'growing' (DELIMITER ',');
SELECT make_pair('growing_text', 'id int, few int, filler text', :'growing', $$delimiter ','$$),
	make_pair('growing_csv', 'id int, few int, filler text', :'growing', $$format 'csv'$$);
ANALYZE ours.growing_text, ours.growing_csv;
SELECT relname, reltuples BETWEEN 2000 AND 6000 AS has_rows, n_distinct
FROM pg_class JOIN pg_stats ON schemaname = relnamespace::regnamespace::text AND tablename = relname
WHERE relname LIKE 'growing%' AND relkind = 'f' AND attname = 'few' ORDER BY 1;

-- The line of an error is counted from the file's beginning: every value here has its own.
\getenv abs_builddir PG_ABS_BUILDDIR
\set plain :abs_builddir '/results/own_lines.txt'
\set headed :abs_builddir '/results/own_lines_headed.txt'
COPY (SELECT 'x' || i FROM generate_series(1, 5000) i) TO :'plain';
COPY (SELECT 'x' || i + 1 AS a FROM generate_series(1, 5000) i) TO :'headed' (HEADER);
CREATE FUNCTION analyzed_line(path text, options text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	value text;
	context text;
BEGIN
	PERFORM make_pair('own_lines', 'a int', path, options);
	ANALYZE ours.own_lines;
	RETURN 'no error';
EXCEPTION WHEN invalid_text_representation THEN
	GET STACKED DIAGNOSTICS value = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
	RETURN CASE WHEN substring(context FROM '^COPY own_lines, line (\d+), column a: "x') = substring(value FROM '"x(\d+)"') THEN 'its own' ELSE context END;
END
$$;
SELECT format, analyzed_line(:'plain', format('format %L', format)) AS line, analyzed_line(:'headed', format('header ''true'', format %L', format)) AS line_behind_header
FROM unnest('{text,csv}'::text[]) format;

-- So is one in the block that the file begins with, behind a record of several lines.  About every other sample has that block.
\set broken :abs_builddir '/results/broken_first.csv'
COPY (SELECT CASE i WHEN 1 THEN E'x\ny' ELSE 'value' END, CASE i WHEN 1 THEN '1' WHEN 2 THEN 'bad' ELSE lpad(i::text, 9, '0') END FROM generate_series(1, 700) i) TO :'broken' (FORMAT csv);
CREATE FUNCTION analyzed_context(relation text, times int) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	context text;
BEGIN
	FOR i IN 1..times LOOP
		EXECUTE 'ANALYZE ' || relation;
	END LOOP;
	RETURN 'no error';
EXCEPTION WHEN invalid_text_representation THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN substring(context FROM '^COPY [^\n]*');
END
$$;
SELECT make_pair('broken_first', 'a text, b int', :'broken', $$format 'csv'$$);
SELECT side, analyzed_context(side || '.broken_first', times) FROM (VALUES ('stock', 1), ('ours', 100)) t (side, times);

-- What is behind an end-of-data marker is no row, wherever blocks are drawn; in CSV format from 18 on there is none. So many times a row that is no number is drawn, though it be one of 2000.
\set ended :abs_builddir '/results/ended.txt'
CREATE FUNCTION analyzed_rows(relation text, times int) RETURNS text LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..times LOOP
		EXECUTE 'ANALYZE ' || relation;
	END LOOP;
	RETURN (SELECT reltuples FROM pg_class WHERE oid = relation::regclass);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END
$$;
CREATE FUNCTION write_ended(place int, relation text, file text) RETURNS text LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT CASE WHEN i < %1$s THEN lpad(i::text, 4 + i %% 3, ''0'') WHEN i = %1$s THEN ''.'' ELSE ''other'' END FROM generate_series(1, 2000) i) TO PROGRAM %2$L',
				   place, format($sed$sed 's/^[.]$/\\./' > '%s'$sed$, file));
	RETURN relation;
END
$$;
SELECT make_pair('ended_text', 'a int', :'ended', $$format 'text'$$), make_pair('ended_csv', 'a int', :'ended', $$format 'csv'$$);
SELECT place, relation, analyzed_rows('ours.' || relation, 100) = analyzed_rows('stock.' || relation, 1) AS agrees
FROM unnest('{ended_text,ended_csv}'::text[]) r (name), unnest('{2,3,77,1000,1400,1950,2000}'::int[]) place, write_ended(place, r.name, :'ended') relation;
-- Other backslashes and dots do not keep ANALYZE from drawing blocks, of which it reads a part of the values.
\set escaped :abs_builddir '/results/escaped.txt'
CREATE SEQUENCE values_read;
CREATE FUNCTION stable_nextval(regclass) RETURNS bigint LANGUAGE internal STABLE STRICT AS 'nextval_oid';
CREATE DOMAIN sampled_text AS text CHECK (stable_nextval('values_read') > 0);
COPY (SELECT repeat('\', i % 5) || '.' FROM generate_series(1, 5000) i) TO :'escaped';
SELECT make_pair('escaped', 'a sampled_text', :'escaped', $$format 'text'$$);
ANALYZE ours.escaped;
SELECT reltuples BETWEEN 4000 AND 6000 AS has_rows, (SELECT last_value < 2000 FROM values_read) AS is_sample FROM pg_class WHERE oid = 'ours.escaped'::regclass;
-- What a CHECK that may have effects has to say it says once of each value.
ALTER DOMAIN sampled_text ADD CHECK (nextval('values_read') > 0);
SELECT setval('values_read', 1, false);
ANALYZE ours.escaped;
SELECT last_value FROM values_read;
DROP FOREIGN TABLE ours.escaped, stock.escaped;
DROP DOMAIN sampled_text;
DROP FUNCTION stable_nextval;
DROP SEQUENCE values_read;

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

-- A partitioned table all of whose partitions are files: sampled by blocks, read whole, empty, and a
-- program's, which ANALYZE passes over on both sides. A fiftieth of the rows is in the short one.
\set long :abs_builddir '/results/long.txt'
\set short :abs_builddir '/results/short.txt'
\set nothing :abs_builddir '/results/nothing.txt'
COPY (SELECT i, i % 3 FROM generate_series(1, 100000) i) TO :'long';
COPY (SELECT i, 3 FROM generate_series(100001, 102000) i) TO :'short';
COPY (SELECT WHERE false) TO :'nothing';
CREATE FUNCTION make_parent(side text, long text, short text, nothing text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('search_path', side || ', public', true);
	CREATE TABLE parent (id int, kind int) PARTITION BY RANGE (id);
	EXECUTE format('CREATE FOREIGN TABLE parent_long PARTITION OF parent FOR VALUES FROM (1) TO (100001) SERVER %I OPTIONS (filename %L)', side, long);
	EXECUTE format('CREATE FOREIGN TABLE parent_short PARTITION OF parent FOR VALUES FROM (100001) TO (102001) SERVER %I OPTIONS (filename %L)', side, short);
	EXECUTE format('CREATE FOREIGN TABLE parent_empty PARTITION OF parent FOR VALUES FROM (102001) TO (103001) SERVER %I OPTIONS (filename %L)', side, nothing);
	EXECUTE format('CREATE FOREIGN TABLE parent_program PARTITION OF parent FOR VALUES FROM (103001) TO (104001) SERVER %I OPTIONS (program ''echo 103001'')', side);
END
$$;
SELECT make_parent('stock', :'long', :'short', :'nothing'), make_parent('ours', :'long', :'short', :'nothing');
SET default_statistics_target = 10;
\set VERBOSITY sqlstate
ANALYZE stock.parent, ours.parent;
\set VERBOSITY default
RESET default_statistics_target;
SELECT c.oid::regclass, abs(c.reltuples - 102000) < 5000 AS has_rows,
	   id.n_distinct = -1 AS all_ids, kind.n_distinct AS kinds, kind.freq BETWEEN 0.01 AND 0.05 AS is_weighed
FROM pg_class c,
	LATERAL (SELECT n_distinct FROM pg_stats
			 WHERE schemaname = c.relnamespace::regnamespace::text AND tablename = 'parent' AND attname = 'id') id,
	LATERAL (SELECT n_distinct, most_common_freqs[array_position(most_common_vals::text::int[], 3)] AS freq FROM pg_stats
			 WHERE schemaname = c.relnamespace::regnamespace::text AND tablename = 'parent' AND attname = 'kind') kind
WHERE c.relname = 'parent'
ORDER BY 1;
DROP TABLE stock.parent, ours.parent;
DROP FUNCTION make_parent;
