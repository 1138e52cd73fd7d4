/*
 * messages.h
 *		Counts rows in the messages of a PostgreSQL server.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_HEADER	5		/* bytes: type, and length without it */

/* State of reading a server's bytes; all zero at first. */
typedef struct MessageReader
{
	bool		has_begun;		/* a message has been seen */
	bool		is_opaque;		/* further bytes cannot be read */
	unsigned char header[MESSAGE_HEADER];
	size_t		header_length;	/* bytes of it that have arrived */
	uint64_t	left;			/* bytes of the message still to come */
} MessageReader;

extern uint64_t messages_count_rows(MessageReader *reader,
									const unsigned char *data, size_t length);

#endif							/* MESSAGES_H */
