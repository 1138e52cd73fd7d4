/*
 * estimate.h
 *	  A remote estimate of a scan, join or aggregate.
 */
#ifndef TOLLFREE_FDW_ESTIMATE_H
#define TOLLFREE_FDW_ESTIMATE_H

#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"

/* The remote plan's costs and rows */
typedef struct EstimateAnswer
{
	double		rows;
	int			width;			/* bytes of a row */
	Cost		startup;
	Cost		total;
} EstimateAnswer;

typedef struct Estimate
{
	RelOptInfo *rel;			/* a table, a join or a grouping */
	List	   *pathkeys;		/* required order of rows */
	ParamPathInfo *param;		/* of a scan with parameters, or NULL */

	char	   *sql;			/* the EXPLAIN */
	List	   *quals;			/* conditions of the relation, and those with
								 * parameters, that are checked here */
	List	   *param_quals;
	List	   *received;		/* columns of a grouping, as they are sent */
	EstimateAnswer answer;		/* explain.c */

	/* computed from the remote plan */
	double		rows;			/* of the path */
	Cost		rel_startup;	/* before rows are sent */
	Cost		rel_total;
	Cost		startup;		/* of the path */
	Cost		total;
} Estimate;

/* explain.c */
extern void explain_estimates(PlannerInfo *root, List *estimates);

/* estimate.c */
extern Estimate *estimate_make(const FdwRoutine *stock, PlannerInfo *root,
							   ForeignPath *path, ParamPathInfo *param,
							   const List *restrictions);
extern void estimate_finish(PlannerInfo *root, Estimate *estimate,
							const PathTarget *target);
extern void estimate_limit(Path *path, const Estimate *estimate,
						   const FinalPathExtraData *extra);
extern void estimate_apply(Path *path, const Estimate *estimate);
extern void estimate_keep(RelOptInfo *rel, List *estimates);
extern List *estimate_find(const RelOptInfo *rel);

#endif							/* TOLLFREE_FDW_ESTIMATE_H */
