/*
 * range.h
 *	  What a scan is to read: ranges of a file, one after the other.
 */
#ifndef TOLLFREE_FILE_RANGE_H
#define TOLLFREE_FILE_RANGE_H

#include "read/batch.h"
#include "read/reader.h"
#include "read/sink.h"

#define RANGE_SINKS_MAX 2

typedef struct RangeSource RangeSource;

/* What a kind of source does.  All but the first may be NULL. */
typedef struct RangeMethods
{
	/*
	 * Takes the next range; false if none is left for this process.  Sets
	 * source->batches to what reads it, or to NULL where only COPY's parser
	 * can.  May have rows passed over or counted, see below.
	 */
	bool		(*next) (RangeSource *source);

	/*
	 * COPY's parser reads the present range: has that more records?  Called
	 * before each.  NULL: it reads to the file's end, and no range is left
	 * behind.
	 */
	bool		(*copies_on) (const RangeSource *source);

	/*
	 * COPY's parser has met the end of the data: an ERROR if that cannot be
	 * in the present range, unless the file has been changed.
	 */
	void		(*check_end) (const RangeSource *source);

	/*
	 * What keys of hash joins must be is known, or known better, while a
	 * range is read: leaves out what has no such row.  NULL: it cannot.
	 */
	void		(*narrow) (RangeSource *source, const FilterNode *joins);

	/* Frees what the source holds, its sinks apart. */
	void		(*end) (RangeSource *source);
} RangeMethods;

/* The first member of a source. */
struct RangeSource
{
	const RangeMethods *methods;
	OpenFile   *file;			/* that the present range is of */
	FileReader *reader;			/* of its text; NULL if only COPY's parser can
								 * read it */
	BatchSource *batches;		/* set by next */
	BatchSink  *sinks[RANGE_SINKS_MAX]; /* are shown what is read as text, in
										 * this order */
	int			nsinks;
	uint32		passed;			/* how many rows, from the present range's
								 * first, were returned before; next adds */
	uint64		counted;		/* rows that were counted and not read; next
								 * adds */
	bool		is_cut;			/* is the present range left after this batch,
								 * as a sink has decided?  Cleared by next. */
	RangeSource *then;			/* takes over when this one has no more; or
								 * NULL */
};

extern void range_prepare(RangeSource *source, const RangeMethods *methods,
						  OpenFile *file, FileReader *reader);
extern void range_add_sink(RangeSource *source, BatchSink *sink);
extern int	range_take_passed(RangeSource *source, int nrows);

/* All of the file, in one range. */
typedef struct WholeFile
{
	RangeSource base;
	bool		is_taken;
} WholeFile;

extern RangeSource *whole_file_begin(WholeFile *whole, OpenFile *file,
									 FileReader *reader);

#endif							/* TOLLFREE_FILE_RANGE_H */
