/*
 * sessions.c
 *	  The sessions of this backend.
 *
 * There is one session per user mapping, so that all scans of a query see one
 * snapshot.  A Session outlives its connection and keeps its counters.  It is
 * freed when its user mapping is gone and another session is made.
 *
 * When a server or user mapping changes, its sessions are disconnected: at
 * once if they are idle, otherwise at the end of the transaction.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_user_mapping.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

#include "session/batch.h"
#include "session/connection.h"
#include "session/facts.h"
#include "session/pending.h"
#include "session/session.h"

static List *sessions = NIL;

/* Syscache callback: servers or mappings have changed; all if hash is 0. */
static void
sessions_invalidate(Datum arg, int cacheid, uint32 hash)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);
		uint32		own = cacheid == FOREIGNSERVEROID ? session->options.server_hash
			: session->options.mapping_hash;

		if (session->conn == NULL || (hash != 0 && hash != own))
			continue;
		/* A connection that is being set up is in use. */
		if (session->xact.local_depth == 0 && session->is_set_up)
			connection_end(session);
		else
			connection_outdate(session);
	}
}

/* Relcache callback: a foreign table, or any, may have been changed. */
static void
forget_relation(Datum arg, Oid relid)
{
	ListCell   *cell;

	foreach(cell, sessions)
		facts_forget_relation(lfirst(cell), relid);
}

/* Syscache callback: remote names of relations or schemas may have changed. */
static void
forget_relations(Datum arg, int cacheid, uint32 hash)
{
	forget_relation(arg, InvalidOid);
}

/* All sessions, connected or not.  The caller must not change the list. */
List *
sessions_all(void)
{
	return sessions;
}

/* Resource release callback: an error has ended the owner's execution. */
static void
forget_execution(ResourceReleasePhase phase, bool is_commit, bool is_top_level,
				 void *arg)
{
	ListCell   *cell;

	if (is_commit || phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	foreach(cell, sessions)
		pending_forget_owner(lfirst(cell), CurrentResourceOwner);
}

/*
 * Exit callback: closes all connections.  It is called when the backend has ended
 * its transaction and left shared memory, so nobody waits for what it holds.
 */
static void
close_all(int code, Datum arg)
{
	TimestampTz start = GetCurrentTimestamp();
	ListCell   *cell;

	foreach(cell, sessions)
		connection_close(lfirst(cell), start);
}

/* Registers the callbacks; to be called once per backend. */
void
sessions_register_callbacks(void)
{
	on_proc_exit(close_all, (Datum) 0);
	RegisterResourceReleaseCallback(forget_execution, NULL);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, sessions_invalidate,
								  (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, sessions_invalidate,
								  (Datum) 0);
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNTABLEREL, forget_relations, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_relations, (Datum) 0);
}

/*
 * Frees the sessions whose user mappings are gone.  Nobody points to one that
 * takes part in no transaction.
 */
static void
free_orphans(void)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->xact.local_depth > 0 ||
			SearchSysCacheExists1(USERMAPPINGOID,
								  ObjectIdGetDatum(session->mapping)))
			continue;
		connection_end(session);
		batch_free(session);
		facts_forget_belief(session);
		pfree(session);
		sessions = foreach_delete_current(sessions, cell);
	}
}

/* Makes a session, not connected. */
static Session *
add_session(Oid mapping)
{
	MemoryContext old;
	Session    *session;

	free_orphans();
	old = MemoryContextSwitchTo(TopMemoryContext);
	session = palloc0(sizeof(Session));
	*session_own(Oid, session, mapping) = mapping;
	batch_create(session);
	sessions = lappend(sessions, session);
	MemoryContextSwitchTo(old);
	return session;
}

/*
 * The user mapping of a user on a server, or else the public one; InvalidOid if
 * there is none.  GetUserMapping reads options, too, which takes too long here.
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

/* The session of a user mapping, connected or not; NULL if there is none. */
static Session *
sessions_find(Oid mapping)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->mapping == mapping)
			return session;
	}
	return NULL;
}

/*
 * The connected session of a user on a server.  Raises an ERROR if there is no
 * user mapping, or if the session cannot be connected or used.
 */
Session *
sessions_get(Oid user, Oid server)
{
	Session    *session = sessions_find(find_mapping(user, server));

	if (session == NULL)
		session = add_session(GetUserMapping(user, server)->umid);
	session_check_usable(session);
	if (session->options.is_outdated && session->xact.local_depth == 0)
		connection_end(session);
	if (session->conn == NULL)
		connection_begin(session, GetUserMapping(user, server));
	if (session->xact.local_depth == 0)
		connection_set_user(session, user);
	return session;
}

/*
 * Is a session on this server part of the current transaction?  With truncated:
 * and has it truncated a table there?
 */
bool
sessions_use_server(Oid server, bool truncated)
{
	ListCell   *cell;

	foreach(cell, sessions)
	{
		Session    *session = lfirst(cell);

		if (session->conn != NULL && session->server == server &&
			session->xact.local_depth > 0 &&
			(session->xact.truncated || !truncated))
			return true;
	}
	return false;
}

/* The session of a user on this server, if it is connected; or NULL. */
static const Session *
find_connected(Oid user, Oid server)
{
	const Session *session = sessions_find(find_mapping(user, server));

	return session != NULL && session->conn != NULL ? session : NULL;
}

/* May keys be sent as arrays to this server?  True if that is not known. */
bool
sessions_may_send_arrays(Oid user, Oid server)
{
	const Session *session = find_connected(user, server);

	return session == NULL || session->remote.takes_arrays;
}

/* Has its database the local encoding?  True if there is no connection. */
bool
sessions_have_same_encoding(Oid user, Oid server)
{
	const Session *session = find_connected(user, server);

	return session == NULL || session->remote.same_encoding;
}

/* Has it the local major version?  True if there is no connection. */
bool
sessions_have_same_version(Oid user, Oid server)
{
	const Session *session = find_connected(user, server);

	return session == NULL || session_is_same_version(session);
}

/* Is it known that its database has the collations of this one? */
bool
sessions_have_same_collations(Oid user, Oid server)
{
	const Session *session = find_connected(user, server);

	return session != NULL && session->remote.knows_collations &&
		session->remote.same_collations;
}

/*
 * Is it known whether this server has the local rules of a zone?  Then is_same is set.
 */
bool
sessions_know_zone(Oid user, Oid server, const pg_tz *zone, bool *is_same)
{
	const Session *session = find_connected(user, server);

	return session != NULL && facts_know_zone(session, zone, is_same);
}

/*
 * Has a column of a foreign table a remote index?  Not known if there is no
 * connection.
 */
IndexFact
sessions_know_index(Oid user, Oid server, Oid relid, const char *column)
{
	Session    *session = sessions_find(find_mapping(user, server));

	return session != NULL && session->conn != NULL ?
		facts_know_index(session, relid, column) : INDEX_UNKNOWN;
}

/*
 * The name of the user whose mapping the session uses, "public" for the public
 * mapping; NULL if the mapping is gone.
 */
const char *
sessions_user_name(const Session *session)
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
