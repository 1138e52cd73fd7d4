-- Lengths are of characters, which databases of two encodings count differently.
\set home :DBNAME
CREATE DATABASE bytewise TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C';
CREATE TABLE remote.umlauts (id int, fixed char(3), upto varchar(3));
INSERT INTO remote.umlauts VALUES (1, U&'\00e4', U&'\00e4\00e4\00e4');
CREATE FUNCTION server_options(dbname text) RETURNS text
LANGUAGE sql
RETURN replace(server_options(), quote_literal(current_database()), quote_literal(dbname));
SELECT server_options('bytewise') AS "to", server_options() AS back \gset
\connect bytewise
CREATE TABLE words (id int, fixed char(6), upto varchar(6), price numeric);
INSERT INTO words SELECT i, E'\xc3\xa4b', E'\xc3\xa4b', i FROM generate_series(1, 3000) i;
CREATE EXTENSION tollfree_postgres_fdw CASCADE;
CREATE SERVER back_ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:back);
CREATE SERVER back_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:back);
\connect :home
CREATE SERVER bytewise_ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:to);
CREATE SERVER bytewise_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:to);
CREATE USER MAPPING FOR PUBLIC SERVER bytewise_ours OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER bytewise_stock OPTIONS (password_required 'false');
CREATE FOREIGN TABLE words_ours (id int, fixed char(6), upto varchar(6), price numeric)
	SERVER bytewise_ours OPTIONS (table_name 'words');
CREATE FOREIGN TABLE words_stock (id int, fixed char(6), upto varchar(6), price numeric)
	SERVER bytewise_stock OPTIONS (table_name 'words');

-- read: few rows, many, and what a write returns
SELECT octet_length(fixed) AS fixed, octet_length(upto) AS upto FROM words_stock WHERE id = 1;
SELECT octet_length(fixed) AS fixed, octet_length(upto) AS upto FROM words_ours WHERE id = 1;
WITH lengths AS MATERIALIZED (
	SELECT octet_length(fixed) AS length, price FROM words_stock OFFSET 0
)
SELECT length, count(*), sum(price) FROM lengths GROUP BY length;
SET tollfree_postgres_fdw.direct_results = off;
WITH lengths AS MATERIALIZED (
	SELECT octet_length(fixed) AS length, price FROM words_ours OFFSET 0
)
SELECT length, count(*), sum(price) FROM lengths GROUP BY length;
RESET tollfree_postgres_fdw.direct_results;
UPDATE words_stock SET price = 1 WHERE id = 1 RETURNING octet_length(fixed);
UPDATE words_ours SET price = 1 WHERE id = 1 RETURNING octet_length(fixed);
INSERT INTO words_stock VALUES (0, U&'\00e4', U&'\00e4', 0) RETURNING octet_length(fixed);
INSERT INTO words_ours VALUES (0, U&'\00e4', U&'\00e4', 0) RETURNING octet_length(fixed);

-- no such character there: an error says nothing of the parameter that a constant is sent as
CREATE DATABASE western TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
SELECT server_options('western') AS "to" \gset
CREATE SERVER western_ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:to);
CREATE SERVER western_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:to);
CREATE USER MAPPING FOR PUBLIC SERVER western_ours OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER western_stock OPTIONS (password_required 'false');
CREATE FOREIGN TABLE letters_ours (id int, t text) SERVER western_ours OPTIONS (table_name 'letters');
CREATE FOREIGN TABLE letters_stock (id int, t text) SERVER western_stock OPTIONS (table_name 'letters');
\connect western
CREATE TABLE letters (id int, t text);
\connect :home
UPDATE letters_stock SET t = U&'\0436' WHERE id = 1;
UPDATE letters_ours SET t = U&'\0436' WHERE id = 1;
PREPARE rename(text) AS UPDATE letters_ours SET t = $1 WHERE id = 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE rename(U&'\0436');
RESET plan_cache_mode;
DEALLOCATE rename;
SET client_min_messages = error;
DROP SERVER western_ours CASCADE;
DROP SERVER western_stock CASCADE;
DROP DATABASE western WITH (FORCE);
RESET client_min_messages;

-- written: too long there, not here
INSERT INTO words_stock VALUES (0, 'x', U&'\00e4\00e4\00e4\00e4', 0);
INSERT INTO words_ours VALUES (0, 'x', U&'\00e4\00e4\00e4\00e4', 0);

-- read from there: too long there, not here
\connect bytewise
CREATE USER MAPPING FOR PUBLIC SERVER back_ours OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER back_stock OPTIONS (password_required 'false');
CREATE FOREIGN TABLE umlauts_ours (id int, fixed char(3), upto varchar(3))
	SERVER back_ours OPTIONS (schema_name 'remote', table_name 'umlauts');
CREATE FOREIGN TABLE umlauts_stock (id int, fixed char(3), upto varchar(3))
	SERVER back_stock OPTIONS (schema_name 'remote', table_name 'umlauts');
SELECT id, octet_length(fixed) FROM umlauts_stock;
SELECT id, octet_length(fixed) FROM umlauts_ours;
SELECT * FROM umlauts_stock;
SELECT * FROM umlauts_ours;

-- Many rows are written: the error is that of the first row that fails, also if a row behind it has a character that is not known there.
\connect :home
CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C';
SELECT server_options('latin') AS "to" \gset
\connect latin
CREATE TABLE words (id int PRIMARY KEY, word text, bytes bytea);
INSERT INTO words VALUES (500, 'word');
\connect :home
CREATE SERVER latin_ours FOREIGN DATA WRAPPER tollfree_postgres_fdw OPTIONS (:to, batch_size '50');
CREATE SERVER latin_stock FOREIGN DATA WRAPPER postgres_fdw OPTIONS (:to, batch_size '50');
CREATE USER MAPPING FOR PUBLIC SERVER latin_ours OPTIONS (password_required 'false');
CREATE USER MAPPING FOR PUBLIC SERVER latin_stock OPTIONS (password_required 'false');
CREATE FOREIGN TABLE latin_ours (id int, word text, bytes bytea) SERVER latin_ours OPTIONS (table_name 'words');
CREATE FOREIGN TABLE latin_bytes (id int, bytes bytea) SERVER latin_ours OPTIONS (table_name 'words');
CREATE FOREIGN TABLE latin_stock (id int, word text, bytes bytea) SERVER latin_stock OPTIONS (table_name 'words');
CREATE VIEW many_words AS SELECT i, CASE i WHEN 600 THEN U&'\20ac' ELSE 'word' END FROM generate_series(1, 1000) i;
\set VERBOSITY sqlstate
INSERT INTO latin_stock SELECT * FROM many_words;
INSERT INTO latin_ours SELECT * FROM many_words;
DELETE FROM latin_ours;
INSERT INTO latin_stock SELECT * FROM many_words;
INSERT INTO latin_ours SELECT * FROM many_words;
\set VERBOSITY default
SELECT explained('INSERT INTO latin_bytes SELECT i, ''\\x00'' FROM generate_series(1, 1000) i', 'Write Method') AS bytes,
	   explained('INSERT INTO latin_ours SELECT i, ''word'' FROM generate_series(1001, 2000) i', 'Write Method') AS texts;

-- A join has texts that are not known there; with a connection that is known to have another encoding it is not asked for them.
INSERT INTO latin_ours VALUES (3001, 'once');
CREATE TABLE sought AS SELECT * FROM (VALUES ('once', 3001), (U&'\20ac', 17)) w (word, id);
ANALYZE sought, latin_ours;
ALTER SERVER latin_ours OPTIONS (ADD fdw_tuple_cost '10');
SELECT max(id) FROM latin_ours;
SELECT w.id, l.id FROM sought w LEFT JOIN latin_ours l USING (word) ORDER BY 1;
SELECT w.id, l.id FROM sought w LEFT JOIN latin_ours l ON l.id = w.id AND l.word <> w.word ORDER BY 1;
SELECT explained('SELECT l.id FROM sought w JOIN latin_ours l USING (word)', 'Keys') AS by_text,
	   explained('SELECT l.id FROM sought w JOIN latin_ours l USING (id)', 'Keys') AS by_number;
DROP TABLE sought;

-- Nor is it sent a text that postgres_fdw compares here.
SELECT set_config('app.euro', U&'\20ac', false) <> '' AS is_set;
SELECT id FROM latin_ours WHERE word = current_setting('app.euro') OR word COLLATE "C" = U&'\20ac' OR coalesce(id, 1) = 3001;
SELECT id FROM latin_ours WHERE word = current_setting('app.euro');
SELECT id FROM latin_ours WHERE word COLLATE "C" IN (U&'\20ac', 'once');

SET client_min_messages = error;
DROP VIEW many_words;
DROP SERVER latin_ours CASCADE;
DROP SERVER latin_stock CASCADE;
DROP DATABASE latin WITH (FORCE);
DROP SERVER bytewise_ours CASCADE;
DROP SERVER bytewise_stock CASCADE;
DROP DATABASE bytewise WITH (FORCE);
