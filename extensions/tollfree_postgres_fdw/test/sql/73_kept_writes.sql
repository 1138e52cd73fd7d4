-- Commands that write one row are kept prepared from one transaction to the
-- next, as long as the types of their parameters make no difference.
SELECT tollfree_postgres_fdw_disconnect_all();
SET datestyle = ISO;
CREATE TABLE remote.entries (id int, note text, code varchar(9), made timestamp,
	day date, key uuid, pad char(9), amount numeric(8, 2), is_open bool);
CREATE FOREIGN TABLE entries (id int, note text, code varchar(9), made timestamp,
	day date, key uuid, pad char(9), amount numeric(8, 2), is_open bool) SERVER loopback
	OPTIONS (schema_name 'remote');
CREATE VIEW remote.kept AS
SELECT parameter_types, generic_plans + custom_plans AS executions
FROM pg_prepared_statements WHERE statement LIKE 'INSERT%';
CREATE FOREIGN TABLE kept (parameter_types regtype[], executions int8) SERVER loopback
	OPTIONS (schema_name 'remote');

-- the third one finds it kept, in a transaction of its own or not
INSERT INTO entries VALUES (1, 'one', 'c', '2024-01-01 10:00', '2024-01-01', '00000000-0000-0000-0000-000000000001');
INSERT INTO entries VALUES (2, 'two', NULL, '2024-01-02 10:00:00.5', NULL, NULL);
SELECT parameter_types, executions FROM kept;
SET tollfree_postgres_fdw.debug_require = 'cached';
INSERT INTO entries VALUES (3, '', '007', '0044-03-15 12:00 BC', '2024-01-03', '00000000-0000-0000-0000-000000000003');
BEGIN;
SET LOCAL tollfree_postgres_fdw.debug_require = '';
SELECT count(*) FROM entries;
SET LOCAL tollfree_postgres_fdw.debug_require = 'cached';
INSERT INTO entries VALUES (4), (5);
COMMIT;
SET tollfree_postgres_fdw.debug_require = '';
SELECT executions FROM kept;
SET tollfree_postgres_fdw.debug_require = 'cached';

-- not with values whose types make one
INSERT INTO entries (id, pad) VALUES (6, 'x');
INSERT INTO entries (id, amount) VALUES (6, 1);
INSERT INTO entries (id, is_open) VALUES (6, true);
INSERT INTO entries (id, made) VALUES (6, 'infinity');
INSERT INTO entries (id, day) VALUES (6, '-infinity');
-- nor with a result, whose type could change
INSERT INTO entries VALUES (6) RETURNING id;
RESET tollfree_postgres_fdw.debug_require;
INSERT INTO entries VALUES (7, 'seven', 'c7', 'infinity', '-infinity', NULL, 'x', 1.5, true);
SELECT * FROM remote.entries ORDER BY id;

-- altered columns get what they would get from an INSERT that is parsed now
ALTER TABLE remote.entries ALTER id TYPE text, ALTER note TYPE char(12), ALTER code TYPE text,
	ALTER made TYPE date, ALTER day TYPE timestamptz, ALTER key TYPE text, ALTER pad TYPE text;
SET tollfree_postgres_fdw.debug_require = 'cached';
INSERT INTO entries VALUES (8, 'eight', '008', '2024-01-08 10:00', '2024-01-08', '00000000-0000-0000-0000-000000000008');
RESET tollfree_postgres_fdw.debug_require;
INSERT INTO entries VALUES (9, 'nine ', '9 ', 'infinity', NULL, NULL, 'x', 1.5);
SELECT id, note, code, made, day, key, '<' || pad || '>' AS pad FROM remote.entries WHERE id >= '8' ORDER BY id;
-- where there is no such cast it fails once, and is prepared anew
ALTER TABLE remote.entries ALTER id TYPE bool USING true, ALTER note TYPE json USING 'true';
INSERT INTO entries VALUES (1, 'true');
INSERT INTO entries VALUES (1, 'false');
SET tollfree_postgres_fdw.debug_require = 'cached';
INSERT INTO entries VALUES (1, 'null');
RESET tollfree_postgres_fdw.debug_require;
INSERT INTO entries VALUES (1, '1');
SELECT note FROM remote.entries WHERE note::text <> 'true';

-- after an error of a row it is prepared anew as well
SELECT tollfree_postgres_fdw_disconnect_all();
TRUNCATE remote.entries;
ALTER TABLE remote.entries ALTER id TYPE int USING 0, ALTER note TYPE text, ADD CHECK (id < 10);
SELECT written('INSERT INTO entries (id) VALUES (0)') FROM generate_series(1, 3);
INSERT INTO entries (id) VALUES (1);
INSERT INTO entries (id) VALUES (2);
INSERT INTO entries (id) VALUES (11);
INSERT INTO entries (id) VALUES (3);
SET tollfree_postgres_fdw.debug_require = 'cached';
INSERT INTO entries (id) VALUES (4);
RESET tollfree_postgres_fdw.debug_require;
SELECT id FROM remote.entries ORDER BY id;

-- one that somebody has dropped fails, and is prepared anew
CREATE TRIGGER forget BEFORE INSERT ON remote.entries
FOR EACH ROW WHEN (NEW.id = 9) EXECUTE FUNCTION remote.forget('INSERT INTO remote.entries(%');
INSERT INTO entries (id) VALUES (5);
INSERT INTO entries (id) VALUES (9);
BEGIN;
SELECT count(*) FROM entries;
SAVEPOINT a;
\set VERBOSITY sqlstate
INSERT INTO entries (id) VALUES (6);
\set VERBOSITY default
ROLLBACK TO a;
INSERT INTO entries (id) VALUES (7);
INSERT INTO entries (id) VALUES (8);
COMMIT;
SELECT id FROM remote.entries ORDER BY id;

-- that a row without values has been written says nothing of the types
CREATE TABLE remote.blanks (id int, amount numeric, pad char(9));
CREATE FOREIGN TABLE blanks (id int, amount numeric, pad char(9)) SERVER loopback
	OPTIONS (schema_name 'remote');
INSERT INTO blanks (id) VALUES (1);
INSERT INTO blanks (id) VALUES (2);
ALTER TABLE remote.blanks ALTER amount TYPE int, ALTER pad TYPE text;
BEGIN;
INSERT INTO blanks (id) VALUES (3);
INSERT INTO blanks VALUES (4, 1.5);
ROLLBACK;
BEGIN;
INSERT INTO blanks (id) VALUES (3);
INSERT INTO blanks VALUES (4, NULL, 'x');
COMMIT;
SELECT id, amount, '<' || pad || '>' AS pad FROM remote.blanks ORDER BY id;
DROP FOREIGN TABLE blanks;
DROP TABLE remote.blanks;

-- What the types rest on: a value that an assignment casts from one of them to
-- any other is what that other one reads, whatever it is, or an error.
CREATE TABLE remote.probes (source regtype, value text);
INSERT INTO remote.probes
SELECT source::regtype, value
FROM (VALUES ('int2', '0|-1|32767|-32768'), ('int4', '0|-1|7|65536|2147483647|-2147483648'),
	('int8', '0|-1|7|16777217|9007199254740993|9223372036854775807'),
	('text', '|7|-1|abc|a |  a|\101|\\|pg_class|1259|true|2024-01-01|{1}|é'),
	('varchar', '7|a |  a'),
	('date', '2024-02-29|0044-03-15 BC|5874897-12-31'),
	('timestamp', '2024-02-29 23:59:59.999999|2024-02-29 00:00:00|0044-03-15 12:00:00 BC|294276-12-31 23:59:59.9'),
	('uuid', '00000000-0000-0000-0000-00000000000a'), ('tid', '(0,1)')) AS probe (source, probed),
	string_to_array(probed, '|') AS probes, unnest(probes) AS value;
CREATE FUNCTION stored(target text, value text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	stored text;
BEGIN
	EXECUTE format('INSERT INTO target SELECT %s RETURNING format(''<%%s>'', value)', value) INTO stored;
	RETURN stored;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END
$$;
CREATE FUNCTION outcomes() RETURNS TABLE (source regtype, value text, target text, assigned text, read text)
LANGUAGE plpgsql
AS $$
BEGIN
	FOR target IN SELECT format_type(oid, NULL) FROM pg_type
				  WHERE typtype = 'b' AND typelem = 0 AND typname !~ '^ts'
				  UNION SELECT unnest('{varchar(3),char(4),char(40),"numeric(3,1)",timestamp(0),timestamptz(0),time(0)}'::text[])
	LOOP
		EXECUTE format('CREATE TEMP TABLE target (value %s)', target);
		RETURN QUERY SELECT p.source, p.value, target, x.assigned, stored(target, format('%L', p.value))
		FROM remote.probes p, stored(target, format('%L::%s', p.value, p.source)) AS x (assigned)
		WHERE x.assigned IS NOT NULL;
		DROP TABLE target;
	END LOOP;
END
$$;
CREATE TABLE remote.outcomes AS SELECT * FROM outcomes();
SELECT count(*) > 300 AS many FROM remote.outcomes;
SELECT DISTINCT source, value, target ~ '^reg' AS is_oid_alias
FROM remote.outcomes WHERE assigned IS DISTINCT FROM read ORDER BY 1, 2;
SELECT tollfree_postgres_fdw_disconnect_all();
DROP FOREIGN TABLE entries, kept;
DROP VIEW remote.kept;
DROP TABLE remote.entries, remote.probes, remote.outcomes;
DROP FUNCTION outcomes, stored;
