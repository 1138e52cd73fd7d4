/*
 * Suite interface: what it costs to fetch rows through an interface.
 *
 * The published experiment's driver tables, by its own names.  The clients in
 * use fill in interfaces, interface_conninfos and alternateclientcopy (from
 * their manifests, when the lab starts); the other driver tables are here.
 */
CREATE TABLE interfaces
(
	ifname		text PRIMARY KEY,
	testprog	text[] NOT NULL,
	title		text NOT NULL,
	language	text NOT NULL,
	unready		text,
	broken		bool NOT NULL DEFAULT false
);

COMMENT ON COLUMN interfaces.testprog IS
'what stands before the options of its client';
COMMENT ON COLUMN interfaces.unready IS
'why it cannot be measured here; NULL when it can';
COMMENT ON COLUMN interfaces.broken IS
'it cannot although nothing that it needs is missing: its cases fail';

/* How each interface writes where to connect to, with places to fill in. */
CREATE TABLE interface_conninfos
(
	ifname		text REFERENCES interfaces ON DELETE CASCADE,
	comm		text CHECK (comm IN ('ipc', 'tcp', 'tls')),
	template	text NOT NULL,
	PRIMARY KEY (ifname, comm)
);

CREATE TABLE alternateclientcopy
(
	accdesc		text,
	ifname		text REFERENCES interfaces ON DELETE CASCADE,
	sw			text[] NOT NULL,
	method		text NOT NULL,
	held		text NOT NULL,
	PRIMARY KEY (ifname, accdesc)
);

COMMENT ON COLUMN alternateclientcopy.method IS
'what the client''s figures call it';
COMMENT ON COLUMN alternateclientcopy.held IS
'what the client holds when all rows are there';

/* The roads to the data: a link, with or without TLS. */
CREATE TABLE interface_roads
(
	conndesc	text PRIMARY KEY CHECK (conndesc ~ '^[a-z0-9]+:(ipc|tcp|tls)$'),
	link		text NOT NULL REFERENCES links
);

INSERT INTO interface_roads VALUES
	('lcl:ipc', 'lcl:ipc'),
	('lcl:tcp', 'lcl:tcp'),
	('lcl:tls', 'lcl:tcp'),
	('rmt:tcp', 'rmt:tcp:200us'),
	('rmt:tls', 'rmt:tcp:200us'),
	('rmt2ms:tcp', 'rmt:tcp:2000us');

/* Whether rows are printed, and where to; in the latter case to a file. */
CREATE TABLE printfracdest
(
	pfddesc		text PRIMARY KEY,
	printfrac	int NOT NULL CHECK (printfrac IN (0, 1)),
	dest		text
);

COMMENT ON COLUMN printfracdest.dest IS
'NULL for a file that the lab names and removes again';

INSERT INTO printfracdest VALUES
	('p-all:null', 1, '/dev/null'),
	('p-all:file', 1, NULL),
	('p-none:null', 0, '/dev/null');

/*
 * The statements, connecting each time (0) or once (1), and how often.  The
 * six published ones, and two that every interface has time for.  Those that
 * take minutes are executed in one round of a full run.
 */
CREATE TABLE sqlstratiter
(
	sqlstratiterdesc text PRIMARY KEY,
	sql			text NOT NULL,
	connstrat	int NOT NULL CHECK (connstrat IN (0, 1)),
	numiter		int NOT NULL CHECK (numiter > 0),
	published	bool NOT NULL,
	seconds		float8 NOT NULL,
	most_rounds	int
);

COMMENT ON COLUMN sqlstratiter.seconds IS
'about what an execution takes, connecting left out, of t10m each million rows';
COMMENT ON COLUMN sqlstratiter.most_rounds IS
'in how many rounds of a full run it is executed; NULL for all';

INSERT INTO sqlstratiter VALUES
	('sql001:0:50k', 'select * from t50k where id = 4242', 0, 50000, true, 0.0002, 1),
	('sql50k:0:001', 'select * from t50k', 0, 1, true, 0.3, NULL),
	('sql10m:0:001', 'select * from t10m', 0, 1, true, 3, 1),
	('sql001:1:50k', 'select * from t50k where id = 4242', 1, 50000, true, 0.0002, NULL),
	('sql50k:1:001', 'select * from t50k', 1, 1, true, 0.3, NULL),
	('sql10m:1:001', 'select * from t10m', 1, 1, true, 3, 1),
	('sql001:0:20', 'select * from t50k where id = 4242', 0, 20, false, 0.0002, NULL),
	('sql001:1:1k', 'select * from t50k where id = 4242', 1, 1000, false, 0.0002, NULL);

/*
 * Returns about how many seconds a client runs: it starts, connects, executes,
 * and executes once more to be checked.  Connecting takes some round trips.
 */
CREATE FUNCTION interface_seconds(strategy sqlstratiter, rtt_us int, scale int)
RETURNS float8
LANGUAGE sql IMMUTABLE
RETURN 1
	+ (strategy.numiter + 1)
	* (strategy.seconds
	   * CASE WHEN strategy.sqlstratiterdesc ~ '^sql10m' THEN scale ELSE 1 END
	   + coalesce(rtt_us, 0) / 1e6)
	+ CASE strategy.connstrat WHEN 0 THEN strategy.numiter + 1 ELSE 1 END
	* (0.005 + 6 * coalesce(rtt_us, 0) / 1e6);

/* What the statements must return: filled in when the tables are loaded. */
CREATE TABLE interface_expected
(
	sql			text PRIMARY KEY,
	rows		int8 NOT NULL,
	bytes		int8 NOT NULL,
	checksum	text NOT NULL
);

/* Stores what a statement must return. */
CREATE FUNCTION interface_expect(statement text, of_rows int8, of_bytes int8, of_checksum text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO interface_expected (sql, rows, bytes, checksum)
	VALUES (statement, of_rows, of_bytes, of_checksum);
END;

/* Forgets what statements about a table must return. */
CREATE FUNCTION interface_forget(table_name text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	DELETE FROM interface_expected WHERE sql ~ ('\m' || table_name || '\M');
END;

/* The statements that the run in progress has cases for. */
CREATE VIEW interface_statements AS
SELECT DISTINCT s.sql
FROM runs
	JOIN run_cases c USING (run_id)
	JOIN sqlstratiter s ON s.sqlstratiterdesc = c.dims->>'strategy'
WHERE suite = 'interface' AND state = 'running';

/* Fills in the places of a connection string; an unknown one stays a place. */
CREATE FUNCTION interface_conninfo(template text, places jsonb)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
	place		record;
BEGIN
	FOR place IN
		SELECT key, value FROM jsonb_each_text(places) WHERE value IS NOT NULL
	LOOP
		template := replace(template, '{' || place.key || '}', place.value);
	END LOOP;
	RETURN template;
END
$$;

/* Where each interface connects to, road by road. */
CREATE VIEW conninfos AS
SELECT r.conndesc, c.ifname, l.link, l.rtt_us, c.comm,
	   interface_conninfo(c.template, jsonb_build_object(
		   'host', place.host, 'host_url', replace(place.host, '/', '%2F'),
		   'socket', place.host || '/.s.PGSQL.' || place.port,
		   'port', place.port, 'dbname', 'iftest', 'user', 'postgres',
		   'certificate', i.certificate)) AS conninfo
FROM interface_roads r
	JOIN links l USING (link)
	JOIN interface_conninfos c ON c.comm = split_part(r.conndesc, ':', 2)
	JOIN instances i ON i.instance = 'source'
	CROSS JOIN LATERAL
		(SELECT CASE c.comm WHEN 'ipc' THEN i.socket_host ELSE i.tcp_host END AS host,
				coalesce(l.port, i.port) AS port) AS place;

/*
 * The candidates: interfaces with their methods.  The A/A candidate is libpq's
 * normal method under another name.
 */
CREATE VIEW interface_candidates AS
SELECT ifname, ifname AS client, accdesc, sw, method, held,
	   (ifname, accdesc) IN
		   (('libpq', 'acc-n'), ('libpq', 'acc-a'), ('libpq', 'acc-y'),
			('JDBC', 'acc-n'), ('JDBC', 'acc-y'), ('ODBC', 'acc-n')) AS published
FROM alternateclientcopy
UNION ALL
SELECT 'libpq_again', ifname, accdesc, sw, method, held, false
FROM alternateclientcopy
WHERE (ifname, accdesc) = ('libpq', 'acc-n');

/* The crossing. */
CREATE VIEW interface_cases AS
SELECT concat_ws(':', a.ifname, c.conndesc, s.sqlstratiterdesc, a.accdesc,
				 p.pfddesc) AS testcase,
	   i.testprog, a.ifname, a.accdesc, a.sw, a.method, a.held,
	   c.conndesc, c.link, c.rtt_us, c.comm, c.conninfo,
	   p.pfddesc, p.printfrac, p.dest,
	   s.sqlstratiterdesc, s.sql, s.connstrat, s.numiter, s AS strategy,
	   s.sqlstratiterdesc ~ '^sql10m' AS is_large,
	   a.published AS candidate_published,
	   s.published AND a.published
	   AND c.conndesc IN ('lcl:ipc', 'lcl:tcp', 'rmt:tcp')
	   AND (a.ifname, c.comm) <> ('JDBC', 'ipc') AS published
FROM interface_candidates a
	JOIN interfaces i ON i.ifname = a.client
	JOIN conninfos c ON c.ifname = a.client
	CROSS JOIN printfracdest p
	CROSS JOIN sqlstratiter s
WHERE (a.method <> 'server-file' OR c.rtt_us IS NULL)
  AND (a.method <> 'pipeline' OR s.connstrat = 1);

/*
 * Reads the large table, so that the page cache has it if it can: or else the
 * candidate that comes first would wait for the disk.
 */
CREATE FUNCTION interface_warm_query()
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN 'SELECT public.read_file(path) FROM public.files_of_tables(''{t10m}'') AS path';

/*
 * A full run has the published experiment's cases, and of all other interfaces,
 * methods and roads those that neither print nor take hours: of t10m only over
 * one road, and where not all of its rows are held as objects, for which few
 * machines have the memory.  A quick run has every interface, over TCP, at its
 * normal method, libpq also row by row, to compare with what holds nothing, and
 * where many rows come also the published experiment's other methods.
 *
 * A round of all cases takes hours, and a machine changes meanwhile.  So those of
 * one task follow each other, what they are compared with among them.
 */
CREATE VIEW interface_testcases AS
SELECT 'interface'::text AS suite,
	   profile.profile,
	   c.testcase,
	   concat_ws(':', c.ifname, c.accdesc) AS candidate,
	   base.testcase AS baseline,
	   'execution_us'::text AS figure, 'us'::text AS unit,
	   false AS higher_is_better,
	   jsonb_build_object('interface', c.ifname, 'method', c.accdesc,
						  'held', c.held, 'road', c.conndesc,
						  'statement', split_part(c.sqlstratiterdesc, ':', 1),
						  'connect', CASE c.connstrat WHEN 0 THEN 'each time'
									 ELSE 'once' END,
						  'executions', c.numiter, 'print', c.pfddesc,
						  'strategy', c.sqlstratiterdesc) AS dims,
	   c.testprog
	   || ARRAY['-c', c.conninfo, '-s', c.sql, '-p', c.printfrac::text,
				'-k', c.connstrat::text, '-n', c.numiter::text]
	   || CASE WHEN c.printfrac = 1
			   THEN ARRAY['-o', coalesce(c.dest, scratch.path || '.out')]
		  END
	   || CASE WHEN c.method = 'server-file'
			   THEN ARRAY['-f', scratch.path || '.copy'] END
	   || c.sw AS argv,
	   ARRAY['PGPASSFILE=' || source.passfile] AS env,
	   make_interval(secs => 120 + c.numiter / 10
					 + CASE WHEN c.is_large THEN 1800
					   ELSE 0 END) AS time_limit,
	   'json'::text AS format,
	   CASE WHEN c.dest IS NULL OR c.method = 'server-file' OR c.is_large THEN
		   ARRAY['sh', '-c', 'stat -c %s "$1.out" 2>/dev/null; rm -f "$1.out" "$1.copy"'
				 || CASE WHEN c.is_large THEN
						'; psql -XAtq -v ON_ERROR_STOP=1 -d "$2" -c "$3" >/dev/null'
					ELSE '' END,
				 'sh', scratch.path]
		   || CASE WHEN c.is_large THEN
				  ARRAY[socket_conninfo('source', 'iftest'), interface_warm_query()]
			  END
	   END AS probe_argv,
	   CASE profile.profile
		   WHEN 'quick' THEN
			   c.conndesc = 'lcl:tcp' AND c.pfddesc = 'p-none:null'
			   AND CASE
					   WHEN c.accdesc = 'acc-n'
						   OR (c.ifname, c.accdesc) = ('libpq', 'acc-a') THEN
						   c.sqlstratiterdesc IN
							   ('sql001:0:20', 'sql001:1:1k', 'sql50k:1:001')
					   ELSE
						   c.candidate_published
						   AND c.sqlstratiterdesc = 'sql50k:1:001'
				   END
		   ELSE
			   c.published
			   OR (c.pfddesc = 'p-none:null'
				   AND (c.sqlstratiterdesc IN
							('sql001:0:20', 'sql001:1:1k', 'sql50k:1:001')
						OR (c.sqlstratiterdesc, c.conndesc)
							= ('sql10m:1:001', 'lcl:tcp')
						   AND c.held <> 'rows'))
	   END AS chosen,
	   interface_seconds(c.strategy, c.rtt_us, profile.scale) AS seconds,
	   (c.strategy).most_rounds,
	   ARRAY[concat_ws(' ', c.conndesc, c.sqlstratiterdesc, c.pfddesc), c.accdesc]
		   AS neighbours
FROM interface_cases c
	JOIN profiles profile ON profile.suite = 'interface'
	JOIN instances source ON source.instance = 'source'
	CROSS JOIN LATERAL
		(SELECT source.socket_host || '/ifttest' AS path) AS scratch
	LEFT JOIN interface_cases base
		ON (base.ifname, base.accdesc) = ('libpq', 'acc-n')
		   AND (base.conndesc, base.pfddesc, base.sqlstratiterdesc)
			   = (c.conndesc, c.pfddesc, c.sqlstratiterdesc)
		   AND base.testcase <> c.testcase;

/*
 * Returns why a case cannot be run here, or NULL.  Raises the reason when the
 * client is at fault, which is a failure.
 */
CREATE FUNCTION interface_gate(run_case run_cases)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	client		lab.interfaces;
BEGIN
	SELECT * INTO client FROM lab.interfaces
	WHERE ifname = split_part(run_case.dims->>'interface', '_again', 1);
	IF client.broken THEN
		RAISE EXCEPTION '% %', client.ifname, client.unready
			USING ERRCODE = 'external_routine_exception';
	ELSIF client.unready IS NOT NULL THEN
		RETURN client.ifname || ' ' || client.unready;
	ELSIF run_case.dims->>'road' ~ ':tls$'
		AND NOT EXISTS (SELECT FROM lab.instances
						WHERE instance = 'source' AND certificate IS NOT NULL) THEN
		RETURN 'the server has no TLS: see tollfree doctor';
	END IF;
	RETURN NULL;
END
$$;

/*
 * Returns why an execution does not count, or NULL: it must have fetched all
 * the rows that the server has, and the very values, by the method it was
 * asked for.  Only a limit that has passed excuses fewer queries than that, and
 * then the rows are theirs.  What it printed must have their length.
 */
CREATE FUNCTION interface_judge(run_case run_cases, figures jsonb,
								before text, after text)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	asked		int8 := (run_case.dims->>'executions')::int8;
	executions	int8 := (figures->>'executions')::int8;
	seconds		float8 := (figures->>'total_ns')::float8 / 1e9;
	query_limit_s int := (SELECT r.query_limit_s FROM lab.runs r
						  WHERE run_id = run_case.run_id);
	strategy	lab.sqlstratiter;
	expected	lab.interface_expected;
	way			lab.interface_candidates;
BEGIN
	SELECT * INTO strategy FROM lab.sqlstratiter
	WHERE sqlstratiterdesc = run_case.dims->>'strategy';
	SELECT * INTO expected FROM lab.interface_expected
	WHERE sql = strategy.sql;
	SELECT * INTO way FROM lab.interface_candidates
	WHERE (ifname, accdesc) = (run_case.dims->>'interface', run_case.dims->>'method');

	IF expected.sql IS NULL THEN
		RETURN format('nobody knows what "%s" must return: its table is not loaded',
					  strategy.sql);
	ELSIF executions IS DISTINCT FROM asked
		AND NOT coalesce(executions BETWEEN 1 AND asked
						 AND seconds >= query_limit_s, false)
		OR (figures->>'connections')::int8 IS DISTINCT FROM
		   (CASE strategy.connstrat WHEN 0 THEN executions ELSE 1 END) THEN
		RETURN format('%s executions over %s connections were not what was asked for',
					  coalesce(figures->>'executions', 'no'),
					  coalesce(figures->>'connections', 'no'));
	ELSIF (figures->>'rows')::int8 IS DISTINCT FROM executions * expected.rows THEN
		RETURN format('%s rows came, of %s', coalesce(figures->>'rows', 'no'),
					  executions * expected.rows);
	ELSIF figures->>'checksum' IS DISTINCT FROM expected.checksum
		OR (figures->>'bytes')::int8 IS DISTINCT FROM expected.bytes THEN
		RETURN format('the values have the checksum %s over %s bytes, the server''s %s over %s',
					  figures->>'checksum', figures->>'bytes',
					  expected.checksum, expected.bytes);
	ELSIF (figures->>'method', figures->>'held') IS DISTINCT FROM (way.method, way.held) THEN
		RETURN format('it used the method %s and held %s, not %s and %s',
					  figures->>'method', figures->>'held', way.method, way.held);
	ELSIF run_case.dims->>'print' = 'p-all:file'
		AND trim(E'\n' FROM after) IS DISTINCT FROM (executions * expected.bytes)::text THEN
		RETURN format('the printed file has %s bytes, not %s',
					  coalesce(nullif(trim(E'\n' FROM after), ''), 'no'),
					  executions * expected.bytes);
	END IF;
	RETURN NULL;
END
$$;

/*
 * Returns what a process calls itself: nothing once it has ended, and NULL once
 * its parent has noticed.
 */
CREATE FUNCTION process_title(pid text)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
	RETURN encode(pg_read_binary_file(format('/proc/%s/cmdline', pid), 0, 80, true),
				  'escape');
EXCEPTION
	WHEN internal_error THEN	/* it ended while it was read */
		RETURN NULL;
END
$$;

/*
 * Waits until no client is connected to the experiment's database.  Returns
 * whether that came to be; NULL where it cannot be seen.
 */
CREATE FUNCTION interface_clients_gone(postmaster int)
RETURNS bool
LANGUAGE plpgsql
AS $$
DECLARE
	children	text;
BEGIN
	FOR attempt IN 1 .. 400 LOOP
		children := pg_read_file(format('/proc/%1$s/task/%1$s/children', postmaster),
								 0, 1000000, true);
		IF children IS NULL THEN
			RETURN NULL;
		ELSIF NOT EXISTS
			(SELECT FROM string_to_table(trim(children), ' ') AS child
			 WHERE lab.process_title(child) ~ '^$|^postgres: postgres iftest ') THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.005);
	END LOOP;
	RETURN false;
END
$$;

/*
 * Returns the processor time of a process's children that have ended, in
 * milliseconds.  The kernel tells it in steps of 10.
 */
CREATE FUNCTION children_cpu_ms(pid int)
RETURNS int8
LANGUAGE sql
RETURN (
	SELECT (field[14]::int8 + field[15]::int8) * 10
	FROM pg_read_file(format('/proc/%s/stat', pid), 0, 10000, true) AS stat,
		 string_to_array(regexp_replace(stat, '^.*\) ', ''), ' ') AS field
);

/*
 * Reads what a case adds to: the processor time of the server's processes, when
 * those of the client before have ended, the counts of a link, and what came from
 * the disk where many rows are read.  They cover the execution that is checked,
 * too, and all connecting.
 */
CREATE FUNCTION interface_meter(run_case run_cases, env text[])
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
	server_pid	int := (SELECT pid FROM lab.instances WHERE instance = 'source');
	link_control text := (
		SELECT l.control FROM lab.links l JOIN lab.interface_roads r USING (link)
		WHERE r.conndesc = run_case.dims->>'road');
	counters	jsonb := '{}';
	stats		jsonb;
BEGIN
	IF lab.interface_clients_gone(server_pid) THEN
		counters := jsonb_build_object('server_cpu_ms', lab.children_cpu_ms(server_pid));
	END IF;
	IF link_control IS NOT NULL THEN
		stats := lab.run_probe(
			ARRAY['tollfree-link', '--control', link_control, '--ask', 'stats'],
			env, '10 s');
		counters := counters || jsonb_build_object(
			'link_flights', stats->'flights',
			'link_bytes_to_server', stats->'bytes_to_server',
			'link_bytes_to_client', stats->'bytes_to_client');
	END IF;
	IF run_case.dims->>'statement' = 'sql10m' THEN
		counters := counters || jsonb_build_object('disk_bytes', nullif(trim(E'\n' FROM
			lab.run_probe(lab.psql_words('source', 'iftest')
						  || ARRAY['-c', 'SELECT public.bytes_from_disk()'], env, '10 s')), '')::int8);
	END IF;
	RETURN counters;
END
$$;

INSERT INTO suites VALUES
	('interface', 'What it costs to fetch rows through an interface',
	 'interface_judge', 'interface_gate', 'interface_meter', '-t',
	 '^(libpq:(lcl|rmt):(ipc|tcp):.*:(50k|001):acc-[nay]'
	 '|ODBC:(lcl|rmt):(ipc|tcp):.*:(50k|001):acc-n'
	 '|JDBC:(lcl|rmt):tcp:.*:(50k|001):acc-[ny]):p-');
INSERT INTO case_views VALUES ('interface', 'interface_testcases');

/* The scale is in million rows of t10m; lengths are in sqlstratiter. */
INSERT INTO profiles VALUES
	('interface', 'quick', 60, 1, 1, 0.15),
	('interface', 'full', 5, 1, 10, NULL);

/* The A/A cases are of both that connecting for each query is told from. */
INSERT INTO headlines VALUES
	('interface', 'connect',
	 '^(libpq_again:lcl:tcp:sql001:(0:20|1:1k)|(JDBC|ODBC|asyncpg|psycopg):lcl:tcp:sql001:0:20)'
	 ':acc-n:p-none:null$');
