/*
 * adopt.c
 *	  Moving a server between file_fdw and this wrapper.
 *
 * A scan under way in this session has a copy of its wrapper's routine and ends
 * with that.  Nothing is remembered between statements, so this works inside a
 * transaction and is undone with it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat_export.h"
#include "base/options.h"
#include "base/validator.h"
#include "move_server.h"

#define STOCK_WRAPPER "file_fdw"
#define OUR_WRAPPER "tollfree_file_fdw"

COMPAT_SQL_FUNCTION(tollfree_file_fdw_adopt);
COMPAT_SQL_FUNCTION(tollfree_file_fdw_release);

/* Raises an ERROR if a table has an option that file_fdw refuses. */
static void
check_options(Oid relid)
{
	const char *name = option_find_ours(GetForeignTable(relid)->options);
	const char *of_column = option_find_of_columns(relid);

	if (of_column != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("foreign table \"%s\" has a column with the option \"%s\", which file_fdw does not know",
						get_rel_name(relid), of_column),
				 errhint("Drop the table, or that column.")));
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

/* Raises an ERROR if the server has an option: those of file_fdw have none. */
static void
check_server_options(const ForeignServer *server)
{
	const char *name = option_find_ours(server->options);

	if (name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("server \"%s\" has the option \"%s\", which file_fdw does not know",
						server->servername, name),
				 errhint("Drop it with ALTER SERVER %s OPTIONS (DROP %s).",
						 quote_identifier(server->servername), name)));
}

/* Adds options to a server; those of file_fdw have none. */
static void
add_server_options(char *server, List *options)
{
	AlterForeignServerStmt *alter = makeNode(AlterForeignServerStmt);

	alter->servername = server;
	alter->options = options;
	CommandCounterIncrement();
	(void) AlterForeignServer(alter);
}

/*
 * The SQL function: from file_fdw to this wrapper, with the values of the server's
 * options that are not NULL.
 */
Datum
tollfree_file_fdw_adopt(PG_FUNCTION_ARGS)
{
	static char *const names[] = {OPTION_RECORD_INDEX, OPTION_COLUMN_CACHE};
	ServerMove	move = {
		.from = STOCK_WRAPPER,
		.to = OUR_WRAPPER
	};
	List	   *options = NIL;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	move.server = NameStr(*PG_GETARG_NAME(0));
	for (int i = 0; i < lengthof(names); i++)
	{
		if (!PG_ARGISNULL(i + 1))
			options = lappend(options,
							  makeDefElemExtended(NULL, names[i],
												  (Node *) makeString(PG_GETARG_BOOL(i + 1) ? "true" : "false"),
												  DEFELEM_ADD, -1));
	}
	PreventCommandIfReadOnly("tollfree_file_fdw_adopt()");
	server_move(&move);
	if (options != NIL)
		add_server_options(pstrdup(move.server), options);
	PG_RETURN_VOID();
}

/* The SQL function: back to file_fdw. */
Datum
tollfree_file_fdw_release(PG_FUNCTION_ARGS)
{
	ServerMove	move = {
		.server = NameStr(*PG_GETARG_NAME(0)),
		.from = OUR_WRAPPER,
		.to = STOCK_WRAPPER,
		.check_server = check_server_options,
		.check_table = check_options
	};

	PreventCommandIfReadOnly("tollfree_file_fdw_release()");
	server_move(&move);
	PG_RETURN_VOID();
}
