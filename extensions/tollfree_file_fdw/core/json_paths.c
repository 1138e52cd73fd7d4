/*
 * json_paths.c
 *	  The places of JSON documents that a table's columns are read from.
 */
#include <string.h>

#include "core/json_paths.h"

/* Digits of an array's element, of which there are fewer than bytes in a line. */
#define ELEMENT_DIGITS	10

bool
json_path_is_valid(const char *path, size_t length)
{
	if (length > 0 && path[0] != '/')
		return false;
	for (size_t i = 0; i < length; i++)
		if (path[i] == '~' &&
			(i + 1 == length || (path[i + 1] != '0' && path[i + 1] != '1')))
			return false;
	return true;
}

/* Returns the number that a key is written as, or JSON_NONE. */
static int64_t
json_element(const unsigned char *key, size_t length)
{
	int64_t		element = 0;

	if (length == 0 || length > ELEMENT_DIGITS || (length > 1 && key[0] == '0'))
		return JSON_NONE;
	for (size_t i = 0; i < length; i++)
	{
		if (key[i] < '0' || key[i] > '9')
			return JSON_NONE;
		element = element * 10 + (key[i] - '0');
	}
	return element;
}

/*
 * Copies the key that a path goes on with, which begins behind a slash.  Returns how
 * many bytes of the path that are.
 */
static size_t
json_copy_key(const char *path, size_t length, unsigned char *key,
			  size_t *key_length)
{
	size_t		i = 0;

	*key_length = 0;
	for (; i < length && path[i] != '/'; i++)
	{
		unsigned char c = (unsigned char) path[i];

		if (c == '~')
			c = path[++i] == '0' ? '~' : '/';
		key[(*key_length)++] = c;
	}
	return i;
}

/* Adds a node, of which there is room. */
static int
json_add_node(JsonPaths *paths, const unsigned char *key, size_t length)
{
	paths->nodes[paths->nnodes] = (JsonNode)
	{
		.key = key,
			.key_length = length,
			.element = json_element(key, length),
			.first_child = JSON_NONE,
			.last_child = JSON_NONE,
			.next_sibling = JSON_NONE,
			.first_field = JSON_NONE,
			.expected = JSON_NONE
	};
	return paths->nnodes++;
}

/* Returns the child of a node by its key, a new one if there is none yet. */
static int
json_get_child(JsonPaths *paths, int node, const unsigned char *key,
			   size_t length)
{
	int			child = json_paths_member(paths, node, key, length);
	JsonNode   *parent = &paths->nodes[node];

	if (child != JSON_NONE)
		return child;
	child = json_add_node(paths, key, length);
	if (parent->last_child == JSON_NONE)
		parent->first_child = parent->expected = child;
	else
		paths->nodes[parent->last_child].next_sibling = child;
	parent->last_child = child;
	return child;
}

/* Adds the path of a field; returns the keys' bytes that it takes. */
static size_t
json_add_path(JsonPaths *paths, const JsonField *fields, int field,
			  unsigned char *keys)
{
	const char *at = fields[field].path;
	const char *end = at + fields[field].path_length;
	unsigned char *key = keys;
	int			node = 0;

	while (at < end)
	{
		size_t		length;

		at++;
		at += json_copy_key(at, (size_t) (end - at), key, &length);
		node = json_get_child(paths, node, key, length);
		key += length;
	}
	if (fields[field].is_wanted)
	{
		paths->next_field[field] = paths->nodes[node].first_field;
		paths->nodes[node].first_field = field;
	}
	return (size_t) (key - keys);
}

/* Allocates the arrays; false without memory. */
static bool
json_allocate_paths(JsonPaths *paths, const Allocator *allocator,
					const JsonField *fields, int nfields)
{
	paths->max_nodes = 1;
	paths->keys_size = 1;
	paths->nfields = nfields;
	for (int i = 0; i < nfields; i++)
		for (size_t j = 0; j < fields[i].path_length; j++)
		{
			paths->max_nodes += fields[i].path[j] == '/';
			paths->keys_size++;
		}
	paths->nodes = allocator_new(allocator,
								 (size_t) paths->max_nodes * sizeof(JsonNode));
	paths->keys = allocator_new(allocator, paths->keys_size);
	paths->next_field = allocator_new(allocator,
									  (size_t) (nfields + 1) * sizeof(int));
	return paths->nodes != NULL && paths->keys != NULL &&
		paths->next_field != NULL;
}

bool
json_paths_open(JsonPaths *paths, const Allocator *allocator,
				const JsonField *fields, int nfields)
{
	size_t		length = 0;

	memset(paths, 0, sizeof(*paths));
	paths->rest = JSON_NONE;
	if (!json_allocate_paths(paths, allocator, fields, nfields))
		return false;
	json_add_node(paths, paths->keys, 0);
	for (int i = 0; i < nfields; i++)
		if (fields[i].is_rest && fields[i].is_wanted)
			paths->rest = i;

	/* What is left for the rest depends on all paths. */
	for (int i = 0; i < nfields; i++)
		if (!fields[i].is_rest && (fields[i].is_wanted || paths->rest != JSON_NONE))
			length += json_add_path(paths, fields, i, paths->keys + length);
	return true;
}

/* Keys of one length often begin alike: their last bytes are compared first. */
static bool
json_has_key(const JsonNode *node, const unsigned char *key, size_t length)
{
	return node->key_length == length &&
		(length == 0 || (node->key[length - 1] == key[length - 1] &&
						 memcmp(node->key, key, length - 1) == 0));
}

/*
 * Members mostly have the same order in each document: so the child behind the last
 * one found is tried first.
 */
int
json_paths_member(JsonPaths *paths, int node, const unsigned char *key,
				  size_t length)
{
	JsonNode   *parent = &paths->nodes[node];
	int			child = parent->expected;

	if (child == JSON_NONE || !json_has_key(&paths->nodes[child], key, length))
		for (child = parent->first_child; child != JSON_NONE;
			 child = paths->nodes[child].next_sibling)
			if (json_has_key(&paths->nodes[child], key, length))
				break;
	if (child == JSON_NONE)
		return JSON_NONE;
	parent->expected = paths->nodes[child].next_sibling != JSON_NONE ?
		paths->nodes[child].next_sibling : parent->first_child;
	return child;
}

int
json_paths_element(const JsonPaths *paths, int node, int64_t element)
{
	int			child = paths->nodes[node].first_child;

	while (child != JSON_NONE && paths->nodes[child].element != element)
		child = paths->nodes[child].next_sibling;
	return child;
}

void
json_paths_close(JsonPaths *paths, const Allocator *allocator)
{
	allocator_free(allocator, paths->nodes,
				   (size_t) paths->max_nodes * sizeof(JsonNode));
	allocator_free(allocator, paths->keys, paths->keys_size);
	allocator_free(allocator, paths->next_field,
				   (size_t) (paths->nfields + 1) * sizeof(int));
	memset(paths, 0, sizeof(*paths));
}
