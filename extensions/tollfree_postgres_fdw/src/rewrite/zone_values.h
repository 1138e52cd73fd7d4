/*
 * zone_values.h
 *	  Time zones, as values of parameters.
 */
#ifndef TOLLFREE_FDW_ZONE_VALUES_H
#define TOLLFREE_FDW_ZONE_VALUES_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

#include "rewrite/forms.h"

/* What zone_values_names has for the session's zone */
#define ZONE_VALUES_SESSION ""

extern Node *zone_values_of_session(void);
extern bool zone_values_find(Node *zone, const ZoneRules *rules, Node **value);
extern const char *zone_values_refusal(Node *zone, const ZoneRules *rules);
extern List *zone_values_names(const List *exprs);
extern List *zone_values_fix(List *exprs);

#endif							/* TOLLFREE_FDW_ZONE_VALUES_H */
