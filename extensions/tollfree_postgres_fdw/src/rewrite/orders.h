/*
 * orders.h
 *	  What rows are sorted by, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_ORDERS_H
#define TOLLFREE_FDW_ORDERS_H

#include "nodes/pathnodes.h"

/* What has another form from orders_begin to orders_end */
typedef struct SentOrder
{
	PathTarget *target;
	List	   *exprs;			/* the target's, as written */
	List	   *members;		/* EquivalenceMembers with another form */
	List	   *written;		/* the forms that they had */
} SentOrder;

extern void orders_note(PlannerInfo *root, RelOptInfo *rel);
extern bool orders_are_ambiguous(const PlannerInfo *root,
								 const RelOptInfo *groups);
extern void orders_begin(SentOrder *order, const PlannerInfo *root,
						 RelOptInfo *rel);
extern void orders_end(const SentOrder *order);

#endif							/* TOLLFREE_FDW_ORDERS_H */
