/* The extension's script: the files of sql/, in the order of their numbers. */

\echo Use "CREATE EXTENSION tollfree_file_fdw" to load this file. \quit

CREATE FUNCTION tollfree_file_fdw_handler()
RETURNS fdw_handler
LANGUAGE C STRICT
AS 'MODULE_PATHNAME';

CREATE FUNCTION tollfree_file_fdw_validator(text[], oid)
RETURNS void
LANGUAGE C STRICT
AS 'MODULE_PATHNAME';

CREATE FOREIGN DATA WRAPPER tollfree_file_fdw
	HANDLER tollfree_file_fdw_handler
	VALIDATOR tollfree_file_fdw_validator;

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
