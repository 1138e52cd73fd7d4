/*
 * sample.c
 *	  The sample of a foreign table's rows, read as it arrives.
 *
 * A row is converted only if it is kept.  If more rows arrive than the
 * target, later ones replace others at random.  In the end the rows are put
 * back into the order of the remote table, which ANALYZE computes the
 * correlation from.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"

#include "analyze/analyze.h"
#include "base/compat.h"
#include "session/reader.h"
#include "session/results.h"
#include "session/session.h"
#include "wire/rows.h"

/*
 * The remote planner takes a sample for a large part of the table.  So it
 * would compile the query, which takes longer than it saves.  The transaction
 * may continue, so jit is switched on again.
 */
#define JIT_OFF "SET LOCAL jit = off"
#define JIT_ON "SET LOCAL jit = on"

/* How a sample is read */
typedef struct SampleState
{
	Sample	   *sample;
	Session    *session;
	const char *sql;
	RowReader  *reader;
	MemoryContext tuple_context;	/* of the rows kept */
	MemoryContext context;		/* of everything else */

	List	   *results;		/* of PGresult, received but not yet taken */
	MemoryContextCallback clear;	/* frees results with context */
	bool		at_end;			/* has the last result been received? */

	double		skip;			/* rows to be skipped; negative if not known */
	ReservoirStateData reservoir;
} SampleState;

/*
 * Converts a row, and appends it or replaces another one.  Its position in the
 * remote table is its ctid, or its number among the rows sent.
 */
static void
keep_row(SampleState *state, PGresult *res, int row)
{
	Sample	   *sample = state->sample;
	MemoryContext old = MemoryContextSwitchTo(state->tuple_context);
	HeapTuple	tuple = rows_read(state->reader, res, row);
	int			place = sample->nrows;

	if (place < sample->target)
		sample->nrows++;
	else
	{
		place = (int) (sample->target *
					   sampler_random_fract(&state->reservoir.randstate));
		heap_freetuple(sample->rows[place]);
	}
	if (!sample->plan.by_hash)
		ItemPointerSet(&tuple->t_self,
					   (BlockNumber) (sample->seen / MaxOffsetNumber),
					   (OffsetNumber) fmod(sample->seen, MaxOffsetNumber) + 1);
	else if (sample->plan.has_parts && PQnfields(res) > 0)
		tuple->t_tableOid = atooid(PQgetvalue(res, row, PQnfields(res) - 1));
	sample->rows[place] = tuple;
	MemoryContextSwitchTo(old);
}

/* Keeps or skips a row, each with the same probability. */
static void
take_row(SampleState *state, PGresult *res, int row)
{
	Sample	   *sample = state->sample;

	if (sample->nrows == sample->target && state->skip < 0)
		state->skip = reservoir_get_next_S(&state->reservoir, sample->seen,
										   sample->target);
	if (sample->nrows < sample->target || state->skip-- <= 0)
		keep_row(state, res, row);
	sample->seen++;
}

/*
 * Reads one more result; false after the last one. Raises an ERROR rather than
 * return an incomplete sample.
 */
static bool
read_result(SampleState *state)
{
	Session    *session = state->session;
	MemoryContext old;
	PGresult   *res;

	if (state->at_end)
		return false;
	error_raise_kept(session);
	if (!reader_is(session, state))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the sample of a foreign table was discarded while it was read")));
	res = session_result(session);
	if (res == NULL && PQstatus(session->conn) == CONNECTION_OK)
	{
		state->at_end = true;
		reader_release(session);
		results_finish(session);
		return false;
	}
	if (!compat_has_rows(res))
		results_report(session, ERROR, res, state->sql);
	old = MemoryContextSwitchTo(state->context);
	state->results = lappend(state->results, res);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * PendingWork's drain: receives all remaining rows, so that the session can be
 * used otherwise, as by a type's input function.
 */
static void
drain_sample(void *arg)
{
	while (read_result(arg))
		;
}

/* Frees the results of libpq, when the context is freed. */
static void
clear_results(void *arg)
{
	SampleState *state = arg;
	ListCell   *cell;

	foreach(cell, state->results)
		PQclear(lfirst(cell));
}

/* Takes all rows that have been received. */
static void
take_results(SampleState *state)
{
	while (state->results != NIL)
	{
		PGresult   *res = linitial(state->results);

		for (int row = 0; row < PQntuples(res); row++)
			take_row(state, res, row);
		state->results = list_delete_first(state->results);
		PQclear(res);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Sends the query, with jit off around it if planned so, and reads its rows. */
static void
read_sample(SampleState *state)
{
	Session    *session = state->session;
	RemoteCommand commands[] = {
		{.sql = JIT_OFF,.shown = JIT_OFF},
		{.sql = state->sql,.shown = state->sql},
		{.sql = JIT_ON,.shown = JIT_ON}
	};

	if (state->sample->plan.switches_jit)
	{
		session_send(session, commands, lengthof(commands), true);
		session_finish_command(session, JIT_OFF);
	}
	else
		session_send(session, &commands[1], 1, true);
	compat_set_row_mode(session->conn, COMPAT_ROWS_IN_CHUNK);
	reader_claim(session, drain_sample, state);
	while (read_result(state))
		take_results(state);
	take_results(state);
}

/* Orders rows by position; tables by OID, as a local ANALYZE does. */
static int
compare_rows(const void *a, const void *b)
{
	HeapTuple	left = *(const HeapTuple *) a;
	HeapTuple	right = *(const HeapTuple *) b;

	if (left->t_tableOid != right->t_tableOid)
		return left->t_tableOid < right->t_tableOid ? -1 : 1;
	return ItemPointerCompare(&left->t_self, &right->t_self);
}

/* Reads the planned sample, in place of an earlier one. */
void
sample_read(Sample *sample, Session *session)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_postgres_fdw sample",
												  ALLOCSET_DEFAULT_SIZES);
	SampleState *state = MemoryContextAllocZero(context, sizeof(SampleState));
	List	   *attrs;

	sample->nrows = 0;
	sample->seen = 0;
	state->sample = sample;
	state->session = session;
	state->skip = -1;
	state->tuple_context = CurrentMemoryContext;
	state->context = context;
	state->clear.func = clear_results;
	state->clear.arg = state;
	MemoryContextRegisterResetCallback(context, &state->clear);
	reservoir_init_selection_state(&state->reservoir, sample->target);

	MemoryContextSwitchTo(context);
	state->sql = deparse_sample(sample->rel, &sample->plan, &attrs);
	state->reader = rows_reader_for_table(sample->rel, attrs,
										  session->remote.same_encoding,
										  context);
	read_sample(state);
	MemoryContextSwitchTo(state->tuple_context);
	qsort(sample->rows, sample->nrows, sizeof(HeapTuple), compare_rows);
	MemoryContextDelete(context);
}
