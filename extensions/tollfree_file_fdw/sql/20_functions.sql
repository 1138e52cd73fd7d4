CREATE FUNCTION tollfree_file_fdw_adopt(server name,
	record_index boolean DEFAULT NULL, column_cache boolean DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_adopt(name, boolean, boolean) IS
'moves a server, with all its foreign tables, from file_fdw to tollfree_file_fdw, and sets its options';

CREATE FUNCTION tollfree_file_fdw_release(server name)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_release(name) IS
'moves a server, with all its foreign tables, from tollfree_file_fdw back to file_fdw';
