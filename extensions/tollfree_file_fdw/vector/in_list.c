/*
 * in_list.c
 *	  The constants of an IN, in a hash table.
 */
#include <math.h>
#include <string.h>

#include "core/inline.h"
#include "core/text_word.h"
#include "vector/compare.h"
#include "vector/in_list.h"

#define SLOTS_FIRST		FILTER_SLOTS_MAX
#define SLOTS_PER_VALUE	(FILTER_SLOTS_MAX / 2)	/* at least: most values are
												 * not in the list, and should
												 * hit an empty slot */

/* An odd number with bits everywhere, to multiply by. */
#define HASH_FACTOR		((uint64_t) 0x9E3779B97F4A7C15)

int
filter_slots(int nvalues)
{
	int			nslots = SLOTS_FIRST;

	while (nslots < SLOTS_PER_VALUE * nvalues)
		nslots *= 2;
	return nslots;
}

static inline uint32_t
mix(uint64_t a, uint64_t b)
{
	a = (a ^ (b + HASH_FACTOR)) * HASH_FACTOR;
	return (uint32_t) (a >> 32);
}

static inline uint32_t
hash_text(TextRef text)
{
	uint64_t	last = text.length <= TEXT_WORD_SIZE ? 0 :
		text_word(text.bytes + text.length - TEXT_WORD_SIZE, TEXT_WORD_SIZE);

	return mix(text_word(text.bytes, text.length), last * 3 + text.length);
}

static inline uint32_t
hash_float(double value)
{
	uint64_t	bits;

	if (isnan(value))
		return 1;
	if (value == 0)
		value = 0;				/* not -0 */
	memcpy(&bits, &value, sizeof(bits));
	return mix(bits, 0);
}

static inline uint32_t
hash_uuid(const Uuid *uuid)
{
	uint64_t	words[2];

	memcpy(words, uuid->bytes, sizeof(words));
	return mix(words[0], words[1]);
}

/* Returns the hash of a value; equal ones have the same. */
static ALWAYS_INLINE uint32_t
hash_value(const FilterValue *value, ColumnType type)
{
	if (column_type_is_integer(type))
		return mix((uint64_t) value->integer, 0);
	if (column_type_is_float(type))
		return hash_float(value->floating);
	return column_type_is_text(type) ? hash_text(value->text) :
		hash_uuid(&value->uuid);
}

static ALWAYS_INLINE bool
is_equal(const FilterValue *a, const FilterValue *b, ColumnType type)
{
	if (column_type_is_integer(type))
		return a->integer == b->integer;
	if (column_type_is_float(type))
		return compare_floats(a->floating, b->floating) == 0;
	if (column_type_is_text(type))
		return a->text.length == b->text.length &&
			(a->text.length == 0 ||
			 memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0);
	return memcmp(&a->uuid, &b->uuid, sizeof(Uuid)) == 0;
}

/* Returns the slot of a value, or the empty one where it would go. */
static ALWAYS_INLINE uint32_t
find_slot(const FilterNode *node, const FilterValue *value, ColumnType type)
{
	const uint32_t mask = (uint32_t) node->nslots - 1;
	uint32_t	slot = hash_value(value, type) & mask;

	while (node->slots[slot] != 0 &&
		   !is_equal(&node->values[node->slots[slot] - 1], value, type))
		slot = (slot + 1) & mask;
	return slot;
}

void
in_list_prepare(FilterNode *node, ColumnType type)
{
	node->nslots = filter_slots(node->nvalues);
	memset(node->slots, 0, (size_t) node->nslots * sizeof(uint32_t));
	for (int i = 0; i < node->nvalues; i++)
	{
		FilterValue *value = &node->values[i];

		if (type == COLUMN_BPCHAR)
			value->text.length = compare_trimmed_length(value->text);
		node->slots[find_slot(node, value, type)] = (uint32_t) i + 1;
	}
}

bool
in_list_has(const FilterNode *node, const ColumnVector *vector, int row)
{
	const ColumnType type = vector->spec->type;
	FilterValue value;

	if (column_type_is_integer(type))
		value.integer = vector->values.integers[row];
	else if (column_type_is_float(type))
		value.floating = vector->values.floats[row];
	else if (column_type_is_text(type))
	{
		value.text = vector->values.texts[row];
		if (type == COLUMN_BPCHAR)
			value.text.length = compare_trimmed_length(value.text);
	}
	else
		value.uuid = vector->values.uuids[row];
	return node->slots[find_slot(node, &value, type)] != 0;
}
