/*
 * fastpath.h
 *	  Which fast paths, ways to save round trips or work, are allowed.
 */
#ifndef TOLLFREE_FDW_FASTPATH_H
#define TOLLFREE_FDW_FASTPATH_H

#include "nodes/pg_list.h"

/* Bits of a set.  Settings and options have the same names; see README.md. */
typedef enum FastPath
{
	FAST_DIRECT_RESULTS = 1 << 0,
	FAST_READ_AHEAD = 1 << 1,
	FAST_BINARY_RESULTS = 1 << 2,
	FAST_CONSTANTS = 1 << 3,
	FAST_AUTOCOMMIT = 1 << 4,
	FAST_PIPELINED_WRITES = 1 << 5,
	FAST_ARRAYS = 1 << 6,
	FAST_UNAWAITED_COMMIT = 1 << 7
} FastPath;

extern int	fastpath_of_server(List *options);
extern int	fastpath_of_table(Oid relid);
extern bool fastpath_is_on(int allowed, FastPath path);

#endif							/* TOLLFREE_FDW_FASTPATH_H */
