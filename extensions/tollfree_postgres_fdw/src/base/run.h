/*
 * run.h
 *	  Hooking into each run of the executor.
 */
#ifndef TOLLFREE_FDW_RUN_H
#define TOLLFREE_FDW_RUN_H

#include "executor/execdesc.h"

extern void run_install(void (*finish) (QueryDesc *queryDesc));
extern bool run_watch(PlanState *input,
					  void (*finish) (const EState *estate));
extern bool run_is_whole(const EState *estate);
extern bool run_is_last(const EState *estate);
extern int64 run_rows_left(const EState *estate);
extern PlanState *run_plan(const EState *estate);

#endif							/* TOLLFREE_FDW_RUN_H */
