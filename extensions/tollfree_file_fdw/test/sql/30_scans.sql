-- Files read by the wrapper's own parser: what debug_require insists on.
\getenv abs_srcdir PG_ABS_SRCDIR
\getenv abs_builddir PG_ABS_BUILDDIR
\set text :abs_builddir '/results/numbers.txt'
\set csv :abs_builddir '/results/numbers.csv'
\set forced :abs_srcdir '/data/forced.csv'
CREATE VIEW rows AS
	SELECT i AS id, (i % 13)::int2 AS small, i * 10000000000 AS big,
		CASE WHEN i % 11 <> 0 THEN (i * 7 % 10007) / 100.0 END::numeric(12, 2) AS amount,
		i / 8.0::float8 AS ratio, (i % 50) / 4.0::float4 AS part, i % 3 = 0 AS ok,
		date '2000-01-01' + i AS day, timestamp '2000-01-01' + i * interval '1 hour' AS at,
		CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN E'tab\there' WHEN 2 THEN 'back\slash'
			WHEN 3 THEN E'"quoted",\nline' ELSE 'é' || i END AS name,
		('c' || i % 4)::char(4) AS code, ('t' || i % 6)::varchar(10) AS tag,
		md5(i::text)::uuid AS key
	FROM generate_series(1, 5000) i;
COPY (SELECT * FROM rows) TO :'text';
COPY (SELECT * FROM rows) TO :'csv' (FORMAT csv, HEADER);
\set columns 'id int, small int2, big int8, amount numeric(12, 2), ratio float8, part float4, ok bool, day date, at timestamp, name text, code char(4), tag varchar(10), key uuid'
SELECT make_pair('texts', :'columns', :'text', $$encoding 'UTF8'$$),
	make_pair('csvs', :'columns', :'csv', $$format 'csv', header 'match', encoding 'UTF8'$$),
	make_pair('both_forced', 'a text OPTIONS (force_null ''true'', force_not_null ''true''), b text OPTIONS (force_null ''true''), c text OPTIONS (force_not_null ''true''), d text',
			  :'forced', $$format 'csv'$$);
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.debug_require = 'scan';
SELECT relation, agree(format('SELECT * FROM %I', relation))
FROM unnest('{texts,csvs,both_forced}'::text[]) relation;
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT key, name FROM texts',
	'SELECT t FROM csvs t',
	'SELECT tableoid::regclass::text, name FROM texts OFFSET 4990',
	'SELECT x.id FROM texts x JOIN csvs y ON y.id = x.id + 4990 ORDER BY 1',
	'SELECT v, s.* FROM (VALUES (1), (2)) x (v), LATERAL (SELECT id, tag FROM texts WHERE id > v * 4998 LIMIT 3) s']) query;

-- Values are made of a row up to the column that somebody asks for, whenever that is, and wherever the row is kept.
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT x.key, y.name FROM texts x JOIN (SELECT id, name FROM csvs WHERE id % 400 = 1 OFFSET 0) y ON y.id = x.id ORDER BY 1',
	'SELECT x, y.key FROM texts x JOIN csvs y USING (id, key) WHERE x.amount > 99',
	'SELECT key, id FROM texts WHERE length(name) > 5 AND id % 100 = 3 ORDER BY at DESC',
	'SELECT t, id FROM texts t ORDER BY key LIMIT 20',
	'SELECT DISTINCT ON (tag) tag, id, t.name FROM csvs t ORDER BY tag, id DESC',
	'SELECT id, lag(name) OVER w, sum(amount) OVER w FROM texts WHERE small = 3 WINDOW w AS (PARTITION BY code ORDER BY id)',
	'SELECT code, array_agg(name ORDER BY id), (array_agg(t))[2] FROM texts t WHERE id < 30 GROUP BY code ORDER BY 1',
	'SELECT id, (SELECT max(y.id) FROM csvs y WHERE y.id < x.id AND y.tag = x.tag) FROM texts x WHERE id < 8',
	'SELECT x.name FROM texts x LEFT JOIN csvs y ON y.id = x.id + 4990 WHERE y.key IS NULL OFFSET 4985',
	'(SELECT id, name FROM texts EXCEPT SELECT id, name FROM csvs WHERE id < 4995) INTERSECT SELECT id, name FROM csvs ORDER BY 1',
	'SELECT ctid, id FROM texts WHERE id < 3',
	'SELECT xmin, id FROM texts WHERE id < 3']) query;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, name, key FROM ours.csvs WHERE id < 2000 OR name IS NULL;
MOVE 1024 FROM c;
FETCH 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ABSOLUTE 2 FROM c;
COMMIT;

-- Each kernel, where it runs, reads the same.
CREATE FUNCTION kernel_sum(kernel text) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM set_config('tollfree_file_fdw.debug_kernel', kernel, true);
	RETURN (SELECT md5(string_agg(t::text, '|')) FROM (SELECT * FROM ours.texts UNION ALL SELECT * FROM ours.csvs) t);
EXCEPTION WHEN invalid_parameter_value THEN
	RETURN (SELECT md5(string_agg(t::text, '|')) FROM (SELECT * FROM stock.texts UNION ALL SELECT * FROM stock.csvs) t);
END
$$;
SELECT count(DISTINCT kernel_sum(kernel)) FROM unnest('{scalar,avx2,avx512,neon,auto}'::text[]) kernel;

-- Conditions on batches
SET tollfree_file_fdw.debug_require = 'filter';
SELECT condition, agree(format('SELECT id, name FROM texts WHERE %1$s UNION ALL SELECT id, name FROM csvs WHERE %1$s',
							   condition))
FROM unnest(ARRAY[
	'id = 17', '17 > id', 'small <> 4', 'big BETWEEN 5 AND 30000000000', 'amount >= 99.995', 'amount = 7',
	'amount IS NULL', 'NOT amount < 50', 'ratio > 600', 'part = 2.25', 'ok', 'NOT ok', 'ok = false',
	$$day < '2000-01-20'$$, $$day >= timestamp '2013-09-08 12:00'$$, $$at > '2000-07-27 05:00'$$, $$at < date '2000-01-02'$$,
	$$name = 'back\slash'$$, $$name LIKE 'é499_'$$, $$name NOT LIKE '%a%' AND id > 4990$$, $$code = 'c1'$$,
	$$code IN ('c1', 'c3') AND id < 10$$, $$tag = 't5' AND small = 12$$, $$tag COLLATE "C" < 't1'$$,
	$$tag IN ('t1', NULL) AND id < 10$$, 'id NOT IN (1, 2, 3) AND id < 6', $$key = md5('77')::uuid$$, 'id > small AND id < 20',
	'id = 1 OR amount < 0.20 OR name IS NULL AND id > 4980', 'id = NULL', 'amount < 0.5 AND length(name) > 3'])
	condition;
SELECT shown_plan('SELECT * FROM ours.texts WHERE id > 4 AND length(name) = 3 AND amount < 5');
SELECT shown_plan('SELECT * FROM ours.csvs WHERE name LIKE ''a%''');

-- A condition that raises an error is not evaluated on rows that it would not see.
SELECT agree('SELECT id FROM texts WHERE id > 4990 AND 1 / (id - 5) > -1');
SELECT agree('SELECT id FROM texts WHERE id > 3 AND 1 / (id - 5) > -1');
CREATE VIEW ours.few WITH (security_barrier) AS SELECT id, name FROM ours.texts WHERE length(name) > 4;
CREATE FUNCTION leak(name text) RETURNS boolean LANGUAGE plpgsql COST 0.01
AS $$ BEGIN RAISE NOTICE 'saw %', name; RETURN true; END $$;
SELECT * FROM ours.few WHERE leak(name) AND id < 4;

-- A cast that keeps a value's bytes may still change how it is compared.
RESET tollfree_file_fdw.debug_require;
CREATE TEMP TABLE pairs AS SELECT i AS id, -i AS negative, 'a' || repeat(' ', i) AS one, 'a' || repeat(' ', 3 - i) AS other FROM generate_series(1, 3) i;
\set pairs :abs_builddir '/results/pairs.txt'
COPY pairs TO :'pairs';
SELECT make_pair('pairs', 'id int, negative int, one text, other varchar', :'pairs', $$format 'text'$$);
SELECT condition, agree(format('SELECT id FROM pairs WHERE %s', condition))
FROM unnest(ARRAY['one::bpchar = other::bpchar', 'one = other', 'negative::oid < id::oid', 'negative < id']) condition;
PREPARE padded(text) AS SELECT count(*) FROM ours.pairs WHERE one::bpchar = $1::bpchar;
SET plan_cache_mode = force_generic_plan;
EXECUTE padded('a');
RESET plan_cache_mode;
SET tollfree_file_fdw.debug_require = 'filter';

-- Parameters
PREPARE chosen(int, text) AS SELECT id, code FROM ours.texts WHERE id < $1 AND code = $2::char(4);
SET plan_cache_mode = force_generic_plan;
EXECUTE chosen(10, 'c1');
EXECUTE chosen(NULL, 'c1');
RESET plan_cache_mode;
SET tollfree_file_fdw.debug_require = 'filter';
SELECT count(*) FROM ours.texts WHERE length(name) = 3;
SET tollfree_file_fdw.push_filters = off;
SELECT id FROM ours.texts WHERE id = 3;
RESET tollfree_file_fdw.push_filters;
SET tollfree_file_fdw.debug_require = 'scan';
SET tollfree_file_fdw.fast_scan = off;
SELECT id FROM ours.texts WHERE id = 3;
RESET tollfree_file_fdw.fast_scan;
RESET tollfree_file_fdw.debug_require;

-- A parameter that the query does not come to is not evaluated: here the field of a record that has none.
CREATE FUNCTION count_as_assigned(is_assigned bool, side text) RETURNS bigint LANGUAGE plpgsql
AS $$
DECLARE
	r record;
BEGIN
	PERFORM set_config('search_path', side || ', public', true);
	IF is_assigned THEN
		SELECT 3 AS small INTO r;
	END IF;
	RETURN (SELECT count(*) FROM texts WHERE id > 10000 AND small = r.small);
END
$$;
SELECT is_assigned, count_as_assigned(is_assigned, 'ours') FROM (VALUES (true), (false), (true)) t (is_assigned);
DISCARD PLANS;
SELECT is_assigned, count_as_assigned(is_assigned, 'stock') FROM (VALUES (true), (false), (true)) t (is_assigned);
-- One that it does come to is pushed, if it has a value.
CREATE FUNCTION count_small(small int) RETURNS bigint LANGUAGE plpgsql
AS $$
DECLARE
	n bigint;
BEGIN
	SELECT count(*) INTO n FROM ours.texts t WHERE t.id > 10 AND t.small = count_small.small;
	RETURN n;
END
$$;
SET plan_cache_mode = force_generic_plan;
SET tollfree_file_fdw.debug_require = 'filter';
SELECT count_small(3), count_small(NULL);
RESET tollfree_file_fdw.debug_require;
RESET plan_cache_mode;

-- With lazy no value is converted where only rows are counted.
SELECT agree('SELECT count(*) FROM broken'), agree('SELECT count(*) FROM broken WHERE id < 3');
ALTER FOREIGN TABLE ours.broken OPTIONS (ADD lazy 'true');
SELECT count(*) FROM (SELECT FROM ours.broken LIMIT 2) t;
SELECT count(*) FROM ours.broken;
SELECT agree('SELECT count(*) FROM broken WHERE id < 3'), agree('SELECT count(broken) FROM broken');
ALTER FOREIGN TABLE ours.broken OPTIONS (DROP lazy);
-- Nor is one of a row that the conditions have ruled out; of all others every value is.
\set lazy :abs_builddir '/results/lazy.csv'
COPY (SELECT CASE i WHEN 2999 THEN ' 1' ELSE (i % 2)::text END, CASE WHEN i % 2 = 1 THEN i || '.50' WHEN i < 5000 THEN 'x' END, 'n' || i
	  FROM generate_series(1, 5000) i) TO :'lazy' (FORMAT csv);
SELECT make_pair('lazy', 'good int, amount numeric(8, 2), name text', :'lazy', $$format 'csv'$$);
SELECT agree('SELECT sum(amount) FROM lazy WHERE good = 1'), agree('SELECT name, amount FROM lazy WHERE good = 1');
ALTER FOREIGN TABLE ours.lazy OPTIONS (ADD lazy 'true');
SET tollfree_file_fdw.debug_require = 'filter';
SELECT aggregates, l.* FROM unnest('{on,off}'::text[]) aggregates, LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false)) s (setting),
	LATERAL (SELECT setting, outcome('SELECT count(*), count(amount), sum(amount), max(name COLLATE "C"), min(amount) FILTER (WHERE name <> ''n1'') FROM lazy WHERE good = 1', 'ours')) l;
RESET tollfree_file_fdw.push_aggregates;
SELECT count(*), sum(amount), max(name COLLATE "C") FROM (SELECT name, amount FROM ours.lazy WHERE good = 1 AND length(name) > 2 OFFSET 0) t;
SELECT query, outcome(query, 'ours') FROM unnest(ARRAY[
	'SELECT name FROM lazy WHERE good = 0 LIMIT 2', 'SELECT * FROM lazy WHERE good = 0', 'SELECT sum(amount) FROM lazy WHERE good = 0',
	'SELECT name FROM lazy WHERE amount = 1.50', 'SELECT good, sum(amount) FROM lazy WHERE good > 0 AND amount > 9 AND name <> ''n11'' GROUP BY good',
	'SELECT count(*), max(amount) FROM lazy WHERE good > 0 AND (amount > 9 OR name IS NULL) AND length(name) > 4', 'SELECT sum(amount) FROM lazy']) query;
-- They take turns in the order that EXPLAIN shows, whoever evaluates them: cheap ones first, but behind those of a security barrier.
\set turns :abs_builddir '/results/turns.csv'
COPY (VALUES ('x', '2', 'long'), ('1', '1', 'a')) TO :'turns' (FORMAT csv);
CREATE FOREIGN TABLE ours.turns (a int, b int, c varchar(1)) SERVER ours OPTIONS (filename :'turns', format 'csv', lazy 'true');
CREATE VIEW ours.barrier WITH (security_barrier) AS SELECT * FROM ours.turns WHERE b IN (1, 3, 5, 7, 9, 11, 13, 15, 17, 19);
SELECT shown_plan('SELECT count(*) FROM ours.turns WHERE a IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AND b = 1');
SELECT query, aggregates, result
FROM unnest(ARRAY['SELECT count(*) FROM turns WHERE a IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10) AND b = 1', 'SELECT count(*) FROM barrier WHERE c LIKE ''a%''']) query,
	unnest('{on,off}'::text[]) aggregates, LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false)) s (setting),
	LATERAL (SELECT setting, outcome(query, 'ours') AS result) r;
RESET tollfree_file_fdw.push_aggregates;
RESET tollfree_file_fdw.debug_require;

-- Records and values that the wrapper's parser leaves to COPY's
CREATE FUNCTION agree_on(content text, columns text, options text, query text DEFAULT 'SELECT * FROM odd') RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	path text := current_setting('data_directory') || '/tollfree_file_fdw_odd';
	result text;
BEGIN
	EXECUTE format('COPY (SELECT %L) TO PROGRAM %L', replace(encode(convert_to(content, 'UTF8'), 'base64'), E'\n', ''),
				   format('base64 -d > ''%s''', path));
	DROP FOREIGN TABLE IF EXISTS stock.odd, ours.odd;
	PERFORM make_pair('odd', columns, path, options);
	result := agree(query);
	DROP FOREIGN TABLE stock.odd, ours.odd;
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', format('cat > /dev/null; rm ''%s''', path));
	RETURN result;
END
$$;
SET client_min_messages = warning;
SELECT * FROM (VALUES
	('values', agree_on(E' 1e1 ,1e3,today\n', 'a numeric(8,2), b float8, c text', $$format 'csv'$$)),
	('too large', agree_on(E'1\n2\n40000\n', 'a int2', $$format 'csv'$$)),
	('rounded', agree_on(E'1.005\n-2.675\n', 'a numeric(4,2)', $$format 'csv'$$)),
	('overflow', agree_on(E'1\n99.996\n', 'a numeric(4,2)', $$format 'csv'$$)),
	('no header', agree_on('', 'a int', $$format 'csv', header 'match'$$)),
	('no header to aggregate', agree_on('', 'a int', $$format 'csv', header 'match'$$, 'SELECT count(a) FROM odd')),
	('a marker for a header', agree_on(E'\\.\n', 'a int', $$format 'text', header 'match'$$)),
	('line end', agree_on(E'1\n2\r\n3\n', 'a int', $$format 'text'$$)),
	('line number', agree_on(E'"1\n\n",1\n"2\n",x\n', 'a text, b int', $$format 'csv'$$)),
	('missing', agree_on(E'1,2\n3\n', 'a int, b int', $$format 'csv'$$)),
	('extra', agree_on(E'1,2\n3,4,5\n', 'a int, b int', $$format 'csv'$$)),
	('long', agree_on('1,' || repeat('x', 200) || E'\n', 'a int, b int', $$format 'csv'$$)),
	('quote', agree_on(E'1,"2\n3', 'a int, b text', $$format 'csv'$$)),
	('marker', agree_on(E'1\n\\.\n2\n', 'a int', $$format 'text'$$)),
	('octal', agree_on(E'\\061\n\\x32\n', 'a int', $$format 'text'$$)),
	('header', agree_on(E'b,a\n1,2\n', 'a int, b int', $$format 'csv', header 'match'$$)),
	('domain', agree_on(E'1\n\n', 'a information_schema.cardinal_number', $$format 'csv'$$)),
	('order of errors', agree_on(E'1,1\n0,2\n3,x\n', 'a int, b int', $$format 'csv'$$, 'SELECT 1 / a, b FROM odd')),
	('encoding', agree_on(E'é\n', 'a text', $$format 'csv', encoding 'LATIN1'$$)),
	('no rows', agree_on('', 'a text', $$format 'csv'$$))) t (name, result);
RESET client_min_messages;

-- A file that shrinks or is written to while it is read, and one that grows
\set VERBOSITY sqlstate
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM ours.texts;
FETCH 1 FROM c;
COPY (SELECT * FROM rows LIMIT 10) TO :'text';
MOVE ALL FROM c;
ROLLBACK;
COPY (SELECT * FROM rows) TO :'text';
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM ours.texts;
FETCH 1 FROM c;
COPY (SELECT * FROM rows) TO :'text';
MOVE ALL FROM c;
ROLLBACK;
\set VERBOSITY default
\set append 'cat >> ''' :text ''''
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM ours.texts;
FETCH 1 FROM c;
COPY (SELECT * FROM rows LIMIT 10) TO PROGRAM :'append';
MOVE ALL FROM c;
ROLLBACK;
SELECT count(*) FROM ours.texts;
COPY (SELECT * FROM rows) TO :'text';

-- A longer one that is written over it is another file.
\set VERBOSITY sqlstate
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM ours.texts;
FETCH 1 FROM c;
COPY (SELECT id, small, big, amount, ratio, part, ok, day, at, reverse(name), code, tag, key FROM rows UNION ALL SELECT * FROM rows) TO :'text';
MOVE ALL FROM c;
ROLLBACK;
\set VERBOSITY default
COPY (SELECT * FROM rows) TO :'text';

-- The kernel's files do not say how long they are.
SELECT make_pair('version', 'version text', '/proc/version', $$delimiter E'\x01'$$),
	make_pair('cpus', 'cpus text', '/sys/devices/system/cpu/possible', $$delimiter E'\x01'$$);
SELECT agree('SELECT * FROM version'), agree('SELECT count(*) FROM version'), agree('SELECT * FROM cpus');
SELECT shown_plan('SELECT * FROM ours.version', 'analyze, costs off, timing off, summary off, buffers off');

-- A file that is opened anew in a subtransaction remains open when that is rolled back.
SET enable_material = off;
SET enable_memoize = off;
BEGIN;
DECLARE c CURSOR FOR SELECT v, s.id FROM generate_series(1, 6) v, LATERAL (SELECT id FROM ours.texts WHERE id > v LIMIT 2) s;
FETCH 1 FROM c;
SAVEPOINT kept;
FETCH 2 FROM c;
RELEASE kept;
FETCH 2 FROM c;
SAVEPOINT rolled_back;
FETCH 2 FROM c;
ROLLBACK TO rolled_back;
FETCH 1 FROM c;
ROLLBACK;
RESET enable_material;
RESET enable_memoize;
