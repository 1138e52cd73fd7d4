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

-- A file that is opened anew for each outer row belongs to the subtransaction that it is opened in, and then to
-- those around it.
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
RESET enable_material;
RESET enable_memoize;
DROP FUNCTION fetched, read_in_subtransactions;
