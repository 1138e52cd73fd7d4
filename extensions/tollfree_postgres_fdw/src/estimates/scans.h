/*
 * scans.h
 *	  Paths of foreign tables with remote estimates.
 */
#ifndef TOLLFREE_FDW_SCANS_H
#define TOLLFREE_FDW_SCANS_H

#include "foreign/fdwapi.h"

extern void scans_size(const FdwRoutine *stock, PlannerInfo *root,
					   RelOptInfo *rel, Oid tableid);
extern void scans_add_paths(const FdwRoutine *stock, PlannerInfo *root,
							RelOptInfo *rel);
extern List *scans_take_paths(RelOptInfo *rel, List *former);
extern bool scans_send_all(const FdwRoutine *stock, PlannerInfo *root,
						   RelOptInfo *rel, const List *clauses);
extern bool scans_send_conditions(const FdwRoutine *stock, PlannerInfo *root,
								  RelOptInfo *rel);

#endif							/* TOLLFREE_FDW_SCANS_H */
