/*
 * inputs.h
 *	  The plans that a plan reads.
 */
#ifndef TOLLFREE_FDW_INPUTS_H
#define TOLLFREE_FDW_INPUTS_H

#include "nodes/plannodes.h"

extern List *inputs_of_plan(const Plan *plan);

#endif							/* TOLLFREE_FDW_INPUTS_H */
