/*
 * rewrite.h
 *	  Expressions that postgres_fdw does not send, in a form that it sends.
 */
#ifndef TOLLFREE_FDW_REWRITE_H
#define TOLLFREE_FDW_REWRITE_H

#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "rewrite/targets.h"

/* A direct modification that is being planned */
typedef struct RewrittenUpdate
{
	ForeignScan *scan;			/* whose rows are modified; NULL if unknown */
	List	   *rechecks;		/* its fdw_recheck_quals, as written */
	List	   *entries;		/* TargetEntries of SET that are rewritten */
	List	   *written;		/* their expressions, as written */
	List	   *columns;		/* of values without a type, for assigned.c */
} RewrittenUpdate;

/* What forms an expression may be given, and where what they are made of is noted */
typedef struct FormRules
{
	Oid			serverid;		/* of the tables that it is on */
	bool		may_send_zones; /* times in the session's zone? */
	bool		same_collations;	/* has the remote database those of this
									 * one? */
	List	  **values;			/* of the query, for values.c */
	List	  **types;			/* for types.c; NULL if none are replaced */
} FormRules;

extern void rewrite_install(BeginForeignScan_function begin);
extern Node *rewrite_form(Node *written, bool is_condition,
						  const FormRules *rules);
extern Node *rewrite_target(Node *written, bool is_group,
							const FormRules *rules);
extern bool rewrite_has_other_group(Node *condition);
extern void rewrite_conditions(PlannerInfo *root, RelOptInfo *rel,
							   Oid tableid);
extern void rewrite_note_join(const PlannerInfo *root, const RelOptInfo *rel);
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
extern bool rewrite_begin_grouping(RewrittenTarget *rewritten,
								   const PlannerInfo *root,
								   const RelOptInfo *input, RelOptInfo *rel,
								   GroupPathExtraData *extra);
extern void rewrite_end_grouping(const RewrittenTarget *rewritten,
								 const PlannerInfo *root,
								 const RelOptInfo *input,
								 const RelOptInfo *rel);
extern void rewrite_restore_scan(const PlannerInfo *root,
								 const RelOptInfo *rel, ForeignScan *plan);
extern void rewrite_begin_direct(RewrittenUpdate *update, PlannerInfo *root,
								 ModifyTable *plan, Index target);
extern void rewrite_finish_direct(const RewrittenUpdate *update,
								  const PlannerInfo *root,
								  ModifyTable *plan, Index target);
extern void rewrite_end_direct(const RewrittenUpdate *update,
							   const PlannerInfo *root, bool is_direct,
							   ModifyTable *plan, Index target);

#endif							/* TOLLFREE_FDW_REWRITE_H */
