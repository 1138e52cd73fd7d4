--
-- Suite file: what is crossed with what, and its judge
--
SET search_path = lab;

-- queries, engines and candidates, and what a quick run has of them
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
SELECT skip_candidate(start_run('file', 'quick', 2, '^Q6:.*w0$'), 'file_fdw', 'not here');
SELECT testcase, iter, state, reason FROM testresults
WHERE testcase ~ '^Q6' ORDER BY testcase, iter;
SELECT count(*) AS owed FROM remaining WHERE testcase ~ '^Q6:file_fdw:';
ROLLBACK;
