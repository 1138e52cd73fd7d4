/*
 * move_server.c
 *	  Moving a server from one wrapper to another.
 *
 * A server belongs to a wrapper by one field of its catalog row and one
 * dependency.  Changing both leaves tables, user mappings and privileges as
 * they are, and pg_dump says what is true.  The tables are locked, so that no
 * plan made by one wrapper is executed by the other: that waits for every
 * other session that has used one.
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
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat_acl.h"
#include "move_server.h"

/* Raises an ERROR unless the user may give the server to the wrapper. */
static void
check_privileges(const ForeignServer *server, const ForeignDataWrapper *wrapper)
{
	if (!compat_owns_server(server->serverid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_SERVER,
					   server->servername);
	if (!compat_may_use_wrapper(wrapper->fdwid))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FDW, wrapper->fdwname);
}

/* Locks the server's tables, and makes sessions forget how they are scanned. */
static void
lock_tables(Oid serverid, const ServerMove *move)
{
	Relation	catalog = table_open(ForeignTableRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0,
										  NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_foreign_table table = (Form_pg_foreign_table) GETSTRUCT(tuple);

		if (table->ftserver != serverid)
			continue;
		if (move->check_unlocked != NULL)
			move->check_unlocked(table->ftrelid);
		LockRelationOid(table->ftrelid, AccessExclusiveLock);
		if (move->check_table != NULL)
			move->check_table(table->ftrelid);
		CacheInvalidateRelcacheByRelid(table->ftrelid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
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
 * is not of the wrapper that it is to leave, if the user may not, or if a check
 * forbids it.
 */
void
server_move(const ServerMove *move)
{
	ForeignDataWrapper *target = GetForeignDataWrapperByName(move->to, false);
	ForeignServer *server;

	LockDatabaseObject(ForeignServerRelationId,
					   GetForeignServerByName(move->server, false)->serverid, 0,
					   AccessExclusiveLock);
	/* Again, for it may have been changed until it was locked. */
	server = GetForeignServerByName(move->server, false);
	check_privileges(server, target);
	if (server->fdwid != GetForeignDataWrapperByName(move->from, false)->fdwid)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a server of %s", move->server,
						move->from)));
	if (move->check_server != NULL)
		move->check_server(server);
	lock_tables(server->serverid, move);
	set_wrapper(server, target->fdwid);
}
