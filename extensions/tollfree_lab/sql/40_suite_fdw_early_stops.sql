/*
 * Suite fdw, part stops: statements that stop before they have read their whole input.
 *
 * A LIMIT above a condition that is evaluated locally, EXISTS, a cursor, a loop
 * that is left: what the remote server sends beyond the rows that are used is for
 * nothing.  Beside the time each case has the rows and bytes that have crossed the
 * link, and the round trips.  A statement counts only if it has returned as many
 * rows as it must.
 */
CREATE TABLE fdw_stops
(
	stop		text PRIMARY KEY,
	begins		text NOT NULL DEFAULT '',
	command		text NOT NULL,
	ends		text NOT NULL DEFAULT '',
	rows		int NOT NULL,
	in_quick	bool NOT NULL DEFAULT false
);

COMMENT ON COLUMN fdw_stops.begins IS 'what goes before the command in each execution';
COMMENT ON COLUMN fdw_stops.ends IS 'what goes behind it';
COMMENT ON COLUMN fdw_stops.rows IS 'how many rows the command returns';

/* is_mine() is evaluated locally; the first row is in the table's first block. */
INSERT INTO fdw_stops (stop, command, rows, in_quick) VALUES
	('LIMIT', 'SELECT id FROM bulk_rows WHERE is_mine(id) LIMIT 10', 10, true),
	('ORDER_LIMIT', 'SELECT id, note FROM bulk_rows WHERE is_mine(id) ORDER BY id LIMIT 10', 10, false),
	('TIES', 'SELECT id FROM bulk_rows WHERE is_mine(id) ORDER BY id FETCH FIRST 3 ROWS WITH TIES', 3, false),
	('EXISTS', 'SELECT EXISTS (SELECT 1 FROM bulk_rows WHERE ratio > 1)', 1, true),
	('MAX', 'SELECT max(made) FROM bulk_rows WHERE ratio > 1', 1, true),
	('RANK', 'SELECT * FROM (SELECT id, rank() OVER (ORDER BY id) AS r FROM bulk_rows) s WHERE r <= 3', 3, false),
	('WITH', 'WITH w AS MATERIALIZED (SELECT id FROM bulk_rows) SELECT * FROM w LIMIT 10', 10, false),
	('UNION', 'SELECT id FROM bulk_rows WHERE is_mine(id) UNION ALL'
	 ' SELECT id FROM bulk_rows WHERE is_mine(id) LIMIT 10', 10, false),
	('LATERAL', 'SELECT g, s.id FROM generate_series(1, 5) g, LATERAL'
	 ' (SELECT id FROM bulk_rows WHERE is_mine(id) AND id > g LIMIT 2) s', 10, false),
	('DISTINCT', 'SELECT DISTINCT ON (id) id FROM bulk_rows ORDER BY id LIMIT 10', 10, false),
	('SUBQUERY', 'SELECT (SELECT id FROM bulk_rows WHERE is_mine(id) LIMIT 1)', 1, false),
	('INTO', 'DO $$DECLARE r record; BEGIN SELECT id INTO r FROM bulk_rows; END$$', 0, true),
	('EXIT', 'DO $$DECLARE r record; BEGIN FOR r IN SELECT id FROM bulk_rows LOOP EXIT; END LOOP; END$$',
	 0, false);

INSERT INTO fdw_stops VALUES
	('FETCH_5', 'BEGIN; DECLARE c CURSOR FOR SELECT id FROM bulk_rows;', 'FETCH 5 FROM c',
	 'CLOSE c; COMMIT;', 5, true),
	('FETCH_200', 'BEGIN; DECLARE c CURSOR FOR SELECT id FROM bulk_rows;', 'FETCH 200 FROM c',
	 'CLOSE c; COMMIT;', 200, false);

/* Over which links: without a delay, and where the rows can be counted. */
CREATE TABLE fdw_stop_links (link text PRIMARY KEY REFERENCES links);
INSERT INTO fdw_stop_links VALUES ('lcl:tcp'), ('rmt:tcp:2000us');

/* Where: through each wrapper, and locally, or directly over the same link. */
CREATE VIEW fdw_stop_roads AS
SELECT r.target, r.kind, r.instance, r.dbname, r.link, r.rtt_us, r.wrapper, r.control
FROM fdw_stop_links l
	JOIN links USING (link)
	JOIN fdw_roads r
		ON CASE r.target
			   WHEN 'FDW_external' THEN r.link = l.link
			   WHEN 'local' THEN links.rtt_us IS NULL
			   WHEN 'direct' THEN links.rtt_us IS NOT NULL AND r.link = l.link
		   END;

/*
 * Returns a script for psql that executes a statement this many times, after some
 * executions that are not counted.  It prints the time of one, how many rows the
 * last one returned, and what a link has counted before and after.
 */
CREATE FUNCTION fdw_stop_script(stop fdw_stops, control text, warm_up int, repeats int)
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT concat_ws(E'\n', '\o /dev/null', rtrim(repeat(once, warm_up), E'\n'), '\o',
					 link_asked(control, 'before'),
					 'SELECT clock_timestamp() AS began \gset',
					 '\o /dev/null', rtrim(repeat(once, repeats), E'\n'), '\o',
					 'SELECT ''ms='' || extract(epoch FROM clock_timestamp() - :''began''::timestamptz)'
					 ' * 1e3 / ' || repeats || ';',
					 link_asked(control, 'after'), '\echo rows=:returned', '')
	FROM (SELECT concat_ws(E'\n', nullif((stop).begins, ''), (stop).command || ';',
						   '\set returned :ROW_COUNT', nullif((stop).ends, ''), '')) AS s (once);
END;

INSERT INTO output_patterns VALUES
	('fdw_stops', 'ms', 'ms=([0-9.]+)'),
	('fdw_stops', 'rows', '\nrows=([0-9]+)');

INSERT INTO output_patterns
SELECT 'fdw_stops', concat_ws('_', counter, moment),
	   format('%s \{[^\n]*"%s": ?([0-9]+)', moment, counter)
FROM unnest(ARRAY['flights', 'bytes_to_server', 'bytes_to_client', 'rows_to_client']) AS counter
	CROSS JOIN unnest(ARRAY['before', 'after']) AS moment;

/* The connection is open, and the statement prepared, when the clock starts, which is the server's. */
CREATE VIEW fdw_stop_testcases AS
SELECT 'fdw'::text AS suite,
	   p.profile,
	   concat_ws(':', 'STOP', s.stop, r.target, coalesce(r.wrapper, 'none'), r.link, 'stops')
	   AS testcase,
	   concat_ws(':', r.target, r.wrapper, r.link) AS candidate,
	   CASE WHEN r.wrapper IS NOT NULL THEN
		   concat_ws(':', 'STOP', s.stop,
					 CASE WHEN r.rtt_us IS NULL THEN 'local:none:lcl:ipc'
					 ELSE 'direct:none:' || r.link END, 'stops')
	   END AS baseline,
	   'ms'::text AS figure, 'ms'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('bench', s.stop, 'target', r.target,
						  'wrapper', coalesce(r.wrapper, 'none'), 'link', r.link,
						  'protocol', 'simple', 'isolation', 'rc', 'clients', 1,
						  'measure', 'stops', 'rows', s.rows, 'repeats', 20) AS dims,
	   ARRAY['sh', '-c', 'printf %s "$0" | exec "$@" --file=-',
			 fdw_stop_script(s, r.control, 10, 20)]
	   || CASE r.kind WHEN 'direct' THEN psql_words(link_conninfo(r.link, r.dbname))
			  ELSE psql_words(r.instance, r.dbname) END AS argv,
	   /* all find the same row first */
	   ARRAY['PGPASSFILE=' || source.passfile,
			 'PGOPTIONS=-c synchronize_seqscans=off'] AS env,
	   make_interval(mins => 5) AS time_limit,
	   'fdw_stops'::text AS format,
	   NULL::text[] AS probe_argv,
	   p.profile = 'full' OR s.in_quick AS chosen
FROM fdw_stop_roads r
	CROSS JOIN fdw_stops s
	JOIN profiles p ON p.suite = 'fdw'
	JOIN instances source ON source.instance = 'source';

INSERT INTO case_views VALUES ('fdw', 'fdw_stop_testcases');

/* Returns why an execution does not count, or NULL: it has to return what it must. */
CREATE FUNCTION fdw_stop_judge(run_case run_cases, figures jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN figures->>'rows' IS DISTINCT FROM run_case.dims->>'rows' THEN
		   format('it returned %s rows where %s are right',
				  figures->>'rows', run_case.dims->>'rows')
	   END;
