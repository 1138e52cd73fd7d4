/*
 * What suites ask of the server that they are measured on, beside their cases:
 * to have in the page cache what a case reads, and how much was read from the
 * disk nevertheless.  All of it is in the schema public.
 */

/* Reads a file from end to end. */
CREATE OR REPLACE FUNCTION public.read_file(path text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	SELECT count(pg_read_binary_file(path, start, 1048576))
	FROM generate_series(0, (pg_stat_file(path)).size, 1048576) AS start;
END;

/*
 * Returns the files of a table or an index: those that a foreign table names, by
 * their folder or as the last word of a program, or its own.
 */
CREATE OR REPLACE FUNCTION public.files_of(relation oid)
RETURNS SETOF text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT option_value
	FROM pg_foreign_table, pg_options_to_table(ftoptions)
	WHERE ftrelid = relation AND option_name = 'filename'
	UNION ALL
	SELECT substring(option_value FROM '(/.*?)''?$')
	FROM pg_foreign_table, pg_options_to_table(ftoptions)
	WHERE ftrelid = relation AND option_name = 'program'
	UNION ALL
	SELECT option_value || '/' || name
	FROM pg_foreign_table, pg_options_to_table(ftoptions), pg_ls_dir(option_value) AS name
	WHERE ftrelid = relation AND option_name = 'filenames'
	UNION ALL
	SELECT concat_ws('.', pg_relation_filepath(oid), nullif(segment, 0))
	FROM pg_class,
		 generate_series(0, (pg_relation_size(oid) - 1) / (1 << 30)) AS segment
	WHERE oid = relation AND relkind IN ('r', 'i');
END;

/*
 * Returns the files of tables and indexes, those of their partitions where they
 * have any.
 */
CREATE OR REPLACE FUNCTION public.files_of_tables(names text[])
RETURNS SETOF text
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT DISTINCT path
	FROM unnest(names) AS name
		LEFT JOIN LATERAL pg_partition_tree(name::regclass) AS part ON isleaf
		CROSS JOIN LATERAL public.files_of(coalesce(part.relid, name::regclass)) AS path;
END;

/*
 * Returns the process ids of the postmaster and of its children.  A kernel that
 * does not list these is an error: the postmaster alone would say too little.
 */
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
			format('/proc/%1$s/task/%1$s/children', pid), 0, 100000)), ' ') AS child;
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
