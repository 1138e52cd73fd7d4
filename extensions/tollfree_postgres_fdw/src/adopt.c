/*
 * adopt.c
 *	  Moving a server between postgres_fdw and this wrapper.
 *
 * A server belongs to a wrapper by one field of its catalog row and one
 * dependency.  Changing both leaves tables, user mappings and privileges as
 * they are, and pg_dump says what is true.
 *
 * A transaction that has used one wrapper's connection must not continue on
 * the other's, where its changes are not seen.  So all tables of the server
 * are locked, which waits for every other session that has used one, and the
 * functions refuse to run inside a transaction block.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_foreign_data_wrapper.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "cache.h"
#include "compat.h"
#include "options.h"

#define STOCK_WRAPPER "postgres_fdw"
#define OUR_WRAPPER "tollfree_postgres_fdw"

PG_FUNCTION_INFO_V1(tollfree_postgres_fdw_adopt);
PG_FUNCTION_INFO_V1(tollfree_postgres_fdw_release);

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

/*
 * Raises an ERROR if a server or a foreign table, as SQL calls them, has
 * options that postgres_fdw refuses.
 */
static void
check_options(List *options, const char *kind, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		const char *value = defGetString(option);

		if (!option_is_stock(option->defname, value))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("%s \"%s\" has an option that postgres_fdw does not know: %s '%s'",
							asc_tolower(kind, strlen(kind)), name,
							option->defname, value),
					 errhint("Drop it with ALTER %s %s OPTIONS (DROP %s).",
							 kind, quote_identifier(name), option->defname)));
	}
}

/* The same for all tables of a server. */
static void
check_table_options(Oid table)
{
	char	   *name = get_rel_name(table);

	if (name != NULL)
		check_options(GetForeignTable(table)->options, "FOREIGN TABLE", name);
}

/*
 * Locks the server's tables, and makes sessions forget how they are scanned.
 * Their options are checked if the server goes to postgres_fdw.
 */
static void
lock_tables(Oid serverid, bool to_stock)
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
		LockRelationOid(table->ftrelid, AccessExclusiveLock);
		if (to_stock)
			check_table_options(table->ftrelid);
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

/* Moves a server from one wrapper to another. */
static void
move_server(const char *name, const char *from, const char *to,
			const char *function)
{
	ForeignServer *server;
	ForeignDataWrapper *target = GetForeignDataWrapperByName(to, false);
	bool		to_stock = strcmp(to, STOCK_WRAPPER) == 0;

	PreventInTransactionBlock(true, function);
	LockDatabaseObject(ForeignServerRelationId,
					   GetForeignServerByName(name, false)->serverid, 0,
					   AccessExclusiveLock);
	server = GetForeignServerByName(name, false);
	check_privileges(server, target);
	if (server->fdwid != GetForeignDataWrapperByName(from, false)->fdwid)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a server of %s", name, from)));
	if (to_stock)
		check_options(server->options, "SERVER", server->servername);
	if (cache_server_is_in_use(server->serverid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("server \"%s\" is used by the current transaction",
						name)));
	lock_tables(server->serverid, to_stock);
	set_wrapper(server, target->fdwid);
}

/* The SQL function: from postgres_fdw to this wrapper. */
Datum
tollfree_postgres_fdw_adopt(PG_FUNCTION_ARGS)
{
	move_server(NameStr(*PG_GETARG_NAME(0)), STOCK_WRAPPER, OUR_WRAPPER,
				"tollfree_postgres_fdw_adopt");
	PG_RETURN_VOID();
}

/* The SQL function: back to postgres_fdw. */
Datum
tollfree_postgres_fdw_release(PG_FUNCTION_ARGS)
{
	move_server(NameStr(*PG_GETARG_NAME(0)), OUR_WRAPPER, STOCK_WRAPPER,
				"tollfree_postgres_fdw_release");
	PG_RETURN_VOID();
}
