/*
 * zones.h
 *	  Times in a zone, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_ZONES_H
#define TOLLFREE_FDW_ZONES_H

#include "nodes/parsenodes.h"

#include "rewrite/forms.h"

extern bool zones_in_query(Query *query);
extern bool zones_is_of_zone(Oid function);
extern Node *zones_named(const FuncExpr *func);
extern Node *zones_replace(Node *expr, const FormRules *rules);

#endif							/* TOLLFREE_FDW_ZONES_H */
