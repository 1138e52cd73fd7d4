/*
 * plan.h
 *	  The private lists of postgres_fdw's plans.
 */
#ifndef TOLLFREE_FDW_PLAN_H
#define TOLLFREE_FDW_PLAN_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* This many rows of one table are few, even if their number is only a guess */
#define PLAN_FEW_ROWS 100

typedef struct PlanCommand
{
	char	   *sql;			/* text that is executed */
	char	   *shown;			/* text that EXPLAIN and errors show */
	Oid		   *types;			/* declared types of its parameters, 0 for
								 * none; NULL if none has one */
	bool		is_cacheable;	/* may it be kept prepared? */
} PlanCommand;

/* The table whose rows a scan reads to be modified by their ctids */
typedef struct ScanTarget
{
	Index		rtindex;		/* 0 if there is none */
	AttrNumber	attno;			/* attribute that has the ctids */
	bool		uses_ctid;		/* does the query itself refer to ctids? */
} ScanTarget;

typedef struct ScanPlan
{
	PlanCommand command;
	List	   *attrs;			/* attribute number of each result column */
	int			fetch_size;		/* rows */
	int			rows;			/* expected number of the result; less than
								 * none if unknown */
	bool		is_bounded;		/* is that an upper bound: a LIMIT of
								 * postgres_fdw, or no GROUP BY? */
	bool		is_aggregated;	/* are its rows those of an aggregation? */
	int			bytes;			/* expected size of the result; INT_MAX if
								 * unknown */
	int			width;			/* expected bytes of a row */
	int			fast_paths;		/* that options allow; fastpath.h */
	List	   *states;			/* of aggregates, to be made in each row;
								 * wire/states.h */
	bool		is_sorted_member;	/* is it an ordered scan of a partition? */
	ScanTarget	target;
} ScanPlan;

typedef struct ModifyPlan
{
	char	   *sql;
	List	   *targets;		/* attribute numbers of the columns written */
	int			values_end;		/* bytes of an INSERT up to the end of its
								 * first row */
	bool		has_returning;
	List	   *attrs;			/* attribute number of each RETURNING column */
} ModifyPlan;

typedef struct DirectPlan
{
	PlanCommand command;
	bool		has_returning;
	List	   *attrs;
	bool		set_processed;	/* are its rows added to the statement's
								 * number of rows? */
} DirectPlan;

/* Makes another text of a query's. */
typedef char *(*plan_edit_function) (const char *sql, const void *arg);

extern int	plan_fast_paths(const PlannerInfo *root, const RelOptInfo *rel,
							Oid tableid);
extern List *plan_find_restrictions(const List *quals, const List *clauses);
extern void plan_annotate_scan(ForeignScan *plan, PlannerInfo *root,
							   const RelOptInfo *rel, const ForeignPath *path,
							   const List *clauses, int fast_paths);
extern void plan_edit_query(ForeignScan *plan, plan_edit_function edit,
							const void *arg);
extern void plan_wrap_query(ForeignScan *plan, const char *before,
							const char *after);
extern void plan_check_existence(ForeignScan *plan);
extern void plan_note_aggregates(ForeignScan *plan, int columns, double rows,
								 bool has_one_row);
extern void plan_note_states(ForeignScan *plan, List *attrs, List *states);
extern void plan_note_command(ForeignScan *plan, Node *sql, List *types,
							  bool is_cacheable);
extern void plan_note_target(ForeignScan *plan, char *sql, ScanTarget target);
extern ScanPlan plan_read_scan(List *private);
extern ModifyPlan plan_read_modify(List *private);
extern DirectPlan plan_read_direct(List *private);

#endif							/* TOLLFREE_FDW_PLAN_H */
