/*
 * pollset.h
 *		The descriptors of one wait, rebuilt for each.
 */
#ifndef POLLSET_H
#define POLLSET_H

#include <poll.h>
#include <stddef.h>

/* The slot of what is not waited for. */
#define POLLSET_NONE	((size_t) -1)

typedef struct PollSet
{
	struct pollfd *fds;
	size_t		count;
	size_t		capacity;
} PollSet;

extern size_t pollset_add(PollSet *set, int fd, short events);
extern void pollset_free(PollSet *set);

/* Returns what happened at a slot; nothing does at POLLSET_NONE. */
static inline short
pollset_events(const PollSet *set, size_t slot)
{
	return slot == POLLSET_NONE ? 0 : set->fds[slot].revents;
}

#endif							/* POLLSET_H */
