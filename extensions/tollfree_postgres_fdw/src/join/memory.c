/*
 * memory.c
 *	  What is remembered of a relation while a query is planned.
 *
 * The planner asks for the same inner side once for each outer one, and a
 * RelOptInfo has no room for others.  So lists are kept here, as long as the
 * relation is: GEQO frees joins, and plans are made in plans.
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

/* Forgets a relation; called when its memory goes. */
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

/* What is kept of a relation; NIL if nothing is. */
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
