-- ANALYZE of a file that something is wrong with: an error, and the statistics
-- of before; the same as with file_fdw.
\set VERBOSITY terse
SELECT current_setting('data_directory') || '/tollfree_outcomes.txt' AS file,
	current_setting('data_directory') || '/tollfree_gone.txt' AS gone \gset
CREATE FUNCTION write_rows(file text, query text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (%s) TO %L', query, file);
END
$$;
CREATE FUNCTION run_command(command text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', 'cat > /dev/null; ' || command);
END
$$;
-- 300 rows are wanted of 5000: random blocks; and of one that is read whole
SET default_statistics_target = 1;
CREATE FUNCTION is_patient(int) RETURNS bool
LANGUAGE sql STABLE
AS $$SELECT true FROM pg_sleep(current_setting('tests.patience')::float8)$$;
CREATE DOMAIN patient AS int CHECK (is_patient(VALUE));
SET tests.patience = 0;
SELECT write_rows(:'file', 'SELECT i, i % 7, ''word '' || i FROM generate_series(1, 5000) i'),
	make_pair('outcomes', 'id int, few patient, word text', :'file', $$format 'text'$$);
ANALYZE ours.outcomes, stock.outcomes;

-- What becomes of ANALYZE on both sides, by blocks and whole, and whether what
-- was known is still known.
CREATE FUNCTION known_now() RETURNS TABLE (side text, reltuples real, statistics text)
LANGUAGE sql
AS $$
	SELECT c.relnamespace::regnamespace::text, c.reltuples,
		   (SELECT md5(string_agg(s::text, ' ' ORDER BY s.staattnum))
			FROM pg_statistic s WHERE s.starelid = c.oid)
	FROM pg_class c WHERE c.relname = 'outcomes'
$$;
CREATE TABLE known AS SELECT * FROM known_now();
CREATE FUNCTION analyze_outcome(side text) RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('ANALYZE %I.outcomes', side);
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN regexp_replace(regexp_replace(concat_ws(': ', sqlstate, sqlerrm), '"/.*/', '"'), '\d{6,}', 'NUMBER');
END
$$;
CREATE FUNCTION both_outcomes() RETURNS TABLE (sample_blocks text, side text, outcome text, has_rows bool, is_kept bool)
LANGUAGE plpgsql
AS $$
BEGIN
	FOR sample_blocks, side IN VALUES ('on', 'ours'), ('off', 'ours'), ('on', 'stock') LOOP
		PERFORM set_config('tollfree_file_fdw.sample_blocks', sample_blocks, true);
		outcome := analyze_outcome(side);
		SELECT n.reltuples > 0, n.statistics = k.statistics INTO has_rows, is_kept
		FROM known_now() n JOIN known k ON k.side = n.side
		WHERE n.side = both_outcomes.side;
		RETURN NEXT;
	END LOOP;
END
$$;

-- gone; without rights; a folder; empty
SELECT run_command(format('mv %s %s', :'file', :'gone'));
SELECT * FROM both_outcomes();
SELECT run_command(format('mv %s %s; chmod 000 %s', :'gone', :'file', :'file'));
SELECT * FROM both_outcomes();
SELECT run_command(format('rm -f %s; mkdir %s', :'file', :'file'));
SELECT * FROM both_outcomes();
SELECT run_command(format('rmdir %s; touch %s', :'file', :'file'));
SELECT * FROM both_outcomes();

-- cut in the middle of its one row; with other columns throughout; too long a number
SELECT run_command(format('printf ''1\t2'' > %s', :'file'));
SELECT * FROM both_outcomes();
SELECT write_rows(:'file', 'SELECT i, i FROM generate_series(1, 5000) i');
SELECT * FROM both_outcomes();
SELECT write_rows(:'file', 'SELECT 9999999999 + i, i, i FROM generate_series(1, 5000) i');
SELECT * FROM both_outcomes();

-- interrupted: reading a value takes long
SELECT write_rows(:'file', 'SELECT i, i % 7, ''word '' || i FROM generate_series(1, 5000) i');
SET tests.patience = 0.01;
SET statement_timeout = '200ms';
ANALYZE ours.outcomes;
SET tollfree_file_fdw.sample_blocks = off;
ANALYZE ours.outcomes;
RESET tollfree_file_fdw.sample_blocks;
ANALYZE stock.outcomes;
RESET statement_timeout;
SET tests.patience = 0;
SELECT n.side, n.statistics = k.statistics AS is_kept
FROM known_now() n JOIN known k USING (side) ORDER BY 1;

-- as good as new
SELECT sample_blocks, side, outcome FROM both_outcomes();
SELECT side, reltuples BETWEEN 4000 AND 6000 AS has_rows FROM known_now() ORDER BY 1;
SELECT run_command(format('rm %s', :'file'));
DROP FOREIGN TABLE ours.outcomes, stock.outcomes;
DROP TABLE known;
DROP FUNCTION known_now, analyze_outcome, both_outcomes, write_rows, run_command;
DROP DOMAIN patient;
DROP FUNCTION is_patient;
\set VERBOSITY default
RESET default_statistics_target;
