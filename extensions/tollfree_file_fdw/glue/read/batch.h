/*
 * batch.h
 *	  Where batches of rows come from, as everybody sees it who takes rows.
 */
#ifndef TOLLFREE_FILE_BATCH_H
#define TOLLFREE_FILE_BATCH_H

#include "executor/tuptable.h"

#include "base/columns.h"
#include "base/core.h"
#include "read/copy.h"
#include "read/file.h"
#include "vector/filter.h"

typedef struct BatchSource BatchSource;

/* What reading on has led to. */
typedef enum BatchStatus
{
	BATCH_READY,				/* a batch */
	BATCH_END,					/* the end of what is to be read */
	BATCH_STOPPED				/* a record for COPY's parser, which has to
								 * read on */
} BatchStatus;

/*
 * What a kind of source does.  All of it works in the source's own memory, and
 * may raise an ERROR unless it says that it does not.
 */
typedef struct BatchMethods
{
	/* Are batches read from the file's text, and shown to sinks? */
	bool		is_text;

	/*
	 * Reads on, and sets source->batch if there is one: 1 to BATCH_ROWS rows,
	 * in the order of the file, with a vector for each of source->columns. It
	 * lasts until the next call.  ERROR if the file cannot be read or has
	 * been changed.
	 */
	BatchStatus (*next) (BatchSource *source);

	/*
	 * Converts a deferred column of the batch, once, in these rows.  Values
	 * of other rows mean nothing.  Whoever calls it finds new unresolved
	 * values.
	 */
	void		(*convert_column) (BatchSource *source, int column,
								   const RowBitmap *rows);

	/*
	 * Sets rows to those of the batch for which a condition is true whose
	 * only column has not been converted; false where it has to be.  NULL: it
	 * always has.
	 */
	bool		(*test) (BatchSource *source, const FilterNode *condition,
						 RowBitmap *rows);

	/*
	 * The bytes of a column's field in a row of the batch, as COPY hands them
	 * to the input function: what an unresolved value is made of.  They last
	 * as long as the batch.  Raises no ERROR: *no_memory is set, and left
	 * alone otherwise, when there is none.
	 */
	FieldRef	(*raw_field) (BatchSource *source, int row, int column,
							  bool *no_memory);

	/*
	 * The number that COPY's errors give the line of a row of the batch, or
	 * COPY_LINE_UNKNOWN.  Never an ERROR: one is being reported.
	 */
	int64		(*line) (BatchSource *source, int row);

	/*
	 * Has the source read the records of that range, which begins with a
	 * record; batches end at its end.  Without it all is read.  The range is
	 * copied.
	 */
	void		(*set_range) (BatchSource *source, const ScanRange *range);

	/* The others are NULL where a source never stops. */

	/* A few words on why it has stopped, in the current memory context. */
	const char *(*stop_words) (const BatchSource *source);

	/*
	 * Puts COPY's parser where the source has stopped.  Returns a few words
	 * on where and why, in the current memory context.
	 */
	char	   *(*hand_over) (BatchSource *source);

	/* The same as copy_next_row, after that. */
	bool		(*copy_row) (BatchSource *source, ExprContext *econtext,
							 TupleTableSlot *slot);

	/* Raises an ERROR if the file is not what it was when it was opened. */
	void		(*verify) (const BatchSource *source);
} BatchMethods;

/* What has become of the unresolved values of a row. */
typedef enum RowOutcome
{
	ROW_FITS,					/* the batch has them */
	ROW_REJECTED,				/* one was refused: the row is to be left out */
	ROW_UNFIT					/* the batch cannot hold one */
} RowOutcome;

/* The first member of a source; whoever opens that closes it. */
struct BatchSource
{
	const BatchMethods *methods;
	OpenFile   *file;			/* COPY's state has the input functions */
	FileColumns columns;		/* those converted, in the order of the file */
	bool	   *asks_null;		/* of each: does its input function see nulls? */
	RowBatch   *batch;			/* the present one; NULL before the first */
	RowBitmap	unresolved;		/* its rows with unresolved values */
};

extern void batch_prepare(BatchSource *source, const BatchMethods *methods,
						  OpenFile *file, const FileColumns *columns);
extern BatchStatus batch_next(BatchSource *source);
extern void batch_convert_column(BatchSource *source, int column,
								 const RowBitmap *rows);
extern void batch_set_range(BatchSource *source, const ScanRange *range);
extern Datum batch_value(BatchSource *source, int row, int column);
extern bool batch_load_row(BatchSource *source, int row,
						   TupleTableSlot *slot);
extern RowOutcome batch_resolve_row(BatchSource *source, int row,
									const bool *kept, MemoryContext memory);

#endif							/* TOLLFREE_FILE_BATCH_H */
