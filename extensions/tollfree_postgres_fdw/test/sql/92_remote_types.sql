-- Joins with columns that have another type remotely: the rows are those of a local join.
CREATE TYPE remote.mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE remote.people AS SELECT i AS id, (ARRAY['sad', 'ok', 'happy'])[1 + i % 3]::remote.mood AS mood, md5(i::text)::uuid AS code,
	timestamp '2020-01-01 10:00' + i * interval '1 day' AS born, i % 97 + i % 8 * 0.001 AS score, ('p' || i)::varchar(9) AS name, 'z' || i AS word,
	i::bigint AS big, CASE i WHEN 7 THEN 'pg_class'::regclass ELSE (4000000000 + i)::oid::regclass END AS tbl
FROM generate_series(1, 5000) i;
CREATE INDEX ON remote.people (big);
CREATE INDEX ON remote.people (word);
ANALYZE remote.people;
CREATE FOREIGN TABLE people (id int, mood text, code text, born date, score numeric(5, 2), name text, word varchar, big int, tbl regclass) SERVER loopback OPTIONS (schema_name 'remote');
CREATE TABLE seeker AS SELECT i AS n, i AS id, (ARRAY['happy', 'glad', NULL])[1 + i % 3] AS mood, md5(i::text)::uuid::text AS code, date '2020-01-01' + i AS born,
	round(i % 97 + i % 8 * 0.001, 2)::numeric AS score, ('p' || i) || repeat(' ', i % 2) AS name, 'z' || i AS word, i AS big, 'pg_class'::regclass AS tbl
FROM generate_series(1, 40) i;
ANALYZE people, seeker;
ALTER SERVER loopback OPTIONS (ADD batched_lookups 'true', ADD fdw_tuple_cost '10');
-- What is joined here, and what is looked up; and how the latter asks.
CREATE FUNCTION joined_alike(query text) RETURNS TABLE (rows bigint, same bool, batches bool, condition text) LANGUAGE plpgsql
AS $$
DECLARE
	digest text := format('SELECT count(*), md5(string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) q', query);
	plan jsonb;
	here text;
	expected text;
BEGIN
	PERFORM set_config('tollfree_postgres_fdw.batched_lookups', 'off', true);
	EXECUTE digest INTO rows, expected;
	PERFORM set_config('tollfree_postgres_fdw.batched_lookups', 'on', true);
	EXECUTE digest INTO rows, here;
	same := here IS NOT DISTINCT FROM expected;
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	batches := jsonb_path_exists(plan, 'strict $.**?(exists(@."Keys"))');
	condition := regexp_replace(jsonb_path_query_first(plan, 'strict $.**?(exists(@."Remote SQL"))')->>'Remote SQL', '^.* FROM remote.people( WHERE )?|\) AS q ORDER BY.*$', '', 'g');
	-- 15 exchanges the operands of some
	condition := regexp_replace(condition, '\((keys\.keys_\d+::[a-z ]+) = ([^()]+(?:\(\d+,\d+\))?)\)', '(\2 = \1)', 'g');
	RETURN NEXT;
END
$$;
SELECT query, a.* FROM unnest(ARRAY[
	'SELECT n, p.id FROM seeker g JOIN people p USING (mood) WHERE n < 5',
	'SELECT n, p.id FROM seeker g LEFT JOIN people p USING (code)',
	'SELECT n, p.id FROM seeker g JOIN people p USING (born)',
	'SELECT n, p.id FROM seeker g JOIN people p USING (score)',
	'SELECT n, p.id FROM seeker g LEFT JOIN people p USING (name)',
	'SELECT n, p.id FROM seeker g JOIN people p USING (word)',
	'SELECT n, p.id FROM seeker g JOIN people p USING (big)',
	'SELECT n FROM seeker g WHERE NOT EXISTS (SELECT FROM people p WHERE p.mood = g.mood)',
	'SELECT n, p.id FROM seeker g LEFT JOIN people p ON p.id = g.id AND p.word > g.word || ''''',
	'SELECT n, p.id FROM seeker g LEFT JOIN people p ON p.big = g.big AND p.born <= g.born AND 9 / p.id < g.n AND p.word <> g.name',
	'SELECT n, p.id FROM seeker g LEFT JOIN people p ON p.big = g.big AND (p.id = g.id OR g.mood IS NULL)']) query, joined_alike(query) a;
-- Names of objects mean others there.
SELECT query, a.rows, a.same, a.batches FROM unnest(ARRAY['SELECT n, p.id FROM seeker g LEFT JOIN people p ON p.tbl = g.tbl',
	'SELECT n, p.id FROM seeker g LEFT JOIN people p ON p.big = g.big AND p.tbl <> g.tbl']) query, joined_alike(query) a;
-- With use_remote_estimate the remote server compares, as with postgres_fdw.
ALTER FOREIGN TABLE people OPTIONS (ADD use_remote_estimate 'true');
\set VERBOSITY sqlstate
SELECT n, p.id FROM seeker g JOIN people p USING (code) ORDER BY n LIMIT 1;
\set VERBOSITY default
ALTER SERVER loopback OPTIONS (DROP batched_lookups, DROP fdw_tuple_cost);
DROP FUNCTION joined_alike;
DROP FOREIGN TABLE people;
DROP TABLE seeker, remote.people;
DROP TYPE remote.mood;
