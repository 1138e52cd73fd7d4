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

SELECT pg_catalog.pg_extension_config_dump('custom_cases', '');

CREATE VIEW custom_testcases AS
SELECT 'custom'::text AS suite, profile, testcase, testcase AS candidate, baseline,
	   'duration'::text AS figure, 's'::text AS unit, false AS higher_is_better,
	   '{}'::jsonb AS dims, argv, env, time_limit, format, true AS chosen
FROM custom_cases
	CROSS JOIN profiles
WHERE suite = 'custom';

INSERT INTO suites VALUES ('custom', 'Commands of your own');
INSERT INTO case_views VALUES ('custom', 'custom_testcases');
INSERT INTO profiles VALUES
	('custom', 'quick', 3, 1, 1, NULL),
	('custom', 'full', 10, 1, 1, NULL);

/*
 * A case of a suite in a profile.  "chosen" ones are run.  Seconds are what an
 * execution is expected to take, NULL for what its profile says; most_rounds is
 * in how many rounds of the profile it is executed, NULL for all; neighbours
 * are those of run_cases.
 */
CREATE TYPE testcase AS
(
	suite		text,
	profile		text,
	testcase	text,
	candidate	text,
	baseline	text,
	figure		text,
	unit		text,
	higher_is_better bool,
	dims		jsonb,
	argv		text[],
	env			text[],
	time_limit	interval,
	format		text,
	probe_argv	text[],
	chosen		bool,
	seconds		float8,
	most_rounds	int,
	neighbours	text[]
);

/*
 * Returns a query of the cases in one of the views: of a profile, its first
 * parameter, and as large as its second one says, a number in the view sizes.
 */
CREATE FUNCTION case_query(case_view regclass)
RETURNS text
LANGUAGE sql STABLE
RETURN (
	SELECT format('SELECT %s FROM %s WHERE profile = $1%s',
				  string_agg(CASE WHEN found.attname IS NULL
								 THEN 'NULL::' || format_type(wanted.atttypid, NULL)
							 ELSE quote_ident(wanted.attname) END,
							 ', ' ORDER BY wanted.attnum),
				  case_view,
				  CASE WHEN EXISTS (SELECT FROM pg_attribute
									WHERE attrelid = case_view AND attname = 'of_run')
					  THEN ' AND of_run = $2' END)
	FROM pg_class c
		JOIN pg_attribute wanted ON wanted.attrelid = c.oid AND NOT wanted.attisdropped
		LEFT JOIN pg_attribute found
			ON found.attrelid = case_view AND found.attname = wanted.attname
	WHERE c.reltype = 'lab.testcase'::regtype
);

/*
 * Returns the cases of a suite in a profile, out of the views that it names: as
 * large as the profile says, or as a run's were when it began.  Its cost has
 * planners look at suites and profiles first.
 */
CREATE FUNCTION suite_cases(of_suite text, of_profile text, size_of int DEFAULT 0)
RETURNS SETOF testcase
LANGUAGE plpgsql STABLE COST 100000 ROWS 2000
AS $$
DECLARE
	case_view	regclass;
BEGIN
	FOR case_view IN
		SELECT v.cases FROM lab.case_views v WHERE v.suite = of_suite ORDER BY v.cases
	LOOP
		RETURN QUERY EXECUTE lab.case_query(case_view) USING of_profile, size_of;
	END LOOP;
END
$$;

/*
 * Returns those that the profile runs and whose name matches.  It has the views
 * look for them: of suite interface they are one in six, or fewer.
 */
CREATE FUNCTION chosen_cases(of_suite text, of_profile text, pattern text)
RETURNS SETOF testcase
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	case_view	regclass;
BEGIN
	FOR case_view IN
		SELECT v.cases FROM lab.case_views v WHERE v.suite = of_suite ORDER BY v.cases
	LOOP
		RETURN QUERY EXECUTE
			format('SELECT * FROM (%s) c WHERE c.chosen AND c.testcase ~ $3',
				   lab.case_query(case_view))
			USING of_profile, 0, pattern;
	END LOOP;
END
$$;

/* Every case of every suite, once a profile; a suite that is not asked for costs nothing. */
CREATE VIEW testcases AS
SELECT p.suite, p.profile, c.testcase, c.candidate, c.baseline, c.figure, c.unit,
	   c.higher_is_better, c.dims, c.argv, c.env, c.time_limit, c.format,
	   c.probe_argv, c.chosen, c.seconds, c.most_rounds, c.neighbours
FROM profiles p
	CROSS JOIN LATERAL suite_cases(p.suite, p.profile) c;

/*
 * What the script of a suite with a schema of its own begins with: it may be
 * executed again, when it has changed, and its runs stay.
 */
CREATE FUNCTION register_suite(suite_name text, suite_title text, case_view regclass,
							   suite_judge regproc DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	INSERT INTO lab.suites (suite, title, judge) VALUES (suite_name, suite_title, suite_judge)
		ON CONFLICT (suite) DO UPDATE SET (title, judge) = (excluded.title, excluded.judge);
	DELETE FROM lab.case_views v WHERE v.suite = suite_name;
	INSERT INTO lab.case_views VALUES (suite_name, case_view);
END
$$;

/* The same for a profile of it. */
CREATE FUNCTION register_profile(suite_name text, profile_name text,
								 profile_rounds int, profile_seconds int,
								 profile_scale int)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO profiles
	VALUES (suite_name, profile_name, profile_rounds, profile_seconds, profile_scale)
		ON CONFLICT (suite, profile) DO UPDATE
		SET (rounds, seconds, scale) = (excluded.rounds, excluded.seconds, excluded.scale);
END;

/* Without it planners take profiles for hundreds of rows, and join cases in their square. */
ANALYZE profiles;
