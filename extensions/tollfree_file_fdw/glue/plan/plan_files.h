/*
 * plan_files.h
 *	  What the planner knows of a table with many files.
 */
#ifndef TOLLFREE_FILE_PLAN_FILES_H
#define TOLLFREE_FILE_PLAN_FILES_H

#include "plan/plan.h"

extern List *plan_look_at_files(PlannerInfo *root, RelOptInfo *baserel,
								Oid relid, FilePlanState *state);

#endif							/* TOLLFREE_FILE_PLAN_FILES_H */
