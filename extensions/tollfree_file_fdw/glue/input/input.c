/*
 * input.c
 *	  What a scan reads from: a file, opened and read by whoever can.
 *
 * One loop:
 *
 *		RangeSource		what is to be read: range by range
 *			v
 *		BatchSource		reads a range: batch by batch
 *			v
 *		BatchSinks		are shown each batch that is read as text
 *			v
 *		the caller		takes its rows
 *
 * None of them is known here by name, nor is a node of the executor.  Where a
 * BatchSource stops, COPY's parser reads on.  What has been opened here is closed
 * here.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "input/input.h"
#include "read/clean.h"
#include "read/copy.h"
#include "read/header.h"

/* Describes a file that has not been opened: of which table, which columns. */
void
input_prepare(ScanInput *input, List *columns, bool counts_only)
{
	input->options = options_read(RelationGetRelid(input->rel));
	options_select_columns(&input->options, columns);
	input->columns = columns_describe(input->rel, &input->options, columns,
									  counts_only);
	input->slow_reason = input->columns.nfields == 0 ? "no columns" :
		format_unsupported(&input->options, &input->layout);
	input->encoding = format_encoding(&input->options);
	input->context = CurrentMemoryContext;
	input->owner = input;
}

/* Sets the options of a file whose header names its columns. */
static void
read_header(ScanInput *input)
{
	if (input->of_file_memory == NULL)
		input->of_file_memory = AllocSetContextCreate(CurrentMemoryContext,
													  "tollfree_file_fdw header",
													  ALLOCSET_SMALL_SIZES);
	MemoryContextReset(input->of_file_memory);
	MemoryContextSwitchTo(input->of_file_memory);
	input->of_file = header_options(input->rel, &input->options, input->encoding,
									input->options.filename);
	MemoryContextSwitchTo(input->context);
}

/* Opens the file, until the query ends. */
static void
open_file(ScanInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->context);
	const FileOptions *options = &input->options;

	if (options->by_name)
	{
		read_header(input);
		options = &input->of_file;
	}
	input->file = file_open(input->rel, options, input->encoding, input->early);
	MemoryContextSwitchTo(old);
}

/*
 * The files of a table that has many: those that there were when this was first
 * asked.  ERROR if there are none.
 */
const FilePaths *
input_find_paths(ScanInput *input)
{
	ScanInput  *owner = input->owner;
	MemoryContext old;

	if (owner->paths != NULL)
		return owner->paths;
	old = MemoryContextSwitchTo(owner->context);
	owner->paths = palloc(sizeof(FilePaths));
	*owner->paths = paths_find(owner->options.pattern, false);
	MemoryContextSwitchTo(old);
	return owner->paths;
}

/* Do the conditions on files let one be read?  May raise the ERROR of one. */
static bool
is_chosen(ScanInput *owner, const char *path)
{
	TupleTableSlot *slot = owner->file_slot;

	CHECK_FOR_INTERRUPTS();
	computed_set_file(owner->computed, path);
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	computed_store(owner->computed, slot, 0);
	ExecStoreVirtualTuple(slot);
	owner->econtext->ecxt_scantuple = slot;
	return ExecQualAndReset(owner->file_conditions, owner->econtext);
}

/*
 * The files that conditions on their paths let be read in this execution: they are
 * decided when it is first asked.
 */
const FilePaths *
input_choose_paths(ScanInput *input)
{
	ScanInput  *owner = input->owner;
	const FilePaths *paths = input_find_paths(owner);

	if (owner->file_conditions == NULL)
		return paths;
	if (owner->is_chosen)
		return &owner->chosen;
	if (owner->chosen.names == NULL)
		owner->chosen.names = MemoryContextAllocHuge(owner->context,
													 sizeof(char *) *
													 Max(1, paths->count));
	owner->chosen.count = 0;
	for (int i = 0; i < paths->count; i++)
	{
		if (is_chosen(owner, paths->names[i]))
			owner->chosen.names[owner->chosen.count++] = paths->names[i];
	}
	owner->is_chosen = true;
	return &owner->chosen;
}

/*
 * Opens a file that cannot wait until it is read; of others checks the options.  Of
 * many files it is known from now on which they are, but a worker may be told.
 */
void
input_open_early(ScanInput *input)
{
	if (input_has_many(input))
	{
		file_check_options(input->rel, &input->options, input->encoding);
		if (!IsParallelWorker())
			(void) input_find_paths(input);
		return;
	}
	input->early = file_open_early(&input->options, input->encoding);
	if (input->early != NULL)
		file_check_options(input->rel, &input->options, input->encoding);
	else
		open_file(input);
}

/*
 * Has a file that waits to be read opened by its name then, as other processes
 * open it.
 */
void
input_forget_early(ScanInput *input)
{
	file_close_early(input->owner->early);
}

/* Raises the ERROR of a file that was closed behind the scan's back. */
void
input_report_lost(const ScanInput *input)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("file \"%s\" was closed when a subtransaction was rolled back",
					input->options.filename),
			 errhint("Open the cursor again.")));
}

/* The columns as they are in a file whose header names them; they last as it does. */
static FileColumns
columns_of_file(ScanInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->file->context);
	bool		has_defaults;
	FileColumns columns = header_columns(&input->columns, input->rel,
										 &input->owner->of_file, &has_defaults);

	MemoryContextSwitchTo(old);
	if (has_defaults)
		input->slow_reason = "a file lacks a column that has a default";
	return columns;
}

/*
 * Opens a reader for the file that is open, unless it cannot be read by one.
 * The layout, and what has been prepared by it, is as of the scan's beginning,
 * but COPY takes the client's encoding anew each time that it opens the file.
 */
static void
open_reader(ScanInput *input, bool begins_small)
{
	FileColumns columns;

	if (input->slow_reason == NULL &&
		input->encoding != input->layout.encoding)
		input->slow_reason = "client_encoding was changed";
	if (input->slow_reason != NULL)
		return;
	columns = input->columns;
	if (input->options.by_name)
		columns = columns_of_file(input);
	if (input->slow_reason != NULL)
		return;
	input->reader = reader_open(input->file, &columns, &input->layout, 0,
								begins_small);
	if (input->reader == NULL)
		input->slow_reason = "not a regular file of known size";
	else
		input->batches = &input->reader->base;
}

/*
 * Opens the file, and a reader for it if that is possible: a small one where not all
 * may be read.  Many files are opened one by one.
 */
void
input_open(ScanInput *input, bool begins_small)
{
	MemoryContext old;

	Assert(!input_is_begun(input));
	if (input_has_many(input))
	{
		input->begins_small = begins_small;
		return;
	}
	if (input->owner->file == NULL)
		open_file(input->owner);
	input_check_file(input->owner);
	input->file = input->owner->file;
	old = MemoryContextSwitchTo(input->context);
	open_reader(input, begins_small);
	MemoryContextSwitchTo(old);
}

/* Begins to read these ranges of the file that has been opened. */
void
input_begin(ScanInput *input, RangeSource *ranges)
{
	input->ranges = ranges;
	input->phase = INPUT_WAITING;
}

/* No range is left: what is made of all that was read is finished. */
static void
finish_reading(ScanInput *input)
{
	input->phase = INPUT_FINISHED;
	for (int i = 0; i < input->ranges->nsinks; i++)
		sink_finish(input->ranges->sinks[i]);
}

/* Takes the next range, to read it, if one is left. */
void
input_take_range(ScanInput *input)
{
	Assert(input->phase == INPUT_WAITING);
	while (!input->ranges->methods->next(input->ranges))
	{
		if (input->ranges->then == NULL)
		{
			finish_reading(input);
			return;
		}
		input->ranges = input->ranges->then;
	}
	input->batches = input->ranges->batches;
	input->phase = input->batches == NULL ? INPUT_COPYING : INPUT_READING;
}

/* A batch has been read, or a range to its end: shows it to the sinks. */
static void
show_sinks(ScanInput *input, BatchStatus status)
{
	RangeSource *ranges = input->ranges;

	if (!input->batches->methods->is_text)
		return;
	for (int i = 0; i < ranges->nsinks; i++)
	{
		if (status == BATCH_READY)
			sink_add(ranges->sinks[i], input->batches);
		else if (status == BATCH_END)
			sink_end_range(ranges->sinks[i]);
	}
}

/*
 * Reads the next batch; false where there is none for this process, or COPY's
 * parser has to read on, as the phase says then.
 */
bool
input_next_batch(ScanInput *input)
{
	for (;;)
	{
		BatchStatus status;

		if (input->phase == INPUT_READING && input->ranges->is_cut)
			input->phase = INPUT_WAITING;
		if (input->phase == INPUT_WAITING)
			input_take_range(input);
		if (input->phase != INPUT_READING)
			return false;
		status = batch_next(input->batches);
		show_sinks(input, status);
		switch (status)
		{
			case BATCH_READY:
				return true;
			case BATCH_STOPPED:
				input->phase = INPUT_STOPPED;
				return false;
			case BATCH_END:
				input->phase = INPUT_WAITING;
				break;
		}
	}
}

/* Forgets where and why the reader stopped. */
static void
forget_handover(ScanInput *input)
{
	if (input->handover != NULL)
		pfree(input->handover);
	input->handover = NULL;
}

/* Adds where and why the reader has stopped; of many files, in which one. */
static void
note_handover(ScanInput *input, char *words)
{
	forget_handover(input);
	input->nhandovers++;
	input->handover = words;
	if (!input_has_many(input))
		return;
	input->handover = psprintf("%s of file \"%s\"", words, input->file->filename);
	pfree(words);
}

/* Lets COPY's parser read on where the reader has stopped. */
void
input_hand_over(ScanInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->context);

	Assert(input->phase == INPUT_STOPPED);
	for (int i = 0; i < input->ranges->nsinks; i++)
		sink_give_up(input->ranges->sinks[i]);
	note_handover(input, input->batches->methods->hand_over(input->batches));
	input->phase = INPUT_COPYING;
	MemoryContextSwitchTo(old);
}

/* A few words on why the reader has stopped. */
const char *
input_stop_words(const ScanInput *input)
{
	Assert(input->phase == INPUT_STOPPED);
	return input->batches->methods->stop_words(input->batches);
}

/*
 * Lets the scan below start over with the same file, where the reader has stopped.
 * Returns where and why it has, in the current memory context.
 */
char *
input_start_over(ScanInput *input)
{
	char	   *words = input->batches->methods->hand_over(input->batches);

	copy_seek(input->file, 0, 0, EOL_UNKNOWN);
	return words;
}

/*
 * Puts the next row that COPY's parser reads into the slot; false at the end of
 * the range.  As for copy_next_row, the current memory context is the per-tuple
 * one of econtext.
 */
bool
input_copy_row(ScanInput *input, ExprContext *econtext, TupleTableSlot *slot)
{
	BatchSource *batches = input->batches;
	const RangeSource *ranges = input->ranges;
	const RangeMethods *methods = ranges->methods;

	Assert(input->phase == INPUT_COPYING);
	if (methods->copies_on == NULL || methods->copies_on(ranges))
	{
		if (batches == NULL ? copy_next_row(ranges->file, econtext, slot) :
			batches->methods->copy_row(batches, econtext, slot))
			return true;
		if (methods->check_end != NULL)
			methods->check_end(ranges);
	}

	/* What was returned before must be of the same file. */
	if (batches != NULL)
		batches->methods->verify(batches);
	input->phase = INPUT_WAITING;
	return false;
}

/* How many bytes this process has read through core/. */
ByteCounts
input_count_bytes(const ScanInput *input)
{
	ByteCounts	bytes = input->bytes;
	ByteCounts	present;

	if (input->reader == NULL)
		return bytes;
	present = reader_count_bytes(input->reader);
	bytes.read += present.read;
	bytes.decoded += present.decoded;
	return bytes;
}

/* How many rows of the files have been left out, of those that were read. */
uint64
input_left_out(const ScanInput *input)
{
	const ScanInput *owner = input->owner;

	return owner->left_out +
		(owner->file == NULL ? 0 : owner->file->left_out);
}

/* Adds what our options about records have led to in a file, beside the reader. */
static void
add_file_counts(PolicyCounts *sum, const OpenFile *file)
{
	sum->lines += file->footer_lines;
	if (file->cleaner != NULL)
	{
		const PolicyCounts counts = cleaner_counts(file->cleaner);

		policy_add_counts(sum, &counts);
	}
}

/* What has been left out or added, by our options about records, as far as is read. */
PolicyCounts
input_policy_counts(const ScanInput *input)
{
	const ScanInput *owner = input->owner;
	PolicyCounts sum = owner->policy_counts;
	PolicyCounts counts;

	if (input->reader != NULL)
	{
		counts = filescan_counts(input->reader->scan);
		policy_add_counts(&sum, &counts);
	}
	if (owner->file != NULL)
		add_file_counts(&sum, owner->file);
	return sum;
}

/* Forgets all that where all is read again. */
void
input_forget_rejected(ScanInput *input)
{
	ScanInput  *owner = input->owner;

	owner->left_out = 0;
	memset(&owner->policy_counts, 0, sizeof(PolicyCounts));
	if (owner->file == NULL)
		return;
	owner->file->left_out = 0;
	/* The first of many files is opened again. */
	if (input_has_many(owner))
		owner->file->footer_lines = 0;
	if (owner->file->cleaner != NULL)
		cleaner_forget_counts(owner->file->cleaner);
}

/* Ends the present ranges and their sinks, if there are any. */
static void
end_ranges(ScanInput *input)
{
	RangeSource *ranges = input->ranges;

	if (ranges == NULL)
		return;
	for (int i = 0; i < ranges->nsinks; i++)
		sink_end(ranges->sinks[i]);
	if (ranges->methods->end != NULL)
		ranges->methods->end(ranges);
	input->ranges = NULL;
}

/* Closes the reader, if there is one. */
static void
close_reader(ScanInput *input)
{
	input->bytes = input_count_bytes(input);
	if (input->reader != NULL)
	{
		PolicyCounts counts = filescan_counts(input->reader->scan);

		policy_add_counts(&input->owner->policy_counts, &counts);
		reader_close(input->reader);
	}
	input->reader = NULL;
	input->batches = NULL;
}

/* Closes the reader, if there is one, and what reads by it. */
void
input_close_reader(ScanInput *input)
{
	end_ranges(input);
	close_reader(input);
}

/* Closes the file, if it is open. */
static void
close_file(ScanInput *input)
{
	if (input->file == NULL)
		return;
	input->left_out += input->file->left_out;
	add_file_counts(&input->policy_counts, input->file);
	file_close(input->file);
	input->file = NULL;
}

/* Closes the one of many files that is open, if one is. */
void
input_close(ScanInput *input)
{
	close_reader(input);
	close_file(input->owner);
	input->owner->options.filename = NULL;
	input->file = NULL;
}

/* Opens the next one of many files, after that; the name lasts as long as the query. */
void
input_open_next(ScanInput *input, const char *filename)
{
	ScanInput  *owner = input->owner;
	MemoryContext old = MemoryContextSwitchTo(input->context);

	input_close(input);
	owner->options.filename = unconstify(char *, filename);
	open_file(owner);
	input->file = owner->file;
	if (input->computed != NULL)
		computed_set_file(input->computed, filename);
	open_reader(input, input->begins_small);
	MemoryContextSwitchTo(old);
}

/*
 * Gives back what reading has needed, since thousands of partitions may be read
 * after this one.  What cannot be opened again stays open.
 */
void
input_leave(ScanInput *input)
{
	input_close_reader(input);
	if (!input_has_many(input) &&
		(input->owner->file == NULL || !input->owner->file->is_regular))
		return;
	close_file(input->owner);
	input->file = NULL;
	if (input->phase != INPUT_FINISHED)
		input->phase = INPUT_CLOSED;
}

/* Forgets what has been read.  The file stays open. */
void
input_reset(ScanInput *input)
{
	input_close_reader(input);
	input->phase = INPUT_CLOSED;
	input->encoding = format_encoding(&input->options);
	forget_handover(input);
	input->nhandovers = 0;
}

/* Starts again, with the file that has the name by now. */
void
input_reopen(ScanInput *input)
{
	input_reset(input);
	close_file(input);
	input->is_chosen = false;
	file_close_early(input->early);
	input->left_out = 0;
	memset(&input->policy_counts, 0, sizeof(PolicyCounts));
	if (input->early == NULL && !input_has_many(input))
		open_file(input);
}

/* Ends it: of a file of one's own, tells which rows have been skipped. */
void
input_end(ScanInput *input)
{
	input_close_reader(input);
	if (input->owner != input)
		return;
	close_file(input);
	file_close_early(input->early);
	copy_report_left_out(&input->options.errors, input->left_out);
	if (input->options.errors.verbosity != TELL_NOTHING)
		copy_report_policy(RelationGetRelationName(input->rel),
						   &input->policy_counts);
}
