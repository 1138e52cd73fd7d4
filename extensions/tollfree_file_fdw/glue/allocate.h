/*
 * allocate.h
 *	  Memory contexts as core/ takes memory from them.
 */
#ifndef TOLLFREE_FILE_ALLOCATE_H
#define TOLLFREE_FILE_ALLOCATE_H

#include "utils/memutils.h"

#include "core.h"

/* See Allocator; the context is a MemoryContext. */
static inline void *
memory_resize(void *context, void *old, size_t old_size, size_t new_size)
{
	if (new_size == 0)
	{
		if (old != NULL)
			pfree(old);
		return NULL;
	}
	if (old == NULL)
		return MemoryContextAllocHuge(context, new_size);
	return repalloc_huge(old, new_size);
}

/* Raises an ERROR instead of returning NULL. */
static inline Allocator
memory_allocator(MemoryContext context)
{
	return (Allocator)
	{
		memory_resize, context
	};
}

#endif							/* TOLLFREE_FILE_ALLOCATE_H */
