-- Thousands of rows that are sent at once need not as many copies of their command's text.
SELECT string_agg(format('a_column_with_a_long_name_%s int', i), ', ') AS columns FROM generate_series(1, 40) i \gset
CREATE TABLE remote.wide_command (:columns);
CREATE FOREIGN TABLE wide_command (:columns) SERVER loopback OPTIONS (schema_name 'remote');
SET tollfree_postgres_fdw.debug_require = 'pipelined';
SELECT tollfree_postgres_fdw_disconnect('loopback') IS NOT NULL;
BEGIN;
INSERT INTO wide_command SELECT i FROM generate_series(1, 400) i;
SELECT total_bytes < 100000 AS is_small FROM pg_backend_memory_contexts
WHERE name = 'tollfree_postgres_fdw batch' ORDER BY total_bytes DESC LIMIT 1;
COMMIT;
RESET tollfree_postgres_fdw.debug_require;
SELECT count(*) FROM remote.wide_command;
DROP FOREIGN TABLE wide_command;
DROP TABLE remote.wide_command;
