/*
 * usage.h
 *	  What a session did for an executor node, for EXPLAIN.
 */
#ifndef TOLLFREE_FDW_USAGE_H
#define TOLLFREE_FDW_USAGE_H

#include "base/compat.h"
#include "session/state.h"

/* Differences of the session's counters */
typedef struct SessionUsage
{
	int64		round_trips;
	int64		hits;			/* of the statement cache */
} SessionUsage;

/* From here on counts what the session does for the node. */
static inline void
usage_start(const Session *session, SessionUsage *usage)
{
	usage->round_trips -= session->counters.round_trips;
	usage->hits -= session->counters.statements.hits;
}

/* Stops counting. */
static inline void
usage_stop(const Session *session, SessionUsage *usage)
{
	usage->round_trips += session->counters.round_trips;
	usage->hits += session->counters.statements.hits;
}

/* Adds to a node's EXPLAIN output what the session did for it. */
static inline void
usage_explain(const SessionUsage *usage, ExplainState *es)
{
	ExplainPropertyInteger("Round Trips", NULL, usage->round_trips, es);
	ExplainPropertyInteger("Statement Cache Hits", NULL, usage->hits, es);
}

#endif							/* TOLLFREE_FDW_USAGE_H */
