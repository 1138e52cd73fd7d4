/*
 * cache.c
 *	  The sessions of this backend, and the functions that show and close them.
 *
 * There is one session per user mapping, so that all scans of a query see one
 * snapshot.  A Session may be disconnected, and goes on counting; it is freed
 * when another is made and its mapping is gone.  The list is short, so it is
 * searched from its front.
 *
 * A change of a server or user mapping closes its sessions: at once if they
 * are idle, else when the transaction ends.
 */
#include "postgres.h"

#include <poll.h>

#include "access/xact.h"
#include "catalog/pg_user_mapping.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "cache.h"
#include "compat_export.h"
#include "transaction.h"

#define CONNECTION_COLUMNS 7

/* Can poll tell that the other side has closed?  Without it nobody asks. */
#ifdef POLLRDHUP
#define CAN_SEE_CLOSED true
#else
#define CAN_SEE_CLOSED false
#define POLLRDHUP 0
#endif

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_get_connections);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_disconnect);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_disconnect_all);

static List *sessions = NIL;

/* A syscache callback; a hash value of 0 stands for every entry. */
static void
invalidate(Datum arg, int cacheid, uint32 hash)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);
		uint32		own = cacheid == FOREIGNSERVEROID ? session->server_hash
			: session->mapping_hash;

		if (session->conn == NULL || (hash != 0 && hash != own))
			continue;
		/* A connection being set up is not known to be idle. */
		if (session->xact_depth == 0 && session->is_set_up)
			session_disconnect(session);
		else
			session->invalidated = true;
	}
}

/*
 * A relcache callback: the definition of a foreign table, or of all tables, may
 * have changed.
 */
static void
forget_relation(Datum arg, Oid relid)
{
	ListCell   *cell;

	foreach(cell, sessions)
		relations_forget(((Session *) lfirst(cell))->relations, relid);
}

/* A syscache callback: names of relations or of schemas may have changed. */
static void
forget_relations(Datum arg, int cacheid, uint32 hash)
{
	forget_relation(arg, InvalidOid);
}

/* All sessions, connected or not; the list must not be changed. */
List *
cache_sessions(void)
{
	return sessions;
}

/* Once per backend. */
static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	transaction_register_callbacks();
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, invalidate, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, invalidate, (Datum) 0);
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNTABLEREL, forget_relations, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_relations, (Datum) 0);
	registered = true;
}

/*
 * Frees sessions of mappings that are gone.  Outside of a transaction nobody
 * else has a session in hand.
 */
static void
free_orphans(void)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->xact_depth > 0 ||
			SearchSysCacheExists1(USERMAPPINGOID,
								  ObjectIdGetDatum(session->mapping)))
			continue;
		session_disconnect(session);
		MemoryContextDelete(session->flight_context);
		pfree(session);
		sessions = foreach_delete_current(sessions, cell);
	}
}

/* A session that is not connected. */
static Session *
add_session(Oid mapping)
{
	MemoryContext old;
	Session    *session;

	register_callbacks();
	free_orphans();
	old = MemoryContextSwitchTo(TopMemoryContext);
	session = palloc0(sizeof(Session));
	session->mapping = mapping;
	session->flight_context = AllocSetContextCreate(TopMemoryContext,
													"tollfree_postgres_fdw flight",
													ALLOCSET_SMALL_SIZES);
	sessions = lappend(sessions, session);
	MemoryContextSwitchTo(old);
	return session;
}

/*
 * The mapping of a user, or else of everybody, on a server.  Its options are
 * left alone: reading them takes longer than the rest of finding a session.
 */
static Oid
find_mapping(Oid user, Oid server)
{
	Oid			mapping = GetSysCacheOid2(USERMAPPINGUSERSERVER,
										  Anum_pg_user_mapping_oid,
										  ObjectIdGetDatum(user),
										  ObjectIdGetDatum(server));

	if (!OidIsValid(mapping))
		mapping = GetSysCacheOid2(USERMAPPINGUSERSERVER,
								  Anum_pg_user_mapping_oid,
								  ObjectIdGetDatum(InvalidOid),
								  ObjectIdGetDatum(server));
	return mapping;
}

/*
 * The session of a user on a server, connected, its transaction as deep as the
 * local one.  An ERROR if there is no mapping, or if it cannot be connected or
 * used.
 */
Session *
cache_get_session(Oid user, Oid server)
{
	Oid			mapping = find_mapping(user, server);
	Session    *session = NULL;
	ListCell   *cell;

	foreach(cell, sessions)
	{
		session = lfirst(cell);
		if (session->mapping == mapping)
			break;
		session = NULL;
	}
	if (session != NULL)
		session_check_usable(session);
	if (session != NULL && session->conn != NULL && session->invalidated &&
		session->xact_depth == 0)
		session_disconnect(session);
	if (session == NULL || session->conn == NULL)
	{
		UserMapping *found = GetUserMapping(user, server);

		if (session == NULL)
			session = add_session(found->umid);
		session_connect(session, found);
	}
	if (session->xact_depth == 0)
		session->user = user;
	transaction_enter(session);
	return session;
}

/* Is a session on this server part of the current transaction? */
bool
cache_server_is_in_use(Oid server)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL && session->server == server &&
			session->xact_depth > 0)
			return true;
	}
	return false;
}

/* Has the current transaction truncated a table on this server? */
bool
cache_server_is_truncated(Oid server)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL && session->server == server &&
			session->truncated)
			return true;
	}
	return false;
}

/*
 * The user whose mapping a session is of, "public" for everybody's; NULL if the
 * mapping is gone.
 */
const char *
cache_user_name(const Session *session)
{
	HeapTuple	mapping = SearchSysCache1(USERMAPPINGOID,
										  ObjectIdGetDatum(session->mapping));
	const char *name;

	if (!HeapTupleIsValid(mapping))
		return NULL;
	name = MappingUserName(((Form_pg_user_mapping) GETSTRUCT(mapping))->umuser);
	ReleaseSysCache(mapping);
	return name;
}

/* Has the connection been closed, as far as its socket knows by now? */
static bool
is_closed(const PGconn *conn)
{
	struct pollfd descriptor = {.fd = PQsocket(conn),.events = POLLRDHUP};
	int			ready;

	if (descriptor.fd < 0)
		return true;
	do
		ready = poll(&descriptor, 1, 0);
	while (ready < 0 && errno == EINTR);
	return ready != 0;
}

/*
 * One row: the session's server, user and state; whether it has been closed only
 * if that is to be looked at, and the system can tell.
 */
static void
show_session(const Session *session, bool check, ReturnSetInfo *rsinfo)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);
	const char *user = cache_user_name(session);
	Datum		values[CONNECTION_COLUMNS] = {0};
	bool		nulls[CONNECTION_COLUMNS] = {0};

	nulls[0] = server == NULL;
	if (server != NULL)
		values[0] = CStringGetTextDatum(server->servername);
	nulls[1] = user == NULL;
	if (user != NULL)
		values[1] = CStringGetTextDatum(user);
	values[2] = BoolGetDatum(!session->invalidated);
	values[3] = BoolGetDatum(session->xact_depth > 0);
	nulls[4] = !check || !CAN_SEE_CLOSED;
	if (!nulls[4])
		values[4] = BoolGetDatum(is_closed(session->conn));
	values[5] = Int32GetDatum(PQbackendPID(session->conn));
	values[6] = Int64GetDatum(session->flights);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* The SQL function; its columns are in the extension's script. */
Datum
tollfree_postgres_fdw_get_connections(PG_FUNCTION_ARGS)
{
	bool		check = PG_GETARG_BOOL(0);
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL)
			show_session(session, check, (ReturnSetInfo *) fcinfo->resultinfo);
	}
	PG_RETURN_VOID();
}

/* Warns that a session cannot be closed now. */
static void
warn_in_use(const Session *session)
{
	ForeignServer *server = GetForeignServerExtended(session->server,
													 FSV_MISSING_OK);

	if (server == NULL)
		ereport(WARNING,
				(errmsg("cannot close dropped server connection because it is still in use")));
	else
		ereport(WARNING,
				(errmsg("cannot close connection for server \"%s\" because it is still in use",
						server->servername)));
}

/* Closes the idle sessions on a server, or on all; was there one? */
static bool
disconnect(Oid server)
{
	bool		closed = false;
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->conn == NULL ||
			(OidIsValid(server) && session->server != server))
			continue;
		if (session->xact_depth > 0)
			warn_in_use(session);
		else
		{
			session_disconnect(session);
			closed = true;
		}
	}
	return closed;
}

/* The SQL function: closes the sessions on one server. */
Datum
tollfree_postgres_fdw_disconnect(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	PG_RETURN_BOOL(disconnect(GetForeignServerByName(name, false)->serverid));
}

/* The SQL function: closes all sessions. */
Datum
tollfree_postgres_fdw_disconnect_all(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(disconnect(InvalidOid));
}
