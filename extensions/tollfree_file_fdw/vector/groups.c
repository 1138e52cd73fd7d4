/*
 * groups.c
 *	  The groups of a GROUP BY: a hash table from key values to numbers.
 */
#include "vector/compare.h"
#include "vector/groups.h"

#define GROUPS_FIRST		64	/* room to begin with */
#define SHORT_TEXT_MAX		7	/* bytes that fit in a word */

/* Odd numbers with bits everywhere, to multiply by. */
#define HASH_FACTOR			((uint64_t) 0x9E3779B97F4A7C15)
#define HASH_FACTOR_BYTES	((uint64_t) 0xD6E8FEB86659FD93)

/* A row's value of one key, as the table compares it. */
typedef struct KeyValue
{
	uint64_t	word;
	TextRef		bytes;			/* what does not fit in the word; or NULL */
	bool		is_null;
} KeyValue;

void
groups_open(Groups *groups, const AggregateOptions *options)
{
	memset(groups, 0, sizeof(*groups));
	groups->allocator = &options->allocator;
	groups->columns = options->columns;
	groups->keys = options->keys;
	groups->nkeys = options->nkeys;
	groups->group_size = sizeof(Group) +
		(size_t) options->nkeys * sizeof(GroupKeyWord);
	arena_open(&groups->arena, groups->allocator);
}

void
groups_close(Groups *groups)
{
	arena_close(&groups->arena);
	allocator_free(groups->allocator, groups->groups,
				   groups->groups_max * groups->group_size);
	allocator_free(groups->allocator, groups->slots,
				   groups->nslots * sizeof(uint32_t));
	groups->groups = NULL;
	groups->slots = NULL;
	groups->ngroups = 0;
	groups->groups_max = 0;
	groups->nslots = 0;
}

size_t
groups_memory(const Groups *groups)
{
	return groups->arena.held + groups->groups_max * groups->group_size +
		groups->nslots * sizeof(uint32_t);
}

static Group *
groups_at(const Groups *groups, uint32_t number)
{
	return (Group *) (groups->groups + number * groups->group_size);
}

/*------------------------------------------------------------------------
 * Keys
 *------------------------------------------------------------------------
 */

static uint64_t
groups_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * HASH_FACTOR;
	return hash ^ (hash >> 32);
}

static uint64_t
groups_hash_bytes(TextRef text)
{
	uint64_t	hash = text.length * HASH_FACTOR_BYTES;
	uint32_t	i = 0;

	for (; i + 8 <= text.length; i += 8)
	{
		uint64_t	word;

		memcpy(&word, text.bytes + i, 8);
		hash = groups_mix(hash, word);
	}
	for (; i < text.length; i++)
		hash = groups_mix(hash, text.bytes[i]);
	return hash;
}

static KeyValue
groups_text_value(TextRef text)
{
	KeyValue	value = {0};
	unsigned char packed[8] = {0};

	if (text.length > SHORT_TEXT_MAX)
	{
		value.word = groups_hash_bytes(text);
		value.bytes = text;

		return value;
	}
	if (text.length > 0)
		memcpy(packed, text.bytes, text.length);
	packed[SHORT_TEXT_MAX] = (unsigned char) text.length;

	memcpy(&value.word, packed, sizeof(value.word));
	return value;
}

/* Equal values give equal words and bytes. */
static inline KeyValue
groups_value(const ColumnVector *vector, int row)
{
	KeyValue	value = {0};
	TextRef text;

	if (bitmap_has(&vector->nulls, row))
		value.is_null = true;
	else if (column_type_is_integer(vector->spec->type))
		value.word = (uint64_t) vector->values.integers[row];
	else if (vector->spec->type == COLUMN_UUID)
	{
		value.bytes.bytes = vector->values.uuids[row].bytes;
		value.bytes.length = sizeof(Uuid);
		value.word = groups_hash_bytes(value.bytes);
	}
	else
	{
		text = vector->values.texts[row];

		if (vector->spec->type == COLUMN_BPCHAR)
			text.		length = compare_trimmed_length(text);

		value = groups_text_value(text);
	}
	return value;
}

static inline bool
groups_value_equals(const KeyValue *value, const GroupKeyWord *key)
{
	if (value->word != key->word)
		return false;
	if (value->bytes.bytes == NULL || key->ref == NULL)
		return value->bytes.bytes == NULL && key->ref == NULL;
	return value->bytes.length == key->ref->length &&
		memcmp(value->bytes.bytes, key->ref->bytes,
			   value->bytes.length) == 0;
}

/*
 * Returns a key as the caller sees it.  A short text lies in the table, which
 * moves when groups are added.
 */
GroupKey
groups_key(const Groups *groups, uint32_t group, int key)
{
	const Group *entry = groups_at(groups, group);
	const GroupKeyWord *word = &entry->keys[key];
	ColumnType	type = groups->columns[groups->keys[key]].type;
	GroupKey	result = {.is_null = (entry->nulls >> key) & 1};

	if (result.is_null)
		return result;
	if (column_type_is_integer(type))
		result.integer = (int64_t) word->word;
	else if (type == COLUMN_UUID)
		memcpy(&result.uuid, word->ref->bytes, sizeof(Uuid));
	else if (word->ref != NULL)
	{
		result.text.bytes = word->ref->bytes;
		result.text.length = word->ref->length;
	}
	else
	{
		result.text.bytes = (const unsigned char *) &word->word;
		result.text.length = result.text.bytes[SHORT_TEXT_MAX];
	}
	return result;
}

/*------------------------------------------------------------------------
 * The table
 *------------------------------------------------------------------------
 */

/* Returns the hash of a group that is in the table, as groups_find makes it. */
static uint64_t
groups_hash_group(const Groups *groups, const Group *group)
{
	uint64_t	hash = group->nulls;

	for (int i = 0; i < groups->nkeys; i++)
		hash = groups_mix(hash, group->keys[i].word);
	return hash;
}

static void
groups_fill_slots(Groups *groups)
{
	uint32_t	mask = groups->nslots - 1;

	memset(groups->slots, 0, groups->nslots * sizeof(uint32_t));
	for (uint32_t i = 0; i < groups->ngroups; i++)
	{
		uint32_t	slot = (uint32_t) groups_hash_group(groups,
														groups_at(groups, i)) & mask;

		while (groups->slots[slot] != 0)
			slot = (slot + 1) & mask;
		groups->slots[slot] = i + 1;
	}
}

/* Makes room for one more group, with at most half of the slots in use. */
static bool
groups_grow(Groups *groups)
{
	const Allocator *allocator = groups->allocator;
	uint32_t	groups_max = groups->groups_max == 0 ?
		GROUPS_FIRST : groups->groups_max * 2;
	void	   *memory;

	if (groups->ngroups < groups->groups_max)
		return true;
	if (groups_max > UINT32_MAX / 4)
		return false;
	memory = allocator->resize(allocator->context, groups->groups,
							   groups->groups_max * groups->group_size,
							   groups_max * groups->group_size);
	if (memory == NULL)
		return false;
	groups->groups = memory;
	groups->groups_max = groups_max;

	memory = allocator->resize(allocator->context, groups->slots,
							   groups->nslots * sizeof(uint32_t),
							   groups_max * 2 * sizeof(uint32_t));
	if (memory == NULL)
		return false;
	groups->slots = memory;
	groups->nslots = groups_max * 2;
	groups_fill_slots(groups);
	return true;
}

/* Returns a copy of a key's bytes, or NULL. */
static const GroupBytes *
groups_copy_bytes(Groups *groups, TextRef text)
{
	GroupBytes *copy = arena_new(&groups->arena,
								 sizeof(GroupBytes) + text.length);

	if (copy == NULL)
		return NULL;
	copy->length = text.length;

	memcpy(copy->bytes, text.bytes, text.length);
	return copy;
}

/* Adds a group, whose slot is found empty later by its hash. */
static bool
groups_add(Groups *groups, const KeyValue *values, uint64_t nulls)
{
	Group	   *group;

	group = groups_at(groups, groups->ngroups);
	group->nulls = nulls;
	for (int i = 0; i < groups->nkeys; i++)
	{
		group->keys[i].word = values[i].word;
		group->keys[i].ref = NULL;
		if (values[i].bytes.bytes == NULL)
			continue;
		group->keys[i].ref = groups_copy_bytes(groups, values[i].bytes);
		if (group->keys[i].ref == NULL)
			return false;
	}
	groups->ngroups++;
	return true;
}

static inline bool
groups_is(const Groups *groups, uint32_t number, const KeyValue *values,
		  uint64_t nulls)
{
	const Group *group = groups_at(groups, number);

	if (group->nulls != nulls)
		return false;
	for (int i = 0; i < groups->nkeys; i++)
		if (!groups_value_equals(&values[i], &group->keys[i]))
			return false;
	return true;
}

static inline bool
groups_find_row(Groups *groups, const RowBatch *batch, int row,
				uint32_t *number)
{
	KeyValue	values[AGGREGATE_KEYS_MAX];
	uint64_t	nulls = 0;
	uint64_t	hash;
	uint32_t	mask;
	uint32_t	slot;

	for (int i = 0; i < groups->nkeys; i++)
	{
		values[i] = groups_value(&batch->columns[groups->keys[i]], row);
		nulls |= (uint64_t) values[i].is_null << i;
	}
	hash = nulls;
	for (int i = 0; i < groups->nkeys; i++)
		hash = groups_mix(hash, values[i].word);

	if (!groups_grow(groups))
		return false;
	mask = groups->nslots - 1;
	for (slot = (uint32_t) hash & mask; groups->slots[slot] != 0;
		 slot = (slot + 1) & mask)
		if (groups_is(groups, groups->slots[slot] - 1, values, nulls))
		{
			*number = groups->slots[slot] - 1;
			return true;
		}
	if (!groups_add(groups, values, nulls))
		return false;
	*number = groups->ngroups - 1;
	groups->slots[slot] = groups->ngroups;
	return true;
}

bool
groups_find(Groups *groups, const RowBatch *batch, const uint16_t *rows,
			int n, uint32_t *numbers)
{
	for (int i = 0; i < n; i++)
		if (!groups_find_row(groups, batch, rows[i], &numbers[i]))
			return false;
	return true;
}
