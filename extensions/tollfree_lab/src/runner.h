/*
 * runner.h
 *	  The interface between the backend and tollfree_lab_runner.
 *
 * The backend starts the runner as
 *
 *	  tollfree_lab_runner <time limit, us> <command> [<argument> ...]
 *
 * with the command's environment, each entry behind RUNNER_ENV_MARK, with the
 * command's standard input, output and error as its own, one end of a
 * sequenced-packet socket as RUNNER_CONTROL_FD, and every signal blocked.
 * The runner sends one RunReport and exits.  The backend never sends: closing
 * or shutting down its end, which the kernel does for a backend that is
 * killed, tells the runner to end the run at once.
 *
 * The runner is no part of the server, so this file must not depend on
 * postgres.h.
 */
#ifndef TOLLFREE_LAB_RUNNER_H
#define TOLLFREE_LAB_RUNNER_H

#include <stdint.h>

#define RUNNER_NAME "tollfree_lab_runner"

#define RUNNER_CONTROL_FD 3

/*
 * In front of each environment entry.  It hides LD_PRELOAD, LD_LIBRARY_PATH
 * and the like from the runner's own dynamic linker; they are meant for the
 * command.
 */
#define RUNNER_ENV_MARK '+'

/* From SIGTERM to SIGKILL */
#define RUNNER_TERM_GRACE_MS 100

/* How long SIGKILL is repeated before surviving processes are abandoned */
#define RUNNER_KILL_LIMIT_MS 1000

typedef enum RunOutcome
{
	RUN_ENDED,					/* the command ran and has been reaped */
	RUN_NOT_STARTED,			/* it could not be executed */
	RUN_NOT_KILLED				/* it outlived SIGKILL, and may still run */
} RunOutcome;

typedef struct RunReport
{
	int32_t		outcome;		/* a RunOutcome */
	int32_t		error;			/* errno, if RUN_NOT_STARTED */
	int32_t		wait_status;	/* as waitpid gives it, if RUN_ENDED */
	int32_t		timed_out;		/* 1 if the time limit ended the command */
	int64_t		wall_ns;		/* from just before fork to the end */
	int64_t		user_us;		/* processor time of the command and of the */
	int64_t		system_us;		/* descendants that it has waited for */
	int64_t		peak_kb;		/* largest resident set of these, in KiB */
} RunReport;

#endif							/* TOLLFREE_LAB_RUNNER_H */
