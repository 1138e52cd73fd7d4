/*
 * partitions.h
 *	  Aggregation of partitions where they are, unless the user decides otherwise.
 */
#ifndef TOLLFREE_FDW_PARTITIONS_H
#define TOLLFREE_FDW_PARTITIONS_H

#include "nodes/plannodes.h"

extern Query *partitions_copy(Query *query);
extern bool partitions_begin(bool is_wanted);
extern bool partitions_plan_again(const PlannedStmt *stmt, const Query *copy);
extern void partitions_end(bool former);

#endif							/* TOLLFREE_FDW_PARTITIONS_H */
