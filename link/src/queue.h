/*
 * queue.h
 *		One direction of a connection: chunks in flight, each with a due time.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory one direction may hold before its sender is no longer read. */
#define QUEUE_LIMIT		((size_t) 4 << 20)

/*
 * The data of one read.
 *
 *		+------+--------+--------+------+--------------------+
 *		| next | due_ns | length | sent | data[length]       |
 *		+------+--------+--------+------+--------------------+
 *										 |<-sent->|<-to go-->|
 *
 * A length of zero is the end of the stream, which waits its turn like data.
 */
typedef struct Chunk
{
	struct Chunk *next;
	int64_t		due_ns;			/* not to be delivered before */
	size_t		length;			/* bytes */
	size_t		sent;			/* bytes already delivered */
	unsigned char data[];
} Chunk;

typedef struct ChunkQueue
{
	Chunk	   *head;			/* NULL when empty */
	Chunk	   *tail;
	size_t		held;			/* bytes of memory, chunk headers included */
} ChunkQueue;

extern bool queue_push(ChunkQueue *queue, const void *data, size_t length,
					   int64_t due_ns);
extern void queue_pop(ChunkQueue *queue);
extern void queue_clear(ChunkQueue *queue);

/* Whether the sender must wait; one more chunk always fits. */
static inline bool
queue_full(const ChunkQueue *queue)
{
	return queue->held >= QUEUE_LIMIT;
}

#endif							/* QUEUE_H */
