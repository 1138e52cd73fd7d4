/*
 * relay.h
 *		The link as a whole, and its event loop.
 */
#ifndef RELAY_H
#define RELAY_H

#include <signal.h>
#include <stdint.h>

#include "connection.h"
#include "counters.h"
#include "options.h"
#include "pollset.h"

typedef struct Relay
{
	const LinkOptions *options;
	int			listener;
	size_t		slot;			/* of the listener, in the poll set */
	int64_t		accept_ns;		/* not to accept before */
	uint64_t	capacity;		/* connections open at a time */
	uint64_t	opened;			/* connections accepted so far */
	Connection *connections;	/* those not yet freed, newest first */
	ConnectionHistory history;
	PollSet		set;
} Relay;

struct Control;

/* Returns how many connections are open. */
static inline uint64_t
relay_connections(const Relay *relay)
{
	return relay->opened - relay->history.count;
}

extern void relay_open(Relay *relay, const LinkOptions *options);
extern void relay_run(Relay *relay, struct Control *control,
					  const volatile sig_atomic_t *stop,
					  const sigset_t *mask);
extern void relay_close(Relay *relay);

#endif							/* RELAY_H */
