/*
 * lookup.h
 *	  Joins that look up the foreign rows of many outer rows at once.
 */
#ifndef TOLLFREE_FDW_LOOKUP_H
#define TOLLFREE_FDW_LOOKUP_H

#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "base/fastpath.h"

/* May the rows of a scan with these fast paths be looked up in batches? */
static inline bool
lookup_is_on(int fast_paths)
{
	return fastpath_is_on(fast_paths, FAST_LOOKUPS) &&
		fastpath_is_on(fast_paths, FAST_DIRECT_RESULTS);
}

/* The user that a foreign table of a query is read as. */
static inline Oid
lookup_user(const RelOptInfo *rel)
{
	return OidIsValid(rel->userid) ? rel->userid : GetUserId();
}

/* Outer rows of the first batch if the query may stop early, and how it grows */
#define LOOKUP_FIRST_ROWS 20
#define LOOKUP_GROWTH 10

/*
 * Outer rows of that batch, given the expected foreign rows of each: in all no
 * more than a cursor's first FETCH.
 */
static inline int
lookup_first_rows(double rows, int fetch_size)
{
	return (int) Max(Min(fetch_size / Max(rows, 1), LOOKUP_FIRST_ROWS), 1);
}

/* paths.c */
extern void lookup_install(void);
extern bool lookup_writes_quietly(const Query *query);

/* costs.c */
extern Cost lookup_first_cost(double rows, const Path *inner);
extern Cost lookup_saved_cost(PlannerInfo *root, double rows, const Path *inner,
							  List *keys, JoinType jointype,
							  const JoinPathExtraData *extra);
extern Cost lookup_whole_cost(PlannerInfo *root, const Path *outer,
							  const Path *inner, List *keys);

/* parameters.c */
extern bool lookup_may_stop(const PlannerInfo *root);
extern Cost lookup_index_cost(const PlannerInfo *root, const Path *path);
extern Relids lookup_outer(PlannerInfo *root, RelOptInfo *rel, Relids tables);
extern Path *lookup_make_scan(PlannerInfo *root, RelOptInfo *rel,
							  Relids tables);
extern List *lookup_split_clauses(PlannerInfo *root, RelOptInfo *rel,
								  const Path *path, List **clauses);

/* node.c */
extern const CustomScanMethods lookup_scan_methods;
extern bool lookup_has_scan(const PlannedStmt *stmt, const ForeignScan *scan);

/* store.c */
extern const CustomScanMethods store_scan_methods;
extern Path *store_make_path(Path *join);

/* Outer rows of a batch at most */
#define LOOKUP_MAX_ROWS 10000

/* Bytes of a batch's outer rows and keys, exceeded at most by those of one row */
#define LOOKUP_BYTES (1024 * 1024)

/* How long a batch may take under a remote statement_timeout, in ms */
#define LOOKUP_MSECS 100

#endif							/* TOLLFREE_FDW_LOOKUP_H */
