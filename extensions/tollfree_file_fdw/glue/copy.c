/*
 * copy.c
 *	  Reading a file by COPY's own parser.
 *
 * This is all that file_fdw does, and what everything off the fast path comes
 * back to.  COPY checks the options and opens the file in any case, so errors
 * about these are its own, and its file descriptor is the only one: it is
 * closed when the transaction ends, whatever happens.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "compat.h"
#include "copy.h"

/* Opens the file or starts the program.  The result is freed by EndCopyFrom. */
CopyFromState
copy_begin(Relation rel, const FileOptions *options)
{
	return BeginCopyFrom(NULL, rel, NULL, options->filename,
						 options->is_program, NULL, NIL, options->copy);
}

/*
 * Puts the next row into the slot; false after the last.  Values live in the
 * current memory context, the per-tuple one of econtext.  Of the error context
 * the callback and its argument are given.
 */
bool
copy_next_row_in(CopyFromState copy, ErrorContextCallback *context,
				 ExprContext *econtext, TupleTableSlot *slot)
{
	bool		found;

	Assert(CurrentMemoryContext == econtext->ecxt_per_tuple_memory);
	context->previous = error_context_stack;
	error_context_stack = context;
	ExecClearTuple(slot);
	while ((found = NextCopyFrom(copy, econtext, slot->tts_values,
								 slot->tts_isnull)) &&
		   compat_row_is_rejected(copy))
	{
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
copy_next_row(CopyFromState copy, ExprContext *econtext, TupleTableSlot *slot)
{
	ErrorContextCallback context = {
		.callback = CopyFromErrorCallback,
		.arg = copy
	};

	return copy_next_row_in(copy, &context, econtext, slot);
}

/*
 * Lets the parser go on at another place: with the record at this offset, which
 * so many lines come before; the line end may be one that is known.
 */
void
copy_seek(CopyFromState copy, int64 offset, int64 line, EolType eol_type)
{
	if (fseeko(copy->copy_file, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in file \"%s\": %m", copy->filename)));
	copy->raw_buf_index = copy->raw_buf_len = 0;
	copy->raw_reached_eof = false;
	copy->input_buf_index = copy->input_buf_len = 0;
	copy->input_reached_eof = copy->input_reached_error = false;
	copy->line_buf_valid = false;
	copy->cur_lineno = line;
	copy->eol_type = eol_type;
}

/*
 * Where the next record begins that the parser reads, if the file's encoding
 * is not converted.  Both buffers are one then, and all of it up to raw_buf_len
 * has been read from the file.
 */
int64
copy_position(CopyFromState copy)
{
	Assert(!copy->need_transcoding);
	return ftello(copy->copy_file) - (copy->raw_buf_len - copy->input_buf_index);
}
