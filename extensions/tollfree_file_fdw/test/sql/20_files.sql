-- Whatever COPY's parser reads reads the same.
\getenv abs_srcdir PG_ABS_SRCDIR
\set plain :abs_srcdir '/data/plain.txt'
\set quoted :abs_srcdir '/data/quoted.csv'
\set broken :abs_srcdir '/data/broken.txt'
\set missing :abs_srcdir '/data/missing.txt'
\set columns 'id int, name text, amount numeric(12, 2), day date'
SELECT make_pair('plain', :'columns', :'plain', $$delimiter '|'$$),
	make_pair('quoted', :'columns', :'quoted', $$format 'csv', header 'true'$$),
	make_pair('matched', :'columns', :'quoted', $$format 'csv', header 'match'$$),
	make_pair('forced', 'id int, name text OPTIONS (force_not_null ''true''), amount numeric OPTIONS (force_null ''true''), day date',
			  :'quoted', $$format 'csv', header 'true'$$),
	make_pair('broken', :'columns', :'broken', $$delimiter '|'$$),
	make_pair('missing', 'a int', :'missing', $$format 'text'$$);
SELECT * FROM ours.plain;
SELECT * FROM ours.quoted;
SELECT relation, agree(format('SELECT * FROM %I', relation))
FROM unnest('{plain,quoted,matched,forced,broken,missing}'::text[]) relation;
SELECT query, agree(query) FROM unnest(ARRAY[
	'SELECT name, id FROM plain',
	'SELECT tableoid::regclass::text, p FROM plain p',
	'SELECT count(*) FROM plain',
	'SELECT p.id, q.name FROM plain p JOIN quoted q USING (id) ORDER BY 1, 2',
	'SELECT * FROM plain p, LATERAL (SELECT name FROM quoted q WHERE q.id = p.id + 1 LIMIT 1) x',
	'SELECT name FROM forced WHERE name = ''''',
	'SELECT amount FROM broken',
	'SELECT name FROM broken',
	'SELECT name FROM broken LIMIT 2',
	'SELECT count(*) FROM broken',
	'SELECT amount FROM broken WHERE id = 1 LIMIT 1']) query;

-- Options of columns that those of the table do not go with are an error when the file is opened.
SELECT make_pair('refused', 'id int, name text OPTIONS (force_null ''true''), amount text, day text', :'plain', $$format 'text', delimiter '|'$$);
SELECT shown_plan('SELECT count(*) FROM stock.refused');
SELECT shown_plan('SELECT name FROM ours.refused');
SELECT query, agree(query) LIKE 'ERROR 0A000 | COPY %' AS agrees FROM unnest('{SELECT name FROM refused,SELECT count(*) FROM refused}'::text[]) query;
DROP FOREIGN TABLE stock.refused, ours.refused;

-- A program.
CREATE FOREIGN TABLE ours.program (a int, b text) SERVER ours
	OPTIONS (program 'printf "1,one\n2,two\n"', format 'csv');
SELECT * FROM ours.program;
SELECT shown_plan('SELECT * FROM ours.program');
\set VERBOSITY sqlstate
ANALYZE ours.program;
\set VERBOSITY default
ALTER FOREIGN TABLE ours.program OPTIONS (SET program 'printf "1,x\n"; exit 3');
SELECT * FROM ours.program;
DROP FOREIGN TABLE ours.program;

-- Writing is for nobody.
INSERT INTO ours.plain VALUES (1);
DELETE FROM ours.plain;
