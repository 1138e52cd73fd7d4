/*
 * join_table.h
 *	  All tuples of a hash join's table, wherever the join keeps them.
 */
#ifndef TOLLFREE_FILE_JOIN_TABLE_H
#define TOLLFREE_FILE_JOIN_TABLE_H

#include "nodes/execnodes.h"

/* Called for each tuple; it lasts as long as the call. */
typedef void (*TupleVisitor) (void *context, uint32 hash, MinimalTuple tuple);

extern const char *join_table_unusable(const HashJoinState *join);
extern double join_table_count(const HashJoinState *join);
extern void join_table_visit(const HashJoinState *join, TupleVisitor visit,
							 void *context);

#endif							/* TOLLFREE_FILE_JOIN_TABLE_H */
