CREATE FUNCTION tollfree_file_fdw_adopt(server name)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_adopt(name) IS
'moves a server, with all its foreign tables, from file_fdw to tollfree_file_fdw';

CREATE FUNCTION tollfree_file_fdw_release(server name)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_release(name) IS
'moves a server, with all its foreign tables, from tollfree_file_fdw back to file_fdw';
