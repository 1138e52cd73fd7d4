/*
 * allocate.h
 *	  Memory contexts as core/ takes memory from them.
 */
#ifndef TOLLFREE_FILE_ALLOCATE_H
#define TOLLFREE_FILE_ALLOCATE_H

#include "utils/memutils.h"

#include "base/core.h"

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

/* The same for memory that a query can do without. */
static inline void *
memory_resize_or_fail(void *context, void *old, size_t old_size,
					  size_t new_size)
{
	void	   *new = NULL;

	if (new_size > 0)
	{
		new = MemoryContextAllocExtended(context, new_size,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
		if (new == NULL)
			return NULL;
		if (old != NULL)
			memcpy(new, old, Min(old_size, new_size));
	}
	if (old != NULL)
		pfree(old);
	return new;
}

/* Returns NULL where there is no memory; raises no ERROR. */
static inline Allocator
memory_allocator_or_fail(MemoryContext context)
{
	return (Allocator)
	{
		memory_resize_or_fail, context
	};
}

#endif							/* TOLLFREE_FILE_ALLOCATE_H */
