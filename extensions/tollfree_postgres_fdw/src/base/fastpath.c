/*
 * fastpath.c
 *	  Which fast paths, ways to save round trips or work, are allowed.
 *
 * Whoever runs a query can switch a path off by a setting, and the owner of
 * the server or the foreign table by an option of the same name, if the path
 * has a name.  A table's option overrides its server's.  The server option
 * compatibility 'stock' switches all paths off, whatever else is set.
 *
 * Options are read when a query is planned, or when a modification or a
 * connection begins, and passed on as a set.  Settings are read when the path
 * is about to be taken.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/fastpath.h"
#include "base/options.h"

/* The set that is allowed without options */
#define PATHS_BY_DEFAULT (~(1 << FAST_PARALLEL_MODIFY))

static struct
{
	const char *name;			/* NULL if it has no switch of its own */
	bool		of_table;		/* is it an option of tables, too? */
	bool		setting;
	const char *description;	/* of the setting; NULL if there is none */
}			fast_paths[] = {

	[FAST_DIRECT_RESULTS] = {"direct_results", true, true,
	"Fetches small results, and those that will all be read, without a cursor."},
	[FAST_READ_AHEAD] = {NULL, false, true, NULL},
	[FAST_BINARY_RESULTS] = {"binary_results", true, true,
	"Fetches rows in binary format where local and remote types are the same."},
	[FAST_CONSTANTS] = {"constants_as_parameters", true, true,
	"Sends the constants of short remote commands as parameters of prepared statements."},
	[FAST_LOOKUPS] = {"batched_lookups", true, true,
	"Looks up the foreign rows of a join for many outer rows at once."},
	[FAST_JOIN_ESTIMATES] = {"join_estimates", true, true,
	"Costs a remote join as a hash join where its conditions are hashable."},
	[FAST_PARTIAL_AGGREGATES] = {"partial_aggregates", true, true,
	"Pushes partial aggregation of foreign partitions down to their servers."},
	[FAST_REMOTE_LIMITS] = {"remote_limits", true, true,
	"Sends the number of rows that a query can use from a foreign scan as a LIMIT."},
	[FAST_REMOTE_EXPRESSIONS] = {"remote_expressions", true, true,
	"Sends conditions that postgres_fdw would evaluate locally, in an equivalent form."},
	[FAST_AUTOCOMMIT] = {"autocommit_scans", true, true,
	"Sends a SELECT without a remote transaction if the local transaction does nothing else."},
	[FAST_PIPELINED_WRITES] = {"pipelined_writes", true, true,
	"Writes rows without waiting for each where the outcome is the same."},
	[FAST_ARRAYS] = {"insert_arrays", true, true,
	"Sends large batches of inserted rows as one array for each column."},
	[FAST_PARALLEL_MODIFY] = {"parallel_modify", true, true, NULL},
	[FAST_UNAWAITED_COMMIT] = {"unawaited_commit", false, true,
	"Does not wait for the COMMIT of remote transactions that wrote nothing."}
};

/* Defines the settings; called when the library is loaded. */
void
fastpath_define_settings(void)
{
	for (int i = 0; i < lengthof(fast_paths); i++)
	{
		if (fast_paths[i].description != NULL)
			DefineCustomBoolVariable(psprintf("tollfree_postgres_fdw.%s",
											  fast_paths[i].name),
									 fast_paths[i].description, NULL,
									 &fast_paths[i].setting, true, PGC_USERSET,
									 0, NULL, NULL, NULL);
	}
}

/* The path that an option of this name allows, or -1. */
static int
find_path(const char *name)
{
	for (int i = 0; i < lengthof(fast_paths); i++)
	{
		if (fast_paths[i].name != NULL && strcmp(name, fast_paths[i].name) == 0)
			return i;
	}
	return -1;
}

/* Is this an option that allows a path?  If so, can a table have it, too? */
bool
fastpath_is_option(const char *name, bool *of_table)
{
	int			path = find_path(name);

	if (path >= 0)
		*of_table = fast_paths[path].of_table;
	return path >= 0;
}

/* The option that allows a path, or NULL if it has none. */
const char *
fastpath_option_name(FastPath path)
{
	return fast_paths[path].name;
}

/* Changes a set of allowed paths by the options that are given. */
static int
apply_options(List *options, int allowed)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		int			path = find_path(option->defname);
		bool		is_on;

		if (path >= 0 && parse_bool(defGetString(option), &is_on))
			allowed = is_on ? allowed | 1 << path : allowed & ~(1 << path);
	}
	return allowed;
}

/* The paths that the options of a server allow. */
int
fastpath_of_server(List *options)
{
	return option_is_compatible(options) ? 0
		: apply_options(options, PATHS_BY_DEFAULT);
}

/* The paths that the options of a foreign table and its server allow. */
int
fastpath_of_options(List *table_options, List *server_options)
{
	return option_is_compatible(server_options) ? 0
		: apply_options(table_options, fastpath_of_server(server_options));
}

/* Is a path allowed, by options (the set) and by its setting? */
bool
fastpath_is_on(int allowed, FastPath path)
{
	return (allowed & (1 << path)) != 0 && fast_paths[path].setting;
}
