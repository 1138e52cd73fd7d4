/*
 * fastpath.h
 *	  Which fast paths, ways to save round trips or work, are allowed.
 */
#ifndef TOLLFREE_FDW_FASTPATH_H
#define TOLLFREE_FDW_FASTPATH_H

#include "nodes/pg_list.h"

/* Numbers of bits in a set of paths */
typedef enum FastPath
{
	FAST_DIRECT_RESULTS,
	FAST_READ_AHEAD,
	FAST_BINARY_RESULTS,
	FAST_CONSTANTS,
	FAST_LOOKUPS,
	FAST_JOIN_ESTIMATES,
	FAST_PARTIAL_AGGREGATES,
	FAST_REMOTE_LIMITS,
	FAST_REMOTE_EXPRESSIONS,
	FAST_AUTOCOMMIT,
	FAST_PIPELINED_WRITES,
	FAST_ARRAYS,
	FAST_PARALLEL_MODIFY,
	FAST_UNAWAITED_COMMIT
} FastPath;

extern void fastpath_define_settings(void);
extern bool fastpath_is_option(const char *name, bool *of_table);
extern const char *fastpath_option_name(FastPath path);
extern int	fastpath_of_server(List *options);
extern int	fastpath_of_options(List *table_options, List *server_options);
extern bool fastpath_is_on(int allowed, FastPath path);

#endif							/* TOLLFREE_FDW_FASTPATH_H */
