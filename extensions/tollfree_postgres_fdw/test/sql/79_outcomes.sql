-- What a statement has done when it ends: which rows it counts, in which order they were written.
-- one row here that is several there
CREATE TABLE remote.copies (a int);
CREATE VIEW remote.tripled AS SELECT * FROM remote.copies;
CREATE RULE triple AS ON INSERT TO remote.tripled
	DO INSTEAD INSERT INTO remote.copies SELECT NEW.a FROM generate_series(1, 3);
CREATE TABLE remote.halves (k int, a int) PARTITION BY LIST (k);
CREATE TABLE remote.half_1 PARTITION OF remote.halves FOR VALUES IN (1);
CREATE TABLE remote.half_2 PARTITION OF remote.halves FOR VALUES IN (2);
INSERT INTO remote.halves VALUES (1, 1), (2, 1);
DO $$
BEGIN
	EXECUTE format('CREATE SERVER stock_loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (%s)',
				   server_options());
	CREATE USER MAPPING FOR PUBLIC SERVER stock_loopback OPTIONS (password_required 'false');
END
$$;
CREATE FOREIGN TABLE tripled (a int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE tripled_stock (a int) SERVER stock_loopback
	OPTIONS (schema_name 'remote', table_name 'tripled');
CREATE FOREIGN TABLE halves (k int, a int) SERVER loopback OPTIONS (schema_name 'remote');
CREATE FOREIGN TABLE halves_stock (k int, a int) SERVER stock_loopback
	OPTIONS (schema_name 'remote', table_name 'halves');
\set QUIET off
INSERT INTO tripled_stock VALUES (1);
INSERT INTO tripled VALUES (1);
INSERT INTO tripled_stock VALUES (1), (2);
INSERT INTO tripled VALUES (1), (2);
COPY tripled_stock FROM stdin;
1
2
\.
COPY tripled FROM stdin;
1
2
\.
-- (both rows have one ctid: postgres_fdw changes both for the first of them, and counts one)
UPDATE halves_stock SET a = a + 1 WHERE random() >= 0;
UPDATE halves SET a = a - 1 WHERE random() >= 0;
\set QUIET on

-- rows of COPY that are routed to several tables, of which one refers to the other
CREATE TABLE remote.referred (kind text, id int PRIMARY KEY, ref int);
CREATE TABLE remote.referring (kind text, id int, ref int REFERENCES remote.referred);
CREATE TABLE routed (kind text, id int, ref int) PARTITION BY LIST (kind);
CREATE FOREIGN TABLE routed_a PARTITION OF routed FOR VALUES IN ('a')
	SERVER loopback OPTIONS (schema_name 'remote', table_name 'referred');
CREATE FOREIGN TABLE routed_b PARTITION OF routed FOR VALUES IN ('b')
	SERVER loopback OPTIONS (schema_name 'remote', table_name 'referring');
COPY routed FROM stdin;
b	1	\N
a	5	\N
b	2	5
\.
SELECT * FROM routed ORDER BY kind, id;

-- rows that take long to compute do not leave the remote transaction idle
CREATE TABLE remote.slowly (n int);
DO $$
BEGIN
	EXECUTE format('CREATE SERVER impatient FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (%s, options ''-c idle_in_transaction_session_timeout=4s'')',
				   server_options());
	CREATE USER MAPPING FOR PUBLIC SERVER impatient OPTIONS (password_required 'false');
END
$$;
CREATE FOREIGN TABLE slowly (n int) SERVER impatient OPTIONS (schema_name 'remote');
BEGIN;
INSERT INTO slowly VALUES (0);
INSERT INTO slowly SELECT n FROM generate_series(1, 6) n, LATERAL (SELECT pg_sleep(1.1 + n * 0)) s;
COMMIT;
SELECT array_agg(n) FROM remote.slowly;
DROP TABLE routed;
