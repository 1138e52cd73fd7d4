-- Headers of several records, and values that become null for errors: from PostgreSQL 19 on. Before, nothing is compared.
\getenv abs_builddir PG_ABS_BUILDDIR
\set headed :abs_builddir '/results/headed.'
SET client_min_messages = warning;
-- The header's records have line ends in quotes, too few fields, and too many.
CREATE TABLE headed (kind text, options text, header text, rest text);
INSERT INTO headed VALUES
	('csv', $$format 'csv'$$, E'one\n"two\n\nstill two",\n,,,\n', (SELECT string_agg(format(E'%s,"a\nb"\n', i), '') FROM generate_series(1, 3000) i)),
	('text', $$delimiter ','$$, E'one\ntwo\\\nstill two\n,,,\n', (SELECT string_agg(format(E'%s,a\n', i), '') FROM generate_series(1, 3000) i)),
	('crlf', $$format 'csv'$$, E'one\r\n"two\r\n",\r\n\r\n', E'1,a\r\n2,b\r\n'),
	('marked', $$format 'csv'$$, E'one\n\\.\nthree\n', E'1,a\n2,b\n'),
	('mixed', $$format 'csv'$$, E'one\ntwo\r\nthree\n', E'1,a\n2,b\n'),
	('short', $$format 'csv'$$, E'one\ntwo\n', ''),
	('empty', $$format 'csv'$$, '', ''),
	('wrong', $$format 'csv'$$, E'one\n"two\n",\nthree\n', E'1,a\nx,b\n');
CREATE FUNCTION write_file(content text, path text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	written oid = lo_from_bytea(0, convert_to(content, 'UTF8'));
BEGIN
	PERFORM lo_export(written, path);
	PERFORM lo_unlink(written);
END
$$;
CREATE FUNCTION compare_headed(path text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	file record;
	lines text;
	query text;
	answer text;
BEGIN
	IF current_setting('server_version_num')::int < 190000 THEN
		RETURN;
	END IF;
	FOR file IN SELECT * FROM headed LOOP
		PERFORM write_file(file.header || file.rest, path || file.kind);
		FOREACH lines IN ARRAY '{0,1,2,3,4,101}'::text[] LOOP
			PERFORM make_pair('headed_' || file.kind || lines, 'a int, b text', path || file.kind, file.options || format(', header %L', lines));
			FOREACH query IN ARRAY ARRAY['SELECT * FROM headed_%s', 'SELECT count(*), sum(a) FROM headed_%s', 'SELECT b FROM headed_%s WHERE a = 2999'] LOOP
				answer = agree(format(query, file.kind || lines));
				IF answer ~ 'DIFFERENT' THEN
					RETURN NEXT format('%s, header %s: %s', file.kind, lines, answer);
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	-- by the fast path alone
	FOREACH query IN ARRAY '{csv,text,crlf}'::text[] LOOP
		PERFORM set_config('tollfree_file_fdw.debug_require', 'scan', true);
		answer = array_to_string(outcome(format('SELECT count(*) FROM headed_%s3', query), 'ours'), ' | ');
		IF answer ~ 'ERROR' THEN
			RETURN NEXT format('%s: %s', query, answer);
		END IF;
	END LOOP;
END
$$;
SELECT compare_headed(:'headed');
-- by several processes, in small chunks, and by an index
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
CREATE FUNCTION compare_headed_again(requirement text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	kind text;
	answer text;
BEGIN
	IF current_setting('server_version_num')::int < 190000 THEN
		RETURN;
	END IF;
	PERFORM set_config('tollfree_file_fdw.debug_require', requirement, true);
	FOREACH kind IN ARRAY '{csv,text}'::text[] LOOP
		FOR round IN 1..2 LOOP
			answer = agree(format('SELECT count(*), sum(a), max(b COLLATE "C") FROM headed_%s3 WHERE a > 1500', kind));
			IF answer !~ '^1 rows$' THEN
				RETURN NEXT format('%s: %s', kind, answer);
			END IF;
		END LOOP;
	END LOOP;
END
$$;
SELECT compare_headed_again('parallel');
SET max_parallel_workers_per_gather = 0;
SET tollfree_file_fdw.record_index = on;
SELECT compare_headed_again('scan');
RESET tollfree_file_fdw.record_index;
-- What has no valid syntax becomes null, unless its column or its domain refuses that: without the closing NOTICE.
CREATE DOMAIN not_none AS int CHECK (VALUE IS NOT NULL);
CREATE FUNCTION compare_nulls(path text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
DECLARE
	type text;
	query text;
	answer text;
BEGIN
	IF current_setting('server_version_num')::int < 190000 THEN
		RETURN;
	END IF;
	PERFORM write_file(E'1,a,2020-01-01\nx,b,2020-01-02\n3,c,never\ny,d,z\n', path);
	FOREACH type IN ARRAY '{int,int NOT NULL,not_none}'::text[] LOOP
		PERFORM make_pair('nulled', format('a %s, b text, c date', type), path, $o$format 'csv', on_error 'set_null'$o$);
		FOREACH query IN ARRAY ARRAY['SELECT * FROM nulled', 'SELECT b FROM nulled', 'SELECT b, c FROM nulled WHERE a IS NULL', 'SELECT count(*), sum(a), count(c) FROM nulled'] LOOP
			answer = agree(query);
			IF answer ~ 'DIFFERENT' THEN
				RETURN NEXT format('%s: %s', type, answer);
			END IF;
		END LOOP;
		DROP FOREIGN TABLE stock.nulled, ours.nulled;
	END LOOP;
END
$$;
SELECT compare_nulls(:'headed' || 'nulled');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
RESET client_min_messages;
