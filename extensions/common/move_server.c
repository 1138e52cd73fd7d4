/*
 * move_server.c
 *	  Moving a server from one wrapper to another.
 *
 * A server belongs to a wrapper by one field of its catalog row and one
 * dependency.  Changing both leaves tables, user mappings and privileges as
 * they are, and pg_dump's output correct.  The tables are locked, so that no
 * plan made by one wrapper is executed by the other: this waits for every
 * other transaction that has used, created or dropped one.
 *
 * Shared by our wrappers; each has a link to this file among its sources.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "move_server.h"

/* Raises an ERROR unless the user may give the server to the wrapper. */
static void
check_privileges(const ForeignServer *server, const ForeignDataWrapper *wrapper)
{
#if PG_VERSION_NUM >= 160000
	bool		owns = object_ownercheck(ForeignServerRelationId,
										 server->serverid, GetUserId());
	AclResult	usage = object_aclcheck(ForeignDataWrapperRelationId,
										wrapper->fdwid, GetUserId(),
										ACL_USAGE);
#else
	bool		owns = pg_foreign_server_ownercheck(server->serverid,
													GetUserId());
	AclResult	usage = pg_foreign_data_wrapper_aclcheck(wrapper->fdwid,
														 GetUserId(),
														 ACL_USAGE);
#endif

	if (!owns)
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_SERVER,
					   server->servername);
	if (usage != ACLCHECK_OK)
		aclcheck_error(usage, OBJECT_FDW, wrapper->fdwname);
}

/*
 * The server's tables, without those already seen.  All versions of catalog
 * rows are read: a table whose creation or end is not committed counts, and so
 * does one that this transaction has dropped.  Others may no longer exist.
 * They are sorted by OID, so that all callers lock them in the same order.
 */
static List *
find_tables(Oid serverid, List *seen)
{
	List	   *found = NIL;
	Relation	catalog = table_open(ForeignTableRelationId, NoLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false,
										  SnapshotAny, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table table = (Form_pg_foreign_table) GETSTRUCT(tuple);

		if (table->ftserver == serverid &&
			!list_member_oid(seen, table->ftrelid))
			found = list_append_unique_oid(found, table->ftrelid);
	}
	systable_endscan(scan);
	table_close(catalog, NoLock);
	list_sort(found, list_oid_cmp);
	return found;
}

/*
 * Waits for the transactions that have used one of the tables.  Requesting the
 * lock at once would block later transactions; holding locks on other tables,
 * the transactions that we wait for.
 */
static void
wait_for_users(List *relids)
{
	List	   *tags = NIL;
	ListCell   *cell;

	foreach(cell, relids)
	{
		LOCKTAG    *tag = palloc(sizeof(LOCKTAG));

		SET_LOCKTAG_RELATION(*tag, MyDatabaseId, lfirst_oid(cell));
		tags = lappend(tags, tag);
	}
	WaitForLockersMultiple(tags, AccessExclusiveLock, false);
}

/* Locks a table, if it exists, and makes sessions forget how it is scanned. */
static void
lock_table(Oid relid, const ServerMove *move)
{
	LockRelationOid(relid, AccessExclusiveLock);
	if (!SearchSysCacheExists1(FOREIGNTABLEREL, ObjectIdGetDatum(relid)))
	{
		UnlockRelationOid(relid, AccessExclusiveLock);
		return;
	}
	if (move->check_table != NULL)
		move->check_table(relid);
	CacheInvalidateRelcacheByRelid(relid);
}

/*
 * Locks the server's tables, and finally pg_foreign_table, against new ones.
 * No lock is awaited while that one is held, unless the transaction has moved
 * another server: a transaction that writes to the catalog may hold a table's
 * lock until it ends.
 */
static void
lock_tables(Oid serverid, const ServerMove *move)
{
	List	   *seen = NIL;

	for (;;)
	{
		List	   *found;
		ListCell   *cell;

		LockRelationOid(ForeignTableRelationId, ShareLock);
		found = find_tables(serverid, seen);
		if (found == NIL)
			return;
		UnlockRelationOid(ForeignTableRelationId, ShareLock);
		foreach(cell, found)
		{
			if (move->check_unlocked != NULL)
				move->check_unlocked(lfirst_oid(cell));
		}
		wait_for_users(found);
		foreach(cell, found)
			lock_table(lfirst_oid(cell), move);
		seen = list_concat(seen, found);
	}
}

/* Changes the catalog row and the dependency. */
static void
set_wrapper(const ForeignServer *server, Oid wrapperid)
{
	Relation	catalog = table_open(ForeignServerRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopy1(FOREIGNSERVEROID,
											ObjectIdGetDatum(server->serverid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for foreign server %u",
			 server->serverid);
	((Form_pg_foreign_server) GETSTRUCT(tuple))->srvfdw = wrapperid;
	CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
	if (changeDependencyFor(ForeignServerRelationId, server->serverid,
							ForeignDataWrapperRelationId, server->fdwid,
							wrapperid) != 1)
		elog(ERROR, "could not change the wrapper that server \"%s\" depends on",
			 server->servername);
	table_close(catalog, RowExclusiveLock);
}

/*
 * Moves the server.  Raises an ERROR if it or a wrapper does not exist, if it
 * does not belong to the expected wrapper, if the user lacks the right, or if
 * a check forbids it.
 */
void
server_move(const ServerMove *move)
{
	ForeignDataWrapper *target = GetForeignDataWrapperByName(move->to, false);
	ForeignServer *server;

	/*
	 * Recent minor releases lock the server when a table of it is created,
	 * while its catalog is locked.  An exclusive access lock would have that
	 * wait for us, and us for the catalog.
	 */
	LockDatabaseObject(ForeignServerRelationId,
					   GetForeignServerByName(move->server, false)->serverid, 0,
					   ExclusiveLock);
	/* Checked again: it may have been changed before it was locked. */
	server = GetForeignServerByName(move->server, false);
	check_privileges(server, target);
	if (server->fdwid != GetForeignDataWrapperByName(move->from, false)->fdwid)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a server of %s", move->server,
						move->from),
				 server->fdwid == target->fdwid ?
				 errdetail("It is a server of %s already.", move->to) : 0));
	/* Now that its row has changed, no other session can change the options. */
	set_wrapper(server, target->fdwid);
	if (move->check_server != NULL)
		move->check_server(GetForeignServer(server->serverid));
	lock_tables(server->serverid, move);
}
