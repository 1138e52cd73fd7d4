--
-- Suite shards: what is crossed with what
--
SET search_path = lab;

-- both wrappers do the same; one more number of servers, one more place for each
SELECT profile, dims->>'target' AS target, dims->>'wrapper' AS wrapper, count(*),
	   count(*) FILTER (WHERE chosen) AS chosen
FROM testcases WHERE suite = 'shards'
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
BEGIN;
INSERT INTO shards_counts VALUES (3, true);
SELECT count(*) = (SELECT count(*) FROM testcases WHERE suite = 'shards' AND dims->>'servers' = '4' AND dims->>'content' = 'rows') AS as_many
FROM testcases WHERE suite = 'shards' AND dims->>'servers' = '3';
ROLLBACK;

-- servers are on two instances in turn, and what counts on the way to both is asked
BEGIN;
UPDATE instances SET tcp_host = '127.0.0.1', port = 25440 WHERE instance <> 'source';
UPDATE links SET port = 25400 + rtt_us / 1000, control = 'near ' || link WHERE rtt_us < 5000;
UPDATE other_links SET port = 25500, control = instance || ' ' || link WHERE link ~ 'us$';
SELECT servers, target, link, controls
FROM shards_places LEFT JOIN shards_counters USING (dbname)
WHERE servers <= 2 AND (wrapper = 'postgres_fdw' OR target = 'citus')
ORDER BY 2, 1, 3;
SELECT n, server_port FROM shards_servers
WHERE dbname = 'shards_4_rmt_tcp_200us_and_2000us' ORDER BY n;
SELECT shards_counted('{/a,it''s}', 'before');
ROLLBACK;

-- the wrapper of text files is a dimension of those that read them
SELECT DISTINCT dims->>'content' AS content, dims->>'wrapper' AS wrapper,
	   dims->>'file_wrapper' AS file_wrapper
FROM testcases WHERE suite = 'shards' AND dims->>'operation' = 'Q6'
ORDER BY 1, 2;
-- every case has its baseline, and both wrappers the same databases
SELECT count(*) FROM testcases t
WHERE suite = 'shards' AND baseline IS NOT NULL
  AND NOT EXISTS (SELECT FROM testcases b WHERE b.testcase = t.baseline AND b.profile = t.profile);
-- Citus has what it does not refuse
SELECT operation, content, link, servers FROM shards_cases
WHERE target = 'citus' AND operation IN ('TOPN', 'SUBQUERY', 'Q6')
ORDER BY 1, 2, 3;
SELECT wrapper, servers, server_options->>'parallel_modify' AS parallel_modify, count(*)
FROM shards_databases GROUP BY 1, 2, 3 ORDER BY 1, 2;

-- what is made for a run is what its cases need
SELECT start_run('shards', 'quick', 1,
				 '^(TOPN:.*postgres_fdw:2 servers:lcl:tcp|Q6:.*:4 servers:rmt:tcp:1000us:text)$', 1) AS run \gset
SELECT target, dbname, servers, is_tpch FROM shards_needed
ORDER BY dbname COLLATE "C", target COLLATE "C";
DELETE FROM runs WHERE run_id = :run;

-- an execution counts if its answer is that of the local tables
SELECT start_run('shards', 'quick', 1, '^(TOPN|INSERT|Q6|TPCB):', 1) AS run \gset
SELECT operation, schema, statements, is_answered FROM shards_questions ORDER BY 1;
SELECT answer, shards_judge(c, jsonb_build_object('ms', 1, 'answer', answer), NULL, NULL)
FROM run_cases c, (VALUES (77), (NULL)) AS a (answer)
WHERE run_id = :run AND testcase = 'TOPN:local:lcl:ipc';
SELECT shards_keep_answer(1, 'TOPN', 76), shards_keep_answer(1, 'TOPN', 77);
SELECT answer, shards_judge(c, jsonb_build_object('ms', 1, 'answer', answer), NULL, NULL)
FROM run_cases c, (VALUES (77), (78), (NULL)) AS a (answer)
WHERE run_id = :run AND testcase = 'TOPN:local:lcl:ipc';
SELECT operation FROM shards_questions WHERE is_answered;
TRUNCATE shards_answers;
SELECT read_figures('shards', E'before 1 {"flights": 5, "bytes_to_client": 700, "rows_to_client": 3}\n'
					'before 2 {"flights": 6, "bytes_to_client": 0, "rows_to_client": 0}\nms=1.5\n'
					'after 1 {"flights": 9, "bytes_to_client": 1700, "rows_to_client": 8}\n'
					'after 2 {"flights": 7, "bytes_to_client": 1, "rows_to_client": 1}\nanswer=-12\n');
DELETE FROM runs WHERE run_id = :run;

-- pgbench's transactions count if all are in the history and in all sums
SELECT what, shards_judge_pgbench(figures, '10|7|7|7|7', after)
FROM (VALUES ('as it should be', '{"transactions": 5, "failed": 0}'::jsonb, '15|9|9|9|9'),
			 ('none', '{"failed": 0}', '10|7|7|7|7'),
			 ('failures', '{"transactions": 5, "failed": 1}', '15|9|9|9|9'),
			 ('one is missing', '{"transactions": 6, "failed": 0}', '15|9|9|9|9'),
			 ('a branch differs', '{"transactions": 5, "failed": 0}', '15|9|9|8|9')) AS v (what, figures, after);
SELECT figure, unit, format, probe_argv IS NOT NULL AS has_probe, time_limit
FROM testcases WHERE suite = 'shards' AND testcase = 'TPCB:local:lcl:ipc' ORDER BY profile;
