/*
 * What was run and what came of it, for all suites.
 *
 * A run belongs to one suite and freezes its list of cases (run_cases), so
 * that it can be interrupted and resumed; each execution of a case adds one
 * row to testresults and nothing is ever updated there or thrown away.
 */
CREATE TABLE suites
(
	suite		text PRIMARY KEY,
	title		text NOT NULL,
	judge		regproc,	/* (run_cases, jsonb, text, text) returns text */
	gate		regproc,	/* (run_cases) returns text */
	meter		regproc,	/* (run_cases, text[]) returns jsonb */
	limit_switch text,
	published	text
);

COMMENT ON COLUMN suites.judge IS
'says why an execution is a failure: given the case, its figures and what its probe printed before and after, returns the reason or NULL';
COMMENT ON COLUMN suites.gate IS
'says why a case cannot be run here: returns the reason or NULL, or raises it when that is a failure';
COMMENT ON COLUMN suites.meter IS
'reads counters that only grow, given the case and its environment: what it adds to them joins its figures';
COMMENT ON COLUMN suites.limit_switch IS
'the option that tells its commands after how many seconds no further query begins; NULL if they have none';
COMMENT ON COLUMN suites.published IS
'regular expression of the names of the published experiment''s cases; NULL where its cases have no names';

/*
 * The views that a suite's cases come from, one or several.  Their columns are
 * among those of the type testcase; what a view leaves out is NULL.
 */
CREATE TABLE case_views
(
	suite		text NOT NULL REFERENCES suites,
	cases		regclass PRIMARY KEY
);

CREATE TABLE profiles
(
	suite		text NOT NULL REFERENCES suites,
	profile		text NOT NULL CHECK (profile IN ('quick', 'full')),
	rounds		int NOT NULL CHECK (rounds > 0),
	seconds		int NOT NULL CHECK (seconds > 0),
	scale		int NOT NULL CHECK (scale > 0),
	precision	float8 CHECK (precision > 0),
	PRIMARY KEY (suite, profile)
);

COMMENT ON TABLE profiles IS
'how large a run is: rounds over all cases, seconds a case, scale of the data';
COMMENT ON COLUMN profiles.precision IS
'how far the intervals of the headlines may reach, as a share: these are executed until they do, in at most as many rounds, and all others once; NULL if all are executed in every round';

/* The ratios that a run of such a profile is to be precise about. */
CREATE TABLE headlines
(
	suite		text NOT NULL REFERENCES suites,
	headline	text NOT NULL,
	pattern		text NOT NULL,
	PRIMARY KEY (suite, headline)
);

COMMENT ON COLUMN headlines.pattern IS
'regular expression of the names of its cases; what they are compared with belongs to it';

CREATE TABLE runs
(
	run_id		int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	suite		text NOT NULL REFERENCES suites,
	profile		text NOT NULL,
	rounds		int NOT NULL CHECK (rounds > 0),
	pattern		text NOT NULL DEFAULT '',
	seed		int NOT NULL,
	state		text NOT NULL DEFAULT 'running'
		CHECK (state IN ('running', 'interrupted', 'complete')),
	started		timestamptz NOT NULL DEFAULT clock_timestamp(),
	ended		timestamptz,
	host		jsonb NOT NULL DEFAULT '{}',
	server		jsonb NOT NULL DEFAULT '{}',
	version		text NOT NULL DEFAULT '',
	query_limit_s int CHECK (query_limit_s > 0),
	precision	float8 CHECK (precision > 0),
	seconds		int CHECK (seconds > 0),
	scale		int CHECK (scale > 0),
	migrated	bool NOT NULL DEFAULT false,
	FOREIGN KEY (suite, profile) REFERENCES profiles,
	CONSTRAINT size_unless_migrated
		CHECK (migrated OR (seconds IS NOT NULL AND scale IS NOT NULL))
);

COMMENT ON COLUMN runs.pattern IS
'the regular expression that chose among the cases; empty for all';
COMMENT ON COLUMN runs.seed IS
'of the random order inside each round';
COMMENT ON COLUMN runs.query_limit_s IS
'seconds after which a case begins no further query; NULL for all queries of every case';
COMMENT ON COLUMN runs.precision IS
'how far the interval of a ratio may reach, as a share: its case is executed until it reaches no farther, or in all rounds; NULL if all cases are';
COMMENT ON COLUMN runs.seconds IS
'of the profile when the run began, which a resumed run keeps; so is the scale';
COMMENT ON COLUMN runs.migrated IS
'whether another build of the lab made it, so that it is shown, but cannot be resumed; the first builds stored no seconds and scale';
COMMENT ON COLUMN runs.server IS
'per instance: version and every setting that is not PostgreSQL''s default';

/*
 * How large cases are: as their profile says now, and as it said when a run began.
 * Views of cases that depend on that have a row for each, and the column of_run.
 */
CREATE VIEW sizes AS
SELECT 0 AS of_run, suite, profile, seconds, scale
FROM profiles
UNION ALL
SELECT run_id, suite, profile, seconds, scale
FROM runs;

COMMENT ON COLUMN sizes.of_run IS 'the run, or 0 for its profile';

CREATE TABLE run_cases
(
	run_id		int NOT NULL REFERENCES runs ON DELETE CASCADE,
	testcase	text NOT NULL,
	candidate	text NOT NULL,
	baseline	text,
	figure		text NOT NULL,
	unit		text NOT NULL,
	higher_is_better bool NOT NULL,
	dims		jsonb NOT NULL,
	argv		text[] NOT NULL,
	env			text[] NOT NULL,
	time_limit	interval NOT NULL,
	format		text NOT NULL,
	probe_argv	text[],
	seconds		float8 NOT NULL,
	most_rounds	int CHECK (most_rounds > 0),
	neighbours	text[],
	PRIMARY KEY (run_id, testcase)
);

COMMENT ON COLUMN run_cases.baseline IS
'the case whose figure, in the same round, this one is divided by';
COMMENT ON COLUMN run_cases.figure IS
'which of the figures is the case''s value, or duration';
COMMENT ON COLUMN run_cases.format IS
'how its output is read: json, none, or a format of output_patterns';
COMMENT ON COLUMN run_cases.probe_argv IS
'command run before and after the case, for the suite''s judge';
COMMENT ON COLUMN run_cases.seconds IS
'how long an execution is expected to take, to tell the time left';
COMMENT ON COLUMN run_cases.most_rounds IS
'the first rounds of the run, in which alone it is executed; NULL for all, or for as long as its ratios are not precise enough';
COMMENT ON COLUMN run_cases.neighbours IS
'two names: cases that share the first follow each other in a round, and among these the ones that share the second; NULL where any order will do';

CREATE TABLE testresults
(
	run_id		int NOT NULL,
	testcase	text NOT NULL,
	iter		int NOT NULL CHECK (iter > 0),
	ts			timestamptz NOT NULL DEFAULT clock_timestamp(),
	state		text NOT NULL CHECK (state IN ('ok', 'failed', 'skipped')),
	reason		text,
	duration	float8,
	value		float8,
	figures		jsonb NOT NULL DEFAULT '{}',
	user_us		int8,
	system_us	int8,
	peak_kb		int8,
	exit_status	int,
	term_signal	int,
	argv		text[] NOT NULL,
	env			text[] NOT NULL,
	stdout		text,
	stderr		text,
	PRIMARY KEY (run_id, testcase, iter),
	FOREIGN KEY (run_id, testcase) REFERENCES run_cases ON DELETE CASCADE,
	/* what did not succeed never has a duration or a value */
	CONSTRAINT duration_if_ok CHECK ((state = 'ok') = (duration IS NOT NULL)),
	CONSTRAINT value_if_ok CHECK ((state = 'ok') = (value IS NOT NULL)),
	CONSTRAINT reason_unless_ok CHECK ((state = 'ok') = (reason IS NULL))
);

COMMENT ON COLUMN testresults.duration IS
'wall-clock seconds of the whole command; where its run has a limit, of as many queries as its figures say';

/*
 * What remains to be done of each run, in order: rounds outermost, and inside
 * a round a random order that its seed determines, so that it is the same
 * after an interruption.  The order is one of neighbours first, then of cases
 * among neighbours.
 */
CREATE VIEW remaining AS
SELECT run_id, iter, testcase, run_cases.seconds,
	   row_number() OVER (PARTITION BY run_id
						  ORDER BY iter,
								   md5(concat_ws(':', seed, iter, neighbours[1])),
								   md5(concat_ws(':', seed, iter, neighbours[1], neighbours[2])),
								   md5(concat_ws(':', seed, iter, testcase)))
		   AS place
FROM runs
	CROSS JOIN LATERAL generate_series(1, rounds) AS iter
	JOIN run_cases USING (run_id)
	LEFT JOIN testresults USING (run_id, testcase, iter)
WHERE testresults.run_id IS NULL
  AND iter <= coalesce(most_rounds, rounds);

/*
 * How to read the figures out of what a command printed: the first match of
 * each pattern.  The format json takes the last line, one JSON object, whole.
 */
CREATE TABLE output_patterns
(
	format		text NOT NULL,
	figure		text NOT NULL,
	pattern		text NOT NULL,
	PRIMARY KEY (format, figure)
);

CREATE FUNCTION read_figures(output_format text, output text)
RETURNS jsonb
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	figures		jsonb;
BEGIN
	IF output_format = 'none' THEN
		RETURN '{}';
	ELSIF output_format = 'json' THEN
		RETURN (regexp_match(output, '([^\n]+)\n*$'))[1]::jsonb;
	END IF;

	SELECT jsonb_object_agg(p.figure, matched[1]::numeric)
	INTO figures
	FROM lab.output_patterns p
		CROSS JOIN LATERAL regexp_match(output, p.pattern) AS matched
	WHERE p.format = output_format AND matched IS NOT NULL;

	/*
	 * pgbench prints its rate without the time it took to connect; the rate
	 * with it follows from what else it prints.
	 */
	IF output_format = 'pgbench' AND (figures->>'tps')::float8 > 0 THEN
		figures := figures || jsonb_build_object('tps_including',
			(figures->>'transactions')::float8
			/ ((figures->>'transactions')::float8 / (figures->>'tps')::float8
			   + (figures->>'connect_ms')::float8 / 1000));
	END IF;
	RETURN coalesce(figures, '{}');
EXCEPTION
	WHEN invalid_text_representation THEN
		RETURN '{}';
END
$$;

INSERT INTO output_patterns VALUES
	('pgbench', 'transactions',
	 'number of transactions actually processed: ([0-9]+)'),
	('pgbench', 'failed', 'number of failed transactions: ([0-9]+)'),
	('pgbench', 'retried', 'number of transactions retried: ([0-9]+)'),
	('pgbench', 'retries', 'total number of retries: ([0-9]+)'),
	('pgbench', 'latency_mean_ms', 'latency average = ([0-9.]+) ms'),
	('pgbench', 'connect_ms', 'initial connection time = ([0-9.]+) ms'),
	('pgbench', 'tps', 'tps = ([0-9.]+) ');

/* Results, unlike all else here, are in no script: so pg_dump has to write them. */
SELECT pg_catalog.pg_extension_config_dump('runs', '');
SELECT pg_catalog.pg_extension_config_dump('runs_run_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('run_cases', '');
SELECT pg_catalog.pg_extension_config_dump('testresults', '');
