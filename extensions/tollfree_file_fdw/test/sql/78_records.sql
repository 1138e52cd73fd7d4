-- Records that COPY refuses, or takes for rows: options of their own.
\getenv abs_builddir PG_ABS_BUILDDIR
\set prefix :abs_builddir '/results/records_'
\set told :abs_builddir '/results/records_told'
\set folder :abs_builddir '/results/records_part*'
SET search_path = ours, public;
SET client_min_messages = warning;
CREATE FUNCTION put_file(content bytea, path text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, content);
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
-- The rows, or the error, by both parsers; and how often that is not the same.
CREATE FUNCTION read_records(name text, path text, columns text, options text, content text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	ways text[];
	way text;
	answer text[];
	first text[];
BEGIN
	path = path || name;
	PERFORM put_file(convert_to(content, 'UTF8'), path);
	name = 'records_' || name;
	EXECUTE format('CREATE FOREIGN TABLE ours.%I (%s) SERVER ours OPTIONS (filename %L, %s)', name, columns, path, options);
	FOREACH way IN ARRAY '{on,off}'::text[] LOOP
		PERFORM set_config('tollfree_file_fdw.fast_scan', way, true);
		answer = outcome(format('SELECT * FROM %I', name), 'ours');
		first = coalesce(first, answer);
		IF answer IS DISTINCT FROM first THEN
			RETURN NEXT 'DIFFERENT: ' || answer::text;
		END IF;
		answer = outcome(format('SELECT count(*) FROM %I', name), 'ours');
		IF first[1] !~ '^ERROR' AND answer[1] <> format('(%s)', cardinality(first)) THEN
			RETURN NEXT 'DIFFERENT COUNT: ' || answer::text;
		END IF;
	END LOOP;
	RETURN QUERY SELECT regexp_replace(line, '"/.*/', '"') FROM unnest(first) line;
	EXECUTE format('DROP FOREIGN TABLE ours.%I', name);
END
$$;
-- Each option alone
SELECT read_records('mark', :'prefix', 'a text, b text', $$format 'csv', byte_order_mark 'skip'$$, E'\uFEFFone,two\nthree,four\n');
SELECT read_records('no_mark', :'prefix', 'a text, b text', $$format 'csv', byte_order_mark 'skip', header 'match'$$, E'a,b\none,two\n');
SELECT read_records('marked', :'prefix', 'a text, b text', $$format 'csv', byte_order_mark 'skip', header 'match'$$, E'\uFEFFa,b\none,two\n');
SELECT read_records('lines', :'prefix', 'a int, b text', $$format 'csv', skip_lines '3', header 'true'$$, E'Report of "May\n\nx\na,b\n1,one\n2,two\n');
SELECT read_records('many_lines', :'prefix', 'a int, b text', $$format 'csv', skip_lines '30'$$, E'1,one\n2,two\n');
SELECT read_records('comments', :'prefix', 'a text, b text', $$format 'csv', comment '#'$$, E'# it "is\r\n#\n1,"#\n#, no comment"\n # none,b\n#" one,x\n"#none",y\n#');
SELECT read_records('long_comments', :'prefix', 'a text', $$comment '--'$$, E'--\n-\n\\--\n---x\n-\n--');
SELECT read_records('blank', :'prefix', 'a text, b text', $$format 'csv', blank_lines 'skip'$$, E'\n\r\n1,"\n\n"\n\n\n2,x\n\n');
SELECT read_records('blank_crlf', :'prefix', 'a text', $$format 'csv', blank_lines 'skip'$$, E'\r\n1\r\n\r\n2\r\n');
SELECT read_records('blank_cr', :'prefix', 'a text', $$format 'csv', blank_lines 'skip', comment '#'$$, E'\r#x\r1\r\r2\r#\r3');
SELECT read_records('missing', :'prefix', 'a text, b text, c int', $$format 'csv', missing_fields 'null'$$, E'1,"x\ny",3\n2\n"3,",4\n\n5,6,7');
SELECT read_records('missing_text', :'prefix', 'a text, b text, c int', $$missing_fields 'null'$$, E'1\t\\t\t3\n2\n\n\\N\tb\\\n\n\\.\n');
SELECT read_records('missing_last', :'prefix', 'a text, b text', $$format 'csv', missing_fields 'null'$$, E'1,x\n2');
SELECT read_records('extra', :'prefix', 'a text, b int', $$format 'csv', extra_fields 'ignore'$$, E'1,2,3\n"a,b",2,"c\nd","e""f"\n3,4,\n5,6\n');
SELECT read_records('both', :'prefix', 'a text, b int', $$format 'csv', extra_fields 'ignore', missing_fields 'null', header 'match'$$, E'a,b\n1\n1,2,3\n\n1,2\n1\n2,3,4,5\n');
SELECT read_records('domains', :'prefix', 'a text, b text OPTIONS (force_not_null ''true'')', $$format 'csv', missing_fields 'null'$$, E'1\n1,2\n');
-- All together; what each refuses by itself
SELECT read_records('all', :'prefix', 'a int, b text', $$format 'csv', byte_order_mark 'skip', skip_lines '1', comment '#', blank_lines 'skip', missing_fields 'null', extra_fields 'ignore', header 'true'$$,
	E'\uFEFFTitle "x\n#\n\na,b\n1,x\n# 2\n2\n3,y,z\n\n');
SELECT read_records('too_few', :'prefix', 'a int, b text', $$format 'csv', comment '#', extra_fields 'ignore'$$, E'# one\n1,x\n# three\n2\n');
SELECT read_records('too_many', :'prefix', 'a int, b text', $$format 'csv', comment '#', missing_fields 'null'$$, E'1,x\n2\n# three\n2,y,z\n');
SELECT read_records('wrong', :'prefix', 'a int, b text', $$format 'csv', comment '#', missing_fields 'null'$$, E'# one\n1,"x\n# two"\n# four\nx\n');
SELECT read_records('extra_lines', :'prefix', 'a int', $$format 'csv', extra_fields 'ignore'$$, E'1,x\n2,"\n\n"\nx,"\n"\n');
SELECT read_records('open', :'prefix', 'a int, b text', $$format 'csv', missing_fields 'null'$$, E'1,x\n2,"x\n');
SELECT read_records('mixed', :'prefix', 'a int, b text', $$format 'csv', comment '#'$$, E'# one\r\n1,x\n# three\r\n2,y\r\n');
SELECT read_records('bad_bytes', :'prefix', 'a int, b text', $$format 'csv', encoding 'LATIN1', comment '#', missing_fields 'null'$$, E'# \u00e9\n1,x\n2\n3,\u00e9\n# four\n4\n');
-- Long files: runs of all lengths, and small blocks at first
CREATE FUNCTION read_long(path text, options text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	content text;
	query text;
	answers text[];
BEGIN
	FOR period IN 1..9 LOOP
		SELECT string_agg(CASE i % (period * period) WHEN 0 THEN E'# "comment\n' || i WHEN 1 THEN i || E',"x\ny",' || i || ',more' WHEN 2 THEN E'\n' || i ELSE i || ',x,2020-01-01' END, E'\n')
			FROM generate_series(1, 6000) i INTO content;
		PERFORM put_file(convert_to(content, 'UTF8'), path || 'long');
		EXECUTE format('CREATE FOREIGN TABLE ours.long (a int, b text, c text) SERVER ours OPTIONS (filename %L, format ''csv'', %s)', path || 'long', options);
		FOREACH query IN ARRAY ARRAY['SELECT * FROM long', 'SELECT c, b FROM long WHERE a % 7 = 0', 'SELECT count(*), sum(a), count(b), min(c) FROM long', 'SELECT b, count(*) FROM long GROUP BY b ORDER BY b'] LOOP
			PERFORM set_config('tollfree_file_fdw.fast_scan', 'on', true);
			PERFORM set_config('tollfree_file_fdw.debug_require', 'scan', true);
			answers = outcome(query, 'ours');
			PERFORM set_config('tollfree_file_fdw.fast_scan', 'off', true);
			PERFORM set_config('tollfree_file_fdw.debug_require', 'none', true);
			IF answers IS DISTINCT FROM outcome(query, 'ours') OR answers[1] ~ 'ERROR' THEN
				RETURN NEXT format('%s, %s: %s', period, query, left(answers::text, 300));
			END IF;
		END LOOP;
		DROP FOREIGN TABLE ours.long;
	END LOOP;
END
$$;
SELECT read_long(:'prefix', $$comment '#', blank_lines 'skip', missing_fields 'null', extra_fields 'ignore'$$);
-- How often it mattered
SET client_min_messages = notice;
SELECT put_file(convert_to(E'Title\na,b\n1,x\n# 2\n2\n3,y,z\n\n4,x\n5\n', 'UTF8'), :'told');
CREATE FOREIGN TABLE told (a int, b text) SERVER ours OPTIONS (filename :'told', format 'csv', skip_lines '1', comment '#', blank_lines 'skip', missing_fields 'null', extra_fields 'ignore', header 'true');
SELECT * FROM told;
SELECT count(*) FROM told;
SELECT shown_plan('SELECT * FROM told', 'analyze, costs off, timing off, summary off, buffers off');
SELECT shown_plan('SELECT sum(a) FROM told', 'analyze, costs off, timing off, summary off, buffers off');
ANALYZE told;
SET tollfree_file_fdw.fast_scan = off;
SELECT shown_plan('SELECT * FROM told', 'analyze, costs off, timing off, summary off, buffers off');
RESET tollfree_file_fdw.fast_scan;
SELECT shown_plan('SELECT * FROM told');
-- Many files, each with a header and comments of its own; also one that names its columns
SELECT put_file(convert_to(E'# 1\na,b\n1\n2,x,y\n', 'UTF8'), :'prefix' || 'part1');
SELECT put_file(convert_to(E'\n# 2\nb,a\nz,3\n# 4\nx\n', 'UTF8'), :'prefix' || 'part2');
CREATE FOREIGN TABLE ragged (a text, b text) SERVER ours OPTIONS (filenames :'folder', format 'csv', comment '#', blank_lines 'skip', missing_fields 'null', extra_fields 'ignore', header 'true');
SELECT * FROM ragged;
ALTER FOREIGN TABLE ragged OPTIONS (columns 'by name');
SELECT * FROM ragged;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM ragged;
RESET tollfree_file_fdw.fast_scan;
DROP FOREIGN TABLE ragged;
-- Rows that are left out for their values keep the file's lines, from PostgreSQL 18 on; an aggregation that starts over tells once.
SELECT put_file(convert_to(E'# 1\n1.5\n\nNaN\n# 4\n2.5\n', 'UTF8'), :'told');
CREATE FOREIGN TABLE twice (a numeric(5,2)) SERVER ours OPTIONS (filename :'told', comment '#', blank_lines 'skip');
SELECT sum(a) FROM twice;
DROP FOREIGN TABLE twice;
-- What the options can say
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', skip_lines '-1');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', skip_lines '3x');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', comment '');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', missing_fields 'nul');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (program 'x', blank_lines 'skip');
CREATE FOREIGN TABLE wrong (a int) SERVER ours OPTIONS (filename 'x', skip_line '3');
CREATE FOREIGN TABLE no_file (a int) SERVER ours OPTIONS (filename '/dev/null', skip_lines '3');
SELECT * FROM no_file;
DROP FOREIGN TABLE no_file;
DROP FOREIGN TABLE told;
RESET search_path;
RESET client_min_messages;
