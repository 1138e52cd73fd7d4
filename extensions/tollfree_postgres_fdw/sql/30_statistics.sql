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
