-- The planner and ANALYZE use the record index.
\getenv abs_builddir PG_ABS_BUILDDIR
\set log :abs_builddir '/results/log_counted.csv'
\set plain :abs_builddir '/results/log_counted.txt'
COPY (SELECT i, CASE WHEN i % 10 = 3 THEN E'two\nlines, "quoted" ' || i WHEN i % 10 = 4 THEN E'no\n\\.\nend' ELSE repeat('x', i % 50) END, i % 7 FROM generate_series(1, 40000) i)
	TO :'log' (FORMAT csv, HEADER);
COPY (SELECT i, repeat('x', i % 50), i % 7 FROM generate_series(1, 40000) i) TO :'plain';
SELECT make_pair('counted', 'id int, what text, few int', :'log', $$format 'csv', header 'true'$$), make_pair('counted_text', 'id int, what text, few int', :'plain', $$format 'text'$$);
CREATE FUNCTION planned_rows(query text) RETURNS text LANGUAGE sql
AS $$
SELECT substring(line, 'rows=(\d+)') FROM shown_plan(query, 'costs on') line LIMIT 1
$$;
CREATE VIEW statistics AS
SELECT relname, attname, reltuples, CASE attname WHEN 'id' THEN n_distinct < -0.3 ELSE n_distinct = 7 END AS is_sample
FROM pg_class JOIN pg_stats ON schemaname = relnamespace::regnamespace::text AND tablename = relname
WHERE relname LIKE 'counted%' AND schemaname = 'ours' AND attname IN ('id', 'few');
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT agree('SELECT count(*) FROM counted'), agree('SELECT count(*) FROM counted_text');

-- Before the first ANALYZE, also of a file that has grown
SELECT planned_rows('SELECT * FROM ours.counted'), planned_rows('SELECT * FROM ours.counted_text');
SET tollfree_file_fdw.record_index = off;
SELECT planned_rows('SELECT * FROM ours.counted') <> '40000' AS is_guess;
SET tollfree_file_fdw.record_index = on;
\set double 'cp ' :plain ' ' :plain '.1; cat ' :plain '.1 >> ' :plain '; rm ' :plain '.1'
COPY (SELECT WHERE false) TO PROGRAM :'double';
SELECT planned_rows('SELECT * FROM ours.counted_text');
SELECT agree('SELECT count(*), sum(id) FROM counted_text');

-- All rows are known, whichever are looked at.
SET default_statistics_target = 60;
ANALYZE ours.counted, ours.counted_text;
SELECT * FROM statistics ORDER BY 1, 2;
SET default_statistics_target = 1;
ANALYZE ours.counted, ours.counted_text;
SELECT DISTINCT relname, reltuples FROM statistics ORDER BY 1;
-- Rows that were appended are no guess either, once they are in an index.
\set append 'yes "1,x,1" | head -n 10000 >> ' :log
COPY (SELECT WHERE false) TO PROGRAM :'append';
SELECT agree('SELECT count(*) FROM counted');
ANALYZE ours.counted;
SELECT DISTINCT relname, reltuples FROM statistics WHERE relname = 'counted';
RESET default_statistics_target;

-- The line of an error is that of the file: every value here has its own.
\set own :abs_builddir '/results/log_own_lines.csv'
COPY (SELECT i, E'a\nb', 'x' || 2 * i + 1 FROM generate_series(1, 9000) i) TO :'own' (FORMAT csv, HEADER);
SELECT make_pair('own', 'id int, b text, a int', :'own', $$format 'csv', header 'true'$$);
SELECT count(id), count(b) FROM ours.own;
SET default_statistics_target = 1;
DO $$
DECLARE
	value text;
	context text;
BEGIN
	FOR i IN 1..20 LOOP
		BEGIN
			ANALYZE ours.own;
			RAISE 'no error';
		EXCEPTION WHEN invalid_text_representation THEN
			GET STACKED DIAGNOSTICS value = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
			IF substring(context FROM '^COPY own, line (\d+), column a: "x') IS DISTINCT FROM substring(value FROM '"x(\d+)"') THEN
				RAISE '%', context;
			END IF;
		END;
	END LOOP;
END
$$;
RESET default_statistics_target;
DROP VIEW statistics;
DROP FOREIGN TABLE ours.counted, stock.counted, ours.counted_text, stock.counted_text, ours.own, stock.own;
DROP FUNCTION planned_rows;
