-- Files that are missing, refused, cut, written over, replaced or added to while they are read
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/changing.txt'
-- A sanitizer that the server is started with is not for the programs of the shell.
CREATE FUNCTION shell(command text, file text) RETURNS void LANGUAGE plpgsql PARALLEL RESTRICTED
AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', 'unset LD_PRELOAD; cat > /dev/null; f=''' || file || '''; ' || command);
END
$$;
-- About 2 MB, of which a scan has read 256 kB for its first row
CREATE FUNCTION write_file(file text) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT i, repeat(''x'', 90) FROM generate_series(1, 20000) i) TO %L', file);
END
$$;
SELECT make_pair('changing', 'a int, b text', :'file', $$format 'text'$$), write_file(:'file');
SET client_min_messages = warning;
SET tollfree_file_fdw.debug_require = 'scan';

-- What becomes of the rows behind the first, after a command; errors have no path in them
CREATE FUNCTION change_after_first_row(command text, file text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	rest refcursor;
	n int := 0;
	r record;
	message text;
	hint text;
BEGIN
	PERFORM write_file(file);
	OPEN rest FOR SELECT a FROM ours.changing WHERE b LIKE 'x%';
	FETCH rest INTO r;
	PERFORM shell(command, file);
	LOOP
		FETCH rest INTO r;
		EXIT WHEN NOT FOUND;
		n := n + 1;
	END LOOP;
	CLOSE rest;
	RETURN n || ' more rows';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN format('%s | %s | %s', SQLSTATE, regexp_replace(message, '"/.*/', '"'), hint);
END
$$;
SELECT command, change_after_first_row(command, :'file') FROM unnest(ARRAY[
	'true', ': > "$f"', 'truncate -s 1000000 "$f"', 'truncate -s -1 "$f"', 'printf "20001\\tx\\n" >> "$f"',
	'printf y | dd of="$f" conv=notrunc bs=1 seek=1000000 2> /dev/null', 'rm "$f"', 'printf "1\\tx\\n" > "$f.new"; mv "$f.new" "$f"',
	'mv "$f" "$f.1"', 'ln "$f" "$f.2"', 'chmod 0 "$f"']) command;
SELECT shell('rm "$f.1" "$f.2"', :'file');
SELECT shell('rm -f "$f"', :'file');
SELECT agree('SELECT * FROM changing'), agree('SELECT sum(a) FROM changing');
SELECT write_file(:'file'), shell('chmod 0 "$f"', :'file');
SELECT agree('SELECT * FROM changing'), agree('SELECT sum(a) FROM changing');
SELECT shell('rm -f "$f"; mkdir "$f"', :'file');
SELECT agree('SELECT * FROM changing'), agree('SELECT sum(a) FROM changing');
SELECT shell('rmdir "$f"', :'file');

-- A file that grows is read up to where it ended, also by COPY's parser behind an escaped character, and up to a
-- last line that was not complete.
RESET tollfree_file_fdw.debug_require;
CREATE FUNCTION grow_after_first_row(query text, escaped_line int, fast_scan text, file text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	rest refcursor;
	n int := 1;
	r record;
	last record;
BEGIN
	PERFORM write_file(file), shell(format('sed -i ''%ss/x/\\303\\251/'' "$f"; truncate -s -1 "$f"', escaped_line), file);
	PERFORM set_config('tollfree_file_fdw.fast_scan', fast_scan, true);
	OPEN rest FOR EXECUTE query;
	FETCH rest INTO r;
	PERFORM shell('printf "y\n20001\tx\n20002\tx\n" >> "$f"', file);
	LOOP
		FETCH rest INTO last;
		EXIT WHEN NOT FOUND;
		n := n + 1;
		r := last;
	END LOOP;
	CLOSE rest;
	RETURN format('%s rows, %s', n, r);
END
$$;
SELECT escaped_line, fast_scan, grow_after_first_row('SELECT a, length(b) FROM ours.changing', escaped_line, fast_scan, :'file')
FROM unnest('{1,10000,20000,30000}'::int[]) escaped_line, unnest('{on,off}'::text[]) fast_scan;
RESET tollfree_file_fdw.fast_scan;
SET tollfree_file_fdw.debug_require = 'scan';

-- The same of several processes: nothing above Gather may run in a worker.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SET tollfree_file_fdw.debug_require = 'parallel';
-- Rows are wide, so workers cannot be far ahead of the leader.
CREATE FUNCTION change_in_parallel(command text, file text) RETURNS text LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM write_file(file);
	RETURN outcome(format('SELECT count(*) FROM (SELECT CASE a %% 7000 WHEN 1 THEN shell(%L, %L)::text END, b FROM changing OFFSET 0) x', command, file), 'ours');
END
$$;
SELECT shown_plan($$SELECT count(*) FROM (SELECT CASE a % 7000 WHEN 1 THEN shell('', '')::text END, b FROM ours.changing OFFSET 0) x$$);
SELECT command, regexp_replace(change_in_parallel(command, :'file'), '"/.*/', '"') FROM unnest(ARRAY[
	'true', ': > "$f"', 'printf "20001\\tx\\n" >> "$f"', 'printf y | dd of="$f" conv=notrunc bs=1 seek=1900000 2> /dev/null']) command;
-- A grown file again, where what comes last is read by a process of which the last chunk may have an end-of-data marker.
RESET tollfree_file_fdw.debug_require;
CREATE FUNCTION grow_in_parallel(edit text, file text) RETURNS text[] LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM write_file(file), shell(format('sed -i ''%s'' "$f"; truncate -s -1 "$f"', edit), file);
	RETURN outcome(format('SELECT count(*), sum(length(b)) FROM (SELECT CASE a %% 7000 WHEN 1 THEN shell(%L, %L)::text END, b FROM changing OFFSET 0) x',
						  'printf "y\\n20001\\tx\\n20002\\tx\\n" >> "$f"', file), 'ours');
END
$$;
SELECT edit, grow_in_parallel(edit, :'file') FROM unnest(ARRAY['p;d', '20000s/x/\\303\\251/', '19990s/x/\\\\./', '19995s/x/\\\\.\\303\\251/']) edit;
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT shell('rm -f "$f"', :'file');
SELECT agree('SELECT * FROM changing'), agree('SELECT sum(a) FROM changing');

-- A scan that begins again reads the file that has the name by now.
SET enable_material = off;
RESET tollfree_file_fdw.debug_require;
CREATE FUNCTION change_before_rescan(command text, file text, side text) RETURNS text[] LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM write_file(file);
	RETURN outcome(format('SELECT v, n, shell(%L, %L)::text FROM (VALUES (1), (2), (3)) x (v) LEFT JOIN (SELECT count(a) n FROM changing OFFSET 0) y ON v < n', command, file), side);
END
$$;
SELECT shown_plan($$SELECT v, n, shell('', '')::text FROM (VALUES (1), (2), (3)) x (v) LEFT JOIN (SELECT count(a) n FROM ours.changing OFFSET 0) y ON v < n$$);
SELECT command, aggregates, ours, ours = change_before_rescan(command, :'file', 'stock') AS agrees
FROM unnest(ARRAY['true', 'printf "20001\\tx\\n" >> "$f"', 'printf "1\\tx\\n2\\ty\\n3\\tz\\n" > "$f.new"; mv "$f.new" "$f"', ': > "$f"']) command, unnest('{on,off}'::text[]) aggregates,
	LATERAL (SELECT set_config('tollfree_file_fdw.push_aggregates', aggregates, false)) s (settings),
	LATERAL (SELECT settings, change_before_rescan(command, :'file', 'ours') AS ours) o;
SELECT shell('rm -f "$f"', :'file');

-- Several processes that begin late read the file that has the name by then, as a scan does that is begun again.
CREATE FUNCTION replace_before_gather(file text, side text) RETURNS text[] LANGUAGE plpgsql
AS $$
BEGIN
	PERFORM write_file(file);
	RETURN outcome(format('SELECT count(*), sum(a) FROM (SELECT shell(%L, %L)::text AS s FROM generate_series(1, 1) OFFSET 0) x LEFT JOIN (SELECT a FROM changing WHERE length(b) > 0 OFFSET 0) y ON s = ''''',
						  'printf "1\\tx\\n2\\ty\\n3\\tz\\n" > "$f.new"; mv "$f.new" "$f"', file), side);
END
$$;
SELECT write_file(:'file'), shown_plan($$SELECT count(*), sum(a) FROM (SELECT shell('', '')::text AS s FROM generate_series(1, 1) OFFSET 0) x LEFT JOIN (SELECT a FROM ours.changing WHERE length(b) > 0 OFFSET 0) y ON s = ''$$);
SELECT replace_before_gather(:'file', 'ours') AS ours, replace_before_gather(:'file', 'stock') AS stock;
SELECT shell('rm -f "$f"', :'file');

-- An error is told without its line when the lines before it can no longer be counted: one of comparing a range's bounds.
CREATE FUNCTION compare_soundly(int, int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE
AS $$
BEGIN
	IF $1 = 15000 THEN
		PERFORM shell(current_setting('tests.command'), current_setting('tests.file'));
		RAISE EXCEPTION 'not sound';
	END IF;
	RETURN btint4cmp($1, $2);
END
$$;
CREATE OPERATOR CLASS sound_ops FOR TYPE int USING btree AS FUNCTION 1 compare_soundly(int, int);
CREATE TYPE sound AS RANGE (subtype = int, subtype_opclass = sound_ops);
CREATE FOREIGN TABLE ours.unsound (a sound, b text) SERVER ours OPTIONS (filename :'file');
CREATE FUNCTION unsound_place(command text, file text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	context text;
BEGIN
	PERFORM write_file(file), shell('sed -i "s/^[0-9]*/[&,30000)/" "$f"', file), set_config('tests.command', command, true), set_config('tests.file', file, true);
	PERFORM count(a) FROM ours.unsound;
	RETURN 'no error';
EXCEPTION WHEN raise_exception THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN SQLERRM || ': ' || substring(context FROM '(?n)^COPY .*$');
END
$$;
SET max_parallel_workers = 0;
SET tollfree_file_fdw.debug_require = 'parallel';
SELECT command, unsound_place(command, :'file') FROM unnest(ARRAY['true', ': > "$f"']) command;
SELECT shell('rm -f "$f"', :'file');
