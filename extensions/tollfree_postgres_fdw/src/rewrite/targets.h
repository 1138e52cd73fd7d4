/*
 * targets.h
 *	  What a remote aggregation computes, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_TARGETS_H
#define TOLLFREE_FDW_TARGETS_H

#include "nodes/pathnodes.h"

/*
 * How an expression of an aggregation, which may be a group, is sent: as this function
 * says; itself if that is as written.
 */
typedef Node *(*TargetForm) (Node *expr, bool is_group, const RelOptInfo *rel);

/* The target of an aggregation that is being planned */
typedef struct RewrittenTarget
{
	PathTarget *target;
	GroupPathExtraData *extra;
	List	   *exprs;			/* of the target, as written */
	Node	   *having;			/* the same */
} RewrittenTarget;

extern bool targets_begin(RewrittenTarget *rewritten, const PlannerInfo *root,
						  RelOptInfo *rel, GroupPathExtraData *extra,
						  TargetForm form, List **pairs);
extern void targets_end(const RewrittenTarget *rewritten);
extern List *targets_restore(List *exprs, const RelOptInfo *rel,
							 const List *pairs);

#endif							/* TOLLFREE_FDW_TARGETS_H */
