/*
 * reader.c
 *	  The fast path: a file read by core/ instead of COPY's parser.
 *
 * COPY has opened the file and looked up its columns and input functions, and
 * core/ reads through the same descriptor, by pread, behind COPY's back:
 *
 *		COPY's state	file, attnumlist, in_functions, error context
 *			|				|
 *			|			core/: batches of typed values
 *			|				|	values that it leaves open: input functions
 *			|				|	with COPY's own error context
 *			v				v
 *		COPY's parser <- handover: offset, line, line end
 *
 * So when core/ meets anything that it does not want to judge, COPY's parser
 * goes on right there, and either raises the error that file_fdw raises or
 * reads the record that only it understands.
 *
 * A file that grows while it is read is read as it was at the beginning.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "allocate.h"
#include "columns.h"
#include "compat.h"
#include "copy.h"
#include "guc.h"
#include "reader.h"

/* For looking into the file beside the scan, bytes */
#define START_BUFFER_SIZE 1024
#define COUNT_BUFFER_SIZE (64 * 1024)

/* What is counted before somebody may have lost interest, bytes */
#define COUNT_STEP (1024 * 1024)

#define LINES_UNKNOWN (-1)

/* Adds what COPY knows of the columns. */
static void
describe_columns(FileReader *reader)
{
	CopyFromState copy = reader->copy;

	reader->asks_null = palloc0(sizeof(bool) * Max(1, reader->columns.ncolumns));
	for (int column = 0; column < reader->columns.ncolumns; column++)
	{
		ColumnSpec *spec = &reader->columns.specs[column];
		int			i = reader->columns.attnums[column] - 1;

		spec->force_null = copy->opts.force_null_flags[i];
		spec->force_not_null = copy->opts.force_notnull_flags[i];
		reader->asks_null[column] = !copy->in_functions[i].fn_strict;
	}
}

/* Raises the ERROR that a status stands for. */
static void
report_status(ScanStatus status, const Source *source, const char *filename)
{
	if (status == SCAN_NO_MEMORY)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("A record of file \"%s\" is too long.", filename)));
	if (status == SCAN_FAILED)
	{
		errno = source->error;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
	}
	file_report_change(filename, status == SCAN_TRUNCATED);
}

/* Called by core/ before each read. */
static void
check_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/*
 * Has the reader, and COPY's parser behind it, read the file as it was for
 * somebody who has opened the same one.
 */
void
reader_set_source(FileReader *reader, const Source *source)
{
	Source	   *ours = filescan_source(reader->scan);
	Source		taken = *source;

	taken.fd = ours->fd;
	taken.check_interrupts = ours->check_interrupts;
	taken.bytes_read = ours->bytes_read;
	*ours = taken;
	reader->file->source = taken;
}

/*
 * Lets core/ read these columns of the file that COPY has opened; NULL if it
 * is no regular file of a known size.  The reader lives in a memory context of
 * its own, a child of the current one, until reader_close.
 */
FileReader *
reader_open(OpenFile *file, const FileColumns *columns,
			const FileLayout *layout, size_t block_size)
{
	MemoryContext context;
	MemoryContext old;
	FileReader *reader;
	FileScanOptions options = {0};
	SourceStatus status;

	if (!file->is_regular)
		return NULL;
	context = AllocSetContextCreate(CurrentMemoryContext,
									"tollfree_file_fdw reader",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	reader = palloc0(sizeof(FileReader));
	reader->file = file;
	reader->copy = file->copy;
	reader->layout = *layout;
	reader->context = context;
	reader->columns = *columns;
	describe_columns(reader);
	reader->awaits_header = layout->header == COPY_HEADER_MATCH;

	options.dialect = &reader->layout.dialect;
	options.kernel = setting_kernel();
	options.columns = reader->columns.specs;
	options.ncolumns = reader->columns.ncolumns;
	options.nfields = reader->columns.nfields;
	options.header = layout->header != COPY_HEADER_FALSE;
	options.block_size = block_size;
	options.check_interrupts = check_interrupts;
	options.source = &file->source;
	options.allocator = memory_allocator(context);
	reader->scan = filescan_open(&options, file->source.fd, &status);
	MemoryContextSwitchTo(old);
	file->is_watched = true;
	return reader;
}

/* Frees everything; COPY's state is the caller's. */
void
reader_close(FileReader *reader)
{
	MemoryContextDelete(reader->context);
}

/* Raises an ERROR if the file could not be read, or is not what it was. */
void
reader_check_source(const FileReader *reader, SourceStatus status)
{
	const Source *source = filescan_source(reader->scan);
	const char *filename = reader->file->filename;

	if (status == SOURCE_FAILED)
		report_status(SCAN_FAILED, source, filename);
	if (status == SOURCE_TRUNCATED)
		report_status(SCAN_TRUNCATED, source, filename);
	if (status == SOURCE_CHANGED)
		report_status(SCAN_CHANGED, source, filename);
}

/* Raises an ERROR if the file is not what it was when it was opened. */
void
reader_verify(const FileReader *reader)
{
	reader_check_source(reader, source_verify(filescan_source(reader->scan)));
}

/*
 * Finds out how the file can be read in parts; false if it cannot.  A header
 * that has to match is only looked at when all is read.
 */
bool
reader_find_chunks(FileReader *reader)
{
	Allocator	allocator = memory_allocator(reader->context);

	return reader->layout.header != COPY_HEADER_MATCH &&
		chunk_unsupported(&reader->layout.dialect) == NULL &&
		chunk_layout(filescan_source(reader->scan), &reader->layout.dialect,
					 reader->layout.header != COPY_HEADER_FALSE, &allocator,
					 &reader->chunks);
}

/* Finds the records that begin in a chunk; false if there are none. */
bool
reader_find_records(FileReader *reader, const FileChunk *chunk)
{
	char		buffer[START_BUFFER_SIZE];
	bool		empty;

	reader_check_source(reader,
						chunk_start(filescan_source(reader->scan),
									&reader->chunks, buffer, sizeof(buffer),
									chunk, &reader->range, &empty));
	reader->from = chunk->from;
	return !empty;
}

/* Goes on with the records found, or with all from the first of them on. */
void
reader_begin_records(FileReader *reader, bool to_end)
{
	reader->is_ranged = true;
	reader->lines_before = chunk_needs_count(&reader->layout.dialect) ?
		0 : LINES_UNKNOWN;
	if (to_end)
		reader->range.end = PG_INT64_MAX;
	filescan_set_range(reader->scan, &reader->range);
}

/*
 * Reads bytes [from, to) of the file for somebody to look through them, before
 * records in them are read.
 */
const unsigned char *
reader_load(FileReader *reader, int64_t from, int64_t to)
{
	const unsigned char *bytes;
	ScanStatus	status = filescan_load(reader->scan, from, to, &bytes);

	if (status != SCAN_AGAIN)
		report_status(status, filescan_source(reader->scan),
					  reader->file->filename);
	return bytes;
}

/*
 * How many lines are before the chunk that is read, behind the header; core/
 * counts from there on.  LINES_UNKNOWN if the file cannot be read, or when the
 * query has been cancelled.  Never an ERROR: one is being reported.
 */
static int64_t
count_lines_before(const FileReader *reader)
{
	char		buffer[COUNT_BUFFER_SIZE];
	FileChunk	part = {.to = reader->chunks.begin};
	int64_t		lines = 0;

	while (part.to < reader->from)
	{
		part.from = part.to;
		part.to = Min(part.from + COUNT_STEP, reader->from);
		if (QueryCancelPending || ProcDiePending ||
			chunk_count(filescan_source(reader->scan), setting_kernel(),
						&reader->chunks, buffer, sizeof(buffer),
						&part) != SOURCE_OK)
			return LINES_UNKNOWN;
		lines += part.count.line_ends;
	}
	return lines;
}

/*
 * COPY's error context, at a line of the chunk that is read.  In text format the
 * lines before are counted only now: that may mean looking at all of them.
 */
static void
report_line(FileReader *reader, int64_t line)
{
	CopyFromState copy = reader->copy;
	uint64		cur_lineno = copy->cur_lineno;

	if (reader->lines_before == LINES_UNKNOWN)
	{
		HOLD_INTERRUPTS();
		reader->lines_before = count_lines_before(reader);
		RESUME_INTERRUPTS();
	}
	if (reader->lines_before == LINES_UNKNOWN)
	{
		errcontext("COPY %s", copy->cur_relname);
		return;
	}
	copy->cur_lineno = line + reader->lines_before;
	CopyFromErrorCallback(copy);
	/* It may have been no error, but a message on the way. */
	copy->cur_lineno = cur_lineno;
}

/* The error context of a row of the batch. */
static void
report_read_row(void *arg)
{
	FileReader *reader = arg;

	report_line(reader, filescan_line(reader->scan, reader->asked_row));
}

/* The error context of a row that COPY's parser reads. */
static void
report_copied_row(void *arg)
{
	FileReader *reader = arg;

	report_line(reader, reader->copy->cur_lineno);
}

/* Does the header name the columns, as header 'match' demands? */
static bool
header_matches(FileReader *reader)
{
	CopyFromState copy = reader->copy;
	TupleDesc	desc = RelationGetDescr(copy->rel);
	const ColumnSpec plain = {.type = COLUMN_TEXT};
	bool		no_memory = false;

	if (filescan_nfields(reader->scan) != list_length(copy->attnumlist))
		return false;
	for (int i = 0; i < list_length(copy->attnumlist); i++)
	{
		AttrNumber	attnum = list_nth_int(copy->attnumlist, i);
		const char *name = NameStr(TupleDescAttr(desc, attnum - 1)->attname);
		FieldRef	field = filescan_field(reader->scan, 0, i, &plain,
										   &no_memory);

		if (no_memory || field.is_null || field.length != strlen(name) ||
			memcmp(field.bytes, name, field.length) != 0)
			return false;
	}
	return true;
}

/* Finds the rows of the present batch that hold an open value. */
static void
find_asks(FileReader *reader)
{
	const RowBatch *batch = reader->batch;

	reader->asks = batch->asks;
	for (int i = 0; i < reader->columns.ncolumns; i++)
	{
		const RowBitmap *nulls = &batch->columns[i].nulls;

		if (reader->asks_null[i])
			for (int word = 0; word < bitmap_words(batch->nrows); word++)
				reader->asks.words[word] |= nulls->words[word];
	}
}

/* Reads the next batch, of the range if one has been set. */
BatchStatus
reader_next_batch(FileReader *reader)
{
	for (;;)
	{
		RowBatch   *batch;
		ScanStatus	status = filescan_next(reader->scan, &batch);
		const Source *source = filescan_source(reader->scan);

		CHECK_FOR_INTERRUPTS();
		switch (status)
		{
			case SCAN_BATCH:
				reader->batch = batch;
				find_asks(reader);
				return BATCH_READY;
			case SCAN_AGAIN:
				break;
			case SCAN_HEADER:
				if (reader->awaits_header && !header_matches(reader))
					return BATCH_STOPPED;
				reader->awaits_header = false;
				break;
			case SCAN_HANDOVER:
				return BATCH_STOPPED;
			case SCAN_END:
				/* COPY compares even the header that an empty file lacks. */
				return reader->awaits_header ? BATCH_STOPPED : BATCH_END;
			case SCAN_NO_MEMORY:
			case SCAN_FAILED:
			case SCAN_TRUNCATED:
			case SCAN_CHANGED:
				report_status(status, source, reader->file->filename);
		}
	}
}

/* Converts a deferred column in these rows of the present batch. */
void
reader_convert_column(FileReader *reader, int column, const RowBitmap *rows)
{
	if (!filescan_convert_column(reader->scan, column, rows))
		report_status(SCAN_NO_MEMORY, filescan_source(reader->scan),
					  reader->file->filename);
	find_asks(reader);
}

/*
 * Asks the type's input function for a value, in the way COPY does; an ERROR
 * names the line, the column and the field as COPY's own.
 */
static Datum
ask_value(FileReader *reader, int row, int column, bool *isnull)
{
	CopyFromState copy = reader->copy;
	const ColumnSpec *spec = &reader->columns.specs[column];
	int			i = reader->columns.attnums[column] - 1;
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(copy->rel), i);
	bool		no_memory = false;
	FieldRef	field = filescan_field(reader->scan, row, spec->field, spec,
									   &no_memory);
	char	   *string = NULL;
	ErrorContextCallback callback = {
		.callback = report_read_row,
		.arg = reader,
		.previous = error_context_stack
	};
	Datum		value;

	if (no_memory)
		report_status(SCAN_NO_MEMORY, filescan_source(reader->scan),
					  reader->file->filename);
	if (!field.is_null)
		string = pnstrdup((const char *) field.bytes, field.length);
	reader->asked_row = row;
	copy->cur_attname = NameStr(attribute->attname);
	copy->cur_attval = string;
	error_context_stack = &callback;
	value = InputFunctionCall(&copy->in_functions[i], string,
							  copy->typioparams[i], attribute->atttypmod);
	error_context_stack = callback.previous;
	copy->cur_attname = copy->cur_attval = NULL;
	*isnull = string == NULL;
	return value;
}

/* Is it a value that the type's input function has to be asked for? */
static inline bool
is_open(const FileReader *reader, int column, int row)
{
	const ColumnVector *vector = &reader->batch->columns[column];

	return bitmap_has(&vector->asks, row) ||
		(reader->asks_null[column] && bitmap_has(&vector->nulls, row));
}

/*
 * Puts a row of the present batch into the slot; values are made in the
 * current memory context.  May raise the ERROR of an input function.
 */
void
reader_load_row(FileReader *reader, int row, TupleTableSlot *slot)
{
	bool		asks = bitmap_has(&reader->asks, row);

	ExecClearTuple(slot);
	for (int column = 0; column < reader->columns.ncolumns; column++)
	{
		const ColumnVector *vector = &reader->batch->columns[column];
		int			i = reader->columns.attnums[column] - 1;

		if (asks && is_open(reader, column, row))
			slot->tts_values[i] = ask_value(reader, row, column,
											&slot->tts_isnull[i]);
		else if (bitmap_has(&vector->nulls, row))
			slot->tts_isnull[i] = true;
		else
		{
			slot->tts_isnull[i] = false;
			slot->tts_values[i] = column_value(vector, row);
		}
	}
	ExecStoreVirtualTuple(slot);
}

/*
 * Asks for all open values of a row of the present batch and stores them in
 * it; false if the batch cannot hold one.  They live in the current memory
 * context.  May raise the ERROR of an input function.
 */
bool
reader_judge_row(FileReader *reader, int row)
{
	for (int column = 0; column < reader->columns.ncolumns; column++)
	{
		ColumnVector *vector = &reader->batch->columns[column];
		Datum		value;
		bool		isnull;

		if (!is_open(reader, column, row))
			continue;
		value = ask_value(reader, row, column, &isnull);
		if (!isnull && !column_store(vector, row, value))
			return false;
		bitmap_remove(&vector->asks, row);
	}
	bitmap_remove(&reader->batch->asks, row);
	return true;
}

/* COPY's name for a line end. */
static EolType
copy_line_end(LineEnd line_end)
{
	switch (line_end)
	{
		case LINE_END_NL:
			return EOL_NL;
		case LINE_END_CR:
			return EOL_CR;
		case LINE_END_CRNL:
			return EOL_CRNL;
		case LINE_END_UNKNOWN:
			break;
	}
	return EOL_UNKNOWN;
}

/* A few words on why COPY's parser must go on. */
const char *
reader_handover_words(const FileReader *reader)
{
	switch (filescan_handover(reader->scan)->reason)
	{
		case HANDOVER_ENCODING:
			return "bytes to be checked or converted";
		case HANDOVER_LINE_END:
			return "another line end";
		case HANDOVER_FIELDS:
			return "missing or extra fields";
		case HANDOVER_UNTERMINATED:
			return "an unterminated field";
		case HANDOVER_MARKER:
			return "an end-of-data marker";
		case HANDOVER_ESCAPE:
			return "an escaped byte";
		case HANDOVER_TOO_LONG:
			return "a long record";
		case HANDOVER_NONE:
			break;
	}
	return "the header";
}

/*
 * Lets COPY's parser go on where the reader stopped.  Returns a few words on
 * where and why, in the current memory context.
 */
char *
reader_hand_over(FileReader *reader)
{
	const Handover *handover = filescan_handover(reader->scan);
	bool		at_start = handover->reason == HANDOVER_NONE ||
		handover->in_header;
	const char *words = reader_handover_words(reader);
	int64_t		offset = at_start ? 0 : handover->offset;
	int64_t		line = at_start ? 0 : handover->line;

	copy_seek(reader->file, offset, line,
			  at_start ? EOL_UNKNOWN : copy_line_end(handover->line_end));
	if (reader->lines_before == LINES_UNKNOWN)
		return psprintf("%s after byte %lld", words, (long long) offset);
	return psprintf("%s after line %lld", words,
					(long long) (line + reader->lines_before));
}

/*
 * Puts the next row into the slot, after COPY's parser has taken over, as
 * copy_next_row does.  It knows the line as counted from the reader's chunk.
 */
bool
reader_copy_row(FileReader *reader, ExprContext *econtext,
				TupleTableSlot *slot)
{
	ErrorContextCallback context = {
		.callback = report_copied_row,
		.arg = reader
	};

	return copy_next_row_in(reader->file, &context, econtext, slot);
}
