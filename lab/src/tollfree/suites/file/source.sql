/*
 * What the cases ask of the server that they are measured on, beside their
 * queries: to have what they scan in the page cache, and how much of it was
 * read from the disk nevertheless.  All of it is in the schema public.
 */

/* Reads a file from end to end. */
CREATE OR REPLACE FUNCTION public.read_file(path text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	SELECT count(pg_read_binary_file(path, start, 1048576))
	FROM generate_series(0, (pg_stat_file(path)).size, 1048576) AS start;
END;

/* Returns the files that a table's rows are in, a foreign one's or its own. */
CREATE OR REPLACE FUNCTION public.files_of(relation oid)
RETURNS SETOF text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT option_value
	FROM pg_foreign_table, pg_options_to_table(ftoptions)
	WHERE ftrelid = relation AND option_name = 'filename'
	UNION ALL
	SELECT concat_ws('.', pg_relation_filepath(oid), nullif(segment, 0))
	FROM pg_class,
		 generate_series(0, (pg_relation_size(oid) - 1) / (1 << 30)) AS segment
	WHERE oid = relation AND relkind = 'r';
END;

/* Returns the process ids of the postmaster and of its children. */
CREATE OR REPLACE FUNCTION public.server_processes()
RETURNS SETOF text
LANGUAGE sql
BEGIN ATOMIC
	WITH postmaster AS (
		SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1) AS pid
	)
	SELECT pid FROM postmaster
	UNION ALL
	SELECT child
	FROM postmaster,
		 regexp_split_to_table(trim(pg_read_file(
			format('/proc/%1$s/task/%1$s/children', pid), 0, 100000, true)), ' ') AS child;
END;

/*
 * Returns how many bytes this server's processes, those that have ended too,
 * have read from the disk; NULL where the system does not tell.  What a child
 * has read becomes its parent's when it has ended, and cannot be known while it
 * is ending, so that is waited for.
 */
CREATE OR REPLACE FUNCTION public.bytes_from_disk()
RETURNS int8
LANGUAGE plpgsql
AS $$
BEGIN
	FOR attempt IN 1..100 LOOP
		BEGIN
			RETURN (
				SELECT sum(substring(pg_read_file(format('/proc/%s/io', pid), 0, 10000)
									 FROM 'read_bytes: ([0-9]+)')::int8)
				FROM public.server_processes() AS pid);
		EXCEPTION
			WHEN insufficient_privilege OR undefined_file OR internal_error THEN
				PERFORM pg_sleep(0.01);
		END;
	END LOOP;
	RETURN NULL;
END
$$;

/* Begins to count what is read from the disk. */
CREATE OR REPLACE FUNCTION public.count_from_here()
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	SELECT set_config('tollfree.bytes_from_disk', public.bytes_from_disk()::text, false);
END;

/* Returns the files of tables, those of their partitions where they have any. */
CREATE OR REPLACE FUNCTION public.files_of_tables(names text[])
RETURNS SETOF text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT DISTINCT path
	FROM unnest(names) AS name
		LEFT JOIN LATERAL pg_partition_tree(name::regclass) AS part ON isleaf
		CROSS JOIN LATERAL public.files_of(coalesce(part.relid, name::regclass)) AS path;
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
