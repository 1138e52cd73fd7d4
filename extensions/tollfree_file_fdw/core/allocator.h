/*
 * allocator.h
 *	  The allocator that the caller of core/ passes in.
 *
 * core/ and vector/ allocate all memory through one of these, so that the
 * caller decides where it is allocated and limits it.  The function may
 * return NULL, which is reported as a "no memory" status, or longjmp: core/
 * holds no resource but memory.
 */
#ifndef CORE_ALLOCATOR_H
#define CORE_ALLOCATOR_H

#include <stddef.h>

typedef struct Allocator
{
	/*
	 * Reallocates old, of old_size bytes, to new_size bytes.  old is NULL for
	 * a new allocation; new_size 0 frees.  Memory is aligned to 8 bytes, or
	 * better.
	 */
	void	   *(*resize) (void *context, void *old, size_t old_size,
						   size_t new_size);
	void	   *context;
} Allocator;

static inline void *
allocator_new(const Allocator *allocator, size_t size)
{
	return allocator->resize(allocator->context, NULL, 0, size);
}

static inline void
allocator_free(const Allocator *allocator, void *old, size_t size)
{
	if (old != NULL)
		allocator->resize(allocator->context, old, size, 0);
}

#endif							/* CORE_ALLOCATOR_H */
