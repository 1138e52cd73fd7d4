/*
 * rewrite.h
 *	  Expressions that postgres_fdw does not send, in a form that it sends.
 */
#ifndef TOLLFREE_FDW_REWRITE_H
#define TOLLFREE_FDW_REWRITE_H

#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "rewrite/forms.h"

extern Node *rewrite_form(Node *written, bool is_condition,
						  const FormRules *rules);
extern Node *rewrite_sent_form(const PlannerInfo *root, const RelOptInfo *rel,
							   Node *written, bool is_condition);
extern Node *rewrite_depending(const RelOptInfo *rel, Node *form,
							   const FormRules *rules);
extern void rewrite_conditions(PlannerInfo *root, RelOptInfo *rel,
							   Oid tableid);
extern void rewrite_note_join(const PlannerInfo *root, const RelOptInfo *rel,
							  bool is_semi);
extern bool rewrite_keeps_join(const PlannerInfo *root, const RelOptInfo *rel,
							   const List *clauses);
extern List *rewrite_join(PlannerInfo *root, const RelOptInfo *rel,
						  const JoinPathExtraData *extra);
extern Oid	rewrite_sent_as(const PlannerInfo *root, const RelOptInfo *rel,
							Oid type);
extern Node *rewrite_lookup(const PlannerInfo *root, const RelOptInfo *rel,
							Node *clause);
extern void rewrite_note_lookup(const PlannerInfo *root, const RelOptInfo *rel,
								Node *written, Node *sent);
extern bool rewrite_keeps_upper(const PlannerInfo *root,
								UpperRelationKind stage,
								const RelOptInfo *input,
								const RelOptInfo *rel);
extern bool rewrite_keeps_order(const PlannerInfo *root, const RelOptInfo *rel);
extern void rewrite_restore_values(ForeignScan *plan, const RelOptInfo *rel);
extern void rewrite_restore_scan(const PlannerInfo *root,
								 const RelOptInfo *rel, ForeignScan *plan);

#endif							/* TOLLFREE_FDW_REWRITE_H */
