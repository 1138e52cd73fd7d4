/* What 0.2.0 has changed.  A function has other columns only if it is dropped. */

\echo Use "ALTER EXTENSION tollfree_postgres_fdw UPDATE" to load this file. \quit

DROP FUNCTION tollfree_postgres_fdw_get_connections(boolean);
DROP FUNCTION tollfree_postgres_fdw_statistics();

/* postgres_fdw's columns of PostgreSQL 18, on every major, then ours. */
CREATE FUNCTION tollfree_postgres_fdw_get_connections(
	check_conn boolean DEFAULT false,
	OUT server_name text, OUT user_name text, OUT valid boolean,
	OUT used_in_xact boolean, OUT closed boolean,
	OUT remote_backend_pid int4, OUT round_trips int8)
RETURNS SETOF record
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

/*
 * What the connections of all sessions have done.  What is counted has OIDs; names
 * are looked up here, servers' only in this database.
 */
CREATE FUNCTION tollfree_postgres_fdw_all_statistics(
	OUT datid oid, OUT serverid oid, OUT userid oid,
	OUT connects int8, OUT reconnects int8,
	OUT round_trips int8, OUT rows int8,
	OUT bytes_received int8, OUT bytes_sent int8,
	OUT statement_hits int8, OUT statement_misses int8,
	OUT statement_evictions int8, OUT repeats int8,
	OUT unawaited_commits int8, OUT autocommit_scans int8,
	OUT spills int8, OUT errors int8,
	OUT stats_reset timestamptz, OUT scope text)
RETURNS SETOF record
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

COMMENT ON FUNCTION tollfree_postgres_fdw_all_statistics() IS
'pg_stat_tollfree_postgres_fdw without names';

CREATE VIEW pg_stat_tollfree_postgres_fdw AS
SELECT s.datid, d.datname, s.serverid, f.srvname AS server_name, s.userid,
	CASE s.userid WHEN 0::pg_catalog.oid THEN 'public' ELSE r.rolname END AS user_name,
	s.connects, s.reconnects, s.round_trips, s.rows,
	s.bytes_received, s.bytes_sent,
	s.statement_hits, s.statement_misses, s.statement_evictions, s.repeats,
	s.unawaited_commits, s.autocommit_scans, s.spills, s.errors,
	s.stats_reset, s.scope
FROM tollfree_postgres_fdw_all_statistics() s
LEFT JOIN pg_catalog.pg_database d ON d.oid = s.datid
LEFT JOIN pg_catalog.pg_foreign_server f
	ON f.oid = s.serverid AND d.datname = pg_catalog.current_database()
LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.userid;

GRANT SELECT ON pg_stat_tollfree_postgres_fdw TO PUBLIC;

COMMENT ON VIEW pg_stat_tollfree_postgres_fdw IS
'what the connections of all sessions have done, for each server and user mapping';

CREATE FUNCTION tollfree_postgres_fdw_reset_statistics()
RETURNS void
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME';

REVOKE ALL ON FUNCTION tollfree_postgres_fdw_reset_statistics() FROM PUBLIC;

COMMENT ON FUNCTION tollfree_postgres_fdw_reset_statistics() IS
'begins anew with pg_stat_tollfree_postgres_fdw';

/*
 * What a subscription to a server connects with.  PostgreSQL calls it from 19 on; it
 * is there before, so that pg_upgrade brings it along.
 */
CREATE FUNCTION tollfree_postgres_fdw_connection(oid, oid, internal)
RETURNS text
LANGUAGE C STRICT PARALLEL RESTRICTED
AS 'MODULE_PATHNAME';

DO $do$
BEGIN
	IF pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 190000 THEN
		EXECUTE 'ALTER FOREIGN DATA WRAPPER tollfree_postgres_fdw
			CONNECTION tollfree_postgres_fdw_connection';
	END IF;
END
$do$;
