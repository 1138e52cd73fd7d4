/*
 * connection.h
 *		One connection through the link: two ends and the data in flight
 *		between them.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "counters.h"
#include "options.h"
#include "pollset.h"
#include "queue.h"

typedef enum ConnectionPhase
{
	PHASE_HANDSHAKE,			/* the delay of the TCP handshake runs */
	PHASE_CONNECTING,			/* the server's own handshake runs */
	PHASE_OPEN,
	PHASE_CLOSED				/* to be freed */
} ConnectionPhase;

/* The socket of one end.  Its queue holds what this end has sent. */
typedef struct ConnectionEnd
{
	int			fd;				/* -1 before connecting and after a reset */
	size_t		slot;			/* in the poll set */
	ChunkQueue	queue;
	bool		ended;			/* this end has sent all it will */
	bool		told_end;		/* it was told that the other end has */
	bool		full;			/* its socket takes no more for now */
	int64_t		ready_ns;		/* since when its socket takes data */
} ConnectionEnd;

/*
 *		client --> client.queue --> server
 *		client <-- server.queue <-- server
 */
typedef struct Connection
{
	struct Connection *next;
	const LinkOptions *options;
	ConnectionPhase phase;
	const AddressList *address; /* the server's next one to try */
	int64_t		connect_ns;		/* when the handshake has crossed the link */
	int64_t		reset_ns;		/* when a reset has, or CLOCK_NEVER */
	ConnectionEnd client;
	ConnectionEnd server;
	ConnectionRecord record;
} Connection;

extern Connection *connection_create(int fd, const LinkOptions *options);
extern int64_t connection_poll(Connection *connection, PollSet *set);
extern void connection_serve(Connection *connection, const PollSet *set);
extern void connection_free(Connection *connection);

#endif							/* CONNECTION_H */
