/*
 * distinct.h
 *	  SELECT DISTINCT as GROUP BY, which is sent.
 */
#ifndef TOLLFREE_FDW_DISTINCT_H
#define TOLLFREE_FDW_DISTINCT_H

#include "nodes/parsenodes.h"

/* Is a table one of which expressions may be sent in another form? */
typedef bool (*distinct_is_ours_function) (const RangeTblEntry *rte);

extern void distinct_to_groups(Query *query, distinct_is_ours_function is_ours);
extern bool distinct_is_replaced(const Query *query);

#endif							/* TOLLFREE_FDW_DISTINCT_H */
