/*
 * Suite fdw, part bulk: large results and many rows written.
 *
 * A table on the source is read as a whole, and one like it is filled, by
 * INSERT ... SELECT and by COPY: on the source itself ("local") and through each
 * wrapper.  The sizes of batches that postgres_fdw can be told are candidates
 * beside its default.  Over links with a delay the rows are wide, and beside the
 * wrappers stands COPY of the same rows over the same link ("direct").
 */
CREATE TABLE fdw_bulk_tables
(
	source		text PRIMARY KEY,
	target		text NOT NULL UNIQUE,
	columns		text NOT NULL,
	content		text NOT NULL,
	sums		text NOT NULL
);

COMMENT ON COLUMN fdw_bulk_tables.source IS 'the table that is read';
COMMENT ON COLUMN fdw_bulk_tables.target IS 'one with the same columns, which is filled';
COMMENT ON COLUMN fdw_bulk_tables.content IS 'what the columns hold in row i';
COMMENT ON COLUMN fdw_bulk_tables.sums IS 'what a reader of all columns of all rows finds';

/* The wide rows have about 1 kB. */
INSERT INTO fdw_bulk_tables VALUES
	('bulk_rows', 'bulk_target',
	 'id int, number int8, price numeric(12, 2), ratio float8, note text, made timestamptz',
	 'i AS id, i * 5000000000 AS number, (i / 100.0)::numeric(12, 2) AS price,'
	 ' i / 7.0::float8 AS ratio, ''note on row '' || i AS note,'
	 ' timestamptz ''2020-01-01 00:00+00'' + i * interval ''1 s'' AS made',
	 'sum(id), sum(number), sum(price), min(ratio), max(ratio), max(note),'
	 ' extract(epoch FROM max(made))'),
	('wide_rows', 'wide_target',
	 'id int, note text',
	 'i AS id, repeat(md5(i::text), 31) AS note',
	 'sum(id), sum(hashtextextended(note, 0))');

CREATE TABLE fdw_bulk_operations
(
	operation	text PRIMARY KEY,
	option		text NOT NULL,
	source		text NOT NULL REFERENCES fdw_bulk_tables,
	writes		bool NOT NULL,
	command		text NOT NULL,
	direct_commands text[],
	quick_rows	int NOT NULL,
	full_rows	int NOT NULL
);

COMMENT ON COLUMN fdw_bulk_operations.option IS
'the option of a foreign table that says how many rows go together';
COMMENT ON COLUMN fdw_bulk_operations.writes IS
'whether it fills the target; otherwise it reads the source';
COMMENT ON COLUMN fdw_bulk_operations.command IS
'see fdw_bulk_words() for what is filled in';
COMMENT ON COLUMN fdw_bulk_operations.direct_commands IS
'what brings the same rows over a link without a wrapper; NULL for what is not done over one';

/* The tables that are read, with the rows of an operation of the profile. */
CREATE VIEW fdw_bulk_sources AS
SELECT p.profile, t.source, t.target, t.columns, t.content,
	   max(CASE p.profile WHEN 'quick' THEN o.quick_rows ELSE o.full_rows END) AS rows
FROM fdw_bulk_tables t
	JOIN fdw_bulk_operations o USING (source)
	JOIN profiles p ON p.suite = 'fdw'
GROUP BY p.profile, t.source;

/* A word of the shell, within the quotes of \copy's program: these are doubled. */
CREATE FUNCTION fdw_bulk_word(word text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN replace('''' || replace(word, '''', '''\''''') || '''', '''', '''''');

/*
 * Returns commands for psql with their places filled in: %1$s is the table that
 * is read or filled, %2$s the number of rows, %3$s a row's content, %4$s the sums,
 * %5$s where the source is, as a word of the shell within the quotes of \copy's
 * program.
 */
CREATE FUNCTION fdw_bulk_words(commands text[], relation text, of_rows int,
							   rows_of fdw_bulk_tables)
RETURNS text[]
LANGUAGE sql STABLE
BEGIN ATOMIC
	SELECT array_agg(word ORDER BY n, part)
	FROM unnest(commands) WITH ORDINALITY AS c (command, n)
		CROSS JOIN LATERAL
			(VALUES (1, '-c'),
					(2, format(command, relation, of_rows, (rows_of).content,
							   (rows_of).sums,
							   fdw_bulk_word(socket_conninfo('source', 'source')))))
			AS w (part, word);
END;

/* The query for what a reader of a table's first rows finds. */
CREATE FUNCTION fdw_bulk_sums(relation text, of_rows text, sums text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN format('SELECT json_build_object(''rows'', count(*), ''sums'','
			  ' concat_ws('' '', %s))'
			  ' FROM (SELECT * FROM %s WHERE id <= %s OFFSET 0) x',
			  sums, relation, of_rows);

/*
 * What is read over a link without a wrapper goes through cksum, which is done
 * before the next row arrives.
 */
INSERT INTO output_patterns VALUES
	('fdw_copy', 'checksum', '^([0-9]+) [0-9]+\n'),
	('fdw_copy', 'bytes', '^[0-9]+ ([0-9]+)\n'),
	('fdw_copy', 'rows', 'rows=([0-9]+)');

INSERT INTO fdw_bulk_operations VALUES
	('SCAN', 'fetch_size', 'bulk_rows', false,
	 fdw_bulk_sums('%1$s', '%2$s', '%4$s'), NULL,
	 100000, 1000000),
	('INSERT', 'batch_size', 'bulk_rows', true,
	 'INSERT INTO %1$s SELECT %3$s FROM generate_series(1, %2$s) i', NULL,
	 5000, 1000000),
	('COPY', 'batch_size', 'bulk_rows', true,
	 '\copy %1$s FROM PROGRAM ''psql -X -d %5$s -c "COPY (SELECT * FROM bulk_rows'
	 ' WHERE id <= %2$s) TO STDOUT"''', NULL,
	 5000, 1000000),
	('SCAN_1KB', 'fetch_size', 'wide_rows', false,
	 fdw_bulk_sums('%1$s', '%2$s', '%4$s'),
	 ARRAY['\copy (SELECT * FROM %1$s WHERE id <= %2$s) TO PROGRAM ''cksum''',
		   '\echo rows=:ROW_COUNT'],
	 20000, 60000),
	('INSERT_1KB', 'batch_size', 'wide_rows', true,
	 'INSERT INTO %1$s SELECT %3$s FROM generate_series(1, %2$s) i',
	 ARRAY['\copy %1$s FROM PROGRAM ''psql -X -d %5$s -c "COPY (SELECT * FROM wide_rows'
		   ' WHERE id <= %2$s) TO STDOUT"'''],
	 20000, 60000);

/* Over which links they are done. */
CREATE TABLE fdw_bulk_links
(
	operation	text REFERENCES fdw_bulk_operations,
	link		text REFERENCES links,
	in_quick	bool NOT NULL,
	PRIMARY KEY (operation, link)
);

INSERT INTO fdw_bulk_links VALUES
	('SCAN', 'lcl:tcp', true),
	('INSERT', 'lcl:tcp', true),
	('COPY', 'lcl:tcp', true),
	('SCAN_1KB', 'rmt:tcp:2000us', true),
	('SCAN_1KB', 'rmt:tcp:20000us', false),
	('SCAN_1KB', 'rmt:tcp:40000us', false),
	('INSERT_1KB', 'rmt:tcp:20000us', false);

/*
 * What a foreign table is told; a size that is NULL stands for the wrapper's
 * default, a wrapper that is NULL for every one.  By default postgres_fdw waits
 * for each row that it writes: 20 minutes over the link of INSERT_1KB.
 */
CREATE TABLE fdw_bulk_sizes
(
	operation	text NOT NULL REFERENCES fdw_bulk_operations,
	size		int CHECK (size > 0),
	wrapper		text REFERENCES wrappers,
	in_quick	bool NOT NULL,
	UNIQUE NULLS NOT DISTINCT (operation, size, wrapper)
);

INSERT INTO fdw_bulk_sizes VALUES
	('SCAN', NULL, NULL, true),
	('SCAN', 1000, NULL, false),
	('SCAN', 10000, NULL, true),
	('SCAN', 50000, NULL, false),
	('INSERT', NULL, NULL, true),
	('INSERT', 100, NULL, false),
	('INSERT', 1000, NULL, true),
	('INSERT', 5000, NULL, false),
	('INSERT', 10000, NULL, false),
	('COPY', NULL, NULL, true),
	('COPY', 1000, NULL, false),
	('SCAN_1KB', NULL, NULL, true),
	('SCAN_1KB', 10000, NULL, false),
	('SCAN_1KB', 50000, NULL, false),
	('INSERT_1KB', NULL, 'tollfree_postgres_fdw', false),
	('INSERT_1KB', 1000, NULL, false);

/*
 * Where each operation is done: through each wrapper by size, and for
 * comparison locally, or without a wrapper over the same link if it is long.
 */
CREATE VIEW fdw_bulk_roads AS
SELECT r.target, r.kind, r.instance, r.dbname, r.link, r.wrapper,
	   o.operation, o.option, o.writes, t.columns, place.relation, s.size,
	   l.in_quick AND coalesce(s.in_quick, true) AS in_quick,
	   concat_ws('_', place.relation, s.size) AS table_name,
	   CASE WHEN r.wrapper IS NOT NULL THEN
		   concat_ws(':', o.operation,
					 CASE WHEN links.rtt_us IS NULL THEN 'local:none:lcl:ipc'
					 ELSE 'direct:none:' || links.link END, 'default', 'bulk')
	   END AS baseline
FROM fdw_bulk_links l
	JOIN links USING (link)
	JOIN fdw_bulk_operations o USING (operation)
	JOIN fdw_bulk_tables t USING (source)
	JOIN fdw_roads r
		ON CASE r.target
			   WHEN 'FDW_external' THEN r.link = l.link
			   WHEN 'local' THEN links.rtt_us IS NULL
			   WHEN 'direct' THEN links.rtt_us IS NOT NULL AND r.link = l.link
		   END
	LEFT JOIN fdw_bulk_sizes s
		ON s.operation = l.operation AND r.wrapper = coalesce(s.wrapper, r.wrapper)
	CROSS JOIN LATERAL
		(SELECT CASE WHEN o.writes THEN t.target ELSE t.source END AS relation) AS place
WHERE r.wrapper IS NULL OR s.operation IS NOT NULL;

CREATE VIEW fdw_bulk_testcases AS
SELECT 'fdw'::text AS suite,
	   p.profile,
	   concat_ws(':', r.operation, r.target, coalesce(r.wrapper, 'none'), r.link,
				 coalesce(r.size::text, 'default'), 'bulk') AS testcase,
	   concat_ws(':', r.target, r.wrapper, r.link, r.size) AS candidate,
	   r.baseline,
	   'duration'::text AS figure, 's'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('bench', r.operation, 'target', r.target,
						  'wrapper', coalesce(r.wrapper, 'none'), 'link', r.link,
						  'protocol', 'simple', 'isolation', 'rc', 'clients', 1,
						  'measure', 'bulk', 'rows', n.of_rows, 'size', r.size) AS dims,
	   CASE r.kind
		   WHEN 'direct' THEN
			   psql_words(link_conninfo(r.link, r.dbname))
			   || fdw_bulk_words(o.direct_commands, r.table_name, n.of_rows, t)
		   ELSE
			   psql_words(r.instance, r.dbname)
			   || fdw_bulk_words(ARRAY[o.command], r.table_name, n.of_rows, t)
	   END AS argv,
	   /* all who read a table without a wrapper get its rows in the same order */
	   ARRAY['PGPASSFILE=' || source.passfile,
			 'PGOPTIONS=-c synchronize_seqscans=off'] AS env,
	   make_interval(secs => 60 + n.of_rows / 1e3) AS time_limit,
	   judged.format,
	   /* what is there, what should be, and a clean table again */
	   psql_words('source', 'source')
	   || CASE judged.format
			  WHEN 'fdw_copy' THEN
				  fdw_bulk_words(o.direct_commands, t.source, n.of_rows, t)
			  ELSE
				  ARRAY['-c', fdw_bulk_sums(t.target, n.of_rows::text, t.sums),
						'-c', fdw_bulk_sums(t.source, n.of_rows::text, t.sums)]
		  END
	   || ARRAY['-c', 'TRUNCATE ' || t.target, '-c', 'CHECKPOINT'] AS probe_argv,
	   p.profile = 'full' OR r.in_quick AS chosen
FROM fdw_bulk_roads r
	JOIN fdw_bulk_operations o USING (operation)
	JOIN fdw_bulk_tables t USING (source)
	JOIN profiles p ON p.suite = 'fdw'
	JOIN instances source ON source.instance = 'source'
	CROSS JOIN LATERAL
		(SELECT CASE p.profile WHEN 'quick' THEN o.quick_rows
				ELSE o.full_rows END AS of_rows) n
	CROSS JOIN LATERAL
		(SELECT CASE WHEN o.writes THEN 'none'
				WHEN r.kind = 'direct' THEN 'fdw_copy'
				ELSE 'json' END AS format) AS judged;

INSERT INTO case_views VALUES ('fdw', 'fdw_bulk_testcases');

/*
 * Returns why an execution does not count, or NULL: who reads has to find, and
 * who writes has to leave, what the source's own table holds.
 */
CREATE FUNCTION fdw_bulk_judge(run_case run_cases, figures jsonb, after text)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	lines		text[] := string_to_array(rtrim(after, E'\n'), E'\n');
	expected	jsonb := CASE run_case.format
						 WHEN 'fdw_copy' THEN lab.read_figures('fdw_copy', after)
						 ELSE lines[2]::jsonb END;
	got			jsonb := CASE run_case.format
						 WHEN 'none' THEN lines[1]::jsonb
						 ELSE figures END;
BEGIN
	IF expected->>'rows' IS DISTINCT FROM run_case.dims->>'rows' THEN
		RETURN format('the source has %s rows where %s are needed',
					  expected->>'rows', run_case.dims->>'rows');
	ELSIF got IS DISTINCT FROM expected THEN
		RETURN format('%s where the source has %s', got, expected);
	END IF;
	RETURN NULL;
END
$$;
