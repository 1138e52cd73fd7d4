/*
 * json_field.c
 *	  The fields of a record, from the values of a line of JSON.
 */
#include <string.h>

#include "core/json_reader.h"
#include "core/json_string.h"

/* Around the members of the rest, and between two of them */
#define REST_BEGIN		"{"
#define REST_BETWEEN	", "
#define REST_END		"}"

bool
json_field_is_null(const JsonReader *reader, int field)
{
	if (field == reader->paths.rest)
		return false;
	return reader->values[field].kind == JSON_MISSING ||
		reader->values[field].kind == JSON_NULL;
}

size_t
json_field_room(const JsonReader *reader, int field)
{
	if (field != reader->paths.rest)
		return reader->values[field].length;
	return strlen(REST_BEGIN) + reader->rest.length +
		reader->rest.count * strlen(REST_BETWEEN) + strlen(REST_END);
}

static unsigned char *
json_put(unsigned char *to, const void *bytes, size_t length)
{
	memcpy(to, bytes, length);
	return to + length;
}

/* Writes the members that no path begins with as an object. */
static size_t
json_write_rest(const JsonMembers *rest, unsigned char *to)
{
	unsigned char *at = json_put(to, REST_BEGIN, strlen(REST_BEGIN));

	for (size_t i = 0; i < rest->count; i++)
	{
		if (i > 0)
			at = json_put(at, REST_BETWEEN, strlen(REST_BETWEEN));
		at = json_put(at, rest->members[i].bytes, rest->members[i].length);
	}
	return (size_t) (json_put(at, REST_END, strlen(REST_END)) - to);
}

size_t
json_field_write(const JsonReader *reader, int field, unsigned char *to,
				 JsonFault *fault)
{
	const JsonValue *value = &reader->values[field];
	JsonTake	take = reader->fields[field].take;

	*fault = JSON_SOUND;
	if (field == reader->paths.rest)
		return json_write_rest(&reader->rest, to);
	if (value->kind == JSON_STRING && take != JSON_TAKE_JSON)
		return json_string_decode(value->bytes + 1, value->length - 2, to, fault);
	if (value->kind == JSON_CONTAINER && take == JSON_TAKE_SCALAR)
	{
		*fault = JSON_NO_SCALAR;
		return 0;
	}
	memcpy(to, value->bytes, value->length);
	return value->length;
}

const char *
json_fault_words(JsonFault fault)
{
	switch (fault)
	{
		case JSON_SOUND:
		case JSON_BLANK:
			break;
		case JSON_NO_OBJECT:
			return "a line must begin with {";
		case JSON_UNEXPECTED:
			return "a character that cannot be there";
		case JSON_CUT:
			return "the line ends before the object does";
		case JSON_TRAILING:
			return "something is behind the object";
		case JSON_BAD_CONTROL:
			return "a control character in a string, which has to be escaped";
		case JSON_BAD_ESCAPE:
			return "an invalid escape";
		case JSON_TOO_DEEP:
			return "objects and arrays are nested too deeply";
		case JSON_NO_TEXT:
			return "\\u0000, or half of a surrogate pair, is no character of a text";
		case JSON_NO_SCALAR:
			return "an object or array is no value of this type";
		case JSON_NO_MEMORY:
			return "out of memory";
	}
	return "nothing";
}
