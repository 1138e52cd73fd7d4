/*
 * settings.c
 *	  The settings of the extension, but for those of fastpath.c.
 *
 * Every user may change them, except cleanup_timeout: during a clean-up
 * nothing interrupts the backend.
 *
 * debug_require is for tests.  It names ways of execution; a statement that is
 * executed otherwise fails.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/varlena.h"

#include "base/fastpath.h"
#include "base/settings.h"

#define CLEANUP_TIMEOUT_DEFAULT 30000	/* ms */
#define CLEANUP_TIMEOUT_MIN 1
#define CLEANUP_TIMEOUT_MAX 60000

#define DEBUG_REQUIRE_DEFAULT ""

int			setting_cleanup_timeout = CLEANUP_TIMEOUT_DEFAULT;
int			setting_statement_cache_size = STATEMENT_CACHE_SIZE_DEFAULT;

/* The setting's text, which guc.c keeps */
static char *debug_require = NULL;

static const char *const requirements[] = {
	[REQUIRE_DIRECT] = "direct",
	[REQUIRE_CACHED] = "cached",
	[REQUIRE_UNAWAITED_COMMIT] = "unawaited_commit",
	[REQUIRE_IMPORT] = "import",
	[REQUIRE_PIPELINED] = "pipelined",
	[REQUIRE_ARRAYS] = "arrays",
	[REQUIRE_AUTOCOMMIT] = "autocommit"
};

/* Is this the name of something that can be required? */
static bool
is_requirement(const char *name)
{
	for (int i = 0; i < lengthof(requirements); i++)
	{
		if (pg_strcasecmp(name, requirements[i]) == 0)
			return true;
	}
	return false;
}

/* The check hook of debug_require. */
static bool
check_debug_require(char **value, void **extra, GucSource source)
{
	List	   *names;
	ListCell   *cell;

	if (!SplitIdentifierString(pstrdup(*value), ',', &names))
	{
		GUC_check_errdetail("List syntax is invalid.");
		return false;
	}
	foreach(cell, names)
	{
		if (is_requirement(lfirst(cell)))
			continue;
		GUC_check_errdetail("Unrecognized key word: \"%s\".",
							(char *) lfirst(cell));
		GUC_check_errhint("Valid key words are \"direct\", \"cached\", \"unawaited_commit\", \"import\", \"pipelined\", \"arrays\" and \"autocommit\".");
		return false;
	}
	return true;
}

/* Raises an ERROR if debug_require names this, and it is not met. */
void
settings_require(Requirement what, bool is_met)
{
	List	   *names;
	ListCell   *cell;

	if (is_met || debug_require[0] == '\0')
		return;
	(void) SplitIdentifierString(pstrdup(debug_require), ',', &names);
	foreach(cell, names)
	{
		if (pg_strcasecmp(lfirst(cell), requirements[what]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("statement cannot be executed by the required method \"%s\"",
							requirements[what]),
					 errhint("Reset \"tollfree_postgres_fdw.debug_require\".")));
	}
}

/* Defines all settings; called when the library is loaded. */
void
settings_define(void)
{
	fastpath_define_settings();
	DefineCustomIntVariable("tollfree_postgres_fdw.cleanup_timeout",
							"Sets how long the clean-up after an error waits for a remote server.",
							NULL, &setting_cleanup_timeout,
							CLEANUP_TIMEOUT_DEFAULT, CLEANUP_TIMEOUT_MIN,
							CLEANUP_TIMEOUT_MAX, PGC_SUSET, GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomIntVariable("tollfree_postgres_fdw.statement_cache_size",
							"Sets how many remote statements a connection keeps prepared.",
							"Zero turns the cache off.",
							&setting_statement_cache_size,
							STATEMENT_CACHE_SIZE_DEFAULT,
							STATEMENT_CACHE_SIZE_MIN, STATEMENT_CACHE_SIZE_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("tollfree_postgres_fdw.debug_require",
							   "Raises an error in statements that are not executed by the listed methods.",
							   NULL, &debug_require, DEBUG_REQUIRE_DEFAULT,
							   PGC_USERSET, GUC_NOT_IN_SAMPLE | GUC_LIST_INPUT,
							   check_debug_require, NULL, NULL);
	MarkGUCPrefixReserved("tollfree_postgres_fdw");
}
