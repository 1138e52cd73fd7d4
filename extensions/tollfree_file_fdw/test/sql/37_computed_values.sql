-- Conditions with values that are computed once: of constants and of the time.
\getenv abs_builddir PG_ABS_BUILDDIR
\set visits :abs_builddir '/results/visits.csv'
SET datestyle = ISO;
COPY (SELECT i, current_date - i, localtimestamp - i * interval '1 hour', 'v' || i % 9
	  FROM generate_series(-5, 2000) i) TO :'visits' (FORMAT csv);
SELECT make_pair('visits', 'id int, day date, at timestamp, name text', :'visits', $$format 'csv'$$);
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.debug_require = 'filter';
SELECT condition, regexp_replace(agree(format('SELECT id FROM visits WHERE %s', condition)), '^[1-9]\d* rows$', 'some rows') AS agree
FROM unnest(ARRAY['day >= current_date - 7', 'current_date - 1 > day', 'at > localtimestamp - interval ''50 hours 10 minutes''',
				  'at < current_date - 30', 'day IN (current_date, current_date - 1, NULL)', 'day NOT IN (current_date, current_date + 3)',
				  'day > date_trunc(''month'', localtimestamp)', 'day = (now() - interval ''3 days'')::date',
				  'at::timestamp BETWEEN current_date - 2 AND localtimestamp - interval ''1 day'' AND (id + 0) % 2 + 0 = 0',
				  'name = ''v'' || to_char(timestamp ''2000-01-01 00:07'' + (localtimestamp - localtimestamp), ''FMMI'')',
				  'name LIKE to_char(localtimestamp, ''"v"'') || ''_''', 'NOT (day < current_date OR name = ''v3'')']) condition;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT agree('SELECT name, count(*), max(id) FROM visits WHERE day >= current_date - 30 GROUP BY name ORDER BY name'),
	agree('SELECT count(*) FROM visits WHERE at > localtimestamp - interval ''5 days''');

-- They are computed in each execution.
SET plan_cache_mode = force_generic_plan;
PREPARE ours AS SELECT count(*) FROM ours.visits WHERE day >= current_date - 7;
PREPARE stock AS SELECT count(*) FROM stock.visits WHERE day >= current_date - 7;
SET timezone = 'Etc/GMT-14';
EXECUTE ours \gset east_
EXECUTE stock \gset stock_east_
SET timezone = 'Etc/GMT+12';
EXECUTE ours \gset west_
EXECUTE stock \gset stock_west_
SELECT :east_count = :stock_east_count AS east, :west_count = :stock_west_count AS west, :east_count < :west_count AS differ;
RESET timezone;
RESET plan_cache_mode;
RESET tollfree_file_fdw.debug_require;

-- An error is one of planning, and so comes if no row is there to be compared, with stock, too.
SELECT condition, agree(format('SELECT id FROM visits WHERE %s', condition))
FROM unnest(ARRAY['id < -9 AND id > 1 / (current_date - current_date)', 'id < -9 AND day > current_date + 2147483647',
				  'id < -9 AND (name = ''v1'' OR NOT at < localtimestamp + interval ''293000 years'')']) condition;

-- Nor is it one of a FILTER, which nobody estimates, unless it is met.
SELECT condition, agree(format('SELECT count(*) FILTER (WHERE day > current_date + %s), count(*) FROM visits WHERE %s', days, condition))
FROM unnest(ARRAY[7, 2147483647]) days, unnest(ARRAY['id < -9', 'id < 100']) condition;

-- What is the user's own, or may change from row to row or with a setting, is left to the executor.
SET tollfree_test.name = 'v7';
CREATE FUNCTION named() RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 'v2'; END $$;
SELECT condition, regexp_replace(agree(format('SELECT id FROM visits WHERE %s', condition)), '^[1-9]\d* rows$', 'some rows') AS agree, shown_plan(format('SELECT id FROM ours.visits WHERE %s', condition))
FROM unnest(ARRAY['name = named()', 'day >= current_date - (random() * 0)::int', 'name = current_user', 'name = current_setting(''tollfree_test.name'')',
				  'at >= now() - interval ''1 day''']) condition;
-- A setting that has changed since planning may fail now, but not where no row asks for it.
CREATE FUNCTION count_named(below int) RETURNS bigint LANGUAGE plpgsql
AS $$ BEGIN RETURN (SELECT count(*) FROM ours.visits WHERE id < below AND id > 10 / length(current_setting('tollfree_test.name'))); END $$;
SET plan_cache_mode = force_generic_plan;
SELECT count_named(-9), count_named(100);
SET tollfree_test.name = '';
SELECT count_named(-9);
\set VERBOSITY terse
SELECT count_named(100);
\set VERBOSITY default
RESET plan_cache_mode;
DROP FUNCTION count_named, named;
DROP FOREIGN TABLE ours.visits, stock.visits;
