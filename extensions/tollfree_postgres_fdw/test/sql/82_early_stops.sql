-- Whoever stops early gets no more rows than fetch_size, or than are used.
CREATE TABLE remote.events_seen AS SELECT i AS id, chr(97 + i % 3) AS kind, i % 500 AS g, timestamp '2026-01-01' + i * interval '1 s' AS at FROM generate_series(1, 20000) i;
ALTER TABLE remote.events_seen ADD PRIMARY KEY (id);
CREATE INDEX ON remote.events_seen (at);
ANALYZE remote.events_seen;
CREATE TABLE remote.few_seen AS SELECT * FROM remote.events_seen WHERE id <= 90;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER seen FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER seen OPTIONS (password_required 'false');
CREATE FOREIGN TABLE seen (id int, kind text, g int, at timestamp) SERVER seen OPTIONS (schema_name 'remote', table_name 'events_seen');
CREATE FOREIGN TABLE unknown_seen (id int, kind text, g int, at timestamp) SERVER seen OPTIONS (schema_name 'remote', table_name 'events_seen');
CREATE FOREIGN TABLE few_seen (id int, kind text, g int, at timestamp) SERVER seen OPTIONS (schema_name 'remote');
ANALYZE seen, few_seen;
CREATE FUNCTION mine(int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN $1 > 0; END';
CREATE TABLE here_seen AS SELECT i AS id FROM generate_series(1, 30) i;
CREATE TABLE none_seen (id int);
ANALYZE here_seen, none_seen;
-- Rows received and round trips of what is executed; the transaction's end is not waited for.
CREATE FUNCTION received(statement text) RETURNS text
LANGUAGE plpgsql
SET client_min_messages = warning
AS $$
DECLARE
	b record;
	a record;
BEGIN
	SELECT rows, round_trips INTO b FROM tollfree_postgres_fdw_statistics() WHERE server_name = 'seen';
	EXECUTE statement;
	SELECT rows, round_trips INTO a FROM tollfree_postgres_fdw_statistics() WHERE server_name = 'seen';
	DROP TABLE IF EXISTS into_this;
	RETURN format('%s rows, %s round trips', a.rows - b.rows, a.round_trips - b.round_trips);
END
$$;
-- The same of a query that PL/pgSQL executes, all of whose rows are asked for
CREATE FUNCTION of_query(query text) RETURNS text
LANGUAGE sql
AS $$SELECT received(format('CREATE TEMP TABLE into_this AS %s', query))$$;
CREATE FUNCTION of_block(statements text) RETURNS text
LANGUAGE sql
AS $$SELECT received(format('DO $b$DECLARE r record; c CURSOR FOR SELECT id FROM seen; n int; BEGIN %s END$b$', statements))$$;
-- What EXPLAIN says of how rows are asked for
CREATE FUNCTION explained_seen(query text) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'Remote SQL|Fetch Method|Remote Limit' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END
$$;
SELECT id FROM seen WHERE id = 1;
-- How many are used is known, and sent: below LIMIT, EXISTS, in an aggregate that the planner replaces, in SELECT INTO.
SELECT query, of_query(query) FROM unnest(ARRAY[
	'SELECT max(at) FROM seen WHERE kind = ''a''',
	'SELECT min(at), max(at) FROM seen',
	'SELECT EXISTS (SELECT 1 FROM seen WHERE kind = ''a'')',
	'SELECT NOT EXISTS (SELECT 1 FROM unknown_seen)',
	'SELECT id, EXISTS (SELECT 1 FROM seen s WHERE s.g > h.id) FROM here_seen h WHERE id < 4',
	'SELECT id FROM seen UNION ALL SELECT id FROM few_seen LIMIT 7',
	'SELECT id FROM unknown_seen UNION ALL SELECT id FROM few_seen OFFSET 2 LIMIT 5',
	'SELECT (SELECT id FROM seen WHERE id = 3)',
	'SELECT * FROM (SELECT id, at FROM seen OFFSET 0) s LIMIT 4']) query;
SELECT statements, of_block(statements) FROM unnest(ARRAY[
	'SELECT id INTO r FROM seen;',
	'SELECT id INTO r FROM unknown_seen WHERE kind = ''b'';',
	'SELECT id INTO STRICT r FROM unknown_seen WHERE id = 5;',
	'n := (SELECT id FROM seen WHERE id = 6);',
	'n := 2; PERFORM id FROM seen UNION ALL SELECT id FROM few_seen LIMIT n;']) statements;
SELECT explained_seen('SELECT max(at) FROM seen WHERE kind = ''a''');
-- It is not known: fetch_size rows come first, and hardly more than are used after that.
SELECT query, of_query(query) FROM unnest(ARRAY[
	'SELECT id FROM seen WHERE mine(id) LIMIT 10',
	'SELECT id FROM seen WHERE mine(id) LIMIT 150',
	'SELECT id FROM seen WHERE mine(id) LIMIT 1000',
	'SELECT id FROM unknown_seen WHERE mine(id) LIMIT 10',
	'SELECT EXISTS (SELECT 1 FROM seen WHERE mine(id))',
	'SELECT * FROM (SELECT id, rank() OVER (ORDER BY id) AS r FROM seen) s WHERE r <= 3',
	'WITH s AS MATERIALIZED (SELECT id, g FROM seen) SELECT * FROM s LIMIT 10',
	'SELECT id FROM seen ORDER BY g FETCH FIRST 3 ROWS WITH TIES']) query;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT of_query('SELECT s.id FROM seen s JOIN here_seen h ON s.id = h.id'), of_query('SELECT s.id FROM seen s JOIN unknown_seen u ON s.id = u.id AND mine(s.g + u.g) LIMIT 1');
RESET enable_hashjoin;
RESET enable_nestloop;
SELECT statements, of_block(statements) FROM unnest(ARRAY[
	'FOR r IN SELECT id FROM seen LOOP EXIT; END LOOP;',
	'FOR r IN SELECT id FROM unknown_seen LOOP n := coalesce(n, 0) + 1; EXIT WHEN n > 100; END LOOP;',
	'FOR r IN SELECT id FROM seen LOOP n := coalesce(n, 0) + 1; EXIT WHEN n > 2000; END LOOP;',
	'FOR r IN SELECT id FROM seen WHERE mine(id) LOOP n := coalesce(n, 0) + 1; END LOOP;',
	'SELECT id INTO r FROM seen WHERE mine(id);',
	'OPEN c; FETCH c INTO r; CLOSE c;',
	'OPEN c; MOVE FORWARD 50 FROM c; MOVE FORWARD 50 FROM c; CLOSE c;',
	'OPEN c; MOVE FORWARD 250 FROM c; MOVE FORWARD 250 FROM c; CLOSE c;']) statements;
ALTER FOREIGN TABLE seen OPTIONS (ADD fetch_size '1');
SELECT of_query('SELECT id FROM seen WHERE mine(id) LIMIT 1'), of_block('OPEN c; FETCH c INTO r; CLOSE c;'), of_query('SELECT id FROM seen WHERE mine(id) LIMIT 12');
ALTER FOREIGN TABLE seen OPTIONS (SET fetch_size '1000');
SELECT of_query('SELECT id FROM seen WHERE mine(id) LIMIT 1'), of_block('OPEN c; FETCH c INTO r; CLOSE c;');
ALTER FOREIGN TABLE seen OPTIONS (DROP fetch_size);
-- A hash join that is empty; one that reads one side before it knows whether it is
SELECT of_query('SELECT count(*) FROM seen JOIN none_seen USING (id)'), of_query('SELECT count(*) FROM seen s JOIN unknown_seen u ON s.g = u.g AND mine(u.id) AND u.id < 0');
-- All is read, in one round trip: by an aggregate or a sort, whatever the query is asked for; by a hashed subquery or an array
SELECT query, of_query(query) FROM unnest(ARRAY[
	'SELECT count(*) FROM seen WHERE g = 3 AND mine(id)',
	'SELECT id FROM seen WHERE g = 3 AND mine(id) ORDER BY md5(kind) LIMIT 1',
	'SELECT count(*) FROM here_seen WHERE id NOT IN (SELECT id FROM seen WHERE g < 50)',
	'SELECT array_length(ARRAY(SELECT id FROM seen WHERE g < 50), 1)',
	'SELECT count(*) FROM seen JOIN here_seen ON g = here_seen.id',
	'WITH s AS MATERIALIZED (SELECT id, g FROM seen WHERE g < 50) SELECT count(*) FROM s',
	'WITH s AS MATERIALIZED (SELECT id, g FROM seen WHERE g < 50) SELECT (SELECT count(*) FROM s), id FROM s LIMIT 1']) query;
SELECT of_block('SELECT count(*) INTO n FROM seen WHERE g = 3 AND mine(id);'), of_block('FOR r IN SELECT id FROM seen WHERE g = 3 AND mine(id) ORDER BY md5(kind) LOOP EXIT; END LOOP;');
-- A row whose computation fails is not met by who stops before it.
CREATE VIEW remote.failing_seen AS SELECT id, 100 / (id - 300) AS q FROM remote.events_seen ORDER BY id;
CREATE FOREIGN TABLE failing_seen (id int, q int) SERVER seen OPTIONS (schema_name 'remote');
UPDATE pg_class SET reltuples = 400, relpages = 3 WHERE relname = 'failing_seen';
SELECT id, q FROM failing_seen WHERE mine(id) LIMIT 1;
SELECT EXISTS (SELECT 1 FROM failing_seen WHERE mine(id) AND q < 0);
BEGIN;
DECLARE c CURSOR FOR SELECT id, q FROM failing_seen;
FETCH 2 FROM c;
COMMIT;
-- A LIMIT is not sent where it is switched off, where rows are locked, and where postgres_fdw sends one.
SET tollfree_postgres_fdw.remote_limits = off;
SELECT of_query('SELECT max(at) FROM seen WHERE kind = ''a'''), of_block('SELECT id INTO r FROM seen;');
RESET tollfree_postgres_fdw.remote_limits;
SELECT of_block('SELECT id INTO r FROM seen FOR UPDATE;');
SELECT explained_seen('SELECT EXISTS (SELECT id FROM seen ORDER BY at LIMIT 3), (SELECT count(*) FROM seen)');
-- A cursor goes on behind what was asked for first; a LIMIT that changes with the outer row is not sent.
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM seen ORDER BY id;
MOVE 130 FROM c;
FETCH 1 FROM c;
MOVE 1000 FROM c;
FETCH 1 FROM c;
MOVE ALL FROM c;
COMMIT;
SELECT h.id, array_length(ARRAY(SELECT s.id FROM (SELECT id FROM seen OFFSET 0) s LIMIT h.id), 1) FROM here_seen h WHERE h.id IN (2, 3, 29) ORDER BY 1 DESC;
PREPARE bounded(int) AS SELECT count(*) FROM (SELECT id FROM seen UNION ALL SELECT id FROM few_seen LIMIT $1) s;
SET plan_cache_mode = force_generic_plan;
EXECUTE bounded(3);
EXECUTE bounded(20050);
EXECUTE bounded(NULL);
EXECUTE bounded(-1);
RESET plan_cache_mode;
DEALLOCATE bounded;
SET client_min_messages = warning;
DROP SERVER seen CASCADE;
RESET client_min_messages;
DROP FUNCTION received, of_query, of_block, mine, explained_seen;
DROP TABLE here_seen, none_seen;
DROP VIEW remote.failing_seen;
DROP TABLE remote.events_seen, remote.few_seen;
