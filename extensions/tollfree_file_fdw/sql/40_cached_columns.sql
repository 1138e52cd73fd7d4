
CREATE FUNCTION tollfree_file_fdw_cached_columns(
	OUT relation regclass, OUT column_name text, OUT segments int8,
	OUT size int8)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_cached_columns() IS
'shows the columns kept of the files of this database''s foreign tables';

CREATE FUNCTION tollfree_file_fdw_drop_cached_columns(relation regclass)
RETURNS boolean
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_drop_cached_columns(regclass) IS
'removes the columns kept of a foreign table''s file';

CREATE FUNCTION tollfree_file_fdw_load_columns(relation regclass,
	columns name[] DEFAULT NULL,
	OUT column_name text, OUT segments int8, OUT size int8, OUT reason text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_load_columns(regclass, name[]) IS
'reads a foreign table''s file once, and keeps its columns';
