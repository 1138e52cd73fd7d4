-- Lookups of several batches, of which the next one is sent before the rows of the present one are used.
CREATE TABLE remote.catalogue AS SELECT i AS id, i % 1000 AS k, 'entry ' || i AS name FROM generate_series(1, 30000) i;
ALTER TABLE remote.catalogue ADD PRIMARY KEY (id);
CREATE INDEX ON remote.catalogue (k);
ANALYZE remote.catalogue;
CREATE FOREIGN TABLE catalogue (id int, k int, name text) SERVER loopback OPTIONS (schema_name 'remote');
ANALYZE catalogue;
-- Outer rows so wide that a batch has a few hundred of them
CREATE TABLE wishes (n int, id int, k int, wide text);
ALTER TABLE wishes ALTER wide SET STORAGE PLAIN;
INSERT INTO wishes SELECT i, CASE WHEN i % 10 <> 3 THEN i * 7 % 33000 END, i * 11 % 1200, repeat(chr(97 + i % 26), 3000) FROM generate_series(1, 2000) i;
ANALYZE wishes;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
-- Executes a query of the foreign table and of the remote one: is the answer the same, and are there several batches?
CREATE FUNCTION compare_next(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	here text;
	there text;
	plan jsonb;
BEGIN
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'')) FROM (%s) q', query) INTO here;
	PERFORM set_config('search_path', 'remote, public', true);
	EXECUTE format('SELECT count(*) || '' rows '' || md5(string_agg(q::text, E''\n'')) FROM (%s) q', query) INTO there;
	PERFORM set_config('search_path', 'public', true);
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN format('%s, %s: %s', CASE WHEN here IS NOT DISTINCT FROM there THEN 'same' ELSE here || ' but ' || there END, here,
				  (SELECT coalesce(string_agg(CASE WHEN (node->'Batches')::int > 1 THEN 'several batches' ELSE 'one batch' END, ', '), 'no batches')
				   FROM jsonb_path_query(plan, 'strict $.**?(exists(@."Keys"))') node));
END
$$;
SELECT compare_next('SELECT w.n, length(w.wide), c.* FROM wishes w JOIN catalogue c USING (id) ORDER BY n');
SELECT compare_next('SELECT w.n, length(w.wide), c.* FROM wishes w LEFT JOIN catalogue c USING (id) ORDER BY n');
SELECT compare_next('SELECT w.n, length(w.wide) FROM wishes w WHERE EXISTS (SELECT FROM catalogue c WHERE c.id = w.id) ORDER BY n');
SELECT compare_next('SELECT w.n, length(w.wide) FROM wishes w WHERE NOT EXISTS (SELECT FROM catalogue c WHERE c.id = w.id) ORDER BY n');
SELECT compare_next('SELECT w.n, length(w.wide), c.id FROM wishes w JOIN catalogue c USING (k) WHERE w.n <= 700 ORDER BY n, c.id');
-- Two levels of lookups in one session, and one below a LIMIT, which asks for no batch ahead
SELECT compare_next('SELECT w.n, w.wide > ''k'', c.id, d.name FROM wishes w JOIN catalogue c USING (id) JOIN catalogue d ON d.id = c.k + 1 ORDER BY n');
SELECT compare_next('SELECT w.n, length(w.wide), c.* FROM wishes w JOIN catalogue c USING (id) LIMIT 50');
-- Rows that exceed work_mem
SET work_mem = '64kB';
SELECT compare_next('SELECT w.n, length(w.wide), c.* FROM wishes w LEFT JOIN catalogue c USING (k) WHERE w.n <= 700 ORDER BY n, c.id');
RESET work_mem;
-- A rescan while a batch is in flight
SELECT compare_next('SELECT g, q.* FROM generate_series(1, 3) g, LATERAL (SELECT count(*), sum(length(w.wide)), max(c.name) FROM wishes w JOIN catalogue c USING (id) WHERE w.n > g * 300) q');
-- The session is used between the rows of a join whose next batch is in flight: what is in flight is read first.
CREATE FUNCTION entries_of(wanted int) RETURNS int8
LANGUAGE plpgsql STABLE
AS $$
BEGIN
	IF wanted % 100 = 7 THEN
		BEGIN
			RETURN (SELECT count(*) FROM catalogue WHERE k = wanted) + 1 / (wanted % 200 - 7);
		EXCEPTION WHEN division_by_zero THEN
			RETURN -1;
		END;
	END IF;
	RETURN 0;
END
$$;
SELECT compare_next('SELECT count(*), sum(length(w.wide)), sum(entries_of(c.k)) FROM wishes w JOIN catalogue c USING (id)');
-- Partitions, of which some are on one server
CREATE TABLE split_catalogue (id int, k int, name text) PARTITION BY HASH (id);
CREATE SERVER second_shelf FOREIGN DATA WRAPPER tollfree_postgres_fdw;
DO $$
BEGIN
	EXECUTE format('ALTER SERVER second_shelf OPTIONS (ADD %s)', replace(server_options(), ', ', ', ADD '));
	CREATE USER MAPPING FOR PUBLIC SERVER second_shelf OPTIONS (password_required 'false');
	CREATE TABLE remote.split_catalogue (id int, k int, name text) PARTITION BY HASH (id);
	FOR i IN 0..2 LOOP
		EXECUTE format('CREATE TABLE remote.split_catalogue_%s PARTITION OF remote.split_catalogue FOR VALUES WITH (MODULUS 3, REMAINDER %s)', i, i);
		EXECUTE format('CREATE FOREIGN TABLE split_catalogue_%s PARTITION OF split_catalogue FOR VALUES WITH (MODULUS 3, REMAINDER %s) SERVER %s OPTIONS (schema_name ''remote'')',
					   i, i, CASE i WHEN 2 THEN 'second_shelf' ELSE 'loopback' END);
	END LOOP;
END
$$;
INSERT INTO remote.split_catalogue SELECT * FROM remote.catalogue;
CREATE INDEX ON remote.split_catalogue (id);
CREATE INDEX ON remote.split_catalogue (k);
ANALYZE remote.split_catalogue;
ANALYZE split_catalogue_0, split_catalogue_1, split_catalogue_2;
SELECT compare_next('SELECT w.n, length(w.wide), c.* FROM wishes w LEFT JOIN split_catalogue c USING (id) ORDER BY n');
SELECT compare_next('SELECT w.n, length(w.wide), c.* FROM wishes w JOIN split_catalogue c USING (k) WHERE w.n <= 700 ORDER BY n, c.id');
-- An error of the remote server in a batch that is in flight, and of a local expression while one is
SELECT count(*), sum(1000 / (c.k - w.k)) FROM wishes w JOIN catalogue c USING (id);
SELECT sum(1 / (w.n - 700)) FROM wishes w JOIN catalogue c USING (id);
SELECT count(*) FROM wishes w JOIN catalogue c USING (id);
RESET enable_hashjoin;
RESET enable_mergejoin;
