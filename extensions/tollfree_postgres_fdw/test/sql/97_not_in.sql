-- NOT IN, where neither side can be null, is an anti join for PostgreSQL 19: then rows are looked up in batches.
CREATE TABLE remote.taken (id int PRIMARY KEY, note text);
INSERT INTO remote.taken SELECT i, nullif('note ' || i, 'note 7') FROM generate_series(1, 3000) i WHERE i % 10 > 0;
ANALYZE remote.taken;
CALL make_servers('not_in', 1, $$fdw_tuple_cost '10', batched_lookups 'true'$$);
CREATE FOREIGN TABLE taken (id int NOT NULL, note text) SERVER not_in_0 OPTIONS (schema_name 'remote');
ANALYZE taken;
CREATE TABLE wished (n int, id int NOT NULL, other int);
INSERT INTO wished SELECT i, i * 7 % 100, nullif(i % 60, 30) FROM generate_series(1, 100) i;
ANALYZE wished;
CREATE FUNCTION compare_not_in() RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	query text;
	expected text;
	found text;
BEGIN
	FOREACH query IN ARRAY ARRAY['SELECT n FROM wished WHERE id NOT IN (SELECT id FROM %s)', 'SELECT n FROM wished WHERE other NOT IN (SELECT id FROM %s)',
			'SELECT n FROM wished WHERE ''note '' || n NOT IN (SELECT note FROM %s)', 'SELECT n FROM wished w WHERE id NOT IN (SELECT id FROM %s t WHERE t.note > ''note 5'')',
			'SELECT n FROM wished w WHERE (id, n) NOT IN (SELECT id, id FROM %s)', 'SELECT n FROM wished w WHERE id NOT IN (SELECT id FROM %s t WHERE t.id > w.n)'] LOOP
		EXECUTE format('SELECT string_agg(n::text, '','' ORDER BY n) FROM (%s) q', format(query, 'remote.taken')) INTO expected;
		EXECUTE format('SELECT string_agg(n::text, '','' ORDER BY n) FROM (%s) q', format(query, 'taken')) INTO found;
		IF found IS DISTINCT FROM expected THEN
			RETURN NEXT format('DIFFERENT %s: %s, not %s', query, found, expected);
		END IF;
	END LOOP;
END
$$;
SELECT compare_not_in();
SELECT (explained('SELECT n FROM wished WHERE id NOT IN (SELECT id FROM taken)', 'Keys') IS NOT NULL) = (current_setting('server_version_num')::int >= 190000) AS as_expected;
-- A side that can be null is no such join.
SELECT explained('SELECT n FROM wished WHERE other NOT IN (SELECT id FROM taken)', 'Keys') IS NULL AS as_expected;
ALTER FOREIGN TABLE taken ALTER id DROP NOT NULL;
SELECT explained('SELECT n FROM wished WHERE id NOT IN (SELECT id FROM taken)', 'Keys') IS NULL AS as_expected;
SELECT compare_not_in();
DROP FUNCTION compare_not_in;
DROP FOREIGN TABLE taken;
DROP TABLE remote.taken, wished;
DROP USER MAPPING FOR PUBLIC SERVER not_in_0;
DROP SERVER not_in_0;
