/*
 * values.h
 *	  Stable values without columns, sent as parameters.
 */
#ifndef TOLLFREE_FDW_VALUES_H
#define TOLLFREE_FDW_VALUES_H

#include "nodes/primnodes.h"

extern bool values_cannot_fail(const Node *node);
extern Node *values_make_param(Node *value, List **values);
extern Node *values_compare_texts(Node *condition);
extern Node *values_assign(Node *value, List **values);
extern Node *values_replace(Node *expr, bool is_condition, List **values);
extern Node *values_replace_lookup(Node *clause, Index relid, List **values);
extern bool values_may_fail_early(Node *node, void *context);
extern List *values_restore(List *exprs, const List *values);

#endif							/* TOLLFREE_FDW_VALUES_H */
