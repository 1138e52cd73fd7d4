/*
 * fastpath.c
 *	  Which fast paths, ways to save round trips or work, are allowed.
 *
 * Each fast path can be switched off by whoever runs the query, with a
 * setting, and by the owner of the server or of the foreign table, with an
 * option of the same name.  A table's option overrides its server's.  The
 * server option compatibility 'stock' switches all of them off, whatever else
 * is set.
 *
 * Options are read when a query is planned, or when a modification or a
 * connection begins, and passed on as a set.  Settings are read when the path
 * is about to be taken.
 */
#include "postgres.h"

#include "foreign/foreign.h"

#include "base/fastpath.h"
#include "base/options.h"
#include "base/settings.h"

typedef struct FastPathSwitches
{
	const char *name;
	FastPath	path;
	const bool *setting;		/* NULL if there is none */
	bool		is_open;		/* without an option */
} FastPathSwitches;

static const FastPathSwitches fast_paths[] = {
	{"direct_results", FAST_DIRECT_RESULTS, &setting_direct_results, true},
	{"read_ahead", FAST_READ_AHEAD, &setting_read_ahead, true},
	{"binary_results", FAST_BINARY_RESULTS, &setting_binary_results, true},
	{"constants_as_parameters", FAST_CONSTANTS,
	&setting_constants_as_parameters, true},
	{"autocommit_scans", FAST_AUTOCOMMIT, &setting_autocommit_scans, true},
	{"pipelined_writes", FAST_PIPELINED_WRITES, &setting_pipelined_writes,
	true},
	{"insert_arrays", FAST_ARRAYS, NULL, false},
	{"unawaited_commit", FAST_UNAWAITED_COMMIT, &setting_unawaited_commit,
	true}
};

/* Changes a set of allowed paths by the options that are given. */
static int
apply_options(List *options, int allowed)
{
	for (int i = 0; i < lengthof(fast_paths); i++)
	{
		int			path = fast_paths[i].path;
		bool		is_open = option_is_true(options, fast_paths[i].name,
											 (allowed & path) != 0);

		allowed = is_open ? allowed | path : allowed & ~path;
	}
	return allowed;
}

/* The paths that the options of a server allow. */
int
fastpath_of_server(List *options)
{
	int			allowed = 0;

	if (option_is_compatible(options))
		return 0;
	for (int i = 0; i < lengthof(fast_paths); i++)
		allowed |= fast_paths[i].is_open ? fast_paths[i].path : 0;
	return apply_options(options, allowed);
}

/* The paths that the options of a foreign table and its server allow. */
int
fastpath_of_table(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);
	ForeignServer *server = GetForeignServer(table->serverid);

	if (option_is_compatible(server->options))
		return 0;
	return apply_options(table->options, fastpath_of_server(server->options));
}

/* Is a path allowed, by options (the set) and by its setting? */
bool
fastpath_is_on(int allowed, FastPath path)
{
	if ((allowed & path) == 0)
		return false;
	for (int i = 0; i < lengthof(fast_paths); i++)
	{
		if (fast_paths[i].path == path)
			return fast_paths[i].setting == NULL || *fast_paths[i].setting;
	}
	return false;
}
