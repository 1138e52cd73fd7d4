/*
 * callbacks.h
 *	  The wrapper's callbacks, named as in FdwRoutine.
 */
#ifndef TOLLFREE_FILE_CALLBACKS_H
#define TOLLFREE_FILE_CALLBACKS_H

#include "access/parallel.h"
#include "foreign/fdwapi.h"

/* plan.c */
extern void tollfreeGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel,
									  Oid relid);
extern void tollfreeGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel,
									Oid relid);
extern bool tollfreeIsForeignScanParallelSafe(PlannerInfo *root,
											  RelOptInfo *rel,
											  RangeTblEntry *rte);

/* upper.c */
extern void tollfreeGetForeignUpperPaths(PlannerInfo *root,
										 UpperRelationKind stage,
										 RelOptInfo *input_rel,
										 RelOptInfo *output_rel, void *extra);
extern ForeignScan *tollfreeGetForeignPlan(PlannerInfo *root,
										   RelOptInfo *rel, Oid relid,
										   ForeignPath *best_path, List *tlist,
										   List *scan_clauses,
										   Plan *outer_plan);

/* scan.c */
extern void tollfreeBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *tollfreeIterateForeignScan(ForeignScanState *node);
extern bool tollfreeRecheckForeignScan(ForeignScanState *node,
									   TupleTableSlot *slot);
extern void tollfreeReScanForeignScan(ForeignScanState *node);
extern void tollfreeEndForeignScan(ForeignScanState *node);

/* workers.c */
extern Size tollfreeEstimateDSMForeignScan(ForeignScanState *node,
										   ParallelContext *pcxt);
extern void tollfreeInitializeDSMForeignScan(ForeignScanState *node,
											 ParallelContext *pcxt,
											 void *coordinate);
extern void tollfreeReInitializeDSMForeignScan(ForeignScanState *node,
											   ParallelContext *pcxt,
											   void *coordinate);
extern void tollfreeShutdownForeignScan(ForeignScanState *node);
extern void tollfreeInitializeWorkerForeignScan(ForeignScanState *node,
												shm_toc *toc,
												void *coordinate);

/* explain.c */
extern void tollfreeExplainForeignScan(ForeignScanState *node,
									   struct ExplainState *es);

/* analyze.c */
extern bool tollfreeAnalyzeForeignTable(Relation rel,
										AcquireSampleRowsFunc *func,
										BlockNumber *totalpages);

#endif							/* TOLLFREE_FILE_CALLBACKS_H */
