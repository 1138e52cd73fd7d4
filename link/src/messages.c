/*
 * messages.c
 *		Counts rows in the messages of a PostgreSQL server.
 *
 * A message is a byte with its type, the length of its body, and the body.
 * Each row of a query is a message (DataRow).  Rows of COPY are not counted:
 * several may share a message.
 *
 * Before the first message the server answers a request for encryption with a
 * single byte.  If it agrees, or the first message is not one of
 * PostgreSQL's, nothing can be read from there on, and no row is counted.
 */
#include "messages.h"

/* Message types */
#define AUTHENTICATION		'R'
#define DATA_ROW			'D'
#define ERROR_RESPONSE		'E'
#define NEGOTIATE_VERSION	'v'

/* The answer to a request for encryption that refuses it. */
#define NO_ENCRYPTION		'N'

/*
 * Handles the first byte of a message.  Returns whether it is one: before the
 * first message it may be an answer, or show that nothing can be read.
 */
static bool
messages_begin(MessageReader *reader, unsigned char type)
{
	if (!reader->has_begun)
	{
		if (type == NO_ENCRYPTION)
			return false;
		reader->is_opaque = type != AUTHENTICATION &&
			type != ERROR_RESPONSE && type != NEGOTIATE_VERSION;
		reader->has_begun = true;
	}
	return !reader->is_opaque;
}

/* Returns the length that a complete header gives, without the header's own. */
static uint64_t
messages_body(MessageReader *reader)
{
	const unsigned char *header = reader->header;
	uint64_t	length = (uint64_t) header[1] << 24 | (uint64_t) header[2] << 16 |
		(uint64_t) header[3] << 8 | header[4];

	reader->is_opaque = length < MESSAGE_HEADER - 1;
	return reader->is_opaque ? 0 : length - (MESSAGE_HEADER - 1);
}

/*
 * Handles the next bytes.  Returns the number of rows whose header ends in
 * them.
 */
uint64_t
messages_count_rows(MessageReader *reader, const unsigned char *data,
					size_t length)
{
	const unsigned char *end = data + length;
	uint64_t	rows = 0;

	while (data < end && !reader->is_opaque)
	{
		if (reader->left > 0)
		{
			size_t		skipped = (size_t) (end - data);

			skipped = skipped < reader->left ? skipped : (size_t) reader->left;
			reader->left -= skipped;
			data += skipped;
		}
		else if (reader->header_length > 0 || messages_begin(reader, *data))
		{
			reader->header[reader->header_length++] = *data++;
			if (reader->header_length < MESSAGE_HEADER)
				continue;
			reader->header_length = 0;
			reader->left = messages_body(reader);
			rows += reader->header[0] == DATA_ROW && !reader->is_opaque;
		}
		else
			data++;
	}
	return rows;
}
