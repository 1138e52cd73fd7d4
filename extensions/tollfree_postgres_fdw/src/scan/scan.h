/*
 * scan.h
 *	  Scans; the callbacks are named as in FdwRoutine.
 */
#ifndef TOLLFREE_FDW_SCAN_H
#define TOLLFREE_FDW_SCAN_H

#include "foreign/fdwapi.h"

/* scan.c */
extern void scan_explain(ForeignScanState *node, bool looks_up,
						 struct ExplainState *es);
extern void tollfreeBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *tollfreeIterateForeignScan(ForeignScanState *node);
extern void tollfreeReScanForeignScan(ForeignScanState *node);
extern void tollfreeEndForeignScan(ForeignScanState *node);

/* Is it a scan of this wrapper? */
static inline bool
scan_is_ours(const ForeignScan *scan)
{
	return GetFdwRoutineByServerId(scan->fs_server)->BeginForeignScan ==
		tollfreeBeginForeignScan;
}

/* async.c */
extern void tollfreeForeignAsyncRequest(AsyncRequest *request);
extern void tollfreeForeignAsyncConfigureWait(AsyncRequest *request);
extern void tollfreeForeignAsyncNotify(AsyncRequest *request);

#endif							/* TOLLFREE_FDW_SCAN_H */
