--
-- The cases: what is crossed with what, and that every ratio has a baseline
--
SET search_path = lab;

-- how many cases a full run of the suite has
SELECT CASE dims->>'measure' WHEN 'travels' THEN 'each' ELSE dims->>'bench' END AS bench, dims->>'measure' AS measure, count(*),
	   count(*) FILTER (WHERE baseline IS NOT NULL) AS compared
FROM testcases WHERE suite = 'fdw' AND profile = 'full' AND chosen
GROUP BY 1, 2 ORDER BY 1, 2;

-- the published experiment's own, whose names tell what they are
SELECT testcase FROM testcases
WHERE suite = 'fdw' AND profile = 'full'
  AND testcase ~ ':lcl:.*:simple:rr:c[15]:tps$'
ORDER BY testcase COLLATE "C";

-- the roof: more and more clients look rows up, compared with as many locally; no quick run has them
BEGIN;
UPDATE profiles SET seconds = 1 WHERE suite = 'fdw';
SELECT testcase, baseline, argv[3:6] AS words, chosen, seconds
FROM testcases
WHERE suite = 'fdw' AND profile = 'quick' AND dims->>'clients' IN ('2', '64')
ORDER BY (dims->>'clients')::int, testcase COLLATE "C";
SELECT dims->>'clients' AS clients, count(*), bool_or(chosen) AS in_quick FROM testcases
WHERE suite = 'fdw' AND profile = 'quick' AND dims->>'clients' NOT IN ('1', '5')
GROUP BY 1 ORDER BY length(dims->>'clients'), 1;
ROLLBACK;

-- large results and many rows over a link, beside COPY over the same link
SELECT testcase, split_part(baseline, ':', 2) AS baseline, chosen AS in_quick
FROM fdw_bulk_testcases
WHERE profile = 'quick' AND dims->>'bench' ~ '_1KB$'
ORDER BY dims->>'bench', dims->>'link', dims->>'target' COLLATE "C", dims->>'wrapper',
	(dims->>'size')::int NULLS FIRST;

-- statements that stop early, beside the local table, or the source over the same link
SELECT testcase, baseline, chosen AS in_quick, argv[5:] AS words
FROM fdw_stop_testcases
WHERE profile = 'quick' AND dims->>'bench' IN ('LIMIT', 'WITH') AND dims->>'target' <> 'direct'
ORDER BY testcase COLLATE "C";
SELECT fdw_stop_script(s, '/run/it''s', 1, 2) FROM fdw_stops s WHERE stop = 'FETCH_5';
SELECT fdw_stop_script(s, NULL, 1, 1) FROM fdw_stops s WHERE stop = 'EXISTS';
SELECT output, figures, fdw_stop_judge(jsonb_populate_record(NULL::run_cases, '{"dims": {"rows": 10}}'), figures)
FROM (VALUES (E'ms=1.5\nrows=10\n'), (E'ms=1.5\nrows=9\n'), (E'ms=1.5\n'),
	(E'before {"flights": 5, "bytes_to_server": 6, "bytes_to_client": 700, "rows_to_client": 3}\nms=1.5\n'
	 'after {"flights": 9, "bytes_to_server": 8, "bytes_to_client": 1700, "rows_to_client": 8}\nrows=10\n'))
	AS o (output)
	CROSS JOIN LATERAL read_figures('fdw_stops', output) AS figures;

-- transactions are timed over the links that are for them; the round trip of each is measured
SELECT l.link, l.for_transactions,
	   count(*) FILTER (WHERE t.dims->>'measure' = 'tps') AS tps,
	   count(*) FILTER (WHERE t.dims->>'bench' = 'PING') AS ping,
	   count(*) FILTER (WHERE t.dims->>'bench' = 'PING' AND chosen) AS quick_ping
FROM links l
	JOIN fdw_testcases t ON (t.profile, t.of_run, t.dims->>'link') = ('quick', 0, l.link)
WHERE l.rtt_us IS NOT NULL
GROUP BY l.link ORDER BY l.rtt_us;

-- names are unique, baselines exist, and are run whenever they are needed
CREATE TEMP TABLE every AS SELECT suite, profile, testcase, baseline, chosen FROM testcases;
SELECT suite, profile, testcase FROM every
GROUP BY 1, 2, 3 HAVING count(*) > 1;
SELECT t.testcase FROM every t
	LEFT JOIN every b
		ON (b.suite, b.profile, b.testcase) = (t.suite, t.profile, t.baseline)
WHERE t.baseline IS NOT NULL AND (b.testcase IS NULL OR t.chosen AND NOT b.chosen);
SELECT testcase FROM every WHERE testcase = baseline;

-- a further wrapper is one more row
BEGIN;
CREATE TEMP TABLE before AS
	SELECT profile, testcase FROM testcases WHERE dims->>'wrapper' = 'postgres_fdw';
INSERT INTO wrappers VALUES ('another_fdw', '_another');
SELECT count(*) = (SELECT count(*) FROM before) AS as_many,
	   bool_and(t.baseline IS NOT NULL) AS compared
FROM testcases t WHERE dims->>'wrapper' = 'another_fdw';
SELECT instance, dbname, updatable FROM fdw_databases
WHERE wrapper = 'another_fdw' ORDER BY dbname COLLATE "C";
ROLLBACK;

-- a further link is one more row, too
BEGIN;
INSERT INTO links (link, transport, rtt_us) VALUES ('rmt:tcp:500us', 'tcp', 500);
SELECT testcase, chosen FROM testcases
WHERE profile = 'quick' AND dims->>'link' = 'rmt:tcp:500us'
ORDER BY testcase COLLATE "C";
ROLLBACK;

-- a further suite is a view, which may leave out columns, and three rows
BEGIN;
CREATE VIEW further_cases AS
	SELECT 'further'::text AS suite, profile, 'one'::text AS testcase, 'a'::text AS candidate,
		   'duration'::text AS figure, 's'::text AS unit, false AS higher_is_better,
		   '{}'::jsonb AS dims, ARRAY['true'] AS argv, '{}'::text[] AS env,
		   interval '1 minute' AS time_limit, 'none'::text AS format, true AS chosen
	FROM profiles WHERE suite = 'further';
INSERT INTO suites VALUES ('further', 'One suite more');
INSERT INTO case_views VALUES ('further', 'further_cases');
INSERT INTO profiles VALUES ('further', 'quick', 1, 1, 1, NULL);
SELECT profile, testcase, baseline, argv, seconds, chosen FROM testcases WHERE suite = 'further';
SELECT start_run('further', 'quick') IS NOT NULL AS started;
ROLLBACK;

-- what is listed is what the profile runs and the pattern matches, of all views of the suite
CREATE TEMP TABLE listed AS
	SELECT c.suite, c.profile, c.testcase, c.argv, c.env
	FROM profiles p CROSS JOIN LATERAL chosen_cases(p.suite, p.profile, '^[A-Z]|1') c;
CREATE TEMP TABLE wanted AS
	SELECT suite, profile, testcase, argv, env FROM testcases WHERE chosen AND testcase ~ '^[A-Z]|1';
SELECT count(*) > 0 AS found FROM listed;
(TABLE listed EXCEPT ALL TABLE wanted) UNION ALL (TABLE wanted EXCEPT ALL TABLE listed);

-- a suite that is not asked for costs nothing: its view is not read
BEGIN;
CREATE VIEW broken_cases AS SELECT 1 / (profile <> profile)::int AS seconds, profile FROM profiles;
INSERT INTO case_views VALUES ('file', 'broken_cases');
SELECT count(*) > 0 AS found FROM testcases WHERE suite = 'fdw' AND profile = 'quick';
ROLLBACK;

-- pg_dump writes what is in no script
SELECT written::regclass FROM pg_extension, unnest(extconfig) AS written WHERE extname = 'tollfree_lab' ORDER BY written::regclass::text;

-- a round trip beyond what the link can do is refused
\set VERBOSITY terse
INSERT INTO links (link, transport, rtt_us) VALUES ('rmt:tcp:1s', 'tcp', 1000000);
