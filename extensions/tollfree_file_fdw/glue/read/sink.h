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
	/* A batch has just been read; no open value has been asked for. */
	void		(*add) (BatchSink *sink, const BatchSource *source);

	/* The present range has been read to its end. */
	void		(*end_range) (BatchSink *sink);

	/* No range is left for this process. */
	void		(*finish) (BatchSink *sink);

	/* COPY's parser takes over: its records are not shown. */
	void		(*give_up) (BatchSink *sink);
} SinkMethods;

/* The first member of a sink. */
struct BatchSink
{
	const SinkMethods *methods;
};

#endif							/* TOLLFREE_FILE_SINK_H */
