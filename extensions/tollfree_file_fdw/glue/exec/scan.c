/*
 * scan.c
 *	  Scanning a file row by row for the executor.
 *
 * Rows are returned, and errors raised, in the order of the file, as with
 * file_fdw: what a batch holds after the row that was returned last has not
 * been looked at yet.  A row with values that only PostgreSQL's input functions
 * can tell is always looked at, even if the filter has no use for it: it might
 * be an error.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/guc.h"
#include "exec/aggregate_scan.h"
#include "plan/callbacks.h"
#include "plan/plan.h"
#include "read/computed.h"
#include "read/slot.h"
#include "translate/quals.h"

/* Takes conditions over from the executor. */
static void
push_filter(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	List	   *quals = plan->scan.plan.qual;
	List	   *subplans = node->ss.ps.subPlan;
	QualContext context = {
		.columns = &scan->input.columns,
		.relid = plan->scan.scanrelid,
		.encoding = scan->input.layout.dialect.encoding,
		.params = node->ss.ps.state->es_param_list_info
	};

	scan->filter = quals_push(&context, quals, &scan->npushed);
	if (scan->filter == NULL)
		return;
	scan->filter_quals =
		ExecInitQual(list_truncate(list_copy(quals), scan->npushed),
					 &node->ss.ps);
	/* The executor has noted the subqueries of all conditions already. */
	node->ss.ps.subPlan = NIL;
	node->ss.ps.qual = ExecInitQual(list_copy_tail(quals, scan->npushed),
									&node->ss.ps);
	node->ss.ps.subPlan = subplans;
}

/*
 * Prepares the columns of a table with many files that are not in them, and the
 * conditions on these.
 */
static void
prepare_files(ForeignScanState *node)
{
	ScanInput  *input = &((FileScanState *) node->fdw_state)->input;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);

	input->computed = computed_open(input->rel, &input->options,
									list_nth(plan->fdw_private, PLAN_COMPUTED));
	if (plan->fdw_exprs == NIL)
		return;
	input->file_conditions = ExecInitQual(plan->fdw_exprs, &node->ss.ps);
	input->file_slot = ExecInitExtraTupleSlot(node->ss.ps.state,
											  RelationGetDescr(input->rel),
											  &TTSOpsVirtual);
	input->econtext = node->ss.ps.ps_ExprContext;
}

/* Prepares a scan. */
void
tollfreeBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	FileScanState *scan = palloc0(sizeof(FileScanState));
	ScanInput  *input = &scan->input;
	TupleTableSlot *slot;

	plan_check_build(plan);
	input->rel = node->ss.ss_currentRelation;
	if (input->rel == NULL)
		input->rel = ExecOpenScanRelation(node->ss.ps.state,
										  plan_find_scan(node->ss.ps.plan)->scan.scanrelid,
										  eflags);
	input_prepare(input, list_nth(plan->fdw_private, PLAN_COLUMNS),
				  boolVal(list_nth(plan->fdw_private, PLAN_COUNTS_ONLY)));
	index_use_prepare(&scan->kept.index, &input->options);
	node->fdw_state = scan;
	if (plan->scan.scanrelid != 0 && input_has_many(input))
		prepare_files(node);
	if (plan->scan.scanrelid == 0)
		aggregate_scan_begin(node);
	else if (input->slow_reason == NULL && setting_push_filters)
		push_filter(node);
	scan->kept.index.filter = scan->filter;
	column_cache_prepare(&scan->kept.cache, &scan->kept.index, &input->options,
						 &input->columns);
	scan->cached_selector = select_plan(&scan->kept.cache.columns, scan->filter,
										SELECT_BY_TESTS);
	scan->selector = select_plan(&input->columns, scan->filter,
								 scan_text_mode(scan));
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	if (scan->aggregate == NULL)
	{
		input_open_early(input);
		slot_replace(node);
	}

	/* Columns that are not converted are null, as with COPY. */
	slot = node->ss.ss_ScanTupleSlot;
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
}

/* Why a path that the settings require is not taken; NULL if it is. */
static const char *
find_missing(const FileScanState *scan)
{
	const ScanInput *input = &scan->input;

	if (input->slow_reason != NULL)
		return input->slow_reason;
	if (input->handover != NULL)
		return input->handover;
	switch ((RequiredPath) setting_debug_require)
	{
		case REQUIRE_FILTER:
			return scan->filter == NULL ?
				"no condition can be evaluated on batches" : NULL;
		case REQUIRE_AGGREGATE:
			return scan->aggregate == NULL ?
				"nothing is aggregated in the scan" : scan->aggregate->fallback;
		case REQUIRE_PARALLEL:
			return scan->share.file == NULL || scan->share.file->is_whole ?
				"it is not scanned in parallel" : NULL;
		case REQUIRE_RECORD_INDEX:
			return scan_uses_index(scan) ? NULL :
				scan->kept.index.unused_reason;
		case REQUIRE_COLUMN_CACHE:
			return scan->kept.cache.unused_reason;
		case REQUIRE_JOIN_FILTER:
			return scan->joins == NULL ?
				"no hash join above drops rows by their keys" :
				join_filters_unused_reason(scan->joins);
		case REQUIRE_NOTHING:
		case REQUIRE_SCAN:
			break;
	}
	return NULL;
}

/* Raises an ERROR if a path that the settings require is not taken. */
static void
check_required(const FileScanState *scan)
{
	const char *missing = setting_debug_require == REQUIRE_NOTHING ?
		NULL : find_missing(scan);

	if (missing != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the scan of foreign table \"%s\" does not take the required fast path",
						RelationGetRelationName(scan->input.rel)),
				 errdetail("The reason is: %s.", missing),
				 errhint("Reset tollfree_file_fdw.debug_require.")));
}

/*
 * Drops rows of the batch that a hash join above would drop, from scan->row on.
 * Once more is known of the joins, so are blocks of a record index.
 */
static void
drop_unjoined(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	RangeSource *ranges = scan->input.ranges;
	JoinFilters *joins = scan->joins;
	int			nwaiting = joins->nwaiting;
	bool		narrows = ranges->methods->narrow != NULL;
	int			ndropped;

	if (narrows)
		join_filters_want_bounds(joins);
	ndropped = join_filters_apply(joins, scan->input.batches, scan->row,
								  &scan->selected);
	if (narrows && joins->nwaiting < nwaiting)
		ranges->methods->narrow(ranges, joins->bounds);

	/* No other node of a foreign scan counts by the second counter. */
	InstrCountFiltered2(node, ndropped);
}

/*
 * Reads the next batch and selects what is to be looked at; false if there is
 * none.
 */
static bool
scan_next_batch(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	bool		has_batch = input_next_batch(&scan->input);
	RowSelector *selector;
	int			npassed;

	InstrCountFiltered1(node, counter_take(&scan->kept.index.skipped_rows));
	InstrCountFiltered2(node, counter_take(&scan->kept.index.unjoined_rows));
	if (!has_batch)
		return false;
	selector = scan_selector(scan);
	select_rows(selector, scan->input.batches, &scan->selected);
	npassed = range_take_passed(scan->input.ranges,
								scan->input.batches->batch->nrows);
	for (int row = 0; row < npassed; row++)
		bitmap_remove(&scan->selected, row);
	InstrCountFiltered1(node, scan->input.batches->batch->nrows - npassed -
						bitmap_count(&scan->selected));
	scan->row = 0;
	if (scan->joins != NULL)
	{
		select_keys(selector, scan->input.batches, &scan->selected);
		drop_unjoined(node);
	}
	select_rest(selector, scan->input.batches, &scan->selected);
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

/* Frees what was made of a row that is left out. */
static void
leave_out(ForeignScanState *node)
{
	ResetExprContext(node->ss.ps.ps_ExprContext);
	CHECK_FOR_INTERRUPTS();
}

/* Adds the values to the row in the slot, of that line, that are not in its file. */
static inline void
add_computed(ForeignScanState *node, int64 line)
{
	const FileScanState *scan = node->fdw_state;

	computed_store(scan->input.computed, node->ss.ss_ScanTupleSlot, line);
}

/* The line of a row of the present batch, if that is asked for. */
static int64
find_line(const FileScanState *scan, int row)
{
	BatchSource *batches = scan->input.batches;

	return scan->input.computed->has_lines ?
		batches->methods->line(batches, row) : 0;
}

/* Puts the next row of a batch into the slot; false where batches end. */
static bool
scan_next_read_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	for (;;)
	{
		BatchSource *batches = scan->input.batches;
		int			nrows = batches->batch == NULL ? 0 : batches->batch->nrows;
		int			row;

		/*
		 * In front of the first row scan_next_batch has done so for all
		 * joins.
		 */
		if (scan->joins != NULL && scan->joins->nwaiting > 0 &&
			scan->row > 0 && scan->row < nrows)
			drop_unjoined(node);
		row = bitmap_next(&scan->selected, scan->row, nrows);
		if (row == nrows)
		{
			if (!scan_next_batch(node))
				return false;
			continue;
		}
		scan->row = row + 1;
		if (!bitmap_has(&batches->unresolved, row))
		{
			slot_store_row(node->ss.ss_ScanTupleSlot, batches, row);
			if (scan->input.computed != NULL)
				add_computed(node, find_line(scan, row));
			return true;
		}
		if (!batch_load_row(batches, row, node->ss.ss_ScanTupleSlot))
		{
			leave_out(node);
			continue;
		}
		if (scan->input.computed != NULL)
			add_computed(node, find_line(scan, row));
		if (passes_filter(node))
			return true;
	}
}

/*
 * Puts the next row that COPY's parser reads into the slot; false at the end of
 * the file, or of this process's range.
 */
static bool
scan_next_copied_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	while (input_copy_row(&scan->input, node->ss.ps.ps_ExprContext,
						  node->ss.ss_ScanTupleSlot))
	{
		check_required(scan);
		if (scan->input.computed != NULL)
			add_computed(node, copy_line(scan->input.file));
		if (passes_filter(node))
			return true;
	}
	return false;
}

/* Puts the next row into the slot; false after the last one. */
static bool
scan_next_row(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ScanInput  *input = &scan->input;

	if (!input_is_begun(input))
	{
		/* A join above tells more of rows that it drops the more is known. */
		sources_begin(scan, scan->joins == NULL &&
					  setting_debug_require == REQUIRE_NOTHING);
		scan->row = 0;
		bitmap_clear(&scan->selected);
	}
	check_required(scan);
	for (;;)
	{
		switch (input->phase)
		{
			case INPUT_WAITING:
				input_take_range(input);
				break;
			case INPUT_READING:
				if (scan_next_read_row(node))
					return true;
				break;
			case INPUT_STOPPED:
				parallel_note_fallback(&scan->share, input_stop_words(input));
				input_hand_over(input);
				break;
			case INPUT_COPYING:
				if (scan_next_copied_row(node))
					return true;
				break;
			case INPUT_FINISHED:
				check_required(scan);
				return false;
			case INPUT_CLOSED:
			case INPUT_REOPENED:
				return false;
		}
	}
}

/* The next group, or an empty slot after the last one. */
static TupleTableSlot *
scan_next_group(ForeignScanState *node)
{
	if (aggregate_scan_work(node))
		check_required(node->fdw_state);
	return aggregate_scan_next(node);
}

/* The next row, or an empty slot after the last one. */
TupleTableSlot *
tollfreeIterateForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	input_check_file(&scan->input);
	if (scan->aggregate != NULL)
		return scan_next_group(node);
	if (scan->input.phase == INPUT_FINISHED)
		return ExecClearTuple(slot);
	if (scan_next_row(node))
		return slot;
	ExecClearTuple(slot);
	input_leave(&scan->input);
	if (scan->joins != NULL)
		join_filters_leave(scan->joins);
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
	slot = scan_next_group(node);
	MemoryContextSwitchTo(old);
	return !TupIsNull(slot);
}

/*
 * Starts a scan again.  One that aggregates has the one below open the file: the
 * executor starts that again later, or not at all, and it is done then.
 */
void
tollfreeReScanForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ScanInput  *input = &scan->input;

	if (scan->joins != NULL)
		join_filters_reset(scan->joins);
	if (scan->aggregate != NULL)
	{
		aggregate_scan_reset(node);
		input_reset(input);
		input->file = NULL;
		input_reopen(input->owner);
		input->owner->phase = INPUT_REOPENED;
	}
	else if (input->phase == INPUT_REOPENED)
		input->phase = INPUT_CLOSED;
	else
		input_reopen(input);
}

/* Ends a scan. */
void
tollfreeEndForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	input_end(&scan->input);
	if (scan->aggregate != NULL)
		aggregate_scan_end(node);
}
