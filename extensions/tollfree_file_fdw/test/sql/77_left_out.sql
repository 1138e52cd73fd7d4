-- Rows that are left out: on_error 'ignore'. Stock has it from PostgreSQL 18 on; before, its place is taken by a table of ours, and what is expected is the same.
\getenv abs_builddir PG_ABS_BUILDDIR
\set left_out_nan :abs_builddir '/results/left_out_nan'
\set left_out :abs_builddir '/results/left_out'
SET client_min_messages = warning;
-- Every 7th line has an invalid integer, every 11th an invalid date, every 13th a null that its domain refuses.
CREATE DOMAIN not_empty AS int CHECK (VALUE IS NOT NULL);
COPY (SELECT CASE WHEN i % 7 = 0 THEN 'x' || i ELSE i::text END, CASE WHEN i % 11 = 0 THEN 'never' ELSE '2020-01-01' END,
	CASE WHEN i % 13 = 0 THEN '' ELSE '1' END, 't' || i % 5 FROM generate_series(1, 5000) i) TO :'left_out' (format csv);
CREATE FUNCTION make_left_out(name text, columns text, path text, options text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	options = $o$format 'csv', on_error 'ignore'$o$ || options;
	IF current_setting('server_version_num')::int >= 180000 THEN
		PERFORM make_pair(name, columns, path, options);
	ELSE
		EXECUTE format('CREATE FOREIGN TABLE stock.%1$I (%2$s) SERVER ours OPTIONS (filename %3$L, %4$s);
			CREATE FOREIGN TABLE ours.%1$I (%2$s) SERVER ours OPTIONS (filename %3$L, %4$s)', name, columns, path, options);
	END IF;
END
$$;
CREATE FUNCTION compare_left_out(queries text[]) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	query text;
	answer text;
BEGIN
	FOREACH query IN ARRAY queries LOOP
		answer = agree(query);
		IF answer ~ 'DIFFERENT' THEN
			RETURN NEXT format('%s: %s', query, answer);
		END IF;
	END LOOP;
END
$$;
SELECT make_left_out('left_out', 'a int, d date, n not_empty, t text', :'left_out', '');
SELECT make_left_out('limited_700', 'a int, d date, n not_empty, t text', :'left_out', $$, reject_limit '700'$$);
SELECT make_left_out('limited_5000', 'a int, d date, n not_empty, t text', :'left_out', $$, reject_limit '5000'$$);
-- by the fast path alone
SET tollfree_file_fdw.debug_require = 'scan';
SELECT compare_left_out(ARRAY[
	'SELECT * FROM left_out',
	'SELECT t FROM left_out',
	'SELECT d FROM left_out WHERE a > 2500',
	'SELECT a FROM left_out WHERE t = ''t1'' AND n = 1',
	'SELECT count(*) FROM left_out',
	'SELECT count(a), sum(a), min(d), max(n) FROM left_out',
	'SELECT t, count(*), sum(a) FROM left_out WHERE d = ''2020-01-01'' GROUP BY t ORDER BY t',
	'SELECT sum(a) FROM left_out WHERE a < 640',
	'SELECT count(t) FROM left_out',
	'SELECT * FROM limited_700',
	'SELECT count(a) FROM limited_700',
	'SELECT count(a), count(n) FROM limited_700',
	'SELECT a FROM limited_700 WHERE a < 1000',
	'SELECT * FROM limited_5000',
	'SELECT * FROM limited_700 LIMIT 20']);
RESET tollfree_file_fdw.debug_require;
SET client_min_messages = notice;
SET search_path = stock, public;
-- Stock, then ours
\set SHOW_CONTEXT always
\o /dev/null
SELECT a FROM left_out;
SELECT a FROM left_out LIMIT 20;
SELECT count(*) FROM left_out;
SELECT n, a FROM left_out WHERE a > 4000;
ALTER FOREIGN TABLE left_out OPTIONS (log_verbosity 'verbose');
SELECT d, n FROM left_out LIMIT 30;
SELECT count(d) FROM (SELECT * FROM left_out LIMIT 20) t;
ALTER FOREIGN TABLE left_out OPTIONS (SET log_verbosity 'silent');
SELECT a FROM left_out;
ANALYZE left_out;
ALTER FOREIGN TABLE left_out OPTIONS (DROP log_verbosity);
ANALYZE left_out;
SET search_path = ours, public;
SELECT a FROM left_out;
SELECT a FROM left_out LIMIT 20;
SELECT count(*) FROM left_out;
SELECT n, a FROM left_out WHERE a > 4000;
ALTER FOREIGN TABLE left_out OPTIONS (log_verbosity 'verbose');
SELECT d, n FROM left_out LIMIT 30;
SELECT count(d) FROM (SELECT * FROM left_out LIMIT 20) t;
ALTER FOREIGN TABLE left_out OPTIONS (SET log_verbosity 'silent');
SELECT a FROM left_out;
ANALYZE left_out;
ALTER FOREIGN TABLE left_out OPTIONS (DROP log_verbosity);
ANALYZE left_out;
\o
\set SHOW_CONTEXT errors
SET client_min_messages = warning;
SELECT shown_plan('SELECT a FROM left_out WHERE a > 4000', 'analyze, costs off, timing off, summary off, buffers off');
SELECT shown_plan('SELECT count(a) FROM left_out', 'analyze, costs off, timing off, summary off, buffers off');
-- An aggregation that starts over tells of each row once.
SET client_min_messages = notice;
COPY (VALUES ('x'), ('1.25'), ('NaN'), ('y'), ('2.5')) TO :'left_out_nan';
CREATE FOREIGN TABLE ours.unfit (a numeric(5,2)) SERVER ours OPTIONS (filename :'left_out_nan', on_error 'ignore');
SELECT sum(a) FROM unfit;
SELECT shown_plan('SELECT sum(a) FROM unfit', 'analyze, costs off, timing off, summary off, buffers off');
-- by COPY's parser alone: the same rows, and the same errors
SET client_min_messages = warning;
SET tollfree_file_fdw.fast_scan = off;
SELECT compare_left_out(ARRAY[
	'SELECT * FROM left_out',
	'SELECT t FROM left_out',
	'SELECT count(a), sum(a), min(d), max(n) FROM left_out',
	'SELECT count(*) FROM left_out',
	'SELECT * FROM limited_700',
	'SELECT a FROM limited_700 WHERE a < 1000',
	'SELECT * FROM limited_700 LIMIT 20']);
SET client_min_messages = notice;
SELECT a, n FROM left_out LIMIT 3;
ALTER FOREIGN TABLE left_out OPTIONS (log_verbosity 'verbose');
SELECT d, n FROM left_out OFFSET 20 LIMIT 1;
ALTER FOREIGN TABLE left_out OPTIONS (DROP log_verbosity);
-- A record that is none is an error, unless a value before has its row left out.
COPY (VALUES ('x'), ('x,1,2'), ('1'), ('2,2,2,t')) TO :'left_out_nan';
SELECT make_left_out('left_short', 'a int, d text, n int, t text', :'left_out_nan', '');
SELECT make_left_out('left_marked', 'a int', :'left_out_nan', $$, delimiter ';'$$);
SET client_min_messages = warning;
SELECT agree('SELECT * FROM left_short');
SELECT agree('SELECT d FROM left_short');
SELECT agree('SELECT * FROM left_marked');
RESET tollfree_file_fdw.fast_scan;
SELECT agree('SELECT * FROM left_short');
SELECT agree('SELECT d FROM left_short');
SELECT agree('SELECT * FROM left_marked');
-- Beside workers, and in a subtransaction that is rolled back
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE left_beside AS SELECT g FROM generate_series(1, 1000) g;
ANALYZE left_beside;
SELECT count(*), sum(a) FROM left_out JOIN left_beside ON a = g;
DO $$
BEGIN
	PERFORM * FROM left_out;
	PERFORM * FROM limited_700;
EXCEPTION WHEN invalid_text_representation THEN
	RAISE WARNING '%', SQLERRM;
END
$$;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
-- Options that say nothing, or contradict others
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', on_error 'explode');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', on_error 'ignore', reject_limit '0');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', reject_limit '1');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', on_error 'ignore', log_verbosity 'much');
CREATE FOREIGN TABLE odd (a int) SERVER ours OPTIONS (filename '/dev/null', on_error 'ignore', format 'binary');
-- no index is made, none is used, and no other process reads
SET tollfree_file_fdw.column_cache = on;
SET client_min_messages = warning;
SELECT count(a) FROM left_out;
SELECT count(a) FROM left_out;
SELECT count(*) FROM tollfree_file_fdw_record_indexes();
SELECT tollfree_file_fdw_load_columns('left_out');
RESET tollfree_file_fdw.column_cache;
RESET search_path;
RESET client_min_messages;
