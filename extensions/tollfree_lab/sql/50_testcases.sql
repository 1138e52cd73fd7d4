/*
 * Cases that are rows and nothing else: whatever a person wants timed
 * repeatedly, checked and stored, without a suite of its own.
 */
CREATE TABLE custom_cases
(
	testcase	text PRIMARY KEY,
	baseline	text,
	argv		text[] NOT NULL,
	env			text[] NOT NULL DEFAULT '{}',
	time_limit	interval NOT NULL DEFAULT '1 minute',
	format		text NOT NULL DEFAULT 'none'
);

INSERT INTO suites VALUES ('custom', 'Commands of your own');
INSERT INTO profiles VALUES
	('custom', 'quick', 3, 1, 1, NULL),
	('custom', 'full', 10, 1, 1, NULL);

/*
 * Every case of every suite, once a profile; "chosen" ones are run.  Seconds
 * are what an execution is expected to take, NULL for what its profile says;
 * most_rounds is in how many rounds of the profile it is executed, NULL for all;
 * neighbours are those of run_cases.
 */
CREATE VIEW testcases AS
SELECT *, NULL::int AS most_rounds, NULL::text[] AS neighbours
FROM fdw_testcases
UNION ALL
SELECT *, NULL, NULL, NULL FROM fdw_bulk_testcases
UNION ALL
SELECT *, NULL, NULL, NULL FROM fdw_ablation_testcases
UNION ALL
TABLE file_testcases
UNION ALL
SELECT *, NULL, NULL, NULL FROM sampling_testcases
UNION ALL
SELECT *, NULL, NULL, NULL FROM shards_testcases
UNION ALL
TABLE interface_testcases
UNION ALL
SELECT 'custom', profile, testcase, testcase, baseline, 'duration', 's',
	   false, '{}', argv, env, time_limit, format, NULL, true, NULL, NULL, NULL
FROM custom_cases
	CROSS JOIN profiles
WHERE suite = 'custom';
