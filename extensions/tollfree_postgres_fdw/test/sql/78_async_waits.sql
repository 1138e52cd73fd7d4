-- What an Append of asynchronous scans waits for.
DO $$
BEGIN
	EXECUTE format('CREATE SERVER async_3 FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, async_capable ''true'')',
				   server_options());
	CREATE USER MAPPING FOR PUBLIC SERVER async_3 OPTIONS (password_required 'false');
END
$$;
SET statement_timeout = '60s';

-- a partition that is pruned while its rows are in the air, and one on the same server
CREATE TABLE remote.wide_1 AS
SELECT 1 AS part, repeat('x', 10000) AS fill FROM generate_series(1, 300);
CREATE TABLE remote.wide_2 AS
SELECT 2 AS part, repeat('x', 10000) AS fill FROM generate_series(1, 300);
CREATE TABLE wides (part int, fill text) PARTITION BY LIST (part);
CREATE FOREIGN TABLE wide_1 PARTITION OF wides FOR VALUES IN (1)
	SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE wide_2 PARTITION OF wides FOR VALUES IN (2)
	SERVER async_1 OPTIONS (schema_name 'remote');
SET tollfree_postgres_fdw.direct_results = off;
SELECT p, length(w.fill)
FROM (VALUES (1), (2), (1)) v (p), LATERAL (SELECT * FROM wides WHERE part = v.p LIMIT 1) w;
RESET tollfree_postgres_fdw.direct_results;

-- a row whose conversion reads all that is in the air, while a scan is waited for
CREATE FUNCTION number_of(word text) RETURNS int
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
	RETURN word::int;
EXCEPTION WHEN invalid_text_representation THEN
	RETURN NULL;
END
$$;
CREATE VIEW remote.slow_word AS SELECT '1' AS word FROM pg_sleep(1);
CREATE VIEW remote.quick_word AS SELECT 'two' AS word;
CREATE FOREIGN TABLE slow_word (word text) SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE quick_word (word text) SERVER async_2 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE third_word (word text) SERVER async_3
	OPTIONS (schema_name 'remote', table_name 'quick_word');
WITH words AS MATERIALIZED (
	SELECT number_of(word) AS n FROM slow_word
	UNION ALL SELECT number_of(word) FROM quick_word
	UNION ALL SELECT number_of(word) FROM third_word
	WHERE word <> (SELECT 'one' FROM pg_sleep(0.5))
)
SELECT n FROM words ORDER BY n;

-- nothing is waited for while there is a row
CREATE VIEW remote.late_word AS SELECT 'late' AS word FROM pg_advisory_xact_lock(78);
CREATE FOREIGN TABLE late_word (word text) SERVER async_1 OPTIONS (schema_name 'remote');
SELECT pg_advisory_lock(78);
BEGIN;
DECLARE c CURSOR FOR
SELECT word FROM late_word
UNION ALL SELECT word FROM quick_word
UNION ALL SELECT word FROM third_word WHERE word <> (SELECT 'one' FROM pg_sleep(0.5));
FETCH 2 FROM c;
SELECT pg_advisory_unlock(78);
FETCH 2 FROM c;
COMMIT;

-- a scan that begins again while some of its rows are here and others in the air
CREATE VIEW remote.late_1 AS
SELECT 1 AS part, 1 AS i, 'a'::text AS fill FROM pg_sleep(0.5);
CREATE VIEW remote.late_2 AS
SELECT 2 AS part, g AS i, repeat('x', 900) AS fill FROM generate_series(2, 1001) g
WHERE pg_sleep(CASE WHEN g = 600 THEN 1 ELSE 0 END) IS NOT NULL;
CREATE TABLE lates (part int, i int, fill text) PARTITION BY LIST (part);
CREATE FOREIGN TABLE late_1 PARTITION OF lates FOR VALUES IN (1)
	SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE late_2 PARTITION OF lates FOR VALUES IN (2)
	SERVER async_2 OPTIONS (schema_name 'remote');
ANALYZE late_1, late_2;
CREATE FUNCTION same(a int, b int, fill text) RETURNS bool
LANGUAGE plpgsql IMMUTABLE
AS 'BEGIN RETURN a = b AND fill IS NOT NULL; END';
CREATE TEMP TABLE wanted AS SELECT k FROM (VALUES (1), (700), (2), (1), (1001)) v (k);
SET work_mem = '64kB';
SET enable_material = off;
EXPLAIN (COSTS OFF)
SELECT k FROM wanted WHERE EXISTS (SELECT FROM lates WHERE same(i, k, fill));
SELECT k FROM wanted WHERE EXISTS (SELECT FROM lates WHERE same(i, k, fill));
RESET work_mem;
SELECT k FROM wanted WHERE EXISTS (SELECT FROM lates WHERE same(i, k, fill));
RESET enable_material;
DROP TABLE wanted, lates;
DROP FUNCTION same;

-- rows that were read for the sake of another scan, which is not read to its end
CREATE VIEW remote.lost_slow AS
SELECT i, 'slow'::text AS word FROM pg_sleep(1), generate_series(1, 50) i;
CREATE VIEW remote.lost_quick AS
SELECT i, 'quick'::text AS word FROM pg_sleep(0.1), generate_series(1, 3) i;
CREATE VIEW remote.lost_wide AS
SELECT i, repeat('x', 20000) AS word FROM generate_series(1, 300) i;
CREATE FOREIGN TABLE lost_slow (i int, word text) SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE lost_quick (i int, word text) SERVER async_2 OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE lost_wide (i int, word text) SERVER async_1 OPTIONS (schema_name 'remote');
CREATE FUNCTION always(word text) RETURNS bool
LANGUAGE plpgsql
AS 'BEGIN RETURN true; END';
CREATE FUNCTION never(i int, word text) RETURNS bool
LANGUAGE plpgsql
AS 'BEGIN RETURN word IS NULL; END';
SET tollfree_postgres_fdw.direct_results = off;
WITH words AS MATERIALIZED (
	SELECT i, word FROM lost_slow
	UNION ALL SELECT i, word FROM lost_quick
	WHERE never(i, (SELECT word FROM lost_wide WHERE always(word) LIMIT 1))
	UNION ALL SELECT 0, 'local' FROM pg_sleep(0.3)
)
SELECT word, count(*) FROM words GROUP BY word ORDER BY word;
RESET tollfree_postgres_fdw.direct_results;

-- a scan that takes turns with another one, beside one of postgres_fdw that waits
DO $$
BEGIN
	EXECUTE format('CREATE SERVER stock_async FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s, async_capable ''true'')',
				   server_options());
END
$$;
CREATE USER MAPPING FOR PUBLIC SERVER stock_async OPTIONS (password_required 'false');
CREATE FOREIGN TABLE late_stock (word text) SERVER stock_async OPTIONS (schema_name 'remote', table_name 'late_word');
CREATE FOREIGN TABLE quick_again (word text) SERVER async_2 OPTIONS (schema_name 'remote', table_name 'quick_word');
SELECT pg_advisory_lock(78);
BEGIN;
DECLARE c CURSOR FOR
SELECT word FROM late_stock
UNION ALL SELECT word FROM quick_word
UNION ALL SELECT word FROM quick_again;
FETCH 2 FROM c;
SELECT pg_advisory_unlock(78);
FETCH 2 FROM c;
COMMIT;
-- an answer that arrives while others are asked
SELECT pg_advisory_lock(78);
BEGIN;
DECLARE c CURSOR FOR
SELECT word FROM late_stock
UNION ALL SELECT word FROM quick_word
UNION ALL SELECT word FROM third_word WHERE word <> (SELECT 'one' FROM pg_sleep(0.5));
FETCH 2 FROM c;
SELECT pg_advisory_unlock(78);
FETCH 2 FROM c;
COMMIT;
-- a row that is looked at by way of postgres_fdw's connection, which is waited for
CREATE FOREIGN TABLE stock_quick (word text) SERVER stock_async OPTIONS (schema_name 'remote', table_name 'quick_word');
CREATE FUNCTION looked_up(word text) RETURNS bool
LANGUAGE plpgsql
AS 'BEGIN PERFORM s.word FROM stock_quick s; RETURN true; END';
SELECT word FROM stock_quick
UNION ALL SELECT word FROM quick_word WHERE looked_up(word)
UNION ALL SELECT word FROM third_word WHERE word <> (SELECT 'one' FROM pg_sleep(0.5));
DROP SERVER stock_async CASCADE;

RESET statement_timeout;
DROP TABLE wides;
