--
-- The cases: what is crossed with what, and that every ratio has a baseline
--
SET search_path = lab;

-- how many cases a full run of the suite has
SELECT dims->>'bench' AS bench, dims->>'measure' AS measure, count(*),
	   count(*) FILTER (WHERE baseline IS NOT NULL) AS compared
FROM testcases WHERE suite = 'fdw' AND profile = 'full' AND chosen
GROUP BY 1, 2 ORDER BY 1, 2;

-- the published experiment's own, whose names tell what they are
SELECT testcase FROM testcases
WHERE suite = 'fdw' AND profile = 'full'
  AND testcase ~ ':lcl:.*:simple:rr:c[15]:tps$'
ORDER BY testcase COLLATE "C";

-- names are unique, baselines exist, and are run whenever they are needed
SELECT suite, profile, testcase FROM testcases
GROUP BY 1, 2, 3 HAVING count(*) > 1;
SELECT t.testcase FROM testcases t
	LEFT JOIN testcases b
		ON (b.suite, b.profile, b.testcase) = (t.suite, t.profile, t.baseline)
WHERE t.baseline IS NOT NULL AND (b.testcase IS NULL OR t.chosen AND NOT b.chosen);
SELECT testcase FROM testcases WHERE testcase = baseline;

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

-- suite file: queries, engines and candidates, and what a quick run has of them
SELECT candidate, dims->>'engine' AS engine, dims->>'workers' AS workers,
	   count(*) FILTER (WHERE profile = 'full') AS cases,
	   count(*) FILTER (WHERE profile = 'full' AND baseline IS NOT NULL)
		   AS compared,
	   count(*) FILTER (WHERE profile = 'quick') AS in_quick
FROM testcases
WHERE suite = 'file' AND chosen
GROUP BY 1, 2, 3 ORDER BY candidate COLLATE "C", 2, 3;

-- a further wrapper of files is one more row
BEGIN;
INSERT INTO file_candidates VALUES ('another_fdw', 'foreign', 'another_fdw');
SELECT testcase, baseline FROM testcases
WHERE profile = 'quick' AND candidate = 'another_fdw' AND dims->>'query' = 'Q6'
ORDER BY testcase COLLATE "C";
ROLLBACK;

-- the judge knows what the heap table answered
BEGIN;
SELECT file_keep_answer(1, 'Q6', E'rows=1 checksum=-7\n');
SELECT file_judge(c, '{"rows": 1, "checksum": -7}', NULL, NULL) AS right,
	   file_judge(c, '{"rows": 1, "checksum": -8}', NULL, NULL) AS wrong,
	   file_judge(c, '{"rows": 1}', NULL, NULL) AS without
FROM jsonb_populate_record(NULL::run_cases,
						   '{"dims": {"scale": 1, "query": "Q6"}}') AS c;
ROLLBACK;

-- what a run owes of a candidate that cannot be had is skipped
BEGIN;
SELECT skip_candidate(start_run('file', 'quick', 2, '^Q6:.*w0'), 'file_fdw', 'not here');
SELECT testcase, iter, state, reason FROM testresults
WHERE testcase ~ '^Q6' ORDER BY testcase, iter;
SELECT count(*) AS owed FROM remaining WHERE testcase ~ '^Q6:file_fdw:';
ROLLBACK;

-- a round trip beyond what the link can do is refused
\set VERBOSITY terse
INSERT INTO links (link, transport, rtt_us) VALUES ('rmt:tcp:1s', 'tcp', 1000000);
