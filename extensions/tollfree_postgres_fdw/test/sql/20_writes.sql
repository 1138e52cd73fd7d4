-- INSERT, UPDATE, DELETE, COPY, routing, TRUNCATE.
CREATE TABLE remote.stock (
	id int PRIMARY KEY,
	amount int CHECK (amount >= 0),
	twice int GENERATED ALWAYS AS (amount * 2) STORED,
	note text DEFAULT 'none'
);
CREATE FOREIGN TABLE stock (
	id int,
	amount int,
	twice int GENERATED ALWAYS AS (amount * 2) STORED,
	note text
) SERVER loopback OPTIONS (schema_name 'remote', table_name 'stock');

INSERT INTO stock (id, amount, note) VALUES (1, 10, 'a'), (2, 20, NULL), (3, 30, 'c')
RETURNING id, twice, note;
INSERT INTO stock (id, amount) VALUES (1, 5) ON CONFLICT DO NOTHING RETURNING id;
INSERT INTO stock (id, amount) VALUES (1, 5);
INSERT INTO stock (id, amount) VALUES (9, -1);

-- as one remote command, and row by row
UPDATE stock SET amount = amount + 1 WHERE id < 3;
UPDATE stock SET amount = amount + 1 WHERE id < 3 RETURNING id, amount, twice;
UPDATE stock SET amount = amount + (random() >= 0)::int WHERE id < 3 RETURNING id, amount;
DELETE FROM stock WHERE id = 3 RETURNING stock;
DELETE FROM stock WHERE id = 2 AND random() >= 0;
SELECT * FROM remote.stock ORDER BY id;
UPDATE stock s SET note = i.label FROM items i WHERE i.id = s.id RETURNING s.id, s.note, i.label, s.ctid IS NOT NULL AS has_ctid;
UPDATE stock SET note = 'nobody' WHERE id = 1 RETURNING 1;

-- batches, also a last one that is smaller
ALTER FOREIGN TABLE stock OPTIONS (ADD batch_size '4');
INSERT INTO stock (id, amount) SELECT i, i FROM generate_series(10, 19) i;
COPY stock (id, amount, note) FROM stdin;
20	20	copied
21	21	\N
22	22	copied
\.
ALTER FOREIGN TABLE stock OPTIONS (DROP batch_size);
SELECT count(*), sum(amount), sum(twice), count(note) FROM remote.stock;

-- a trigger sees what the remote server made of the row
CREATE FUNCTION show_row() RETURNS trigger
LANGUAGE plpgsql
AS $$ BEGIN RAISE NOTICE '% %: %', TG_WHEN, TG_OP, coalesce(NEW, OLD); RETURN coalesce(NEW, OLD); END $$;
CREATE TRIGGER shown AFTER INSERT OR UPDATE OR DELETE ON stock FOR EACH ROW EXECUTE FUNCTION show_row();
INSERT INTO stock (id, amount) VALUES (30, 3);
UPDATE stock SET amount = 4 WHERE id = 30;
DELETE FROM stock WHERE id = 30;
COPY stock (id, amount) FROM stdin;
31	7
\.
DROP TRIGGER shown ON stock;

-- a view's check
CREATE VIEW some_stock AS SELECT id, amount FROM stock WHERE amount < 100 WITH CHECK OPTION;
INSERT INTO some_stock VALUES (40, 99);
INSERT INTO some_stock VALUES (41, 101);
UPDATE some_stock SET amount = 200 WHERE id = 40;

-- partitions: routed rows, moved rows
CREATE TABLE remote.far (id int, part text);
CREATE TABLE parted (id int, part text) PARTITION BY LIST (part);
CREATE TABLE near PARTITION OF parted FOR VALUES IN ('near');
CREATE FOREIGN TABLE far PARTITION OF parted FOR VALUES IN ('far')
	SERVER loopback OPTIONS (schema_name 'remote', table_name 'far');
INSERT INTO parted VALUES (1, 'near'), (2, 'far'), (3, 'near'), (4, 'far') RETURNING *;
UPDATE parted SET part = 'far' WHERE id = 1 RETURNING *;
SELECT tableoid::regclass, * FROM parted ORDER BY id;
SELECT count(*) FROM remote.far;

-- how many round trips a write takes: the statement and its commit
SELECT round_trips_since(0) AS before \gset
DELETE FROM stock WHERE id = 10;
SELECT round_trips_since(:before) AS round_trips;
SELECT round_trips_since(0) AS before \gset
INSERT INTO stock (id, amount) VALUES (50, 1);
SELECT round_trips_since(:before) AS round_trips;

SELECT round_trips_since(0) AS before \gset
UPDATE stock SET amount = amount + (random() >= 0)::int WHERE id = 11;
SELECT round_trips_since(:before) AS round_trips;

-- TRUNCATE, and what may not follow it
TRUNCATE stock;
SELECT count(*) FROM remote.stock;
ALTER FOREIGN TABLE stock OPTIONS (ADD truncatable 'false');
TRUNCATE stock;
ALTER FOREIGN TABLE stock OPTIONS (DROP truncatable);
ALTER FOREIGN TABLE stock OPTIONS (ADD use_remote_estimate 'true');
CREATE SCHEMA imported;
BEGIN;
TRUNCATE stock;
SELECT count(*) FROM stock;
IMPORT FOREIGN SCHEMA remote LIMIT TO (stock) FROM SERVER loopback INTO imported;
ROLLBACK;
BEGIN;
SELECT count(*) FROM stock;
TRUNCATE stock;
ROLLBACK;
BEGIN;
IMPORT FOREIGN SCHEMA remote LIMIT TO (stock) FROM SERVER loopback INTO imported;
TRUNCATE stock;
ROLLBACK;
-- It is known of a connection that has replaced a lost one, too.
SELECT pg_terminate_backend(remote_backend_pid, 10000) FROM tollfree_postgres_fdw_get_connections();
BEGIN;
SET LOCAL statement_timeout = '10s';
TRUNCATE stock;
SELECT count(*) FROM stock;
IMPORT FOREIGN SCHEMA remote LIMIT TO (stock) FROM SERVER loopback INTO imported;
ROLLBACK;
DROP SCHEMA imported;
ALTER FOREIGN TABLE stock OPTIONS (DROP use_remote_estimate);
BEGIN;
ANALYZE stock;
TRUNCATE stock;
ROLLBACK;
ANALYZE stock;

-- Rows that are locked come fetch_size at a time, and in larger parts where the query locks all of them.
CREATE TABLE remote.racks (id int PRIMARY KEY, amount int);
INSERT INTO remote.racks SELECT i, i FROM generate_series(1, 2000) i;
CREATE FOREIGN TABLE racks (id int, amount int) SERVER loopback OPTIONS (schema_name 'remote', fetch_size '10');
CREATE TABLE pickings (id int PRIMARY KEY, taken int);
INSERT INTO pickings SELECT i * 100, 1 FROM generate_series(1, 20) i;
ANALYZE racks, pickings;
CREATE FUNCTION fetched(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	next xid8 := pg_snapshot_xmax(pg_current_snapshot());
	before int8 := round_trips_since(0);
	processed int;
BEGIN
	EXECUTE query;
	GET DIAGNOSTICS processed = ROW_COUNT;
	RETURN format('%s rows here, %s locked by %s round trips', processed,
				  (SELECT count(*) FROM remote.racks WHERE xmax::text::int8 >= next::text::int8),
				  CASE WHEN round_trips_since(before) < 20 THEN 'few' ELSE 'many' END);
END
$$;
CREATE FUNCTION is_odd(n int) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RETURN n % 2 = 1; END';
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT fetched('UPDATE racks w SET amount = w.amount - o.taken FROM pickings o WHERE o.id = w.id');
SELECT fetched('DELETE FROM racks w USING pickings o WHERE o.id = w.id AND o.id <= 1000');
SELECT fetched('SELECT * FROM racks JOIN pickings USING (id) FOR UPDATE OF racks');
SELECT fetched('UPDATE racks SET amount = amount + 1 WHERE random() >= 0');
SELECT sum(amount), count(*) FROM remote.racks;
-- not if it may stop early, nor under a timeout, which runs while others have rows locked
SELECT fetched('SELECT * FROM racks WHERE is_odd(id) LIMIT 1 FOR UPDATE');
SELECT fetched('SELECT * FROM pickings WHERE EXISTS (SELECT FROM racks WHERE is_odd(racks.id) FOR UPDATE)');
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM racks FOR UPDATE;
SELECT fetched('FETCH 25 FROM c');
COMMIT;
ALTER SERVER loopback OPTIONS (ADD options '-c statement_timeout=100s');
SELECT count(*) FROM pickings JOIN racks USING (id);
SELECT fetched('UPDATE racks w SET amount = w.amount - o.taken FROM pickings o WHERE o.id = w.id');
ALTER SERVER loopback OPTIONS (DROP options);
RESET enable_nestloop;
RESET enable_mergejoin;
-- nor many at once that are used slowly
CREATE SEQUENCE used;
SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next \gset
UPDATE racks SET amount = 0 WHERE pg_sleep(0.11) IS NOT NULL AND 1 / (11 - nextval('used')) IS NOT NULL;
SELECT count(*) FROM remote.racks WHERE xmax::text::int8 >= :next;
