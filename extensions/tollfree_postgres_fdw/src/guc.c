/*
 * guc.c
 *	  Settings.  Each switches off one way to save round trips.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "guc.h"

bool		setting_direct_results = true;
bool		setting_unawaited_commit = true;
bool		setting_read_ahead = true;
bool		setting_binary_results = true;
bool		setting_pipelined_writes = true;
bool		setting_array_inserts = true;

/* When the library is loaded. */
void
settings_define(void)
{
	DefineCustomBoolVariable("tollfree_postgres_fdw.direct_results",
							 "Fetches results that are expected to be small without a cursor.",
							 NULL, &setting_direct_results, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("tollfree_postgres_fdw.unawaited_commit",
							 "Does not wait for the end of remote transactions that wrote nothing.",
							 NULL, &setting_unawaited_commit, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
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
	DefineCustomBoolVariable("tollfree_postgres_fdw.array_inserts",
							 "Inserts many rows as one array for each column where the remote table allows it.",
							 NULL, &setting_array_inserts, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("tollfree_postgres_fdw");
}
