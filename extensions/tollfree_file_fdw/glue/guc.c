/*
 * guc.c
 *	  Settings: an off switch for each fast path, and a way to insist on one.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "guc.h"

bool		setting_fast_scan = true;
int			setting_debug_require = REQUIRE_NOTHING;

static const struct config_enum_entry required_paths[] = {
	{"none", REQUIRE_NOTHING, false},
	{"scan", REQUIRE_SCAN, false},
	{"filter", REQUIRE_FILTER, false},
	{"aggregate", REQUIRE_AGGREGATE, false},
	{"parallel", REQUIRE_PARALLEL, false},
	{NULL, 0, false}
};

/* When the library is loaded. */
void
settings_define(void)
{
	DefineCustomBoolVariable("tollfree_file_fdw.fast_scan",
							 "Reads files by the wrapper's own parser where it can.",
							 NULL, &setting_fast_scan, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("tollfree_file_fdw.debug_require",
							 "Makes it an error if a scan does not take this fast path.",
							 NULL, &setting_debug_require, REQUIRE_NOTHING,
							 required_paths, PGC_USERSET, GUC_NOT_IN_SAMPLE,
							 NULL, NULL, NULL);
	MarkGUCPrefixReserved("tollfree_file_fdw");
}
