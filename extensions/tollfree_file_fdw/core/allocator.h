/*
 * allocator.h
 *	  Memory as the caller of core/ gives it.
 *
 * Everything below core/ and vector/ takes its memory through one of these, so
 * that whoever embeds it decides where it lies and what it may cost.  The
 * function may return NULL, which comes back as a "no memory" status, or leave
 * by longjmp: nothing but memory is ever held.
 */
#ifndef CORE_ALLOCATOR_H
#define CORE_ALLOCATOR_H

#include <stddef.h>

typedef struct Allocator
{
	/*
	 * Returns new_size bytes that begin as the old_size bytes of old did, and
	 * takes old back.  old is NULL for a first request; new_size 0 frees.
	 * Memory is aligned to 8 bytes, or better.
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
