/*
 * plan.h
 *	  What postgres_fdw leaves for the executor in its plans.
 */
#ifndef TOLLFREE_FDW_PLAN_H
#define TOLLFREE_FDW_PLAN_H

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

typedef struct PlanCommand
{
	char	   *sql;			/* that is executed */
	char	   *shown;			/* by EXPLAIN and errors */
	Oid		   *types;			/* declared for its parameters, 0 for one that
								 * is not; NULL if none is */
	bool		is_cacheable;	/* may it be kept prepared? */
} PlanCommand;

typedef struct ScanPlan
{
	PlanCommand command;
	List	   *attrs;			/* attribute number of each result column */
	int			fetch_size;		/* rows */
	int			bytes;			/* that are expected; INT_MAX if unknown */
	int			width;			/* of a row, in bytes, as far as is known */
	int			fast_paths;		/* that options allow; fastpath.h */
} ScanPlan;

typedef struct ModifyPlan
{
	char	   *sql;
	List	   *targets;		/* attribute numbers of the columns written */
	int			values_end;		/* bytes of an INSERT up to its first row's
								 * end */
	bool		has_returning;
	List	   *attrs;			/* of what RETURNING gives */
} ModifyPlan;

typedef struct DirectPlan
{
	PlanCommand command;
	bool		has_returning;
	List	   *attrs;
	bool		set_processed;	/* do its rows count as the command's? */
} DirectPlan;

extern bool plan_is_few(double rows);
extern void plan_annotate_scan(ForeignScan *plan, PlannerInfo *root,
							   const RelOptInfo *rel, Oid tableid,
							   double rows);
extern void plan_note_command(ForeignScan *plan, Node *sql, List *types,
							  bool is_cacheable);
extern ScanPlan plan_read_scan(List *private);
extern ModifyPlan plan_read_modify(List *private);
extern DirectPlan plan_read_direct(List *private);

#endif							/* TOLLFREE_FDW_PLAN_H */
