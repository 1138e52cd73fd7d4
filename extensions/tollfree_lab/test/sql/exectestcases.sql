--
-- Running cases and storing what became of them
--
SET search_path = lab;

INSERT INTO custom_cases (testcase, argv) VALUES
	('works', '{true}'),
	('fails', '{sh,-c,echo because >&2; exit 3}');
INSERT INTO custom_cases (testcase, baseline, argv, env, time_limit) VALUES
	('slower', 'works', '{sleep,0.05}', '{}', '1 minute'),
	('too slow', 'works', '{sleep,60}', '{}', '50 ms'),
	('sees its environment', NULL,
	 ARRAY['sh', '-c', 'test "$A:$CLASSPATH:$LD_LIBRARY_PATH" = 1:jars:libs'],
	 '{A=1}', '1 minute');

-- set by set: each round runs every case once
SELECT iter, tcase, dur > 0 AS has_duration
FROM exectestcases('/usr/bin:/bin', 'libs', 'jars', 2, 'custom')
ORDER BY iter, tcase COLLATE "C";

SELECT iter, testcase, state, reason, duration IS NULL AS no_duration,
	   value IS NULL AS no_value
FROM vtestresults ORDER BY iter, testcase COLLATE "C";
SELECT testcase, count(*), min(ratio) > 1 AS slower FROM ratios GROUP BY 1;
SELECT testcase, executions, ok, failed, median IS NULL AS no_median
FROM summary ORDER BY testcase COLLATE "C";
SELECT state, rounds FROM runs;

-- the procedure does the same, case by case: what ended before an interruption is there,
-- and the run goes on with the rest
CREATE FUNCTION cancel_third() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF (SELECT count(*) FROM testresults WHERE run_id = NEW.run_id) = 2 THEN
		RAISE query_canceled;
	END IF;
	RETURN NEW;
END
$$;
CREATE TRIGGER cancel_third BEFORE INSERT ON testresults
	FOR EACH ROW EXECUTE FUNCTION cancel_third();
\set VERBOSITY terse
CALL executestcases('/usr/bin:/bin', 'libs', 'jars', 2, 'custom');
SELECT max(run_id) AS cut FROM runs \gset
SELECT state, (SELECT count(*) FROM testresults WHERE run_id = :cut) AS stored,
	   (SELECT count(*) FROM remaining WHERE run_id = :cut) AS owed
FROM runs WHERE run_id = :cut;
CREATE TEMP TABLE stored AS SELECT * FROM testresults WHERE run_id = :cut;
DROP FUNCTION cancel_third CASCADE;
CALL resumetestcases(:cut, '/usr/bin:/bin', 'libs', 'jars');
SELECT state, (SELECT count(*) FROM testresults WHERE run_id = :cut) AS stored,
	   (SELECT count(*) FROM (TABLE stored INTERSECT SELECT * FROM testresults) same) AS kept
FROM runs WHERE run_id = :cut;
CALL resumetestcases(:cut, '/usr/bin:/bin');
SELECT count(*) FROM testresults WHERE run_id = :cut;
-- it says which run it was, and cannot be a part of a transaction
CALL executestcases('/usr/bin:/bin', suite_name => 'custom', name_pattern => '^works$');
BEGIN;
CALL executestcases('/usr/bin:/bin', suite_name => 'custom', name_pattern => '^works$');
ROLLBACK;
CALL resumetestcases(0, '/usr/bin:/bin');
UPDATE runs SET migrated = true WHERE run_id = :cut;
CALL resumetestcases(:cut, '/usr/bin:/bin');
\set VERBOSITY default

-- what failed cannot be given a duration or a value, what succeeded must have both
\set VERBOSITY terse
UPDATE testresults SET duration = 1 WHERE testcase = 'fails';
UPDATE testresults SET value = 1 WHERE testcase = 'fails';
UPDATE testresults SET reason = NULL WHERE testcase = 'fails';
UPDATE testresults SET duration = NULL WHERE testcase = 'works';

-- a run's order is its seed's, differs between rounds, and survives a resumption
SELECT start_run('custom', 'quick', 4, '', 42) AS first \gset
SELECT start_run('custom', 'quick', 4, '', 42) AS second \gset
SELECT start_run('custom', 'quick', 4, '', 43) AS third \gset
CREATE TEMP TABLE orders AS
	SELECT run_id, iter, array_agg(testcase ORDER BY place) AS cases
	FROM remaining WHERE run_id IN (:first, :second, :third) GROUP BY 1, 2;
SELECT count(DISTINCT cases) FILTER (WHERE run_id = :first) > 1 AS rounds_differ
FROM orders;
SELECT bool_and(a.cases = b.cases) AS same_seed_same_order
FROM orders a JOIN orders b USING (iter) WHERE (a.run_id, b.run_id) = (:first, :second);
SELECT bool_and(a.cases = b.cases) AS other_seed_same_order
FROM orders a JOIN orders b USING (iter) WHERE (a.run_id, b.run_id) = (:first, :third);
SELECT testcase AS next FROM remaining WHERE run_id = :first ORDER BY place LIMIT 1 \gset
SELECT state <> '' AS done FROM exectestcase(:first, :'next', 1, '/usr/bin:/bin');
SELECT array_agg(testcase ORDER BY place)
	   = (SELECT cases[2:] FROM orders WHERE (run_id, iter) = (:first, 1)) AS goes_on
FROM remaining WHERE run_id = :first AND iter = 1;
-- the same execution is not stored twice
SELECT exectestcase(:first, :'next', 1, '/usr/bin:/bin');

-- only the cases that match, and the baselines they need
SELECT start_run('custom', 'quick', 1, '^slower$') AS chosen \gset
SELECT testcase FROM run_cases WHERE run_id = :chosen ORDER BY 1;

-- a run keeps the size that its profile had when it began; commands are taken again
SELECT start_run('fdw', 'quick', 1, '^RO:local:none:lcl:ipc:simple:rr:c1:latency$') AS sized \gset
UPDATE profiles SET scale = 77, seconds = 33 WHERE (suite, profile) = ('fdw', 'quick');
UPDATE run_cases SET argv = '{}' WHERE run_id = :sized;
SELECT refresh_commands(:sized);
SELECT scale, runs.seconds,
	   argv[array_position(argv, '--scale') + 1] AS scale_asked,
	   argv[array_position(argv, '--seconds') + 1] AS seconds_asked
FROM runs JOIN run_cases USING (run_id) WHERE run_id = :sized;
SELECT scale, seconds FROM profiles WHERE (suite, profile) = ('fdw', 'quick');

-- what prints no figures, or none that can be read, fails, and the run goes on
SELECT start_run('custom', 'quick', 1, '^(works|fails)$', 1) AS odd \gset
UPDATE run_cases
SET format = 'json', figure = 'n',
	argv = CASE testcase WHEN 'works' THEN ARRAY['true'] ELSE ARRAY['echo', '{"n": "many"}'] END
WHERE run_id = :odd;
SELECT testcase, (exectestcase(:odd, testcase, 1, '/usr/bin:/bin')).reason
FROM run_cases WHERE run_id = :odd ORDER BY testcase COLLATE "C";
SELECT testcase, state, figures FROM testresults WHERE run_id = :odd ORDER BY testcase COLLATE "C";
DELETE FROM runs WHERE run_id = :odd;

-- a precision makes the number of rounds the most, and a whole quick run executes
-- once what is no headline, nor compared with one
SELECT start_run('custom', 'quick', 9, '', 1, NULL, 0.03) AS asked \gset
SELECT start_run('custom', 'quick', NULL, '', 1, NULL, 0.03) AS unasked \gset
SELECT start_run('fdw', 'quick') AS whole \gset
SELECT start_run('fdw', 'quick', NULL, '^RO:FDW_local:') AS named \gset
SELECT start_run('fdw', 'quick', 3) AS rounds \gset
SELECT rounds, precision, most_rounds, count(*) AS cases, count(DISTINCT iter) AS owed
FROM runs JOIN run_cases USING (run_id) JOIN remaining USING (run_id, testcase)
WHERE run_id >= :asked GROUP BY run_id, rounds, precision, most_rounds ORDER BY run_id, most_rounds;
SELECT testcase FROM run_cases WHERE run_id = :whole AND most_rounds IS NULL
ORDER BY testcase COLLATE "C";
-- each headline is there, in the quick run of its suite
SELECT h.suite, headline, count(*) AS cases, bool_and(chosen) AS chosen
FROM headlines h JOIN testcases t ON t.suite = h.suite AND testcase ~ pattern
WHERE profile = 'quick' AND h.suite <> 'interface'
GROUP BY h.suite, headline ORDER BY h.suite COLLATE "C", headline COLLATE "C";

-- bad requests
SELECT start_run('nonsense', 'quick');
SELECT start_run('custom', 'slow');
SELECT start_run('custom', 'quick', 1, 'no such case');
SELECT start_run('custom', 'quick', 1, '(');
SELECT start_run('custom', 'quick', 0);
SELECT exectestcase(:first, 'no such case', 1, '/bin');

-- figures: what pgbench 15 and later print, and JSON
SELECT jsonb_pretty(read_figures('pgbench', $$pgbench (15.4)
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 5
number of threads: 1
maximum number of tries: unlimited
duration: 10 s
number of transactions actually processed: 900
number of failed transactions: 0 (0.000%)
number of transactions retried: 30 (3.333%)
total number of retries: 41
latency average = 5.000 ms
initial connection time = 100.000 ms
tps = 1000.000000 (without initial connection time)
$$));
SELECT read_figures('json', E'chatter\n{"a": 1, "b": "two"}\n');
SELECT read_figures('json', 'no JSON at all');
SELECT read_figures('pgbench', 'pgbench: error: could not connect');

-- nobody but a superuser gets in
CREATE ROLE lab_reader;
SET ROLE lab_reader;
SELECT * FROM lab.testresults;
SELECT lab.start_run('custom', 'quick');
CALL lab.executestcases('/usr/bin:/bin');
RESET ROLE;
DROP ROLE lab_reader;
