/*
 * run.h
 *	  What is done around each run of the executor.
 */
#ifndef TOLLFREE_FDW_RUN_H
#define TOLLFREE_FDW_RUN_H

#include "nodes/execnodes.h"

extern void run_install(void);
extern bool run_is_whole(const EState *estate);

#endif							/* TOLLFREE_FDW_RUN_H */
