/* Each execution with what its case is; one row a run of a case. */
CREATE VIEW vtestresults AS
SELECT r.run_id, runs.suite, runs.profile, c.testcase, c.candidate, c.baseline,
	   r.iter, r.ts, r.state, r.reason, c.figure, c.unit, c.higher_is_better,
	   r.value, r.duration, r.figures, r.user_us, r.system_us, r.peak_kb,
	   r.exit_status, r.term_signal, r.argv, c.dims
FROM testresults r
	JOIN run_cases c USING (run_id, testcase)
	JOIN runs USING (run_id);

/*
 * The ratio of each execution to its baseline's in the same round, turned so
 * that more than 1 always means that the road is the slower one.
 */
CREATE VIEW ratios AS
SELECT r.run_id, r.testcase, r.iter,
	   CASE WHEN r.higher_is_better THEN base.value / nullif(r.value, 0)
			ELSE r.value / nullif(base.value, 0) END AS ratio
FROM vtestresults r
	JOIN testresults base
		ON base.run_id = r.run_id AND base.testcase = r.baseline
		   AND base.iter = r.iter
WHERE r.state = 'ok' AND base.state = 'ok';

/* One row a case of a run: how often it was run and how it came out. */
CREATE VIEW summary AS
SELECT c.run_id, c.testcase, c.candidate, c.baseline, c.unit, c.dims,
	   count(r.iter) AS executions,
	   count(*) FILTER (WHERE r.state = 'ok') AS ok,
	   count(*) FILTER (WHERE r.state = 'failed') AS failed,
	   count(*) FILTER (WHERE r.state = 'skipped') AS skipped,
	   min(r.reason) AS reason,
	   max(r.value) AS max, min(r.value) AS min, avg(r.value) AS mean,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY r.value) AS median
FROM run_cases c
	LEFT JOIN testresults r USING (run_id, testcase)
GROUP BY c.run_id, c.testcase;

/*
 * The published experiments' own figures, to stand beside ours: two articles,
 * both on PostgreSQL 9.6.2 with pgbench at scale 100, 1 client, simple
 * protocol and REPEATABLE READ.
 */
CREATE TABLE fdw_published
(
	article		text NOT NULL,
	bench		text NOT NULL,
	target		text NOT NULL,
	figure		text NOT NULL CHECK (figure IN ('tps', 'latency_ms')),
	max			float8 NOT NULL,
	min			float8 NOT NULL,
	mean		float8 NOT NULL,
	PRIMARY KEY (article, figure, bench, target)
);

INSERT INTO fdw_published VALUES
	('FDW overhead (2017)', 'RO', 'FDW_external', 'tps', 1713.57, 1387.70, 1511.04),
	('FDW overhead (2017)', 'RO', 'FDW_local', 'tps', 1557.38, 1445.34, 1482.65),
	('FDW overhead (2017)', 'RO', 'local', 'tps', 11717.88, 11131.27, 11512.79),
	('FDW overhead (2017)', 'RW', 'FDW_external', 'tps', 128.12, 102.21, 113.79),
	('FDW overhead (2017)', 'RW', 'FDW_local', 'tps', 146.00, 135.73, 139.72),
	('FDW overhead (2017)', 'RW', 'local', 'tps', 217.21, 203.58, 209.49),
	('FDW overhead (2017)', 'RO', 'FDW_external', 'latency_ms', 0.721, 0.584, 0.6642),
	('FDW overhead (2017)', 'RO', 'FDW_local', 'latency_ms', 0.692, 0.642, 0.6748),
	('FDW overhead (2017)', 'RO', 'local', 'latency_ms', 0.090, 0.085, 0.0869),
	('FDW overhead (2017)', 'RW', 'FDW_external', 'latency_ms', 9.784, 7.805, 8.8521),
	('FDW overhead (2017)', 'RW', 'FDW_local', 'latency_ms', 7.367, 6.849, 7.1598),
	('FDW overhead (2017)', 'RW', 'local', 'latency_ms', 4.912, 4.604, 4.7748),
	('postgres_fdw estimated overhead', 'RO', 'FDW_ext_ro', 'tps', 1637.314, 1402.255, 1507.400),
	('postgres_fdw estimated overhead', 'RO', 'FDW_external', 'tps', 1596.900, 1413.704, 1519.091),
	('postgres_fdw estimated overhead', 'RO', 'FDW_local', 'tps', 1570.985, 1310.034, 1476.397),
	('postgres_fdw estimated overhead', 'RO', 'local', 'tps', 11670.959, 10981.858, 11475.249),
	('postgres_fdw estimated overhead', 'RW', 'FDW_external', 'tps', 136.4827, 110.6894, 124.5781),
	('postgres_fdw estimated overhead', 'RW', 'FDW_local', 'tps', 145.5167, 125.2096, 133.1675),
	('postgres_fdw estimated overhead', 'RW', 'local', 'tps', 240.8039, 205.6248, 219.2062);
