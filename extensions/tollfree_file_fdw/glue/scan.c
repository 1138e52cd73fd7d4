/*
 * scan.c
 *	  Scanning a file row by row for the executor.
 *
 * Rows are returned, and errors raised, in the order of the file, as with
 * file_fdw: what a batch holds after the row that was returned last has not
 * been judged yet.  A row with values that only PostgreSQL's input functions
 * can judge is always looked at, even if the filter has no use for it: it
 * might be an error.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/rel.h"

#include "aggregate_scan.h"
#include "callbacks.h"
#include "compat.h"
#include "copy.h"
#include "guc.h"
#include "parallel.h"
#include "plan.h"
#include "quals.h"
#include "slot.h"

/* Raises an ERROR if the file has been closed behind the scan's back. */
static void
check_file(const FileScanState *scan)
{
	if (scan->file != NULL && scan->file->is_lost)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("file \"%s\" was closed when a subtransaction was rolled back",
						scan->options.filename),
				 errhint("Open the cursor again.")));
}

/* Takes conditions over from the executor. */
static void
push_filter(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	List	   *quals = plan->scan.plan.qual;
	QualContext context = {
		.columns = &scan->columns,
		.relid = plan->scan.scanrelid,
		.encoding = scan->layout.dialect.encoding,
		.params = node->ss.ps.state->es_param_list_info
	};

	scan->filter = quals_push(&context, quals, &scan->npushed);
	if (scan->filter == NULL)
		return;
	scan->filter_quals =
		ExecInitQual(list_truncate(list_copy(quals), scan->npushed),
					 &node->ss.ps);
	node->ss.ps.qual = ExecInitQual(list_copy_tail(quals, scan->npushed),
									&node->ss.ps);
}

/*
 * Opens a reader for the file that is open; false if it cannot be read by one.
 * The layout, and what has been prepared by it, is as of the scan's beginning,
 * but COPY takes the client's encoding anew each time that it opens the file.
 */
static bool
open_reader(FileScanState *scan)
{
	if (scan->slow_reason == NULL &&
		scan->encoding != scan->layout.encoding)
		scan->slow_reason = "client_encoding was changed";
	if (scan->slow_reason != NULL)
		return false;
	scan->reader = reader_open(scan->file, &scan->columns, &scan->layout, 0);
	if (scan->reader == NULL)
		scan->slow_reason = "no regular file of a known size";
	scan->row = 0;
	bitmap_clear(&scan->selected);
	return scan->reader != NULL;
}

/* How many bytes this process has read through core/. */
uint64
scan_bytes_read(const FileScanState *scan)
{
	return scan->bytes_read + (scan->reader == NULL ? 0 :
							   filescan_source(scan->reader->scan)->bytes_read);
}

/* Closes the reader, if there is one. */
void
scan_close_reader(FileScanState *scan)
{
	scan->bytes_read = scan_bytes_read(scan);
	if (scan->reader != NULL)
		reader_close(scan->reader);
	scan->reader = NULL;
}

/* Opens the file, for the rest of the query. */
static void
open_file(FileScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));

	scan->file = file_open(scan->rel, &scan->options, scan->encoding);
	MemoryContextSwitchTo(old);
}

/* Closes the file, if it is open. */
static void
close_file(FileScanState *scan)
{
	if (scan->file == NULL)
		return;
	scan->rejected = compat_count_rejected(scan->file->copy);
	file_close(scan->file);
	scan->file = NULL;
}

/* The scan that opens and closes the file. */
static FileScanState *
file_owner(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	return scan->aggregate == NULL ? scan : aggregate_scan_below(node);
}

/*
 * Gives back what reading has needed, since thousands of partitions may be read
 * after this one.  What cannot be opened again stays open.
 */
void
scan_leave_file(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	FileScanState *owner = file_owner(node);

	scan_close_reader(scan);
	if (owner->file == NULL || !owner->file->is_regular)
		return;
	close_file(owner);
	scan->file = NULL;
	scan->is_begun = false;
}

/* Prepares a scan. */
void
tollfreeBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	FileScanState *scan = palloc0(sizeof(FileScanState));
	List	   *names = list_nth(plan->fdw_private, PLAN_COLUMNS);
	TupleTableSlot *slot;

	scan->rel = node->ss.ss_currentRelation;
	if (scan->rel == NULL)
		scan->rel = ExecOpenScanRelation(node->ss.ps.state,
										 plan_find_scan(node->ss.ps.plan)->scan.scanrelid,
										 eflags);
	scan->options = options_read(RelationGetRelid(scan->rel));
	options_select_columns(&scan->options, names);
	scan->columns = columns_describe(scan->rel, names,
									 boolVal(list_nth(plan->fdw_private,
													  PLAN_COUNTS_ONLY)));
	scan->slow_reason = scan->columns.nfields == 0 ? "no columns" :
		format_unsupported(&scan->options, &scan->layout);
	scan->encoding = format_encoding(&scan->options);
	node->fdw_state = scan;
	if (plan->scan.scanrelid == 0)
		aggregate_scan_begin(node);
	else if (scan->slow_reason == NULL && setting_push_filters)
		push_filter(node);
	scan->selector = select_plan(&scan->columns, scan->filter,
								 scan->options.is_lazy);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (scan->aggregate == NULL)
	{
		scan->can_wait = file_can_wait(&scan->options, scan->encoding);
		if (!scan->can_wait)
			open_file(scan);
		slot_replace(node);
	}

	/* Columns that are not converted are null, as with COPY. */
	slot = node->ss.ss_ScanTupleSlot;
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
}

/* What the settings insist on and this scan does without, or NULL. */
static const char *
find_missing(const FileScanState *scan)
{
	if (scan->slow_reason != NULL)
		return scan->slow_reason;
	if (scan->handover != NULL)
		return scan->handover;
	switch ((RequiredPath) setting_debug_require)
	{
		case REQUIRE_FILTER:
			return scan->filter == NULL ?
				"no condition can be evaluated on batches" : NULL;
		case REQUIRE_AGGREGATE:
			return scan->aggregate == NULL ?
				"nothing is aggregated in the scan" : scan->aggregate->fallback;
		case REQUIRE_PARALLEL:
			return scan->parallel == NULL || scan->parallel->is_whole ?
				"it is not scanned in parallel" : NULL;
		case REQUIRE_NOTHING:
		case REQUIRE_SCAN:
			break;
	}
	return NULL;
}

/* Raises an ERROR if the scan does without what the settings insist on. */
void
scan_check_required(const FileScanState *scan)
{
	const char *missing = setting_debug_require == REQUIRE_NOTHING ?
		NULL : find_missing(scan);

	if (missing != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the scan of foreign table \"%s\" does not take the required fast path",
						RelationGetRelationName(scan->rel)),
				 errdetail("The reason is: %s.", missing),
				 errhint("Reset tollfree_file_fdw.debug_require.")));
}

/*
 * Reads the next batch; false at the end of what this process is to read, and
 * where COPY's parser must go on.
 */
bool
scan_read_batch(FileScanState *scan)
{
	return scan->parallel != NULL ? parallel_next_batch(scan) :
		reader_next_batch(scan->reader);
}

/*
 * Reads the next batch and selects what is to be looked at; false if there is
 * none.
 */
static bool
next_batch(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	FileReader *reader = scan->reader;

	if (!scan_read_batch(scan))
		return false;
	select_rows(scan->selector, reader, &scan->selected);
	InstrCountFiltered1(node, reader->batch->nrows -
						bitmap_count(&scan->selected));
	scan->row = 0;
	return true;
}

/*
 * Does the row in the slot satisfy the conditions taken over?  If not, it is
 * counted, and its values are freed.
 */
static bool
passes_filter(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;

	if (scan->filter_quals == NULL)
		return true;
	econtext->ecxt_scantuple = node->ss.ss_ScanTupleSlot;
	if (ExecQual(scan->filter_quals, econtext))
		return true;
	InstrCountFiltered1(node, 1);
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	ResetExprContext(econtext);
	/* The executor does so for rows that it is given. */
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Puts the reader's next row into the slot; false if it has no more. */
static bool
next_read_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	FileReader *reader = scan->reader;

	for (;;)
	{
		int			nrows = reader->batch == NULL ? 0 : reader->batch->nrows;
		int			row = bitmap_next(&scan->selected, scan->row, nrows);

		if (row == nrows)
		{
			if (!next_batch(node))
				return false;
			continue;
		}
		scan->row = row + 1;
		if (!bitmap_has(&reader->asks, row))
		{
			slot_store_row(node->ss.ss_ScanTupleSlot, reader, row);
			return true;
		}
		reader_load_row(reader, row, node->ss.ss_ScanTupleSlot);
		if (passes_filter(node))
			return true;
	}
}

/* Puts the next row that COPY's parser reads into the slot, if there is one. */
static bool
copy_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	return scan->reader == NULL ? copy_next_row(scan->file, econtext, slot) :
		reader_copy_row(scan->reader, econtext, slot);
}

/*
 * Puts the next row that COPY's parser reads into the slot; false at the end of
 * the file, or of this process's chunk.
 */
static bool
next_copied_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	while (scan->parallel == NULL || parallel_copies_on(scan))
	{
		if (!copy_row(node))
		{
			if (scan->parallel != NULL)
				parallel_check_end(scan);
			break;
		}
		scan_check_required(scan);
		if (passes_filter(node))
			return true;
	}

	/* What the reader has returned must be of the same file. */
	if (scan->reader != NULL)
		reader_verify(scan->reader);
	return false;
}

/* Forgets where and why the reader stopped. */
static void
forget_handover(FileScanState *scan)
{
	if (scan->handover != NULL)
		pfree(scan->handover);
	scan->handover = NULL;
}

/* Lets COPY's parser read on. */
static void
hand_over(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	MemoryContext old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);

	forget_handover(scan);
	scan->handover = reader_hand_over(scan->reader);
	scan->is_copying = true;
	parallel_note_fallback(scan, reader_handover_words(scan->reader));
	MemoryContextSwitchTo(old);
}

/* Begins to read, by a reader if that is possible. */
void
scan_begin_reading(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	FileScanState *owner = file_owner(node);
	MemoryContext old;

	if (scan->is_begun)
		return;
	if (owner->file == NULL)
		open_file(owner);
	check_file(owner);
	scan->file = owner->file;
	old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	scan->is_begun = true;
	scan->is_reopened = false;
	scan->is_copying = !open_reader(scan);
	if (scan->reader != NULL && scan->parallel != NULL)
		parallel_share_source(scan);
	MemoryContextSwitchTo(old);
}

/* Puts the next row into the slot; false after the last one. */
static bool
next_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	scan_begin_reading(node);
	scan_check_required(scan);
	if (scan->reader == NULL && scan->parallel != NULL &&
		!parallel_claim_file(scan))
		return false;
	for (;;)
	{
		if (!scan->is_copying)
		{
			if (next_read_row(node))
				return true;
			if (!scan->reader->hands_over)
				return false;
			hand_over(node);
		}
		if (next_copied_row(node))
			return true;
		if (scan->parallel == NULL || scan->reader == NULL)
			return false;
		scan->is_copying = scan->has_chunk = false;
		scan->reader->hands_over = false;
	}
}

/* The next row, or an empty slot after the last one. */
TupleTableSlot *
tollfreeIterateForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	check_file(scan);
	if (scan->aggregate != NULL)
		return aggregate_scan_next(node);
	if (!scan->is_finished && next_row(node))
		return slot;
	ExecClearTuple(slot);
	if (!scan->is_finished)
		scan_leave_file(node);
	scan->is_finished = true;
	return slot;
}

/*
 * A row that was changed by somebody else is checked again.  PostgreSQL before
 * the minor releases of November 2025 then asks this for the rows of a scan that
 * is not of one table, in any subquery; of such a scan they are all the rows that
 * it has.
 */
bool
tollfreeRecheckForeignScan(ForeignScanState *node, TupleTableSlot *slot)
{
	FileScanState *scan = node->fdw_state;
	MemoryContext old;

	if (scan->aggregate == NULL)
		return true;
	old = MemoryContextSwitchTo(node->ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	slot = aggregate_scan_next(node);
	MemoryContextSwitchTo(old);
	return !TupIsNull(slot);
}

/* Forgets what has been read. */
static void
reset_reading(FileScanState *scan)
{
	scan_close_reader(scan);
	scan->is_begun = scan->is_copying = scan->has_chunk = false;
	scan->is_finished = false;
	scan->encoding = format_encoding(&scan->options);
	forget_handover(scan);
}

/* Starts again, with the file that has the name by now. */
static void
reopen_file(FileScanState *scan)
{
	reset_reading(scan);
	close_file(scan);
	scan->rejected = 0;
	if (!scan->can_wait)
		open_file(scan);
}

/*
 * Starts a scan again.  One that aggregates has the one below open the file: the
 * executor starts that again later, or not at all, and it is done then.
 */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	if (scan->aggregate != NULL)
	{
		aggregate_scan_reset(node);
		reset_reading(scan);
		scan->file = NULL;
		scan = aggregate_scan_below(node);
		reopen_file(scan);
		scan->is_reopened = true;
	}
	else if (scan->is_reopened)
		scan->is_reopened = false;
	else
		reopen_file(scan);
}

/* Ends a scan. */
void
tollfreeEndForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	scan_close_reader(scan);
	if (scan->aggregate != NULL)
	{
		aggregate_scan_end(node);
		return;
	}
	close_file(scan);
	compat_report_rejected(scan->rejected);
}
