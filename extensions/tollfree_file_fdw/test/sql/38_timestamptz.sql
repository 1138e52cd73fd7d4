-- Times with a time zone: those with a numeric zone or Z are converted here, all others by PostgreSQL.
\getenv abs_builddir PG_ABS_BUILDDIR
\set zoned :abs_builddir '/results/zoned.csv'
\set mixed :abs_builddir '/results/mixed.csv'
\set zulu :abs_builddir '/results/zulu.csv'
SET timezone = 'America/New_York';
SET datestyle = ISO;
COPY (SELECT i, timestamptz '2024-03-09 20:00:00.25+00' + i * interval '7 minutes 0.5 seconds', 'h' || i % 5
	  FROM generate_series(1, 3000) i) TO :'zoned' (FORMAT csv);
COPY (SELECT i, (ARRAY['2024-03-10 02:30:00', '2024-11-03 01:30:00', '2024-11-03 01:30:00-05', '2024-11-03T01:30:00-0400', '2000-01-01 00:00:00Z',
					   '2000-01-01 12:00:00.123456 Asia/Kolkata', 'infinity', '-infinity', '0044-03-15 10:00:00+00 BC', '1883-11-18 12:00:00-04:56:02',
					   '01/02/2003 04:05:06+00', '2003-04-05 24:00:00+00', '2003-04-05 06:07:08.9999999+00', '9999-12-31 23:59:59.999999-15:59',
					   '0001-01-01 00:00:00+15:59', '2003-04-05 06:07:08 +02', '2003-04-05', NULL])[1 + i % 18]
	  FROM generate_series(1, 5400) i) TO :'mixed' (FORMAT csv);
COPY (SELECT i, to_char(timestamp '2024-03-09 20:00:00.25' + i * interval '7 minutes 0.5 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS') ||
		  CASE i % 2 WHEN 0 THEN 'Z' ELSE 'z' END FROM generate_series(1, 3000) i) TO :'zulu' (FORMAT csv);
-- As PostgreSQL writes its own log.
\set csvlog :abs_builddir '/results/csvlog.csv'
COPY (SELECT to_char(timestamp '2024-03-09 20:00:00.25' + i * interval '7 minutes 0.5 seconds', 'YYYY-MM-DD HH24:MI:SS.MS') ||
		  CASE WHEN i <= 3000 THEN ' UTC' WHEN i <= 4000 THEN ' +00' ELSE ' CET' END, i FROM generate_series(1, 4500) i) TO :'csvlog' (FORMAT csv);
SELECT make_pair('csvlog', 'log_time timestamptz(3), session_line_num bigint', :'csvlog', $$format 'csv'$$);
SELECT make_pair('zoned', 'id int, at timestamptz, host text', :'zoned', $$format 'csv'$$),
	make_pair('seconds', 'id int, at timestamptz(0), host text', :'zoned', $$format 'csv'$$),
	make_pair('mixed', 'id int, at timestamptz', :'mixed', $$format 'csv'$$),
	make_pair('zulu', 'id int, at timestamptz', :'zulu', $$format 'csv'$$),
	make_pair('unzoned', 'id int, at timestamp', :'mixed', $$format 'csv'$$);
CREATE TABLE marks AS SELECT timestamptz '2024-03-09 20:00:00.25+00' + i * interval '70 minutes 5 seconds' AS at, i FROM generate_series(1, 9) i;
ANALYZE marks;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION zones_agree(query text) RETURNS TABLE (zone text, style text, agree text) LANGUAGE plpgsql
AS $$
BEGIN
	FOR zone, style IN SELECT * FROM unnest(ARRAY['UTC', 'America/New_York', 'Asia/Kolkata']) z, unnest(ARRAY['ISO, DMY', 'Postgres, MDY']) s LOOP
		PERFORM set_config('timezone', zone, true), set_config('datestyle', style, true);
		agree := agree(query);
		RETURN NEXT;
	END LOOP;
END
$$;
SET tollfree_file_fdw.debug_require = 'scan';
SELECT * FROM zones_agree('SELECT * FROM zoned');
SELECT * FROM zones_agree('SELECT * FROM seconds');
SELECT * FROM zones_agree('SELECT * FROM mixed');
SELECT * FROM zones_agree('SELECT * FROM zulu');
SELECT * FROM zones_agree('SELECT * FROM csvlog');
SELECT * FROM zones_agree('SELECT * FROM unzoned WHERE id % 18 NOT IN (0, 6, 11)');
SET tollfree_file_fdw.debug_require = 'filter';
SELECT condition, agree(format('SELECT id FROM zoned WHERE %1$s UNION ALL SELECT id FROM mixed WHERE %1$s', condition))
FROM unnest(ARRAY['at > ''2024-03-10 02:30:00''', 'at BETWEEN ''2024-03-10 01:30:00'' AND ''2024-03-10 03:30:00''', 'at = ''2024-11-03 01:30:00-04''',
				  'at < now() - interval ''1 day''', 'at IN (''2000-01-01 00:00:00+00'', ''infinity'', now())', 'at <> ''-infinity''', 'at IS NULL', 'at > at',
				  'at < timestamp ''2024-03-10 02:30:00'' AT TIME ZONE ''Europe/Berlin''', 'at > current_timestamp(3)']) condition;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT query, agree(query) FROM unnest(ARRAY['SELECT min(at), max(at), count(at) FROM zoned', 'SELECT at, count(*) FROM mixed GROUP BY at ORDER BY at',
											 'SELECT host, max(at) FROM zoned WHERE at < now() GROUP BY host ORDER BY host']) query;
SET tollfree_file_fdw.debug_require = 'join_filter';
SELECT agree('SELECT z.id, i FROM zoned z JOIN marks USING (at)');
RESET tollfree_file_fdw.debug_require;
-- What compares with a date or with a timestamp depends on the zone, and is left to the executor; so is what a cursor computes anew for each FETCH.
SELECT condition, agree(format('SELECT id FROM zoned WHERE %s', condition)), shown_plan(format('SELECT id FROM ours.zoned WHERE %s', condition))
FROM unnest(ARRAY['at > date ''2024-03-10''', 'at > timestamp ''2024-03-10 02:30:00''', 'at < statement_timestamp()']) condition;

-- Blocks are skipped, and columns kept, whatever the zone; a value that depends on it is not kept.
SET tollfree_file_fdw.record_index = on;
SET tollfree_file_fdw.column_cache = on;
SET tollfree_file_fdw.debug_record_index_age = 0;
SELECT * FROM zones_agree('SELECT id, at FROM zoned WHERE at > ''2024-03-15 00:00:00+00''');
SELECT * FROM zones_agree('SELECT id, at FROM mixed WHERE at > ''2003-03-15 00:00:00+00''');
SELECT * FROM zones_agree('SELECT * FROM csvlog WHERE log_time > ''2024-03-24 00:00:00+00''');
SELECT trim(line) FROM shown_plan('SELECT * FROM ours.csvlog WHERE log_time < ''2024-03-10 00:00:00+00''', 'analyze, costs off, timing off, summary off, buffers off') line
WHERE line ~ 'Record Index';
SELECT column_name, kept > 0 AS is_kept FROM unnest(ARRAY['zoned', 'mixed', 'zulu', 'csvlog']) t (name),
	LATERAL (SELECT column_name, segments AS kept FROM tollfree_file_fdw_load_columns(('ours.' || name)::regclass)) c ORDER BY name, column_name;
-- A zone of one's own can make Z mean something else, from 18 on.
SET timezone = 'Z5';
SELECT query, agree(query) ~ '^\d+ rows$' AS agrees FROM unnest(ARRAY['SELECT * FROM zulu', 'SELECT * FROM mixed', 'SELECT id FROM zulu WHERE at > ''2024-03-15 00:00:00+00''',
											 'SELECT max(at) FROM zulu WHERE at < now()']) query;
SET timezone = 'UTC5';
SELECT query, agree(query) ~ '^\d+ rows$' AS agrees FROM unnest(ARRAY['SELECT * FROM csvlog', 'SELECT * FROM csvlog WHERE log_time > ''2024-03-15 00:00:00+00''']) query;
SET timezone = 'UTC';
SELECT agree('SELECT * FROM zulu');
-- And T. Then every value is an error, which an index of another session does not hide.
SET timezone = 'T5';
SELECT query, agree(query) LIKE 'DIFFERENT%' AS differs FROM unnest(ARRAY['SELECT count(*) FROM zulu', 'SELECT id, at FROM zulu WHERE id = 0']) query;
SET timezone = 'UTC';
RESET tollfree_file_fdw.column_cache;
RESET tollfree_file_fdw.record_index;
RESET tollfree_file_fdw.debug_record_index_age;
SELECT tollfree_file_fdw_drop_record_index(relation) FROM unnest('{ours.zoned,ours.mixed,ours.zulu,ours.csvlog}'::regclass[]) relation;
DROP FUNCTION zones_agree;
DROP TABLE marks;
DROP FOREIGN TABLE ours.zoned, stock.zoned, ours.seconds, stock.seconds, ours.mixed, stock.mixed, ours.zulu, stock.zulu, ours.csvlog, stock.csvlog, ours.unzoned, stock.unzoned;
