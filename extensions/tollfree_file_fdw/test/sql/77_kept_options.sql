-- What is kept of a file: options of the table and its server, and the settings as their limits.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_kept_options.csv'
COPY (SELECT i, i % 7 FROM generate_series(1, 5000) i) TO :'log' (FORMAT csv);
CREATE SERVER keeping FOREIGN DATA WRAPPER tollfree_file_fdw;
CREATE FOREIGN TABLE ours.kept_options (id int, n int) SERVER keeping OPTIONS (filename :'log', format 'csv');
SET tollfree_file_fdw.debug_record_index_age = 0;
SET max_parallel_workers_per_gather = 0;

-- Which lines a scan has that reads all columns, and what is kept after it; both are then removed.
CREATE FUNCTION kept_lines() RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	lines text;
BEGIN
	SELECT string_agg(substring(line FROM 'Record Index|Column Cache'), ', ') INTO lines
	FROM shown_plan('SELECT * FROM ours.kept_options WHERE n < 7', 'analyze, costs off, timing off, summary off, buffers off') line
	WHERE line ~ 'Record Index|Column Cache';
	PERFORM tollfree_file_fdw_drop_record_index('ours.kept_options');
	RETURN lines;
END
$$;
CREATE PROCEDURE set_option(object text, name text, value text) LANGUAGE plpgsql
AS $$
BEGIN
	IF value IS NOT NULL THEN
		EXECUTE format('ALTER %s OPTIONS (ADD %I %L)', object, name, value);
	END IF;
END
$$;
CREATE FUNCTION kept_choices(name text, setting text) RETURNS TABLE (of_server text, of_table text, kept text) LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('tollfree_file_fdw.' || name, setting, false);
	FOR of_server, of_table IN
		SELECT s, t FROM unnest(ARRAY[NULL, 'true', 'false']) s, unnest(ARRAY[NULL, 'true', 'false']) t
	LOOP
		CALL set_option('SERVER keeping', name, of_server);
		CALL set_option('FOREIGN TABLE ours.kept_options', name, of_table);
		kept := kept_lines();
		RETURN NEXT;
		IF of_server IS NOT NULL THEN
			EXECUTE format('ALTER SERVER keeping OPTIONS (DROP %I)', name);
		END IF;
		IF of_table IS NOT NULL THEN
			EXECUTE format('ALTER FOREIGN TABLE ours.kept_options OPTIONS (DROP %I)', name);
		END IF;
	END LOOP;
	PERFORM set_config('tollfree_file_fdw.' || name, 'auto', false);
END
$$;
SELECT setting, c.* FROM unnest(ARRAY['off', 'auto', 'on']) setting, kept_choices('record_index', setting) c;
SELECT setting, c.* FROM unnest(ARRAY['off', 'auto', 'on']) setting, kept_choices('column_cache', setting) c;

-- Columns need an index, whatever its setting is; not if its option is false.
ALTER SERVER keeping OPTIONS (ADD column_cache 'true');
SET tollfree_file_fdw.record_index = off;
SELECT kept_lines();
RESET tollfree_file_fdw.record_index;
SELECT segments > 0 AS is_kept, reason FROM tollfree_file_fdw_load_columns('ours.kept_options');
ALTER FOREIGN TABLE ours.kept_options OPTIONS (ADD record_index 'false');
SELECT kept_lines();
SELECT * FROM tollfree_file_fdw_load_columns('ours.kept_options');

-- What is no option of a server, and no value.
ALTER SERVER keeping OPTIONS (ADD append_only 'true');
ALTER SERVER keeping OPTIONS (ADD record_indexes 'true');
ALTER SERVER keeping OPTIONS (ADD record_index 'perhaps');
SET tollfree_file_fdw.record_index = perhaps;
SET tollfree_file_fdw.record_index = yes;
SHOW tollfree_file_fdw.record_index;
RESET tollfree_file_fdw.record_index;
DROP SERVER keeping CASCADE;
DROP FUNCTION kept_choices, kept_lines;
DROP PROCEDURE set_option;
