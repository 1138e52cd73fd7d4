CREATE FUNCTION tollfree_file_fdw_rejects(relation regclass,
	OUT file text, OUT line int8, OUT column_name text, OUT reason text,
	OUT record text)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_rejects(regclass) IS
'shows the records of a foreign table''s files that are no rows of it, and why';
