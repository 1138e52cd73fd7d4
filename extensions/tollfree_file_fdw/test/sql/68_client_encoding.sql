-- A scan that begins again takes the client's encoding of then, if the table names none.
\getenv abs_builddir PG_ABS_BUILDDIR
\set file :abs_builddir '/results/client_encoding.txt'
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET enable_material = off;
SET enable_memoize = off;
COPY (SELECT unnest('{é,ab,ééé}'::text[])) TO :'file' (ENCODING 'UTF8');
SELECT make_pair('encoded', 'a text COLLATE "C"', :'file', $$format 'text'$$);
-- Fetches one row in each encoding.
CREATE FUNCTION fetched_in(encodings text[], query text, side text) RETURNS text[] LANGUAGE plpgsql
SET client_encoding = 'UTF8'
AS $$
DECLARE
	encoding text;
	rows refcursor;
	r record;
	fetched text[];
BEGIN
	PERFORM set_config('search_path', side || ', public', true), set_config('client_encoding', encodings[1], true);
	OPEN rows FOR EXECUTE query;
	FOREACH encoding IN ARRAY encodings LOOP
		PERFORM set_config('client_encoding', encoding, true);
		FETCH rows INTO r;
		fetched := fetched || coalesce(r::text, 'no more');
	END LOOP;
	CLOSE rows;
	RETURN fetched;
EXCEPTION WHEN OTHERS THEN
	RETURN fetched || (SQLSTATE || ' ' || SQLERRM);
END
$$;
SELECT query, encodings, ours, fetched_in(encodings, query, 'stock') = ours AS agrees
FROM unnest(ARRAY[
	'SELECT v, s.n FROM generate_series(1, 3) v, LATERAL (SELECT octet_length(a) + v * 0 AS n FROM encoded LIMIT 1) s',
	'SELECT v, s.n FROM generate_series(1, 3) v, LATERAL (SELECT octet_length(a) + v * 0 AS n FROM encoded WHERE a LIKE ''__'' LIMIT 1) s',
	'SELECT v, s.* FROM generate_series(1, 3) v LEFT JOIN (SELECT octet_length(max(a)), count(*) FROM encoded WHERE a LIKE ''__'') s ON true']) query,
	(VALUES ('{UTF8,LATIN1,UTF8}'::text[]), ('{LATIN1,UTF8,UTF8}'), ('{UTF8,UTF8,SQL_ASCII}'), ('{SJIS,UTF8,UTF8}'), ('{UTF8,SJIS,UTF8}')) e (encodings),
	LATERAL (SELECT fetched_in(encodings, query, 'ours') AS ours) o;
SET tollfree_file_fdw.debug_require = 'aggregate';
SELECT query, fetched_in('{UTF8,UTF8,LATIN1}', query, 'ours')
FROM (VALUES ('SELECT v, s.* FROM generate_series(1, 3) v LEFT JOIN (SELECT octet_length(max(a)), count(*) FROM encoded WHERE a LIKE ''__'') s ON true')) q (query);
RESET tollfree_file_fdw.debug_require;
DROP FOREIGN TABLE stock.encoded, ours.encoded;
DROP FUNCTION fetched_in;
RESET enable_material;
RESET enable_memoize;
RESET client_min_messages;
