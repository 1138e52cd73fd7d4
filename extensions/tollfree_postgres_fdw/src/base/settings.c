/*
 * settings.c
 *	  The settings of the extension.
 *
 * Most settings switch off one way to save round trips or work.  Every user
 * may change them, except cleanup_timeout: during a clean-up nothing
 * interrupts the backend.
 *
 * debug_require is for tests.  It names ways of execution; a statement that is
 * executed otherwise fails.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "base/settings.h"

#define DEBUG_REQUIRE_DEFAULT ""

bool		setting_direct_results = true;
bool		setting_unawaited_commit = true;
bool		setting_autocommit_scans = true;
int			setting_cleanup_timeout = CLEANUP_TIMEOUT_DEFAULT;
bool		setting_read_ahead = true;
bool		setting_binary_results = true;
bool		setting_pipelined_writes = true;
int			setting_statement_cache_size = STATEMENT_CACHE_SIZE_DEFAULT;
bool		setting_constants_as_parameters = true;
int			setting_debug_require = 0;

/* The setting's text, which guc.c keeps */
static char *debug_require = NULL;

static const struct
{
	const char *name;
	int			bit;
}			requirements[] = {
	{"direct", REQUIRE_DIRECT},
	{"cached", REQUIRE_CACHED},
	{"unawaited_commit", REQUIRE_UNAWAITED_COMMIT},
	{"import", REQUIRE_IMPORT},
	{"pipelined", REQUIRE_PIPELINED},
	{"arrays", REQUIRE_ARRAYS},
	{"autocommit", REQUIRE_AUTOCOMMIT}
};

/* The bit of a name, or 0. */
static int
find_requirement(const char *name)
{
	for (int i = 0; i < lengthof(requirements); i++)
	{
		if (pg_strcasecmp(name, requirements[i].name) == 0)
			return requirements[i].bit;
	}
	return 0;
}

/* The setting's check hook: parses the list of names. */
static bool
check_debug_require(char **value, void **extra, GucSource source)
{
	char	   *names = pstrdup(*value);
	int		   *bits = compat_guc_malloc(sizeof(int));
	List	   *list;
	ListCell   *cell;

	if (bits == NULL)
		return false;
	*bits = 0;
	*extra = bits;
	if (!SplitIdentifierString(names, ',', &list))
	{
		GUC_check_errdetail("List syntax is invalid.");
		return false;
	}
	foreach(cell, list)
	{
		int			bit = find_requirement(lfirst(cell));

		if (bit == 0)
		{
			GUC_check_errdetail("Unrecognized key word: \"%s\".",
								(char *) lfirst(cell));
			GUC_check_errhint("Valid key words are \"direct\", \"cached\", \"unawaited_commit\", \"import\", \"pipelined\", \"arrays\" and \"autocommit\".");
			return false;
		}
		*bits |= bit;
	}
	list_free(list);
	pfree(names);
	return true;
}

/* The setting's assign hook. */
static void
assign_debug_require(const char *value, void *extra)
{
	setting_debug_require = *(int *) extra;
}

/*
 * Raises an ERROR if debug_require names this way of execution and it is not
 * met.
 */
void
settings_require(int what, bool is_met)
{
	if (is_met || (setting_debug_require & what) == 0)
		return;
	for (int i = 0; i < lengthof(requirements); i++)
	{
		if (requirements[i].bit == what)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("\"%s\" is required, but is not how this would be executed",
							requirements[i].name),
					 errhint("Reset \"tollfree_postgres_fdw.debug_require\".")));
	}
}

/* Defines the settings; called when the library is loaded. */
void
settings_define(void)
{
	DefineCustomBoolVariable("tollfree_postgres_fdw.direct_results",
							 "Fetches results without a cursor that are small or will all be read.",
							 NULL, &setting_direct_results, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.unawaited_commit",
							 "Does not wait for the end of remote transactions that wrote nothing.",
							 NULL, &setting_unawaited_commit, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.autocommit_scans",
							 "Sends a SELECT that is all of its transaction without beginning one.",
							 NULL, &setting_autocommit_scans, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_postgres_fdw.cleanup_timeout",
							"Sets how long the clean-up after an error waits for a remote server.",
							NULL, &setting_cleanup_timeout,
							CLEANUP_TIMEOUT_DEFAULT, CLEANUP_TIMEOUT_MIN,
							CLEANUP_TIMEOUT_MAX, PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.read_ahead",
							 "Asks for further rows of a large result before they are needed.",
							 NULL, &setting_read_ahead, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.binary_results",
							 "Asks for rows in binary form where local and remote types are the same.",
							 NULL, &setting_binary_results, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.pipelined_writes",
							 "Writes rows without waiting for each where nobody can tell the difference.",
							 NULL, &setting_pipelined_writes, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_postgres_fdw.statement_cache_size",
							"Sets how many remote statements a connection keeps prepared.",
							"Zero turns the cache off.",
							&setting_statement_cache_size,
							STATEMENT_CACHE_SIZE_DEFAULT,
							STATEMENT_CACHE_SIZE_MIN, STATEMENT_CACHE_SIZE_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.constants_as_parameters",
							 "Keeps short remote commands prepared whatever constants are in them.",
							 NULL, &setting_constants_as_parameters, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("tollfree_postgres_fdw.debug_require",
							   "Makes statements fail that are not executed in the ways listed.",
							   NULL, &debug_require, DEBUG_REQUIRE_DEFAULT,
							   PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_LIST_INPUT,
							   check_debug_require, assign_debug_require, NULL);
	MarkGUCPrefixReserved("tollfree_postgres_fdw");
}
