/*
 * modify.h
 *	  The callbacks of INSERT and COPY FROM, named as in FdwRoutine.
 */
#ifndef TOLLFREE_FILE_MODIFY_H
#define TOLLFREE_FILE_MODIFY_H

#include "foreign/fdwapi.h"

extern int	tollfreeIsForeignRelUpdatable(Relation rel);
extern void tollfreeBeginForeignModify(ModifyTableState *mtstate,
									   ResultRelInfo *rinfo, List *fdw_private,
									   int subplan_index, int eflags);
extern void tollfreeBeginForeignInsert(ModifyTableState *mtstate,
									   ResultRelInfo *rinfo);
extern TupleTableSlot *tollfreeExecForeignInsert(EState *estate,
												 ResultRelInfo *rinfo,
												 TupleTableSlot *slot,
												 TupleTableSlot *planSlot);
extern void tollfreeEndForeignModify(EState *estate, ResultRelInfo *rinfo);
extern void tollfreeExplainForeignModify(ModifyTableState *mtstate,
										 ResultRelInfo *rinfo,
										 List *fdw_private, int subplan_index,
										 struct ExplainState *es);

#endif							/* TOLLFREE_FILE_MODIFY_H */
