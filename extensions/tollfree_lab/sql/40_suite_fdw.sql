/*
 * Suite fdw: what it costs to reach a pgbench database through a wrapper.
 *
 * The four databases of the published experiment: "source" holds the data;
 * "localfdw" (same instance), "external" and "external_ro" (another instance)
 * hold foreign tables on it.  A further wrapper is one more row in wrappers
 * and gets databases of its own.
 */
CREATE TABLE wrappers
(
	wrapper		text PRIMARY KEY,
	suffix		text NOT NULL UNIQUE,
	server_options jsonb NOT NULL DEFAULT '{}'
);

COMMENT ON COLUMN wrappers.wrapper IS
'name of the foreign-data wrapper and of the extension that brings it';
COMMENT ON COLUMN wrappers.suffix IS
'appended to the names of its databases; empty for PostgreSQL''s own';

INSERT INTO wrappers VALUES
	('postgres_fdw', ''),
	('tollfree_postgres_fdw', '_tollfree');

CREATE TABLE fdw_targets
(
	target		text PRIMARY KEY,
	kind		text NOT NULL CHECK (kind IN ('local', 'direct', 'pooled', 'foreign')),
	instance	text NOT NULL REFERENCES instances,
	dbname		text NOT NULL,
	updatable	bool NOT NULL
);

COMMENT ON COLUMN fdw_targets.kind IS
'local: asked over its socket; direct: asked over a link; pooled: asked through a pooler on this side of it; foreign: asked through a wrapper';

INSERT INTO fdw_targets VALUES
	('local', 'local', 'source', 'source', true),
	('local_again', 'local', 'source', 'source', true),
	('direct', 'direct', 'source', 'source', true),
	('pooled', 'pooled', 'source', 'source', true),
	('FDW_local', 'foreign', 'source', 'localfdw', true),
	('FDW_external', 'foreign', 'external', 'external', true),
	('FDW_ext_ro', 'foreign', 'external', 'external_ro', false);

CREATE TABLE fdw_benches
(
	bench		text PRIMARY KEY,
	script		text NOT NULL,
	pgbench_options text[] NOT NULL
);

/*
 * Under REPEATABLE READ concurrent writers must expect serialization
 * failures; they are retried until they succeed, and counted.
 */
INSERT INTO fdw_benches VALUES
	('RO', 'ro', '{--select-only}'),
	('RW', 'rw', '{--builtin=tpcb-like,--max-tries=0}'),
	('PING', 'ping', '{}');

CREATE TABLE fdw_clients
(
	clients		int PRIMARY KEY CHECK (clients > 0),
	published	bool NOT NULL,
	threads		int NOT NULL DEFAULT 1,
	least_seconds int NOT NULL DEFAULT 1
);

COMMENT ON COLUMN fdw_clients.published IS
'whether the published experiment had this number: it suspected a roof for concurrent sessions, which the others show for lookups';
COMMENT ON COLUMN fdw_clients.threads IS
'of pgbench, of which one would be the roof on a large machine';
COMMENT ON COLUMN fdw_clients.least_seconds IS
'an execution takes so long even if its profile has less: each session opens a connection of its own';

INSERT INTO fdw_clients VALUES
	(1, true, 1, 1), (5, true, 1, 1),
	(2, false, 1, 5), (4, false, 1, 5), (8, false, 1, 5), (16, false, 2, 5),
	(32, false, 4, 5), (64, false, 8, 5);

CREATE TABLE fdw_protocols (protocol text PRIMARY KEY);
INSERT INTO fdw_protocols VALUES ('simple'), ('prepared');

CREATE TABLE fdw_isolations (isolation text PRIMARY KEY, level text NOT NULL);
INSERT INTO fdw_isolations VALUES
	('rr', 'repeatable read'), ('rc', 'read committed');

/*
 * What is measured, with which program, and which figure is the value.
 * pgbench's own per-transaction log times some transactions as 0, so latency
 * is measured by a client of ours.
 */
CREATE TABLE fdw_measures
(
	measure		text PRIMARY KEY,
	program		text NOT NULL,
	format		text NOT NULL,
	figure		text NOT NULL,
	unit		text NOT NULL,
	higher_is_better bool NOT NULL
);

INSERT INTO fdw_measures VALUES
	('tps', 'pgbench', 'pgbench', 'tps_including', 'tps', true),
	('latency', 'txprobe', 'json', 'latency_p50_us', 'us', false),
	('flights', 'txprobe', 'json', 'flights_per_tx', 'flights', false);

/* Every road that a target can be reached on, and its database there. */
CREATE VIEW fdw_roads AS
SELECT t.target, t.kind, t.instance, t.updatable, l.link, l.rtt_us, l.control,
	   l.for_transactions, l.in_quick,
	   w.wrapper,
	   t.dbname || coalesce(w.suffix, '')
	   || CASE WHEN t.kind = 'foreign' AND l.rtt_us IS NOT NULL
			   THEN '_' || l.rtt_us || 'us' ELSE '' END AS dbname
FROM fdw_targets t
	JOIN links l
		ON CASE t.kind
			   WHEN 'local' THEN l.transport = 'ipc'
			   WHEN 'direct' THEN true
			   WHEN 'pooled' THEN l.link = 'lcl:tcp'
			   ELSE l.transport = 'tcp'
					AND (l.rtt_us IS NULL OR t.target = 'FDW_external')
		   END
	LEFT JOIN wrappers w ON t.kind = 'foreign';

/* The foreign databases that the cases need. */
CREATE VIEW fdw_databases AS
SELECT DISTINCT r.instance, r.dbname, r.wrapper, w.server_options, r.updatable,
	   i.tcp_host AS server_host, coalesce(l.port, i.port) AS server_port
FROM fdw_roads r
	JOIN links l USING (link)
	JOIN wrappers w USING (wrapper)
	JOIN instances i ON i.instance = 'source';

/*
 * The crossing.  Throughput: every target at hand, and over the links with a
 * delay that are for it beside asking directly; the roof of lookups with more
 * and more clients; lookups through a pooler, as many hops as a wrapper's.  Latency: where the road is short.  Flights:
 * over two milliseconds, longer than any client thinks, so that what is not
 * awaited is not counted.  Pings: every link, to store what its round trip
 * really is.
 */
CREATE VIEW fdw_cases AS
SELECT *,
	   concat_ws(':', bench, target, coalesce(wrapper, 'none'), link, protocol,
				 isolation, 'c' || clients, measure) AS testcase,
	   CASE
		   WHEN bench = 'PING' THEN link <> 'lcl:ipc'
		   WHEN measure = 'flights' THEN kind = 'foreign'
		   ELSE target <> 'local'
	   END AS compared
FROM fdw_benches
	CROSS JOIN fdw_roads
	/* the others than the published numbers join to few rows, not all of the crossing */
	JOIN fdw_clients
		ON published OR bench = 'RO' AND rtt_us IS NULL AND target IN ('local', 'FDW_external')
	JOIN fdw_protocols ON published OR protocol = 'simple'
	JOIN fdw_isolations ON published OR isolation = 'rr'
	JOIN fdw_measures ON published OR measure = 'tps'
WHERE (bench <> 'RW' OR updatable)
  AND (kind <> 'pooled'
	   OR bench = 'RO' AND measure = 'tps' AND isolation = 'rr' AND clients = 1)
  AND CASE
		  WHEN NOT published THEN true
		  WHEN bench = 'PING' THEN
			  measure = 'latency' AND kind = 'direct' AND clients = 1
			  AND protocol = 'simple' AND isolation = 'rc'
		  WHEN target = 'local_again' THEN
			  measure = 'tps' AND protocol = 'simple' AND isolation = 'rr'
		  WHEN measure = 'tps' THEN
			  CASE WHEN rtt_us IS NULL THEN kind <> 'direct'
				   ELSE for_transactions AND clients = 1 AND isolation = 'rr' END
		  WHEN measure = 'latency' THEN
			  rtt_us IS NULL AND kind <> 'direct' AND updatable
			  AND isolation = 'rr'
		  WHEN measure = 'flights' THEN
			  rtt_us = 2000 AND clients = 1 AND isolation = 'rr'
	  END;

/*
 * The cases that a quick run has: the experiment's own (simple protocol,
 * REPEATABLE READ), and one or two of every other kind.
 */
CREATE VIEW fdw_quick_cases AS
SELECT testcase
FROM fdw_cases
WHERE CASE
		  WHEN bench = 'PING' THEN for_transactions
		  WHEN measure = 'flights' THEN true
		  WHEN measure = 'latency' THEN
			  clients = 1 AND protocol = 'simple' AND bench = 'RO'
			  AND target <> 'FDW_local'
		  WHEN rtt_us IS NOT NULL THEN
			  in_quick AND protocol = 'simple' AND bench = 'RO'
		  WHEN isolation = 'rc' THEN
			  clients = 1 AND protocol = 'simple' AND bench = 'RO'
			  AND target IN ('local', 'FDW_external')
		  WHEN protocol = 'prepared' THEN
			  clients = 1 AND bench = 'RO'
			  AND target IN ('local', 'pooled', 'FDW_external')
		  WHEN NOT published THEN false
		  WHEN clients = 5 THEN
			  target IN ('local', 'FDW_external')
		  ELSE true
	  END;

/*
 * What the judge compares: the sums that every pgbench transaction moves by
 * the same amount, and some rows of the large table with their keys.  Asked
 * through the target and of the source itself.
 */
CREATE FUNCTION fdw_probe_query()
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN 'SELECT h.n, h.s, t.s, b.s, a.n, a.s'
	' FROM (SELECT count(*) AS n, coalesce(sum(delta), 0) AS s FROM pgbench_history) h,'
	' (SELECT sum(tbalance) AS s FROM pgbench_tellers) t,'
	' (SELECT sum(bbalance) AS s FROM pgbench_branches) b,'
	' (SELECT count(*) AS n, sum(aid::int8 * (abalance + 1)) AS s'
	' FROM pgbench_accounts WHERE aid <= 1000) a';

/* Reads what pgbench looks rows up in, so that the page cache has it. */
CREATE FUNCTION fdw_warm_query()
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN 'SELECT public.read_file(path)'
	' FROM public.files_of_tables(''{pgbench_accounts,pgbench_accounts_pkey}'') AS path';

/*
 * Returns a script that executes its words from the sixth on, and the connection
 * string behind them, on a PgBouncer of its own.  The first five are the server's
 * host and port, a database, a statement for each of the pooler's connections, and
 * the pool mode.  It exits with 77 where there is no PgBouncer.
 *
 * PgBouncer 1.18 knows neither PGOPTIONS nor a protocol after 3.0.
 */
CREATE FUNCTION fdw_pooled_script()
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN $script$
set -eu
PATH=$PATH:/usr/sbin:/usr/local/sbin
if ! command -v pgbouncer >/dev/null; then
	echo 'pgbouncer is not installed' >&2
	exit 77
fi
umask 077
folder=$(mktemp -d "${TMPDIR:-/tmp}/tollfree-pooler.XXXXXX")
trap 'exit 1' HUP INT TERM
trap 'kill "$pooler" 2>/dev/null || :; wait; rm -rf "$folder"' EXIT
cat >"$folder/ini" <<end
[databases]
$3 = host=$1 port=$2 user=postgres password=$(sed 's/.*://' "$PGPASSFILE") connect_query='$4'
[pgbouncer]
auth_type = any
ignore_startup_parameters = options, extra_float_digits
listen_port = 6432
pool_mode = $5
server_reset_query =
unix_socket_dir = $folder
end
pgbouncer -q "$folder/ini" 2>"$folder/log" &
pooler=$!
tries=0
while ! [ -S "$folder/.s.PGSQL.6432" ]; do
	tries=$((tries + 1))
	if [ $tries -gt 500 ] || ! kill -0 "$pooler" 2>/dev/null; then
		echo 'pgbouncer has not started:' >&2
		cat "$folder/log" >&2
		exit 1
	fi
	sleep 0.02
done
to="host=$folder port=6432 user=postgres dbname=$3 sslmode=disable"
shift 5
PGOPTIONS='' PGMAXPROTOCOLVERSION=3.0 "$@" "$to"
$script$;

/* A word of one of psql's own commands. */
CREATE FUNCTION fdw_psql_word(word text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN '''' || replace(replace(word, '\', '\\'), '''', '''''') || '''';

/* The crossings are made once: the planner knows too little of them to choose that. */
CREATE VIEW fdw_testcases AS
WITH crossing AS MATERIALIZED (SELECT * FROM fdw_cases),
	quick AS MATERIALIZED (SELECT testcase FROM fdw_quick_cases)
SELECT 'fdw'::text AS suite,
	   p.profile,
	   c.testcase,
	   concat_ws(':', c.target, c.wrapper, c.link) AS candidate,
	   base.testcase AS baseline,
	   c.figure, c.unit, c.higher_is_better,
	   jsonb_build_object('bench', c.bench, 'target', c.target,
						  'wrapper', coalesce(c.wrapper, 'none'),
						  'link', c.link, 'protocol', c.protocol,
						  'isolation', c.isolation, 'clients', c.clients,
						  'measure', c.measure) AS dims,
	   CASE c.program
		   WHEN 'pgbench' THEN
			   CASE WHEN c.kind = 'pooled' THEN
				   ARRAY['sh', '-c', fdw_pooled_script(), 'sh', source.tcp_host,
						 source.port::text, c.dbname,
						 format('SET default_transaction_isolation = %s', c.level),
						 'session']
			   END
			   || ARRAY['pgbench', '--no-vacuum', '--time=' || greatest(p.seconds, c.least_seconds),
					 '--client=' || c.clients, '--protocol=' || c.protocol]
			   || CASE WHEN c.threads > 1 THEN ARRAY['--jobs=' || c.threads] END
			   || c.pgbench_options || CASE WHEN c.kind <> 'pooled' THEN ARRAY[place.conninfo] END
		   ELSE
			   ARRAY['txprobe', '-c', place.conninfo, '--script', c.script,
					 '--scale', p.scale::text, '--clients', c.clients::text,
					 '--protocol', c.protocol]
			   || CASE
					  WHEN c.measure = 'flights' THEN
						  ARRAY['--warmup', '10', '--transactions', '20',
								'--control', c.control]
					  WHEN c.bench = 'PING' THEN
						  ARRAY['--warmup', '10', '--transactions', '200']
					  ELSE ARRAY['--seconds', p.seconds::text]
				  END
	   END AS argv,
	   ARRAY['PGOPTIONS=-c default_transaction_isolation='
			 || replace(c.level, ' ', '\ '),
			 'PGPASSFILE=' || source.passfile] AS env,
	   make_interval(secs => greatest(p.seconds, c.least_seconds) + 60) AS time_limit,
	   c.format,
	   CASE WHEN c.bench <> 'PING' THEN
		   psql_words(c.instance, c.dbname)
		   || ARRAY['-c', fdw_probe_query(),
					'-c', '\connect ' || fdw_psql_word(socket_conninfo('source', 'source')),
					'-c', fdw_probe_query(),
					'-c', '\o /dev/null', '-c', fdw_warm_query()]
	   END AS probe_argv,
	   p.profile = 'full'
	   OR c.testcase IN (SELECT testcase FROM quick) AS chosen,
	   CASE WHEN c.least_seconds > p.seconds THEN c.least_seconds + 0.2::float8 END AS seconds,
	   p.of_run
FROM crossing c
	JOIN sizes p ON p.suite = 'fdw'
	JOIN instances source ON source.instance = 'source'
	/* a road is compared with asking directly, on the same link if it is long */
	LEFT JOIN crossing base
		ON c.compared
		   AND (base.bench, base.clients, base.protocol, base.isolation, base.measure)
			   = (c.bench, c.clients, c.protocol, c.isolation, c.measure)
		   AND CASE
				   WHEN c.bench = 'PING' THEN base.link = 'lcl:ipc'
				   WHEN c.rtt_us IS NOT NULL AND c.kind = 'foreign' THEN
					   base.target = 'direct' AND base.link = c.link
				   ELSE base.target = 'local'
			   END
	CROSS JOIN LATERAL
		(SELECT CASE c.kind
					WHEN 'direct' THEN link_conninfo(c.link, c.dbname)
					ELSE socket_conninfo(c.instance, c.dbname)
				END AS conninfo) AS place;

/*
 * Returns why an execution does not count, or NULL.  The probe's two lines
 * are what the target and what the source answer: rows and sum of the
 * history, sums of tellers and branches, rows and sum of some accounts.
 */
CREATE FUNCTION fdw_judge(run_case run_cases, figures jsonb,
						  before text, after text)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	old_lines	text[] := string_to_array(rtrim(before, E'\n'), E'\n');
	new_lines	text[] := string_to_array(rtrim(after, E'\n'), E'\n');
	old			text[] := string_to_array(old_lines[2], '|');
	new			text[] := string_to_array(new_lines[2], '|');
	committed	int8 := coalesce(figures->>'committed', figures->>'transactions');
	written		int8;
BEGIN
	IF run_case.dims->>'measure' ~ 'bulk$' THEN
		RETURN lab.fdw_bulk_judge(run_case, figures, after);
	ELSIF run_case.dims->>'measure' ~ '(stops|paths)$' THEN
		RETURN lab.fdw_stop_judge(run_case, figures);
	ELSIF run_case.dims->>'measure' = 'travels' THEN
		RETURN CASE WHEN figures->>'rows' IS NULL THEN 'the statement has failed' END;
	ELSIF coalesce(committed, 0) = 0 THEN
		RETURN 'no transaction was processed';
	ELSIF (figures->>'failed')::int8 > 0 THEN
		RETURN format('%s transactions failed', figures->>'failed');
	ELSIF after IS NULL THEN
		RETURN NULL;
	ELSIF new_lines[1] IS DISTINCT FROM new_lines[2] THEN
		RETURN format('the target answers %s where the source has %s',
					  new_lines[1], new_lines[2]);
	ELSIF run_case.dims->>'bench' = 'RO' AND old <> new THEN
		RETURN format('a read-only run changed the data from %s to %s',
					  old_lines[2], new_lines[2]);
	ELSIF run_case.dims->>'bench' = 'RW' THEN
		written := new[1]::int8 - old[1]::int8;
		IF written <> committed THEN
			RETURN format('%s transactions were reported, %s were written',
						  committed, written);
		ELSIF new[2] <> new[3] OR new[2] <> new[4] THEN
			RETURN format('the sums of history, tellers and branches differ: %s',
						  new_lines[2]);
		END IF;
	END IF;
	RETURN NULL;
END
$$;

/*
 * Reads how much the server that has the data has read from the disk, for
 * cases that find the tables in the page cache (fdw_warm_query) if it keeps them.
 */
CREATE FUNCTION fdw_meter(run_case run_cases, env text[])
RETURNS jsonb
LANGUAGE plpgsql
AS $$
BEGIN
	IF run_case.dims->>'bench' NOT IN ('RO', 'RW') THEN
		RETURN '{}';
	END IF;
	RETURN jsonb_build_object('disk_bytes', nullif(trim(E'\n' FROM lab.run_probe(
		lab.psql_words('source', 'source')
		|| ARRAY['-c', 'SELECT public.bytes_from_disk()'], env, '10 s')), '')::int8);
END
$$;

INSERT INTO suites VALUES
	('fdw', 'What it costs to reach a table through a foreign-data wrapper',
	 'fdw_judge', NULL, 'fdw_meter');
INSERT INTO case_views VALUES ('fdw', 'fdw_testcases');

INSERT INTO profiles VALUES
	('fdw', 'quick', 60, 1, 10, 0.15),
	('fdw', 'full', 10, 10, 100, NULL);

INSERT INTO headlines VALUES
	('fdw', 'lookup', '^RO:(FDW_external:.*:lcl:tcp|local_again:none:lcl:ipc):simple:rr:c1:tps$'),
	('fdw', 'write', '^RW:(FDW_external:.*:lcl:tcp|local_again:none:lcl:ipc):simple:rr:c1:tps$'),
	('fdw', 'scan', '^SCAN:FDW_external:.*:lcl:tcp:default:bulk$');
