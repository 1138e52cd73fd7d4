/*
 * pollset.c
 *		The descriptors of one wait, rebuilt for each.
 *
 * Rebuilding costs a few nanoseconds a connection and avoids a second record
 * of what is awaited.  The array is kept between waits.
 */
#include <stdlib.h>

#include "fail.h"
#include "pollset.h"

#define POLLSET_CAPACITY_FIRST	64

/* Adds a descriptor and returns its slot, good until the next rebuild. */
size_t
pollset_add(PollSet *set, int fd, short events)
{
	if (set->count == set->capacity)
	{
		size_t		capacity = set->capacity ? 2 * set->capacity :
			POLLSET_CAPACITY_FIRST;

		set->fds = reallocarray(set->fds, capacity, sizeof(*set->fds));
		if (set->fds == NULL)
			fail(EXIT_CODE_FAILURE, "out of memory for %zu descriptors",
				 capacity);
		set->capacity = capacity;
	}
	set->fds[set->count].fd = fd;
	set->fds[set->count].events = events;
	set->fds[set->count].revents = 0;
	return set->count++;
}

/* Frees the array. */
void
pollset_free(PollSet *set)
{
	free(set->fds);
}
