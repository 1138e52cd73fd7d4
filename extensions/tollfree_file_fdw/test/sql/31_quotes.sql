-- Quotes, escapes and delimiters that values are made of: what counts is what is left of a field without its quotes.
\getenv abs_builddir PG_ABS_BUILDDIR
CREATE TABLE quoted (name text, line text, type text, options text, value text);
INSERT INTO quoted VALUES
	('int', '1231', 'int', $$quote '1'$$, '23'), ('escaped', '0123450', 'int', $$quote '0', escape '3'$$, '12345'),
	('bigint', '-5-', 'int8', $$quote '-'$$, '5'), ('smallint', '+5+', 'int2', $$quote '+'$$, '5'),
	('decimal', '.10.', 'numeric(10, 2)', $$quote '.'$$, '10'), ('numeric', '5-10.25', 'numeric(10, 2)', $$quote '5'$$, '-10.2'),
	('real', 'e1e', 'float4', $$quote 'e'$$, '1'), ('float', '-1e-5', 'float8', $$quote '-'$$, '1e5'), ('large', '1E22E', 'float8', $$quote 'E'$$, '122'),
	('date', '2014-10-21', 'date', $$quote '0'$$, '0214-01-21'),
	('colon', '2014-10-21 10:00:00', 'timestamp', $$quote ':'$$, '2014-10-21 100000'), ('bool', 'e1e', 'bool', $$quote 'e'$$, 'true'),
	('uuid', 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa', 'uuid', $$quote 'a'$$, NULL), ('text', '1a2b1', 'text', $$quote '1'$$, 'a2b'),
	('escape', '"12"', 'int', $$escape '1'$$, '12'), ('escape_too', '"1133"', 'int', $$escape '1'$$, '133'),
	('delimiter', '"1e5"', 'float8', $$delimiter 'e'$$, '100000'), ('minus', '"-1"', 'int', $$delimiter '-'$$, '-1'), ('zero', '"100"', 'int', $$delimiter '0'$$, '100');
CREATE FUNCTION make_quoted(name text, line text, type text, options text, folder text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	path text := format('%s/results/quoted_%s.csv', folder, name);
BEGIN
	EXECUTE format('COPY (SELECT %L) TO %L', line, path);
	PERFORM make_pair('quoted_' || name, 'a ' || type, path, $o$format 'csv', $o$ || options);
END
$$;
SELECT count(make_quoted(name, line, type, options, :'abs_builddir')) FROM quoted;
SELECT line, options, value, agree(format('SELECT a FROM quoted_%s', name)) AS rows,
	agree(format('SELECT a FROM quoted_%s WHERE a = %L', name, value)) AS filter,
	agree(format('SELECT a, count(*) FROM quoted_%s GROUP BY a', name)) AS groups
FROM quoted;
-- The fast path leaves the first one alone, and takes the second.
SELECT shown_plan('SELECT a FROM ours.quoted_int'), shown_plan('SELECT a FROM ours.quoted_delimiter');
