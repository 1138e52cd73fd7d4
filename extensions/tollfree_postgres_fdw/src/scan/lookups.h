/*
 * lookups.h
 *	  Scans that return the rows for many values of their parameters.
 */
#ifndef TOLLFREE_FDW_LOOKUPS_H
#define TOLLFREE_FDW_LOOKUPS_H

#include "scan/scan_state.h"

/* lookups.c */
extern TupleTableSlot *lookups_next(RemoteScanState *scan,
									TupleTableSlot *slot);

/* scan.c */
extern RemoteScanState *scan_find(const EState *estate, const Plan *plan);
extern void scan_look_up(RemoteScanState *scan, KeyBatch *batch);

#endif							/* TOLLFREE_FDW_LOOKUPS_H */
