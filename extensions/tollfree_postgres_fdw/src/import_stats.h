/*
 * import_stats.h
 *	  ANALYZE without rows: the remote server's own statistics.
 */
#ifndef TOLLFREE_FDW_IMPORT_STATS_H
#define TOLLFREE_FDW_IMPORT_STATS_H

#include "utils/rel.h"

#include "session.h"

extern const char *import_statistics(Relation rel, Session *session);

#endif							/* TOLLFREE_FDW_IMPORT_STATS_H */
