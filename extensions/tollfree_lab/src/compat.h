/*
 * compat.h
 *	  Differences between the supported major versions, 15 to 19.
 */
#ifndef TOLLFREE_LAB_COMPAT_H
#define TOLLFREE_LAB_COMPAT_H

#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"				/* part of postgres.h before */
#endif

/*
 * A wait event set that lives at most as long as the current owner: from 17
 * on a resource owner closes it, before that only FreeWaitEventSet does.
 */
static inline WaitEventSet *
compat_create_wait_event_set(int nevents)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(CurrentResourceOwner, nevents);
#else
	return CreateWaitEventSet(CurrentMemoryContext, nevents);
#endif
}

#endif							/* TOLLFREE_LAB_COMPAT_H */
