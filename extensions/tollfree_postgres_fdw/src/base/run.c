/*
 * run.c
 *	  Hooking into each run of the executor.
 *
 * A run is asked for all rows of the query, or only for the next ones, as by a
 * cursor.  At the end of a run of a modifying statement the finisher sends the
 * rest of the rows.
 *
 * A row that is routed to a partition can be what has this library loaded.  The
 * run that this happens in does not go through the hook.  The end of its input
 * is watched instead.
 */
#include "postgres.h"

#include "executor/executor.h"

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

/* The innermost run, or NULL; was it asked for all rows? */
static const QueryDesc *innermost = NULL;
static bool innermost_is_whole = false;

/* The hook: runs the executor, and finishes what a statement writes. */
static void
run(COMPAT_EXECUTOR_RUN_PARAMS)
{
	const QueryDesc *outer = innermost;
	bool		outer_is_whole = innermost_is_whole;

	innermost = queryDesc;
	innermost_is_whole = count == 0 && ScanDirectionIsForward(direction);
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
		innermost_is_whole = outer_is_whole;
	}
	PG_END_TRY();
}

/* Installs the hook; called when the library is loaded. */
void
run_install(void (*finish) (QueryDesc *queryDesc))
{
	finish_run = finish;
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run;
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

/* Is the innermost run one of this query, asked for all of its rows? */
bool
run_is_whole(const EState *estate)
{
	return innermost_is_whole && innermost->estate == estate;
}

/* The top of this query's plan if it is what the innermost run is of, or NULL. */
PlanState *
run_plan(const EState *estate)
{
	return innermost != NULL && innermost->estate == estate ?
		innermost->planstate : NULL;
}
