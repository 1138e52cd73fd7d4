/*
 * wire.c
 *		The messages of the protocol that an execution needs.
 *
 * A message is a byte with its type, four bytes with its length (which counts
 * itself, not the type) and the body:
 *
 *		'D' | length | column count (2) | { length (4) | bytes } ...
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fail.h"
#include "wire.h"

#define HEADER			5		/* type and length */
#define LENGTH			4

#define DATA_ROW		'D'
#define ERROR_RESPONSE	'E'
#define READY_FOR_QUERY 'Z'

#define NULL_LENGTH		(-1)

/* Takes over a connection's socket between two statements. */
void
wire_begin(Wire *wire, int socket)
{
	*wire = (Wire)
	{
		.socket = socket,.input_room = WIRE_INPUT
	};
	wire->input = malloc(wire->input_room);
	if (wire->input == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory");
	if (fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK) != 0)
		fail(EXIT_CODE_FAILURE, "cannot make the socket wait: %s",
			 strerror(errno));
}

/* Frees the memory; the socket stays open. */
void
wire_end(Wire *wire)
{
	free(wire->input);
	free(wire->output);
}

/* Adds bytes to the output buffer. */
static void
wire_add(Wire *wire, const void *bytes, size_t length)
{
	if (wire->output_length + length > wire->output_room)
	{
		wire->output_room = 2 * (wire->output_length + length);
		wire->output = realloc(wire->output, wire->output_room);
		if (wire->output == NULL)
			fail(EXIT_CODE_FAILURE, "out of memory");
	}
	memcpy(wire->output + wire->output_length, bytes, length);
	wire->output_length += length;
}

/* Adds a message to the output buffer. */
static void
wire_add_message(Wire *wire, char type, const void *body, size_t length)
{
	uint32_t	total = htonl((uint32_t) (length + LENGTH));

	wire_add(wire, &type, 1);
	wire_add(wire, &total, LENGTH);
	wire_add(wire, body, length);
}

/* Adds Parse, of the statement without a name. */
void
wire_add_parse(Wire *wire, const char *sql)
{
	size_t		sql_length = strlen(sql) + 1;
	size_t		body_length = 1 + sql_length + 2;
	char	   *body = calloc(1, body_length);

	if (body == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory");
	memcpy(body + 1, sql, sql_length);
	wire_add_message(wire, 'P', body, body_length);
	free(body);
}

/* Adds Bind without parameters, Execute of all rows, and Sync. */
void
wire_add_execute(Wire *wire)
{
	static const char nothing[8];

	wire_add_message(wire, 'B', nothing, 8);	/* two names, three counts of
												 * 0 */
	wire_add_message(wire, 'E', nothing, 5);	/* one name, no limit of rows */
	wire_add_message(wire, 'S', nothing, 0);
}

/* Sends the output buffer. */
void
wire_send(Wire *wire)
{
	size_t		sent = 0;

	while (sent < wire->output_length)
	{
		ssize_t		count = send(wire->socket, wire->output + sent,
								 wire->output_length - sent, MSG_NOSIGNAL);

		if (count < 0 && errno != EINTR)
			fail(EXIT_CODE_FAILURE, "cannot send: %s", strerror(errno));
		if (count > 0)
			sent += (size_t) count;
	}
	wire->output_length = 0;
}

/* Reads until at least this many bytes are buffered, moving unread ones. */
static void
wire_need(Wire *wire, size_t length)
{
	size_t		left = wire->input_end - wire->input_begin;

	if (left >= length)
		return;
	memmove(wire->input, wire->input + wire->input_begin, left);
	wire->input_begin = 0;
	wire->input_end = left;
	if (length > wire->input_room)
	{
		wire->input_room = 2 * length;
		wire->input = realloc(wire->input, wire->input_room);
		if (wire->input == NULL)
			fail(EXIT_CODE_FAILURE, "out of memory");
	}
	while (wire->input_end < length)
	{
		ssize_t		count = recv(wire->socket, wire->input + wire->input_end,
								 wire->input_room - wire->input_end, 0);

		if (count == 0)
			fail(EXIT_CODE_FAILURE, "the server closed the connection");
		if (count < 0 && errno != EINTR)
			fail(EXIT_CODE_FAILURE, "cannot receive: %s", strerror(errno));
		if (count > 0)
			wire->input_end += (size_t) count;
	}
}

/* Returns the 32-bit integer at a place of a message. */
static int32_t
wire_int32(const char *at)
{
	uint32_t	number;

	memcpy(&number, at, sizeof(number));
	return (int32_t) ntohl(number);
}

/* Passes the cells of a row, the body of a DataRow, to the sink. */
static void
wire_take_row(const char *body, Sink *sink)
{
	uint16_t	column_count;

	memcpy(&column_count, body, sizeof(column_count));
	body += sizeof(column_count);
	for (int column = ntohs(column_count); column > 0; column--)
	{
		int32_t		length = wire_int32(body);

		body += LENGTH;
		if (length == NULL_LENGTH)
			sink_cell(sink, NULL, 0);
		else
		{
			sink_cell(sink, body, (size_t) length);
			body += length;
		}
	}
	sink_end_row(sink);
}

/* Ends the program with the primary message of an ErrorResponse's body. */
static noreturn void
wire_fail(const char *field)
{
	for (; *field != '\0'; field += strlen(field) + 1)
		if (*field == 'M')
			fail(EXIT_CODE_FAILURE, "%s", field + 1);
	fail(EXIT_CODE_FAILURE, "the statement failed");
}

/* Reads the answer to its end, counting its rows. */
void
wire_drain(Wire *wire, Execution *execution)
{
	Sink	   *sink = execution->sink;

	for (;;)
	{
		const char *message;
		char		type;
		size_t		length;

		wire_need(wire, HEADER);
		message = wire->input + wire->input_begin;
		type = message[0];
		length = 1 + (size_t) wire_int32(message + 1);
		wire_need(wire, length);
		message = wire->input + wire->input_begin;
		wire->input_begin += length;
		execution->wire_bytes += length;
		if (type == DATA_ROW)
		{
			execution_first_row(execution);
			if (sink_wants_text(sink))
				wire_take_row(message + HEADER, sink);
			else
				sink->rows++;
		}
		else if (type == ERROR_RESPONSE)
			wire_fail(message + HEADER);
		else if (type == READY_FOR_QUERY)
			return;
	}
}
