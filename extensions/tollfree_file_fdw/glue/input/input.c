/*
 * input.c
 *	  What a scan reads from: a file, opened and read by whoever can.
 *
 * Knows nothing of executor nodes.  It decides who reads, a reader or COPY's
 * parser; takes the parts of the file that this process is to read; and closes
 * what it has opened.  What becomes of the rows is the caller's affair.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/compat.h"
#include "input/input.h"
#include "read/copy.h"

/* Rows that are read before it matters what is kept of the file */
#define HEAD_ROWS 256

/* Describes a file that has not been opened: of which table, which columns. */
void
input_prepare(ScanInput *input, List *columns, bool counts_only)
{
	input->options = options_read(RelationGetRelid(input->rel));
	options_select_columns(&input->options, columns);
	input->columns = columns_describe(input->rel, columns, counts_only);
	input->slow_reason = input->columns.nfields == 0 ? "no columns" :
		format_unsupported(&input->options, &input->layout);
	input->encoding = format_encoding(&input->options);
	input->context = CurrentMemoryContext;
	input->owner = input;
}

/* Opens the file, for the rest of the query. */
static void
open_file(ScanInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->context);

	input->file = file_open(input->rel, &input->options, input->encoding);
	MemoryContextSwitchTo(old);
}

/* Opens a file that cannot wait until it is read; of others checks the options. */
void
input_open_early(ScanInput *input)
{
	input->can_wait = file_can_wait(&input->options, input->encoding);
	if (input->can_wait)
		file_check_options(input->rel, &input->options, input->encoding);
	else
		open_file(input);
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

/*
 * Opens a reader for the file that is open, unless it cannot be read by one.
 * The layout, and what has been prepared by it, is as of the scan's beginning,
 * but COPY takes the client's encoding anew each time that it opens the file.
 */
static void
open_reader(ScanInput *input)
{
	if (input->slow_reason == NULL &&
		input->encoding != input->layout.encoding)
		input->slow_reason = "client_encoding was changed";
	if (input->slow_reason != NULL)
		return;
	/* Who aggregates, or shares the file, reads all of it. */
	input->reader = reader_open(input->file, &input->columns, &input->layout,
								0, input->owner == input &&
								input->share.file == NULL);
	if (input->reader == NULL)
		input->slow_reason = "no regular file of a known size";
	else
		input->batches = &input->reader->base;
}

/* Has a sink be shown what is read as text, after those added before. */
static void
add_sink(ScanInput *input, BatchSink *sink)
{
	Assert(input->nsinks < INPUT_SINKS_MAX);
	input->sinks[input->nsinks++] = sink;
}

/* Joins the processes that read the file, and what they have of it. */
static void
begin_share(ScanInput *input)
{
	ParallelFile *shared = input->share.file;

	parallel_share_source(&input->share, input->reader);
	index_use_reset(&input->index);
	parallel_begin_index(&input->share, input->reader, &input->index,
						 &input->options);
	add_sink(input, &input->share.maker.sink);
	add_sink(input, &input->cache.sink);
	/* Segments are of blocks of an index that is there. */
	if (parallel_index_is_making(&input->share.maker))
		return;
	if (shared->by_index && input->cache.is_wanted)
		index_share_join(&input->index, input->reader, &shared->index);
	column_cache_begin(&input->cache, &shared->room);
}

/* Looks for what is kept of the file, or begins to make it. */
static void
begin_kept(ScanInput *input)
{
	index_use_begin(&input->index, input->reader, input->encoding,
					&input->options);
	column_cache_begin(&input->cache, NULL);
	add_sink(input, &input->index.sink);
	add_sink(input, &input->cache.sink);
}

/*
 * Begins to read alone.  Where no filter can have blocks skipped, what is kept of
 * the file can wait.
 */
static void
begin_alone(ScanInput *input)
{
	input->share.maker.use = NULL;
	input->in_head = input->begins_small && input->index.is_wanted &&
		input->index.filter == NULL;
	if (!input->in_head)
	{
		begin_kept(input);
		return;
	}
	index_use_reset(&input->index);
	input->index.unused_reason = "only the first rows were read";
}

/*
 * More rows are asked for than the first: looks for what is kept of the file.  If
 * there is anything, or it can be made, all is read from the beginning again, and
 * the rows that were read are passed over.
 */
static void
leave_head(ScanInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->context);

	input->in_head = false;
	begin_kept(input);
	if (input->index.role != INDEX_UNUSED)
	{
		filescan_restart(input->reader->scan);
		input->phase = INPUT_WAITING;
		input->has_run = true;
	}
	else
		input->head_rows = 0;
	MemoryContextSwitchTo(old);
}

/* How many rows at the beginning of the present batch were returned before? */
int
input_take_passed(ScanInput *input)
{
	int			npassed = Min(input->passed_rows,
							  (uint32) input->batches->batch->nrows);

	input->passed_rows -= npassed;
	return npassed;
}

/* Opens the file and decides who reads: a reader, if that is possible. */
void
input_begin(ScanInput *input)
{
	MemoryContext old;

	Assert(!input_is_begun(input));
	if (input->owner->file == NULL)
		open_file(input->owner);
	input_check_file(input->owner);
	input->file = input->owner->file;
	input->phase = INPUT_WAITING;
	input->nsinks = 0;
	input->in_head = input->has_run = false;
	input->head_rows = input->passed_rows = 0;
	old = MemoryContextSwitchTo(input->context);
	open_reader(input);
	if (input->reader != NULL && input->share.file != NULL)
		begin_share(input);
	else if (input->reader != NULL)
		begin_alone(input);
	MemoryContextSwitchTo(old);
}

/*
 * Reads the first block of the first run as text, if that may be read from
 * segments: who wants a few rows need not load these.  The next run begins with the
 * same block, whose rows are passed over.
 */
static bool
begins_by_text(ScanInput *input, BlockRun *run)
{
	bool		is_first = !input->has_run && input->begins_small;

	input->has_run = true;
	if (!is_first ||
		!column_cache_may_enter(&input->cache, run))
		return false;
	input->index.next = run->first;
	run->range.end = index_block_end(&input->index.index, run->first);
	input->head_rows = index_block(&input->index.index, run->first)->nrows;
	return true;
}

/* Takes the next blocks that may matter; false if none are left. */
static bool
take_blocks(ScanInput *input)
{
	BlockRun	run;

	if (!index_blocks_next(&input->index, &run))
		return false;
	if (begins_by_text(input, &run))
	{
		input->batches = &input->reader->base;
		reader_read_range(input->reader, &run.range);
	}
	else
		input->batches = column_cache_enter(&input->cache, &run);
	return true;
}

/*
 * Takes the next blocks, or the next chunk, of what this process has to read of a
 * file that several share; false if none is left.
 */
static bool
take_shared(ScanInput *input)
{
	BlockRun	run;

	if (input->index.role != INDEX_SHARED)
		return parallel_take_chunk(&input->share, input->reader, input->file);
	while (!index_share_next(&input->index, &run))
	{
		if (!parallel_take_chunk(&input->share, input->reader, input->file))
			return false;
		index_share_take(&input->index, &input->reader->range);
	}
	input->batches = column_cache_enter(&input->cache, &run);
	return true;
}

/* No part is left: what is made of all that was read is finished. */
static void
finish_reading(ScanInput *input)
{
	input->phase = INPUT_FINISHED;
	for (int i = 0; i < input->nsinks; i++)
	{
		BatchSink  *sink = input->sinks[i];

		if (sink->methods->finish != NULL)
			sink->methods->finish(sink);
	}
}

/* Takes the next part of the file, to read it, if one is left. */
void
input_take_part(ScanInput *input)
{
	Assert(input->phase == INPUT_WAITING);
	if (!input->in_head)
	{
		/* A part may have fewer rows than were read before. */
		input->passed_rows += input->head_rows;
		input->head_rows = 0;
	}
	if (input->share.file != NULL && !take_shared(input))
		finish_reading(input);
	else if (input->reader == NULL)
		input->phase = INPUT_COPYING;
	else if (input->share.file == NULL &&
			 index_use_has_blocks(&input->index) && !take_blocks(input))
		finish_reading(input);
	else
		input->phase = INPUT_READING;
}

/* A part has been read.  Without a reader it was the whole file. */
static void
end_part(ScanInput *input)
{
	bool		has_parts = input->share.file != NULL ||
		index_use_has_blocks(&input->index);

	if (has_parts && input->reader != NULL)
		input->phase = INPUT_WAITING;
	else
		finish_reading(input);
}

/* The reader has read a batch, or come to an end: shows it to the sinks. */
static void
show_sinks(ScanInput *input, BatchStatus status)
{
	if (input_uses_segments(input))
		return;
	if (input->in_head && status == BATCH_READY)
		input->head_rows += input->batches->batch->nrows;
	else if (input->in_head && status == BATCH_END)
		input->index.unused_reason = INDEX_TOO_SMALL;
	for (int i = 0; i < input->nsinks; i++)
	{
		BatchSink  *sink = input->sinks[i];

		if (status == BATCH_READY && sink->methods->add != NULL)
			sink->methods->add(sink, input->batches);
		else if (status == BATCH_END && sink->methods->end_range != NULL)
			sink->methods->end_range(sink);
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

		if (input->in_head && input->head_rows >= HEAD_ROWS)
			leave_head(input);
		if (input->phase == INPUT_WAITING)
			input_take_part(input);
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
				end_part(input);
				break;
		}
	}
}

/*
 * A batch is being read by blocks, and it is known by now what keys of joins must
 * be: has blocks skipped by that, from here on.  What segments are read from, or
 * made of, is read to its end.
 */
void
input_narrow(ScanInput *input, const FilterNode *joins)
{
	Assert(input->phase == INPUT_READING);
	input->index.joins = joins;
	if (input->cache.context == NULL)
		index_blocks_narrow(&input->index);
}

/* Forgets where and why the reader stopped. */
static void
forget_handover(ScanInput *input)
{
	if (input->handover != NULL)
		pfree(input->handover);
	input->handover = NULL;
}

/* Lets COPY's parser read on where the reader has stopped. */
void
input_hand_over(ScanInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(input->context);

	Assert(input->phase == INPUT_STOPPED);
	for (int i = 0; i < input->nsinks; i++)
		input->sinks[i]->methods->give_up(input->sinks[i]);
	forget_handover(input);
	input->handover = reader_hand_over(input->reader);
	input->phase = INPUT_COPYING;
	parallel_note_fallback(&input->share,
						   reader_handover_words(input->reader));
	MemoryContextSwitchTo(old);
}

/* A few words on why the reader has stopped. */
const char *
input_stop_words(const ScanInput *input)
{
	Assert(input->phase == INPUT_STOPPED);
	return reader_handover_words(input->reader);
}

/*
 * Lets the scan below start over with the same file, where the reader has stopped.
 * Returns where and why it has, in the current memory context.
 */
char *
input_start_over(ScanInput *input)
{
	char	   *words = reader_hand_over(input->reader);

	copy_seek(input->file, 0, 0, EOL_UNKNOWN);
	return words;
}

/*
 * Puts the next row that COPY's parser reads into the slot; false at the end of
 * the part.  As for copy_next_row, the current memory context is the per-tuple
 * one of econtext.
 */
bool
input_copy_row(ScanInput *input, ExprContext *econtext, TupleTableSlot *slot)
{
	FileReader *reader = input->reader;

	Assert(input->phase == INPUT_COPYING);
	if (input->share.file == NULL ||
		parallel_copies_on(&input->share, reader, input->file))
	{
		if (reader == NULL ? copy_next_row(input->file, econtext, slot) :
			reader_copy_row(reader, econtext, slot))
			return true;
		if (input->share.file != NULL)
			parallel_check_end(&input->share, input->file);
	}

	/* What the reader has returned must be of the same file. */
	if (reader != NULL)
		reader_verify(reader);
	end_part(input);
	return false;
}

/* How many bytes this process has read through core/. */
uint64
input_bytes_read(const ScanInput *input)
{
	return input->bytes_read + (input->reader == NULL ? 0 :
								filescan_source(input->reader->scan)->bytes_read);
}

/* How many rows were counted and not read, since the last call. */
uint64
input_take_counted(ScanInput *input)
{
	return counter_take(&input->index.counted_rows) +
		counter_take(&input->share.counted_rows);
}

/* Closes the reader, if there is one. */
void
input_close_reader(ScanInput *input)
{
	input->bytes_read = input_bytes_read(input);
	column_cache_end(&input->cache);
	index_use_end(&input->index);
	if (input->reader != NULL)
		reader_close(input->reader);
	input->reader = NULL;
	input->batches = NULL;
}

/* Closes the file, if it is open. */
static void
close_file(ScanInput *input)
{
	if (input->file == NULL)
		return;
	input->rejected = compat_count_rejected(input->file->copy);
	file_close(input->file);
	input->file = NULL;
}

/*
 * Gives back what reading has needed, since thousands of partitions may be read
 * after this one.  What cannot be opened again stays open.
 */
void
input_leave(ScanInput *input)
{
	input_close_reader(input);
	input->index.joins = NULL;
	if (input->owner->file == NULL || !input->owner->file->is_regular)
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
	input->index.joins = NULL;
	input->encoding = format_encoding(&input->options);
	forget_handover(input);
}

/* Starts again, with the file that has the name by now. */
void
input_reopen(ScanInput *input)
{
	input_reset(input);
	close_file(input);
	input->rejected = 0;
	if (!input->can_wait)
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
	copy_report_rejected(input->rejected);
}
