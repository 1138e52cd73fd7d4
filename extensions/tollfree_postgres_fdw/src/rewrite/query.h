/*
 * query.h
 *	  Functions in a query that is not planned yet, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_QUERY_H
#define TOLLFREE_FDW_QUERY_H

#include "foreign/fdwapi.h"
#include "nodes/parsenodes.h"

extern void query_know_tables(BeginForeignScan_function begin);
extern bool query_reads_foreign(const Query *query);
extern bool query_has_our_rows(const RangeTblEntry *rte);
extern bool query_are_together(const RangeTblEntry *target,
							   const RangeTblEntry *other);
extern bool query_aggregates_ours(const RangeTblEntry *rte);
extern bool query_rewrite(Query *query);

#endif							/* TOLLFREE_FDW_QUERY_H */
