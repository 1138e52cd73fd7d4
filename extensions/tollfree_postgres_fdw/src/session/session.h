/*
 * session.h
 *	  A session on a remote server: executing commands in it, and counting what
 *	  that takes.
 */
#ifndef TOLLFREE_FDW_SESSION_H
#define TOLLFREE_FDW_SESSION_H

#include "base/compat.h"
#include "session/results.h"
#include "session/state.h"

/*
 * What a session did for an executor node: differences of its counters, and the
 * rows that the node was sent
 */
typedef struct SessionUsage
{
	int64		round_trips;
	int64		hits;			/* of the statement cache */
	int64		rows;
	int64		bytes;			/* of the messages that the rows came in */
} SessionUsage;

/* From here on counts what the session does for the node. */
static inline void
usage_start(const Session *session, SessionUsage *usage)
{
	usage->round_trips -= session->counters.round_trips;
	usage->hits -= session->counters.statements.hits;
}

/* Stops counting. */
static inline void
usage_stop(const Session *session, SessionUsage *usage)
{
	usage->round_trips += session->counters.round_trips;
	usage->hits += session->counters.statements.hits;
}

/*
 * Counts rows that the node has received; their bytes only if the query is
 * instrumented, as under EXPLAIN ANALYZE.
 */
static inline void
usage_receive(SessionUsage *usage, const PGresult *res, const EState *estate)
{
	usage->rows += PQntuples(res);
	if (estate->es_instrument != 0)
		usage->bytes += results_bytes(res);
}

/* Adds to a node's EXPLAIN output what the session did for it. */
static inline void
usage_explain(const SessionUsage *usage, ExplainState *es)
{
	ExplainPropertyInteger("Round Trips", NULL, usage->round_trips, es);
	ExplainPropertyInteger("Rows Received", NULL, usage->rows, es);
	ExplainPropertyInteger("Bytes Received", NULL, usage->bytes, es);
	ExplainPropertyInteger("Statement Cache Hits", NULL, usage->hits, es);
}

/* Has its server the local major version? */
static inline bool
session_is_same_version(const Session *session)
{
	return PQserverVersion(session->conn) / 10000 == PG_VERSION_NUM / 10000;
}

extern void session_check_usable(Session *session);
extern void session_send(Session *session, const RemoteCommand *commands,
						 int ncommands, bool only_reads);
extern void session_send_ahead(Session *session, const RemoteCommand *commands,
							   int ncommands, bool only_reads);
extern void session_await_front(Session *session);
extern PGresult *session_receive(Session *session,
								 const RemoteCommand *commands, int ncommands);
extern PGresult *session_execute(Session *session,
								 const RemoteCommand *commands,
								 int ncommands, bool only_reads);
extern PGresult *session_ask(Session *session, const char *sql);
extern PGresult *session_result(Session *session);
extern void session_end_command(Session *session, const char *sql);
extern void session_finish_command(Session *session, const char *sql);
extern bool session_takes_arrays(Session *session);
extern bool session_has_zone(Session *session, const pg_tz *zone);
extern bool session_has_version(Session *session);
extern bool session_has_encoding(Session *session);

/* sessions.c: the sessions of this backend */
extern Session *sessions_get(Oid user, Oid server);
extern List *sessions_all(void);
extern const char *sessions_user_name(const Session *session);
extern bool sessions_use_server(Oid server, bool truncated);
extern bool sessions_may_send_arrays(Oid user, Oid server);
extern bool sessions_have_same_encoding(Oid user, Oid server);
extern bool sessions_have_same_version(Oid user, Oid server);
extern bool sessions_know_zone(Oid user, Oid server, const pg_tz *zone,
							   bool *is_same);
extern bool sessions_have_same_collations(Oid user, Oid server);
extern IndexFact sessions_know_index(Oid user, Oid server, Oid relid,
									 const char *column);
extern void sessions_register_callbacks(void);

#endif							/* TOLLFREE_FDW_SESSION_H */
