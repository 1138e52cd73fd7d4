/*
 * planning.h
 *	  What is rewritten in the query that is being planned.
 */
#ifndef TOLLFREE_FDW_PLANNING_H
#define TOLLFREE_FDW_PLANNING_H

#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* A condition that is rewritten, or a grouping, which has no forms here */
typedef struct Condition
{
	Relids		relids;			/* of the tables that it is of */
	const PlannerInfo *root;
	Expr	   *written;		/* NULL for a grouping */
	Expr	   *sent;			/* in a form that may be sent */
} Condition;

/* A join that postgres_fdw would not send */
typedef struct SentJoin
{
	const PlannerInfo *root;
	Relids		relids;
	bool		is_semi;		/* one whose inner side has no name in the
								 * command, so that nothing is sorted by it */
} SentJoin;

/* A scan whose fdw_recheck_quals got the written forms back */
typedef struct RestoredScan
{
	const ForeignScan *plan;
	List	   *sent;			/* the list that postgres_fdw made */
} RestoredScan;

/* What is rewritten in the query that is being planned */
typedef struct QueryState
{
	const PlannerGlobal *query; /* if it is the first one; else NULL */
	bool		is_changed;		/* by query.c? */
	bool		is_joined;		/* by matches.c? */
	Query	   *written;		/* before planning, if it may be planned again
								 * because its servers lack something */
	List	   *zones;			/* on which its plan depends then (replan.c) */
	List	   *servers;		/* likewise */
	List	   *conditions;		/* of Condition */
	List	   *joins;			/* of SentJoin */
	List	   *values;			/* of Node, for values.c */
	List	   *types;			/* what types.c has replaced */
	List	   *pairs;			/* for targets.c */
	List	   *orders;			/* for orders.c */
	List	   *scans;			/* of RestoredScan */
	List	   *results;		/* of ForeignScan: each is all of a subquery */
} QueryState;

/* The state of the query that a callback is for, once it has been looked for */
extern QueryState *planned;

extern void planning_install(BeginForeignScan_function begin);
extern bool planning_find(const PlannerInfo *root);
extern void planning_need(const PlannerInfo *root);
extern bool planning_is_allowed(const PlannerInfo *root, Oid tableid);
extern bool planning_is_rewritten(const PlannerInfo *root,
								  const RelOptInfo *rel);
extern void planning_depend(const RelOptInfo *rel, int needs);
extern void planning_note(const PlannerInfo *root, Relids relids, Node *written,
						  Node *sent);
extern bool planning_is_joined(const PlannerInfo *root,
							   const RelOptInfo *rel);
extern bool planning_take_missed(void);
extern void planning_note_scan(const PlannerInfo *root, const RelOptInfo *rel,
							   ForeignScan *plan);

#endif							/* TOLLFREE_FDW_PLANNING_H */
