/*
 * batch.c
 *	  Rows of batches, wherever these come from.
 *
 * A source leaves values open that only PostgreSQL's input functions can tell.
 * These are called here, with the functions and the error context of COPY's state,
 * so an ERROR is the one that file_fdw raises.
 *
 *		BatchSource	next, convert_column -> batch
 *			|		raw_field, line		 -> values that were left open
 *			v
 *		FileReader	text, by core/
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "read/batch.h"
#include "read/values.h"

/* A row that a value is asked of, for its error context. */
typedef struct AskedRow
{
	BatchSource *source;
	int			row;
} AskedRow;

/*
 * Prepares a source of these columns of a file that is open, in the current
 * memory context; adds what COPY knows of the columns.
 */
void
batch_prepare(BatchSource *source, const BatchMethods *methods,
			  OpenFile *file, const FileColumns *columns)
{
	const CopyFromStateData *copy = file->copy;

	source->methods = methods;
	source->file = file;
	source->columns = *columns;
	source->asks_null = palloc0(sizeof(bool) * Max(1, columns->ncolumns));
	for (int column = 0; column < columns->ncolumns; column++)
	{
		ColumnSpec *spec = &columns->specs[column];
		int			i = columns->attnums[column] - 1;

		spec->force_null = copy->opts.force_null_flags[i];
		spec->force_not_null = copy->opts.force_notnull_flags[i];
		source->asks_null[column] = !copy->in_functions[i].fn_strict &&
			!spec->is_missing;
	}
}

/* Finds the rows of the present batch that hold an unresolved value. */
static void
find_asks(BatchSource *source)
{
	const RowBatch *batch = source->batch;

	source->unresolved = batch->unresolved;
	for (int i = 0; i < source->columns.ncolumns; i++)
	{
		const RowBitmap *nulls = &batch->columns[i].nulls;

		if (source->asks_null[i])
			for (int word = 0; word < bitmap_words(batch->nrows); word++)
				source->unresolved.words[word] |= nulls->words[word];
	}
}

/* Reads on; source->batch is the next batch if there is one. */
BatchStatus
batch_next(BatchSource *source)
{
	BatchStatus status = source->methods->next(source);

	if (status == BATCH_READY)
		find_asks(source);
	return status;
}

/* Converts a deferred column in these rows of the present batch. */
void
batch_convert_column(BatchSource *source, int column, const RowBitmap *rows)
{
	source->methods->convert_column(source, column, rows);
	find_asks(source);
}

/* Has the source read the records of that range. */
void
batch_set_range(BatchSource *source, const ScanRange *range)
{
	source->methods->set_range(source, range);
}

/* The error context of a row of the batch. */
static void
report_asked_row(void *arg)
{
	const AskedRow *asked = arg;
	BatchSource *source = asked->source;

	copy_report_line(source->file, source->methods->line(source, asked->row));
}

/*
 * Asks the type's input function for a value, in the way COPY does; an ERROR
 * names the line, the column and the field as COPY's own.  False if the row is to be
 * left out.
 */
static bool
ask_value(BatchSource *source, int row, int column, Datum *value, bool *isnull)
{
	CopyFromState copy = source->file->copy;
	bool		no_memory = false;
	FieldRef	field = source->methods->raw_field(source, row, column,
												   &no_memory);
	char	   *string = NULL;
	AskedRow	asked = {.source = source,.row = row};
	ErrorContextCallback callback = {
		.callback = report_asked_row,
		.arg = &asked,
		.previous = error_context_stack
	};
	bool		is_valid;

	if (no_memory)
		file_report_no_memory(source->file->filename);
	if (!field.is_null)
		string = pnstrdup((const char *) field.bytes, field.length);
	error_context_stack = &callback;
	is_valid = values_make_one(source->file, source->columns.attnums[column] - 1,
							   string, value);
	if (!is_valid)
		values_leave_out(source->file, source->methods->line(source, row));
	error_context_stack = callback.previous;
	copy->cur_attname = copy->cur_attval = NULL;
	*isnull = string == NULL;
	return is_valid;
}

/*
 * A value that is neither null nor unresolved, in the current memory context.  One of a
 * type that core/ does not hold is known to be valid, and is made only now.
 */
Datum
batch_value(BatchSource *source, int row, int column)
{
	const ColumnVector *vector = &source->batch->columns[column];
	Datum		value;
	bool		isnull;

	if (vector->spec->type != COLUMN_OTHER)
		return column_value(vector, row);
	if (!ask_value(source, row, column, &value, &isnull))
		elog(ERROR, "a value that is valid was refused");
	return value;
}

/* Is it a value that the type's input function has to be asked for? */
static inline bool
is_open(const BatchSource *source, int column, int row)
{
	const ColumnVector *vector = &source->batch->columns[column];

	return bitmap_has(&vector->unresolved, row) ||
		(source->asks_null[column] && bitmap_has(&vector->nulls, row));
}

/*
 * Puts a row of the present batch into the slot; values are made in the
 * current memory context.  May raise the ERROR of an input function.  False if the row
 * is to be left out.
 */
bool
batch_load_row(BatchSource *source, int row, TupleTableSlot *slot)
{
	bool		is_unresolved = bitmap_has(&source->unresolved, row);

	ExecClearTuple(slot);
	for (int column = 0; column < source->columns.ncolumns; column++)
	{
		const ColumnVector *vector = &source->batch->columns[column];
		int			i = source->columns.attnums[column] - 1;

		if (is_unresolved && is_open(source, column, row))
		{
			if (!ask_value(source, row, column, &slot->tts_values[i],
						   &slot->tts_isnull[i]))
				return false;
		}
		else if (bitmap_has(&vector->nulls, row))
			slot->tts_isnull[i] = true;
		else
		{
			slot->tts_isnull[i] = false;
			slot->tts_values[i] = batch_value(source, row, column);
		}
	}
	ExecStoreVirtualTuple(slot);
	return true;
}

/*
 * Converts all unresolved values of a row of the present batch, and stores those
 * of columns that are kept.  Input functions leave what they allocate in the
 * current memory context; what is stored lives in that other one.  May raise the ERROR of an input function.
 */
RowOutcome
batch_resolve_row(BatchSource *source, int row, const bool *kept,
				  MemoryContext memory)
{
	for (int column = 0; column < source->columns.ncolumns; column++)
	{
		ColumnVector *vector = &source->batch->columns[column];
		Datum		value;
		bool		isnull;

		if (!is_open(source, column, row))
			continue;
		if (!ask_value(source, row, column, &value, &isnull))
			return ROW_REJECTED;
		if (!isnull && kept[column] &&
			!column_store(vector, row, value, memory))
			return ROW_UNFIT;
		bitmap_remove(&vector->unresolved, row);
	}
	bitmap_remove(&source->batch->unresolved, row);
	return ROW_FITS;
}
