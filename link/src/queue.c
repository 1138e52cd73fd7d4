/*
 * queue.c
 *		One direction of a connection: chunks in flight, each with a due time.
 *
 * A chunk is allocated at the size of what was read, and its header counts
 * towards the limit, so that a peer sending single bytes cannot hold more
 * memory than one sending blocks.
 *
 * The queue neither reads nor writes a socket; connection.c does.  It owns its
 * chunks.
 */
#include <stdlib.h>
#include <string.h>

#include "queue.h"

/* The allocator's overhead of a chunk, approximately. */
#define ALLOCATION_OVERHEAD		16

/* Returns the memory that a chunk of this length holds, in bytes. */
static size_t
queue_chunk_size(size_t length)
{
	return sizeof(Chunk) + length + ALLOCATION_OVERHEAD;
}

/*
 * Appends a copy of the data, due no earlier than what was queued before it.
 * Returns false, with the queue unchanged, when memory is out.
 */
bool
queue_push(ChunkQueue *queue, const void *data, size_t length, int64_t due_ns)
{
	Chunk	   *chunk = malloc(sizeof(Chunk) + length);

	if (chunk == NULL)
		return false;
	chunk->next = NULL;
	chunk->due_ns = due_ns;
	chunk->length = length;
	chunk->sent = 0;
	if (length > 0)
		memcpy(chunk->data, data, length);

	if (queue->head == NULL)
		queue->head = chunk;
	else
	{
		if (chunk->due_ns < queue->tail->due_ns)
			chunk->due_ns = queue->tail->due_ns;
		queue->tail->next = chunk;
	}
	queue->tail = chunk;
	queue->held += queue_chunk_size(length);
	return true;
}

/* Frees the head, which must exist. */
void
queue_pop(ChunkQueue *queue)
{
	Chunk	   *chunk = queue->head;

	queue->head = chunk->next;
	queue->held -= queue_chunk_size(chunk->length);
	free(chunk);
}

/* Frees every chunk. */
void
queue_clear(ChunkQueue *queue)
{
	while (queue->head != NULL)
		queue_pop(queue);
}
