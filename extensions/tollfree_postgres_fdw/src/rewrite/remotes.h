/*
 * remotes.h
 *	  What may be sent to the server of a relation, by what is known of it.
 */
#ifndef TOLLFREE_FDW_REMOTES_H
#define TOLLFREE_FDW_REMOTES_H

#include "nodes/pathnodes.h"
#include "pgtime.h"

#include "rewrite/forms.h"

extern bool remotes_have_other_encoding(const RelOptInfo *rel);
extern bool remotes_have_odd_text(Node *expr);
extern bool remotes_can_encode(const RelOptInfo *rel, Node *expr);
extern bool remotes_may_read_texts(const RelOptInfo *rel);
extern bool remotes_may_count(const RelOptInfo *rel);
extern ZoneRules remotes_zone_rules(const PlannerInfo *root,
									const RelOptInfo *rel);
extern bool remotes_may_send_zone(const ZoneRules *rules, const pg_tz *zone);
extern bool remotes_have_same_collations(const RelOptInfo *rel);

#endif							/* TOLLFREE_FDW_REMOTES_H */
