/*
 * partitions.h
 *	  Aggregation of partitions where they are, unless the user decides otherwise.
 */
#ifndef TOLLFREE_FDW_PARTITIONS_H
#define TOLLFREE_FDW_PARTITIONS_H

#include "nodes/parsenodes.h"

extern bool partitions_begin(Query *query);
extern void partitions_end(bool former);

#endif							/* TOLLFREE_FDW_PARTITIONS_H */
