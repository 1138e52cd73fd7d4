/*
 * sink.h
 *	  What is made of the batches that a scan reads: who is shown each.
 */
#ifndef TOLLFREE_FILE_SINK_H
#define TOLLFREE_FILE_SINK_H

#include "read/batch.h"

typedef struct BatchSink BatchSink;

/*
 * What a kind of sink does with the batches that are read as text.  It is shown
 * those of column segments neither when they begin nor when they end.  A method may
 * be NULL.
 */
typedef struct SinkMethods
{
	/* A batch has just been read; no unresolved value has been asked for. */
	void		(*add) (BatchSink *sink, const BatchSource *source);

	/* The present range has been read to its end. */
	void		(*end_range) (BatchSink *sink);

	/* No range is left for this process. */
	void		(*finish) (BatchSink *sink);

	/* COPY's parser takes over: its records are not shown. */
	void		(*give_up) (BatchSink *sink);

	/* Nothing is shown any more: gives back all memory. */
	void		(*end) (BatchSink *sink);
} SinkMethods;

/* The first member of a sink. */
struct BatchSink
{
	const SinkMethods *methods;
};

static inline void
sink_add(BatchSink *sink, const BatchSource *source)
{
	if (sink->methods->add != NULL)
		sink->methods->add(sink, source);
}

static inline void
sink_end_range(BatchSink *sink)
{
	if (sink->methods->end_range != NULL)
		sink->methods->end_range(sink);
}

static inline void
sink_finish(BatchSink *sink)
{
	if (sink->methods->finish != NULL)
		sink->methods->finish(sink);
}

static inline void
sink_give_up(BatchSink *sink)
{
	if (sink->methods->give_up != NULL)
		sink->methods->give_up(sink);
}

static inline void
sink_end(BatchSink *sink)
{
	if (sink->methods->end != NULL)
		sink->methods->end(sink);
}

#endif							/* TOLLFREE_FILE_SINK_H */
