/*
 * The lab's database as its first build had it: the tables of results, without
 * what later builds have added, and the commands of a person's own.
 */
CREATE TABLE suites
(
	suite		text PRIMARY KEY,
	title		text NOT NULL,
	judge		regproc		/* (run_cases, jsonb, text, text) returns text */
);

CREATE TABLE profiles
(
	suite		text NOT NULL REFERENCES suites,
	profile		text NOT NULL CHECK (profile IN ('quick', 'full')),
	rounds		int NOT NULL CHECK (rounds > 0),
	seconds		int NOT NULL CHECK (seconds > 0),
	scale		int NOT NULL CHECK (scale > 0),
	PRIMARY KEY (suite, profile)
);

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
	FOREIGN KEY (suite, profile) REFERENCES profiles
);

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
	PRIMARY KEY (run_id, testcase)
);

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

CREATE TABLE custom_cases
(
	testcase	text PRIMARY KEY,
	baseline	text,
	argv		text[] NOT NULL,
	env			text[] NOT NULL DEFAULT '{}',
	time_limit	interval NOT NULL DEFAULT '1 minute',
	format		text NOT NULL DEFAULT 'none'
);

INSERT INTO suites VALUES
	('fdw', 'What it costs to reach data through a foreign-data wrapper'),
	('custom', 'Commands of your own'), ('gone', 'A suite that was given up');
INSERT INTO profiles VALUES
	('fdw', 'full', 5, 60, 100), ('custom', 'full', 10, 1, 1), ('gone', 'full', 1, 1, 1);
