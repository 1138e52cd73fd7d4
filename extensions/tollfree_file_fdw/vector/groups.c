/*
 * groups.c
 *	  The groups of a GROUP BY: a hash table from key values to numbers.
 *
 * For a batch the words of each key are made first, then the hashes, in loops
 * over one column; then each row is looked up in the table.  If the keys have
 * codes, one row for each combination of these is looked up.
 */
#include "core/text_word.h"
#include "vector/compare.h"
#include "vector/groups.h"

#define GROUPS_FIRST		64	/* room to begin with */
#define SHORT_TEXT_MAX		7	/* bytes that fit in a word */

/* Odd numbers with bits everywhere, to multiply by. */
#define HASH_FACTOR			((uint64_t) 0x9E3779B97F4A7C15)
#define HASH_FACTOR_BYTES	((uint64_t) 0xD6E8FEB86659FD93)

void
groups_open(Groups *groups, const AggregateOptions *options)
{
	/* Data of a batch are written before they are read. */
	memset(groups, 0, offsetof(Groups, words));
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

/* The bytes of a value that do not fit in its word; empty if all do. */
static inline TextRef
groups_bytes(const ColumnVector *vector, int row)
{
	TextRef		bytes = {0};

	if (vector->spec->type == COLUMN_UUID)
	{
		bytes.bytes = vector->values.uuids[row].bytes;
		bytes.length = sizeof(Uuid);
	}
	else if (column_type_is_text(vector->spec->type))
	{
		bytes = vector->values.texts[row];

		if (vector->spec->type == COLUMN_BPCHAR)
			bytes.length = compare_trimmed_length(bytes);
		if (bytes.length <= SHORT_TEXT_MAX)
			bytes.bytes = NULL;
	}
	return bytes;
}

/* Sets the words of a key of texts or uuids; equal values give equal ones. */
static void
groups_load_bytes(Groups *groups, int key, const ColumnVector *vector,
				  const uint16_t *rows, int n)
{
	uint64_t   *words = groups->words[key];
	bool		has_bytes = false;

	for (int i = 0; i < n; i++)
	{
		TextRef		bytes = groups_bytes(vector, rows[i]);

		if (bytes.bytes != NULL)
		{
			words[i] = groups_hash_bytes(bytes);
			has_bytes = true;
		}
		else
			words[i] = text_word_order((uint64_t) bytes.length << 56 |
									   text_word(vector->values.texts[rows[i]].bytes,
												 bytes.length));
	}
	groups->has_bytes[key] = has_bytes;
}

/* Sets the words of a key in these rows. */
static void
groups_load_key(Groups *groups, int key, const ColumnVector *vector,
				const uint16_t *rows, int n)
{
	uint64_t   *words = groups->words[key];

	groups->has_bytes[key] = false;
	if (column_type_is_integer(vector->spec->type))
		for (int i = 0; i < n; i++)
			words[i] = (uint64_t) vector->values.integers[rows[i]];
	else
		groups_load_bytes(groups, key, vector, rows, n);
	if (bitmap_is_empty(&vector->nulls))
		return;
	for (int i = 0; i < n; i++)
	{
		if (!bitmap_has(&vector->nulls, rows[i]))
			continue;
		words[i] = 0;
		groups->nulls[i] |= (uint8_t) (1 << key);
	}
}

/* Sets the words of all keys in these rows, and the rows' hashes. */
static void
groups_load(Groups *groups, const RowBatch *batch, const uint16_t *rows, int n)
{
	memset(groups->nulls, 0, (size_t) n);
	for (int key = 0; key < groups->nkeys; key++)
		groups_load_key(groups, key, &batch->columns[groups->keys[key]], rows,
						n);
	for (int i = 0; i < n; i++)
		groups->hashes[i] = groups->nulls[i];
	for (int key = 0; key < groups->nkeys; key++)
	{
		for (int i = 0; i < n; i++)
			groups->hashes[i] = groups_mix(groups->hashes[i],
										   groups->words[key][i]);
	}
}

/* Is the value of a row, whose word is the key's, that key? */
static bool
groups_bytes_are(const ColumnVector *vector, int row, const GroupKeyWord *key)
{
	TextRef		bytes = groups_bytes(vector, row);

	if (bytes.bytes == NULL || key->ref == NULL)
		return bytes.bytes == NULL && key->ref == NULL;
	return bytes.length == key->ref->length &&
		memcmp(bytes.bytes, key->ref->bytes, bytes.length) == 0;
}

/*
 * Returns a key's value.  A short text is in the table, which moves when
 * groups are added.
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

/* Adds the group of a row, the i-th of those loaded; false without memory. */
static bool
groups_add(Groups *groups, const RowBatch *batch, int row, int i)
{
	Group	   *group = groups_at(groups, groups->ngroups);

	group->nulls = groups->nulls[i];
	for (int key = 0; key < groups->nkeys; key++)
	{
		TextRef		bytes = {0};

		if (!(group->nulls >> key & 1))
			bytes = groups_bytes(&batch->columns[groups->keys[key]], row);
		group->keys[key].word = groups->words[key][i];
		group->keys[key].ref = NULL;
		if (bytes.bytes == NULL)
			continue;
		group->keys[key].ref = groups_copy_bytes(groups, bytes);
		if (group->keys[key].ref == NULL)
			return false;
	}
	groups->ngroups++;
	return true;
}

/* Is a row, the i-th of those loaded, of that group? */
static inline bool
groups_is(const Groups *groups, uint32_t number, const RowBatch *batch,
		  int row, int i)
{
	const Group *group = groups_at(groups, number);

	if (group->nulls != groups->nulls[i])
		return false;
	for (int key = 0; key < groups->nkeys; key++)
	{
		const GroupKeyWord *word = &group->keys[key];

		if (word->word != groups->words[key][i])
			return false;
		if ((groups->has_bytes[key] || word->ref != NULL) &&
			!(group->nulls >> key & 1) &&
			!groups_bytes_are(&batch->columns[groups->keys[key]], row, word))
			return false;
	}
	return true;
}

/* Finds or adds the group of a row, the i-th of those loaded. */
static inline bool
groups_find_row(Groups *groups, const RowBatch *batch, int row, int i,
				uint32_t *number)
{
	uint32_t	mask;
	uint32_t	slot;

	if (groups->ngroups == groups->groups_max && !groups_grow(groups))
		return false;
	mask = groups->nslots - 1;
	for (slot = (uint32_t) groups->hashes[i] & mask; groups->slots[slot] != 0;
		 slot = (slot + 1) & mask)
	{
		*number = groups->slots[slot] - 1;
		if (groups_is(groups, *number, batch, row, i))
			return true;
	}
	if (!groups_add(groups, batch, row, i))
		return false;
	*number = groups->ngroups - 1;
	groups->slots[slot] = groups->ngroups;
	return true;
}

static bool
groups_find_all(Groups *groups, const RowBatch *batch, const uint16_t *rows,
				int n, uint32_t *numbers)
{
	groups_load(groups, batch, rows, n);
	for (int i = 0; i < n; i++)
		if (!groups_find_row(groups, batch, rows[i], i, &numbers[i]))
			return false;
	return true;
}

/*
 * The number of combinations of codes of a batch's keys; 0: too many, or no
 * codes.
 */
static int
groups_count_codes(const Groups *groups, const RowBatch *batch)
{
	int			ncodes = groups->nkeys > 0 ? 1 : 0;

	for (int key = 0; key < groups->nkeys; key++)
	{
		const ColumnVector *vector = &batch->columns[groups->keys[key]];

		if (vector->codes == NULL || vector->ncodes > GROUPS_CODES_MAX ||
			ncodes * vector->ncodes > GROUPS_CODES_MAX ||
			!bitmap_is_empty(&vector->nulls))
			return 0;
		ncodes *= vector->ncodes;
	}
	return ncodes;
}

/* Sets the combination of all keys' codes in these rows. */
static void
groups_combine_codes(Groups *groups, const RowBatch *batch,
					 const uint16_t *rows, int n)
{
	memset(groups->combined, 0, (size_t) n * sizeof(uint16_t));
	for (int key = 0; key < groups->nkeys; key++)
	{
		const ColumnVector *vector = &batch->columns[groups->keys[key]];
		const int	ncodes = vector->ncodes;

		for (int i = 0; i < n; i++)
			groups->combined[i] = (uint16_t) (groups->combined[i] * ncodes +
											  vector->codes[rows[i]]);
	}
}

/*
 * The same if rows with the same codes are in one group: only the first row of
 * each combination is looked up.
 */
static bool
groups_find_by_codes(Groups *groups, const RowBatch *batch,
					 const uint16_t *rows, int n, int ncodes, uint32_t *numbers)
{
	int			nfirst = 0;

	groups_combine_codes(groups, batch, rows, n);
	/* Of each combination the place of its first row, plus one. */
	memset(groups->places, 0, (size_t) ncodes * sizeof(uint16_t));
	for (int i = 0; i < n; i++)
	{
		if (groups->places[groups->combined[i]] != 0)
			continue;
		groups->first_rows[nfirst++] = rows[i];
		groups->places[groups->combined[i]] = (uint16_t) nfirst;
	}
	if (!groups_find_all(groups, batch, groups->first_rows, nfirst,
						 groups->first_numbers))
		return false;
	for (int i = 0; i < n; i++)
		numbers[i] = groups->first_numbers[groups->places[groups->combined[i]] - 1];
	return true;
}

bool
groups_find(Groups *groups, const RowBatch *batch, const uint16_t *rows,
			int n, uint32_t *numbers)
{
	const int	ncodes = groups_count_codes(groups, batch);

	return ncodes > 0 ?
		groups_find_by_codes(groups, batch, rows, n, ncodes, numbers) :
		groups_find_all(groups, batch, rows, n, numbers);
}
