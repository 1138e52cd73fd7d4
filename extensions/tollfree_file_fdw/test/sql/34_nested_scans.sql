-- A domain's CHECK reads other files by COPY's parser, while that has read a row of a binary file in part.
\getenv abs_builddir PG_ABS_BUILDDIR
\set outer_file :abs_builddir '/results/nested_outer.bin'
\set inner_file :abs_builddir '/results/nested_inner.bin'
\set text_file :abs_builddir '/results/nested_inner.txt'
\set broken_file :abs_builddir '/results/nested_broken.txt'
COPY (SELECT i, repeat('o', 100) FROM generate_series(1, 2000) i) TO :'outer_file' (FORMAT binary);
COPY (SELECT i + 100000, repeat('i', 100) FROM generate_series(1, 2000) i) TO :'inner_file' (FORMAT binary);
COPY (SELECT generate_series(1, 3)) TO :'text_file';
COPY (SELECT 'x') TO :'broken_file';
SELECT make_pair('nested_inner', 'id int, what text', :'inner_file', $$format 'binary'$$);
SELECT make_pair('nested_text', 'id int', :'text_file', $$delimiter 'A'$$);
SELECT make_pair('nested_broken', 'id int', :'broken_file', $$delimiter 'A'$$);
SELECT make_pair('nested_headless', 'id int', :'broken_file', $$format 'binary'$$);

-- A whole scan, one that fails, one that fails when it begins, and a row of one that goes on.
CREATE FUNCTION reads_all(schema text) RETURNS boolean LANGUAGE plpgsql
AS $$
DECLARE
	found int;
BEGIN
	EXECUTE format('SELECT count(*) FROM %I.nested_text', schema) INTO found;
	RETURN found = 3;
END
$$;
CREATE FUNCTION fails(schema text) RETURNS boolean LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('SELECT sum(id) FROM %I.nested_broken', schema);
	RETURN false;
EXCEPTION WHEN invalid_text_representation THEN
	RETURN true;
END
$$;
CREATE FUNCTION fails_to_begin(schema text) RETURNS boolean LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('SELECT sum(id) FROM %I.nested_headless', schema);
	RETURN false;
EXCEPTION WHEN bad_copy_file_format THEN
	RETURN true;
END
$$;
CREATE FUNCTION reads_on(schema text) RETURNS boolean LANGUAGE plpgsql
AS $$
DECLARE
	inner_rows refcursor := schema;
	found record;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_cursors WHERE name = schema) THEN
		OPEN inner_rows FOR EXECUTE format('SELECT id, what FROM %I.nested_inner', schema);
	END IF;
	FETCH inner_rows INTO found;
	RETURN found.what ~ '^i+$';
END
$$;
CREATE FUNCTION compare_nested(work text) RETURNS TABLE (work_of_check text, outcome text) LANGUAGE plpgsql
AS $$
DECLARE
	schema text;
BEGIN
	FOREACH schema IN ARRAY '{stock,ours}'::text[] LOOP
		EXECUTE format('CREATE DOMAIN %1$I.checked AS int CHECK (%2$I(%1$L))', schema, work);
		EXECUTE format('CREATE FOREIGN TABLE %1$I.nested_outer (id %1$I.checked, what text) SERVER %1$I OPTIONS (filename %2$L, format ''binary'')',
					   schema, current_setting('test.outer_file'));
		work_of_check := schema || ' ' || work;
		EXECUTE format('SELECT format(''%%s rows, %%s of the other file, ids to %%s'', count(*), count(*) FILTER (WHERE what ~ ''i''), max(id::int)) FROM %I.nested_outer', schema)
			INTO outcome;
		RETURN NEXT;
		EXECUTE format('DROP FOREIGN TABLE %1$I.nested_outer; DROP DOMAIN %1$I.checked', schema);
	END LOOP;
END
$$;
SELECT set_config('test.outer_file', :'outer_file', false) = :'outer_file' AS is_set;
SELECT * FROM compare_nested('reads_all');
SELECT * FROM compare_nested('fails');
SELECT * FROM compare_nested('fails_to_begin');
SELECT * FROM compare_nested('reads_on');
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM compare_nested('reads_all');
RESET tollfree_file_fdw.fast_scan;
DROP FUNCTION reads_all, fails, fails_to_begin, reads_on, compare_nested;
DROP FOREIGN TABLE stock.nested_inner, ours.nested_inner, stock.nested_text, ours.nested_text, stock.nested_broken, ours.nested_broken, stock.nested_headless, ours.nested_headless;
