/*
 * json_reader.h
 *	  Reads one line of a JSON Lines file: a JSON object (RFC 8259), and the values in it
 *	  that are wanted.
 *
 *		{"id": 7, "user": {"name": "x"}, "ok": null}
 *			   ^			   ^^^^^
 *			   values[0]	   values[1], of paths /id and /user/name
 *
 * All of the line is checked, as strictly as PostgreSQL's type json does.  Values are
 * places in the line; of several members with the same key the last one counts.  Whether
 * the bytes are UTF-8 is for the caller to check.
 */
#ifndef CORE_JSON_READER_H
#define CORE_JSON_READER_H

#include "core/allocator.h"
#include "core/json_paths.h"

/* Deepest nesting of objects and arrays; PostgreSQL has a limit, too, of its stack. */
#define JSON_DEPTH_MAX	5000

typedef enum JsonFault
{
	JSON_SOUND,
	JSON_BLANK,					/* nothing but blanks: no record */
	JSON_NO_OBJECT,				/* the line does not begin with { */
	JSON_UNEXPECTED,			/* a character that cannot be there */
	JSON_CUT,					/* the line ends before the object does */
	JSON_TRAILING,				/* something is behind the object */
	JSON_BAD_CONTROL,			/* a control character in a string */
	JSON_BAD_ESCAPE,			/* a backslash in a string with no escape */
	JSON_TOO_DEEP,
	JSON_NO_TEXT,				/* of a field: an escape is no character */
	JSON_NO_SCALAR,				/* of a field: it is an object or array */
	JSON_NO_MEMORY
} JsonFault;

/* What a line has been seen to have. */
#define JSON_SEEN_HIGH		0x01	/* bytes above 0x7F */
#define JSON_SEEN_ESCAPE	0x02
#define JSON_SEEN_UNICODE	0x04	/* escapes of characters above 0x7F */

typedef enum JsonKind
{
	JSON_MISSING,
	JSON_NULL,
	JSON_PLAIN,					/* a number, true or false */
	JSON_STRING,
	JSON_CONTAINER				/* an object or array */
} JsonKind;

/* The JSON text of a value in the line, of a string with its quotes. */
typedef struct JsonValue
{
	const unsigned char *bytes;
	size_t		length;			/* bytes */
	JsonKind	kind;
} JsonValue;

/* An object or array that has begun. */
typedef struct JsonLevel
{
	const unsigned char *begin;
	int			node;			/* of its path, or JSON_NONE */
	bool		is_object;
	bool		has_items;
	int64_t		element;		/* an array's next one */
} JsonLevel;

/* Members of the document that no path begins with: "key": value. */
typedef struct JsonMembers
{
	JsonValue  *members;
	size_t		count;
	size_t		room;
	size_t		length;			/* of all of them, bytes */
} JsonMembers;

typedef struct JsonReader
{
	Allocator	allocator;
	JsonField  *fields;
	int			nfields;
	JsonPaths	paths;
	JsonValue  *values;			/* of each field */
	unsigned	seen;			/* in the line */

	/* Of the line that is read */
	const unsigned char *at;
	const unsigned char *end;
	JsonFault	fault;
	JsonLevel  *levels;
	int			depth;
	int			room;			/* levels that there is memory for */
	const unsigned char *member;	/* of the document, where it begins, if it
									 * is one of the rest; or NULL */
	JsonMembers rest;
	unsigned char *key;			/* one that had escapes */
	size_t		key_room;
} JsonReader;

/* Opens a reader; the fields are copied, their paths are not.  False without memory. */
extern bool json_reader_open(JsonReader *reader, const Allocator *allocator,
							 const JsonField *fields, int nfields);

/*
 * Reads a line without its line end, sets the values and what was seen.  With any
 * fault but JSON_SOUND and JSON_BLANK, reader->at is its place.
 */
extern JsonFault json_reader_read(JsonReader *reader,
								  const unsigned char *bytes, size_t length);

/* May be called for one that json_reader_open has left half open. */
extern void json_reader_close(JsonReader *reader);

/* Is the field null in this line? */
extern bool json_field_is_null(const JsonReader *reader, int field);

/* Returns how many bytes there must be room for to write a field that is not null. */
extern size_t json_field_room(const JsonReader *reader, int field);

/*
 * Writes a field that is not null; returns its bytes.  *fault is JSON_SOUND,
 * JSON_NO_TEXT or JSON_NO_SCALAR.
 */
extern size_t json_field_write(const JsonReader *reader, int field,
							   unsigned char *to, JsonFault *fault);

/* Returns the length of a byte order mark that a file of these bytes begins with. */
static inline size_t
json_mark_length(const unsigned char *bytes, size_t length)
{
	return length >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB &&
		bytes[2] == 0xBF ? 3 : 0;
}

/* A few words about a fault, such as "an invalid escape". */
extern const char *json_fault_words(JsonFault fault);

#endif							/* CORE_JSON_READER_H */
