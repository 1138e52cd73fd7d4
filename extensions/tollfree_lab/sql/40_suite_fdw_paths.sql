/*
 * Suite fdw, part ablation: what each fast path of tollfree_postgres_fdw gains.
 *
 * The wrapper with one path closed by an option of its server, beside the wrapper
 * as it is: lookups and TPC-B by each protocol, a large result, many rows written;
 * over a link, how many round trips somebody waits for, and the time of statements
 * that join, aggregate or change what is on the source.  A path is one more row
 * here; which work concerns it is said beside it.
 */
CREATE TABLE fdw_ablations
(
	path		text PRIMARY KEY,
	server_options jsonb NOT NULL,
	works		text[] NOT NULL,
	size		int
);

COMMENT ON TABLE fdw_ablations IS 'fast paths, and how the owner of a server switches each';
COMMENT ON COLUMN fdw_ablations.size IS 'the batch_size with which rows are written; NULL for the default';
COMMENT ON COLUMN fdw_ablations.works IS 'the work that may go by it: of fdw_benches, fdw_bulk_operations and fdw_path_statements';

INSERT INTO fdw_ablations VALUES
	('all', '{"compatibility": "stock"}',
	 '{RO,RW,SCAN,INSERT,JOIN,LOOKUP,CORRELATED,AGGREGATE,TOP,MATCHED,VALUE,FUNCTION,FORM,DISTINCT,'
	 'FIRST,ZONE,LABEL,UNMATCHED}'),
	('direct_results', '{"direct_results": "false"}', '{RO,RW,SCAN}'),
	('autocommit_scans', '{"autocommit_scans": "false"}', '{RO}'),
	('unawaited_commit', '{"unawaited_commit": "false"}', '{RO}'),
	('statement_cache_size', '{"statement_cache_size": "0"}', '{RO,RW}'),
	('constants_as_parameters', '{"constants_as_parameters": "false"}', '{RO,RW}'),
	('binary_results', '{"binary_results": "false"}', '{SCAN}'),
	('pipelined_writes', '{"pipelined_writes": "false"}', '{INSERT}'),
	('join_estimates', '{"join_estimates": "false"}', '{JOIN}'),
	('batched_lookups', '{"batched_lookups": "false"}', '{LOOKUP,CORRELATED,MATCHED}'),
	('partial_aggregates', '{"partial_aggregates": "false"}', '{AGGREGATE}'),
	('remote_limits', '{"remote_limits": "false"}', '{TOP}'),
	('remote_expressions', '{"remote_expressions": "false"}',
	 '{VALUE,FUNCTION,FORM,DISTINCT,FIRST,ZONE,LABEL,UNMATCHED}'),
	('parallel_modify', '{"parallel_modify": "true"}', '{UPDATE_PARTS}');

INSERT INTO fdw_ablations VALUES
	('insert_arrays', '{"insert_arrays": "false"}', '{INSERT}', 1000);

/*
 * Statements on tables of 100,000 and 20,000 rows, whatever the profile: one with a
 * key, one whose four partitions have a server each, and one of events (ablation.py).
 */
CREATE TABLE fdw_path_statements
(
	work		text PRIMARY KEY,
	begins		text NOT NULL DEFAULT '',
	command		text NOT NULL,
	rows		int NOT NULL,
	ends		text NOT NULL DEFAULT ''
);

COMMENT ON COLUMN fdw_path_statements.begins IS 'what goes before the command in each execution';
COMMENT ON COLUMN fdw_path_statements.ends IS 'what goes after it';
COMMENT ON COLUMN fdw_path_statements.rows IS 'how many rows the command returns, or changes';

INSERT INTO fdw_path_statements (work, command, rows) VALUES
	('JOIN', 'SELECT a.id, b.note FROM path_rows a JOIN path_rows b ON b.id = a.other', 100),
	('LOOKUP', 'SELECT r.note FROM generate_series(1, 1000) g JOIN path_rows r ON r.id = g * 7', 1000),
	('CORRELATED', 'SELECT (SELECT r.note FROM path_rows r WHERE r.id = g) FROM generate_series(1, 200) g',
	 200),
	('TOP', 'SELECT id, note FROM path_parts ORDER BY id LIMIT 10', 10),
	('MATCHED', 'UPDATE path_rows r SET other = other FROM generate_series(1, 100) g WHERE r.id = g * 7', 100),
	('FUNCTION', 'SELECT date_trunc(''month'', made), count(*) FROM path_events GROUP BY 1', 15),
	('FORM', 'SELECT id FROM path_events WHERE coalesce(n, 0) = 0', 400),
	('DISTINCT', 'SELECT DISTINCT n FROM path_events', 50),
	('FIRST', 'SELECT DISTINCT ON (tenant) tenant, id FROM path_events ORDER BY tenant, id', 400),
	('LABEL', 'SELECT id FROM path_events WHERE state = ''lost''', 200),
	('UNMATCHED', 'SELECT count(*) FROM path_rows a WHERE NOT EXISTS (SELECT FROM path_events e WHERE e.id = a.id)', 1);

INSERT INTO fdw_path_statements VALUES
	('VALUE', 'SET app.tenant = 7;',
	 'SELECT id FROM path_events WHERE tenant = current_setting(''app.tenant'')::int', 50),
	('ZONE', 'SET TimeZone = ''Europe/Berlin'';',
	 'SELECT ts::date, count(*) FROM path_events GROUP BY 1', 418),
	('AGGREGATE', 'SET enable_partitionwise_aggregate = on;',
	 'SELECT count(*), sum(other), max(note) FROM path_parts', 1);

/*
 * Ten in a transaction that is rolled back: a commit on four servers, each of which
 * writes to its disk, takes longer than one such statement, and never as long as the last.
 */
INSERT INTO fdw_path_statements
SELECT 'UPDATE_PARTS', 'BEGIN;' || repeat(E'\n' || command || ';', 9), command, 4, 'ROLLBACK;'
FROM (VALUES ('UPDATE path_parts SET other = other WHERE id <= 4')) AS s (command);

/*
 * Where it is measured: throughput and time in a database that reaches the source
 * directly, round trips in one over two milliseconds, longer than any client thinks.
 * Large results and many rows are timed where suite fdw does them (fdw_bulk_links).
 */
CREATE VIEW fdw_ablation_databases AS
SELECT a.path, a.server_options->>a.path = 'true' AS opens,
	   r.instance, r.link, r.rtt_us, r.control,
	   r.dbname || '_without_' || a.path AS dbname, r.wrapper, a.server_options,
	   true AS updatable, i.tcp_host AS server_host,
	   coalesce(l.port, i.port) AS server_port
FROM fdw_ablations a
	JOIN fdw_roads r ON r.target = 'FDW_external'
		AND r.wrapper = 'tollfree_postgres_fdw'
		AND r.link IN ('lcl:tcp', 'rmt:tcp:2000us')
	JOIN links l USING (link)
	JOIN instances i ON i.instance = 'source';

/* Those of them that the present run has cases in: most runs have none. */
CREATE VIEW fdw_ablation_databases_needed AS
SELECT *
FROM fdw_ablation_databases d
WHERE EXISTS
	(SELECT FROM runs JOIN run_cases c USING (run_id)
	 WHERE suite = 'fdw' AND state = 'running'
	   AND (c.dims->>'path', c.dims->>'link') = (d.path, d.link));

/* Transactions: pgbench's throughput, and the round trips of one. */
CREATE VIEW fdw_ablation_transactions AS
SELECT d.path, d.opens, d.dbname, d.instance, d.link, d.wrapper, d.control,
	   b.bench, b.script, b.pgbench_options, protocol, m.measure, m.program,
	   m.format, m.figure, m.unit, m.higher_is_better,
	   concat_ws(':', b.bench, 'FDW_external', d.wrapper, d.link, protocol, 'rr',
				 'c1', m.measure) AS baseline
FROM fdw_ablation_databases d
	JOIN fdw_ablations a USING (path)
	JOIN fdw_benches b ON b.bench = ANY (a.works)
	CROSS JOIN fdw_protocols
	JOIN fdw_measures m
		ON m.measure = CASE WHEN d.rtt_us IS NULL THEN 'tps' ELSE 'flights' END;

CREATE VIEW fdw_ablation_testcases AS
SELECT 'fdw'::text AS suite, p.profile,
	   concat_ws(':', 'without', t.path, t.bench, t.link, t.protocol, t.measure) AS testcase,
	   concat_ws(':', 'FDW_external', t.wrapper, t.link, 'without', t.path) AS candidate,
	   t.baseline, t.figure, t.unit, t.higher_is_better,
	   jsonb_build_object('bench', t.bench, 'target', 'FDW_external', 'wrapper', t.wrapper,
						  'link', t.link, 'protocol', t.protocol, 'isolation', 'rr',
						  'clients', 1, 'measure', 'without ' || t.measure,
						  'path', t.path, 'opens', t.opens) AS dims,
	   CASE t.program
		   WHEN 'pgbench' THEN
			   ARRAY['pgbench', '--no-vacuum', '--time=' || p.seconds, '--client=1',
					 '--protocol=' || t.protocol]
			   || t.pgbench_options || socket_conninfo(t.instance, t.dbname)
		   ELSE
			   ARRAY['txprobe', '-c', socket_conninfo(t.instance, t.dbname),
					 '--script', t.script, '--scale', p.scale::text, '--clients', '1',
					 '--protocol', t.protocol, '--warmup', '10', '--transactions', '20',
					 '--control', t.control]
	   END AS argv,
	   base.env,
	   make_interval(secs => p.seconds + 60) AS time_limit,
	   t.format,
	   psql_words(t.instance, t.dbname)
	   || ARRAY['-c', fdw_probe_query(),
				'-c', '\connect ' || fdw_psql_word(socket_conninfo('source', 'source')),
				'-c', fdw_probe_query(),
				'-c', '\o /dev/null', '-c', fdw_warm_query()] AS probe_argv,
	   p.profile = 'full' AS chosen, p.of_run
FROM fdw_ablation_transactions t
	JOIN sizes p ON p.suite = 'fdw'
	JOIN fdw_testcases base
		ON (base.profile, base.of_run, base.testcase) = (p.profile, p.of_run, t.baseline);

INSERT INTO case_views VALUES ('fdw', 'fdw_ablation_testcases');

CREATE VIEW fdw_ablation_bulk_testcases AS
SELECT b.suite, b.profile,
	   concat_ws(':', 'without', d.path, b.dims->>'bench', d.link, 'bulk') AS testcase,
	   concat_ws(':', 'FDW_external', d.wrapper, d.link, 'without', d.path) AS candidate,
	   b.testcase AS baseline, b.figure, b.unit, b.higher_is_better,
	   b.dims || jsonb_build_object('measure', 'without bulk', 'path', d.path, 'opens', d.opens)
	   AS dims,
	   psql_words(d.instance, d.dbname)
	   || b.argv[cardinality(psql_words(d.instance, d.dbname)) + 1:] AS argv,
	   b.env, b.time_limit, b.format, b.probe_argv,
	   b.profile = 'full' AS chosen
FROM fdw_ablation_databases d
	JOIN fdw_ablations a USING (path)
	JOIN fdw_bulk_testcases b
		ON b.dims->>'bench' = ANY (a.works) AND b.dims->>'target' = 'FDW_external'
		   AND b.dims->>'wrapper' = d.wrapper AND b.dims->>'link' = d.link
		   AND (b.dims->>'size')::int IS NOT DISTINCT FROM a.size;

INSERT INTO case_views VALUES ('fdw', 'fdw_ablation_bulk_testcases');

/* Where statements are timed: over the link, as the wrapper is, and with a path closed. */
CREATE VIEW fdw_path_roads AS
SELECT NULL AS path, false AS opens, instance, dbname, link, wrapper, control, works
FROM fdw_roads
	CROSS JOIN (SELECT array_agg(work) FROM fdw_path_statements) AS w (works)
WHERE target = 'FDW_external' AND wrapper = 'tollfree_postgres_fdw' AND rtt_us = 2000
UNION ALL
SELECT path, opens, instance, dbname, link, wrapper, control, works
FROM fdw_ablation_databases JOIN fdw_ablations USING (path)
WHERE rtt_us = 2000;

CREATE VIEW fdw_path_testcases AS
SELECT 'fdw'::text AS suite,
	   p.profile,
	   CASE WHEN r.path IS NULL THEN n.baseline
	   ELSE concat_ws(':', 'without', r.path, s.work, r.link, 'paths') END AS testcase,
	   concat_ws(':', 'FDW_external', r.wrapper, r.link, 'without ' || r.path) AS candidate,
	   CASE WHEN r.path IS NOT NULL THEN n.baseline END AS baseline,
	   'ms'::text AS figure, 'ms'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('bench', s.work, 'target', 'FDW_external', 'wrapper', r.wrapper,
						  'link', r.link, 'protocol', 'simple', 'isolation', 'rc',
						  'clients', 1, 'measure', 'paths', 'rows', s.rows,
						  'repeats', 10, 'dbname', r.dbname)
	   || CASE WHEN r.path IS NULL THEN '{}'::jsonb
		  ELSE jsonb_build_object('measure', 'without paths', 'path', r.path,
								  'opens', r.opens) END AS dims,
	   ARRAY['sh', '-c', 'printf %s "$0" | exec "$@" --file=-',
			 fdw_stop_script(ROW(s.work, s.begins, s.command, s.ends, s.rows, false),
							 r.control, 3, 10)]
	   || psql_words(r.instance, r.dbname) AS argv,
	   ARRAY['PGPASSFILE=' || source.passfile] AS env,
	   make_interval(mins => 5) AS time_limit,
	   'fdw_stops'::text AS format,
	   NULL::text[] AS probe_argv,
	   p.profile = 'full' AS chosen
FROM fdw_path_roads r
	JOIN fdw_path_statements s ON s.work = ANY (r.works)
	JOIN profiles p ON p.suite = 'fdw'
	JOIN instances source ON source.instance = 'source'
	CROSS JOIN LATERAL
		(SELECT concat_ws(':', 'PATH', s.work, r.wrapper, r.link, 'paths') AS baseline) AS n;

INSERT INTO case_views VALUES ('fdw', 'fdw_path_testcases');

/* The databases in which the present run executes such statements: most runs have none. */
CREATE VIEW fdw_path_places AS
SELECT instance, dbname, wrapper, server_options, server_host, server_port
FROM (SELECT instance, dbname, wrapper, server_options, server_host, server_port
	  FROM fdw_databases
	  UNION ALL
	  SELECT instance, dbname, wrapper, server_options, server_host, server_port
	  FROM fdw_ablation_databases) d
WHERE dbname IN
	(SELECT c.dims->>'dbname' FROM runs JOIN run_cases c USING (run_id)
	 WHERE suite = 'fdw' AND state = 'running' AND c.dims->>'measure' ~ 'paths$');

/* The databases in which bulk tables are made: every wrapper's, and these. */
CREATE VIEW fdw_bulk_places AS
SELECT instance, dbname, table_name, relation, columns, writes, option, size
FROM fdw_bulk_roads
WHERE wrapper IS NOT NULL
UNION
SELECT r.instance, r.dbname, t.source, t.source, t.columns, false, 'fetch_size', NULL
FROM fdw_stop_roads r
	JOIN fdw_bulk_tables t ON t.source = 'bulk_rows'
WHERE r.wrapper IS NOT NULL
UNION
SELECT d.instance, d.dbname, r.table_name, r.relation, r.columns, r.writes, r.option, r.size
FROM fdw_ablation_databases_needed d
	JOIN fdw_ablations a USING (path)
	JOIN fdw_bulk_roads r
		ON (r.wrapper, r.link) = (d.wrapper, d.link) AND r.operation = ANY (a.works)
WHERE r.size IS NOT DISTINCT FROM a.size;
