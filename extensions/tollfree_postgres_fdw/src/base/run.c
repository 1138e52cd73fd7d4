/*
 * run.c
 *	  What is done around each run of the executor.
 *
 * While it lasts it is known whether the executor was asked for all rows of the
 * query, or for the next ones of a cursor.  At its end whoever has asked for it
 * finishes what a statement has written.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "base/compat.h"
#include "base/run.h"

static ExecutorRun_hook_type next_run_hook = NULL;

/* Called at the end of each statement that modifies */
static RunFinisher finish_run = NULL;

/* The innermost execution, if it was asked for all rows; else NULL */
static const EState *run_whole = NULL;

/* Runs a statement to the end of what it writes. */
static void
run(COMPAT_EXECUTOR_RUN_PARAMS)
{
	const EState *outer = run_whole;

	run_whole = count == 0 && ScanDirectionIsForward(direction) ?
		queryDesc->estate : NULL;
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
		run_whole = outer;
	}
	PG_END_TRY();
}

/* When the library is loaded. */
void
run_install(RunFinisher finish)
{
	finish_run = finish;
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run;
}

/* Was the executor asked for all rows of this query, which it is running? */
bool
run_is_whole(const EState *estate)
{
	return run_whole == estate;
}
