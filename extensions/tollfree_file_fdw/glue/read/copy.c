/*
 * copy.c
 *	  Reading a file by COPY's own parser.
 *
 * This is all that file_fdw does, and what everything off the fast path comes
 * back to.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "read/clean.h"
#include "read/copy.h"
#include "read/json_feed.h"
#include "read/values.h"

/*
 * The number of the line that COPY's parser has read last, or reads.  It may have looked
 * at the next record, and have counted what is left out before that.
 */
int64
copy_line(const OpenFile *file)
{
	const CopyFromStateData *copy = file->copy;
	int64		line = (int64) copy->cur_lineno;

	return file->cleaner == NULL || !copy->line_buf_valid ? line :
		line - cleaner_lines_ahead(file->cleaner);
}

/* COPY's error context of the record that its parser reads. */
static void
report_record(void *arg)
{
	const OpenFile *file = arg;

	copy_report_line(file, copy_line(file));
}

/*
 * Has COPY parse the next row; false after the last.  Input functions may read
 * other files.  Those of a binary file are called before all of its row is
 * read, so the parser then has to come back to this file, after an error, too.
 */
static bool
parse_row(OpenFile *file, ExprContext *econtext, TupleTableSlot *slot)
{
	OpenFile   *outer = file_feed(file);
	bool		found;

	PG_TRY();
	{
		found = NextCopyFrom(file->copy, econtext, slot->tts_values,
							 slot->tts_isnull);
	}
	PG_FINALLY();
	{
		(void) file_feed(outer);
	}
	PG_END_TRY();
	return found;
}

/* Has COPY find the fields of the next record; false after the last. */
static bool
parse_fields(OpenFile *file, char ***fields, int *nfields)
{
	OpenFile   *outer = file_feed(file);
	bool		found;

	PG_TRY();
	{
		found = NextCopyFromRawFields(file->copy, fields, nfields);
	}
	PG_FINALLY();
	{
		(void) file_feed(outer);
	}
	PG_END_TRY();
	return found;
}

/* What has become of reading a row. */
typedef enum RowResult
{
	ROW_FOUND,
	ROW_LEFT_OUT,
	ROW_NONE					/* there is none left */
} RowResult;

/*
 * Reads the next row: by COPY, or of its fields where a row may be left out or numbers
 * are not PostgreSQL's.
 */
static RowResult
read_row(OpenFile *file, ExprContext *econtext, TupleTableSlot *slot)
{
	char	  **fields;
	int			nfields;

	if (!file->errors.ignores && file->forms == NULL)
		return parse_row(file, econtext, slot) ? ROW_FOUND : ROW_NONE;
	if (!parse_fields(file, &fields, &nfields))
		return ROW_NONE;
	if (values_make_row(file, econtext, fields, nfields, slot->tts_values,
						slot->tts_isnull))
		return ROW_FOUND;
	values_leave_out(file, copy_line(file));
	return ROW_LEFT_OUT;
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
	RowResult	result;

	Assert(CurrentMemoryContext == econtext->ecxt_per_tuple_memory);
	context->previous = error_context_stack;
	error_context_stack = context;
	ExecClearTuple(slot);
	while ((result = read_row(file, econtext, slot)) == ROW_LEFT_OUT)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(econtext->ecxt_per_tuple_memory);
	}
	error_context_stack = context->previous;
	if (result == ROW_FOUND)
		ExecStoreVirtualTuple(slot);
	return result == ROW_FOUND;
}

/* The same with COPY's own error context. */
bool
copy_next_row(OpenFile *file, ExprContext *econtext, TupleTableSlot *slot)
{
	ErrorContextCallback context = {
		.callback = report_record,
		.arg = file
	};

	return copy_next_row_in(file, &context, econtext, slot);
}

/*
 * Reads the next record, but no values: its fields, of which null strings are NULL.
 * False after the last.  They and copy->line_buf are the record's until the next call.
 */
bool
copy_next_fields(OpenFile *file, char ***fields, int *nfields)
{
	ErrorContextCallback context = {
		.callback = report_record,
		.arg = file,
		.previous = error_context_stack
	};
	bool		found;

	error_context_stack = &context;
	found = parse_fields(file, fields, nfields);
	error_context_stack = context.previous;
	return found;
}

/*
 * Has the parser read on at another place of a regular file: with the record at this
 * offset, behind that many lines; the line end may be one that is known.
 */
void
copy_seek(OpenFile *file, int64 offset, int64 line, EolType eol_type)
{
	CopyFromState copy = file->copy;

	Assert(file->is_regular);
	file->next = offset;
	if (file->cleaner != NULL)
		cleaner_seek(file->cleaner, offset);
	if (file->feed != NULL)
		json_feed_seek(file->feed, offset);
	copy->raw_buf_index = copy->raw_buf_len = 0;
	copy->raw_reached_eof = false;
	copy->input_buf_index = copy->input_buf_len = 0;
	copy->input_reached_eof = copy->input_reached_error = false;
	copy->line_buf_valid = false;
	copy->cur_lineno = line;
	copy->eol_type = eol_type;
}

/* COPY's error context at that line, or at one whose number is not known. */
void
copy_report_line(const OpenFile *file, int64 line)
{
	CopyFromState copy = file->copy;
	uint64		cur_lineno = copy->cur_lineno;

	if (line == COPY_LINE_UNKNOWN || file->names_table_only)
	{
		errcontext("COPY %s", copy->cur_relname);
		return;
	}
	copy->cur_lineno = line;
	CopyFromErrorCallback(copy);
	/* It may have been no error, but a message on the way. */
	copy->cur_lineno = cur_lineno;
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
	if (file->feed != NULL)
		return json_feed_position(file->feed);
	return file->next - (copy->raw_buf_len - copy->input_buf_index);
}

/* Tells how many rows were skipped, if any, unless nothing is to be told. */
void
copy_report_left_out(const ErrorPolicy *errors, uint64 count)
{
	unsigned long long skipped = count;

	if (skipped > 0 && errors->verbosity != TELL_NOTHING)
		ereport(NOTICE,
				errmsg_plural("%llu row was skipped due to data type incompatibility",
							  "%llu rows were skipped due to data type incompatibility",
							  skipped, skipped));
}

/* Adds a number of things to words, if there are any. */
static void
add_words(StringInfo words, uint64 count, const char *one, const char *many)
{
	if (count > 0)
		appendStringInfo(words, "%s" UINT64_FORMAT " %s",
						 words->len > 0 ? ", " : "", count,
						 count == 1 ? one : many);
}

/* What our options about records have led to; NULL if to nothing. */
char *
copy_policy_words(const PolicyCounts *counts)
{
	StringInfoData words;

	initStringInfo(&words);
	add_words(&words, counts->lines, "line left out", "lines left out");
	add_words(&words, counts->short_records, "row with missing fields",
			  "rows with missing fields");
	add_words(&words, counts->long_records, "row with extra fields",
			  "rows with extra fields");
	return words.len > 0 ? words.data : NULL;
}

/* Tells of that. */
void
copy_report_policy(const char *table, const PolicyCounts *counts)
{
	const char *words = copy_policy_words(counts);

	if (words != NULL)
		ereport(NOTICE,
				(errmsg("foreign table \"%s\": %s", table, words)));
}
