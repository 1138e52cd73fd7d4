/*
 * Suite shards: one table on several servers.
 *
 * The same rows lie in local tables and, sharded by hash, on 1, 2, 4 or 8
 * servers, where foreign tables that are partitions reach them.  A "server" is a
 * database of "source" or of "second", in turn; all of its connections go over one
 * link.  What stock and ours reach are the same databases.
 *
 * Citus distributes the rows over two workers, where its extension is at hand.
 *
 * pgbench's TPC-B-like transaction is there too, on tables sharded by branch,
 * which each of its commands names.
 *
 * TPC-H's queries are there too, over as many servers as its large tables have
 * blocks in suite file: on tables, and on text files of which each server has a
 * block.
 */
CREATE TABLE shards_counts
(
	servers		int PRIMARY KEY CHECK (servers BETWEEN 1 AND 8),
	in_quick	bool NOT NULL
);

INSERT INTO shards_counts VALUES (1, true), (2, false), (4, true), (8, false);

CREATE TABLE shards_links
(
	link		text PRIMARY KEY,
	near		text NOT NULL REFERENCES links,
	far			text NOT NULL REFERENCES links,
	in_quick	bool NOT NULL
);

COMMENT ON COLUMN shards_links.near IS 'to the first server, the third and so on';
COMMENT ON COLUMN shards_links.far IS 'to the second server, the fourth and so on';

INSERT INTO shards_links VALUES
	('lcl:tcp', 'lcl:tcp', 'lcl:tcp', false),
	('rmt:tcp:1000us', 'rmt:tcp:1000us', 'rmt:tcp:1000us', true),
	('rmt:tcp:200us and 2000us', 'rmt:tcp:200us', 'rmt:tcp:2000us', false);

/* Returns the instance that server n, from 0 on, of a target is on. */
CREATE FUNCTION shards_instance(target text, n int)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE target WHEN 'citus' THEN 'worker_' || n + 1
	   ELSE CASE n % 2 WHEN 0 THEN 'source' ELSE 'second' END END;

INSERT INTO other_links (link, instance)
SELECT DISTINCT CASE n WHEN 0 THEN near ELSE far END, shards_instance(target, n)
FROM shards_links CROSS JOIN (VALUES ('foreign', 1), ('citus', 0), ('citus', 1)) AS server (target, n);

/* For each unit of scale */
CREATE TABLE shards_tables
(
	table_name	text PRIMARY KEY,
	place		int NOT NULL UNIQUE,
	sharded_by	text,
	columns		text NOT NULL,
	key			text,
	rows		int NOT NULL,
	content		text
);

COMMENT ON COLUMN shards_tables.place IS 'tables are made in this order';
COMMENT ON COLUMN shards_tables.sharded_by IS 'NULL if it is not: it lies beside the foreign tables';
COMMENT ON COLUMN shards_tables.key IS 'its primary key';
COMMENT ON COLUMN shards_tables.content IS 'what the columns hold in row i, from 1 on; NULL if there are no rows';

INSERT INTO shards_tables VALUES
	('customers', 1, 'customer',
	 'customer int, region int, name text', 'customer', 10000,
	 'i, i % 37, ''customer '' || i'),
	('orders', 2, 'customer',
	 'customer int, id int, placed date, amount numeric(12, 2), pieces int, note text',
	 'customer, id', 100000,
	 '(i * 7919::int8 % 10000 + 1)::int, i, date ''2020-01-01'' + i % 1000,'
	 ' (i * 31 % 1000000 / 100.0)::numeric(12, 2), i % 41, ''note on order '' || i'),
	('loaded', 3, 'customer', 'customer int, id int, amount numeric(12, 2)', NULL, 0, NULL),
	('regions', 4, NULL, 'region int, label text', 'region', 37,
	 'i - 1, ''region '' || i % 5'),
	('picks', 5, NULL, 'n int, customer int', 'n', 1000,
	 'i, i * 613 % 11000'),
	('pgbench_branches', 6, 'bid', 'bid int, bbalance int', 'bid', 20, 'i, 0'),
	('pgbench_tellers', 7, 'bid', 'bid int, tid int, tbalance int', 'bid, tid', 200,
	 '(i - 1) / 10 + 1, i, 0'),
	('pgbench_accounts', 8, 'bid', 'bid int, aid int, abalance int, filler char(84)',
	 'bid, aid', 100000, '(i - 1) / 5000 + 1, i, 0, '''''),
	('pgbench_history', 9, 'bid', 'bid int, tid int, aid int, delta int, mtime timestamp',
	 NULL, 0, NULL);

/*
 * What is done.  "command" is timed; "answer" is a query, executed once before,
 * or behind a command that writes, whose rows have to be those of the local tables.
 */
CREATE TABLE shards_operations
(
	operation	text PRIMARY KEY,
	repeats		int NOT NULL CHECK (repeats > 0),
	command		text NOT NULL,
	answer		text NOT NULL,
	cleanup		text,
	clients		int CHECK (clients > 0),
	is_tpch		bool NOT NULL DEFAULT false,
	in_quick	bool NOT NULL DEFAULT true
);

COMMENT ON COLUMN shards_operations.cleanup IS
'undoes what a command that writes has done, or an execution that was ended; NULL if it only reads';

COMMENT ON COLUMN shards_operations.repeats IS
'how often the command is executed, with n from 1 on; its time is that of one';

COMMENT ON COLUMN shards_operations.clients IS
'of pgbench, for which the command is a script; NULL without it';

INSERT INTO shards_operations (operation, repeats, command, answer, cleanup) VALUES
	('LOOKUP', 100,
	 'PERFORM sum(amount) FROM orders WHERE customer = n * 97 % 10000 + 1',
	 'SELECT customer, id, amount FROM orders WHERE customer IN (98, 9701)', NULL),
	('AGGREGATE', 1,
	 'PERFORM pieces, count(*), sum(amount), avg(amount), max(placed) FROM orders GROUP BY pieces',
	 'SELECT pieces, count(*), sum(amount), avg(amount), max(placed) FROM orders GROUP BY pieces', NULL),
	('TOPN', 1,
	 'PERFORM id, amount FROM orders ORDER BY amount DESC, id LIMIT 10',
	 'SELECT id, amount FROM orders ORDER BY amount DESC, id LIMIT 10', NULL),
	('JOIN_LOCAL', 1,
	 'PERFORM p.n, sum(o.amount) FROM picks p LEFT JOIN orders o USING (customer) GROUP BY p.n',
	 'SELECT p.n, sum(o.amount) FROM picks p LEFT JOIN orders o USING (customer) GROUP BY p.n', NULL),
	('SUBQUERY', 1,
	 'PERFORM p.n, (SELECT sum(o.amount) FROM orders o WHERE o.customer = p.customer) FROM picks p',
	 'SELECT p.n, (SELECT sum(o.amount) FROM orders o WHERE o.customer = p.customer) FROM picks p', NULL),
	('JOIN_COLOCATED', 1,
	 'PERFORM c.region, count(*), sum(o.amount) FROM customers c JOIN orders o USING (customer)'
	 ' WHERE c.region < 3 GROUP BY c.region',
	 'SELECT c.region, count(*), sum(o.amount) FROM customers c JOIN orders o USING (customer)'
	 ' WHERE c.region < 3 GROUP BY c.region', NULL),
	('JOIN_BROADCAST', 1,
	 'PERFORM r.label, count(*) FROM regions r JOIN customers c USING (region) GROUP BY r.label',
	 'SELECT r.label, count(*) FROM regions r JOIN customers c USING (region) GROUP BY r.label', NULL),
	('INSERT', 1,
	 'INSERT INTO loaded SELECT i % 997, i, i / 4.0 FROM generate_series(1, 5000) i',
	 'SELECT * FROM loaded', 'TRUNCATE loaded'),
	('COPY', 1,
	 'COPY loaded FROM PROGRAM ''awk "BEGIN { for (i = 1; i <= 5000; i++) print i % 997, i, i / 4 }"'' (DELIMITER '' '')',
	 'SELECT * FROM loaded', 'TRUNCATE loaded'),
	('UPDATE', 1,
	 'UPDATE orders SET pieces = pieces + 1000 WHERE placed = date ''2020-01-17''',
	 'SELECT customer, id, pieces FROM orders WHERE placed = date ''2020-01-17''',
	 'UPDATE orders SET pieces = pieces % 1000 WHERE placed = date ''2020-01-17'' AND pieces >= 1000');

INSERT INTO shards_operations (operation, repeats, clients, command, answer) VALUES
	('TPCB', 1, 4,
	 E'\\set bid random(1, :branches)\n'
	 '\\set tid (:bid - 1) * 10 + random(1, 10)\n'
	 '\\set aid (:bid - 1) * 5000 + random(1, 5000)\n'
	 '\\set delta random(-5000, 5000)\n'
	 'BEGIN;\n'
	 'UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE bid = :bid AND aid = :aid;\n'
	 'SELECT abalance FROM pgbench_accounts WHERE bid = :bid AND aid = :aid;\n'
	 'UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE bid = :bid AND tid = :tid;\n'
	 'UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n'
	 'INSERT INTO pgbench_history (bid, tid, aid, delta, mtime)'
	 ' VALUES (:bid, :tid, :aid, :delta, CURRENT_TIMESTAMP);\n'
	 'END;\n',
	 'SELECT h.n, h.s, (SELECT sum(tbalance) FROM pgbench_tellers),'
	 ' (SELECT sum(bbalance) FROM pgbench_branches), (SELECT sum(abalance) FROM pgbench_accounts)'
	 ' FROM (SELECT count(*) AS n, coalesce(sum(delta), 0) AS s FROM pgbench_history) h');

INSERT INTO shards_operations (operation, repeats, command, answer, is_tpch, in_quick)
SELECT query, 1, format('PERFORM * FROM (%s) q', statement), statement, true,
	   query IN ('Q1', 'Q3', 'Q5', 'Q6')
FROM file_queries WHERE published;

CREATE TABLE shards_answers
(
	scale		int NOT NULL,
	operation	text NOT NULL,
	answer		int8 NOT NULL,
	PRIMARY KEY (scale, operation)
);

COMMENT ON TABLE shards_answers IS
'what the local tables answer, to compare all candidates'' answers with';

CREATE FUNCTION shards_keep_answer(scale int, operation text, answer int8)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO shards_answers
	VALUES (shards_keep_answer.scale, shards_keep_answer.operation, shards_keep_answer.answer)
	ON CONFLICT ON CONSTRAINT shards_answers_pkey DO UPDATE SET answer = excluded.answer;
END;

/* Where it is done: local tables, twice; each wrapper, number and link; Citus. */
CREATE VIEW shards_places AS
SELECT local.place AS target, NULL AS wrapper, NULL::int AS servers, 'lcl:ipc' AS link,
	   'external' AS instance, 'shards_local' AS dbname, true AS in_quick
FROM (VALUES ('local'), ('local_again')) AS local (place)
UNION ALL
SELECT system.target, system.wrapper, c.servers, l.link, system.instance,
	   regexp_replace(concat_ws('_', 'shards' || system.suffix, c.servers, l.link), '\W+', '_', 'g'),
	   c.in_quick AND l.in_quick AND system.target = 'foreign'
FROM (SELECT 'foreign', wrapper, suffix, 'external' FROM wrappers
	  UNION ALL
	  VALUES ('citus', NULL, '_citus', 'coordinator')) AS system (target, wrapper, suffix, instance)
	CROSS JOIN shards_counts c
	CROSS JOIN shards_links l
WHERE CASE system.target WHEN 'foreign' THEN c.servers > 1 OR l.near = l.far
		  ELSE c.servers = 2 END;

/* The servers of each place, and the roads to them. */
CREATE VIEW shards_servers AS
SELECT p.dbname, n, r.tcp_host AS server_host, r.port AS server_port, r.control
FROM shards_places p
	JOIN shards_links l USING (link)
	CROSS JOIN LATERAL generate_series(0, p.servers - 1) AS n
	JOIN roads r ON r.instance = shards_instance(p.target, n)
		AND r.link = CASE n % 2 WHEN 0 THEN l.near ELSE l.far END;

/* What counts on the roads of a place, each once. */
CREATE VIEW shards_counters AS
SELECT dbname, array_agg(DISTINCT control) AS controls
FROM shards_servers
WHERE control IS NOT NULL
GROUP BY dbname;

/*
 * The databases of foreign tables.  What the owner of such servers sets is set
 * for both wrappers alike.
 */
CREATE VIEW shards_databases AS
SELECT p.dbname, p.wrapper, p.servers,
	   w.server_options || jsonb_build_object('async_capable', 'true', 'parallel_commit', 'true')
	   || CASE WHEN current_setting('server_version_num')::int >= 160000
			   THEN jsonb_build_object('parallel_abort', 'true') ELSE '{}' END
	   || CASE p.wrapper WHEN 'tollfree_postgres_fdw'
			   THEN jsonb_build_object('parallel_modify', 'true') ELSE '{}' END
	   AS server_options
FROM shards_places p
	JOIN wrappers w USING (wrapper);

/*
 * What the tables are made of: rows of the suite's own, or TPC-H's on tables or on
 * text, which have schemas of their own.
 */
CREATE TABLE shards_contents
(
	content		text PRIMARY KEY,
	is_tpch		bool NOT NULL,
	is_local	bool NOT NULL
);

COMMENT ON COLUMN shards_contents.is_local IS 'whether local tables are measured with it';

INSERT INTO shards_contents VALUES
	('rows', false, true), ('tables', true, true), ('text', true, false);

CREATE VIEW shards_cases AS
SELECT o.*, c.content, p.target, p.wrapper, p.servers, p.link, p.instance, p.dbname, x.controls,
	   p.in_quick AND o.in_quick AS chosen,
	   CASE c.content
		   WHEN 'tables' THEN 'heap'
		   WHEN 'text' THEN CASE p.wrapper WHEN 'postgres_fdw' THEN 'file_fdw'
								ELSE 'tollfree_file_fdw' END
		   ELSE 'public' END AS schema,
	   concat_ws(':', o.operation, p.target, p.wrapper, p.servers || ' servers', p.link,
				 CASE WHEN p.target = 'foreign' AND o.is_tpch THEN c.content END) AS testcase,
	   CASE WHEN p.target <> 'local'
		   THEN concat_ws(':', o.operation, 'local', 'lcl:ipc') END AS baseline
FROM shards_operations o
	JOIN shards_contents c USING (is_tpch)
	CROSS JOIN shards_places p
	LEFT JOIN shards_counters x USING (dbname)
WHERE CASE p.target
		  WHEN 'foreign' THEN NOT o.is_tpch OR p.servers = (SELECT max(blocks) FROM file_engines)
		  WHEN 'citus' THEN c.is_local AND o.operation <> 'SUBQUERY'
		  ELSE c.is_local END;

COMMENT ON VIEW shards_cases IS
'Citus refuses a correlated subquery on a distributed table beside a reference table.';

/* Returns psql's commands that print what links have counted so far. */
CREATE FUNCTION shards_counted(controls text[], what text)
RETURNS text[]
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
	SELECT array_agg(word ORDER BY n, place)
	FROM unnest(controls) WITH ORDINALITY AS c (control, n)
		CROSS JOIN LATERAL
			(VALUES (1, '-c'),
					(2, link_asked(control, what || ' ' || n)))
			AS words (place, word);
END;

/* Returns the words of a shell that has pgbench execute a script. */
CREATE FUNCTION shards_pgbench(script text, clients int, seconds int, branches int, conninfo text)
RETURNS text[]
LANGUAGE sql IMMUTABLE
RETURN ARRAY['sh', '-c', 'printf %s "$0" | exec pgbench "$@"', script, '--no-vacuum', '--file=-',
			 '--client=' || clients, '--time=' || seconds, '--max-tries=0',
			 '--define=branches=' || branches, conninfo];

/*
 * The connections are open when the clock starts, which is the server's, but for
 * pgbench, which has its own and connects inside of it.  What the link counts is
 * that of the timed command alone.
 */
CREATE VIEW shards_testcases AS
SELECT 'shards'::text AS suite,
	   p.profile,
	   c.testcase,
	   concat_ws(':', c.target, c.wrapper, c.servers, c.link, c.content) AS candidate,
	   c.baseline,
	   CASE WHEN c.clients IS NULL THEN 'ms' ELSE 'latency_mean_ms' END AS figure,
	   'ms'::text AS unit, false AS higher_is_better,
	   jsonb_build_object('operation', c.operation, 'content', c.content, 'target', c.target,
						  'wrapper', coalesce(c.wrapper, 'none'), 'servers', c.servers,
						  'link', c.link, 'repeats', c.repeats)
	   || CASE c.content WHEN 'text' THEN jsonb_build_object('file_wrapper', c.schema)
			  ELSE '{}' END AS dims,
	   CASE WHEN c.clients IS NOT NULL
		   THEN shards_pgbench(c.command, c.clients, 5 * p.seconds, 20 * p.scale,
							   socket_conninfo(c.instance, c.dbname))
		   ELSE psql_words(c.instance, c.dbname)
	   || ARRAY['-c', format('SET search_path = %I, public', c.schema)]
	   /* An interrupted execution may have left its rows. */
	   || CASE WHEN c.cleanup IS NOT NULL THEN ARRAY['-c', c.cleanup] END
	   || ARRAY['-c', format('SELECT keep_answer(%L)', c.answer)]
	   || shards_counted(c.controls, 'before')
	   || ARRAY['-c', format('SELECT ''ms='' || timed(%L, %s)', c.command, c.repeats)]
	   || shards_counted(c.controls, 'after')
	   || CASE WHEN c.cleanup IS NOT NULL
			   THEN ARRAY['-c', format('SELECT keep_answer(%L)', c.answer), '-c', c.cleanup] END
	   || ARRAY['-c', 'SELECT ''answer='' || current_setting(''shards.answer'')'] END AS argv,
	   ARRAY['PGPASSFILE=' || source.passfile] AS env,
	   make_interval(mins => 5) AS time_limit,
	   CASE WHEN c.clients IS NULL THEN 'shards' ELSE 'pgbench' END AS format,
	   CASE WHEN c.clients IS NOT NULL
		   THEN psql_words(c.instance, c.dbname) || ARRAY['-c', c.answer] END AS probe_argv,
	   p.profile = 'full' OR c.chosen AS chosen, p.of_run
FROM shards_cases c
	JOIN sizes p ON p.suite = 'shards'
	JOIN instances source ON source.instance = 'source';

INSERT INTO output_patterns VALUES
	('shards', 'ms', 'ms=([0-9.]+)'),
	('shards', 'answer', 'answer=(-?[0-9]+)');

INSERT INTO output_patterns
SELECT 'shards', concat_ws('_', counter.figure, moment, link),
	   format('%s %s \{[^\n]*"%s": ?([0-9]+)', moment, link, counter.name)
FROM (VALUES ('flights', 'flights'), ('bytes', 'bytes_to_client'), ('rows', 'rows_to_client'))
		AS counter (figure, name)
	CROSS JOIN unnest(ARRAY['before', 'after']) AS moment
	CROSS JOIN generate_series(1, 2) AS link;

/* The databases that the runs under way have cases in, and whether of TPC-H. */
CREATE VIEW shards_needed AS
SELECT c.target, c.dbname, c.servers, bool_or(c.is_tpch) AS is_tpch
FROM runs
	JOIN run_cases USING (run_id)
	JOIN shards_cases c USING (testcase)
WHERE suite = 'shards' AND state = 'running'
GROUP BY c.target, c.dbname, c.servers;

/* What these runs need Citus for. */
CREATE VIEW shards_on_citus AS
SELECT DISTINCT run_id, candidate
FROM runs JOIN run_cases USING (run_id)
WHERE suite = 'shards' AND state = 'running' AND dims->>'target' = 'citus';

/*
 * Returns why an execution of pgbench does not count, or NULL.  The probe is the
 * rows and the sum of the history, and the sums of tellers, branches and accounts.
 */
CREATE FUNCTION shards_judge_pgbench(figures jsonb, before text, after text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
DECLARE
	old			int8[] := string_to_array(rtrim(before, E'\n'), '|')::int8[];
	new			int8[] := string_to_array(rtrim(after, E'\n'), '|')::int8[];
	committed	int8 := figures->>'transactions';
BEGIN
	IF coalesce(committed, 0) = 0 THEN
		RETURN 'no transaction was processed';
	ELSIF (figures->>'failed')::int8 > 0 THEN
		RETURN format('%s transactions failed', figures->>'failed');
	ELSIF new[1] - old[1] <> committed THEN
		RETURN format('%s transactions were reported, %s were written',
					  committed, new[1] - old[1]);
	ELSIF new[3:5] <> ARRAY[new[2], new[2], new[2]] THEN
		RETURN 'the sums of history, tellers, branches and accounts differ: ' || after;
	END IF;
	RETURN NULL;
END
$$;

/*
 * Returns why an execution does not count, or NULL: its answer has to be that of
 * the local tables.
 */
CREATE FUNCTION shards_judge(run_case run_cases, figures jsonb, before text, after text)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	answer		int8 := figures->>'answer';
	expected	int8;
BEGIN
	IF run_case.dims->>'operation' = 'TPCB' THEN
		RETURN lab.shards_judge_pgbench(figures, before, after);
	ELSIF answer IS NULL THEN
		RETURN 'it printed no answer';
	END IF;
	SELECT a.answer INTO expected
	FROM lab.shards_answers a JOIN lab.runs USING (scale)
	WHERE run_id = run_case.run_id AND operation = run_case.dims->>'operation';
	IF expected IS NULL THEN
		RETURN 'the local tables'' answer is not known';
	ELSIF answer <> expected THEN
		RETURN format('its answer has the hash %s, that of the local tables %s', answer, expected);
	END IF;
	RETURN NULL;
END
$$;

/*
 * What the local tables are asked once a run: the statements that print the answer,
 * in a schema.  Their answers are the judge's.
 */
CREATE VIEW shards_questions AS
SELECT DISTINCT r.scale, o.operation, CASE WHEN o.is_tpch THEN 'heap' ELSE 'public' END AS schema,
	   array_remove(ARRAY[o.cleanup,
						  CASE WHEN o.cleanup IS NOT NULL THEN o.command END,
						  format('SELECT keep_answer(%L)', o.answer),
						  o.cleanup], NULL) AS statements,
	   EXISTS (SELECT FROM shards_answers a
			   WHERE (a.scale, a.operation) = (r.scale, o.operation)) AS is_answered
FROM runs r
	JOIN run_cases c USING (run_id)
	JOIN shards_operations o ON o.operation = c.dims->>'operation'
WHERE r.suite = 'shards' AND r.state = 'running' AND o.clients IS NULL;

INSERT INTO suites VALUES
	('shards', 'What one table on several servers costs', 'shards_judge');
INSERT INTO case_views VALUES ('shards', 'shards_testcases');

/* The scale is in 100,000 orders. */
INSERT INTO profiles VALUES
	('shards', 'quick', 3, 1, 1, NULL),
	('shards', 'full', 5, 1, 5, NULL);
