/*
 * analyze.c
 *	  Sampling a file for ANALYZE.
 *
 * The whole file is read by COPY's parser, and rows are kept by Vitter's
 * algorithm, as for PostgreSQL's own tables.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/tupdesc.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"

#include "callbacks.h"
#include "compat.h"
#include "copy.h"

/* Keeps a random sample of up to targrows rows of those offered. */
typedef struct Reservoir
{
	HeapTuple  *rows;
	int			targrows;
	int			numrows;
	double		seen;			/* rows offered */
	double		skip;			/* how many to pass over; < 0 if not known */
	ReservoirStateData state;
} Reservoir;

/* Offers the row in the slot to the sample. */
static void
reservoir_offer(Reservoir *sample, TupleTableSlot *slot)
{
	if (sample->numrows < sample->targrows)
		sample->rows[sample->numrows++] = ExecCopySlotHeapTuple(slot);
	else
	{
		if (sample->skip < 0)
			sample->skip = reservoir_get_next_S(&sample->state, sample->seen,
												sample->targrows);
		if (sample->skip <= 0)
		{
			int			k = (int) (sample->targrows *
								   sampler_random_fract(&sample->state.randstate));

			heap_freetuple(sample->rows[k]);
			sample->rows[k] = ExecCopySlotHeapTuple(slot);
		}
		sample->skip -= 1;
	}
	sample->seen += 1;
}

/* Takes the sample; see AcquireSampleRowsFunc. */
static int
acquire_sample_rows(Relation rel, int elevel, HeapTuple *rows, int targrows,
					double *totalrows, double *totaldeadrows)
{
	FileOptions options = options_read(RelationGetRelid(rel));
	Reservoir	sample = {.rows = rows,.targrows = targrows,.skip = -1};
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
													&TTSOpsVirtual);
	ExprContext *econtext = CreateStandaloneExprContext();
	CopyFromState copy = copy_begin(rel, &options, NIL);
	MemoryContext caller = CurrentMemoryContext;

	reservoir_init_selection_state(&sample.state, targrows);
	for (;;)
	{
		bool		found;

		compat_vacuum_delay_point();
		ResetExprContext(econtext);
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		found = copy_next_row(copy, econtext, slot);
		MemoryContextSwitchTo(caller);
		if (!found)
			break;
		reservoir_offer(&sample, slot);
	}
	compat_report_rejected(copy);
	EndCopyFrom(copy);
	FreeExprContext(econtext, true);
	ExecDropSingleTupleTableSlot(slot);

	*totalrows = sample.seen;
	*totaldeadrows = 0;
	ereport(elevel,
			(errmsg("\"%s\": file contains %.0f rows; %d rows in sample",
					RelationGetRelationName(rel), sample.seen,
					sample.numrows)));
	return sample.numrows;
}

/* Says how to sample the table, and how large it is; false for a program. */
bool
tollfreeAnalyzeForeignTable(Relation rel, AcquireSampleRowsFunc *func,
							BlockNumber *totalpages)
{
	FileOptions options = options_read(RelationGetRelid(rel));
	struct stat status;

	if (options.is_program)
		return false;
	if (stat(options.filename, &status) < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", options.filename)));
	*totalpages = Max(1, (status.st_size + (BLCKSZ - 1)) / BLCKSZ);
	*func = acquire_sample_rows;
	return true;
}
