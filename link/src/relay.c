/*
 * relay.c
 *		The link as a whole, and its event loop.
 *
 * One thread waits for every socket and for the nearest due time, then lets
 * each connection work without blocking:
 *
 *		build the poll set -> ppoll -> connections -> control -> accept
 *
 * Control clients come after the connections, so that their answers include
 * this round and delay no delivery that was due.
 *
 * At the limit of connections the listening socket is not waited for, and
 * further clients stay in the kernel's queue until a connection closes.
 *
 * connection.c handles one connection.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "control.h"
#include "fail.h"
#include "relay.h"

/* Descriptors left to the standard streams, the listeners and control. */
#define DESCRIPTORS_KEPT	16

#define DESCRIPTORS_PER_CONNECTION	2

/* Pause after accept() found the system out of descriptors or memory. */
#define ACCEPT_RETRY_NS		(100 * NS_PER_MS)

/*
 * Returns how many connections the process's limit of descriptors allows.
 * Counted beforehand, because at the limit itself control could not be reached
 * and a connection would be accepted whose other end cannot be opened.
 */
static uint64_t
relay_capacity(void)
{
	struct rlimit limit;
	rlim_t		kept = DESCRIPTORS_KEPT + DESCRIPTORS_PER_CONNECTION;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < kept)
		fail(EXIT_CODE_FAILURE,
			 "too few file descriptors: raise the limit (ulimit -n) to %d or more",
			 (int) kept);
	return (limit.rlim_cur - DESCRIPTORS_KEPT) / DESCRIPTORS_PER_CONNECTION;
}

/* Opens the listening socket, or exits. */
void
relay_open(Relay *relay, const LinkOptions *options)
{
	const AddressList *address = options->listen;
	const int	on = 1;

	memset(relay, 0, sizeof(*relay));
	relay->options = options;
	relay->slot = POLLSET_NONE;
	relay->capacity = relay_capacity();
	relay->listener = socket(address->ai_family,
							 SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (relay->listener < 0)
		fail(EXIT_CODE_FAILURE, "could not create a socket: %s",
			 strerror(errno));
	setsockopt(relay->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(relay->listener, address->ai_addr, address->ai_addrlen) == 0 &&
		listen(relay->listener, SOMAXCONN) == 0)
		return;
	if (errno == EADDRINUSE)
		fail(EXIT_CODE_IN_USE,
			 "--listen \"%s\" is in use: give another port, or 0 for a free one",
			 options->listen_text);
	fail(EXIT_CODE_USAGE,
		 "--listen \"%s\" cannot be used (%s): give an address of this machine and a port open to you",
		 options->listen_text, strerror(errno));
}

/* Fills the poll set.  Returns when the next thing is due. */
static int64_t
relay_poll(Relay *relay, Control *control)
{
	int64_t		wake_ns = CLOCK_NEVER;

	relay->set.count = 0;
	for (Connection *connection = relay->connections; connection != NULL;
		 connection = connection->next)
	{
		int64_t		due_ns = connection_poll(connection, &relay->set);

		wake_ns = due_ns < wake_ns ? due_ns : wake_ns;
	}
	control_poll(control, &relay->set);

	relay->slot = POLLSET_NONE;
	if (relay_connections(relay) == relay->capacity)
		return wake_ns;
	if (clock_now_ns() >= relay->accept_ns)
		relay->slot = pollset_add(&relay->set, relay->listener, POLLIN);
	else if (relay->accept_ns < wake_ns)
		wake_ns = relay->accept_ns;
	return wake_ns;
}

/* Waits until something happens, a time has come, or a signal arrives. */
static bool
relay_wait(PollSet *set, int64_t wake_ns, const sigset_t *mask)
{
	int64_t		left_ns = wake_ns - clock_now_ns();
	struct timespec timeout = {0};

	if (left_ns > 0)
	{
		timeout.tv_sec = left_ns / NS_PER_S;
		timeout.tv_nsec = left_ns % NS_PER_S;
	}
	return ppoll(set->fds, set->count,
				 wake_ns == CLOCK_NEVER ? NULL : &timeout, mask) >= 0;
}

/* Lets every connection work, and frees those that have closed. */
static void
relay_serve(Relay *relay)
{
	Connection **link = &relay->connections;

	while (*link != NULL)
	{
		Connection *connection = *link;

		connection_serve(connection, &relay->set);
		if (connection->phase != PHASE_CLOSED)
		{
			link = &connection->next;
			continue;
		}
		*link = connection->next;
		history_add(&relay->history, &connection->record);
		connection_free(connection);
	}
}

/* Accepts one client, if one is waiting. */
static void
relay_accept(Relay *relay)
{
	struct sockaddr_storage client;
	socklen_t	length = sizeof(client);
	Connection *connection;
	int			fd;

	if (pollset_events(&relay->set, relay->slot) == 0)
		return;
	fd = accept4(relay->listener, (struct sockaddr *) &client, &length,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
	{
		if (errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			relay->accept_ns = clock_now_ns() + ACCEPT_RETRY_NS;
		return;
	}
	connection = connection_create(fd, relay->options);
	if (connection == NULL)
	{
		close(fd);
		return;
	}
	record_start(&connection->record, ++relay->opened,
				 (struct sockaddr *) &client, length);
	connection->next = relay->connections;
	relay->connections = connection;
}

/* Runs until the signal handler asks to stop; the mask lets signals in. */
void
relay_run(Relay *relay, Control *control, const volatile sig_atomic_t *stop,
		  const sigset_t *mask)
{
	while (!*stop)
	{
		int64_t		wake_ns = relay_poll(relay, control);

		if (!relay_wait(&relay->set, wake_ns, mask))
		{
			if (errno != EINTR)
				fail(EXIT_CODE_FAILURE, "could not wait: %s", strerror(errno));
			continue;
		}
		relay_serve(relay);
		control_serve(control, &relay->set, relay);
		relay_accept(relay);
	}
}

/* Closes every connection and the listening socket. */
void
relay_close(Relay *relay)
{
	while (relay->connections != NULL)
	{
		Connection *connection = relay->connections;

		relay->connections = connection->next;
		connection_free(connection);
	}
	close(relay->listener);
	pollset_free(&relay->set);
}
