-- Tables in pairs: the same file through file_fdw, in schema stock, and
-- through tollfree_file_fdw, in schema ours.
SET client_min_messages = warning;
CREATE SCHEMA stock;
CREATE SCHEMA ours;
CREATE SERVER stock FOREIGN DATA WRAPPER file_fdw;
CREATE SERVER ours FOREIGN DATA WRAPPER tollfree_file_fdw;

-- Creates such a pair.  The path is relative to the test's folder.
CREATE FUNCTION make_pair(name text, columns text, path text, options text)
RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
	side text;
BEGIN
	FOREACH side IN ARRAY '{stock,ours}'::text[] LOOP
		EXECUTE format('CREATE FOREIGN TABLE %I.%I (%s) SERVER %I OPTIONS (filename %L%s)',
					   side, name, columns, side, path, ', ' || options);
	END LOOP;
END
$$;

-- What becomes of a query on one side: its rows, or its error with all fields.
CREATE FUNCTION outcome(query text, side text) RETURNS text[]
LANGUAGE plpgsql
AS $$
DECLARE
	lines text[];
	state text;
	message text;
	detail text;
	hint text;
	context text;
BEGIN
	PERFORM set_config('search_path', side || ', public', true);
	EXECUTE format('SELECT array_agg(q::text) FROM (%s) q', query) INTO lines;
	RETURN coalesce(lines, '{}');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE,
		message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
	RETURN ARRAY['ERROR ' || state, message, detail, hint,
				 substring(context FROM '^COPY [^\n]*(?:\n(?!SQL statement|parallel worker)[^\n]*)*')];
END
$$;

-- Compares the two sides.
CREATE FUNCTION agree(query text) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
	expected text[] := outcome(query, 'stock');
	found text[] := outcome(query, 'ours');
BEGIN
	IF expected IS DISTINCT FROM found THEN
		RETURN format(E'DIFFERENT\nstock %s\nours  %s', left(expected::text, 2000),
					  left(found::text, 2000));
	ELSIF expected[1] ~ '^ERROR ' THEN
		RETURN regexp_replace(array_to_string(expected, ' | '), '"/.*/', '"');
	END IF;
	RETURN format('%s rows', cardinality(expected));
END
$$;

-- By how much a counter, an expression, grows when a query is executed for the second time.
CREATE FUNCTION counted_by(counter text, query text, side text) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
	before bigint;
	after bigint;
BEGIN
	PERFORM set_config('search_path', side || ', public', true);
	EXECUTE query;
	EXECUTE 'SELECT ' || counter INTO before;
	EXECUTE query;
	EXECUTE 'SELECT ' || counter INTO after;
	RETURN after - before;
END
$$;
-- EXPLAIN without what differs between machines and versions.
CREATE FUNCTION shown_plan(query text, options text DEFAULT 'costs off') RETURNS SETOF text
LANGUAGE plpgsql
AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		CONTINUE WHEN line LIKE '%Fast Path Read%';
		line := regexp_replace(regexp_replace(line, '/.*/', ''), 'rows=(\d+)\.00', 'rows=\1');
		RETURN NEXT regexp_replace(line, '\m(scalar|avx2|avx512|neon)\M', 'KERNEL');
	END LOOP;
END
$$;
