/*
 * sample.c
 *	  The sample of a foreign table's rows, read as it arrives.
 *
 * A row is converted only if it is kept.  If more rows come than are wanted,
 * later ones replace others at random.  In the end the rows are put back into
 * the order of the remote table, which ANALYZE computes the correlation from.
 *
 * analyze.c decides which rows are asked for.
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
#include "session/error.h"
#include "session/results.h"
#include "session/session.h"
#include "wire/rows.h"

/*
 * The remote planner takes a sample for a large part of the table and would
 * compile the query, which takes longer than it saves.  So jit is off for the
 * query.  It is on again afterwards, since the transaction may go on.
 */
#define JIT_OFF "SET LOCAL jit = off"
#define JIT_ON "SET LOCAL jit = on"

/* The sample while it is read */
typedef struct SampleState
{
	Session    *session;
	const SamplePlan *plan;
	const char *sql;
	RowReader  *reader;
	MemoryContext tuple_context;	/* of the rows kept */
	MemoryContext context;		/* of everything else */

	List	   *results;		/* of PGresult, received but not yet taken */
	MemoryContextCallback clear;	/* frees results with context */
	bool		at_end;			/* has the last result been received? */

	HeapTuple  *rows;			/* rows kept */
	int			target;			/* rows wanted */
	int			nrows;			/* rows kept, at most target */
	double		seen;			/* rows taken, kept or not */
	double		skip;			/* rows to be skipped; negative if not known */
	ReservoirStateData reservoir;
} SampleState;

/*
 * Converts a row, and appends it or replaces another one.  Its position in the
 * remote table is its ctid, or its number among the rows sent.
 */
static void
keep_row(SampleState *sample, PGresult *res, int row)
{
	MemoryContext old = MemoryContextSwitchTo(sample->tuple_context);
	HeapTuple	tuple = rows_read(sample->reader, res, row);
	int			place = sample->nrows;

	if (place < sample->target)
		sample->nrows++;
	else
	{
		place = (int) (sample->target *
					   sampler_random_fract(&sample->reservoir.randstate));
		heap_freetuple(sample->rows[place]);
	}
	if (!sample->plan->by_hash)
		ItemPointerSet(&tuple->t_self,
					   (BlockNumber) (sample->seen / MaxOffsetNumber),
					   (OffsetNumber) fmod(sample->seen, MaxOffsetNumber) + 1);
	else if (sample->plan->has_parts)
		tuple->t_tableOid = atooid(PQgetvalue(res, row, PQnfields(res) - 1));
	sample->rows[place] = tuple;
	MemoryContextSwitchTo(old);
}

/* Keeps or skips a row, so that all have the same chance to be kept. */
static void
take_row(SampleState *sample, PGresult *res, int row)
{
	if (sample->nrows == sample->target && sample->skip < 0)
		sample->skip = reservoir_get_next_S(&sample->reservoir, sample->seen,
											sample->target);
	if (sample->nrows < sample->target || sample->skip-- <= 0)
		keep_row(sample, res, row);
	sample->seen++;
}

/*
 * Reads one more result; false after the last one.  Whatever happens to the
 * batch, a part of the sample must not be taken for all of it.
 */
static bool
read_result(SampleState *sample)
{
	Session    *session = sample->session;
	MemoryContext old;
	PGresult   *res;

	if (sample->at_end)
		return false;
	error_raise_kept(session);
	if (session->pending.drain_arg != sample)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the sample of a foreign table was discarded while it was read")));
	res = session_result(session);
	if (res == NULL && PQstatus(session->conn) == CONNECTION_OK)
	{
		sample->at_end = true;
		session->pending.drain = NULL;
		session->pending.drain_arg = NULL;
		results_finish(session);
		return false;
	}
	if (!compat_has_rows(res))
		results_report(session, ERROR, res, sample->sql);
	old = MemoryContextSwitchTo(sample->context);
	sample->results = lappend(sample->results, res);
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * PendingWork's drain: receives the rest, so that the session can be used for
 * something else, by a type's input function.
 */
static void
drain_sample(void *arg)
{
	SampleState *sample = arg;

	sample->session->pending.drain = NULL;
	while (read_result(sample))
		;
}

/* Frees the results of libpq, when the context is freed. */
static void
clear_results(void *arg)
{
	SampleState *sample = arg;
	ListCell   *cell;

	foreach(cell, sample->results)
		PQclear(lfirst(cell));
	sample->results = NIL;
}

/* Takes all rows that have been received. */
static void
take_results(SampleState *sample)
{
	while (sample->results != NIL)
	{
		PGresult   *res = linitial(sample->results);

		for (int row = 0; row < PQntuples(res); row++)
			take_row(sample, res, row);
		sample->results = list_delete_first(sample->results);
		PQclear(res);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Reads the answer to a command that has no rows. */
static void
finish_command(Session *session, const char *sql)
{
	PGresult   *res = session_result(session);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		results_report(session, ERROR, res, sql);
	PQclear(res);
	/* The result is followed by the command's end. */
	res = session_result(session);
	if (res != NULL || PQstatus(session->conn) == CONNECTION_BAD)
		results_report(session, ERROR, res, sql);
}

/* Sends the query, with jit off around it if planned so, and reads its rows. */
static void
read_sample(SampleState *sample)
{
	Session    *session = sample->session;
	RemoteCommand commands[] = {
		{.sql = JIT_OFF,.shown = JIT_OFF},
		{.sql = sample->sql,.shown = sample->sql},
		{.sql = JIT_ON,.shown = JIT_ON}
	};

	if (sample->plan->switches_jit)
	{
		session_send(session, commands, lengthof(commands), true);
		finish_command(session, JIT_OFF);
	}
	else
		session_send(session, &commands[1], 1, true);
	compat_set_row_mode(session->conn, COMPAT_ROWS_IN_CHUNK);
	session->pending.drain = drain_sample;
	session->pending.drain_arg = sample;
	while (read_result(sample))
		take_results(sample);
	take_results(sample);
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

/*
 * Reads the sample that the plan asks for into rows; returns the number kept.
 * Sets how many rows the remote server has sent.
 */
int
sample_read(Session *session, Relation rel, const SamplePlan *plan,
			HeapTuple *rows, int target, double *seen)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_postgres_fdw sample",
												  ALLOCSET_DEFAULT_SIZES);
	SampleState *sample = MemoryContextAllocZero(context, sizeof(SampleState));
	List	   *attrs;
	int			nrows;

	sample->session = session;
	sample->plan = plan;
	sample->rows = rows;
	sample->target = target;
	sample->skip = -1;
	sample->tuple_context = CurrentMemoryContext;
	sample->context = context;
	sample->clear.func = clear_results;
	sample->clear.arg = sample;
	MemoryContextRegisterResetCallback(context, &sample->clear);
	reservoir_init_selection_state(&sample->reservoir, target);

	MemoryContextSwitchTo(context);
	sample->sql = deparse_sample(rel, plan, &attrs);
	sample->reader = rows_reader_for_table(rel, attrs,
										   session->remote.same_encoding,
										   context);
	read_sample(sample);
	MemoryContextSwitchTo(sample->tuple_context);

	nrows = sample->nrows;
	*seen = sample->seen;
	qsort(rows, nrows, sizeof(HeapTuple), compare_rows);
	MemoryContextDelete(context);
	return nrows;
}
