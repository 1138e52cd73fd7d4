/*
 * semi.h
 *	  Semi and anti joins that the remote server executes.
 */
#ifndef TOLLFREE_FDW_SEMI_H
#define TOLLFREE_FDW_SEMI_H

#include "nodes/pathnodes.h"

extern JoinType semi_sent_type(const PlannerInfo *root, const RelOptInfo *joinrel,
							   const RelOptInfo *inner, JoinType jointype,
							   JoinPathExtraData *extra);

#endif							/* TOLLFREE_FDW_SEMI_H */
