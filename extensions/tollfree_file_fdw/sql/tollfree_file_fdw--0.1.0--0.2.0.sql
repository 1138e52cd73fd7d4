/* What 0.2.0 has added. */

\echo Use "ALTER EXTENSION tollfree_file_fdw UPDATE" to load this file. \quit

CREATE FUNCTION tollfree_file_fdw_record_indexes(
	OUT relation regclass, OUT file_size int8, OUT blocks int8,
	OUT columns text[], OUT index_size int8)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_record_indexes() IS
'shows the record indexes kept of the files of this database''s foreign tables';

CREATE FUNCTION tollfree_file_fdw_drop_record_index(relation regclass)
RETURNS boolean
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_file_fdw_drop_record_index(regclass) IS
'removes the record index of a foreign table''s file';

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
