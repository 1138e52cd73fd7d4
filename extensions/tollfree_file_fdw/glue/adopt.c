/*
 * adopt.c
 *	  Moving a server between file_fdw and this wrapper.
 *
 * A server belongs to a wrapper by one field of its catalog row and one
 * dependency.  Changing both leaves tables and privileges as they are, and
 * pg_dump says what is true.  The tables are locked, so that no plan made by
 * one wrapper is executed by the other; a scan under way in this session has
 * a copy of its wrapper's routine and ends with that.  Nothing is remembered
 * between statements, so this works inside a transaction and is undone with it.
 *
 * tollfree_postgres_fdw moves servers in the same way.  The two are packaged
 * each for itself and share no file.
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
#include "foreign/foreign.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "options.h"

#define STOCK_WRAPPER "file_fdw"
#define OUR_WRAPPER "tollfree_file_fdw"

PG_FUNCTION_INFO_V1(tollfree_file_fdw_adopt);
PG_FUNCTION_INFO_V1(tollfree_file_fdw_release);

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

/* Raises an ERROR if a table has an option that file_fdw refuses. */
static void
check_options(Oid relid)
{
	const char *name = option_find_ours(GetForeignTable(relid)->options);

	if (name != NULL)
	{
		char	   *table =
			quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									   get_rel_name(relid));

		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("foreign table %s has the option \"%s\", which file_fdw does not know",
						table, name),
				 errhint("Drop it with ALTER FOREIGN TABLE %s OPTIONS (DROP %s).",
						 table, name)));
	}
}

/* Locks the server's tables, and makes sessions forget how they are scanned. */
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
			check_options(table->ftrelid);
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
move_server(const char *name, const char *from, const char *to)
{
	ForeignDataWrapper *target = GetForeignDataWrapperByName(to, false);
	ForeignServer *server;

	LockDatabaseObject(ForeignServerRelationId,
					   GetForeignServerByName(name, false)->serverid, 0,
					   AccessExclusiveLock);
	server = GetForeignServerByName(name, false);
	check_privileges(server, target);
	if (server->fdwid != GetForeignDataWrapperByName(from, false)->fdwid)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a server of %s", name, from)));
	lock_tables(server->serverid, strcmp(to, STOCK_WRAPPER) == 0);
	set_wrapper(server, target->fdwid);
}

/* The SQL function: from file_fdw to this wrapper. */
Datum
tollfree_file_fdw_adopt(PG_FUNCTION_ARGS)
{
	move_server(NameStr(*PG_GETARG_NAME(0)), STOCK_WRAPPER, OUR_WRAPPER);
	PG_RETURN_VOID();
}

/* The SQL function: back to file_fdw. */
Datum
tollfree_file_fdw_release(PG_FUNCTION_ARGS)
{
	move_server(NameStr(*PG_GETARG_NAME(0)), OUR_WRAPPER, STOCK_WRAPPER);
	PG_RETURN_VOID();
}
