/*
 * aggregate_scan.c
 *	  A scan that returns groups instead of rows.
 *
 * The first row is asked for, the file is read to its end, then the groups are
 * returned.  Nothing has been returned before, so whatever is met that vector/
 * cannot do, from an overflow to a record that only COPY's parser can read,
 * makes the scan start over with PostgreSQL's own aggregation, the plan below.
 * That one also raises the errors of arithmetic.  The scan in it opens the file,
 * for both: one that is a pipe can be opened only once.
 *
 * Of several processes each does that for the chunks that it takes, and returns
 * states for PostgreSQL to combine.  If it starts over, the plan below reads
 * the same chunks.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "exec/aggregate_scan.h"
#include "plan/plan.h"
#include "read/slot.h"
#include "translate/inputs.h"

/* The reason for the fallback, in a few words; NULL if there is none. */
static const char *
status_words(AggregateStatus status)
{
	switch (status)
	{
		case AGGREGATE_OK:
			break;
		case AGGREGATE_OVERFLOW:
			return "an overflow";
		case AGGREGATE_NOT_FINITE:
			return "a value that is not finite";
		case AGGREGATE_TOO_LARGE:
			return "groups do not fit into hash memory";
		case AGGREGATE_NO_MEMORY:
			return "out of memory";
	}
	return NULL;
}

/* The scan in the plan below. */
static FileScanState *
find_scan_below(ForeignScanState *node)
{
	PlanState  *below = outerPlanState(node);

	while (!IsA(below, ForeignScanState))
		below = outerPlanState(below);
	return castNode(ForeignScanState, below)->fdw_state;
}

/* Prepares the work; NULL, or why it is left to the plan below. */
static const char *
prepare_work(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ScanInput  *input = &scan->input;
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	AggregateScan *aggregate = scan->aggregate;
	List	   *quals = list_nth(plan->fdw_private, PLAN_QUALS);
	List	   *targets = NIL;
	ListCell   *cell;

	if (input->slow_reason != NULL)
		return input->slow_reason;
	if (!inputs_are_repeatable(input->rel, &input->columns))
		return "a column whose input function or CHECK is volatile";
	if (input->options.errors.verbosity == TELL_EACH)
		return "log_verbosity, which tells of each row once";
	aggregate->context.columns = &input->columns;
	aggregate->context.encoding = input->layout.dialect.encoding;
	aggregate->context.relid = intVal(list_nth(plan->fdw_private, PLAN_VARNO));
	scan->filter = quals_push(&aggregate->context, quals, &scan->npushed);
	if (scan->npushed < list_length(quals))
		return "an unsupported condition";

	/* Unlike what is private, the target list has been renumbered. */
	aggregate->context.relid = plan_find_scan(&plan->scan.plan)->scan.scanrelid;
	foreach(cell, plan->fdw_scan_tlist)
		targets = lappend(targets, lfirst_node(TargetEntry, cell)->expr);
	return aggregates_translate(&aggregate->context, targets,
								&aggregate->work);
}

/* Finds out which values the work needs; of all others only that they are valid. */
static void
prepare_values(FileScanState *scan)
{
	AggregateScan *aggregate = scan->aggregate;

	aggregate->kept = palloc0(sizeof(bool) *
							  Max(1, scan->input.columns.ncolumns));
	aggregates_find_values(&aggregate->work, aggregate->kept);
	if (scan->filter != NULL)
		filter_columns(scan->filter, aggregate->kept);
	aggregate->may_overflow = aggregates_may_overflow(&aggregate->work);
}

/* Enters a phase, or leaves the work to the plan below for that reason. */
static void
enter_phase(AggregateScan *aggregate, AggregatePhase phase,
			const char *fallback)
{
	aggregate->phase = fallback == NULL ? phase : AGGREGATE_BELOW;
	aggregate->fallback = fallback;
}

/* Is nothing asked but how many rows there are? */
static bool
counts_rows(const AggregateWork *work)
{
	for (int i = 0; i < work->nspecs; i++)
	{
		if (work->specs[i].kind != AGGREGATE_COUNT_ROWS ||
			work->specs[i].filter != NULL)
			return false;
	}
	return work->nkeys == 0;
}

/* Prepares the work; what is not possible is left to the plan below. */
void
aggregate_scan_begin(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	scan->aggregate = palloc0(sizeof(AggregateScan));
	scan->aggregate->batch_memory =
		AllocSetContextCreate(CurrentMemoryContext,
							  "tollfree_file_fdw batch",
							  ALLOCSET_START_SMALL_SIZES);
	scan->aggregate->row_memory =
		AllocSetContextCreate(CurrentMemoryContext, "tollfree_file_fdw row",
							  ALLOCSET_DEFAULT_SIZES);
	scan->aggregate->below = find_scan_below(node);
	scan->input.owner = &scan->aggregate->below->input;
	scan->share.keeps_chunks = scan->files.keeps_taken = true;
	enter_phase(scan->aggregate, AGGREGATE_PENDING, prepare_work(node));
	if (scan->aggregate->phase == AGGREGATE_PENDING)
		prepare_values(scan);
	scan->kept.index.counts_rows = counts_rows(&scan->aggregate->work);
	scan->share.counts_rows = scan->kept.index.counts_rows;
}

/* Takes in the selected rows in [from, to) of the present batch. */
static const char *
add_rows(FileScanState *scan, int from, int to)
{
	const RowBatch *batch = scan->input.batches->batch;
	RowBitmap	range = scan->selected;

	if (from == to)
		return NULL;
	for (int word = 0; word < bitmap_words(batch->nrows); word++)
	{
		int			first = word * 64;

		if (from >= first + 64 || to <= first)
			range.words[word] = 0;
		else
		{
			if (from > first)
				range.words[word] &= ~(uint64) 0 << (from - first);
			if (to < first + 64)
				range.words[word] &= ((uint64) 1 << (to - first)) - 1;
		}
	}
	return status_words(aggregate_add(scan->aggregate->aggregation, batch,
									  &range));
}

/*
 * Has PostgreSQL convert the unresolved values of a row.  Memory is used again with
 * each row: as much as a batch needs would go back to the system with each batch, and
 * be taken from it anew.
 */
static RowOutcome
resolve_row(FileScanState *scan, int row)
{
	AggregateScan *aggregate = scan->aggregate;
	MemoryContext old = MemoryContextSwitchTo(aggregate->row_memory);
	RowOutcome	outcome = batch_resolve_row(scan->input.batches, row,
											aggregate->kept,
											aggregate->batch_memory);

	MemoryContextSwitchTo(old);
	MemoryContextReset(aggregate->row_memory);
	return outcome;
}

/*
 * Takes in the unresolved values of a row of the present batch: it is selected if it passes
 * the filter and has not been left out, as those before it that the set has.
 */
static const char *
add_open_row(FileScanState *scan, int row, RowBitmap *rejected)
{
	int			word = row / 64;
	RowOutcome	outcome = resolve_row(scan, row);

	if (outcome == ROW_UNFIT)
		return "a value that is not finite";
	if (outcome == ROW_REJECTED)
		bitmap_add(rejected, row);
	if (scan->filter != NULL)
		filter_run(scan->filter, scan->input.batches->batch, word, word + 1,
				   &scan->selected);
	scan->selected.words[word] &= ~rejected->words[word];
	return NULL;
}

/*
 * Takes in the present batch.  Values that PostgreSQL has to be asked for are
 * asked for in the order of rows.  If the arithmetic can raise an ERROR, too, all
 * rows before have been taken in: so what fails first is what comes first in the
 * file.
 */
static const char *
add_batch(FileScanState *scan)
{
	BatchSource *batches = scan->input.batches;
	RowBatch   *batch = batches->batch;
	RowBitmap	rejected;
	const char *fallback;
	int			from = 0;

	bitmap_clear(&rejected);
	MemoryContextReset(scan->aggregate->batch_memory);
	select_rows(scan_selector(scan), scan->input.batches, &scan->selected);
	select_rest(scan_selector(scan), scan->input.batches, &scan->selected);
	for (int row = bitmap_next(&batches->unresolved, 0, batch->nrows);
		 row < batch->nrows;
		 row = bitmap_next(&batches->unresolved, row + 1, batch->nrows))
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->aggregate->may_overflow)
		{
			fallback = add_rows(scan, from, row);
			if (fallback != NULL)
				return fallback;
			from = row;
		}
		fallback = add_open_row(scan, row, &rejected);
		if (fallback != NULL)
			return fallback;
	}
	return add_rows(scan, from, batch->nrows);
}

/* Takes in the rows of blocks that are not read: all that is asked is how many. */
static const char *
add_counted_rows(FileScanState *scan)
{
	uint64		left = counter_take(&scan->input.ranges->counted);
	const char *fallback = NULL;

	while (left > 0 && fallback == NULL)
	{
		RowBatch	batch = {.nrows = Min(left, BATCH_ROWS)};
		RowBitmap	all;

		bitmap_fill(&all, batch.nrows);
		fallback = status_words(aggregate_add(scan->aggregate->aggregation,
											  &batch, &all));
		left -= batch.nrows;
	}
	return fallback;
}

/* Reads all that this process is to read.  Returns NULL, or the reason for the fallback. */
static const char *
read_all(FileScanState *scan)
{
	AggregateScan *aggregate = scan->aggregate;
	ScanInput  *input = &scan->input;
	const char *unsupported;

	if (input->slow_reason != NULL)
		return input->slow_reason;
	aggregate->aggregation = aggregates_open(&aggregate->context,
											 &aggregate->work, &unsupported);
	if (aggregate->aggregation == NULL)
		return unsupported;
	while (input_next_batch(input))
	{
		const char *fallback = add_batch(scan);

		if (fallback != NULL)
			return fallback;
	}
	if (input->phase == INPUT_STOPPED)
		return input_start_over(input);
	/* One of many files cannot be read by a reader. */
	if (input->phase == INPUT_COPYING)
		return input->slow_reason;
	return add_counted_rows(scan);
}

static void
forget_groups(AggregateScan *aggregate)
{
	if (aggregate->aggregation != NULL)
		aggregate_close(aggregate->aggregation);
	aggregate->aggregation = NULL;
}

/*
 * Does the work, or leaves it to the plan below, which has groups of its own for
 * the same memory.
 */
static void
aggregate_file(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	AggregateScan *aggregate = scan->aggregate;
	ScanInput  *input = &scan->input;
	MemoryContext old = MemoryContextSwitchTo(input->context);

	if (!input_is_begun(input))
		sources_begin(scan, false);
	enter_phase(aggregate, AGGREGATE_GROUPS, read_all(scan));
	MemoryContextSwitchTo(old);
	if (aggregate->phase == AGGREGATE_BELOW)
	{
		forget_groups(aggregate);
		MemoryContextReset(aggregate->batch_memory);
		parallel_note_fallback(&scan->share,
							   input->phase == INPUT_STOPPED ?
							   input_stop_words(input) :
							   aggregate->fallback);
	}
	aggregate->group = 0;
	input_close_reader(input);
	if (aggregate->phase == AGGREGATE_BELOW)
		input_forget_rejected(input);
	if (aggregate->phase == AGGREGATE_GROUPS)
		input_leave(input);
	input->file = NULL;
}

/* The next group that vector/ has computed; none is kept after the last one. */
static TupleTableSlot *
aggregate_next_group(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	AggregateScan *aggregate = scan->aggregate;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (aggregate->group == aggregate_ngroups(aggregate->aggregation))
	{
		forget_groups(aggregate);
		aggregate->phase = AGGREGATE_FINISHED;
		return slot;
	}
	for (int i = 0; i < aggregate->work.ntargets; i++)
		slot->tts_values[i] = aggregates_result(aggregate->aggregation,
												&aggregate->context,
												&aggregate->work,
												aggregate->group, i,
												&slot->tts_isnull[i]);
	aggregate->group++;
	return ExecStoreVirtualTuple(slot);
}

/* The next group of the plan below. */
static TupleTableSlot *
aggregate_next_outer_group(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	FileScanState *below = scan->aggregate->below;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	TupleTableSlot *outer;
	MemoryContext old;

	if (scan->share.file != NULL && below->share.file == NULL)
	{
		parallel_pass_down(&scan->share, &below->share);
		files_pass_down(&scan->files, &below->files);
	}
	/* A node may keep what it allocates; this one's memory is short. */
	old = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
	outer = ExecProcNode(outerPlanState(node));
	MemoryContextSwitchTo(old);
	return TupIsNull(outer) ? ExecClearTuple(slot) :
		slot_store_values(slot, outer);
}

/*
 * Does the work if it is still to be done; false if it was not.  Afterwards there
 * are groups, or it is known why the plan below has to make them.
 */
bool
aggregate_scan_work(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	if (scan->aggregate->phase != AGGREGATE_PENDING)
		return false;
	aggregate_file(node);
	return true;
}

/* The next group once the work is done, or an empty slot after the last one. */
TupleTableSlot *
aggregate_scan_next(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	Assert(scan->aggregate->phase != AGGREGATE_PENDING);
	switch (scan->aggregate->phase)
	{
		case AGGREGATE_GROUPS:
			return aggregate_next_group(node);
		case AGGREGATE_BELOW:
			return aggregate_next_outer_group(node);
		case AGGREGATE_PENDING:
		case AGGREGATE_FINISHED:
			break;
	}
	return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}

/*
 * Makes all nodes below start over, when they are executed next.  PostgreSQL has
 * a node keep what it has, such as a hash table of groups, unless a parameter of
 * the node below it has changed.  No parameter of the query says that chunks are
 * dealt anew, so here one changes that nobody else has.
 */
static void
restart_below(ForeignScanState *node)
{
	EState	   *estate = node->ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	int			param = list_length(estate->es_plannedstmt->paramExecTypes);

	for (PlanState *below = outerPlanState(outerPlanState(node));
		 below != NULL; below = outerPlanState(below))
		below->chgParam = bms_add_member(below->chgParam, param);
	MemoryContextSwitchTo(old);
}

/*
 * Forgets all groups, and which chunks were taken.  Why the plan below does the
 * work remains so.  That one keeps groups of all rows, as it does with file_fdw,
 * but not those of the rows that were this process's share.
 */
void
aggregate_scan_reset(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	FileScanState *below = scan->aggregate->below;

	forget_groups(scan->aggregate);
	if (scan->aggregate->phase != AGGREGATE_BELOW)
		scan->aggregate->phase = AGGREGATE_PENDING;
	if (scan->share.file == NULL)
		return;
	parallel_forget_chunks(&scan->share);
	parallel_forget_chunks(&below->share);
	files_forget(&scan->files);
	files_forget(&below->files);
	below->share.file = NULL;
	restart_below(node);
}

/* Frees the groups. */
void
aggregate_scan_end(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	forget_groups(scan->aggregate);
}
