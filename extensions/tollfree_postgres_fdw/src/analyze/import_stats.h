/*
 * import_stats.h
 *	  ANALYZE without rows: the remote server's own statistics.
 */
#ifndef TOLLFREE_FDW_IMPORT_STATS_H
#define TOLLFREE_FDW_IMPORT_STATS_H

#include "utils/rel.h"

#include "session/state.h"

/* The obstacle if the remote server refuses the query */
#define IMPORT_REFUSED "The remote server does not tell its user what it knows of the table."

extern const char *import_statistics(Relation rel, Session *session);

#endif							/* TOLLFREE_FDW_IMPORT_STATS_H */
