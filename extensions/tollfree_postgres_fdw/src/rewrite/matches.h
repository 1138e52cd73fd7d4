/*
 * matches.h
 *	  UPDATE and DELETE of rows that have a match, as of rows that are joined.
 */
#ifndef TOLLFREE_FDW_MATCHES_H
#define TOLLFREE_FDW_MATCHES_H

#include "nodes/plannodes.h"

/* Are two foreign tables ours, of one server, and may expressions on both be sent? */
typedef bool (*matches_are_together_function) (const RangeTblEntry *target,
											   const RangeTblEntry *other);

extern Query *matches_to_joins(Query *query,
							   matches_are_together_function are_together);
extern bool matches_plan_again(const PlannedStmt *stmt, const Query *written);

#endif							/* TOLLFREE_FDW_MATCHES_H */
