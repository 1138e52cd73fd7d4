/*
 * groups.h
 *	  The groups of a GROUP BY: a hash table from key values to numbers.
 *
 *		slots				groups, in order of arrival
 *		+---+				+-------+----------------+----------------+
 *		| 2 | ------+	 0	| nulls | word | ref     | word | ref     |
 *		| 0 |		|		+-------+----------------+----------------+
 *		| 1 | --------->	...		key 0			   key 1
 *		+---+		+--> 1	...
 *
 * A slot holds a group's number plus one.  A key's word is its integer; or a
 * text of up to 7 bytes, with the length in the eighth; or for what is longer
 * a hash, with the bytes where ref points.
 */
#ifndef VECTOR_GROUPS_H
#define VECTOR_GROUPS_H

#include "core/arena.h"
#include "vector/aggregate.h"

/* Maximum number of combinations of codes for which they are used */
#define GROUPS_CODES_MAX	1024

/* The bytes of a key that do not fit in the word follow its header. */
typedef struct GroupBytes
{
	uint32_t	length;
	unsigned char bytes[];
} GroupBytes;

typedef struct GroupKeyWord
{
	uint64_t	word;
	const GroupBytes *ref;		/* in the arena; NULL: all is in the word */
} GroupKeyWord;

typedef struct Group
{
	uint64_t	nulls;			/* bit i: key i is null */
	GroupKeyWord keys[];
} Group;

typedef struct Groups
{
	const Allocator *allocator;
	const ColumnSpec *columns;
	const int  *keys;			/* columns; may be NULL without keys */
	int			nkeys;
	Arena		arena;
	unsigned char *groups;		/* an array of Group, of group_size each */
	size_t		group_size;		/* bytes */
	uint32_t	ngroups;
	uint32_t	groups_max;		/* room */
	uint32_t   *slots;
	uint32_t	nslots;			/* a power of two */

	/* Of the rows that are looked up, in the order of their list. */
	uint64_t	words[AGGREGATE_KEYS_MAX][BATCH_ROWS];	/* 0 of a null */
	uint64_t	hashes[BATCH_ROWS];
	uint8_t		nulls[BATCH_ROWS];	/* bit i: key i is null */
	bool		has_bytes[AGGREGATE_KEYS_MAX];	/* does some value not fit in
												 * the word? */

	/* Where all keys have codes; see groups_find_by_codes */
	uint16_t	combined[BATCH_ROWS];
	uint16_t	places[GROUPS_CODES_MAX];
	uint16_t	first_rows[BATCH_ROWS];
	uint32_t	first_numbers[BATCH_ROWS];
} Groups;

extern void groups_open(Groups *groups, const AggregateOptions *options);

/*
 * Finds the group of each of the n rows, adding those that are new.  Returns
 * false when there is no memory.
 */
extern bool groups_find(Groups *groups, const RowBatch *batch,
						const uint16_t *rows, int n, uint32_t *numbers);

extern GroupKey groups_key(const Groups *groups, uint32_t group, int key);

/* Returns the bytes of memory that are held. */
extern size_t groups_memory(const Groups *groups);

extern void groups_close(Groups *groups);

#endif							/* VECTOR_GROUPS_H */
