/*
 * memory.c
 *	  Lists that are kept for a relation while a query is planned.
 *
 * The planner pairs an inner side with each outer one, and before 19 a
 * RelOptInfo has no field for extensions.  So lists are kept here, as long as
 * the relation exists: GEQO frees joins, and planning can be nested.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#include "join/memory.h"

typedef struct Memory
{
	dlist_node	node;
	const RelOptInfo *rel;
	List	   *lists[MEMORY_KINDS];
	MemoryContextCallback forget;
} Memory;

static dlist_head memories = DLIST_STATIC_INIT(memories);

/* Forgets a relation; called when its memory is freed. */
static void
forget(void *memory)
{
	dlist_delete(&((Memory *) memory)->node);
}

static Memory *
find(const RelOptInfo *rel)
{
	dlist_iter	iter;

	dlist_foreach(iter, &memories)
	{
		Memory	   *memory = dlist_container(Memory, node, iter.cur);

		if (memory->rel == rel)
			return memory;
	}
	return NULL;
}

/* A list of a relation; NIL if there is none. */
List *
memory_find(const RelOptInfo *rel, MemoryKind kind)
{
	const Memory *memory = find(rel);

	return memory == NULL ? NIL : memory->lists[kind];
}

/* Keeps a list, which lives as long as the relation, in place of a former one. */
void
memory_keep(RelOptInfo *rel, MemoryKind kind, List *list)
{
	Memory	   *memory = find(rel);

	if (memory == NULL)
	{
		MemoryContext context = GetMemoryChunkContext(rel);

		memory = MemoryContextAllocZero(context, sizeof(Memory));
		memory->rel = rel;
		memory->forget.func = forget;
		memory->forget.arg = memory;
		MemoryContextRegisterResetCallback(context, &memory->forget);
		dlist_push_head(&memories, &memory->node);
	}
	memory->lists[kind] = list;
}
