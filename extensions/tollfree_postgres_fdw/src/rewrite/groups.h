/*
 * groups.h
 *	  What a query groups by and aggregates, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_GROUPS_H
#define TOLLFREE_FDW_GROUPS_H

#include "rewrite/forms.h"
#include "rewrite/targets.h"

extern bool groups_have_other_type(Node *condition);
extern Node *groups_form(Node *written, bool is_group, const FormRules *rules);
extern bool groups_need_other_form(const RelOptInfo *rel,
								   const GroupPathExtraData *extra);
extern bool groups_prefer_other_form(const GroupPathExtraData *extra);
extern bool groups_begin(RewrittenTarget *rewritten, const PlannerInfo *root,
						 const RelOptInfo *input, RelOptInfo *rel,
						 GroupPathExtraData *extra);
extern void groups_end(const RewrittenTarget *rewritten, const PlannerInfo *root,
					   const RelOptInfo *input, const RelOptInfo *rel);

#endif							/* TOLLFREE_FDW_GROUPS_H */
