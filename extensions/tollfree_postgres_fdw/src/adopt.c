/*
 * adopt.c
 *	  Moving a server between postgres_fdw and this wrapper.
 *
 * A transaction that has used one wrapper's connection would not see its own
 * changes through the other's.  So the functions refuse to run inside a
 * transaction block, or if the same query has used one of the server's tables.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_subscription.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/validator.h"
#include "session/session.h"
#include "move_server.h"

#define STOCK_WRAPPER "postgres_fdw"
#define OUR_WRAPPER "tollfree_postgres_fdw"

/*
 * The command that adds the CONNECTION function to a wrapper created before 19
 */
#define UPDATE_STOCK "ALTER EXTENSION postgres_fdw UPDATE;"
#define ADD_CONNECTION \
	"ALTER FOREIGN DATA WRAPPER tollfree_postgres_fdw CONNECTION tollfree_postgres_fdw_connection;"

COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_adopt);
COMPAT_SQL_FUNCTION(tollfree_postgres_fdw_release);

/*
 * Raises an ERROR if a server or table, as the catalog says, has an option that
 * postgres_fdw refuses; quoted is its name as SQL has it.
 */
static void
check_options(List *options, Oid catalog, const char *name, const char *quoted)
{
	const char *kind = catalog == ForeignServerRelationId ? "SERVER" : "FOREIGN TABLE";
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		const char *value = defGetString(option);

		validator_check_stock(option->defname, value, catalog);
		if (!validator_is_stock(option->defname, value))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("%s \"%s\" has an option that postgres_fdw does not know: %s '%s'",
							asc_tolower(kind, strlen(kind)), name,
							option->defname, value),
					 errhint("Drop it with ALTER %s %s OPTIONS (DROP %s).",
							 kind, quoted, option->defname)));
	}
}

/* Raises an ERROR if a table has an option that postgres_fdw refuses. */
static void
check_table_options(Oid relid)
{
	char	   *schema = get_namespace_name(get_rel_namespace(relid));
	char	   *name = get_rel_name(relid);

	check_options(GetForeignTable(relid)->options, ForeignTableRelationId, name,
				  quote_qualified_identifier(schema, name));
}

/* A subscription that connects to the server, or InvalidOid. */
static Oid
find_subscription(Oid server)
{
	Relation	catalog = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			found = InvalidOid;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(ForeignServerRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(server));
	scan = systable_beginscan(catalog, DependReferenceIndexId, true, NULL, 2,
							  keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);

		if (depend->classid == SubscriptionRelationId)
			found = depend->objid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return found;
}

/*
 * Raises an ERROR if a subscription could no longer connect to the server.  A
 * wrapper that pg_upgrade has brought from before 19 has no CONNECTION
 * function until remedy is executed.
 */
static void
check_subscriptions(const ForeignServer *server, const char *wrapper,
					const char *remedy)
{
	Oid			subscription = find_subscription(server->serverid);

	if (OidIsValid(subscription) &&
		!compat_serves_subscriptions(GetForeignDataWrapperByName(wrapper, false)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("subscription \"%s\" could not connect to server \"%s\" of %s",
						get_subscription_name(subscription, false),
						server->servername, wrapper),
				 errdetail("The foreign-data wrapper has no CONNECTION function."),
				 errhint("Execute this as a superuser: %s", remedy)));
}

/* Raises an ERROR if this transaction has used the server through us. */
static void
check_server(const ForeignServer *server)
{
	if (sessions_use_server(server->serverid, false))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("server \"%s\" is used by the current transaction",
						server->servername)));
}

/*
 * Raises an ERROR if this transaction has used a table through postgres_fdw,
 * for whose remote locks our session would wait.  A transaction that has used
 * a table holds a local lock on it.
 */
static void
check_unused(Oid relid)
{
	char	   *name = get_rel_name(relid);

	for (LOCKMODE mode = AccessShareLock; mode <= AccessExclusiveLock; mode++)
	{
		if (compat_holds_lock(relid, mode))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 name != NULL ?
					 errmsg("foreign table \"%s\" is used by the current transaction",
							name) :
					 errmsg("a foreign table of the server was dropped by the current transaction")));
	}
}

/* Raises an ERROR if a server cannot be adopted now. */
static void
check_adopted_server(const ForeignServer *server)
{
	check_subscriptions(server, OUR_WRAPPER, ADD_CONNECTION);
	check_server(server);
}

/* Raises an ERROR if a server cannot be released now. */
static void
check_released_server(const ForeignServer *server)
{
	check_subscriptions(server, STOCK_WRAPPER, UPDATE_STOCK);
	check_options(server->options, ForeignServerRelationId, server->servername,
				  quote_identifier(server->servername));
	check_server(server);
}

/* The SQL function: from postgres_fdw to this wrapper. */
Datum
tollfree_postgres_fdw_adopt(PG_FUNCTION_ARGS)
{
	ServerMove	move = {
		.server = NameStr(*PG_GETARG_NAME(0)),
		.from = STOCK_WRAPPER,
		.to = OUR_WRAPPER,
		.check_server = check_adopted_server,
		.check_unlocked = check_unused
	};

	PreventCommandIfReadOnly("tollfree_postgres_fdw_adopt()");
	PreventInTransactionBlock(true, "tollfree_postgres_fdw_adopt");
	server_move(&move);
	PG_RETURN_VOID();
}

/* The SQL function: back to postgres_fdw. */
Datum
tollfree_postgres_fdw_release(PG_FUNCTION_ARGS)
{
	ServerMove	move = {
		.server = NameStr(*PG_GETARG_NAME(0)),
		.from = OUR_WRAPPER,
		.to = STOCK_WRAPPER,
		.check_server = check_released_server,
		.check_table = check_table_options
	};

	PreventCommandIfReadOnly("tollfree_postgres_fdw_release()");
	PreventInTransactionBlock(true, "tollfree_postgres_fdw_release");
	server_move(&move);
	PG_RETURN_VOID();
}
