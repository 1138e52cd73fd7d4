/*
 * run.c
 *	  Hooking into each run of the executor.
 *
 * A run returns all rows of the query, or only the next ones, as for a
 * cursor.  At the end of a run of a modifying statement the finisher sends the
 * rest of the rows.
 *
 * A row that is routed to a partition can be what has this library loaded.  The
 * run that this happens in does not go through the hook.  The end of its input
 * is watched instead.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "tcop/pquery.h"

#include "base/compat.h"
#include "base/run.h"

static ExecutorRun_hook_type next_run_hook = NULL;
static void (*finish_run) (QueryDesc *queryDesc) = NULL;

/* The input of a statement that is finished behind its last row */
typedef struct WatchedInput
{
	PlanState  *input;			/* NULL if none is watched */
	ExecProcNodeMtd next;		/* returns its rows */
	void		(*finish) (const EState *estate);
	MemoryContextCallback forget;
} WatchedInput;

static WatchedInput watched;

/* A run */
typedef struct Run
{
	const QueryDesc *query;
	bool		is_forward;
	uint64		count;			/* rows that it is to return; 0 for all */
} Run;

/* The innermost run; its query is NULL if there is none */
static Run	innermost;

/* The hook: runs the executor, and finishes what a statement writes. */
static void
run_executor(COMPAT_EXECUTOR_RUN_PARAMS)
{
	Run			outer = innermost;

	innermost.query = queryDesc;
	innermost.is_forward = ScanDirectionIsForward(direction);
	innermost.count = count;
	PG_TRY();
	{
		if (next_run_hook != NULL)
			next_run_hook(COMPAT_EXECUTOR_RUN_ARGS);
		else
			standard_ExecutorRun(COMPAT_EXECUTOR_RUN_ARGS);
		if (queryDesc->operation != CMD_SELECT)
			finish_run(queryDesc);
	}
	PG_FINALLY();
	{
		innermost = outer;
	}
	PG_END_TRY();
}

/* Installs the hook; called when the library is loaded. */
void
run_install(void (*finish) (QueryDesc *queryDesc))
{
	finish_run = finish;
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_executor;
}

/*
 * ExecProcNodeMtd: the next row of the watched input; behind the last one, the
 * statement is finished.
 */
static TupleTableSlot *
watch(PlanState *input)
{
	TupleTableSlot *slot = watched.next(input);

	if (TupIsNull(slot))
		watched.finish(input->state);
	return slot;
}

/* Forgets the watched input, whose query's memory is freed. */
static void
forget_watched(void *arg)
{
	watched.input = NULL;
}

/*
 * Has a modifying statement, whose run began before this library was loaded,
 * finished at the end of its input; false if another one is watched.
 */
bool
run_watch(PlanState *input, void (*finish) (const EState *estate))
{
	if (watched.input != NULL)
		return watched.input == input;
	watched.input = input;
	watched.next = input->ExecProcNodeReal;
	watched.finish = finish;
	watched.forget.func = forget_watched;
	ExecSetExecProcNode(input, watch);
	MemoryContextRegisterResetCallback(input->state->es_query_cxt,
									   &watched.forget);
	return true;
}

/* Is the innermost run one of this query, forward? */
static bool
is_forward(const EState *estate)
{
	return innermost.query != NULL && innermost.query->estate == estate &&
		innermost.is_forward;
}

/* Is the innermost run one of this query that returns all of its rows? */
bool
run_is_whole(const EState *estate)
{
	return is_forward(estate) && innermost.count == 0;
}

/*
 * Is the innermost run the last one of this query, although it is to return
 * some rows only?  So it is if the server programming interface executes a query with
 * a maximum of rows, as SELECT INTO of PL/pgSQL does.  A query of a cursor may
 * have further runs, and is that of the active portal.
 */
bool
run_is_last(const EState *estate)
{
	return is_forward(estate) && innermost.count > 0 &&
		innermost.query->dest->mydest == DestSPI &&
		(ActivePortal == NULL || ActivePortal->queryDesc != innermost.query);
}

/* Rows that the innermost run of this query has still to return; 0 if unknown. */
int64
run_rows_left(const EState *estate)
{
	if (!is_forward(estate) || innermost.count == 0 ||
		innermost.count > PG_INT32_MAX ||
		estate->es_processed >= innermost.count)
		return 0;
	return (int64) (innermost.count - estate->es_processed);
}

/* The top of this query's plan if it is what the innermost run is of, or NULL. */
PlanState *
run_plan(const EState *estate)
{
	return innermost.query != NULL && innermost.query->estate == estate ?
		innermost.query->planstate : NULL;
}
