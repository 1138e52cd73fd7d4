-- More partitions than PostgreSQL lets a session have files open, which is some 300.  COPY's parser reads two of three
-- kinds: it goes on at an escaped character, and reads all where x is the quote.
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/many'
SET client_min_messages = warning;
CREATE TABLE ours.many (part int, a int, b text) PARTITION BY LIST (part);
CREATE TABLE copied (part int, a int, b text);
CREATE FUNCTION make_many(file text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	options text;
BEGIN
	FOR i IN 1..400 LOOP
		options := (ARRAY[$o$format 'csv'$o$, $o$delimiter ','$o$, $o$format 'csv', quote 'x'$o$])[i % 3 + 1];
		EXECUTE format('COPY (SELECT %s, i, CASE WHEN i = 5 THEN ''\303\251'' END FROM generate_series(1, 10) i) TO %L (FORMAT csv)', i, file || i);
		EXECUTE format('CREATE FOREIGN TABLE ours.many_%s PARTITION OF ours.many FOR VALUES IN (%s) SERVER ours OPTIONS (filename %L, null '''', %s)', i, i, file || i, options);
		EXECUTE format('COPY copied FROM %L (NULL '''', %s)', file || i,
					   (ARRAY[$o$format csv$o$, $o$delimiter ','$o$, $o$format csv, quote 'x'$o$])[i % 3 + 1]);
	END LOOP;
END
$$;
SELECT make_many(:'file');
CREATE FUNCTION agree_on_many(query text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	expected text[] := outcome(replace(query, 'MANY', 'copied'), 'public');
	found text[] := outcome(replace(query, 'MANY', 'ours.many'), 'public');
BEGIN
	RETURN CASE WHEN expected = found THEN cardinality(found) || ' rows' ELSE format('DIFFERENT: %s', left(found::text, 300)) END;
END
$$;
CREATE FUNCTION compare_many() RETURNS TABLE (query text, outcome text) LANGUAGE sql
AS $$
SELECT query, agree_on_many(query) FROM unnest(ARRAY[
	'SELECT count(*), sum(a), count(DISTINCT part), max(b) FROM MANY', 'SELECT * FROM MANY ORDER BY a, part',
	'SELECT part, sum(a), max(b) FROM MANY GROUP BY part ORDER BY part', 'SELECT * FROM MANY WHERE a > 8 ORDER BY part, a LIMIT 1000',
	'SELECT x.part, y.a FROM MANY x JOIN MANY y USING (part, a) ORDER BY 1, 2',
	'SELECT v, s.n FROM generate_series(1, 3) v, LATERAL (SELECT count(*) + v AS n FROM MANY WHERE a > v) s']) query
$$;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM compare_many();
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;
SELECT * FROM compare_many();
RESET enable_hashagg;
RESET enable_hashjoin;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM compare_many();
RESET enable_partitionwise_aggregate;
RESET enable_partitionwise_join;
SELECT * FROM compare_many();
SET parallel_leader_participation = off;
SELECT * FROM compare_many();
RESET parallel_leader_participation;
RESET max_parallel_workers_per_gather;
-- A file that is missing is an error even if the query does not come to it.
CREATE FUNCTION outcome_of_prefix(query text) RETURNS text LANGUAGE sql
AS $$ SELECT regexp_replace(array_to_string(outcome(query, 'ours'), ' | '), '"/.*/', '"') $$;
ALTER FOREIGN TABLE ours.many_400 OPTIONS (SET filename '/nowhere/at_all');
SET max_parallel_workers_per_gather = 0;
SELECT outcome_of_prefix('SELECT part, a FROM many LIMIT 1'), outcome_of_prefix('SELECT part, a FROM many WHERE part < 400 LIMIT 1');
RESET max_parallel_workers_per_gather;
-- It is read where no more than one descriptor is left: files are kept open for a query that has not read them yet only while
-- there are enough.
CREATE FUNCTION read_with_one_descriptor() RETURNS text LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
	opened refcursor;
	n int := 0;
	r record;
BEGIN
	LOOP
		opened := 'opened ' || n;
		BEGIN
			OPEN opened FOR SELECT a FROM ours.many_1;
			FETCH opened INTO r;
		EXCEPTION WHEN insufficient_resources THEN
			EXIT;
		END;
		n := n + 1;
	END LOOP;
	opened := 'opened 0';
	CLOSE opened;
	RETURN format('%s | %s', n > 16, array_to_string(outcome('SELECT count(*), sum(a) FROM many WHERE part < 40', 'ours'), ' | '));
END
$$;
SELECT read_with_one_descriptor();
DROP FUNCTION read_with_one_descriptor;
DROP TABLE ours.many, copied;
DROP FUNCTION make_many, agree_on_many, compare_many, outcome_of_prefix;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET client_min_messages;

-- What COPY refuses when it opens a file is refused when the query begins, as by file_fdw.
COPY (SELECT 1) TO :'file';
CREATE FOREIGN TABLE stock.no_binary (a int) SERVER stock OPTIONS (filename :'file', format 'binary');
CREATE FOREIGN TABLE ours.no_binary (a int) SERVER ours OPTIONS (filename :'file', format 'binary');
UPDATE pg_conversion SET condefault = false WHERE conname = 'euc_kr_to_utf8';
CREATE FOREIGN TABLE stock.no_way (a int) SERVER stock OPTIONS (filename :'file', encoding 'euc_kr');
CREATE FOREIGN TABLE ours.no_way (a int) SERVER ours OPTIONS (filename :'file', encoding 'euc_kr');
BEGIN; DECLARE c CURSOR FOR SELECT a FROM stock.no_binary; ROLLBACK;
BEGIN; DECLARE c CURSOR FOR SELECT a FROM ours.no_binary; ROLLBACK;
BEGIN; DECLARE c CURSOR FOR SELECT a FROM stock.no_way; ROLLBACK;
BEGIN; DECLARE c CURSOR FOR SELECT a FROM ours.no_way; ROLLBACK;
DROP FOREIGN TABLE stock.no_binary, ours.no_binary, stock.no_way, ours.no_way;
UPDATE pg_conversion SET condefault = true WHERE conname = 'euc_kr_to_utf8';
