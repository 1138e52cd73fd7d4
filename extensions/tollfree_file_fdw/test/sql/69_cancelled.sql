-- A query that is cancelled reads no more rows, even if its filter would let none of them pass.
\getenv abs_builddir PG_ABS_BUILDDIR
\set plain :abs_builddir '/results/cancelled.csv'
\set octal :abs_builddir '/results/cancelled.txt'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
-- Its CHECK counts the values read, and cancels the query at one of them; nothing in it looks for that. Declared STABLE, it does not keep values from being aggregated in the scan.
CREATE SEQUENCE values_read;
CREATE FUNCTION stable_nextval(regclass) RETURNS bigint LANGUAGE internal STABLE STRICT AS 'nextval_oid';
CREATE FUNCTION stable_cancel(int) RETURNS bool LANGUAGE internal STABLE STRICT AS 'pg_cancel_backend';
CREATE DOMAIN cancelling AS int CHECK (stable_nextval('values_read') > 0 AND CASE VALUE WHEN 100 THEN stable_cancel(pg_backend_pid()) ELSE true END);
COPY (SELECT i, 1, 'a' FROM generate_series(1, 1000) i) TO :'plain' (FORMAT csv);
-- COPY's parser reads all of this one.
COPY (SELECT i, 1, '\303\251' FROM generate_series(1, 1000) i) TO :'octal' (FORMAT csv);
SELECT make_pair('cancelled_plain', 'a cancelling, b int, c text', :'plain', $$format 'csv'$$),
	make_pair('cancelled_octal', 'a cancelling, b int, c text', :'octal', $$delimiter ',', encoding 'UTF8'$$);
SELECT shown_plan('SELECT c FROM ours.cancelled_octal WHERE b = 0', 'analyze, costs off, timing off, summary off, buffers off');
SELECT shown_plan('SELECT count(a), count(c) FROM ours.cancelled_octal WHERE b = 0');
CREATE FUNCTION values_read_before_end(query text) RETURNS bigint LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM setval('values_read', 1, false);
	EXECUTE query;
	RETURN NULL;
EXCEPTION WHEN query_canceled THEN
	RETURN (SELECT last_value FROM values_read);
END
$$;
SELECT query, aggregates, side, values_read_before_end(format(query, side) || settings)
FROM unnest(ARRAY[
	'SELECT a, c FROM %I.cancelled_plain WHERE b = 0', 'SELECT count(a), count(c) FROM %I.cancelled_plain WHERE b = 0',
	'SELECT a, c FROM %I.cancelled_octal WHERE b = 0', 'SELECT count(a), count(c) FROM %I.cancelled_octal WHERE b = 0']) query,
	(VALUES ('on', 'stock'), ('on', 'ours'), ('off', 'ours')) s (aggregates, side),
	LATERAL (SELECT format(' /* %s */', set_config('tollfree_file_fdw.push_aggregates', aggregates, false))) t (settings);
RESET tollfree_file_fdw.push_aggregates;
DROP FOREIGN TABLE stock.cancelled_plain, ours.cancelled_plain, stock.cancelled_octal, ours.cancelled_octal;
DROP FUNCTION values_read_before_end;
DROP DOMAIN cancelling;
DROP FUNCTION stable_nextval, stable_cancel;
DROP SEQUENCE values_read;
RESET client_min_messages;
