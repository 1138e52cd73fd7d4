/*
 * updates.h
 *	  What a modification that becomes one command computes, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_UPDATES_H
#define TOLLFREE_FDW_UPDATES_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* A direct modification that is being planned */
typedef struct RewrittenUpdate
{
	ForeignScan *scan;			/* whose rows are modified; NULL if unknown */
	List	   *rechecks;		/* its fdw_recheck_quals, as written */
	List	   *entries;		/* TargetEntries of SET that are rewritten */
	List	   *written;		/* their expressions, as written */
	List	   *columns;		/* of values without a type, for assigned.c */
} RewrittenUpdate;

extern void updates_begin(RewrittenUpdate *update, PlannerInfo *root,
						  ModifyTable *plan, Index target);
extern void updates_finish(const RewrittenUpdate *update,
						   const PlannerInfo *root, ModifyTable *plan,
						   Index target);
extern void updates_end(const RewrittenUpdate *update, const PlannerInfo *root,
						bool is_direct, ModifyTable *plan, Index target);

#endif							/* TOLLFREE_FDW_UPDATES_H */
