/*
 * memory.h
 *	  Lists that are kept for a relation while a query is planned.
 */
#ifndef TOLLFREE_FDW_MEMORY_H
#define TOLLFREE_FDW_MEMORY_H

#include "nodes/pathnodes.h"

typedef enum MemoryKind
{
	MEMORY_CONDITIONS,			/* of RestrictInfo: a join's, and its inputs' */
	MEMORY_SCANS,				/* of MadeScan, see paths.c */
	MEMORY_ESTIMATES			/* of Estimate, see estimates/ */
} MemoryKind;

#define MEMORY_KINDS (MEMORY_ESTIMATES + 1)

extern List *memory_find(const RelOptInfo *rel, MemoryKind kind);
extern void memory_keep(RelOptInfo *rel, MemoryKind kind, List *list);

#endif							/* TOLLFREE_FDW_MEMORY_H */
