/*
 * Suite fdw, part bulk: large results and many rows written.
 *
 * One table on the source is read as a whole, and one like it is filled, by
 * INSERT ... SELECT and by COPY: on the source itself ("local") and through each
 * wrapper.  The sizes of batches that
 * postgres_fdw can be told are candidates beside its default.
 */
CREATE TABLE fdw_bulk_operations
(
	operation	text PRIMARY KEY,
	option		text NOT NULL,
	relation	text NOT NULL,
	command		text NOT NULL,
	quick_rows	int NOT NULL,
	full_rows	int NOT NULL
);

COMMENT ON COLUMN fdw_bulk_operations.option IS
'the option of a foreign table that says how many rows go together';
COMMENT ON COLUMN fdw_bulk_operations.command IS
'%1$s stands for the table, %2$s for the number of rows, %3$s for where the source is, '
'as a word of the shell within the quotes of \copy''s program';

/* The columns of every table here, and what they hold in row i. */
CREATE FUNCTION fdw_bulk_row()
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN 'i AS id, i * 5000000000 AS number, (i / 100.0)::numeric(12, 2) AS price,'
	' i / 7.0::float8 AS ratio, ''note on row '' || i AS note,'
	' timestamptz ''2020-01-01 00:00+00'' + i * interval ''1 s'' AS made';

/* A word of the shell, within the quotes of \copy's program: these are doubled. */
CREATE FUNCTION fdw_bulk_word(word text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN replace('''' || replace(word, '''', '''\''''') || '''', '''', '''''');

/* What a reader of all columns of all rows finds. */
CREATE FUNCTION fdw_bulk_sums(relation text, of_rows text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN format('SELECT json_build_object(''rows'', count(*), ''sums'','
			  ' concat_ws('' '', sum(id), sum(number), sum(price), min(ratio),'
			  ' max(ratio), max(note), extract(epoch FROM max(made))))'
			  ' FROM (SELECT * FROM %s WHERE id <= %s OFFSET 0) x',
			  relation, of_rows);

INSERT INTO fdw_bulk_operations VALUES
	('SCAN', 'fetch_size', 'bulk_rows', fdw_bulk_sums('%1$s', '%2$s'),
	 100000, 1000000),
	('INSERT', 'batch_size', 'bulk_target',
	 'INSERT INTO %1$s SELECT ' || fdw_bulk_row() || ' FROM generate_series(1, %2$s) i',
	 5000, 1000000),
	('COPY', 'batch_size', 'bulk_target',
	 '\copy %1$s FROM PROGRAM ''psql -X -d %3$s -c "COPY (SELECT * FROM bulk_rows'
	 ' WHERE id <= %2$s) TO STDOUT"''',
	 5000, 1000000);

/* Sizes that a foreign table is told, beside its default. */
CREATE TABLE fdw_bulk_sizes
(
	operation	text REFERENCES fdw_bulk_operations,
	size		int CHECK (size > 0),
	in_quick	bool NOT NULL,
	PRIMARY KEY (operation, size)
);

INSERT INTO fdw_bulk_sizes VALUES
	('SCAN', 1000, false),
	('SCAN', 10000, true),
	('SCAN', 50000, false),
	('INSERT', 100, false),
	('INSERT', 1000, true),
	('INSERT', 5000, false),
	('INSERT', 10000, false),
	('COPY', 1000, false);

/* Where each operation is done: locally, and through each wrapper by size. */
CREATE VIEW fdw_bulk_roads AS
SELECT r.target, r.instance, r.dbname, r.link, r.wrapper,
	   o.operation, o.option, o.relation, s.size, s.in_quick,
	   concat_ws('_', o.relation, s.size) AS table_name
FROM fdw_roads r
	CROSS JOIN fdw_bulk_operations o
	CROSS JOIN LATERAL
		(SELECT NULL::int AS size, true AS in_quick
		 UNION ALL
		 SELECT b.size, b.in_quick
		 FROM fdw_bulk_sizes b
		 WHERE b.operation = o.operation AND r.wrapper IS NOT NULL) s
WHERE r.target IN ('local', 'FDW_external') AND r.rtt_us IS NULL;

CREATE VIEW fdw_bulk_testcases AS
SELECT 'fdw'::text AS suite,
	   p.profile,
	   concat_ws(':', r.operation, r.target, coalesce(r.wrapper, 'none'), r.link,
				 coalesce(r.size::text, 'default'), 'bulk') AS testcase,
	   concat_ws(':', r.target, r.wrapper, r.link, r.size) AS candidate,
	   CASE WHEN r.wrapper IS NOT NULL THEN
		   concat_ws(':', r.operation, 'local', 'none', 'lcl:ipc', 'default', 'bulk')
	   END AS baseline,
	   'duration'::text AS figure, 's'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('bench', r.operation, 'target', r.target,
						  'wrapper', coalesce(r.wrapper, 'none'), 'link', r.link,
						  'protocol', 'simple', 'isolation', 'rc', 'clients', 1,
						  'measure', 'bulk', 'rows', n.of_rows, 'size', r.size) AS dims,
	   psql_words(r.instance, r.dbname)
	   || ARRAY['-c', format(o.command, r.table_name, n.of_rows,
							 fdw_bulk_word(socket_conninfo('source', 'source')))]
		   AS argv,
	   ARRAY['PGPASSFILE=' || source.passfile] AS env,
	   make_interval(secs => 60 + n.of_rows / 1e3) AS time_limit,
	   CASE r.operation WHEN 'SCAN' THEN 'json' ELSE 'none' END AS format,
	   /* what was written, what should have been, and a clean table again */
	   psql_words('source', 'source')
	   || ARRAY['-c', fdw_bulk_sums('bulk_target', n.of_rows::text),
				'-c', fdw_bulk_sums('bulk_rows', n.of_rows::text),
				'-c', 'TRUNCATE bulk_target', '-c', 'CHECKPOINT'] AS probe_argv,
	   p.profile = 'full' OR r.in_quick AS chosen
FROM fdw_bulk_roads r
	JOIN fdw_bulk_operations o USING (operation)
	JOIN profiles p ON p.suite = 'fdw'
	JOIN instances source ON source.instance = 'source'
	CROSS JOIN LATERAL
		(SELECT CASE p.profile WHEN 'quick' THEN o.quick_rows
				ELSE o.full_rows END AS of_rows) n;

/*
 * Returns why an execution does not count, or NULL: a scan has to find, and
 * what writes has to leave, what the source's own table holds.
 */
CREATE FUNCTION fdw_bulk_judge(run_case run_cases, figures jsonb, after text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
	lines		text[] := string_to_array(rtrim(after, E'\n'), E'\n');
	expected	jsonb := lines[2];
	got			jsonb := CASE run_case.dims->>'bench' WHEN 'SCAN' THEN figures
						 ELSE lines[1]::jsonb END;
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
