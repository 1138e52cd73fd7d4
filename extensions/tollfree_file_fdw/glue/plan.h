/*
 * plan.h
 *	  What the planner knows of a foreign table, and leaves for the executor.
 */
#ifndef TOLLFREE_FILE_PLAN_H
#define TOLLFREE_FILE_PLAN_H

#include "nodes/pathnodes.h"

#include "options.h"

/* Of one foreign table in a query; in its RelOptInfo's fdw_private. */
typedef struct FilePlanState
{
	FileOptions options;
	BlockNumber pages;			/* of the file, on disk */
	double		rows;			/* in the file */
	List	   *columns;		/* String: those referenced; NIL means all */
} FilePlanState;

#endif							/* TOLLFREE_FILE_PLAN_H */
