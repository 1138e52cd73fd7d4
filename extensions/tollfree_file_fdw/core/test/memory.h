/*
 * memory.h
 *	  An Allocator over malloc, which can be told to fail.
 */
#ifndef CORE_TEST_MEMORY_H
#define CORE_TEST_MEMORY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/allocator.h"

typedef struct TestMemory
{
	size_t		held;			/* bytes that are out */
	size_t		peak;
	int64_t		fail_after;		/* requests that succeed; negative: all */
} TestMemory;

static inline void *
test_memory_resize(void *context, void *old, size_t old_size, size_t new_size)
{
	TestMemory *memory = context;
	void	   *result;

	if (new_size == 0)
	{
		free(old);
		memory->held -= old_size;
		return NULL;
	}
	if (memory->fail_after == 0)
		return NULL;
	memory->fail_after--;
	result = realloc(old, new_size);
	if (result == NULL)
		abort();
	memory->held += new_size - old_size;
	if (memory->held > memory->peak)
		memory->peak = memory->held;
	return result;
}

static inline Allocator
test_memory_allocator(TestMemory *memory)
{
	Allocator	allocator = {test_memory_resize, memory};

	memset(memory, 0, sizeof(*memory));
	memory->fail_after = -1;
	return allocator;
}

#endif							/* CORE_TEST_MEMORY_H */
