/*
 * shared_counters.h
 *	  What the sessions of all backends have done.
 */
#ifndef TOLLFREE_FDW_SHARED_COUNTERS_H
#define TOLLFREE_FDW_SHARED_COUNTERS_H

#include "session/state.h"

/* Of the sessions of one user mapping; of none, if there is no server */
typedef struct CountersEntry
{
	Oid			database;
	Oid			server;
	Oid			user;			/* whose mapping it is; InvalidOid for public */
	SessionCounters counters;
} CountersEntry;

extern void shared_counters_install(void);
extern void shared_counters_attach(void);
extern void shared_counters_add(Session *session);
extern void shared_counters_end_connection(Session *session);
extern bool shared_counters_get(int index, CountersEntry *entry,
								TimestampTz *since);
extern void shared_counters_forget(Oid database);
extern bool shared_counters_are_shared(void);
extern void shared_counters_reset(void);

#endif							/* TOLLFREE_FDW_SHARED_COUNTERS_H */
