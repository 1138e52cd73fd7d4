/*
 * run.h
 *	  Hooking into each run of the executor.
 */
#ifndef TOLLFREE_FDW_RUN_H
#define TOLLFREE_FDW_RUN_H

#include "executor/execdesc.h"

/* Sends the rest of what a statement writes, at the end of its run */
typedef void (*RunFinisher) (QueryDesc *queryDesc);

extern void run_install(RunFinisher finish);
extern bool run_is_whole(const EState *estate);

#endif							/* TOLLFREE_FDW_RUN_H */
