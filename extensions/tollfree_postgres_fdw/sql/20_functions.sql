CREATE FUNCTION tollfree_postgres_fdw_adopt(server name)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_postgres_fdw_adopt(name) IS
'moves a server, with all its foreign tables, from postgres_fdw to tollfree_postgres_fdw';

CREATE FUNCTION tollfree_postgres_fdw_release(server name)
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_postgres_fdw_release(name) IS
'moves a server, with all its foreign tables, from tollfree_postgres_fdw back to postgres_fdw';

/* postgres_fdw's columns of PostgreSQL 18, on every major, then ours. */
CREATE FUNCTION tollfree_postgres_fdw_get_connections(
	check_conn boolean DEFAULT false,
	OUT server_name text, OUT user_name text, OUT valid boolean,
	OUT used_in_xact boolean, OUT closed boolean,
	OUT remote_backend_pid int4, OUT round_trips int8)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

CREATE FUNCTION tollfree_postgres_fdw_disconnect(server text)
RETURNS boolean
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

CREATE FUNCTION tollfree_postgres_fdw_disconnect_all()
RETURNS boolean
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

CREATE FUNCTION tollfree_postgres_fdw_statistics(
	OUT server_name text, OUT user_name text, OUT connects int8,
	OUT round_trips int8, OUT rows int8,
	OUT bytes_received int8, OUT bytes_sent int8,
	OUT statement_hits int8, OUT statement_misses int8,
	OUT statement_evictions int8, OUT unawaited_commits int8,
	OUT autocommit_scans int8)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_postgres_fdw_statistics() IS
'what the connections of this session have done since it began';

CREATE FUNCTION tollfree_postgres_fdw_compare_collations(server name,
	OUT local text, OUT remote text, OUT same boolean)
RETURNS record
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_postgres_fdw_compare_collations(name) IS
'encoding and default collation of this database and of a server''s, as for its option collations';
