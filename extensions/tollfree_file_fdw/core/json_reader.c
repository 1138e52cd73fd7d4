/*
 * json_reader.c
 *	  Reads one line of a JSON Lines file.
 *
 * One loop over items, with the objects and arrays that have begun as a stack: so deep
 * nesting takes memory of the allocator, and none of the machine's stack.
 */
#include <string.h>

#include "core/json_reader.h"
#include "core/json_string.h"

#define LEVELS_FIRST	16
#define MEMBERS_FIRST	16
#define KEY_FIRST		64

static bool
json_fail(JsonReader *reader, JsonFault fault)
{
	reader->fault = fault;
	return false;
}

/* There is something else than should be there, or the line ends. */
static bool
json_fail_here(JsonReader *reader)
{
	return json_fail(reader, reader->at == reader->end ? JSON_CUT : JSON_UNEXPECTED);
}

static void
json_skip_blanks(JsonReader *reader)
{
	const unsigned char *at = reader->at;

	while (at < reader->end &&
		   (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
		at++;
	reader->at = at;
}

/* Passes over a character, which must be next; blanks around it, too. */
static bool
json_expect(JsonReader *reader, unsigned char c)
{
	json_skip_blanks(reader);
	if (reader->at == reader->end || *reader->at != c)
		return json_fail_here(reader);
	reader->at++;
	json_skip_blanks(reader);
	return true;
}

/* Makes room in an array for twice as many items, or the first ones. */
static bool
json_grow(JsonReader *reader, void **items, size_t size, size_t *room,
		  size_t first)
{
	size_t		more = *room == 0 ? first : 2 * *room;
	void	   *grown = reader->allocator.resize(reader->allocator.context,
												 *items, *room * size,
												 more * size);

	if (grown == NULL)
		return json_fail(reader, JSON_NO_MEMORY);
	*items = grown;
	*room = more;
	return true;
}

/* Forgets the values of all paths below a node: another value of it follows. */
static void
json_forget(JsonReader *reader, int node)
{
	const JsonNode *nodes = reader->paths.nodes;

	for (int child = nodes[node].first_child; child != JSON_NONE;
		 child = nodes[child].next_sibling)
	{
		for (int field = nodes[child].first_field; field != JSON_NONE;
			 field = reader->paths.next_field[field])
			reader->values[field].kind = JSON_MISSING;
		json_forget(reader, child);
	}
}

/* Sets the value of the fields of a node. */
static void
json_set(JsonReader *reader, int node, const unsigned char *begin, JsonKind kind)
{
	const JsonValue value = {begin, (size_t) (reader->at - begin), kind};

	for (int field = reader->paths.nodes[node].first_field; field != JSON_NONE;
		 field = reader->paths.next_field[field])
		reader->values[field] = value;
}

/* Adds a member of the document to the rest, when its value has been read. */
static bool
json_add_member(JsonReader *reader)
{
	JsonMembers *rest = &reader->rest;
	JsonValue  *member;

	if (rest->count == rest->room &&
		!json_grow(reader, (void **) &rest->members, sizeof(JsonValue),
				   &rest->room, MEMBERS_FIRST))
		return false;
	member = &rest->members[rest->count++];
	member->bytes = reader->member;
	member->length = (size_t) (reader->at - reader->member);
	rest->length += member->length;
	reader->member = NULL;
	return true;
}

/* A value has ended. */
static bool
json_end_value(JsonReader *reader, int node, const unsigned char *begin,
			   JsonKind kind)
{
	if (node != JSON_NONE)
		json_set(reader, node, begin, kind);
	return reader->depth != 1 || reader->member == NULL || json_add_member(reader);
}

/* Begins an object or array. */
static bool
json_push(JsonReader *reader, int node)
{
	size_t		room = (size_t) reader->room;

	if (reader->depth == JSON_DEPTH_MAX)
		return json_fail(reader, JSON_TOO_DEEP);
	if (reader->depth == reader->room &&
		!json_grow(reader, (void **) &reader->levels, sizeof(JsonLevel), &room,
				   LEVELS_FIRST))
		return false;
	reader->room = (int) room;
	reader->levels[reader->depth++] = (JsonLevel)
	{
		.begin = reader->at,
			.node = node,
			.is_object = *reader->at == '{'
	};
	reader->at++;
	return true;
}

/* Ends the innermost object or array, whose last byte is next. */
static bool
json_pop(JsonReader *reader)
{
	const JsonLevel *level = &reader->levels[--reader->depth];

	reader->at++;
	return json_end_value(reader, level->node, level->begin, JSON_CONTAINER);
}

/* Passes over a string; what it has is seen. */
static bool
json_pass_string(JsonReader *reader)
{
	JsonFault	fault;
	size_t		fault_at;
	size_t		length = json_string_length(reader->at,
											(size_t) (reader->end - reader->at),
											&reader->seen, &fault, &fault_at);

	if (length == 0)
	{
		reader->at += fault_at;
		return json_fail(reader, fault);
	}
	reader->at += length;
	return true;
}

static size_t
json_pass_digits(JsonReader *reader)
{
	const unsigned char *begin = reader->at;

	while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
		reader->at++;
	return (size_t) (reader->at - begin);
}

static bool
json_pass(JsonReader *reader, unsigned char c)
{
	if (reader->at == reader->end || *reader->at != c)
		return false;
	reader->at++;
	return true;
}

/* Passes over a number, which begins with a digit or a minus. */
static bool
json_pass_number(JsonReader *reader)
{
	(void) json_pass(reader, '-');
	if (!json_pass(reader, '0') && json_pass_digits(reader) == 0)
		return json_fail_here(reader);
	if (json_pass(reader, '.') && json_pass_digits(reader) == 0)
		return json_fail_here(reader);
	if (json_pass(reader, 'e') || json_pass(reader, 'E'))
	{
		if (!json_pass(reader, '+'))
			(void) json_pass(reader, '-');
		if (json_pass_digits(reader) == 0)
			return json_fail_here(reader);
	}
	return true;
}

static bool
json_pass_word(JsonReader *reader, const char *word)
{
	for (; *word != '\0'; word++)
		if (!json_pass(reader, (unsigned char) *word))
			return json_fail_here(reader);
	return true;
}

/* Passes over a value that is no object or array. */
static bool
json_pass_scalar(JsonReader *reader, JsonKind *kind)
{
	*kind = JSON_PLAIN;
	switch (*reader->at)
	{
		case '"':
			*kind = JSON_STRING;
			return json_pass_string(reader);
		case 't':
			return json_pass_word(reader, "true");
		case 'f':
			return json_pass_word(reader, "false");
		case 'n':
			*kind = JSON_NULL;
			return json_pass_word(reader, "null");
		default:
			if (*reader->at == '-' || (*reader->at >= '0' && *reader->at <= '9'))
				return json_pass_number(reader);
			return json_fail(reader, JSON_UNEXPECTED);
	}
}

/* Reads a value, or begins it if it is an object or array. */
static bool
json_read_value(JsonReader *reader, int node)
{
	const unsigned char *begin = reader->at;
	JsonKind	kind;

	if (reader->at == reader->end)
		return json_fail(reader, JSON_CUT);
	if (*begin == '{' || *begin == '[')
		return json_push(reader, node);
	return json_pass_scalar(reader, &kind) &&
		json_end_value(reader, node, begin, kind);
}

/* Returns the child of a node by the key between two quotes, or JSON_NONE. */
static int
json_find_member(JsonReader *reader, int node, const unsigned char *key,
				 size_t length)
{
	JsonFault	fault;

	if ((reader->seen & JSON_SEEN_ESCAPE) == 0 || memchr(key, '\\', length) == NULL)
		return json_paths_member(&reader->paths, node, key, length);
	while (reader->key_room < length)
		if (!json_grow(reader, (void **) &reader->key, 1, &reader->key_room,
					   KEY_FIRST))
			return JSON_NONE;
	length = json_string_decode(key, length, reader->key, &fault);
	/* What is no text is no key of a path. */
	return fault != JSON_SOUND ? JSON_NONE :
		json_paths_member(&reader->paths, node, reader->key, length);
}

/* Reads a member of the innermost object up to where its value ends or begins. */
static bool
json_read_member(JsonReader *reader, int node)
{
	const unsigned char *begin = reader->at;
	int			child = JSON_NONE;

	if (reader->at == reader->end || *reader->at != '"')
		return json_fail_here(reader);
	if (!json_pass_string(reader))
		return false;
	if (node != JSON_NONE)
		child = json_find_member(reader, node, begin + 1,
								 (size_t) (reader->at - begin) - 2);
	if (reader->fault == JSON_NO_MEMORY)
		return false;
	if (child != JSON_NONE)
		json_forget(reader, child);
	if (reader->depth == 1 && child == JSON_NONE && reader->paths.rest != JSON_NONE)
		reader->member = begin;
	return json_expect(reader, ':') && json_read_value(reader, child);
}

/* Reads an element of the innermost array likewise. */
static bool
json_read_element(JsonReader *reader, JsonLevel *level)
{
	int			child = JSON_NONE;

	if (level->node != JSON_NONE)
		child = json_paths_element(&reader->paths, level->node, level->element);
	level->element++;
	if (child != JSON_NONE)
		json_forget(reader, child);
	return json_read_value(reader, child);
}

/* Reads the next item of the innermost object or array, or its end. */
static bool
json_step(JsonReader *reader)
{
	JsonLevel  *level = &reader->levels[reader->depth - 1];

	json_skip_blanks(reader);
	if (reader->at < reader->end && *reader->at == (level->is_object ? '}' : ']'))
		return json_pop(reader);
	if (level->has_items && !json_expect(reader, ','))
		return false;
	level->has_items = true;
	return level->is_object ? json_read_member(reader, level->node) :
		json_read_element(reader, level);
}

/* Forgets the last line. */
static void
json_begin(JsonReader *reader, const unsigned char *bytes, size_t length)
{
	for (int i = 0; i < reader->nfields; i++)
		reader->values[i].kind = JSON_MISSING;
	reader->seen = 0;
	reader->at = bytes;
	reader->end = bytes + length;
	reader->fault = JSON_SOUND;
	reader->depth = 0;
	reader->member = NULL;
	reader->rest.count = 0;
	reader->rest.length = 0;
}

JsonFault
json_reader_read(JsonReader *reader, const unsigned char *bytes, size_t length)
{
	json_begin(reader, bytes, length);
	json_skip_blanks(reader);
	if (reader->at == reader->end)
		return JSON_BLANK;
	if (*reader->at != '{')
		return JSON_NO_OBJECT;
	if (!json_push(reader, 0))
		return reader->fault;
	while (reader->depth > 0)
		if (!json_step(reader))
			return reader->fault;
	json_skip_blanks(reader);
	return reader->at == reader->end ? JSON_SOUND : JSON_TRAILING;
}

bool
json_reader_open(JsonReader *reader, const Allocator *allocator,
				 const JsonField *fields, int nfields)
{
	size_t		n = (size_t) nfields + 1;

	memset(reader, 0, sizeof(*reader));
	reader->allocator = *allocator;
	reader->nfields = nfields;
	reader->fields = allocator_new(allocator, n * sizeof(JsonField));
	reader->values = allocator_new(allocator, n * sizeof(JsonValue));
	if (reader->fields == NULL || reader->values == NULL)
		return false;
	memcpy(reader->fields, fields, (size_t) nfields * sizeof(JsonField));
	memset(reader->values, 0, n * sizeof(JsonValue));
	return json_paths_open(&reader->paths, allocator, fields, nfields);
}

void
json_reader_close(JsonReader *reader)
{
	const Allocator *allocator = &reader->allocator;
	size_t		n = (size_t) reader->nfields + 1;

	json_paths_close(&reader->paths, allocator);
	allocator_free(allocator, reader->fields, n * sizeof(JsonField));
	allocator_free(allocator, reader->values, n * sizeof(JsonValue));
	allocator_free(allocator, reader->levels,
				   (size_t) reader->room * sizeof(JsonLevel));
	allocator_free(allocator, reader->rest.members,
				   reader->rest.room * sizeof(JsonValue));
	allocator_free(allocator, reader->key, reader->key_room);
	memset(reader, 0, sizeof(*reader));
}
