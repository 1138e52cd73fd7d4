/*
 * targets.h
 *	  What a remote aggregation computes, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_TARGETS_H
#define TOLLFREE_FDW_TARGETS_H

#include "nodes/pathnodes.h"

/* What an expression of an aggregation is */
typedef enum TargetKind
{
	TARGET_GROUP,				/* what is grouped by */
	TARGET_VALUE,				/* another column, or an aggregate */
	TARGET_CONDITION			/* of HAVING */
} TargetKind;

/* How it is sent: as this function says; itself if that is as written */
typedef Node *(*TargetForm) (Node *expr, TargetKind kind,
							 const PlannerInfo *root, const RelOptInfo *rel);

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
extern bool targets_have_grouping(Node *expr);
extern void targets_end(const RewrittenTarget *rewritten);
extern Node *targets_sent(const Node *written, const RelOptInfo *rel,
						  const List *pairs);
extern List *targets_restore(List *exprs, const RelOptInfo *rel,
							 const List *pairs);

#endif							/* TOLLFREE_FDW_TARGETS_H */
