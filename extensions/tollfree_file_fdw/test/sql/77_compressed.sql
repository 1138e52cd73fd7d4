-- Compressed files.  What stock says of the text is what the table has.
\getenv abs_builddir PG_ABS_BUILDDIR
\set folder :abs_builddir '/results/compressed'
\set plain :folder '/plain.csv'
\set two :folder '/two.gz'
\set all :folder '/many'
\set damaged :folder '/damaged'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s/many %1$s/damaged', :'folder'));
COPY (SELECT i AS id, CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN E'two\nlines' WHEN 2 THEN 'a "b"' ELSE repeat('w', i % 30) END AS word,
	(i % 77) * 0.25 AS value, date '2026-01-01' + i % 365 AS day FROM generate_series(1, 6000) i) TO :'plain' (FORMAT csv, HEADER);
SELECT shell(format('cd %s && gzip -nc plain.csv > one.gz && head -c 100000 plain.csv > a && tail -c +100001 plain.csv > b && gzip -nc a > two.gz && gzip -nc b >> two.gz'
	' && split -a 4 -b 1000 a part. && gzip -n part.* && gzip -nc b > part.zzzz.gz && cat part.*.gz > members && head -c 5000 /dev/zero >> members && rm part.*'
	' && zstd -qc plain.csv > one.zst && zstd -qc a > two.zst && printf ''\123\052\115\030\003\0\0\0abc'' >> two.zst && zstd -qc b >> two.zst'
	' && lz4 -qc plain.csv > one.lz4 && lz4 -qc a > two.lz4 && lz4 -qc b >> two.lz4 && bzip2 -c plain.csv > one.bz2 && bzip2 -c a > two.bz2 && bzip2 -c b >> two.bz2'
	' && xz -0 -c plain.csv > one.xz && xz -0 -c a > two.xz && xz -0 -c b >> two.xz && cp one.gz ONE.GZ', :'folder'));

CREATE FOREIGN TABLE stock.packed (id int, word text, value numeric(8,2), day date) SERVER stock OPTIONS (filename :'plain', format 'csv', header 'true');
CREATE FOREIGN TABLE ours.packed (id int, word text, value numeric(8,2), day date) SERVER ours OPTIONS (filename :'plain', format 'csv', header 'true', compression 'auto');
CREATE FUNCTION compare_packed() RETURNS TABLE (query text, agrees text) LANGUAGE sql
AS $$
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT * FROM packed', 'SELECT count(*) FROM packed', 'SELECT id FROM packed WHERE word IS NULL', 'SELECT word FROM packed WHERE id > 2 LIMIT 2',
	'SELECT count(*), sum(value), min(word COLLATE "C"), max(day) FROM packed WHERE id <> 3', 'SELECT day, sum(value) FROM packed GROUP BY day ORDER BY day',
	'SELECT id FROM packed OFFSET 5990', 'SELECT x.id, y.word FROM packed x JOIN packed y USING (id) WHERE x.day = ''2026-03-01'' ORDER BY 1',
	'SELECT n, (SELECT string_agg(word, '','') FROM packed WHERE id < n) FROM generate_series(1, 3) n', 'SELECT sum(value::float8) FROM packed',
	'SELECT sum(id * 1000000) FROM packed', 'SELECT 1 / (id - 5000) FROM packed']) query
$$;
CREATE FUNCTION compare_all(folder text, files text[] DEFAULT '{one.gz,two.zst,one.bz2}') RETURNS TABLE (file text, agrees text) LANGUAGE plpgsql
AS $$
BEGIN
	FOREACH file IN ARRAY files LOOP
		EXECUTE format('ALTER FOREIGN TABLE ours.packed OPTIONS (SET filename %L, SET compression %L)', folder || '/' || file,
					   CASE file WHEN 'members' THEN 'gzip' ELSE 'auto' END);
		agrees := (SELECT string_agg(split_part(p.agrees, ' |', 1), ', ') FROM compare_packed() p);
		RETURN NEXT;
	END LOOP;
END
$$;
SELECT * FROM compare_all(:'folder', '{plain.csv,one.gz,ONE.GZ,two.gz,members,one.zst,two.zst,one.lz4,two.lz4,one.bz2,two.bz2,one.xz,two.xz}');
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM compare_all(:'folder');
RESET tollfree_file_fdw.fast_scan;
SET tollfree_file_fdw.push_aggregates = off;
SELECT * FROM compare_all(:'folder');
RESET tollfree_file_fdw.push_aggregates;
SELECT * FROM compare_packed();

-- COPY's parser takes over in the middle, at the beginning, and at the end.
SELECT shell(format('cd %s && (cat plain.csv; printf ''6001,\303\251,1,2026-01-01\n6002,z,2,2026-02-02'') > odd && (printf ''id,word,value,day\n1,\303\251,1,2026-01-01\n'';'
	' tail -n +2 plain.csv) > odd_first && (cat plain.csv; printf ''6001,"x'') > open && (cat odd; printf ''\n6003,z'') > short && (cat plain.csv; printf ''6001,y,x,2026-01-01\n''; cat b) > wrong'
	' && gzip -n odd odd_first open short wrong && for f in odd odd_first open short wrong; do gzip -dc $f.gz > $f; done', :'folder'));
CREATE FUNCTION compare_odd(folder text, options text) RETURNS TABLE (file text, query text, agrees text) LANGUAGE plpgsql
AS $$
BEGIN
	FOREACH file IN ARRAY '{odd,odd_first,open,short,wrong}'::text[] LOOP
		EXECUTE format('ALTER FOREIGN TABLE stock.packed OPTIONS (SET filename %L%s)', folder || '/' || file, options);
		EXECUTE format('ALTER FOREIGN TABLE ours.packed OPTIONS (SET filename %L%s)', folder || '/' || file || '.gz', options);
		RETURN QUERY SELECT file, q, agree(q) FROM unnest(ARRAY['SELECT * FROM packed', 'SELECT sum(value) FROM packed', 'SELECT day, count(*) FROM packed GROUP BY 1 ORDER BY 1',
			'SELECT word FROM packed WHERE id > 5999', 'SELECT n, (SELECT count(*) FROM packed WHERE id > n) FROM generate_series(1, 2) n']) q;
		options := '';
	END LOOP;
END
$$;
SELECT * FROM compare_odd(:'folder', $$, ADD encoding 'latin1'$$);
ALTER FOREIGN TABLE ours.packed OPTIONS (DROP encoding);
ALTER FOREIGN TABLE stock.packed OPTIONS (DROP encoding);
ALTER FOREIGN TABLE ours.packed OPTIONS (SET filename :'two');
ALTER FOREIGN TABLE stock.packed OPTIONS (SET filename :'plain');

-- Subtransactions, and cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM ours.packed;
FETCH 2 FROM c;
SAVEPOINT s;
FETCH ABSOLUTE 3000 FROM c;
ROLLBACK TO s;
FETCH 1 FROM c;
FETCH ABSOLUTE 3 FROM c;
COMMIT;

-- What is shown, kept and estimated
SELECT regexp_replace(line, '\d{6,}', 'N') FROM shown_plan('SELECT id FROM ours.packed WHERE value = 1', 'costs off, analyze, timing off, summary off, buffers off') line;
SET tollfree_file_fdw.column_cache = on;
SELECT regexp_replace(line, '\d{6,}', 'N') FROM shown_plan('SELECT id FROM ours.packed WHERE value = 1', 'costs off, analyze, timing off, summary off, buffers off') line;
SET tollfree_file_fdw.debug_require = 'record_index';
SELECT id FROM ours.packed WHERE value = 1;
RESET tollfree_file_fdw.debug_require;
SELECT relation FROM tollfree_file_fdw_record_indexes() WHERE relation = 'ours.packed'::regclass;
SELECT * FROM tollfree_file_fdw_load_columns('ours.packed');
RESET tollfree_file_fdw.column_cache;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM shown_plan('SELECT sum(value) FROM ours.packed');
SET max_parallel_workers_per_gather = 0;
ANALYZE ours.packed;
SELECT reltuples FROM pg_class WHERE oid = 'ours.packed'::regclass;
SELECT count(*), min(null_frac) FROM pg_stats WHERE schemaname = 'ours' AND tablename = 'packed' AND n_distinct <> 0;

-- A compressed file of stock's options alone is its bytes.
SELECT shell(format('cd %s && printf ''\037\213\010 1\t2\n'' > bytes.gz', :'folder'));
SELECT make_pair('bytes', 'a text, b text', :'folder' || '/bytes.gz', $$encoding 'latin1'$$);
SELECT agree('SELECT * FROM bytes'), agree('SELECT count(*) FROM bytes');
ALTER FOREIGN TABLE ours.bytes OPTIONS (ADD compression 'none');
SELECT agree('SELECT * FROM bytes');
DROP FOREIGN TABLE ours.bytes, stock.bytes;

-- Many files, of several kinds
SELECT shell(format('cd %s && head -c 100000 plain.csv | head -n -3 > many/a.csv && for f in gz:gzip zst:zstd lz4:lz4 bz2:bzip2 xz:xz; do ${f#*:} -c many/a.csv > many/b.csv.${f%%:*}; done; rm -f many/*.csv.csv', :'folder'));
SELECT stock_files('kinds', 'id int, word text, value numeric(8,2), day date', ARRAY(SELECT :'folder' || '/many/a.csv' FROM generate_series(1, 6)), $$format 'csv', header 'true'$$);
CREATE FOREIGN TABLE ours.kinds (id int, word text, value numeric(8,2), day date) SERVER ours OPTIONS (filenames :'all', format 'csv', header 'true');
CREATE FUNCTION compare_kinds() RETURNS TABLE (query text, agrees text) LANGUAGE sql
AS $$
SELECT query, agree(query) FROM unnest(ARRAY['SELECT * FROM kinds ORDER BY id', 'SELECT count(*) FROM kinds', 'SELECT day, sum(value) FROM kinds GROUP BY day ORDER BY day',
	'SELECT count(*), min(id) FROM kinds WHERE word IS NULL']) query
$$;
SELECT * FROM compare_kinds();
SET max_parallel_workers_per_gather = 2;
SELECT * FROM compare_kinds();
SELECT regexp_replace(ltrim(line), '\d{6,}', 'N') FROM shown_plan('SELECT sum(value) FROM ours.kinds', 'costs off, analyze, timing off, summary off, buffers off') line
WHERE line ~ 'Files|Compression|Decompressed';
SET max_parallel_workers_per_gather = 0;
SELECT agree('SELECT * FROM kinds');
ALTER FOREIGN TABLE ours.kinds OPTIONS (ADD columns 'by name');
SELECT agree('SELECT * FROM kinds');
ANALYZE ours.kinds;
SELECT reltuples = (SELECT count(*) FROM stock.kinds) FROM pg_class WHERE oid = 'ours.kinds'::regclass;
ALTER FOREIGN TABLE ours.kinds OPTIONS (ADD compression 'none');
SELECT left(failure('SELECT * FROM kinds'), 50);

-- What is not whole, or something else
SELECT shell(format('cd %s/damaged && for k in gz zst lz4 bz2 xz; do head -c 9000 ../one.$k > cut.$k; (cat ../one.$k; printf rubbish) > behind.$k; cp ../plain.csv plain.$k; : > empty.$k;'
	' (head -c 8000 ../one.$k; printf ''########''; tail -c +8009 ../one.$k) > flipped.$k; (cat ../one.$k; head -c 10000 /dev/zero) > padded.$k; done; mkfifo pipe.gz; mkdir folder.gz', :'folder'));
CREATE FUNCTION damages(folder text, query text) RETURNS TABLE (file text, outcome text) LANGUAGE plpgsql
AS $$
BEGIN
	FOR file IN SELECT f || k FROM unnest('{cut,behind,plain,empty,flipped,padded}'::text[]) f, unnest('{.gz,.zst,.lz4,.bz2,.xz}'::text[]) k LOOP
		EXECUTE format('ALTER FOREIGN TABLE ours.packed OPTIONS (SET filename %L)', folder || '/' || file);
		outcome := regexp_replace(failure(query), '(byte|at) \d+', '\1 N', 'g');
		-- What wrong bytes are read as depends on the library.
		outcome := CASE WHEN file ~ 'flipped' THEN left(outcome, 5) WHEN outcome ~ '^ERROR' THEN outcome ELSE regexp_replace(outcome, '^(.{60}).*$', '\1') END;
		RETURN NEXT;
	END LOOP;
END
$$;
SELECT * FROM damages(:'damaged', 'SELECT count(*), sum(id) FROM packed');
SET tollfree_file_fdw.fast_scan = off;
SELECT file, outcome ~ '^ERROR' AS fails FROM damages(:'damaged', 'SELECT sum(id) FROM packed');
RESET tollfree_file_fdw.fast_scan;
CREATE FUNCTION special(folder text, file text) RETURNS text LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('ALTER FOREIGN TABLE ours.packed OPTIONS (SET filename %L)', folder || '/' || file);
	RETURN failure('SELECT id FROM packed');
END
$$;
SELECT file, special(:'damaged', file) FROM unnest('{pipe.gz,folder.gz,nothing.gz}'::text[]) file;

-- A few bytes that stand for many
SELECT shell(format('cd %s && head -c 40000000 /dev/zero | tr ''\000'' x | gzip > damaged/bomb.gz', :'folder'));
SELECT special(:'damaged', 'bomb.gz');
SET tollfree_file_fdw.compressed_memory = '16MB';
SELECT special(:'damaged', 'bomb.gz');
SET tollfree_file_fdw.fast_scan = off;
SELECT special(:'damaged', 'bomb.gz');
RESET tollfree_file_fdw.fast_scan;
SELECT shell(format('cd %s/damaged && xz -9 -c ../plain.csv > large.xz && zstd -q --ultra -22 --long=27 -c < ../plain.csv > large.zst', :'folder'));
SELECT file, special(:'damaged', file) FROM unnest('{large.xz,large.zst}'::text[]) file;
RESET tollfree_file_fdw.compressed_memory;
SELECT file, left(special(:'damaged', file), 40) FROM unnest('{large.xz,large.zst}'::text[]) file;

-- Options
\set VERBOSITY terse
ALTER FOREIGN TABLE ours.packed OPTIONS (SET compression 'rar');
ALTER FOREIGN TABLE ours.packed OPTIONS (SET compression 'GZIP');
ALTER FOREIGN TABLE stock.packed OPTIONS (ADD compression 'gzip');
ALTER SERVER ours OPTIONS (ADD compression 'gzip');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (program 'cat x.gz', compression 'gzip');
CREATE FOREIGN TABLE ours.wrong (a int) SERVER ours OPTIONS (program 'cat x.gz', compression 'none');
DROP FOREIGN TABLE ours.wrong;
\set VERBOSITY default
SELECT shell(format('rm -rf %s', :'folder'));
DROP FOREIGN TABLE ours.packed, ours.kinds;
