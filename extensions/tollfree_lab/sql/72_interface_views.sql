/*
 * Suite interface: the published experiment's views of its results, run by
 * run, and its figures.  Durations are seconds inside the client, all
 * executions together; a case of which an execution did not succeed is not in
 * them.  Under a run's limit some cases do only part of the queries asked for:
 * these have no duration, and compare by the seconds of one query.
 */
CREATE VIEW interface_vtestresults AS
SELECT run_id,
	   dims->>'interface' AS iface,
	   split_part(dims->>'road', ':', 1) AS loc,
	   split_part(dims->>'road', ':', 2) AS comm,
	   split_part(dims->>'strategy', ':', 1) AS sql,
	   split_part(dims->>'strategy', ':', 2) AS connstrat,
	   split_part(dims->>'strategy', ':', 3) AS numiter,
	   dims->>'method' AS extra,
	   split_part(dims->>'print', ':', 1) AS prnt,
	   split_part(dims->>'print', ':', 2) AS dest,
	   iter, ts,
	   CASE WHEN queries = asked THEN seconds END AS duration,
	   queries, asked, seconds / queries AS query_duration
FROM vtestresults result
	CROSS JOIN LATERAL
		(SELECT (figures->>'executions')::int8 AS queries,
				(dims->>'executions')::int8 AS asked,
				(figures->>'total_ns')::float8 / 1e9 AS seconds) AS done
WHERE suite = 'interface'
  AND dims->>'interface' !~ '_again$' /* libpq would count twice */
  AND NOT EXISTS (SELECT FROM testresults other
				  WHERE (other.run_id, other.testcase) = (result.run_id, result.testcase)
					AND other.state <> 'ok');

/*
 * Mean and range of each case; of durations only where all its executions have
 * one.
 */
CREATE VIEW interface_durations AS
SELECT run_id, iface, loc, comm, connstrat, sql, numiter, extra, prnt, dest,
	   count(*) AS grpsz,
	   CASE WHEN count(*) = count(duration) THEN avg(duration) END AS duration,
	   CASE WHEN count(*) = count(duration)
		   THEN max(duration) - min(duration) END AS drange,
	   min(queries) AS queries, max(asked) AS asked,
	   avg(query_duration) AS query_duration,
	   max(query_duration) - min(query_duration) AS query_drange
FROM interface_vtestresults
GROUP BY run_id, iface, loc, comm, connstrat, sql, numiter, extra, prnt, dest;

/* Returns where a value is between the lowest and the highest, from 0 to 1. */
CREATE FUNCTION normalised(value float8, low float8, high float8)
RETURNS numeric
LANGUAGE sql IMMUTABLE
RETURN round(((value - low) / nullif(high - low, 0))::numeric, 5);

/*
 * Candidates for the same task beside one another.  Normalised, the best has
 * 0 and the worst 1, so that one bad candidate moves all others: the ratios of
 * the view "ratios" do not have that flaw.  All candidates for a task are asked
 * for as many queries, so normalising one query's seconds is the same.
 */
CREATE VIEW ifmeth_cat_results AS
SELECT run_id,
	   concat_ws(':', sql, numiter, loc, comm, connstrat, prnt, dest) AS testcase,
	   concat_ws(':', iface, extra) AS candidate,
	   round(duration::numeric, 5) AS duration,
	   round(drange::numeric, 5) AS drange, grpsz,
	   normalised(query_duration, min(query_duration) OVER w, max(query_duration) OVER w) AS nml_dur,
	   normalised(query_drange, min(query_drange) OVER w, max(query_drange) OVER w) AS nml_drng,
	   queries, asked, query_duration
FROM interface_durations
WINDOW w AS (PARTITION BY run_id, sql, numiter, loc, comm, connstrat, prnt, dest);

/* Roads for the same task beside one another. */
CREATE VIEW loccomm_cat_results AS
SELECT run_id,
	   concat_ws(':', iface, extra, sql, numiter, connstrat, prnt, dest) AS testcase,
	   concat_ws(':', loc, comm) AS candidate,
	   round(duration::numeric, 5) AS duration,
	   round(drange::numeric, 5) AS drange, grpsz,
	   normalised(query_duration, min(query_duration) OVER w, max(query_duration) OVER w) AS nml_dur,
	   normalised(query_drange, min(query_drange) OVER w, max(query_drange) OVER w) AS nml_drng,
	   queries, asked, query_duration
FROM interface_durations
WINDOW w AS (PARTITION BY run_id, sql, numiter, iface, extra, connstrat, prnt, dest);

/*
 * The published figures: seconds of a case (the candidate's in a task), or of
 * its tables of means.  PostgreSQL of 2014, on other hardware.
 */
CREATE TABLE interface_published
(
	task		text NOT NULL,
	candidate	text NOT NULL,
	duration	float8 NOT NULL,
	PRIMARY KEY (task, candidate)
);

COMMENT ON COLUMN interface_published.task IS
'as ifmeth_cat_results.testcase has it';

INSERT INTO interface_published VALUES
	('sql001:50k:lcl:ipc:0:p-all:file', 'libpq:acc-n', 167.08301),
	('sql001:50k:lcl:ipc:0:p-all:file', 'libpq:acc-a', 168.08354),
	('sql001:50k:lcl:ipc:0:p-all:file', 'libpq:acc-y', 169.53112),
	('sql001:50k:lcl:ipc:0:p-all:file', 'ODBC:acc-n', 240.00766),
	('sql001:50k:lcl:ipc:1:p-all:file', 'libpq:acc-n', 7.72111),
	('sql001:50k:lcl:ipc:1:p-all:file', 'libpq:acc-a', 8.30801),
	('sql001:50k:lcl:ipc:1:p-all:file', 'libpq:acc-y', 8.44191),
	('sql001:50k:lcl:ipc:1:p-all:file', 'ODBC:acc-n', 16.50867),
	('sql001:50k:lcl:tcp:0:p-all:file', 'libpq:acc-n', 184.76682),
	('sql001:50k:lcl:tcp:0:p-all:file', 'libpq:acc-a', 185.10930),
	('sql001:50k:lcl:tcp:0:p-all:file', 'libpq:acc-y', 187.35046),
	('sql001:50k:lcl:tcp:0:p-all:file', 'JDBC:acc-y', 200.94066),
	('sql001:50k:lcl:tcp:0:p-all:file', 'JDBC:acc-n', 206.43863),
	('sql001:50k:lcl:tcp:0:p-all:file', 'ODBC:acc-n', 256.56118),
	('sql001:50k:lcl:tcp:1:p-all:file', 'libpq:acc-a', 11.40072),
	('sql001:50k:lcl:tcp:1:p-all:file', 'libpq:acc-n', 11.62985),
	('sql001:50k:lcl:tcp:1:p-all:file', 'libpq:acc-y', 12.67647),
	('sql001:50k:lcl:tcp:1:p-all:file', 'JDBC:acc-y', 15.00848),
	('sql001:50k:lcl:tcp:1:p-all:file', 'JDBC:acc-n', 20.46275),
	('sql001:50k:lcl:tcp:1:p-all:file', 'ODBC:acc-n', 22.33883),
	('sql001:50k:rmt:tcp:0:p-all:file', 'libpq:acc-n', 380.87894),
	('sql001:50k:rmt:tcp:0:p-all:file', 'libpq:acc-a', 381.20051),
	('sql001:50k:rmt:tcp:0:p-all:file', 'libpq:acc-y', 398.77627),
	('sql001:50k:rmt:tcp:0:p-all:file', 'JDBC:acc-y', 437.91512),
	('sql001:50k:rmt:tcp:0:p-all:file', 'JDBC:acc-n', 443.36177),
	('sql001:50k:rmt:tcp:0:p-all:file', 'ODBC:acc-n', 529.13435),
	('sql001:50k:rmt:tcp:1:p-all:file', 'libpq:acc-n', 26.79044),
	('sql001:50k:rmt:tcp:1:p-all:file', 'libpq:acc-a', 26.95195),
	('sql001:50k:rmt:tcp:1:p-all:file', 'libpq:acc-y', 41.10257),
	('sql001:50k:rmt:tcp:1:p-all:file', 'JDBC:acc-y', 44.27100),
	('sql001:50k:rmt:tcp:1:p-all:file', 'ODBC:acc-n', 52.93944),
	('sql001:50k:rmt:tcp:1:p-all:file', 'JDBC:acc-n', 53.60791),
	('sql50k:001:lcl:ipc:1:p-all:file', 'libpq:acc-n', 0.21962),
	('sql50k:001:lcl:ipc:1:p-all:file', 'ODBC:acc-n', 0.56753),
	('sql50k:001:lcl:tcp:1:p-all:file', 'libpq:acc-n', 0.32501),
	('sql50k:001:lcl:tcp:1:p-all:file', 'ODBC:acc-n', 0.70518),
	('sql50k:001:lcl:tcp:1:p-all:file', 'JDBC:acc-n', 2.72273),
	('sql50k:001:rmt:tcp:1:p-all:file', 'libpq:acc-a', 0.44083),
	('sql50k:001:rmt:tcp:1:p-all:file', 'libpq:acc-y', 0.55278),
	('sql50k:001:rmt:tcp:1:p-all:file', 'libpq:acc-n', 0.60207),
	('sql50k:001:rmt:tcp:1:p-all:file', 'JDBC:acc-y', 0.67728),
	('sql50k:001:rmt:tcp:1:p-all:file', 'ODBC:acc-n', 0.94350),
	('sql50k:001:rmt:tcp:1:p-all:file', 'JDBC:acc-n', 3.00985),
	('sql10m:001:rmt:tcp:1:p-all:file', 'libpq:acc-a', 36.10610),
	('sql10m:001:rmt:tcp:1:p-all:file', 'libpq:acc-y', 41.68094),
	('sql10m:001:rmt:tcp:1:p-all:file', 'JDBC:acc-y', 41.85082),
	('sql10m:001:rmt:tcp:1:p-all:file', 'libpq:acc-n', 52.39856),
	('sql10m:001:rmt:tcp:1:p-all:file', 'ODBC:acc-n', 90.92070),
	('sql10m:001:rmt:tcp:1:p-all:file', 'JDBC:acc-n', 416.97683),
	('sql10m:001:lcl:tcp:1:p-all:file', 'libpq:acc-y', 29.37412),
	('sql10m:001:lcl:tcp:1:p-all:file', 'libpq:acc-a', 31.62445),
	('sql10m:001:lcl:tcp:1:p-all:file', 'JDBC:acc-y', 31.87552),
	('sql10m:001:lcl:tcp:1:p-all:file', 'libpq:acc-n', 40.85718),
	('sql10m:001:lcl:tcp:1:p-all:file', 'ODBC:acc-n', 77.09062),
	('sql10m:001:lcl:tcp:1:p-all:file', 'JDBC:acc-n', 396.85311),
	('sql10m:001:lcl:ipc:1:p-all:file', 'libpq:acc-y', 27.45592),
	('sql10m:001:lcl:ipc:1:p-all:file', 'libpq:acc-a', 30.03265),
	('sql10m:001:lcl:ipc:1:p-all:file', 'libpq:acc-n', 36.35336),
	('sql10m:001:lcl:ipc:1:p-all:file', 'ODBC:acc-n', 69.42425);

/* The published summaries: candidates, roads, and means over all candidates. */
CREATE TABLE interface_published_summaries
(
	summary		text NOT NULL
		CHECK (summary IN ('interface/method', 'location/transport', 'query/connect')),
	item		text NOT NULL,
	nml_dur		float8,
	nml_drng	float8,
	duration	float8,
	PRIMARY KEY (summary, item)
);

COMMENT ON COLUMN interface_published_summaries.item IS
'a candidate of ifmeth_cat_results or loccomm_cat_results, or a task';

INSERT INTO interface_published_summaries VALUES
	('interface/method', 'libpq:acc-a', 0.008, 0.285, NULL),
	('interface/method', 'libpq:acc-n', 0.055, 0.224, NULL),
	('interface/method', 'libpq:acc-y', 0.097, 0.416, NULL),
	('interface/method', 'JDBC:acc-y', 0.231, 0.279, NULL),
	('interface/method', 'ODBC:acc-n', 0.748, 0.523, NULL),
	('interface/method', 'JDBC:acc-n', 0.851, 0.600, NULL),
	('location/transport', 'lcl:ipc', 0.001, 0.398, NULL),
	('location/transport', 'lcl:tcp', 0.108, 0.484, NULL),
	('location/transport', 'rmt:tcp', 1.000, 0.538, NULL),
	('query/connect', 'sql50k:001:lcl:ipc:0:p-all:file', NULL, NULL, 0.293),
	('query/connect', 'sql50k:001:lcl:ipc:1:p-all:file', NULL, NULL, 0.299),
	('query/connect', 'sql50k:001:lcl:tcp:0:p-all:file', NULL, NULL, 0.758),
	('query/connect', 'sql50k:001:lcl:tcp:1:p-all:file', NULL, NULL, 0.784),
	('query/connect', 'sql50k:001:rmt:tcp:0:p-all:file', NULL, NULL, 1.036),
	('query/connect', 'sql50k:001:rmt:tcp:1:p-all:file', NULL, NULL, 1.038),
	('query/connect', 'sql001:50k:lcl:ipc:1:p-all:file', NULL, NULL, 10.245),
	('query/connect', 'sql001:50k:lcl:tcp:1:p-all:file', NULL, NULL, 15.586),
	('query/connect', 'sql001:50k:rmt:tcp:1:p-all:file', NULL, NULL, 40.944),
	('query/connect', 'sql001:50k:lcl:ipc:0:p-all:file', NULL, NULL, 186.176),
	('query/connect', 'sql001:50k:lcl:tcp:0:p-all:file', NULL, NULL, 203.528),
	('query/connect', 'sql001:50k:rmt:tcp:0:p-all:file', NULL, NULL, 428.544);
