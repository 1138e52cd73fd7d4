/*
 * json_sniff.c
 *	  The members of the objects of a JSON Lines file, and what they hold.
 *
 * A reader without paths has all members of a line as its rest.
 */
#include <string.h>

#include "core/json_reader.h"
#include "core/json_sniff.h"
#include "core/json_string.h"

/* Longest key with escapes, bytes */
#define KEY_MAX		256

/* Can a path name the key between the quotes? */
static bool
json_key_is_text(const unsigned char *key, size_t length)
{
	unsigned char text[KEY_MAX];
	JsonFault	fault;

	if (memchr(key, '\\', length) == NULL)
		return true;
	if (length > sizeof(text))
		return false;
	(void) json_string_decode(key, length, text, &fault);
	return fault == JSON_SOUND;
}

/*
 * Returns the column of a key, a new one if there is none; NULL if there are too many.
 * The one expected is tried first, and becomes the next one.
 */
static SniffColumn *
json_sniff_column(Sniff *sniff, const unsigned char *key, size_t length,
				  size_t *expected)
{
	size_t		i = *expected;

	if (i >= sniff->ncolumns || sniff->columns[i].name_length != length ||
		memcmp(sniff->columns[i].name, key, length) != 0)
		for (i = 0; i < sniff->ncolumns; i++)
			if (sniff->columns[i].name_length == length &&
				memcmp(sniff->columns[i].name, key, length) == 0)
				break;
	*expected = i + 1;
	if (i < sniff->ncolumns)
		return &sniff->columns[i];
	if (i == SNIFF_COLUMNS_MAX)
	{
		sniff->has_more_columns = true;
		return NULL;
	}
	sniff->ncolumns++;
	sniff->columns[i].name = key;
	sniff->columns[i].name_length = length;
	return &sniff->columns[i];
}

/*
 * The kind of a value that is no object or array.  A string is no number, even if it
 * looks like one.
 */
static ValueKind
json_sniff_kind(const unsigned char *bytes, size_t length)
{
	ValueKind	kind;

	if (bytes[0] == 'n')
		return KIND_NONE;
	if (bytes[0] != '"')
		return kind_of(bytes, length);
	kind = kind_of(bytes + 1, length - 2);
	return kind < KIND_DATE ? KIND_TEXT : kind;
}

/* Adds a member, "key": value. */
static void
json_sniff_member(Sniff *sniff, const JsonValue *member, size_t *expected)
{
	const unsigned char *value;
	const unsigned char *end = member->bytes + member->length;
	unsigned	seen = 0;
	JsonFault	fault;
	size_t		fault_at;
	size_t		length = json_string_length(member->bytes, member->length, &seen,
											&fault, &fault_at);
	SniffColumn *column;

	if (!json_key_is_text(member->bytes + 1, length - 2))
		return;
	column = json_sniff_column(sniff, member->bytes + 1, length - 2, expected);
	if (column == NULL)
		return;
	value = member->bytes + length;
	while (strchr(" \t\r\n:", *value) != NULL)
		value++;
	if (*value == '{' || *value == '[')
		column->is_json = true;
	else
		column->kind = kind_join(column->kind,
								 json_sniff_kind(value, (size_t) (end - value)));
}

/* Adds a line; false if it is no object, and the first one. */
static bool
json_sniff_line(Sniff *sniff, JsonReader *reader, const unsigned char *bytes,
				size_t length)
{
	size_t		expected = 0;

	switch (json_reader_read(reader, bytes, length))
	{
		case JSON_BLANK:
			sniff->nblank++;
			return true;
		case JSON_SOUND:
			break;
		default:
			sniff->nbroken++;
			return sniff->nrecords > 0;
	}
	sniff->nrecords++;
	for (size_t i = 0; i < reader->rest.count; i++)
		json_sniff_member(sniff, &reader->rest.members[i], &expected);
	return true;
}

/* Adds the lines of a piece. */
static bool
json_sniff_piece(Sniff *sniff, JsonReader *reader, const SniffPiece *piece)
{
	const unsigned char *at = piece->bytes;
	const unsigned char *end = at + piece->length;

	while (at < end)
	{
		const unsigned char *newline = memchr(at, '\n', (size_t) (end - at));
		const unsigned char *stop = newline == NULL ? end : newline;

		if (!json_sniff_line(sniff, reader, at, (size_t) (stop - at)))
			return false;
		at = newline == NULL ? end : newline + 1;
	}
	return true;
}

bool
json_sniff_pieces(Sniff *sniff, const SniffPiece *pieces, size_t npieces,
				  const Allocator *allocator)
{
	const JsonField rest = {.path = "",.is_rest = true,.is_wanted = true};
	JsonReader	reader;
	bool		done = json_reader_open(&reader, allocator, &rest, 1);

	memset(sniff, 0, sizeof(*sniff));
	sniff->format = FILE_FORMAT_JSON_LINES;
	sniff->line_end = LINE_END_NL;
	sniff->null = "";
	for (size_t i = 0; done && i < npieces; i++)
		done = json_sniff_piece(sniff, &reader, &pieces[i]);
	json_reader_close(&reader);
	return done && sniff->ncolumns > 0;
}
