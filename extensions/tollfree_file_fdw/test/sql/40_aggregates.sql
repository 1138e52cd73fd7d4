-- Aggregates computed in the scan
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT list, agree(format('SELECT %1$s FROM texts', list)), agree(format('SELECT %1$s FROM csvs WHERE id %% 1 = 0 OR true', list)),
	agree(format('SELECT %1$s FROM csvs WHERE id > 4000 AND amount < 70', list)),
	agree(format('SELECT %1$s FROM texts WHERE id < 0', list))
FROM unnest(ARRAY[
	'count(*)', 'count(amount), count(name)', 'sum(id), sum(small), sum(big)', 'avg(id), avg(small), avg(big)',
	'sum(amount), avg(amount), min(amount), max(amount)', 'sum(amount * (1 - amount)), avg(amount + id)',
	'sum(id * small), sum(id - 1)', 'sum(ratio), avg(ratio), min(ratio), max(ratio)', 'sum(part), avg(part), min(part), max(part)',
	'min(day), max(day), min(at), max(at)', 'min(tag COLLATE "C"), max(tag COLLATE "C")', 'count(*) FILTER (WHERE ok), sum(amount) FILTER (WHERE small > 6)',
	'pg_typeof(sum(part)), pg_typeof(sum(id)), pg_typeof(avg(id))', 'sum(amount) / count(*) + max(id)']) list;
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT code, count(*), sum(amount) FROM texts GROUP BY code ORDER BY code',
	'SELECT tag, small, avg(amount) FROM csvs WHERE ok GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT amount IS NULL, count(*) FROM texts GROUP BY amount ORDER BY amount LIMIT 20 OFFSET 800',
	'SELECT ok, day, count(*) FROM texts WHERE id < 50 GROUP BY ok, day ORDER BY 1, 2',
	'SELECT key FROM texts WHERE id < 20 GROUP BY key ORDER BY key',
	'SELECT code, sum(id) FROM texts GROUP BY code HAVING sum(id) > (SELECT min(id) FROM csvs) AND count(*) > 3 ORDER BY 1',
	'SELECT upper(code) || ''!'', sum(id) + 1 FROM texts GROUP BY code ORDER BY 1',
	'SELECT x.code, x.n, y.n FROM (SELECT code, count(*) n FROM texts GROUP BY code) x JOIN (SELECT code, count(*) n FROM csvs GROUP BY code) y USING (code) ORDER BY 1',
	'SELECT place, code, count(*), sum(id) FROM (SELECT ''here'' AS place, * FROM texts) t GROUP BY place, code ORDER BY place, code',
	'SELECT code, place || tag, max(tag COLLATE "C") || place FROM (SELECT NULL::text AS place, * FROM texts) t GROUP BY code, tag, place HAVING count(*) > 2 ORDER BY 1, 2',
	'SELECT place, small FROM (SELECT 1 AS place, * FROM texts) t WHERE id < 0 GROUP BY place, small',
	'SELECT v, (SELECT sum(id) FROM texts) FROM (VALUES (1), (2)) x (v)',
	'SELECT tag, sum(id) FROM texts GROUP BY tag ORDER BY 2 DESC LIMIT 2']) query;
RESET tollfree_file_fdw.debug_require;

-- What is left to PostgreSQL
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT count(DISTINCT code), string_agg(code, '','' ORDER BY id) FILTER (WHERE id < 5) FROM texts',
	'SELECT stddev(amount) FROM texts',
	'SELECT place, count(*) FROM (SELECT ''here'' AS place, * FROM texts) t WHERE id < 0 GROUP BY place',
	'SELECT place, count(*) FROM (SELECT ''here'' AS place, * FROM texts) t GROUP BY place',
	'SELECT place, code, sum(id) FROM (SELECT 1 AS place, * FROM texts UNION ALL SELECT 2, * FROM csvs) t WHERE id > 10 GROUP BY place, code ORDER BY 1, 2',
	'SELECT code, small, count(*) FROM texts GROUP BY ROLLUP (code, small) ORDER BY 1, 2',
	'SELECT sum(amount) FROM texts WHERE length(name) > 3',
	'SELECT part, count(*) FROM texts GROUP BY part ORDER BY 1',
	'SELECT count(*) FROM texts WHERE random() < 2',
	'SELECT count(*) FROM texts t GROUP BY t ORDER BY 1 LIMIT 1',
	'SELECT sum(id * 1000000) FROM texts',
	'SELECT sum(big * 1000000000) FROM texts']) query;

-- Where others have given wrong answers
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT avg(amount), stddev(amount), variance(amount), sum(amount) FROM texts',
	'SELECT code, avg(ratio), stddev(ratio), sum(ratio) FROM texts GROUP BY code ORDER BY 1',
	'SELECT count(*), sum(id) FROM texts WHERE current_setting(''none.such'', true) = ''on''',
	'SELECT count(*), sum(id) FROM texts WHERE id > 5 AND 1 = (SELECT 2)',
	'SELECT small, count(*) FROM texts WHERE current_user = ''nobody'' GROUP BY small',
	'SELECT count(*) FROM texts HAVING 1 = (SELECT 2)',
	'SELECT v, (SELECT sum(id + v) FROM texts) FROM (VALUES (1), (2)) x (v)',
	'SELECT v, (SELECT sum(id) FROM texts WHERE id < v) FROM (VALUES (10), (20)) x (v)',
	'SELECT v, (SELECT sum(id) FILTER (WHERE id < v) FROM texts) FROM (VALUES (10), (20)) x (v)',
	'SELECT sum(v) FROM (VALUES (1), (2)) x (v) WHERE v < (SELECT count(*) FROM texts WHERE id <= v)',
	'SELECT sum(DISTINCT small), count(*), sum(small) FROM texts',
	'SELECT id % 3, sum(amount) FROM texts GROUP BY 1 ORDER BY 1',
	'SELECT small, code, sum(amount) FROM texts GROUP BY code, small HAVING sum(amount) > 2500 ORDER BY 1, 2',
	'SELECT code AS tag, tag AS code, count(*) FROM texts GROUP BY tag, code ORDER BY 1, 2, 3 LIMIT 9']) query;
SELECT shown_plan('SELECT code, sum(amount), count(*) FROM ours.texts WHERE id > 5 GROUP BY code HAVING count(*) > 1');
SELECT shown_plan('SELECT sum(id * 1000000) FROM ours.texts WHERE id < 100', 'analyze, costs off, timing off, summary off, buffers off');
SET client_min_messages = warning;
SELECT * FROM (VALUES
	('NaN', agree_on(E'1.5\nNaN\n', 'a numeric(4,2)', $$format 'csv'$$, 'SELECT sum(a), max(a) FROM odd')),
	('infinity', agree_on(E'2024-01-01\ninfinity\n', 'a date', $$format 'csv'$$, 'SELECT min(a), max(a) FROM odd')),
	('many decimals', agree_on(E'0\n0\n', 'a numeric(18,18)', $$format 'csv'$$, 'SELECT sum(a * a), sum(a * a * a * a * a), min(a * a * a * a * a * a * a * a) FROM odd')),
	('small', agree_on(E' 0.123456789012345678\n 0.000000000000000001\n', 'a numeric(18,18)', $$format 'csv'$$, 'SELECT sum(a), count(*) FILTER (WHERE a > 0.000000000000000001) FROM odd')),
	('float', agree_on(E'1e308\n1e308\n', 'a float8', $$format 'csv'$$, 'SELECT sum(a) FROM odd')),
	('bad value', agree_on(E'1,1\n2,x\n', 'a int, b int', $$format 'csv'$$, 'SELECT sum(a), sum(b) FROM odd')),
	('first error', agree_on(E'1\n2147483647\nx\n', 'a int', $$format 'csv'$$, 'SELECT sum(a + 1) FROM odd')),
	('no rows', agree_on(E'1,NaN\n', 'a int, b numeric(4,2)', $$format 'csv'$$, 'SELECT a, max(b) FROM odd WHERE a = 2 GROUP BY a')),
	('padded keys', agree_on(E'a ,1\na,2\n" a",4\nab ,8\n', 'a char(3), b int', $$format 'csv'$$, 'SELECT a, sum(b), count(*) FROM odd GROUP BY a ORDER BY 2')),
	('varying keys', agree_on(E'a ,1\na,2\n" a",4\na ,8\n', 'a varchar(3), b int', $$format 'csv'$$, 'SELECT a, sum(b), count(*) FROM odd GROUP BY a ORDER BY 2')),
	('null keys', agree_on(E',1\n"",2\n,4\n', 'a text, b int', $$format 'csv'$$, 'SELECT a, sum(b), count(*), count(a) FROM odd GROUP BY a ORDER BY 2')),
	('order of a sum', agree_on(E'1e16\n1\n-1e16\n1\n', 'a float8', $$format 'csv'$$, 'SELECT sum(a), avg(a) FROM odd')),
	('scale', agree_on(E'1.5\n2.25\n', 'a numeric(9,4)', $$format 'csv'$$, 'SELECT sum(a), avg(a), sum(a * a), sum(a * (1 - a)), min(a), max(a) FROM odd')),
	('one group', agree_on(E'2,NaN\n2,1\n', 'a int, b numeric(4,2)', $$format 'csv'$$, 'SELECT a, max(b) FROM odd WHERE a = 2 GROUP BY a')),
	('bad record', agree_on(E'1,1\n2\n', 'a int, b int', $$format 'csv'$$, 'SELECT count(a) FROM odd')),
	('bad column elsewhere', agree_on(E'1,x\n2,y\n', 'a int, b int', $$format 'csv'$$, 'SELECT sum(a) FROM odd')),
	('first row', agree_on(E'1\n2\nx\n', 'a int', $$format 'csv'$$, 'SELECT min(a) FROM odd WHERE a = 2')),
	('first group', agree_on(E'5\n' || repeat(E'6\n', 5000) || E'x\n', 'a int', $$format 'csv'$$, 'SELECT a FROM odd WHERE a = 5 GROUP BY a LIMIT 1')),
	('first group exists', agree_on(E'5\n' || repeat(E'6\n', 5000) || E'x\n', 'a int', $$format 'csv'$$, 'SELECT EXISTS (SELECT a FROM odd WHERE a = 5 GROUP BY a OFFSET 0)')),
	('first group of two', agree_on(E'5,1\n' || repeat(E'6,1\n', 5000) || E'5,x\n', 'a int, b int', $$format 'csv'$$, 'SELECT b, a FROM odd WHERE a = 5 AND b = 1 GROUP BY a, b LIMIT 1')),
	('every row of a group', agree_on(E'5\n' || repeat(E'6\n', 5000) || E'x\n', 'a int', $$format 'csv'$$, 'SELECT a, count(*) FROM odd WHERE a = 5 GROUP BY a LIMIT 1')),
	('every row', agree_on(E'1\n2\nx\n', 'a int', $$format 'csv'$$, 'SELECT min(a), count(*) FROM odd WHERE a = 2')),
	('asked for', agree_on(E' 16\n+1000\n 7 \n', 'a int', $$format 'csv'$$, 'SELECT sum(a), count(*) FROM odd WHERE a > 6'))) t (name, result);
RESET client_min_messages;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT sum(length(name)) FROM ours.texts;
SELECT sum(id * 1000000) FROM ours.texts WHERE id < 4000;
SET tollfree_file_fdw.debug_require = 'filter';
SELECT sum(id) FROM ours.texts;
SELECT sum(id) FROM ours.texts WHERE id < 10;
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT sum(id) FROM ours.texts;
SET tollfree_file_fdw.debug_require = 'scan';
SELECT sum(id) FROM ours.texts;
SET tollfree_file_fdw.debug_require = 'aggregate';
SET tollfree_file_fdw.push_aggregates = off;
SELECT count(id) FROM ours.texts;
RESET tollfree_file_fdw.push_aggregates;
RESET tollfree_file_fdw.debug_require;

-- What a CHECK does it does once for each value, also where an aggregation starts over; wherever in a type the CHECK is.
CREATE TABLE checked (v int);
CREATE FUNCTION note(int) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO checked VALUES ($1); RETURN true; END$$;
CREATE DOMAIN noted AS int CHECK (note(VALUE));
CREATE DOMAIN noted_too AS noted CHECK (VALUE > 0);
CREATE DOMAIN unnoted AS int CHECK (VALUE > 0);
CREATE DOMAIN noted_inside AS int CHECK (VALUE::noted > 0);
CREATE TYPE noted_pair AS (a int, b noted);
CREATE TYPE noted_range AS RANGE (subtype = noted);
CREATE FUNCTION count_checks(query text, side text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	result text[];
BEGIN
	DELETE FROM checked;
	result := outcome(query, side);
	RETURN format('%s, %s checks', result, (SELECT count(*) FROM checked));
END
$$;
\getenv abs_builddir PG_ABS_BUILDDIR
\set checked :abs_builddir '/results/checked.csv'
COPY (VALUES ('1', '(1,1)', '{1}', '[1,2)', '{[1,2)}', '1', '1', '1'), ('2', '(2,2)', '{2}', '[2,3)', '{[2,3)}', '2', 'NaN', '2')) TO :'checked' (FORMAT csv);
SELECT make_pair('checks', 'a noted_too, b noted_pair, c noted[], d noted_range, e noted_multirange, f unnoted, g float8, h noted_inside', :'checked', $$format 'csv'$$);
SELECT value, count_checks(query, 'ours'), count_checks(query, 'ours') = count_checks(query, 'stock') AS agree
FROM unnest('{a,b,c,d,e,f,h}'::text[]) value, format('SELECT count(%s), sum(g) FROM checks', value) query;
SELECT shown_plan('SELECT count(a), sum(g) FROM ours.checks', 'analyze, costs off, timing off, summary off, buffers off');
SELECT shown_plan('SELECT count(f), sum(g) FROM ours.checks', 'analyze, costs off, timing off, summary off, buffers off');
-- The constraint comes when the query has been planned.
PREPARE planned AS SELECT count(f), sum(g) FROM ours.checks;
EXECUTE planned;
ALTER DOMAIN unnoted ADD CHECK (note(VALUE));
DELETE FROM checked;
EXECUTE planned;
SELECT count(*) FROM checked;
DEALLOCATE planned;
DROP FOREIGN TABLE ours.checks, stock.checks;
DROP FUNCTION count_checks;
DROP TYPE noted_range, noted_pair;
DROP DOMAIN noted_inside, unnoted, noted_too, noted;
DROP FUNCTION note;
DROP TABLE checked;
