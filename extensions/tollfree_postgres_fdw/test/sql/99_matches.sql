-- UPDATE and DELETE of rows that have a match in another table of the same server.
SELECT tollfree_postgres_fdw_disconnect_all();
SET client_min_messages = warning;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER matches_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
	EXECUTE format('CREATE SERVER matches_other FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER matches_stock OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER matches_other OPTIONS (password_required 'false');
CREATE TABLE remote.matched (id int PRIMARY KEY, k int, v int);
CREATE TABLE remote.matching (k int, bad bool);
INSERT INTO remote.matched SELECT i, nullif(i % 50, 7), 0 FROM generate_series(1, 2000) i;
INSERT INTO remote.matching SELECT nullif(i % 60, 9), i % 3 = 0 FROM generate_series(1, 150) i;
ANALYZE remote.matched, remote.matching;
IMPORT FOREIGN SCHEMA remote LIMIT TO (matched, matching) FROM SERVER loopback INTO public;
CREATE SCHEMA stock_matches;
IMPORT FOREIGN SCHEMA remote LIMIT TO (matched, matching) FROM SERVER matches_stock INTO stock_matches;
CREATE SCHEMA other_matches;
IMPORT FOREIGN SCHEMA remote LIMIT TO (matching) FROM SERVER matches_other INTO other_matches;
ANALYZE matched, matching, stock_matches.matched, stock_matches.matching, other_matches.matching;

EXPLAIN (VERBOSE, COSTS OFF) DELETE FROM matched WHERE k IN (SELECT k FROM matching WHERE bad);
EXPLAIN (VERBOSE, COSTS OFF) UPDATE matched m SET v = m.v + 1 WHERE EXISTS (SELECT FROM matching o WHERE o.k = m.k AND o.bad AND m.id > 5);

-- What a statement leaves, rolled back: how many rows it has modified, and a digest of the table.
CREATE FUNCTION left_by(statement text, tables text, OUT modified bigint, OUT digest text) LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		EXECUTE statement;
		GET DIAGNOSTICS modified = ROW_COUNT;
		EXECUTE format('SELECT md5(string_agg(m::text, '','' ORDER BY id)) FROM %I.matched m', tables) INTO digest;
		RAISE EXCEPTION USING ERRCODE = 'UM001';
	EXCEPTION WHEN SQLSTATE 'UM001' THEN
	END;
END
$$;
CREATE FUNCTION is_one_command(statement text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		IF line ~ '-> +Foreign (Update|Delete)' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END
$$;
SELECT statement, ours.modified, ours = stock AS same, is_one_command(statement) AS one_command
FROM unnest(ARRAY[
	'DELETE FROM matched WHERE k IN (SELECT k FROM matching WHERE bad)',
	'DELETE FROM matched WHERE k IN (SELECT DISTINCT k FROM matching)',
	'DELETE FROM matched WHERE k = ANY (SELECT k FROM matching) AND id < 100',
	'DELETE FROM matched m WHERE EXISTS (SELECT FROM matching o WHERE o.k = m.k)',
	'DELETE FROM matched m WHERE EXISTS (SELECT FROM matching o WHERE o.k = m.k) AND k IN (SELECT k FROM matching WHERE bad)',
	'DELETE FROM matched WHERE (k, id) IN (SELECT k, k FROM matching)',
	'DELETE FROM matched WHERE id IN (SELECT k FROM matched WHERE v = 0)',
	'UPDATE matched SET v = v + 1 WHERE k IN (SELECT k FROM matching)',
	'UPDATE matched m SET v = v + 1 WHERE EXISTS (SELECT FROM matching o WHERE o.k < m.k AND o.bad)',
	'UPDATE matched SET v = id WHERE id > 1900 AND EXISTS (SELECT FROM matching WHERE bad)',
-- These are left as they are, or are so by their costs.
	'DELETE FROM matched WHERE k NOT IN (SELECT k FROM matching WHERE k IS NOT NULL)',
	'DELETE FROM matched m WHERE NOT EXISTS (SELECT FROM matching o WHERE o.k = m.k)',
	'DELETE FROM matched WHERE k IN (SELECT k FROM matching ORDER BY k LIMIT 3)',
	'DELETE FROM matched WHERE k IN (SELECT max(k) FROM matching GROUP BY bad)',
	'DELETE FROM matched WHERE k IN (SELECT k FROM matching) OR id = 1',
	'DELETE FROM matched WHERE k IN (SELECT a.k FROM matching a JOIN matching b USING (k))',
	'DELETE FROM matched WHERE k IN (SELECT k FROM other_matches.matching WHERE bad)',
	'UPDATE matched SET v = random() * 0 WHERE k IN (SELECT k FROM matching)',
	'WITH gone AS (DELETE FROM matched WHERE k IN (SELECT k FROM matching WHERE bad) RETURNING id) SELECT count(*) FROM gone'
]) AS statement, left_by(statement, 'public') ours,
	left_by(regexp_replace(regexp_replace(statement, '(other_matches\.)?\mmatching\M', 'stock_matches.matching', 'g'), '\mmatched\M', 'stock_matches.matched', 'g'), 'stock_matches') stock;
-- A trigger of rows is executed once for each.
CREATE FUNCTION count_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'row %', old.id; RETURN old; END $$;
CREATE TRIGGER count_row BEFORE DELETE ON matched FOR EACH ROW EXECUTE FUNCTION count_row();
BEGIN;
DELETE FROM matched WHERE k IN (SELECT k FROM matching) AND id = 3;
ROLLBACK;
SET tollfree_postgres_fdw.remote_expressions = off;
DROP TRIGGER count_row ON matched;
SELECT is_one_command('DELETE FROM matched WHERE k IN (SELECT k FROM matching WHERE bad)');
RESET tollfree_postgres_fdw.remote_expressions;

DROP FUNCTION left_by, is_one_command, count_row;
DROP FOREIGN TABLE matched, matching;
DROP SCHEMA stock_matches, other_matches CASCADE;
DROP SERVER matches_stock, matches_other CASCADE;
DROP TABLE remote.matched, remote.matching;
RESET client_min_messages;
