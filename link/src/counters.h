/*
 * counters.h
 *		The link's counters, per connection and in total.
 *
 * Flights are the round trips that a client awaited.  They are counted at the
 * client's end of the link, from the order of two kinds of event: bytes
 * arriving from the client, and bytes handed to it.  A flight begins with
 * client bytes that are the first of the connection or the first since
 * something was handed to the client:
 *
 *		time ------------------------------------------------------------->
 *		client sends	A  B				C				D  E
 *		client is given			a  b			c	 c'				d  e
 *		flights			1				2				3
 *
 * B left before a came, so nothing was awaited between A and B: they share a
 * flight.  C left after b, so the client waited: a new flight.  The answer to
 * C came in two pieces, which makes no difference.
 *
 * It is exact while the delay is longer than the client takes to send what it
 * does not await; at no delay an early answer can part A from B.  A client
 * that never stops sending while answers come in begins a flight after each
 * of them.  A farewell, such as PostgreSQL's Terminate, is client bytes and
 * counts; the TCP handshake is not and does not.
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "messages.h"

/* Closed connections that are still listed. */
#define HISTORY_LENGTH	256

/* Bytes are those that crossed the client's end of the link. */
typedef struct Counters
{
	uint64_t	flights;
	uint64_t	bytes_to_server;	/* received from the client */
	uint64_t	bytes_to_client;	/* handed to the client */
	uint64_t	rows_to_client; /* DataRows in these, if they are PostgreSQL's
								 * and not encrypted */
	uint64_t	chunks;			/* deliveries whose lateness was taken */
	uint64_t	late_sum_ns;
	uint64_t	late_max_ns;
} Counters;

/* One connection, open or closed. */
typedef struct ConnectionRecord
{
	uint64_t	id;				/* 1 for the first one accepted */
	char		client[ADDRESS_LENGTH];
	bool		begins_flight;	/* the client's next bytes do */
	MessageReader messages;		/* handed to the client */
	Counters	counters;
} ConnectionRecord;

/* What is kept of closed connections: their sum, and a ring of the last. */
typedef struct ConnectionHistory
{
	Counters	total;
	uint64_t	count;			/* the next entry is count % HISTORY_LENGTH */
	ConnectionRecord ring[HISTORY_LENGTH];
} ConnectionHistory;

extern void record_start(ConnectionRecord *record, uint64_t id,
						 const struct sockaddr *client, socklen_t length);
extern void record_request(ConnectionRecord *record, size_t bytes);
extern void record_answer(ConnectionRecord *record, const unsigned char *data,
						  size_t bytes);
extern void record_lateness(ConnectionRecord *record, int64_t late_ns);

extern void counters_add(Counters *sum, const Counters *other);
extern void history_add(ConnectionHistory *history,
						const ConnectionRecord *record);

#endif							/* COUNTERS_H */
