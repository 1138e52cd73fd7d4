-- Several processes read one compressed file, whose members say how long they are.
\getenv abs_builddir PG_ABS_BUILDDIR
\set folder :abs_builddir '/results/chunks'
\set plain :folder '/plain.csv'
\set zst :folder '/many.zst'
SET client_min_messages = warning;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET tollfree_file_fdw.debug_parallel_chunk_size = '1kB';
SELECT shell(format('rm -rf %1$s && mkdir -p %1$s', :'folder'));
COPY (SELECT i AS id, CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN E'two\nlines' WHEN 2 THEN 'a "b"' ELSE repeat('w', i % 30) END AS word,
	(i % 77) * 0.25 AS value FROM generate_series(1, 1500) i) TO :'plain' (FORMAT csv, HEADER);
-- Frames of 700 bytes of text, which cut records, values and quotes
SELECT shell(format('cd %s && split -a 4 -b 700 plain.csv part. && for f in part.*; do zstd -qc $f >> many.zst; printf ''\123\052\115\030\003\0\0\0abc'' >> many.zst; lz4 -qc --content-size $f >> many.lz4;'
	' lz4 -qc $f >> unknown.lz4; zstd -q --no-check < $f >> unknown.zst; gzip -nc $f >> unknown.gz; done; rm part.*', :'folder'));
CREATE FOREIGN TABLE stock.dealt (id int, word text, value numeric(8,2)) SERVER stock OPTIONS (filename :'plain', format 'csv', header 'true');
CREATE FOREIGN TABLE ours.dealt (id int, word text, value numeric(8,2)) SERVER ours OPTIONS (filename :'zst', format 'csv', header 'true', compression 'auto');
CREATE FUNCTION compare_dealt(folder text, files text[]) RETURNS TABLE (file text, plan text, agrees text) LANGUAGE plpgsql
AS $$
BEGIN
	FOREACH file IN ARRAY files LOOP
		EXECUTE format('ALTER FOREIGN TABLE ours.dealt OPTIONS (SET filename %L)', folder || '/' || file);
		plan := (SELECT string_agg(ltrim(line, ' ->'), ', ') FROM shown_plan('SELECT id FROM ours.dealt') line WHERE line ~ 'Scan');
		agrees := (SELECT string_agg(agree(q), ', ') FROM unnest(ARRAY['SELECT * FROM dealt ORDER BY id', 'SELECT count(*), sum(value), min(word COLLATE "C") FROM dealt WHERE id <> 3',
			'SELECT value, count(*) FROM dealt GROUP BY value ORDER BY value', 'SELECT 1 / (id - 1200) FROM dealt',
			'SELECT x.id, y.word FROM dealt x JOIN dealt y USING (id) WHERE x.value = 3 ORDER BY 1',
			'SELECT n, (SELECT count(word) FROM dealt WHERE id < n) FROM generate_series(1, 3) n']) q);
		RETURN NEXT;
	END LOOP;
END
$$;
SELECT * FROM compare_dealt(:'folder', '{many.zst,many.lz4,unknown.zst,unknown.lz4,unknown.gz}');
SET tollfree_file_fdw.push_aggregates = off;
SELECT * FROM compare_dealt(:'folder', '{many.zst,many.lz4}');
SET parallel_leader_participation = off;
SELECT * FROM compare_dealt(:'folder', '{many.zst}');
RESET parallel_leader_participation;
RESET tollfree_file_fdw.push_aggregates;
SELECT DISTINCT regexp_replace(ltrim(line), '\d{5,}', 'N') FROM shown_plan('SELECT sum(value) FROM ours.dealt', 'costs off, analyze, timing off, summary off, buffers off') line
WHERE line ~ 'Fast Path: .*parallel|Compression|Decompressed';

-- COPY's parser takes over: to the chunk's end, and at a marker to the file's.
SELECT shell(format('cd %s && (head -n 900 plain.csv; printf ''6001,\303\251,1\n6002,"y\nz",2\n''; tail -n +901 plain.csv) > odd; (head -n 900 plain.csv; printf ''6001,x,1,y\n''; tail -n +901 plain.csv) > wrong;'
	' sed ''s/,.*//; s/^two$/2/; s/^lines"$/3/; 900s/.*/\\./'' plain.csv | tail -n +2 > marked; for f in odd wrong marked; do split -a 4 -b 900 $f part.; for p in part.*; do zstd -qc $p >> $f.zst; done; rm part.*; done', :'folder'));
CREATE FUNCTION compare_taken(folder text, file text, options text) RETURNS SETOF text LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('ALTER FOREIGN TABLE stock.dealt OPTIONS (SET filename %L%s)', folder || '/' || file, options);
	EXECUTE format('ALTER FOREIGN TABLE ours.dealt OPTIONS (SET filename %L%s)', folder || '/' || file || '.zst', options);
	RETURN QUERY SELECT agree(q) FROM unnest(ARRAY['SELECT * FROM dealt ORDER BY id', 'SELECT count(*), sum(value) FROM dealt']) q;
END
$$;
SELECT compare_taken(:'folder', 'odd', $$, ADD encoding 'latin1'$$);
SELECT regexp_replace(compare_taken(:'folder', 'wrong', ''), 'line \d+.*', 'line N');
SELECT make_pair('dealt_marked', 'a text', :'folder' || '/marked', $$format 'text'$$);
ALTER FOREIGN TABLE ours.dealt_marked OPTIONS (SET filename :'zst', ADD compression 'zstd');
SELECT shell(format('cd %1$s && cp marked.zst many.zst', :'folder'));
SELECT agree('SELECT count(*), max(a) FROM dealt_marked'), agree('SELECT * FROM dealt_marked ORDER BY a');

-- A process has no more text in memory than may be taken.
SELECT shell(format('cd %s && head -c 17000000 /dev/zero | tr ''\000'' x | fold -w 999 > long && (zstd -qc long; zstd -qc long) > many.zst', :'folder'));
SET tollfree_file_fdw.compressed_memory = '16MB';
SELECT count(*), length(max(a)) FROM ours.dealt_marked;
SELECT ltrim(line) FROM shown_plan('SELECT max(a) FROM ours.dealt_marked', 'costs off, analyze, timing off, summary off, buffers off') line WHERE line ~ 'one process';
RESET tollfree_file_fdw.compressed_memory;
SELECT count(*) FROM shown_plan('SELECT max(a) FROM ours.dealt_marked', 'costs off, analyze, timing off, summary off, buffers off') line WHERE line ~ 'one process';

-- What is damaged is an error with its place, as when one process reads it.
SELECT shell(format('cd %s && split -a 4 -b 700 plain.csv part. && rm -f many.zst && for f in part.*; do zstd -qc $f >> many.zst; done; rm part.*; s=$(stat -c %%s many.zst) && head -c $((s - 3)) many.zst > cut.zst;'
	' (cat many.zst; printf rubbish) > behind.zst; (head -c $((s / 2)) many.zst; printf ''########''; tail -c +$((s / 2 + 9)) many.zst) > flipped.zst; (head -c $((s - 3)) many.zst; printf ''###'') > checksum.zst', :'folder'));
CREATE FUNCTION damages_dealt(folder text) RETURNS TABLE (file text, outcome text, is_same boolean) LANGUAGE plpgsql
AS $$
DECLARE
	alone text;
BEGIN
	FOREACH file IN ARRAY '{cut.zst,behind.zst,flipped.zst,checksum.zst}'::text[] LOOP
		EXECUTE format('ALTER FOREIGN TABLE ours.dealt OPTIONS (SET filename %L)', folder || '/' || file);
		SET LOCAL max_parallel_workers_per_gather = 0;
		alone := failure('SELECT count(*), sum(id) FROM dealt');
		SET LOCAL max_parallel_workers_per_gather = 2;
		outcome := failure('SELECT count(*), sum(id) FROM dealt');
		is_same := outcome = alone;
		outcome := regexp_replace(outcome, '(byte|at) \d+', '\1 N', 'g');
		RETURN NEXT;
	END LOOP;
END
$$;
ALTER FOREIGN TABLE ours.dealt OPTIONS (DROP encoding);
SELECT * FROM damages_dealt(:'folder');

SELECT shell(format('rm -rf %s', :'folder'));
DROP FOREIGN TABLE ours.dealt, stock.dealt, ours.dealt_marked, stock.dealt_marked;
