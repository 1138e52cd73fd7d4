-- Remote transactions are read-only and deferrable where the local ones are, from PostgreSQL 19 on: always as through postgres_fdw.
CREATE TABLE remote.lines (id int, t text);
INSERT INTO remote.lines VALUES (1, 'foo'), (2, 'bar');
CREATE FUNCTION remote.write() RETURNS int LANGUAGE sql AS 'UPDATE remote.lines SET t = t || t RETURNING id';
CREATE VIEW remote.writes AS SELECT remote.write() AS id;
CREATE VIEW remote.modes AS SELECT current_setting('transaction_read_only') AS read_only, current_setting('transaction_deferrable') AS deferrable, current_setting('transaction_isolation') AS isolation;
CREATE SCHEMA stock;
CREATE SCHEMA ours;
DO $$
BEGIN
	EXECUTE format('CREATE SERVER stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)', server_options());
END
$$;
CALL make_servers('other', 1, 'keep_connections ''true''');
CREATE USER MAPPING FOR PUBLIC SERVER stock OPTIONS (password_required 'false');
IMPORT FOREIGN SCHEMA remote LIMIT TO (lines, writes, modes) FROM SERVER stock INTO stock;
IMPORT FOREIGN SCHEMA remote LIMIT TO (lines, writes, modes) FROM SERVER loopback INTO ours;
CREATE FOREIGN TABLE ours.other_modes (read_only text, "deferrable" text, isolation text) SERVER other_0 OPTIONS (schema_name 'remote', table_name 'modes');
-- Whether the remote transactions have the same modes, and on a second server, too.
CREATE VIEW same AS SELECT s::text = o::text AS is_same FROM stock.modes s, ours.modes o;
CREATE VIEW same_everywhere AS SELECT s::text = o::text AND s::text = p::text AS is_same FROM stock.modes s, ours.modes o, ours.other_modes p;
-- What becomes of a remote view that writes.
CREATE FUNCTION outcome_of(query text) RETURNS text LANGUAGE plpgsql
AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE query INTO answer;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE FUNCTION writes_somehow(side text) RETURNS text LANGUAGE sql
AS $$ SELECT outcome_of(format('SELECT count(*) FROM %I.writes', side)) $$;
START TRANSACTION READ ONLY;
SELECT * FROM same;
SAVEPOINT s;
SELECT * FROM same_everywhere;
ROLLBACK TO s;
SELECT * FROM same_everywhere;
COMMIT;
START TRANSACTION;
SAVEPOINT s;
SET transaction_read_only = on;
SELECT * FROM same;
SAVEPOINT deeper;
SELECT * FROM same_everywhere;
ROLLBACK TO s;
SELECT * FROM same_everywhere;
RELEASE SAVEPOINT s;
SELECT * FROM same_everywhere;
SET transaction_read_only = on;
SELECT * FROM same_everywhere;
ROLLBACK;
START TRANSACTION;
SELECT * FROM same;
SAVEPOINT s;
SELECT * FROM same;
SET transaction_read_only = on;
SELECT * FROM same_everywhere;
RELEASE SAVEPOINT s;
SELECT * FROM same_everywhere;
SAVEPOINT s;
SELECT * FROM same_everywhere;
SAVEPOINT deeper;
SET transaction_read_only = on;
SELECT * FROM same_everywhere;
ROLLBACK TO deeper;
SELECT * FROM same_everywhere;
SET transaction_read_only = on;
RELEASE SAVEPOINT s;
SAVEPOINT s;
SELECT * FROM same_everywhere;
COMMIT;
START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY;
SELECT * FROM same_everywhere;
COMMIT;
START TRANSACTION ISOLATION LEVEL SERIALIZABLE DEFERRABLE;
SELECT * FROM same_everywhere;
COMMIT;
START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT * FROM same_everywhere;
COMMIT;
START TRANSACTION DEFERRABLE;
SAVEPOINT s;
SELECT * FROM same_everywhere;
COMMIT;
SET default_transaction_read_only = on;
SELECT * FROM same_everywhere;
SELECT s::text = o::text FROM stock.lines s JOIN ours.lines o USING (id);
RESET default_transaction_read_only;
-- Writing views, each side in transactions of its own: refused alike, and what was refused is undone alike.
START TRANSACTION READ ONLY;
SELECT writes_somehow('stock') AS outcome_1 \gset
ROLLBACK;
START TRANSACTION READ ONLY;
SELECT writes_somehow('ours') = :'outcome_1' AS is_same;
ROLLBACK;
START TRANSACTION;
SAVEPOINT s;
SET transaction_read_only = on;
SELECT writes_somehow('stock') AS outcome_1 \gset
ROLLBACK TO s;
SELECT writes_somehow('stock') AS outcome_2 \gset
SET transaction_read_only = on;
SELECT writes_somehow('stock') AS outcome_3 \gset
ROLLBACK;
START TRANSACTION;
SAVEPOINT s;
SET transaction_read_only = on;
SELECT writes_somehow('ours') = :'outcome_1' AS is_same;
ROLLBACK TO s;
SELECT writes_somehow('ours') = :'outcome_2' AS is_same;
SET transaction_read_only = on;
SELECT writes_somehow('ours') = :'outcome_3' AS is_same;
ROLLBACK;
-- A function that makes the transaction read-only while its caller's rows are being written.
CREATE FUNCTION restrict_itself(number int, side text) RETURNS int LANGUAGE plpgsql
AS $$
BEGIN
	IF number = 2 THEN
		SET LOCAL transaction_read_only = on;
		EXECUTE format('SELECT read_only FROM %I.modes', side);
	END IF;
	RETURN number;
END
$$;
CREATE FUNCTION outcome_of_writing(side text) RETURNS text LANGUAGE sql
AS $$ SELECT coalesce(left(outcome_of(format('INSERT INTO %1$I.lines SELECT restrict_itself(i, %1$L), ''row'' FROM generate_series(1, 3) i', side)), 5), 'written') $$;
SELECT outcome_of_writing('stock') = outcome_of_writing('ours') AS is_same;
TRUNCATE remote.lines;
-- It takes no round trip.
SELECT count(*) FROM ours.lines;
SELECT round_trips_since(0) AS before \gset
START TRANSACTION READ ONLY;
SELECT count(*) FROM ours.lines;
SELECT count(*) FROM ours.lines;
SAVEPOINT s;
SELECT count(*) FROM ours.lines;
COMMIT;
SELECT round_trips_since(:before);
START TRANSACTION ISOLATION LEVEL REPEATABLE READ DEFERRABLE;
SAVEPOINT s;
SELECT count(*) FROM ours.lines;
SET transaction_read_only = on;
SELECT count(*) FROM ours.lines;
COMMIT;
SELECT round_trips_since(:before);
SET default_transaction_read_only = on;
SELECT count(*) FROM ours.lines;
RESET default_transaction_read_only;
SELECT round_trips_since(:before);
SET client_min_messages = warning;
DROP SERVER stock, other_0 CASCADE;
DROP SCHEMA stock, ours CASCADE;
RESET client_min_messages;
DROP VIEW remote.writes, remote.modes;
DROP TABLE remote.lines;
DROP FUNCTION remote.write, outcome_of, writes_somehow, restrict_itself, outcome_of_writing;
