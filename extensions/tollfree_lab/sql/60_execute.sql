/* Returns the words that tell the commands of a run its limit, if it has one. */
CREATE FUNCTION limit_words(of_run int)
RETURNS text[]
LANGUAGE sql STABLE
RETURN (
	SELECT CASE WHEN r.query_limit_s IS NOT NULL
			   THEN ARRAY[s.limit_switch, r.query_limit_s::text] END
	FROM lab.runs r JOIN lab.suites s USING (suite)
	WHERE r.run_id = of_run
);

/*
 * Returns which cases of a suite are those of the published experiment, as a
 * regular expression of their names; empty where no experiment lists its own.
 */
CREATE FUNCTION published_pattern(suite_name text)
RETURNS text
LANGUAGE sql STABLE
RETURN coalesce((SELECT s.published FROM lab.suites s WHERE s.suite = suite_name), '');

/*
 * Opens a run: freezes the chosen cases whose names match the pattern.  Without
 * a number of rounds each is executed as often as its profile has it.  With a
 * limit a case of several queries begins none after this many seconds.
 * With a precision the number of rounds is the most, 50 if it is not given, and
 * who executes the run ends a case when its ratios are precise enough.
 * Returns the run's number.  The command line and exectestcases() both start
 * here.
 */
CREATE FUNCTION start_run(suite_name text, profile_name text,
						  round_count int DEFAULT NULL,
						  name_pattern text DEFAULT '',
						  order_seed int DEFAULT NULL,
						  limit_seconds int DEFAULT NULL,
						  wanted_precision float8 DEFAULT NULL)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
	new_run		int;
	only_headlines bool;
BEGIN
	IF limit_seconds IS NOT NULL
		AND NOT EXISTS (SELECT FROM lab.suites
						WHERE suite = suite_name AND limit_switch IS NOT NULL) THEN
		RAISE EXCEPTION 'the commands of suite "%" take no limit', suite_name
			USING ERRCODE = 'feature_not_supported',
				  HINT = 'See limit_switch in the table lab.suites.';
	END IF;
	INSERT INTO lab.runs (suite, profile, rounds, pattern, seed, query_limit_s,
						  precision, seconds, scale)
	SELECT suite, profile,
		   coalesce(round_count,
					CASE WHEN wanted_precision IS NULL THEN rounds ELSE 50 END),
		   name_pattern, coalesce(order_seed, (random() * 1e9)::int), limit_seconds,
		   coalesce(wanted_precision, CASE WHEN round_count IS NULL THEN precision END),
		   seconds, scale
	FROM lab.profiles
	WHERE (suite, profile) = (suite_name, profile_name)
	RETURNING run_id INTO new_run;
	IF new_run IS NULL THEN
		RAISE EXCEPTION 'there is no suite "%" with a profile "%"',
			suite_name, profile_name
			USING ERRCODE = 'undefined_object',
				  HINT = 'See the table lab.profiles.';
	END IF;
	/* who names cases, or a precision, wants it of all of them */
	only_headlines := wanted_precision IS NULL AND name_pattern = ''
		AND (SELECT precision IS NOT NULL FROM lab.runs WHERE run_id = new_run);

	WITH wanted AS (
		SELECT t.*, t.testcase ~ name_pattern AS matches,
			   EXISTS (SELECT FROM lab.headlines h
					   WHERE h.suite = t.suite AND t.testcase ~ h.pattern) AS is_headline
		FROM lab.testcases t
		WHERE (t.suite, t.profile) = (suite_name, profile_name)
		  AND (t.chosen OR name_pattern <> '')
	)
	INSERT INTO lab.run_cases
	SELECT new_run, testcase, candidate, baseline, figure, unit,
		   higher_is_better, dims, argv || lab.limit_words(new_run), env,
		   time_limit, format, probe_argv,
		   /* a single query is always finished, others end soon after the limit */
		   CASE WHEN (dims->>'executions')::int8 > 1
			   THEN least(w.seconds, limit_seconds + 2)
		   ELSE coalesce(w.seconds, p.seconds + 0.2) END,
		   CASE
			   WHEN only_headlines AND NOT is_headline
				   AND testcase NOT IN (SELECT baseline FROM wanted
										WHERE is_headline AND baseline IS NOT NULL) THEN 1
			   WHEN round_count IS NULL OR wanted_precision IS NOT NULL THEN most_rounds
		   END, neighbours
	FROM wanted w
		JOIN lab.profiles p ON (p.suite, p.profile) = (suite_name, profile_name)
	WHERE matches
	   OR testcase IN (SELECT baseline FROM wanted WHERE matches);

	IF NOT EXISTS (SELECT FROM lab.run_cases WHERE run_id = new_run) THEN
		RAISE EXCEPTION 'no case of suite "%" matches "%"',
			suite_name, name_pattern
			USING ERRCODE = 'no_data_found',
				  HINT = 'See the view lab.testcases for their names.';
	END IF;
	RETURN new_run;
END
$$;

/*
 * Takes the commands of a run's cases from their views again: the servers may
 * have other addresses than when the run began.  The list of cases stays, and so
 * do their seconds and scale.
 */
CREATE FUNCTION refresh_commands(of_run int)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	UPDATE run_cases c
	SET argv = t.argv || limit_words(of_run), env = t.env,
		probe_argv = t.probe_argv
	FROM runs r
		CROSS JOIN LATERAL suite_cases(r.suite, r.profile, r.run_id) t
	WHERE r.run_id = refresh_commands.of_run AND c.run_id = r.run_id
	  AND t.testcase = c.testcase;
END;

/*
 * Stores all that a run still owes of one candidate as skipped, for a reason
 * that holds for the whole run.
 */
CREATE FUNCTION skip_candidate(of_run int, candidate_name text, why text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO testresults (run_id, testcase, iter, state, reason, argv, env)
	SELECT run_id, testcase, iter, 'skipped', why, c.argv, c.env
	FROM remaining JOIN run_cases c USING (run_id, testcase)
	WHERE run_id = of_run AND c.candidate = candidate_name;
END;

/* Returns what a probe prints.  Raises an error when it fails. */
CREATE FUNCTION run_probe(argv text[], env text[], time_limit interval)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	done		record;
BEGIN
	IF argv IS NULL THEN
		RETURN NULL;
	END IF;
	SELECT * INTO done FROM lab.run_command(argv, env, time_limit);
	IF done.exit_status IS DISTINCT FROM 0 THEN
		RAISE EXCEPTION 'the probe failed: %', trim(E'\n' FROM done.stderr)
			USING ERRCODE = 'external_routine_exception';
	END IF;
	RETURN done.stdout;
END
$$;

/*
 * Runs one case of a run once and stores what became of it.  Returns the row.
 *
 * path, ldlibpath and classpath become PATH, LD_LIBRARY_PATH and CLASSPATH of
 * the command.  A command that fails, is killed, exceeds its limit, prints
 * no figure or is found wrong by the suite's judge is stored as failed.  What
 * it adds to the counters of the suite's meter joins its figures.  A case that
 * the suite's gate keeps back, or whose command exits with 77 (the test runners'
 * "cannot be done here"), is stored as skipped; one of which the gate raises the
 * reason, as failed.
 */
CREATE FUNCTION exectestcase(of_run int, case_name text, iteration int,
							 path text, ldlibpath text DEFAULT '',
							 classpath text DEFAULT '')
RETURNS testresults
LANGUAGE plpgsql
AS $$
DECLARE
	c			lab.run_cases;
	places		text[] := ARRAY['PATH=' || path,
								'LD_LIBRARY_PATH=' || ldlibpath,
								'CLASSPATH=' || classpath,
								'LC_ALL=C.UTF-8'];
	before		text;
	after		text;
	metered		jsonb;
	added		jsonb;
	done		record;
	result		lab.testresults;
BEGIN
	SELECT * INTO c FROM lab.run_cases
	WHERE run_id = of_run AND testcase = case_name;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'run % has no case "%"', of_run, case_name
			USING ERRCODE = 'no_data_found';
	END IF;

	result.run_id := of_run;
	result.testcase := case_name;
	result.iter := iteration;
	result.argv := c.argv;
	result.env := places || c.env;
	result.ts := clock_timestamp();
	result.figures := '{}';
	BEGIN
		result.state := 'skipped';
		result.reason := lab.why_not_here(c);
	EXCEPTION
		WHEN external_routine_exception THEN
			result.state := 'failed';
			result.reason := sqlerrm;
	END;
	IF result.reason IS NOT NULL THEN
		INSERT INTO lab.testresults VALUES (result.*);
		RETURN result;
	END IF;
	BEGIN
		before := lab.run_probe(c.probe_argv, result.env, c.time_limit);
		metered := lab.read_meter(c, result.env);
		result.ts := clock_timestamp();
		SELECT * INTO done
		FROM lab.run_command(c.argv, result.env, c.time_limit);
		result.user_us := done.user_us;
		result.system_us := done.system_us;
		result.peak_kb := done.peak_kb;
		result.exit_status := done.exit_status;
		result.term_signal := done.term_signal;
		result.stdout := done.stdout;
		result.stderr := done.stderr;
		result.reason := lab.why_stopped(done.timed_out, done.exit_status,
										 done.term_signal, done.stderr,
										 c.time_limit);
		/* before the probe, which adds to the counters, too */
		IF result.reason IS NULL THEN
			added := lab.added_since(metered, lab.read_meter(c, result.env));
		END IF;
		after := lab.run_probe(c.probe_argv, result.env, c.time_limit);
		IF result.reason IS NULL THEN
			result.figures := coalesce(lab.read_figures(c.format, done.stdout), '{}')
				|| added;
			result.reason := lab.why_wrong(c, result.figures, before, after);
		END IF;
		IF result.reason IS NULL THEN
			result.duration := done.wall_ns / 1e9;
			result.value := CASE c.figure WHEN 'duration' THEN result.duration
							ELSE (result.figures->>c.figure)::float8 END;
		END IF;
	EXCEPTION
		/* what the case itself can cause; a cancel is not a failure of it */
		WHEN undefined_file OR insufficient_privilege
			OR invalid_parameter_value OR external_routine_exception
			OR invalid_text_representation OR numeric_value_out_of_range THEN
			result.reason := sqlerrm;
			result.duration := NULL;
	END;

	result.state := CASE WHEN result.reason IS NULL THEN 'ok'
					WHEN result.exit_status = 77 THEN 'skipped'
					ELSE 'failed' END;
	INSERT INTO lab.testresults VALUES (result.*);
	RETURN result;
END
$$;

/* Returns why the suite's gate keeps a case back, or NULL. */
CREATE FUNCTION why_not_here(c run_cases)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	suite_gate	regproc;
	reason		text;
BEGIN
	SELECT s.gate INTO suite_gate
	FROM lab.runs JOIN lab.suites s USING (suite)
	WHERE run_id = c.run_id;
	IF suite_gate IS NOT NULL THEN
		EXECUTE format('SELECT %s($1)', suite_gate) INTO reason USING c;
	END IF;
	RETURN reason;
END
$$;

/* Returns what the suite's meter reads; an empty object without one. */
CREATE FUNCTION read_meter(c run_cases, env text[])
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
	suite_meter	regproc;
	counters	jsonb;
BEGIN
	SELECT s.meter INTO suite_meter
	FROM lab.runs JOIN lab.suites s USING (suite)
	WHERE run_id = c.run_id;
	IF suite_meter IS NOT NULL THEN
		EXECUTE format('SELECT %s($1, $2)', suite_meter)
			INTO counters USING c, env;
	END IF;
	RETURN coalesce(counters, '{}');
END
$$;

/* Returns by how much counters have grown; one that was not read twice is null. */
CREATE FUNCTION added_since(before jsonb, after jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE
RETURN (
	SELECT coalesce(jsonb_object_agg(key, value::numeric - (before->>key)::numeric), '{}')
	FROM jsonb_each_text(after)
);

/* Returns how a command came to a bad end, or NULL. */
CREATE FUNCTION why_stopped(timed_out bool, exit_status int, term_signal int,
							stderr text, time_limit interval)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE
	WHEN timed_out THEN format('exceeded its limit of %s', time_limit)
	WHEN term_signal IS NOT NULL THEN
		format('was killed by signal %s', term_signal)
	WHEN exit_status = 77 THEN
		coalesce(nullif(left(trim(E'\n' FROM stderr), 500), ''),
				 'cannot be done here')
	WHEN exit_status <> 0 THEN
		format('exit status %s: %s', exit_status,
			   coalesce(nullif(left(trim(E'\n' FROM stderr), 500), ''),
						'nothing on standard error'))
END;

/* Returns what is wrong with the outcome of a command that ended well, or NULL. */
CREATE FUNCTION why_wrong(c run_cases, figures jsonb, before text, after text)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	suite_judge	regproc;
	verdict		text;
BEGIN
	IF c.figure <> 'duration' AND figures->>c.figure IS NULL THEN
		RETURN format('its output has no figure "%s"', c.figure);
	END IF;
	SELECT s.judge INTO suite_judge
	FROM lab.runs JOIN lab.suites s USING (suite)
	WHERE run_id = c.run_id;
	IF suite_judge IS NOT NULL THEN
		EXECUTE format('SELECT %s($1, $2, $3, $4)', suite_judge)
			INTO verdict USING c, figures, before, after;
	END IF;
	RETURN verdict;
END
$$;

/*
 * Executes what a run still owes, in its order, and marks the run as complete.
 * If it commits, each result is committed when its case ends, so that others see
 * it and an interruption loses the case in flight alone; whoever calls it then
 * must be a procedure itself.  Two of them take turns, case by case, and the
 * command line begins no run while the lock is held.
 */
CREATE PROCEDURE execremaining(of_run int, path text, ldlibpath text,
							   classpath text, commits bool)
LANGUAGE plpgsql
AS $$
DECLARE
	next_case	record;
BEGIN
	FOR next_case IN
		SELECT r.iter, r.testcase FROM lab.remaining r
		WHERE r.run_id = of_run ORDER BY r.place
	LOOP
		PERFORM pg_advisory_xact_lock(hashtext('lab.execremaining'));
		PERFORM lab.exectestcase(of_run, next_case.testcase, next_case.iter,
								 path, ldlibpath, classpath);
		IF commits THEN
			COMMIT;
		END IF;
	END LOOP;
	UPDATE lab.runs SET state = 'complete', ended = clock_timestamp()
	WHERE run_id = of_run;
END
$$;

/*
 * Executes the published experiment outeriter times, set by set: each round runs
 * every case once, in an order of its own.  NULL executes each case as often as
 * its profile has it.  Other suites and cases can be named.  Returns a row for
 * each execution; the duration of a failed one is NULL.  All is stored when the
 * statement ends; executestcases() stores case by case.
 */
CREATE FUNCTION exectestcases(path text, ldlibpath text DEFAULT '',
							  classpath text DEFAULT '', outeriter int DEFAULT 1,
							  suite_name text DEFAULT 'interface',
							  profile_name text DEFAULT 'full',
							  name_pattern text DEFAULT NULL)
RETURNS TABLE (iter int, tcase text, dur float8)
LANGUAGE plpgsql
AS $$
DECLARE
	this_run	int := lab.start_run(suite_name, profile_name, outeriter,
									 coalesce(name_pattern,
											  lab.published_pattern(suite_name)));
BEGIN
	CALL lab.execremaining(this_run, path, ldlibpath, classpath, false);
	RETURN QUERY
		SELECT r.iter, r.testcase, r.duration FROM lab.testresults r
		WHERE r.run_id = this_run ORDER BY r.iter, r.ts;
END
$$;

/*
 * Does the same, and commits when the run is opened and after each case.
 * Returns the number of the run, with which resumetestcases() goes on if this
 * call is interrupted.
 */
CREATE PROCEDURE executestcases(path text, ldlibpath text DEFAULT '',
								classpath text DEFAULT '', outeriter int DEFAULT 1,
								suite_name text DEFAULT 'interface',
								profile_name text DEFAULT 'full',
								name_pattern text DEFAULT NULL,
								INOUT run int DEFAULT NULL)
LANGUAGE plpgsql
AS $$
BEGIN
	run := lab.start_run(suite_name, profile_name, outeriter,
						 coalesce(name_pattern, lab.published_pattern(suite_name)));
	COMMIT;
	CALL lab.execremaining(run, path, ldlibpath, classpath, true);
END
$$;

/*
 * Goes on with a run that executestcases() or the command line has begun, at the
 * servers' present addresses.  Does nothing if the run owes nothing.  A run of
 * another build of the lab is refused: its cases may have been others.
 */
CREATE PROCEDURE resumetestcases(run int, path text, ldlibpath text DEFAULT '',
								 classpath text DEFAULT '')
LANGUAGE plpgsql
AS $$
DECLARE
	begun		lab.runs;
BEGIN
	SELECT * INTO begun FROM lab.runs WHERE run_id = run;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'there is no run %', run
			USING ERRCODE = 'no_data_found', HINT = 'See the table lab.runs.';
	ELSIF begun.migrated THEN
		RAISE EXCEPTION 'run % was begun with another build of the lab', run
			USING ERRCODE = 'object_not_in_prerequisite_state',
				  HINT = 'Begin a new run; what was measured is kept.';
	END IF;
	PERFORM lab.refresh_commands(run);
	UPDATE lab.runs SET state = 'running', ended = NULL WHERE run_id = run;
	COMMIT;
	CALL lab.execremaining(run, path, ldlibpath, classpath, true);
END
$$;

REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA lab FROM PUBLIC;
REVOKE ALL ON SCHEMA lab FROM PUBLIC;
