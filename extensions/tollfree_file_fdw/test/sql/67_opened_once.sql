-- A scan opens its file as often as with file_fdw: a pipe cannot be opened twice.
\getenv abs_builddir PG_ABS_BUILDDIR
\set pipe :abs_builddir '/results/pipe'
\set file :abs_builddir '/results/opened.csv'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SELECT make_pair('piped', 'a int', :'pipe', $$format 'csv'$$), shell('rm -f "$f"; mkfifo "$f"', :'pipe');
-- A query on both sides of a pipe that somebody writes once into
CREATE FUNCTION agree_on_pipe(query text, content text, file text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	command text := format('printf ''%s'' > "$f" &', content);
	expected text[];
	found text[];
BEGIN
	PERFORM shell(command, file);
	expected := outcome(query, 'stock');
	PERFORM shell(command, file);
	found := outcome(query, 'ours');
	RETURN format('%s %s', CASE WHEN expected = found THEN 'both' ELSE 'DIFFERENT ' || expected::text END, found);
END
$$;
SELECT shown_plan('SELECT count(*), sum(a) FROM ours.piped');
SELECT query, agree_on_pipe(query, '1\n2\n1\n', :'pipe') FROM unnest(ARRAY[
	'SELECT a FROM piped', 'SELECT count(*), sum(a) FROM piped', 'SELECT a, count(*) FROM piped GROUP BY a ORDER BY a',
	'SELECT count(a) FROM piped WHERE a > 1']) query;
SELECT shell('printf "1\n2\n3\n" > "$f" &', :'pipe');
ANALYZE ours.piped;
SELECT reltuples FROM pg_class WHERE oid = 'ours.piped'::regclass;
SELECT shell('rm "$f"', :'pipe');

-- PostgreSQL lets a session have some 300 files open: enough for 200 partitions, if each is open once.
COPY (SELECT 1, i FROM generate_series(1, 1000) i) TO :'file' (FORMAT csv);
CREATE TABLE ours.split (part int, a int) PARTITION BY LIST (part);
CREATE FUNCTION make_split(file text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	FOR i IN 1..200 LOOP
		EXECUTE format('CREATE FOREIGN TABLE ours.split_%s PARTITION OF ours.split FOR VALUES IN (%s) SERVER ours OPTIONS (filename %L, format ''csv'')', i, i, file);
	END LOOP;
END
$$;
SELECT make_split(:'file');
SET enable_partitionwise_aggregate = on;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT count(*), sum(a) FROM ours.split;
RESET tollfree_file_fdw.debug_require;
RESET enable_partitionwise_aggregate;
DROP TABLE ours.split;

-- A scan that aggregates is started again for each outer row, with what has the file's name by then; the second
-- file makes it give up.
CREATE FUNCTION write_opened(file text, number int) RETURNS int LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT i, CASE i * %s WHEN 4 THEN ''é'' ELSE ''e'' END FROM generate_series(1, %s * 3) i) TO %L (FORMAT csv, ENCODING ''LATIN1'')',
				   number, number, file || '.new');
	PERFORM shell('mv "$f.new" "$f"', file);
	RETURN number;
END
$$;
SELECT make_pair('opened', 'a int, b text', :'file', $$format 'csv', encoding 'LATIN1'$$);
SET enable_material = off;
SELECT shown_plan('SELECT v, y.* FROM (SELECT write_opened('''', v) FROM generate_series(1, 4) v OFFSET 0) x (v) LEFT JOIN (SELECT count(*), sum(a) FROM ours.opened) y ON true');
SELECT inner_query, agree(format('SELECT v, y.* FROM (SELECT write_opened(%L, v) FROM generate_series(%s, 4) v OFFSET 0) x (v) LEFT JOIN LATERAL (%s) y ON true ORDER BY v, 2',
								 :'file', first, inner_query))
FROM generate_series(1, 3) first, unnest(ARRAY[
	'SELECT count(*), sum(a) FROM opened', 'SELECT max(a), sum(a + v) FROM opened', 'SELECT sum(a), v + 1 FROM opened HAVING count(*) > v']) inner_query;
-- Groups: PostgreSQL's own aggregation keeps those that it has.
SELECT number, inner_query, agree(format('SELECT v, y.* FROM generate_series(1, 3) v LEFT JOIN LATERAL (%s) y ON true ORDER BY v, 2', inner_query))
FROM unnest('{1,2}'::int[]) number, LATERAL (SELECT write_opened(:'file', number)) written, unnest(ARRAY[
	'SELECT b, sum(a) FROM opened GROUP BY b', 'SELECT b, count(*), v + 1 FROM opened GROUP BY b HAVING count(*) > v']) inner_query;
RESET enable_material;
DROP FOREIGN TABLE stock.opened, ours.opened, stock.piped, ours.piped;
SELECT shell('rm "$f"', :'file');
RESET client_min_messages;
