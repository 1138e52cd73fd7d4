-- ANALYZE by auto: which rows are asked for, by the number of blocks, the rows
-- in them and the workers that the remote server gives.
-- 300 rows are wanted
SET default_statistics_target = 1;

-- With two workers, none by either setting, and two for larger tables only.
CREATE FUNCTION make_server(name text, options text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER tollfree_postgres_fdw'
				   ' OPTIONS (%s, options %L)', name, server_options(), options);
	EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER %I', name);
END
$$;
SELECT make_server('two', '-c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=512kB');
SELECT make_server('one', '-c max_parallel_workers_per_gather=1 -c min_parallel_table_scan_size=512kB');
SELECT make_server('none', '-c max_parallel_workers=0 -c min_parallel_table_scan_size=512kB');
SELECT make_server('late', '-c max_parallel_workers_per_gather=2 -c min_parallel_table_scan_size=8MB');
DROP FUNCTION make_server;

-- Tables of so many blocks with about so many rows in each.
CREATE PROCEDURE make_blocks(name text, blocks int, per_block int)
LANGUAGE plpgsql
AS $$
BEGIN
	EXECUTE format('CREATE TABLE remote.%I (id int, filler text) WITH (autovacuum_enabled = off)', name);
	EXECUTE format('INSERT INTO remote.%I SELECT i, repeat(''x'', %s)'
				   ' FROM generate_series(1, %s) AS i', name,
				   CASE per_block WHEN 7 THEN 1100 WHEN 58 THEN 104 ELSE 0 END, blocks * per_block);
END
$$;
CALL make_blocks('blocks_300_58', 300, 58);
CALL make_blocks('blocks_400_7', 400, 7);
CALL make_blocks('blocks_500_7', 500, 7);
CALL make_blocks('blocks_600_58', 600, 58);
CALL make_blocks('blocks_800_58', 800, 58);
CALL make_blocks('blocks_800_226', 800, 226);
CALL make_blocks('blocks_1100_226', 1100, 226);
CALL make_blocks('blocks_1500_226', 1500, 226);
CREATE TABLE remote.blocks_in_parts (id int, filler text) PARTITION BY RANGE (id);
CREATE TABLE remote.blocks_part_1 PARTITION OF remote.blocks_in_parts FOR VALUES FROM (0) TO (25000)
	WITH (autovacuum_enabled = off);
CREATE TABLE remote.blocks_part_2 PARTITION OF remote.blocks_in_parts DEFAULT
	WITH (autovacuum_enabled = off);
INSERT INTO remote.blocks_in_parts TABLE remote.blocks_800_58;
CREATE MATERIALIZED VIEW remote.blocks_kept AS TABLE remote.blocks_800_58;
CREATE TABLE remote.blocks_emptied (LIKE remote.blocks_800_58) WITH (autovacuum_enabled = off);
INSERT INTO remote.blocks_emptied TABLE remote.blocks_800_58;
VACUUM ANALYZE remote.blocks_300_58, remote.blocks_400_7, remote.blocks_500_7, remote.blocks_600_58,
	remote.blocks_800_58, remote.blocks_800_226, remote.blocks_1100_226, remote.blocks_1500_226,
	remote.blocks_part_1, remote.blocks_part_2, remote.blocks_kept, remote.blocks_emptied;
SELECT relname, relpages, round(reltuples / relpages) AS per_block
FROM pg_class
WHERE relnamespace = 'remote'::regnamespace AND relname LIKE 'blocks%' AND relkind = 'r'
ORDER BY relpages, relname;

-- What ANALYZE sends, from its error at a column that is missing.
CREATE FUNCTION chosen(server text, name text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	context		text;
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE asked (id int, missing text) SERVER %I'
				   ' OPTIONS (schema_name ''remote'', table_name %L)', server, name);
	ANALYZE asked;
EXCEPTION WHEN undefined_column THEN
	GET STACKED DIAGNOSTICS context = pg_exception_context;
	RETURN CASE
		WHEN context ~ 'TABLESAMPLE SYSTEM' THEN 'some blocks'
		WHEN context ~ 'TABLESAMPLE BERNOULLI' THEN 'all blocks'
		WHEN context ~ 'hashtid' THEN 'all blocks, hash'
		WHEN context ~ 'random' THEN 'all blocks, random'
		ELSE 'all rows'
	END;
END
$$;
SELECT name, chosen('two', name) AS two, chosen('one', name) AS one, chosen('none', name) AS none,
	   chosen('late', name) AS late
FROM unnest('{blocks_300_58,blocks_400_7,blocks_500_7,blocks_600_58,blocks_800_58,blocks_800_226,
			  blocks_1100_226,blocks_1500_226,blocks_in_parts,blocks_kept}'::text[]) AS name;

-- truncated; filled again, with nothing known of it
TRUNCATE remote.blocks_emptied;
SELECT chosen('two', 'blocks_emptied');
INSERT INTO remote.blocks_emptied SELECT * FROM remote.blocks_800_58 WHERE id <= 200;
SELECT chosen('two', 'blocks_emptied');
INSERT INTO remote.blocks_emptied SELECT * FROM remote.blocks_600_58 WHERE id > 200;
SELECT chosen('two', 'blocks_emptied'), chosen('one', 'blocks_emptied');
INSERT INTO remote.blocks_emptied SELECT * FROM remote.blocks_600_58;
SELECT chosen('two', 'blocks_emptied'), chosen('one', 'blocks_emptied');

DROP FUNCTION chosen;
DROP PROCEDURE make_blocks;
DROP MATERIALIZED VIEW remote.blocks_kept;
DROP TABLE remote.blocks_300_58, remote.blocks_400_7, remote.blocks_500_7, remote.blocks_600_58,
	remote.blocks_800_58, remote.blocks_800_226, remote.blocks_1100_226, remote.blocks_1500_226,
	remote.blocks_in_parts, remote.blocks_emptied;
DO $$
DECLARE
	name		text;
BEGIN
	FOREACH name IN ARRAY '{two,one,none,late}'::text[] LOOP
		EXECUTE format('DROP USER MAPPING FOR CURRENT_USER SERVER %I', name);
		PERFORM tollfree_postgres_fdw_disconnect(name);
		EXECUTE format('DROP SERVER %I', name);
	END LOOP;
END
$$;
RESET default_statistics_target;
