-- Scans in subtransactions: their memory is given back, and files closed behind a scan are known to be.
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION read_in_subtransactions(relation regclass, times int) RETURNS int LANGUAGE plpgsql
AS $$
DECLARE
	found int;
	ids int := 0;
BEGIN
	FOR i IN 1..times LOOP
		BEGIN
			EXECUTE format('SELECT id FROM %s LIMIT 1', relation) INTO found;
			ids := ids + found;
			IF i % 3 = 0 THEN
				EXECUTE format('SELECT 1 / (id - 1) FROM %s LIMIT 1', relation);
			END IF;
		EXCEPTION WHEN division_by_zero THEN
		END;
	END LOOP;
	RETURN ids;
END
$$;
BEGIN;
SELECT read_in_subtransactions('ours.texts', 30), read_in_subtransactions('stock.texts', 30);
SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'CurTransactionContext';
ROLLBACK;

-- A file that is opened anew for each outer row in a subtransaction remains open when that ends.
CREATE FUNCTION fetched(name refcursor) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	r record;
BEGIN
	FETCH name INTO r;
	RETURN coalesce(r::text, 'no more');
EXCEPTION WHEN object_not_in_prerequisite_state THEN
	RETURN regexp_replace(SQLERRM, '"/.*/', '"');
END
$$;
SET enable_material = off;
SET enable_memoize = off;
\set rows 'SELECT v, s.id FROM generate_series(1, 9) v, LATERAL (SELECT id FROM ours.texts WHERE id > v LIMIT 2) s'
\set sums 'SELECT v, s.* FROM generate_series(1, 9) v LEFT JOIN LATERAL (SELECT v + 1 AS next, sum(id) FROM ours.texts) s ON true'
BEGIN;
DECLARE kept CURSOR FOR :rows;
DECLARE lost CURSOR FOR :rows;
DECLARE sums CURSOR FOR :sums;
SAVEPOINT one;
SELECT fetched('kept'), fetched('lost'), fetched('sums');
SAVEPOINT two;
FETCH 2 FROM lost;
RELEASE two;
FETCH 1 FROM kept;
RELEASE one;
FETCH 1 FROM kept;
SAVEPOINT one;
SAVEPOINT two;
FETCH 2 FROM lost;
FETCH 1 FROM sums;
RELEASE two;
ROLLBACK TO one;
FETCH 1 FROM sums;
FETCH 2 FROM kept;
RELEASE one;
SELECT fetched('lost'), fetched('kept'), fetched('sums');
ROLLBACK;

-- A file is opened when it is first read, which may be in a subtransaction that is rolled back: behind it the scan goes
-- on with the same file, by the wrapper's parser or by COPY's.
\getenv abs_builddir PG_ABS_BUILDDIR
\set lost :abs_builddir '/results/lost.txt'
CREATE FUNCTION read_around_rollbacks(query text, command text, file text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	rows refcursor;
	n int := 0;
	shell text := format('unset LD_PRELOAD; cat > /dev/null; f=''%s''; %s', file, command);
BEGIN
	EXECUTE format('COPY (SELECT i, CASE i WHEN 20000 THEN ''\303\251'' ELSE ''x'' END FROM generate_series(1, 30000) i) TO %L (FORMAT csv)', file);
	OPEN rows FOR EXECUTE query;
	FOR step IN 1..4 LOOP
		BEGIN
			FOR i IN 1..9000 LOOP
				MOVE rows;
				EXIT WHEN NOT FOUND;
				n := n + 1;
			END LOOP;
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN
		END;
		IF step = 1 THEN
			EXECUTE format('COPY (SELECT) TO PROGRAM %L', shell);
		END IF;
	END LOOP;
	RETURN format('%s rows', n);
EXCEPTION WHEN OTHERS THEN
	RETURN format('%s rows, %s %s', n, SQLSTATE, regexp_replace(SQLERRM, '"/.*/', '"'));
END
$$;
SET client_min_messages = warning;
SELECT make_pair('lost', 'a int, b text', :'lost', $$format 'text', delimiter ','$$),
	make_pair('lost_slow', 'a text, b text', :'lost', $$format 'csv', quote 'q'$$);
CREATE FOREIGN TABLE ours.lost_program (a int) SERVER ours OPTIONS (program 'seq 30000');
SELECT command, read_around_rollbacks('SELECT * FROM ours.lost', command, :'lost') AS handed_over,
	read_around_rollbacks('SELECT * FROM ours.lost WHERE a < 19999', command, :'lost') AS filtered,
	read_around_rollbacks('SELECT * FROM ours.lost_slow', command, :'lost') AS slow,
	read_around_rollbacks('SELECT * FROM stock.lost', command, :'lost') AS stock
FROM unnest(ARRAY['true', 'printf "30001,x\n" >> "$f"', 'cp "$f" "$f.new"; mv "$f.new" "$f"', 'rm "$f"', 'printf "1,x\n" > "$f"']) command;
SELECT read_around_rollbacks('SELECT * FROM ours.lost_program', 'true', :'lost'),
	read_around_rollbacks('SELECT p.* FROM (VALUES (1), (2)) v LEFT JOIN ours.lost_program p ON true', 'true', :'lost');
DROP FOREIGN TABLE stock.lost, ours.lost, stock.lost_slow, ours.lost_slow, ours.lost_program;
DROP FUNCTION read_around_rollbacks;
RESET client_min_messages;
RESET enable_material;
RESET enable_memoize;
DROP FUNCTION fetched, read_in_subtransactions;
