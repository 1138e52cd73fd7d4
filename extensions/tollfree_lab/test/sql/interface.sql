--
-- Suite interface: the published cases exist by their names, are judged and kept back
--
SET search_path = lab;
SET jit = off;

-- the published interfaces, as their clients would say of themselves
INSERT INTO interfaces VALUES
	('libpq', '{libpqtest}', 'libpq', 'C', NULL),
	('ODBC', '{odbctest}', 'psqlODBC', 'C', NULL),
	('JDBC', '{java,jdbctest}', 'pgjdbc', 'Java', 'needs java');
INSERT INTO interface_conninfos
SELECT ifname, comm, template
FROM (VALUES ('libpq', 'host={host} port={port}'), ('ODBC', 'Server={host};Port={port}'),
			 ('JDBC', 'jdbc:postgresql://{host}:{port}/{dbname}')) AS i (ifname, template)
	CROSS JOIN (VALUES ('ipc'), ('tcp'), ('tls')) AS c (comm)
WHERE (ifname, comm) <> ('JDBC', 'ipc');
INSERT INTO alternateclientcopy VALUES
	('acc-n', 'ODBC', '{}', 'normal', 'native'),
	('acc-n', 'libpq', '{}', 'normal', 'native'),
	('acc-a', 'libpq', '{-a}', 'single-row', 'nothing'),
	('acc-y', 'libpq', '{-y}', 'copy', 'nothing'),
	('acc-n', 'JDBC', '{}', 'normal', 'rows'),
	('acc-y', 'JDBC', '{-y}', 'copy', 'nothing');
UPDATE instances SET socket_host = '/run/lab', tcp_host = '127.0.0.1', port = 25432,
	passfile = '/passfile' WHERE instance = 'source';
UPDATE links SET port = 25433 WHERE link = 'rmt:tcp:200us';

-- the published matrix
SELECT ifname, accdesc, count(*) FROM interface_cases WHERE published
GROUP BY ROLLUP ((ifname, accdesc)) ORDER BY ifname COLLATE "C", accdesc;
SELECT testcase, published FROM interface_cases
WHERE testcase = 'ODBC:lcl:ipc:sql001:0:50k:acc-n:p-all:null';
SELECT ifname, conndesc, conninfo FROM conninfos
WHERE ifname = 'libpq' ORDER BY conndesc;
SELECT argv, env, time_limit, probe_argv FROM testcases
WHERE suite = 'interface' AND profile = 'full' AND testcase IN
	('ODBC:lcl:ipc:sql001:0:50k:acc-n:p-all:null',
	 'libpq:rmt:tcp:sql10m:1:001:acc-y:p-all:file')
ORDER BY testcase;

-- each is executed near what it is compared with
SELECT count(*) > 0 AS compared, count(*) FILTER (WHERE c.neighbours[1] <> b.neighbours[1]) AS elsewhere
FROM testcases c JOIN testcases b USING (suite, profile)
WHERE suite = 'interface' AND b.testcase = c.baseline;

-- the published names: its slides' own tables, joined as they say
CREATE TEMP TABLE named AS
SELECT concat_ws(':', c.ifname, c.conndesc, s.sqlstratiterdesc, a.accdesc, p.pfddesc)
	   AS testcase
FROM (VALUES ('lcl:ipc', 'ODBC'), ('lcl:tcp', 'ODBC'), ('rmt:tcp', 'ODBC'),
			 ('lcl:ipc', 'libpq'), ('lcl:tcp', 'libpq'), ('rmt:tcp', 'libpq'),
			 ('lcl:tcp', 'JDBC'), ('rmt:tcp', 'JDBC')) AS c (conndesc, ifname)
	JOIN (VALUES ('acc-n', 'ODBC'), ('acc-n', 'libpq'), ('acc-a', 'libpq'),
				 ('acc-y', 'libpq'), ('acc-n', 'JDBC'), ('acc-y', 'JDBC'))
		AS a (accdesc, ifname) USING (ifname)
	CROSS JOIN (VALUES ('p-all:null'), ('p-all:file'), ('p-none:null')) AS p (pfddesc)
	CROSS JOIN (VALUES ('sql001:0:50k'), ('sql50k:0:001'), ('sql10m:0:001'),
					   ('sql001:1:50k'), ('sql50k:1:001'), ('sql10m:1:001'))
		AS s (sqlstratiterdesc);
SELECT count(*), count(DISTINCT testcase) FROM named;
(SELECT 'missing' AS is, testcase FROM named EXCEPT
 SELECT 'missing', testcase FROM interface_cases WHERE published)
UNION ALL
(SELECT 'too many', testcase FROM interface_cases WHERE published EXCEPT
 SELECT 'too many', testcase FROM named);
SELECT count(*) AS published_and_chosen FROM testcases JOIN named USING (testcase)
WHERE (suite, profile) = ('interface', 'full') AND chosen;
-- and what exectestcases() executes, if nothing else is named
SELECT start_run('interface', 'full', 1, published_pattern('interface')) AS run \gset
SELECT count(*), count(DISTINCT named.testcase)
FROM run_cases LEFT JOIN named USING (testcase) WHERE run_id = :run;

-- what each strategy is expected to take at a road, and in how many rounds
SELECT sqlstratiterdesc, most_rounds,
	   round(interface_seconds(s, NULL, 10)::numeric, 1) AS local_s,
	   round(interface_seconds(s, 200, 10)::numeric, 1) AS remote_s
FROM sqlstratiter s ORDER BY sqlstratiterdesc COLLATE "C";
SELECT start_run('interface', 'full', NULL, '^libpq:lcl:tcp:sql(001:0|50k:1):.*acc-n:p-all:file') AS run \gset
SELECT testcase, most_rounds, count(*) AS owed, sum(r.seconds) = count(*) * c.seconds AS added_up
FROM remaining r JOIN run_cases c USING (run_id, testcase)
WHERE run_id = :run GROUP BY testcase, most_rounds, c.seconds ORDER BY testcase COLLATE "C";
SELECT start_run('interface', 'full', 3, '^libpq:lcl:tcp:sql001:0:50k:acc-n:p-all:file') AS run \gset
SELECT count(*) AS asked_for FROM remaining WHERE run_id = :run;

-- all that is published is run in full, beside what else is not printed
SELECT profile, chosen, (c.published) AS published, count(*)
FROM testcases t JOIN interface_cases c USING (testcase)
WHERE suite = 'interface' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT count(*) AS without_baseline FROM testcases t
WHERE suite = 'interface' AND (dims->>'interface', dims->>'method') <> ('libpq', 'acc-n')
	AND baseline IS NULL;
SELECT suite, profile, testcase FROM testcases
WHERE suite = 'interface' GROUP BY 1, 2, 3 HAVING count(*) > 1;

-- a client that is not ready, and a server without TLS, keep their cases back
SELECT start_run('interface', 'quick', 1, '^JDBC:lcl:tcp:sql50k:1:001:acc-y:p-none') AS run \gset
SELECT state, reason, duration FROM exectestcase(:run,
	'JDBC:lcl:tcp:sql50k:1:001:acc-y:p-none:null', 1, '/usr/bin:/bin');
SELECT start_run('interface', 'quick', 1, '^libpq:lcl:tls:sql50k:1:001:acc-n:p-none') AS run \gset
SELECT state, reason, duration FROM exectestcase(:run,
	'libpq:lcl:tls:sql50k:1:001:acc-n:p-none:null', 1, '/usr/bin:/bin');

-- one that is broken has failed
UPDATE interfaces SET unready = 'could not be built: x.c:1:1: error: no', broken = true
WHERE ifname = 'libpq';
SELECT start_run('interface', 'quick', 1, '^libpq:lcl:tcp:sql50k:1:001:acc-a:p-none') AS run \gset
SELECT state, reason, duration, value FROM exectestcase(:run,
	'libpq:lcl:tcp:sql50k:1:001:acc-a:p-none:null', 1, '/usr/bin:/bin');
UPDATE interfaces SET unready = NULL, broken = false WHERE ifname = 'libpq';

-- a client that crashes, or is not there, has failed
UPDATE interfaces SET testprog = ARRAY['sh', '-c', 'echo half a line; kill -SEGV $$']
WHERE ifname = 'libpq';
SELECT start_run('interface', 'quick', 2, '^libpq:lcl:tcp:sql50k:1:001:acc-a:p-none') AS run \gset
SELECT state, reason, duration, value, figures FROM exectestcase(:run,
	'libpq:lcl:tcp:sql50k:1:001:acc-a:p-none:null', 1, '/usr/bin:/bin');
UPDATE interfaces SET testprog = '{/no/such/libpqtest}' WHERE ifname = 'libpq';
SELECT refresh_commands(:run);
SELECT state, reason, duration, value, figures FROM exectestcase(:run,
	'libpq:lcl:tcp:sql50k:1:001:acc-a:p-none:null', 2, '/usr/bin:/bin');

-- what a case adds to a meter, and a meter that could not be read
SELECT added_since('{"a": 1, "b": null, "d": 5}', '{"a": 4, "b": 2, "c": 3, "d": 5}');
SELECT children_cpu_ms(pg_backend_pid()) BETWEEN 0 AND 1000 AS little, process_title('0') IS NULL AS nobody,
	   interface_clients_gone(pg_backend_pid()) AS has_no_clients,
	   interface_clients_gone(NULL) AS unknown;

-- a method that the driver lacks is skipped in the client's own words
UPDATE interfaces SET testprog = ARRAY['sh', '-c', 'echo no such thing >&2; exit 77']
WHERE ifname = 'libpq';
SELECT start_run('interface', 'quick', 1, '^libpq:lcl:tcp:sql50k:1:001:acc-a:p-none') AS run \gset
SELECT state, reason, duration FROM exectestcase(:run,
	'libpq:lcl:tcp:sql50k:1:001:acc-a:p-none:null', 1, '/usr/bin:/bin');

-- the judge: what a client says must be what the server has
CREATE FUNCTION pg_temp.judged(changed jsonb, case_name text, after text DEFAULT '')
RETURNS text LANGUAGE sql AS $$
SELECT coalesce(interface_judge(jsonb_populate_record(NULL::run_cases, to_jsonb(t)),
	jsonb_build_object('executions', 1, 'connections', 1, 'rows', 50000, 'bytes', 45,
		'checksum', '0badcafe', 'method', 'single-row', 'held', 'nothing') || changed,
	'', after), 'it counts')
FROM testcases t
WHERE (suite, profile, testcase) = ('interface', 'full', case_name)
$$;
\set once '''libpq:lcl:tcp:sql50k:1:001:acc-a:p-none:null'''
SELECT pg_temp.judged('{}', :once);
INSERT INTO interface_expected VALUES ('select * from t50k', 50000, 45, '0badcafe');
SELECT pg_temp.judged('{}', :once);
SELECT pg_temp.judged('{"rows": 49999}', :once);
SELECT pg_temp.judged('{"rows": null}', :once);
SELECT pg_temp.judged('{"checksum": "0badcaff"}', :once);
SELECT pg_temp.judged('{"bytes": 46}', :once);
SELECT pg_temp.judged('{"connections": 2}', :once);
SELECT pg_temp.judged('{"executions": 2}', :once);
SELECT pg_temp.judged('{"executions": null}', :once);
SELECT pg_temp.judged('{"method": "normal"}', :once);
SELECT pg_temp.judged('{"held": "rows"}', :once);
\set printed '''libpq:lcl:tcp:sql50k:1:001:acc-a:p-all:file'''
SELECT pg_temp.judged('{}', :printed, E'45\n');
SELECT pg_temp.judged('{}', :printed, E'44\n');
SELECT pg_temp.judged('{}', :printed);

-- a limit: a case of many queries is told of it, and may have done fewer, but
-- only when it has passed, and with the rows of just these
SELECT start_run('fdw', 'quick', 1, '', NULL, 10);
SELECT start_run('interface', 'full', 1, '^libpq:lcl:tcp:sql(001:1:50k|50k:1:001):acc-n:p-none',
	NULL, 10) AS run \gset
SELECT refresh_commands(:run);
SELECT query_limit_s, testcase, argv[array_upper(argv, 1) - 1:] AS last_words,
	   run_cases.seconds
FROM runs JOIN run_cases USING (run_id) WHERE run_id = :run ORDER BY testcase COLLATE "C";
INSERT INTO interface_expected VALUES
	('select * from t50k where id = 4242', 1, 45, '0badcafe');
CREATE FUNCTION pg_temp.judged_with_limit(changed jsonb) RETURNS text LANGUAGE sql AS $$
SELECT coalesce(interface_judge(c, jsonb_build_object('executions', 7000, 'connections', 1,
	'rows', 7000, 'bytes', 45, 'checksum', '0badcafe', 'method', 'normal', 'held', 'native',
	'total_ns', 10000000001) || changed, '', ''), 'it counts')
FROM run_cases c
WHERE run_id = (SELECT max(run_id) FROM runs) AND testcase ~ '50k:acc-n'
$$;
SELECT pg_temp.judged_with_limit('{}');
SELECT pg_temp.judged_with_limit('{"total_ns": 9999999999}');
SELECT pg_temp.judged_with_limit('{"total_ns": null}');
SELECT pg_temp.judged_with_limit('{"rows": 50000}');
SELECT pg_temp.judged_with_limit('{"executions": 0, "rows": 0}');
SELECT pg_temp.judged_with_limit('{"executions": 50001, "rows": 50001}');
SELECT pg_temp.judged_with_limit('{"executions": 50000, "rows": 50000, "total_ns": 5}');

-- the views: what a limit ended has no duration, and compares by the query
INSERT INTO testresults (run_id, testcase, iter, state, duration, value, figures, argv, env)
SELECT :run, testcase, 1, 'ok', 1, 1,
	   jsonb_build_object('executions', CASE WHEN testcase ~ '50k:1:001' THEN 1 ELSE 5000 END,
						  'total_ns', 10000000000), '{}', '{}'
FROM run_cases WHERE run_id = :run;
SELECT testcase, candidate, duration, drange, nml_dur, queries, asked, query_duration
FROM ifmeth_cat_results WHERE run_id = :run ORDER BY testcase;
SELECT testcase, candidate, duration, queries, asked, query_duration
FROM loccomm_cat_results WHERE run_id = :run ORDER BY testcase;

-- one failed execution takes the case out of them
INSERT INTO testresults (run_id, testcase, iter, state, reason, argv, env)
SELECT :run, testcase, 2, 'failed', 'because', '{}', '{}'
FROM run_cases WHERE run_id = :run AND testcase ~ '50k:1:001';
SELECT testcase FROM ifmeth_cat_results WHERE run_id = :run;
SELECT testcase FROM loccomm_cat_results WHERE run_id = :run;
