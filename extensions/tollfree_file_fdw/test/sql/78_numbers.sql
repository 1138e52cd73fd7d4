-- Numbers as people write them
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/numbers.csv'
\set plain :abs_builddir '/results/numbers_plain.csv'
SET search_path = ours, public;
SET client_min_messages = warning;
COPY (VALUES ('1.234,56 €', '12%', '1.000.000', '€ -0,5'), ('-12', ' -7 % ', '999', '1,5e3'), ('NaN', NULL, '-1.000', 'infinity'),
	('€1,005', '+3', '007', '5,'), (NULL, '%4', '+12.345', ',25'), ('9.999.999,99', '0', '0', '-1.234.567,125')) TO :'file' (FORMAT csv, FORCE_QUOTE *);
COPY (VALUES ('1234.56', '12', '1000000', '-0.5'), ('-12', '-7', '999', '1.5e3'), ('NaN', NULL, '-1000', 'infinity'),
	('1.005', '3', '7', '5'), (NULL, '4', '12345', '.25'), ('9999999.99', '0', '0', '-1234567.125')) TO :'plain' (FORMAT csv, FORCE_QUOTE *);
CREATE FOREIGN TABLE people (
	price numeric(10,2) OPTIONS (decimal_separator ',', thousands_separator '.', strip '€'),
	share smallint OPTIONS (strip '%'),
	number int OPTIONS (decimal_separator ',', thousands_separator '.'),
	amount float8 OPTIONS (decimal_separator ',', thousands_separator '.', strip '€')
) SERVER ours OPTIONS (filename :'file', format 'csv');
CREATE FOREIGN TABLE numbers_plain (price numeric(10,2), share smallint, number int, amount float8) SERVER ours OPTIONS (filename :'plain', format 'csv');
SELECT * FROM people;
SELECT (SELECT array_agg(p) FROM people p)::text = (SELECT array_agg(p) FROM numbers_plain p)::text AS same;
SELECT count(*), sum(price), min(number), max(amount), avg(share) FROM people WHERE price <> 'NaN';
SELECT shown_plan('SELECT number FROM people WHERE price > 1000 AND share < 13', 'analyze, costs off, timing off, summary off, buffers off');
SET tollfree_file_fdw.fast_scan = off;
SELECT (SELECT array_agg(p) FROM people p)::text = (SELECT array_agg(p) FROM numbers_plain p)::text AS same;
RESET tollfree_file_fdw.fast_scan;
-- The same values in types without a fast conversion
CREATE DOMAIN positive AS numeric CHECK (VALUE > 0);
ALTER FOREIGN TABLE people ALTER price TYPE numeric, ALTER number TYPE positive;
SELECT price, number FROM people WHERE number IS NULL;
SELECT line, column_name, reason FROM tollfree_file_fdw_rejects('people');
ALTER FOREIGN TABLE people ALTER number TYPE int;
SELECT price FROM people ORDER BY 1;
ALTER FOREIGN TABLE people ALTER price TYPE numeric(10,2);
-- What is of another form is refused, whatever PostgreSQL would make of it: in both ways to read.
COPY (VALUES ('1'), ('1.5'), ('1.23,4'), ('12.3456'), ('1234.567'), ('.123'), ('1,2,3'), ('1,5 e3'), ('1 2'), ('--1'), ('€'), ('1,50 $'), ('99.999.999,99'), ('0x1F'), ('2,50')) TO :'file' (FORMAT csv, FORCE_QUOTE *);
CREATE FOREIGN TABLE forms (price numeric(9,2) OPTIONS (decimal_separator ',', thousands_separator '.', strip '€')) SERVER ours OPTIONS (filename :'file', format 'csv');
SELECT * FROM forms;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM forms;
RESET tollfree_file_fdw.fast_scan;
SELECT line, reason FROM tollfree_file_fdw_rejects('forms');
ALTER FOREIGN TABLE forms OPTIONS (on_error 'ignore');
SELECT * FROM forms;
SELECT count(price) FROM forms;
SET tollfree_file_fdw.fast_scan = off;
SELECT * FROM forms;
RESET tollfree_file_fdw.fast_scan;
ALTER FOREIGN TABLE forms OPTIONS (DROP on_error);
ALTER FOREIGN TABLE forms ALTER price OPTIONS (DROP thousands_separator);
SELECT * FROM forms;
-- Null strings come first, as they stand in the file.
COPY (VALUES ('1 %'), ('1'), ('2 %')) TO :'file';
CREATE FOREIGN TABLE nulled (a int OPTIONS (strip '%')) SERVER ours OPTIONS (filename :'file', null '1', null_strings '2');
SELECT a FROM nulled;
SET tollfree_file_fdw.fast_scan = off;
SELECT a FROM nulled;
RESET tollfree_file_fdw.fast_scan;
-- Several processes may read such a file; nothing is kept of it.
COPY (SELECT (g / 1000) || '.' || lpad((g % 1000)::text, 3, '0') || ',' || g % 10, g FROM generate_series(1000, 60000) g) TO :'file';
CREATE FOREIGN TABLE long (a numeric(12,1) OPTIONS (decimal_separator ',', thousands_separator '.'), b int) SERVER ours OPTIONS (filename :'file');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET tollfree_file_fdw.debug_parallel_chunk_size = '64kB';
SET tollfree_file_fdw.debug_require = parallel;
SELECT count(*), sum(a) = sum(b + b % 10 / 10.0) AS same FROM long;
SELECT count(*) FROM long WHERE a <> b + b % 10 / 10.0;
RESET tollfree_file_fdw.debug_require;
RESET tollfree_file_fdw.debug_parallel_chunk_size;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
SET tollfree_file_fdw.column_cache = on;
SELECT tollfree_file_fdw_load_columns('long');
RESET tollfree_file_fdw.column_cache;
ALTER FOREIGN TABLE long OPTIONS (writable 'true');
INSERT INTO long VALUES (1, 2);
-- Options that say nothing, or contradict others
CREATE FOREIGN TABLE odd (a text OPTIONS (strip '%')) SERVER ours OPTIONS (filename '/dev/null');
SELECT * FROM odd;
DROP FOREIGN TABLE odd;
CREATE FOREIGN TABLE odd (a int OPTIONS (decimal_separator ',.')) SERVER ours OPTIONS (filename '/dev/null');
CREATE FOREIGN TABLE odd (a int OPTIONS (decimal_separator '1')) SERVER ours OPTIONS (filename '/dev/null');
CREATE FOREIGN TABLE odd (a int OPTIONS (decimal_separator '€')) SERVER ours OPTIONS (filename '/dev/null');
CREATE FOREIGN TABLE odd (a int OPTIONS (thousands_separator '')) SERVER ours OPTIONS (filename '/dev/null');
CREATE FOREIGN TABLE odd (a int OPTIONS (thousands_separator '.')) SERVER ours OPTIONS (filename '/dev/null');
CREATE FOREIGN TABLE odd (a int OPTIONS (strip '$5')) SERVER ours OPTIONS (filename '/dev/null');
CREATE FOREIGN TABLE odd (a int OPTIONS (strip '$,', decimal_separator ',')) SERVER ours OPTIONS (filename '/dev/null');
DROP FOREIGN TABLE people, numbers_plain, forms, nulled, long;
DROP DOMAIN positive;
RESET search_path;
RESET client_min_messages;
