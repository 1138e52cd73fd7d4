/*
 * zones.h
 *	  Times in the session's zone, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_ZONES_H
#define TOLLFREE_FDW_ZONES_H

#include "nodes/parsenodes.h"

extern bool zones_in_query(Query *query);
extern Node *zones_compare(Node *expr);
extern bool zones_is_of_zone(Oid function);
extern Node *zones_replace(Node *expr, bool may_use_zone, List **values);
extern bool zones_among(const List *exprs);
extern List *zones_fix(List *exprs);

#endif							/* TOLLFREE_FDW_ZONES_H */
