/*
 * types.h
 *	  Enums as their labels, domains as their base types.
 */
#ifndef TOLLFREE_FDW_TYPES_H
#define TOLLFREE_FDW_TYPES_H

#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

extern bool types_are_other(Node *expr);
extern Node *types_replace(Node *expr, Oid serverid, List **forms);
extern Node *types_replace_output(Node *expr, Oid serverid, List **forms);
extern Node *types_replace_lookup(Node *clause, const RelOptInfo *rel,
								  List **forms);
extern Node *types_replace_assigned(Node *expr, Oid serverid, bool *is_value);
extern Oid	types_sent_as(Oid type, Oid serverid);
extern List *types_restore(List *exprs, const List *forms);
extern bool types_is_converted(const Node *node, Index relid);

#endif							/* TOLLFREE_FDW_TYPES_H */
