/*
 * collations.h
 *	  Functions whose result does not depend on a collation.
 */
#ifndef TOLLFREE_FDW_COLLATIONS_H
#define TOLLFREE_FDW_COLLATIONS_H

#include "nodes/pathnodes.h"
#include "nodes/parsenodes.h"

extern bool collations_is_time_part(const Node *node);
extern bool collations_remain(Node *expr);
extern bool collations_order(Node *expr);
extern bool collations_collects(const Aggref *aggregate);
extern bool collations_sort(const List *pathkeys);
extern Node *collations_drop(Node *expr, bool is_assigned, bool may_count);
extern bool collations_count(Node *form);
extern bool collations_count_in_query(Query *query);
extern Node *collations_drop_default(Node *expr);

#endif							/* TOLLFREE_FDW_COLLATIONS_H */
