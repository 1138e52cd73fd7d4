/*
 * json_paths.h
 *	  The places of JSON documents that a table's columns are read from.
 *
 * A place is a JSON Pointer (RFC 6901): "/user/name", "/tags/0", and "" for all of the
 * document; in a key ~1 stands for / and ~0 for ~.  All of them are a tree:
 *
 *		paths  /id  /user/name  /user/tags/0  ""
 *
 *		(root)	field 3
 *		  +- id		field 0
 *		  +- user
 *			   +- name	field 1
 *			   +- tags
 *					+- 0	field 2
 */
#ifndef CORE_JSON_PATHS_H
#define CORE_JSON_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/allocator.h"

/* What a column makes of a value that is not null. */
typedef enum JsonTake
{
	JSON_TAKE_JSON,				/* its JSON text, of a string with the quotes */
	JSON_TAKE_TEXT,				/* of a string its characters, else JSON text */
	JSON_TAKE_SCALAR			/* the same, but no object or array */
} JsonTake;

/* One field of a record. */
typedef struct JsonField
{
	const char *path;			/* one that json_path_is_valid lets pass */
	size_t		path_length;	/* bytes */
	JsonTake	take;
	bool		is_rest;		/* it has no path, and is an object of the
								 * document's members that no path begins with */
	bool		is_wanted;		/* is it read at all? */
} JsonField;

#define JSON_NONE	(-1)		/* no node, no field */

typedef struct JsonNode
{
	const unsigned char *key;
	size_t		key_length;		/* bytes */
	int64_t		element;		/* the key as number of an array's element, or
								 * JSON_NONE */
	int			first_child;
	int			last_child;
	int			next_sibling;
	int			first_field;	/* whose path ends here and that is wanted */
	int			expected;		/* child that is looked for first */
} JsonNode;

typedef struct JsonPaths
{
	JsonNode   *nodes;			/* the first is the root */
	int			nnodes;
	int			max_nodes;
	unsigned char *keys;		/* of all nodes */
	size_t		keys_size;		/* bytes */
	int		   *next_field;		/* for each field the next one of its node */
	int			nfields;
	int			rest;			/* the field with the rest, or JSON_NONE */
} JsonPaths;

extern bool json_path_is_valid(const char *path, size_t length);

/* Returns false without memory; the keys are copied. */
extern bool json_paths_open(JsonPaths *paths, const Allocator *allocator,
							const JsonField *fields, int nfields);

/* Returns the child of a node by a member's key, or JSON_NONE. */
extern int	json_paths_member(JsonPaths *paths, int node,
							  const unsigned char *key, size_t length);

/* Returns the child of a node by an array's element, counted from 0, or JSON_NONE. */
extern int	json_paths_element(const JsonPaths *paths, int node, int64_t element);

/* May be called for one that json_paths_open has left half open. */
extern void json_paths_close(JsonPaths *paths, const Allocator *allocator);

#endif							/* CORE_JSON_PATHS_H */
