/*
 * run.c
 *	  Hooking into each run of the executor.
 *
 * A run is asked for all rows of the query, or only for the next ones, as by a
 * cursor.  At the end of a run of a modifying statement the finisher sends the
 * rest of the rows.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "base/compat.h"
#include "base/run.h"

static ExecutorRun_hook_type next_run_hook = NULL;
static void (*finish_run) (QueryDesc *queryDesc) = NULL;

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
