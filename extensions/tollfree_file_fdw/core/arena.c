/*
 * arena.c
 *	  Small pieces of memory that are freed all at once.
 */
#include <stdint.h>
#include <string.h>

#include "core/arena.h"

/*
 *		+------+------+------+--------------------+--------------+
 *		| next | size | used | pieces             | free         |
 *		+------+------+------+--------------------+--------------+
 *							 |<------ used ------>|
 *							 |<------------- size -------------->|
 */
struct ArenaBlock
{
	ArenaBlock *next;
	size_t		size;
	size_t		used;
	uint64_t	data[];
};

void
arena_open(Arena *arena, const Allocator *allocator)
{
	memset(arena, 0, sizeof(*arena));
	arena->allocator = allocator;
}

static ArenaBlock *
arena_add_block(Arena *arena, size_t size)
{
	ArenaBlock *block;

	if (size < ARENA_BLOCK)
		size = ARENA_BLOCK;
	block = allocator_new(arena->allocator, sizeof(ArenaBlock) + size);
	if (block == NULL)
		return NULL;
	block->next = arena->blocks;
	block->size = size;
	block->used = 0;
	arena->blocks = block;
	arena->held += sizeof(ArenaBlock) + size;
	return block;
}

void *
arena_new(Arena *arena, size_t size)
{
	const size_t step = sizeof(uint64_t);
	ArenaBlock *block = arena->blocks;
	void	   *piece;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + step - 1) / step * step;
	if (block == NULL || block->size - block->used < size)
		block = arena_add_block(arena, size);
	if (block == NULL)
		return NULL;
	piece = (unsigned char *) block->data + block->used;
	block->used += size;
	return piece;
}

static void
arena_free_blocks(Arena *arena, ArenaBlock *block)
{
	while (block != NULL)
	{
		ArenaBlock *next = block->next;
		size_t		size = sizeof(ArenaBlock) + block->size;

		arena->held -= size;
		allocator_free(arena->allocator, block, size);
		block = next;
	}
}

void
arena_reset(Arena *arena)
{
	ArenaBlock *block = arena->blocks;

	if (block == NULL)
		return;
	arena_free_blocks(arena, block->next);
	block->next = NULL;
	block->used = 0;

	/* A block that was made for an unusually large piece is not kept. */
	if (block->size > ARENA_BLOCK)
		arena_close(arena);
}

void
arena_close(Arena *arena)
{
	arena_free_blocks(arena, arena->blocks);
	arena->blocks = NULL;
}
