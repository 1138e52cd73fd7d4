/*
 * Suite file: what it costs to query flat files in place, TPC-H on tables
 * and on the text that they are loaded from.
 *
 * The published experiment had two engines, PostgreSQL with one process a
 * query and CitusDB with lineitem and orders in four blocks.  The engine
 * "partitioned" has those blocks as partitions and uses workers for them;
 * Citus itself, on two servers of its own, is a candidate where its extension is
 * at hand.
 */
CREATE TABLE file_candidates
(
	candidate	text PRIMARY KEY,
	kind		text NOT NULL CHECK (kind IN ('heap', 'foreign', 'citus')),
	extension	text,
	state		text CHECK (state IN ('first', 'second', 'appended'))
);

COMMENT ON COLUMN file_candidates.extension IS
'of the foreign-data wrapper, which has its name, or of the other engine';

COMMENT ON COLUMN file_candidates.state IS
'of a wrapper that keeps an index and columns of files: a query''s first execution, which keeps them; a later one, by another session; or one behind which the file has grown by a hundredth; NULL if nothing is kept';

INSERT INTO file_candidates VALUES
	('heap', 'heap', NULL, NULL),
	('local_again', 'heap', NULL, NULL),
	('file_fdw', 'foreign', 'file_fdw', NULL),
	('tollfree_file_fdw', 'foreign', 'tollfree_file_fdw', NULL),
	('tollfree_file_fdw_first', 'foreign', 'tollfree_file_fdw', 'first'),
	('tollfree_file_fdw_second', 'foreign', 'tollfree_file_fdw', 'second'),
	('tollfree_file_fdw_appended', 'foreign', 'tollfree_file_fdw', 'appended'),
	('citus', 'citus', 'citus', NULL);

CREATE TABLE file_engines (engine text PRIMARY KEY, blocks int NOT NULL);
INSERT INTO file_engines VALUES ('plain', 1), ('partitioned', 4);

CREATE TABLE file_workers (workers int PRIMARY KEY);
INSERT INTO file_workers VALUES (0), (2);

/*
 * How the records of lineitem are stored.  Every form but "plain" has them in a
 * folder of its own: written anew or as they are, in one file or several, packed or
 * not.  A wrapper reads the forms that have options for its foreign table, in which
 * {file} stands for a file's path, {word} for that as a word of the shell, {folder}
 * for the folder.  One that is not given the folder has a foreign table for each
 * file, as partitions.  A further form is one more row.
 */
CREATE TABLE file_forms
(
	form		text PRIMARY KEY,
	files		int NOT NULL DEFAULT 1,
	suffix		text,
	records		text,
	copied		text,
	packer		text,
	options		jsonb NOT NULL DEFAULT '{}',
	shared		bool NOT NULL DEFAULT false,
	in_quick	bool NOT NULL DEFAULT false,
	CHECK (copied IS NULL OR files = 1 AND packer IS NULL)
);

COMMENT ON COLUMN file_forms.suffix IS 'of the names of its files';
COMMENT ON COLUMN file_forms.records IS
'a query of what is copied, from "records"; NULL for all columns of these';
COMMENT ON COLUMN file_forms.copied IS
'the options of the COPY that writes the records; NULL if they are as the generator wrote them';
COMMENT ON COLUMN file_forms.packer IS
'the command that packs its standard input; NULL if files are not packed';
COMMENT ON COLUMN file_forms.options IS 'of foreign tables, by extension';
COMMENT ON COLUMN file_forms.shared IS
'whether workers can share what there is to read: it has cases with them';

INSERT INTO file_forms (form) VALUES ('plain');
/* COPY has no format for what is written as it is: its CSV without a character to quote. */
INSERT INTO file_forms (form, suffix, records, copied, shared, options) VALUES
	('jsonl', 'jsonl', 'SELECT to_json(records) FROM records',
	 $$FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02'$$, true,
	 '{"tollfree_file_fdw": {"filename": "{file}", "format": "jsonl"}}');
INSERT INTO file_forms (form, files, suffix, copied, packer, shared, in_quick, options) VALUES
	('csv', 1, 'csv', 'FORMAT csv, HEADER, FORCE_QUOTE *', NULL, true, true,
	 '{"file_fdw": {"filename": "{file}", "format": "csv", "header": "true"},
	   "tollfree_file_fdw": {"filename": "{file}", "format": "csv", "header": "true"}}'),
	('gzip', 1, 'tbl.gz', NULL, 'gzip -c', false, true,
	 '{"file_fdw": {"program": "zcat {word}", "delimiter": "|"},
	   "tollfree_file_fdw": {"filename": "{file}", "compression": "auto", "delimiter": "|"}}'),
	('zstd', 1, 'tbl.zst', NULL, 'zstd -q -c', false, false,
	 '{"file_fdw": {"program": "zstd -dcq {word}", "delimiter": "|"},
	   "tollfree_file_fdw": {"filename": "{file}", "compression": "auto", "delimiter": "|"}}'),
	('files', 100, 'tbl', NULL, NULL, true, false,
	 '{"file_fdw": {"filename": "{file}", "delimiter": "|"},
	   "tollfree_file_fdw": {"filenames": "{folder}", "delimiter": "|"}}'),
	('gzip_files', 100, 'tbl.gz', NULL, 'gzip -c', true, false,
	 '{"file_fdw": {"program": "zcat {word}", "delimiter": "|"},
	   "tollfree_file_fdw": {"filenames": "{folder}", "delimiter": "|"}}');

/* The tables of TPC-H, with the columns that its specification gives them. */
CREATE TABLE file_tables
(
	name		text PRIMARY KEY,
	columns		text NOT NULL,
	block_key	text
);

COMMENT ON COLUMN file_tables.block_key IS
'by whose ranges the table is divided into blocks; NULL if it is small';

INSERT INTO file_tables VALUES
	('region',
	 'r_regionkey integer, r_name char(25), r_comment varchar(152)', NULL),
	('nation',
	 'n_nationkey integer, n_name char(25), n_regionkey integer,'
	 ' n_comment varchar(152)', NULL),
	('supplier',
	 's_suppkey integer, s_name char(25), s_address varchar(40),'
	 ' s_nationkey integer, s_phone char(15), s_acctbal numeric(15,2),'
	 ' s_comment varchar(101)', NULL),
	('customer',
	 'c_custkey integer, c_name varchar(25), c_address varchar(40),'
	 ' c_nationkey integer, c_phone char(15), c_acctbal numeric(15,2),'
	 ' c_mktsegment char(10), c_comment varchar(117)', NULL),
	('part',
	 'p_partkey integer, p_name varchar(55), p_mfgr char(25),'
	 ' p_brand char(10), p_type varchar(25), p_size integer,'
	 ' p_container char(10), p_retailprice numeric(15,2),'
	 ' p_comment varchar(23)', NULL),
	('partsupp',
	 'ps_partkey integer, ps_suppkey integer, ps_availqty integer,'
	 ' ps_supplycost numeric(15,2), ps_comment varchar(199)', NULL),
	('orders',
	 'o_orderkey bigint, o_custkey integer, o_orderstatus char(1),'
	 ' o_totalprice numeric(15,2), o_orderdate date,'
	 ' o_orderpriority char(15), o_clerk char(15), o_shippriority integer,'
	 ' o_comment varchar(79)', 'o_orderkey'),
	('lineitem',
	 'l_orderkey bigint, l_partkey integer, l_suppkey integer,'
	 ' l_linenumber integer, l_quantity numeric(15,2),'
	 ' l_extendedprice numeric(15,2), l_discount numeric(15,2),'
	 ' l_tax numeric(15,2), l_returnflag char(1), l_linestatus char(1),'
	 ' l_shipdate date, l_commitdate date, l_receiptdate date,'
	 ' l_shipinstruct char(25), l_shipmode char(10), l_comment varchar(44)',
	 'l_orderkey');

/* What preparing a run found out about its data; kept for later reports. */
CREATE TABLE file_sizes
(
	scale		int NOT NULL,
	name		text NOT NULL REFERENCES file_tables,
	bytes		int8 NOT NULL,
	PRIMARY KEY (scale, name)
);

COMMENT ON COLUMN file_sizes.scale IS
'in hundredths of TPC-H''s scale factor, as in profiles';

CREATE TABLE file_answers
(
	scale		int NOT NULL,
	query		text NOT NULL,
	row_count	int8 NOT NULL,
	checksum	numeric NOT NULL,
	PRIMARY KEY (scale, query)
);

COMMENT ON TABLE file_answers IS
'what the heap table answers, to compare all candidates'' answers with; of ANALYZE, how many rows there are';

/* Keeps what the heap table answered, in the words of file_checked(). */
CREATE FUNCTION file_keep_answer(scale int, query text, answer text)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO file_answers
	SELECT file_keep_answer.scale, file_keep_answer.query,
		   (figures->>'rows')::int8, coalesce((figures->>'checksum')::numeric, 0)
	FROM read_figures('file_query', answer) AS figures
	ON CONFLICT ON CONSTRAINT file_answers_pkey DO UPDATE
	SET row_count = excluded.row_count, checksum = excluded.checksum;
END;

CREATE FUNCTION file_keep_size(scale int, name text, bytes int8)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
	INSERT INTO file_sizes
	VALUES (file_keep_size.scale, file_keep_size.name, file_keep_size.bytes)
	ON CONFLICT ON CONSTRAINT file_sizes_pkey DO UPDATE SET bytes = excluded.bytes;
END;

CREATE TABLE file_queries
(
	query		text PRIMARY KEY,
	kind		text NOT NULL CHECK (kind IN ('query', 'analyze')),
	reads		text[] NOT NULL,
	published	bool NOT NULL DEFAULT false,
	in_quick	bool NOT NULL DEFAULT false,
	statement	text NOT NULL
);

COMMENT ON COLUMN file_queries.reads IS
'the tables that it scans, once each';
COMMENT ON COLUMN file_queries.published IS
'whether the published experiment has it';
COMMENT ON COLUMN file_queries.in_quick IS
'whether a quick run times it with workers too';

/*
 * Returns a query that answers with the rows and an order-independent
 * checksum of another's rows.
 */
CREATE FUNCTION file_checked(statement text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN format('SELECT format(''rows=%%s checksum=%%s'', count(*),'
			  ' coalesce(sum(hashtextextended(answer::text, 0)), 0))'
			  ' FROM (%s) AS answer', statement);

INSERT INTO output_patterns VALUES
	('file_query', 'time_ms', 'Time: ([0-9.]+) ms'),
	('file_query', 'disk_bytes', 'disk_bytes=([0-9]+)'),
	('file_query', 'rows', 'rows=([0-9]+)'),
	('file_query', 'checksum', 'checksum=(-?[0-9]+)');

/* Of the form "plain" the name says nothing: stored runs have such names. */
CREATE FUNCTION file_case_name(query text, candidate text, engine text,
							   workers int, form text DEFAULT 'plain')
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN concat_ws(':', query, candidate, engine, 'w' || workers, nullif(form, 'plain'));

/*
 * The crossing.  Blocks are there for the sake of workers; a sample is taken
 * by one process.  Citus refuses the correlated subquery of Q22.  What is kept of
 * files is measured with the published queries.  Forms are read where one table is
 * all that a query reads, without blocks.
 */
CREATE VIEW file_cases AS
SELECT q.query, q.kind, q.statement, q.reads, q.published, q.in_quick, c.candidate,
	   c.kind AS candidate_kind, c.extension, c.state, e.engine, w.workers, f.form,
	   f.in_quick AS form_in_quick,
	   file_case_name(q.query, c.candidate, e.engine, w.workers, f.form) AS testcase,
	   concat_ws(':', c.candidate, nullif(f.form, 'plain')) AS formed,
	   concat_ws('_',
				 CASE WHEN c.kind = 'heap' THEN 'heap' ELSE coalesce(c.extension, c.candidate) END,
				 CASE WHEN c.state = 'appended' THEN 'growing'
				 WHEN c.state IS NOT NULL THEN 'kept' END,
				 nullif(e.engine, 'plain'), nullif(f.form, 'plain')) AS schema
FROM file_queries q
	CROSS JOIN file_candidates c
	CROSS JOIN file_engines e
	CROSS JOIN file_workers w
	CROSS JOIN file_forms f
WHERE (e.engine = 'plain' OR w.workers > 0)
  AND (q.kind = 'query' OR w.workers = 0)
  AND (c.state IS NULL
	   OR q.published AND q.kind = 'query' AND e.engine = 'plain'
		  AND (w.workers = 0 OR c.state = 'second'))
  AND (f.form = 'plain'
	   OR q.query IN ('Q1', 'Q6', 'COUNT') AND c.kind = 'foreign' AND c.state IS NULL
		  AND e.engine = 'plain' AND (w.workers = 0 OR f.shared)
		  AND f.options ? c.extension)
  AND CASE c.candidate
		  WHEN 'local_again' THEN
			  q.query IN ('Q1', 'Q6') AND e.engine = 'plain' AND w.workers = 0
		  WHEN 'citus' THEN
			  e.engine = 'partitioned' AND q.kind = 'query' AND q.query <> 'Q22'
		  ELSE true
	  END;

/*
 * A query is planned once before it is timed, so that no candidate pays for
 * reading catalogs and loading libraries.  Then what it scans is read, so that
 * it is in the page cache; what came from the disk all the same is counted.
 * Neither is done with Citus, whose workers are other servers.  work_mem is the
 * experiment's.
 *
 * Text and tables, whole and in blocks, may be more than the page cache holds.
 * So cases of a query follow each other, and among them those that scan the
 * same bytes.
 *
 * What is kept of files is kept by executions that are not timed, of which several
 * processes need two, an index and then columns; or it is forgotten.  The timed
 * session is another one, so it finds what a server finds that was started again.
 */
CREATE VIEW file_testcases AS
SELECT 'file'::text AS suite,
	   p.profile,
	   c.testcase,
	   c.formed AS candidate,
	   CASE WHEN c.candidate <> 'heap' THEN
		   file_case_name(c.query, 'heap', c.engine, c.workers) END AS baseline,
	   'time_ms'::text AS figure,
	   'ms'::text AS unit,
	   false AS higher_is_better,
	   jsonb_build_object('query', c.query, 'target', c.candidate,
						  'engine', c.engine, 'workers', c.workers,
						  'scale', p.scale)
	   || CASE WHEN c.extension <> c.candidate THEN jsonb_build_object('wrapper', c.extension)
			  ELSE '{}' END
	   || CASE WHEN c.form <> 'plain' THEN jsonb_build_object('form', c.form)
			  ELSE '{}' END AS dims,
	   psql_words(checked.instance, 'tpch_' || p.scale)
	   || checked.first_of_all
	   || ARRAY['-c', '\o /dev/null', '-c', 'EXPLAIN ' || checked.planned]
	   || checked.beforehand
	   || ARRAY['-c', '\o', '-c', '\timing on', '-c', checked.timed, '-c', '\timing off']
	   || checked.afterwards AS argv,
	   ARRAY[format('PGOPTIONS=-c search_path=%s -c work_mem=64MB'
					' -c max_parallel_workers_per_gather=%s',
					c.schema, c.workers)
			 || CASE WHEN c.state IS NOT NULL
					THEN format(' -c %1$s.record_index=on -c %1$s.column_cache=on',
								c.extension)
				ELSE '' END] AS env,
	   interval '2 minutes' * (1 + p.scale / 100.0) AS time_limit,
	   'file_query'::text AS format,
	   NULL::text[] AS probe_argv,
	   p.profile = 'full'
	   OR c.form <> 'plain' AND c.form_in_quick AND c.in_quick AND c.workers = 0
	   OR c.engine = 'plain' AND c.form = 'plain'
	   AND (c.published AND c.workers = 0 AND c.state IS NULL
			OR c.in_quick AND (c.workers = 2 OR c.state IS NOT NULL)
			OR c.query IN ('ANALYZE', 'COUNT') AND c.workers = 0) AS chosen,
	   NULL::float8 AS seconds,
	   NULL::int AS most_rounds,
	   /* The A/A case has a place of its own, like what it stands beside. */
	   ARRAY[c.query, concat_ws(' ', CASE c.candidate WHEN 'local_again' THEN c.candidate
										 ELSE c.candidate_kind END, c.engine,
								 nullif(c.form, 'plain'))] AS neighbours,
	   p.of_run
FROM file_cases c
	JOIN sizes p ON p.suite = 'file'
	CROSS JOIN LATERAL
		(SELECT CASE c.kind WHEN 'query' THEN file_checked(c.statement)
					ELSE 'SELECT FROM lineitem' END AS planned,
				CASE c.kind WHEN 'query' THEN file_checked(c.statement)
					ELSE c.statement END AS timed,
				CASE c.candidate_kind WHEN 'citus' THEN 'coordinator'
					ELSE 'source' END AS instance,
				CASE c.state WHEN 'second'
					THEN ARRAY['-c', '\o /dev/null', '-c', file_checked(c.statement),
							   '-c', file_checked(c.statement), '-c', '\c']
				WHEN 'appended'
					THEN ARRAY['-c', 'SELECT public.cut_growing()',
							   '-c', format('SELECT public.forget_files(%L)', c.reads),
							   '-c', '\o /dev/null', '-c', file_checked(c.statement),
							   '-c', 'SELECT public.grow()', '-c', '\c']
				ELSE '{}' END AS first_of_all,
				CASE c.candidate_kind WHEN 'citus' THEN '{}'
					ELSE ARRAY['-c', format('SELECT public.begin_execution(%L)', c.reads)]
				END
				|| CASE c.state WHEN 'first'
					   THEN ARRAY['-c', format('SELECT public.forget_files(%L)', c.reads)]
				   ELSE '{}' END AS beforehand,
				CASE c.candidate_kind WHEN 'citus' THEN '{}'
					ELSE ARRAY['-c', 'SELECT public.read_since()'] END
				|| CASE c.kind WHEN 'query' THEN '{}'
					   ELSE ARRAY['-c', 'SELECT format(''rows=%s'', reltuples::int8)'
								  ' FROM pg_class WHERE oid = ''lineitem''::regclass']
				   END AS afterwards) AS checked;

/*
 * Returns why an execution does not count, or NULL: another answer than the
 * heap table's, or an estimate of the rows that is 2% away from them.
 */
CREATE FUNCTION file_judge(run_case run_cases, figures jsonb,
						   before text, after text)
RETURNS text
LANGUAGE plpgsql STABLE
AS $$
DECLARE
	expected	lab.file_answers;
	found		int8 := figures->>'rows';
BEGIN
	SELECT * INTO expected FROM lab.file_answers
	WHERE scale = (run_case.dims->>'scale')::int
	  AND query = run_case.dims->>'query';
	IF expected IS NULL THEN
		RETURN 'the heap table''s answer is not known';
	ELSIF run_case.dims->>'query' = 'ANALYZE' THEN
		IF abs(found - expected.row_count) > 0.02 * expected.row_count THEN
			RETURN format('ANALYZE estimates %s rows, there are %s',
						  found, expected.row_count);
		END IF;
	ELSIF found IS DISTINCT FROM expected.row_count
		OR (figures->>'checksum')::numeric IS DISTINCT FROM expected.checksum THEN
		RETURN format('answers %s rows with checksum %s where the heap table'
					  ' answers %s with %s', found, figures->>'checksum',
					  expected.row_count, expected.checksum);
	END IF;
	RETURN NULL;
END
$$;

/* What the cases of the runs that are under way need. */
CREATE VIEW file_needed AS
SELECT DISTINCT c.schema, c.formed AS candidate, c.candidate_kind AS kind, c.extension,
	   e.blocks, coalesce(c.state = 'appended', false) AS grows, c.form
FROM runs
	JOIN run_cases USING (run_id)
	JOIN file_cases c USING (testcase)
	JOIN file_engines e USING (engine)
WHERE runs.suite = 'file' AND runs.state = 'running';

/* How the coordinator of Citus reaches its workers. */
CREATE VIEW file_citus_workers AS
SELECT tcp_host AS server_host, port AS server_port
FROM instances
WHERE instance ~ '^worker_'
ORDER BY instance;

/*
 * The questions that the heap table is asked once a run; their answers are the
 * judge's.
 */
CREATE VIEW file_questions AS
SELECT DISTINCT q.query,
	   CASE q.kind WHEN 'query' THEN file_checked(q.statement)
		   ELSE 'SELECT format(''rows=%s'', count(*)) FROM lineitem' END AS statement,
	   EXISTS (SELECT FROM file_answers a
			   WHERE (a.scale, a.query) = ((r.dims->>'scale')::int, q.query)) AS is_answered
FROM runs
	JOIN run_cases r USING (run_id)
	JOIN file_queries q ON q.query = r.dims->>'query'
WHERE runs.suite = 'file' AND runs.state = 'running';

/* How much text is behind the tables that a query of a run reads. */
CREATE VIEW file_scanned AS
SELECT q.run_id, q.query, sum(s.bytes) AS bytes
FROM (SELECT DISTINCT run_id, dims->>'query' AS query, (dims->>'scale')::int AS scale
	  FROM run_cases JOIN runs USING (run_id)
	  WHERE suite = 'file') AS q
	JOIN file_queries USING (query)
	CROSS JOIN LATERAL unnest(reads) AS name
	JOIN file_sizes s USING (scale, name)
GROUP BY q.run_id, q.query;

INSERT INTO suites VALUES
	('file', 'What it costs to query a flat file in place', 'file_judge');
INSERT INTO case_views VALUES ('file', 'file_testcases');

INSERT INTO profiles VALUES
	('file', 'quick', 60, 1, 20, 0.15),
	('file', 'full', 3, 20, 1000, NULL);

INSERT INTO headlines VALUES
	('file', 'files', '^Q6:(local_again|(tollfree_)?file_fdw):plain:w0$');

/*
 * The published experiment's own figures, seconds; PostgreSQL 9.1 and CitusDB
 * with TPC-H of 10 GB on four cores.
 */
CREATE TABLE file_published
(
	query		text NOT NULL,
	engine		text NOT NULL REFERENCES file_engines,
	regular_s	float8 NOT NULL,
	foreign_s	float8 NOT NULL,
	PRIMARY KEY (query, engine)
);

INSERT INTO file_published VALUES
	('Q1', 'plain', 311.3, 531.5), ('Q1', 'partitioned', 55.1, 109.2),
	('Q3', 'plain', 38.2, 322.6), ('Q3', 'partitioned', 13.5, 89.8),
	('Q5', 'plain', 32.9, 319.0), ('Q5', 'partitioned', 12.4, 126.9),
	('Q6', 'plain', 18.6, 218.8), ('Q6', 'partitioned', 5.5, 56.9),
	('Q10', 'plain', 54.9, 290.9), ('Q10', 'partitioned', 38.0, 93.6),
	('Q12', 'plain', 32.6, 589.8), ('Q12', 'partitioned', 14.7, 88.3),
	('Q14', 'plain', 18.7, 228.7), ('Q14', 'partitioned', 9.0, 66.8),
	('Q19', 'plain', 27.6, 235.1), ('Q19', 'partitioned', 10.2, 65.0);
