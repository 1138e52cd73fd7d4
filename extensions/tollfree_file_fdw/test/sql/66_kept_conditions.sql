-- Conditions on kept columns, many of which are tested on what is stored.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_kept_conditions.csv'
SET datestyle = ISO;
SELECT setseed(0.66);
COPY (SELECT CASE WHEN i % 7 > 0 THEN i END,
			 CASE WHEN i % 11 > 0 THEN (ARRAY['AIR', 'REG AIR', 'MAIL', 'SHIP', '', 'ä', 'aß '])[1 + (random() * 6)::int] END,
			 (ARRAY['N', 'R', 'A '])[1 + (random() * 2)::int],
			 round((random() * 100)::numeric, 2),
			 CASE WHEN i < 2500 THEN 5 WHEN i % 5 > 0 THEN (random() * 70000)::int - 100 END,
			 date '2000-01-01' + (random() * 300)::int,
			 (random() * 1e15)::int8 * CASE WHEN random() < 0.5 THEN -1 ELSE 1 END,
			 'text ' || i % (1 + i / 10), i % 2 = 0
	  FROM generate_series(1, 4000) i) TO :'log' (FORMAT csv);
SELECT make_pair('kept', 'id int, mode varchar(8), flag char(3), price numeric(9,2), n int, day date, big int8, words text, even bool', :'log', $$format 'csv'$$);
SET tollfree_file_fdw.debug_segment_size = '100kB';
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.column_cache = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT column_name, segments FROM tollfree_file_fdw_load_columns('ours.kept');

-- Each by itself and with each other one, in a scan, an aggregation and below a hash join.
CREATE TABLE condition (c text);
INSERT INTO condition VALUES
	('id < 3000'), ('id BETWEEN 500 AND 6500'), ('id <> 77'), ('NOT id > 1000'),
	('mode = ''AIR'''), ('mode <> ''AIR'''), ('mode IN (''MAIL'', ''SHIP'', '''')'), ('mode LIKE ''%AIR'''), ('mode LIKE ''_'''),
	('mode IN (''MAIL'', NULL)'), ('mode NOT IN (''MAIL'', ''SHIP'')'), ('mode IS NULL'), ('mode COLLATE "C" > ''B'''),
	('flag = ''A'''), ('flag IN (''N'', ''A'')'), ('price >= 50'), ('price < 12.345'), ('price = 7.5'),
	('n = 5'), ('n < 0'), ('n > 65400'), ('n BETWEEN 5 AND 5'), ('n IN (5, 6, 7)'), ('day >= ''2000-03-01'''), ('day < ''2000-02-01'' AND day > ''2000-01-05'''),
	('big > 0'), ('big BETWEEN -1000000000000 AND 500000000000000'), ('words = ''text 0'''), ('words LIKE ''text 1%'''), ('words COLLATE "C" < ''text 3'''),
	('even'), ('n > id'), ('(n < 100 OR mode = ''AIR'')'), ('(even OR id IS NULL)');
INSERT INTO condition SELECT format('id = ANY (%L::int[])', array_agg(i * 3)) FROM generate_series(1, 700) i
UNION ALL SELECT format('words = ANY (%L::text[])', array_agg('text ' || i)) FROM generate_series(1, 300, 7) i;
SET tollfree_file_fdw.debug_require = 'column_cache';
SELECT count(*), count(*) FILTER (WHERE said ~ '^[0-9]+ rows$') AS agree, count(*) FILTER (WHERE said = '0 rows') < 100 AS few_empty,
	   min(said) FILTER (WHERE said !~ '^[0-9]+ rows$') AS other
FROM (SELECT agree(CASE WHEN row_number() OVER () % 3 > 0 THEN format('SELECT * FROM kept WHERE %s AND %s', a.c, b.c)
				   ELSE format('SELECT flag, count(*), sum(price), max(n), min(big) FROM kept WHERE %s AND %s GROUP BY flag ORDER BY flag', a.c, b.c) END) AS said
	  FROM condition a JOIN condition b ON a.c <= b.c) said;
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE TABLE some_keys AS SELECT i * 3 AS id, i * 2 AS n FROM generate_series(1, 900) i;
ANALYZE some_keys;
SELECT count(*), count(*) FILTER (WHERE said ~ '^[0-9]+ rows$') AS agree, min(said) FILTER (WHERE said !~ '^[0-9]+ rows$') AS other
FROM condition
	CROSS JOIN LATERAL (SELECT regexp_replace(regexp_replace(condition.c, '\mid\M', 'kept.id', 'g'), '\mn\M', 'kept.n', 'g') AS c) named
	CROSS JOIN (VALUES
		('SELECT kept.*, some_keys.n AS other FROM kept JOIN some_keys ON some_keys.id = kept.id WHERE %s ORDER BY kept.big, some_keys.n'),
		('SELECT kept.id, kept.mode FROM kept JOIN some_keys ON some_keys.n = kept.n AND some_keys.id <> kept.id WHERE %s ORDER BY kept.big, some_keys.n')) q (statement)
	CROSS JOIN LATERAL agree(format(statement, named.c)) said;

RESET tollfree_file_fdw.debug_require;
DROP FOREIGN TABLE ours.kept, stock.kept;
DROP TABLE condition, some_keys;
