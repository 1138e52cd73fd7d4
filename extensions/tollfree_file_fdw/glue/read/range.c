/*
 * range.c
 *	  What all sources of ranges have, and the simplest: the whole file.
 */
#include "postgres.h"

#include "read/range.h"

/* Prepares a source of ranges of a file that is open; the reader may be NULL. */
void
range_prepare(RangeSource *source, const RangeMethods *methods, OpenFile *file,
			  FileReader *reader)
{
	*source = (RangeSource)
	{
		.methods = methods,
			.file = file,
			.reader = reader
	};
}

/* Has a sink be shown what is read as text, after those added before. */
void
range_add_sink(RangeSource *source, BatchSink *sink)
{
	Assert(source->nsinks < RANGE_SINKS_MAX);
	source->sinks[source->nsinks++] = sink;
}

/* How many of a batch's rows, from the first, were returned before? */
int
range_take_passed(RangeSource *source, int nrows)
{
	int			npassed = Min(source->passed, (uint32) nrows);

	source->passed -= npassed;
	return npassed;
}

/* The slots of RangeMethods, whose comments say what each does. */

static bool
whole_next(RangeSource *source)
{
	WholeFile  *whole = (WholeFile *) source;

	if (whole->is_taken)
		return false;
	whole->is_taken = true;
	source->batches = source->reader == NULL ? NULL : &source->reader->base;
	return true;
}

static const RangeMethods whole_methods = {.next = whole_next};

/* Begins with all of a file, which a reader at its beginning reads, or COPY's parser. */
RangeSource *
whole_file_begin(WholeFile *whole, OpenFile *file, FileReader *reader)
{
	range_prepare(&whole->base, &whole_methods, file, reader);
	whole->is_taken = false;
	return &whole->base;
}
