/*
 * What the cases ask of the server that they are measured on, beside their
 * queries; page_cache.sql comes first.  All of it is in the schema public.
 */

/* Begins to count what is read from the disk. */
CREATE OR REPLACE FUNCTION public.count_from_here()
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	SELECT set_config('tollfree.bytes_from_disk', public.bytes_from_disk()::text, false);
END;

/* Returns the files of all tables of the database, those that there are. */
CREATE OR REPLACE FUNCTION public.all_files()
RETURNS SETOF text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT DISTINCT path
	FROM pg_class AS c
		JOIN pg_namespace AS n ON n.oid = relnamespace
		CROSS JOIN LATERAL public.files_of(c.oid) AS path
	WHERE nspname !~ '^(pg_|information_schema$)'
	  AND (pg_stat_file(path, true)).size IS NOT NULL;
END;

/* Returns whether text and tables are more than half of the memory. */
CREATE OR REPLACE FUNCTION public.is_memory_scarce()
RETURNS bool
LANGUAGE sql
BEGIN ATOMIC
	SELECT sum((pg_stat_file(path)).size) / 1024
		   > substring(pg_read_file('/proc/meminfo', 0, 10000)
					   FROM 'MemTotal: +([0-9]+) kB')::int8 / 2
	FROM public.all_files() AS path;
END;

/*
 * Puts all other tables out of the page cache, by dd's "nocache"; a file that
 * dd opens only to advise the system of it is not read.
 */
CREATE OR REPLACE FUNCTION public.evict_all_but(names text[])
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT public.all_files() EXCEPT'
				   ' SELECT public.files_of_tables(%L)) TO PROGRAM %L', names,
				   'xargs -d "\n" -I{} dd if={} iflag=nocache count=0 status=none');
END
$$;

/*
 * Has the tables that a query scans in the page cache, and begins to count.
 *
 * Linux keeps what is read once behind all that was read twice.  So where
 * memory is scarce the other tables are put out first.
 */
CREATE OR REPLACE FUNCTION public.begin_execution(names text[])
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	IF public.is_memory_scarce() THEN
		PERFORM public.evict_all_but(names);
	END IF;
	PERFORM public.read_file(path) FROM public.files_of_tables(names) AS path;
	PERFORM public.count_from_here();
END
$$;

/* Returns what has been read from the disk since, in the words of output_patterns. */
CREATE OR REPLACE FUNCTION public.read_since()
RETURNS text
LANGUAGE sql
RETURN format('disk_bytes=%s', public.bytes_from_disk()
	   - nullif(current_setting('tollfree.bytes_from_disk'), '')::int8);

/*
 * Forgets what is kept of the files of tables, in the schema that is searched first.
 */
CREATE OR REPLACE FUNCTION public.forget_files(names text[])
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
	name	text;
BEGIN
	FOREACH name IN ARRAY names LOOP
		PERFORM public.tollfree_file_fdw_drop_record_index(name::regclass);
	END LOOP;
END
$$;

/* Returns the file of lineitem that grows, or what it is to grow by. */
CREATE OR REPLACE FUNCTION public.growing_file(suffix text)
RETURNS text
LANGUAGE sql STABLE
RETURN (
	SELECT regexp_replace(option_value, '[^.]*$', suffix)
	FROM pg_foreign_table, pg_options_to_table(ftoptions)
	WHERE ftrelid = to_regclass('lineitem') AND option_name = 'filename'
);

/* Cuts off what the file grows by, if it is there. */
CREATE OR REPLACE FUNCTION public.cut_growing()
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
	length	int8 := pg_read_file(public.growing_file('length'))::int8;
BEGIN
	EXECUTE format('COPY (SELECT public.growing_file(''tbl'')) TO PROGRAM %L',
				   format('xargs -d "\n" truncate --size=%s --', length));
END
$$;

/* Appends it. */
CREATE OR REPLACE FUNCTION public.grow()
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT public.growing_file(suffix)'
				   ' FROM unnest(''{rest,tbl}''::text[]) AS suffix) TO PROGRAM %L',
				   'xargs -d "\n" sh -c ''cat -- "$0" >> "$1"''');
END
$$;
