/*
 * usage.c
 *	  What a session did for an executor node, for EXPLAIN.
 */
#include "postgres.h"

#include "base/compat.h"
#include "session/usage.h"

/* Adds to a node's EXPLAIN output what the session did for it. */
void
usage_explain(const SessionUsage *usage, ExplainState *es)
{
	ExplainPropertyInteger("Round Trips", NULL, usage->round_trips, es);
	ExplainPropertyInteger("Statement Cache Hits", NULL, usage->hits, es);
}
