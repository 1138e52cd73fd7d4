/*
 * run.h
 *	  What is done around each run of the executor.
 */
#ifndef TOLLFREE_FDW_RUN_H
#define TOLLFREE_FDW_RUN_H

#include "executor/execdesc.h"

/* Finishes what a statement that has been run has written */
typedef void (*RunFinisher) (QueryDesc *queryDesc);

extern void run_install(RunFinisher finish);
extern bool run_is_whole(const EState *estate);

#endif							/* TOLLFREE_FDW_RUN_H */
