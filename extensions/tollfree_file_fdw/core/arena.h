/*
 * arena.h
 *	  Small pieces of memory that are freed all at once.
 *
 * Pieces come from blocks; a block is never moved, so pieces stay where they
 * are until the arena is reset.  Not for more than one user at a time.
 */
#ifndef CORE_ARENA_H
#define CORE_ARENA_H

#include "core/allocator.h"

#define ARENA_BLOCK		((size_t) 64 << 10)

typedef struct ArenaBlock ArenaBlock;

typedef struct Arena
{
	const Allocator *allocator;
	ArenaBlock *blocks;			/* the one in use first */
	size_t		held;			/* bytes taken from the allocator */
} Arena;

extern void arena_open(Arena *arena, const Allocator *allocator);

/* Returns size bytes, aligned to 8, or NULL when there is no memory. */
extern void *arena_new(Arena *arena, size_t size);

/* Frees all pieces; one block is kept. */
extern void arena_reset(Arena *arena);

extern void arena_close(Arena *arena);

#endif							/* CORE_ARENA_H */
