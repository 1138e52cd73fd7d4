/*
 * copy.c
 *	  Reading a file by COPY's own parser.
 *
 * This is all that file_fdw does, and what everything off the fast path comes
 * back to.  COPY reads pipes and programs itself.  A regular file it is given up
 * to the end that the file had when it was opened, as the fast path reads it: so
 * a file that grows has the same rows, however it is read.
 */
#include "postgres.h"

#include <unistd.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "copy.h"

/* The file whose row is being read; COPY's callbacks have no argument. */
static OpenFile *read_file;

/*
 * Raises an ERROR if the file is not what it was, and if that matters.  At its
 * end COPY's parser would tell of what is left of the last record.
 */
static void
check_end(OpenFile *file)
{
	SourceStatus status = file->is_watched ?
		source_verify(&file->source) : SOURCE_OK;

	if (status == SOURCE_TRUNCATED || status == SOURCE_CHANGED)
		file_report_change(file->filename, status == SOURCE_TRUNCATED);
}

/* Gives COPY's parser the next bytes of a regular file; 0 at its end. */
static int
read_bytes(void *buffer, int minread, int maxread)
{
	OpenFile   *file = read_file;
	int64		left = Max(0, file->source.size - file->next);
	ssize_t		n;

	do
		n = pread(file->source.fd, buffer,
				  Min(left, (int64) maxread), file->next);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from COPY file: %m")));
	if (n == 0)
		check_end(file);
	file->next += n;
	return n;
}

/* Has COPY's parser read a regular file so, from where COPY has read up to. */
void
copy_read_by_offset(OpenFile *file)
{
	/* It has read the head of a binary file. */
	file->next = file->copy->opts.binary ? ftello(file->copy->copy_file) : 0;
	file->copy->copy_src = COPY_CALLBACK;
	file->copy->data_source_cb = read_bytes;
}

/*
 * Puts the next row into the slot; false after the last.  Values live in the
 * current memory context, the per-tuple one of econtext.  Of the error context
 * the callback and its argument are given.
 */
bool
copy_next_row_in(OpenFile *file, ErrorContextCallback *context,
				 ExprContext *econtext, TupleTableSlot *slot)
{
	CopyFromState copy = file->copy;
	bool		found;

	Assert(CurrentMemoryContext == econtext->ecxt_per_tuple_memory);
	context->previous = error_context_stack;
	error_context_stack = context;
	ExecClearTuple(slot);
	for (;;)
	{
		/* What the row before has called may have read another one. */
		read_file = file;
		found = NextCopyFrom(copy, econtext, slot->tts_values,
							 slot->tts_isnull);
		if (!found || !compat_row_is_rejected(copy))
			break;
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(econtext->ecxt_per_tuple_memory);
	}
	error_context_stack = context->previous;
	if (found)
		ExecStoreVirtualTuple(slot);
	return found;
}

/* The same with COPY's own error context. */
bool
copy_next_row(OpenFile *file, ExprContext *econtext, TupleTableSlot *slot)
{
	ErrorContextCallback context = {
		.callback = CopyFromErrorCallback,
		.arg = file->copy
	};

	return copy_next_row_in(file, &context, econtext, slot);
}

/*
 * Lets the parser go on at another place of a regular file: with the record at
 * this offset, which so many lines come before; the line end may be one that is
 * known.
 */
void
copy_seek(OpenFile *file, int64 offset, int64 line, EolType eol_type)
{
	CopyFromState copy = file->copy;

	Assert(file->is_regular);
	file->next = offset;
	copy->raw_buf_index = copy->raw_buf_len = 0;
	copy->raw_reached_eof = false;
	copy->input_buf_index = copy->input_buf_len = 0;
	copy->input_reached_eof = copy->input_reached_error = false;
	copy->line_buf_valid = false;
	copy->cur_lineno = line;
	copy->eol_type = eol_type;
}

/*
 * Where the next record begins that the parser reads from a regular file, if the
 * file's encoding is not converted.  Both buffers are one then, and all of it up
 * to raw_buf_len has been read from the file.
 */
int64
copy_position(const OpenFile *file)
{
	const CopyFromStateData *copy = file->copy;

	Assert(file->is_regular && !copy->need_transcoding);
	return file->next - (copy->raw_buf_len - copy->input_buf_index);
}
