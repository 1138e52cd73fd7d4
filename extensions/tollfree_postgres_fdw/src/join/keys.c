/*
 * keys.c
 *	  The different keys of a batch, as arrays to be sent.
 *
 * A key is the texts of a scan's parameters.  Equal texts have the same rows,
 * so they are sent once.  Keys are numbered in the order of their first
 * occurrence, from 1 on.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "join/keys.h"

/* Initial size of the hash table */
#define KEYS_EXPECTED 64

typedef struct KeyEntry
{
	char	   *packed;			/* the hash table's key: what it points to */
	int			number;
} KeyEntry;

/* HashValueFunc */
static uint32
hash_packed(const void *key, Size size)
{
	const char *packed = *(char *const *) key;

	return hash_bytes((const unsigned char *) packed, strlen(packed));
}

/* HashCompareFunc */
static int
compare_packed(const void *one, const void *other, Size size)
{
	return strcmp(*(char *const *) one, *(char *const *) other);
}

/* Begins a batch; its context has been reset. */
void
keys_begin(KeySet *keys)
{
	keys->count = 0;
	keys->numbers = NULL;
}

/* Creates the hash table and arrays of a batch, in its context. */
static void
make_room(KeySet *keys)
{
	MemoryContext old = MemoryContextSwitchTo(keys->context);
	HASHCTL		control = {
		.keysize = sizeof(char *),.entrysize = sizeof(KeyEntry),
		.hash = hash_packed,.match = compare_packed,.hcxt = keys->context
	};

	keys->numbers = hash_create("tollfree_postgres_fdw keys", KEYS_EXPECTED,
								&control,
								HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	initStringInfo(&keys->packed);
	keys->arrays = palloc(keys->nparams * sizeof(StringInfoData));
	for (int i = 0; i < keys->nparams; i++)
		initStringInfo(&keys->arrays[i]);
	MemoryContextSwitchTo(old);
}

/* Packs the texts of a key into one: a null, or the length and the text. */
static void
pack(KeySet *keys, const char *const *values)
{
	resetStringInfo(&keys->packed);
	for (int i = 0; i < keys->nparams; i++)
	{
		if (values[i] == NULL)
			appendStringInfoChar(&keys->packed, 'n');
		else
			appendStringInfo(&keys->packed, "%zu:%s", strlen(values[i]),
							 values[i]);
	}
}

/* Appends an element to an array's text. */
static void
append_element(StringInfo array, const char *value)
{
	appendStringInfoChar(array, array->len == 0 ? '{' : ',');
	if (value == NULL)
	{
		appendStringInfoString(array, "NULL");
		return;
	}
	appendStringInfoChar(array, '"');
	for (const char *p = value; *p != '\0'; p++)
	{
		if (*p == '"' || *p == '\\')
			appendStringInfoChar(array, '\\');
		appendStringInfoChar(array, *p);
	}
	appendStringInfoChar(array, '"');
}

/* Adds a key unless the batch has it; returns its number. */
int
keys_add(KeySet *keys, const char *const *values)
{
	KeyEntry   *entry;
	bool		found;

	if (keys->numbers == NULL)
		make_room(keys);
	pack(keys, values);
	entry = hash_search(keys->numbers, &keys->packed.data, HASH_ENTER, &found);
	if (found)
		return entry->number;
	entry->packed = MemoryContextStrdup(keys->context, keys->packed.data);
	entry->number = ++keys->count;
	for (int i = 0; i < keys->nparams; i++)
		append_element(&keys->arrays[i], values[i]);
	return entry->number;
}

/* Ends a batch that has keys; the arrays become the parameters. */
void
keys_end(KeySet *keys, const char **params)
{
	for (int i = 0; i < keys->nparams; i++)
	{
		appendStringInfoChar(&keys->arrays[i], '}');
		params[i] = keys->arrays[i].data;
	}
}
