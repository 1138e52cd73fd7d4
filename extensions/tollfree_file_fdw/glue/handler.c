/*
 * handler.c
 *	  The wrapper's handler.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/guc.h"
#include "exec/join_search.h"
#include "import.h"
#include "plan/callbacks.h"
#include "write/modify.h"

PG_MODULE_MAGIC;

COMPAT_SQL_FUNCTION(tollfree_file_fdw_handler);

/* When the library is loaded. */
void
_PG_init(void)
{
	settings_define();
	join_search_install();
}

/* The wrapper's handler. */
Datum
tollfree_file_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = tollfreeGetForeignRelSize;
	routine->GetForeignPaths = tollfreeGetForeignPaths;
	routine->GetForeignPlan = tollfreeGetForeignPlan;
	routine->GetForeignUpperPaths = tollfreeGetForeignUpperPaths;
	routine->IsForeignScanParallelSafe = tollfreeIsForeignScanParallelSafe;

	routine->BeginForeignScan = tollfreeBeginForeignScan;
	routine->IterateForeignScan = tollfreeIterateForeignScan;
	routine->RecheckForeignScan = tollfreeRecheckForeignScan;
	routine->ReScanForeignScan = tollfreeReScanForeignScan;
	routine->EndForeignScan = tollfreeEndForeignScan;

	routine->EstimateDSMForeignScan = tollfreeEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = tollfreeInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = tollfreeReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = tollfreeInitializeWorkerForeignScan;
	routine->ShutdownForeignScan = tollfreeShutdownForeignScan;

	routine->IsForeignRelUpdatable = tollfreeIsForeignRelUpdatable;
	routine->BeginForeignModify = tollfreeBeginForeignModify;
	routine->BeginForeignInsert = tollfreeBeginForeignInsert;
	routine->ExecForeignInsert = tollfreeExecForeignInsert;
	routine->EndForeignModify = tollfreeEndForeignModify;
	routine->EndForeignInsert = tollfreeEndForeignModify;

	routine->ExplainForeignScan = tollfreeExplainForeignScan;
	routine->ExplainForeignModify = tollfreeExplainForeignModify;
	routine->ImportForeignSchema = tollfreeImportForeignSchema;
	routine->AnalyzeForeignTable = tollfreeAnalyzeForeignTable;
	PG_RETURN_POINTER(routine);
}
