CREATE FUNCTION tollfree_file_fdw_sniff(path text, server name DEFAULT 'files',
	OUT property text, OUT found text, OUT reason text)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_sniff(text, name) IS
'shows the format of a file, the types of its columns, and the statement that makes a foreign table of it';
