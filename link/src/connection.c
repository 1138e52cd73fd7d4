/*
 * connection.c
 *		One connection through the link: two ends and the data in flight
 *		between them.
 *
 * With a one-way delay of d, counted from the moment the client was accepted:
 *
 *		handshake	The kernel completes the client's handshake by itself, so
 *					connect() returns at once.  What a real link would have
 *					taken is made up for behind it: the server is connected
 *					after 3d (SYN, SYN-ACK, ACK), and until the client has been
 *					given something, what it sends is due 3d later, as though
 *					it had itself waited 2d before sending.
 *		data		Each chunk is due d after it was read.
 *		end			A FIN is queued as an empty chunk, hence due d later, after
 *					the data before it; the other direction stays open.
 *		reset		Closes both ends when it is due as data would be, even if
 *					data before it could not be delivered.
 *
 * So the first answer comes 4d after connect() was called, as it would over
 * a real link.  Not delayed: connect() itself, TCP's acknowledgements
 * and window updates, and the link's own connection to the server, whose real
 * handshake comes on top.  A refused connection is reported to the client as a
 * reset after 3d, where a real link would take 2d.
 *
 * When a direction is full its sender is not read until there is room again,
 * so that TCP slows the sender down.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "connection.h"

/* Largest chunk; one read of it never starves the other connections. */
#define READ_SIZE	((size_t) 64 << 10)

/* One-way delays that a TCP handshake takes until the server sees it done. */
#define HANDSHAKE_CROSSINGS		3

/* Sends small writes at once; they are as many as the peer's own. */
static void
connection_set_nodelay(int fd)
{
	const int	on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Returns the end that this one talks to. */
static ConnectionEnd *
connection_peer(Connection *connection, ConnectionEnd *end)
{
	return end == &connection->client ? &connection->server :
		&connection->client;
}

/*
 * Returns a connection for an accepted non-blocking socket, which it then
 * owns; or NULL when memory is out.
 */
Connection *
connection_create(int fd, const LinkOptions *options)
{
	Connection *connection = calloc(1, sizeof(*connection));

	if (connection == NULL)
		return NULL;
	connection->options = options;
	connection->phase = PHASE_HANDSHAKE;
	connection->address = options->connect;
	connection->client.fd = fd;
	connection->client.slot = POLLSET_NONE;
	connection->client.ready_ns = clock_now_ns();
	connection->server.fd = -1;
	connection->server.slot = POLLSET_NONE;
	connection->connect_ns = connection->client.ready_ns +
		HANDSHAKE_CROSSINGS * options->delay_ns;
	connection->reset_ns = CLOCK_NEVER;
	connection_set_nodelay(fd);
	return connection;
}

/* Closes an end in a way that its peer sees as a reset. */
static void
connection_reset_end(ConnectionEnd *end)
{
	const struct linger at_once = {.l_onoff = 1,.l_linger = 0};

	if (end->fd < 0)
		return;
	setsockopt(end->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(end->fd);
	end->fd = -1;
}

/* Resets both ends, now. */
static void
connection_abort(Connection *connection)
{
	connection_reset_end(&connection->client);
	connection_reset_end(&connection->server);
	connection->phase = PHASE_CLOSED;
}

/*
 * Starts connecting to the server's next address, skipping those that fail at
 * once; aborts after the last.
 */
static void
connection_start(Connection *connection)
{
	ConnectionEnd *server = &connection->server;

	for (; connection->address != NULL;
		 connection->address = connection->address->ai_next)
	{
		const AddressList *address = connection->address;

		server->fd = socket(address->ai_family,
							SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (server->fd < 0)
			continue;
		connection_set_nodelay(server->fd);
		if (connect(server->fd, address->ai_addr, address->ai_addrlen) == 0 ||
			errno == EINPROGRESS)
		{
			connection->address = address->ai_next;
			connection->phase = PHASE_CONNECTING;
			return;
		}
		connection_reset_end(server);
	}
	connection_abort(connection);
}

/* Takes the outcome of connecting to the server. */
static void
connection_finish_start(Connection *connection)
{
	ConnectionEnd *server = &connection->server;
	int			error = 0;
	socklen_t	length = sizeof(error);

	getsockopt(server->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	if (error != 0)
	{
		connection_reset_end(server);
		connection_start(connection);
		return;
	}
	server->ready_ns = clock_now_ns();
	connection->phase = PHASE_OPEN;
}

/* Can an end be read, and has its queue room? */
static bool
connection_reads(const Connection *connection, const ConnectionEnd *end)
{
	return end->fd >= 0 && !end->ended && !queue_full(&end->queue) &&
		(end == &connection->client || connection->phase == PHASE_OPEN);
}

/* Returns when data sent by the end now are due at the other one. */
static int64_t
connection_due(const Connection *connection, const ConnectionEnd *end)
{
	bool		in_handshake = end == &connection->client &&
		connection->record.counters.bytes_to_client == 0;

	return clock_now_ns() + connection->options->delay_ns *
		(in_handshake ? HANDSHAKE_CROSSINGS : 1);
}

/*
 * Records that an end has closed; the other one learns of it after the delay.
 */
static void
connection_lose(Connection *connection, ConnectionEnd *end)
{
	connection_reset_end(end);
	if (connection->reset_ns == CLOCK_NEVER)
		connection->reset_ns = connection_due(connection, end);
}

/* Reads one chunk from an end, if it has one. */
static void
connection_read(Connection *connection, ConnectionEnd *end)
{
	static unsigned char buffer[READ_SIZE];
	ssize_t		length;

	if (!connection_reads(connection, end))
		return;
	length = recv(end->fd, buffer, sizeof(buffer), 0);
	if (length < 0)
	{
		if (errno != EAGAIN && errno != EINTR)
			connection_lose(connection, end);
		return;
	}
	if (length == 0)
		end->ended = true;
	else if (end == &connection->client)
		record_request(&connection->record, (size_t) length);
	if (!queue_push(&end->queue, buffer, (size_t) length,
					connection_due(connection, end)))
		connection_abort(connection);
}

/*
 * Sends the remaining bytes of a chunk to an end.  Returns whether all were
 * sent; if not, the end is full or lost.
 */
static bool
connection_send(Connection *connection, ConnectionEnd *to, Chunk *chunk)
{
	ssize_t		sent = send(to->fd, chunk->data + chunk->sent,
							chunk->length - chunk->sent, MSG_NOSIGNAL);

	if (sent < 0)
	{
		if (errno == EAGAIN)
			to->full = true;
		else if (errno != EINTR)
			connection_lose(connection, to);
		return false;
	}
	if (to == &connection->client)
		record_answer(&connection->record, chunk->data + chunk->sent,
					  (size_t) sent);
	chunk->sent += (size_t) sent;
	to->full = chunk->sent < chunk->length;
	return !to->full;
}

/*
 * Delivers the chunks due at an end.  Lateness is recorded only if it is the
 * link's own: not for chunks that came due while the end was full.
 */
static void
connection_deliver(Connection *connection, ConnectionEnd *to)
{
	ChunkQueue *queue = &connection_peer(connection, to)->queue;

	while (queue->head != NULL && to->fd >= 0 && !to->full)
	{
		Chunk	   *chunk = queue->head;
		int64_t		late_ns = clock_now_ns() - chunk->due_ns;

		if (late_ns < 0)
			return;
		if (chunk->sent == 0 && chunk->due_ns >= to->ready_ns)
			record_lateness(&connection->record, late_ns);
		if (chunk->length == 0)
		{
			shutdown(to->fd, SHUT_WR);
			to->told_end = true;
		}
		else if (!connection_send(connection, to, chunk))
			return;
		queue_pop(queue);
	}
}

/* Returns when something can next be delivered, if nothing else happens. */
static int64_t
connection_next_due(const ConnectionEnd *from, const ConnectionEnd *to)
{
	if (from->queue.head == NULL || to->fd < 0 || to->full)
		return CLOCK_NEVER;
	return from->queue.head->due_ns;
}

/*
 * Adds an end to the poll set.  An end that is finished with writing and not
 * being read is left out, because its hang-up would end every wait at once.
 */
static void
connection_poll_end(Connection *connection, ConnectionEnd *end, PollSet *set)
{
	bool		connecting = end == &connection->server &&
		connection->phase == PHASE_CONNECTING;
	short		events = 0;

	if (connection_reads(connection, end))
		events |= POLLIN;
	if (end->full || connecting)
		events |= POLLOUT;
	end->slot = POLLSET_NONE;
	if (end->fd >= 0 && (events != 0 || !end->told_end))
		end->slot = pollset_add(set, end->fd, events);
}

/*
 * Adds the connection to the poll set.  Returns when it has something to do
 * even if nothing happens there.
 */
int64_t
connection_poll(Connection *connection, PollSet *set)
{
	int64_t		wake_ns = connection->reset_ns;
	int64_t		due_ns;

	connection_poll_end(connection, &connection->client, set);
	connection_poll_end(connection, &connection->server, set);

	if (connection->phase == PHASE_HANDSHAKE &&
		connection->connect_ns < wake_ns)
		wake_ns = connection->connect_ns;
	if (connection->phase == PHASE_OPEN)
	{
		due_ns = connection_next_due(&connection->client, &connection->server);
		wake_ns = due_ns < wake_ns ? due_ns : wake_ns;
		due_ns = connection_next_due(&connection->server, &connection->client);
		wake_ns = due_ns < wake_ns ? due_ns : wake_ns;
	}
	return wake_ns;
}

/* Handles the events of an end. */
static void
connection_serve_end(Connection *connection, ConnectionEnd *end,
					 const PollSet *set)
{
	short		events = pollset_events(set, end->slot);

	if (events & POLLOUT)
	{
		end->full = false;
		end->ready_ns = clock_now_ns();
	}
	if (connection_reads(connection, end))
	{
		if (events != 0)
			connection_read(connection, end);
	}
	else if (events & (POLLERR | POLLHUP))
		connection_lose(connection, end);
}

/*
 * Reads and delivers on an open connection.  The client is read once more just
 * before it is sent something: bytes that have already arrived did not wait
 * for it, and must not count as a new flight.
 */
static void
connection_exchange(Connection *connection, const PollSet *set)
{
	ConnectionEnd *client = &connection->client;
	ConnectionEnd *server = &connection->server;

	connection_serve_end(connection, server, set);
	connection_deliver(connection, server);
	if (connection_next_due(server, client) <= clock_now_ns())
	{
		connection_read(connection, client);
		connection_deliver(connection, client);
	}
	if (client->told_end && server->told_end)
		connection->phase = PHASE_CLOSED;
}

/*
 * Handles events and delivers what is due.  A reset comes last, so that it
 * does not overtake earlier data.
 */
void
connection_serve(Connection *connection, const PollSet *set)
{
	if (connection->phase == PHASE_HANDSHAKE &&
		clock_now_ns() >= connection->connect_ns)
		connection_start(connection);
	else if (connection->phase == PHASE_CONNECTING &&
			 pollset_events(set, connection->server.slot) != 0)
		connection_finish_start(connection);

	connection_serve_end(connection, &connection->client, set);
	if (connection->phase == PHASE_OPEN)
		connection_exchange(connection, set);
	if (clock_now_ns() >= connection->reset_ns)
		connection_abort(connection);
}

/* Frees the connection and closes what is still open. */
void
connection_free(Connection *connection)
{
	queue_clear(&connection->client.queue);
	queue_clear(&connection->server.queue);
	if (connection->client.fd >= 0)
		close(connection->client.fd);
	if (connection->server.fd >= 0)
		close(connection->server.fd);
	free(connection);
}
