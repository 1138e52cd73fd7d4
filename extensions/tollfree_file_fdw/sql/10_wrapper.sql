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

