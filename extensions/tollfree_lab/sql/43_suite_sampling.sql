/*
 * Suite sampling: what it costs to sample a remote table, and to ANALYZE it.
 *
 * Both tests of the published experiment.  "sample" reads a share of a table,
 * in the instance itself ("direct") and through each wrapper; the sampling
 * stays on the remote side because the foreign table is on a view with an
 * optimisation fence.  "analyze" collects statistics of the same table, in the
 * instance itself ("local") and through each wrapper, by each of its methods,
 * and of a file with the same rows.
 */
CREATE TABLE sampling_tables
(
	table_name	text PRIMARY KEY,
	rows		int8 NOT NULL CHECK (rows > 0),
	in_quick	bool NOT NULL,
	in_full		bool NOT NULL
);

COMMENT ON TABLE sampling_tables IS
'about 215 bytes a row; a table in neither profile is measured when it is asked for by name';

INSERT INTO sampling_tables VALUES
	('10k', 1e4, true, true),
	('1m', 1e6, true, true),
	('10m', 1e7, false, true),
	('100m', 1e8, false, false);

CREATE TABLE sampling_fractions
(
	percent		numeric PRIMARY KEY CHECK (percent > 0 AND percent <= 100),
	in_quick	bool NOT NULL,
	in_full		text NOT NULL CHECK (in_full IN ('every road', 'direct'))
);

COMMENT ON COLUMN sampling_fractions.in_full IS
'the roads that a full run has it on: where the experiment saw methods turn in the instance itself, that alone';

INSERT INTO sampling_fractions VALUES
	(0.01, false, 'every road'), (0.1, true, 'every road'), (1, true, 'every road'),
	(3, false, 'every road'), (10, true, 'every road'), (20, false, 'direct'),
	(30, false, 'every road'), (60, false, 'every road'), (80, false, 'direct'),
	(95, false, 'every road'), (99, false, 'every road'), (100, true, 'every road');

/* The links that samples and statistics come over; 0.1 ms is the experiment's. */
CREATE TABLE sampling_links
(
	link		text PRIMARY KEY REFERENCES links,
	in_profiles	bool NOT NULL
);

COMMENT ON COLUMN sampling_links.in_profiles IS
'whether quick and full runs have it; the other one is measured when it is asked for by name';

INSERT INTO sampling_links VALUES
	('lcl:tcp', true), ('rmt:tcp:100us', true), ('rmt:tcp:200us', false);

/* How a query samples; the second value is the percentage, the third the fraction. */
CREATE TABLE sampling_methods (method text PRIMARY KEY, clause text NOT NULL);

INSERT INTO sampling_methods VALUES
	('full', ''),
	('random', 'WHERE random() < %3$s'),
	('bernoulli', 'TABLESAMPLE BERNOULLI (%2$s)'),
	('system', 'TABLESAMPLE SYSTEM (%2$s)');

CREATE TABLE sampling_targets
(
	target		int PRIMARY KEY CHECK (target BETWEEN 1 AND 10000),
	in_quick	bool NOT NULL
);

COMMENT ON TABLE sampling_targets IS 'default_statistics_target';

INSERT INTO sampling_targets VALUES
	(10, true), (100, true), (1000, false), (10000, false);

/* What analyze_sampling may be set to; NULL stands for every wrapper. */
CREATE TABLE sampling_analyze_methods
(
	method		text NOT NULL,
	wrapper		text REFERENCES wrappers,
	since		int NOT NULL,
	UNIQUE NULLS NOT DISTINCT (method, wrapper)
);

COMMENT ON COLUMN sampling_analyze_methods.since IS
'the first server version, as in server_version_num';

INSERT INTO sampling_analyze_methods VALUES
	('off', NULL, 0),
	('random', NULL, 160000),
	('bernoulli', NULL, 160000),
	('system', NULL, 160000),
	('auto', NULL, 160000),
	('random', 'tollfree_postgres_fdw', 0),
	('bernoulli', 'tollfree_postgres_fdw', 0),
	('system', 'tollfree_postgres_fdw', 0),
	('auto', 'tollfree_postgres_fdw', 0),
	('import', 'tollfree_postgres_fdw', 0);

/*
 * Wrappers of files, and which rows each samples, in the words of
 * analyze_sampling: all of them, or some of some blocks.
 */
CREATE TABLE sampling_file_wrappers (wrapper text PRIMARY KEY, method text NOT NULL);

INSERT INTO sampling_file_wrappers VALUES
	('file_fdw', 'off'),
	('tollfree_file_fdw', 'auto');

/* The methods that each wrapper has on this server. */
CREATE VIEW sampling_wrapper_methods AS
SELECT DISTINCT w.wrapper, m.method
FROM wrappers w
	JOIN sampling_analyze_methods m ON m.wrapper IS NULL OR m.wrapper = w.wrapper
WHERE m.since <= current_setting('server_version_num')::int;

/* Where samples come from: one database in "source", one for each road. */
CREATE VIEW sampling_roads AS
SELECT 'direct' AS road, NULL AS wrapper, 'lcl:ipc' AS link, NULL::int AS rtt_us,
	   true AS in_profiles, 'source' AS instance, 'sampling' AS dbname
UNION ALL
SELECT w.wrapper, w.wrapper, l.link, l.rtt_us, s.in_profiles, 'external',
	   'sampling' || w.suffix || coalesce('_' || l.rtt_us || 'us', '')
FROM wrappers w
	CROSS JOIN sampling_links s
	JOIN links l USING (link);

/* The foreign databases that the cases need. */
CREATE VIEW sampling_databases AS
SELECT r.wrapper, r.instance, r.dbname, w.server_options,
	   source.tcp_host AS server_host, coalesce(l.port, source.port) AS server_port
FROM sampling_roads r
	JOIN wrappers w USING (wrapper)
	JOIN links l USING (link)
	JOIN instances source ON source.instance = 'source';

/* The samples, each a view in the source. */
CREATE VIEW sampling_samples AS
SELECT t.table_name, t.rows, m.method, f.percent,
	   replace(format('sample_%s_%s_%s', t.table_name, m.method, f.percent), '.', '_') AS view_name,
	   format('SELECT * FROM rows_%1$s ' || m.clause || ' OFFSET 0',
			  t.table_name, f.percent, f.percent / 100)
		   AS definition,
	   /* of a small table a small share is next to nothing */
	   t.in_quick AND f.in_quick AND t.rows * f.percent >= 1e4 AS in_quick,
	   t.in_full, f.in_full = 'direct' AS only_direct
FROM sampling_tables t
	CROSS JOIN sampling_methods m
	CROSS JOIN sampling_fractions f
WHERE m.method <> 'full' OR f.percent = 100;

/*
 * The cases of the sampling test.  All columns are read, so that the wrapper
 * has to bring them; the number of rows comes back for the judge.  A wrapper is
 * compared with the same sample asked for directly, and that with reading
 * everything.
 */
CREATE VIEW sampling_sample_cases AS
SELECT s.table_name, s.rows, s.method, s.percent, r.road, r.link, NULL::int AS target,
	   concat_ws(':', 'sample', s.table_name, s.method, s.percent, r.road, r.link) AS testcase,
	   CASE
		   WHEN r.wrapper IS NOT NULL THEN
			   concat_ws(':', 'sample', s.table_name, s.method, s.percent, 'direct', 'lcl:ipc')
		   WHEN s.method <> 'full' THEN
			   concat_ws(':', 'sample', s.table_name, 'full', 100, 'direct', 'lcl:ipc')
	   END AS baseline,
	   r.instance, r.dbname,
	   format('SELECT set_config(''sampling.rows'', count(id)::text, false), count(uniform),'
			  ' count(skewed), count(clustered), count(filler) FROM (SELECT * FROM %I OFFSET 0) AS s',
			  s.view_name) AS command,
	   NULL AS relation,
	   r.in_profiles
	   AND CASE WHEN r.rtt_us IS NULL THEN s.in_quick
			   ELSE s.table_name = '1m' AND s.method = 'bernoulli' AND s.percent IN (0.1, 1, 10)
		   END AS in_quick,
	   r.in_profiles AND s.in_full AND (r.wrapper IS NULL OR NOT s.only_direct)
	   AND (r.rtt_us IS NULL OR s.table_name <> '1m') AS in_full
FROM sampling_samples s
	CROSS JOIN sampling_roads r;

/*
 * Who analyzes, by which methods; local_again is the A/A case.  Foreign tables
 * on files stand beside the table that the files are written from.
 */
CREATE VIEW sampling_analyzers AS
SELECT r.road, r.wrapper, r.link, r.rtt_us, r.in_profiles, r.instance, r.dbname,
	   local.method
FROM sampling_roads r
	CROSS JOIN (VALUES ('local'), ('local_again')) AS local (method)
WHERE r.wrapper IS NULL
UNION ALL
SELECT r.road, r.wrapper, r.link, r.rtt_us, r.in_profiles, r.instance, r.dbname,
	   m.method
FROM sampling_roads r
	JOIN sampling_wrapper_methods m USING (wrapper)
UNION ALL
SELECT f.wrapper, f.wrapper, 'file', NULL, true, r.instance, r.dbname, f.method
FROM sampling_roads r
	CROSS JOIN sampling_file_wrappers f
WHERE r.wrapper IS NULL;

/* The tables that they analyze. */
CREATE VIEW sampling_relations AS
SELECT a.*, t.table_name, t.rows, t.in_quick, t.in_full,
	   CASE
		   WHEN a.wrapper IS NULL THEN 'rows_' || t.table_name
		   WHEN a.link = 'file' THEN format('analyze_%s_%s', t.table_name, a.wrapper)
		   ELSE format('analyze_%s_%s', t.table_name, a.method)
	   END AS relation
FROM sampling_analyzers a
	CROSS JOIN sampling_tables t;

/* The foreign tables on tables, with the option that each needs. */
CREATE VIEW sampling_foreign_tables AS
SELECT dbname, table_name, method, relation,
	   /* where there is nothing to choose, there is no option either */
	   count(*) OVER (PARTITION BY dbname, table_name) > 1 AS has_option
FROM sampling_relations
WHERE wrapper IS NOT NULL AND link <> 'file';

/* The foreign tables on files. */
CREATE VIEW sampling_file_tables AS
SELECT table_name, wrapper, relation
FROM sampling_relations
WHERE link = 'file';

/* The cases of the ANALYZE test. */
CREATE VIEW sampling_analyze_cases AS
SELECT r.table_name, r.rows, r.method, NULL::numeric AS percent, r.road, r.link, g.target,
	   concat_ws(':', 'analyze', r.table_name, r.method, 't' || g.target, r.road, r.link) AS testcase,
	   CASE WHEN r.method <> 'local' THEN
		   concat_ws(':', 'analyze', r.table_name, 'local', 't' || g.target, 'direct', 'lcl:ipc')
	   END AS baseline,
	   r.instance, r.dbname,
	   'ANALYZE ' || r.relation AS command,
	   r.relation,
	   r.in_quick AND r.rtt_us IS NULL AND g.in_quick
	   AND (g.target = 100 OR r.table_name = '1m' AND r.method IN ('local', 'auto')) AS in_quick,
	   r.in_profiles AND r.in_full AND (r.rtt_us IS NULL OR g.target = 100) AS in_full
FROM sampling_relations r
	CROSS JOIN sampling_targets g;

CREATE VIEW sampling_cases AS
SELECT 'sample' AS test, * FROM sampling_sample_cases
UNION ALL
SELECT 'analyze', * FROM sampling_analyze_cases;

/*
 * The functions called stand in each of the databases; the clock is the
 * server's, between the end of one statement and the end of the next, so that
 * neither psql's start nor the connection to the remote server is measured.
 */
CREATE VIEW sampling_testcases AS
SELECT 'sampling'::text AS suite,
	   p.profile,
	   c.testcase,
	   concat_ws(':', c.road, c.method, c.link) AS candidate,
	   c.baseline,
	   'ms'::text AS figure, 'ms'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('test', c.test, 'table', c.table_name, 'rows', c.rows,
						  'method', c.method, 'percent', c.percent, 'wrapper', c.road,
						  'link', c.link, 'statistics_target', c.target,
						  'target', CASE c.method WHEN 'local_again' THEN 'local_again'
									ELSE 'none' END) AS dims,
	   psql_words(c.instance, c.dbname)
	   || ARRAY['-c', 'SELECT count(*) FROM truth',
				'-c', format('SET default_statistics_target = %s', coalesce(c.target, 100)),
				'-c', 'SELECT start_clock()', '-c', c.command, '-c', 'SELECT stop_clock()',
				'-c', CASE c.test WHEN 'sample' THEN 'SELECT sample_figures()'
					  ELSE format('SELECT analyze_figures(%L, %L)', c.relation, c.table_name) END]
		   AS argv,
	   ARRAY['PGPASSFILE=' || source.passfile] AS env,
	   make_interval(secs => 60 + c.rows / 1e5) AS time_limit,
	   'json'::text AS format,
	   /* What is imported is of the case's own statistics target. */
	   CASE c.method WHEN 'import' THEN
		   psql_words('source', 'sampling')
		   || ARRAY['-c', format('SET default_statistics_target = %s', c.target),
					'-c', 'ANALYZE rows_' || c.table_name]
	   END AS probe_argv,
	   CASE p.profile WHEN 'quick' THEN c.in_quick ELSE c.in_full END AS chosen,
	   /* a row is read in 0.1 us, carried in 1 us, and sorted for ANALYZE in 5 us */
	   0.2 + CASE c.test WHEN 'sample' THEN c.rows * (0.1 + c.percent / 100) / 1e6
			 ELSE least(c.rows, 300 * c.target) * 5 / 1e6 END::float8 AS seconds
FROM sampling_cases c
	JOIN profiles p ON p.suite = 'sampling'
	JOIN instances source ON source.instance = 'source';

/*
 * Returns why an execution does not count, or NULL.  A sample has as many rows
 * as its fraction says, within six standard deviations: chance chooses rows,
 * or blocks of about 37 rows.  After ANALYZE the number of rows is known within
 * a twentieth, and every column has statistics.
 */
CREATE FUNCTION sampling_judge(run_case run_cases, figures jsonb,
							   before text, after text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
	of_rows		float8 := run_case.dims->>'rows';
	fraction	float8 := coalesce((run_case.dims->>'percent')::float8, 100) / 100;
	together	int := CASE run_case.dims->>'method' WHEN 'system' THEN 40 ELSE 1 END;
	expected	float8 := of_rows * fraction;
	got			float8 := figures->>'rows';
	tolerance	float8;
BEGIN
	IF run_case.dims->>'test' = 'analyze' THEN
		tolerance := of_rows / 20;
	ELSIF fraction < 1 THEN
		tolerance := 6 * sqrt(expected * (1 - fraction) * together) + together;
	ELSE
		tolerance := 0;
	END IF;
	IF got IS NULL OR abs(got - expected) > tolerance THEN
		RETURN format('%s rows where %s were expected', coalesce(got::text, 'no'),
					  round(expected));
	ELSIF run_case.dims->>'test' = 'analyze'
		AND (figures->>'columns')::int IS DISTINCT FROM 5 THEN
		RETURN format('statistics of %s columns where 5 were expected',
					  coalesce(figures->>'columns', 'no'));
	END IF;
	RETURN NULL;
END
$$;

INSERT INTO suites VALUES
	('sampling', 'What it costs to sample a remote table, and to ANALYZE it',
	 'sampling_judge');
INSERT INTO case_views VALUES ('sampling', 'sampling_testcases');

INSERT INTO profiles VALUES
	('sampling', 'quick', 60, 1, 1, 0.15),
	('sampling', 'full', 5, 1, 1, NULL);

/* By default; postgres_fdw reads all rows before 16. */
INSERT INTO headlines VALUES
	('sampling', 'ANALYZE',
	 CASE WHEN current_setting('server_version_num')::int < 160000
		  THEN '^analyze:1m:(local_again:t100:direct:lcl:ipc|(auto:t100:tollfree_|off:t100:)postgres_fdw:lcl:tcp)$'
		  ELSE '^analyze:1m:(local_again:t100:direct:lcl:ipc|auto:t100:(tollfree_)?postgres_fdw:lcl:tcp)$'
	 END);

/*
 * What the published experiment says a row costs, in microseconds, on a
 * machine of 2022: reading and sampling it, sending it on the same machine and
 * through a local network.
 */
CREATE TABLE sampling_published (cost text PRIMARY KEY, us_per_row float8 NOT NULL);

INSERT INTO sampling_published VALUES
	('sample', 0.2), ('send:lcl:tcp', 1.5), ('send:rmt:tcp:100us', 5.5),
	('send:rmt:tcp:200us', 5.5);

/*
 * From which share on, in percent, it says that a method takes longer than
 * reading everything, in the instance itself; 0 is every share.
 */
CREATE TABLE sampling_published_losses (method text PRIMARY KEY, percent float8 NOT NULL);

INSERT INTO sampling_published_losses VALUES
	('random', 0), ('bernoulli', 30), ('system', 80);
