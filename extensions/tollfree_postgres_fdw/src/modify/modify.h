/*
 * modify.h
 *	  Modifications; the callbacks are named as in FdwRoutine.
 */
#ifndef TOLLFREE_FDW_MODIFY_H
#define TOLLFREE_FDW_MODIFY_H

#include "foreign/fdwapi.h"

/* direct.c */
extern void direct_explain(ForeignScanState *node, struct ExplainState *es);
extern void tollfreeBeginDirectModify(ForeignScanState *node, int eflags);
extern TupleTableSlot *tollfreeIterateDirectModify(ForeignScanState *node);
extern void tollfreeEndDirectModify(ForeignScanState *node);

/* modify.c */
extern void tollfreeBeginForeignModify(ModifyTableState *mtstate,
									   ResultRelInfo *rinfo,
									   List *fdw_private, int subplan_index,
									   int eflags);
extern TupleTableSlot *tollfreeExecForeignModify(EState *estate,
												 ResultRelInfo *rinfo,
												 TupleTableSlot *slot,
												 TupleTableSlot *planSlot);
extern TupleTableSlot **tollfreeExecForeignBatchInsert(EState *estate,
													   ResultRelInfo *rinfo,
													   TupleTableSlot **slots,
													   TupleTableSlot **planSlots,
													   int *numSlots);
extern int	tollfreeGetForeignModifyBatchSize(ResultRelInfo *rinfo);
extern void tollfreeEndForeignModify(EState *estate, ResultRelInfo *rinfo);
extern void tollfreeBeginForeignInsert(ModifyTableState *mtstate,
									   ResultRelInfo *rinfo);
extern void modify_explain(ModifyTableState *node, ResultRelInfo *rinfo,
						   List *private, struct ExplainState *es);

/* truncate.c */
extern void tollfreeExecForeignTruncate(List *rels, DropBehavior behavior,
										bool restart_seqs);

#endif							/* TOLLFREE_FDW_MODIFY_H */
