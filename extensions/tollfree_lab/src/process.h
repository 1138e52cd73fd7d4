/*
 * process.h
 *	  A runner and the output of its command, in the backend.
 */
#ifndef TOLLFREE_LAB_PROCESS_H
#define TOLLFREE_LAB_PROCESS_H

#include "output.h"
#include "runner.h"
#include "storage/latch.h"

typedef struct Command
{
	char	  **argv;
	int			argc;
	char	  **env;			/* NAME=value, the whole environment */
	int			env_count;
	int64		limit_us;		/* wall clock */
} Command;

/* The descriptors of a Process; a closed one is -1 */
typedef enum ProcessFd
{
	FD_CONTROL,					/* socket to the runner */
	FD_CONTROL_RUNNER,			/* the runner's end of it */
	FD_STDOUT,					/* pipe from the command */
	FD_STDOUT_COMMAND,			/* the command's end of it */
	FD_STDERR,
	FD_STDERR_COMMAND
} ProcessFd;

#define PROCESS_FDS (FD_STDERR_COMMAND + 1)

typedef struct Process
{
	pid_t		runner;			/* 0 before it is started and once reaped */
	int			fds[PROCESS_FDS];
	WaitEventSet *wait_set;
} Process;

extern void process_init(Process *process);
extern void process_start(Process *process, const Command *command);
extern void process_wait(Process *process, Output *out, Output *err,
						 RunReport *report);
extern void process_end(int code, Datum arg);

#endif							/* TOLLFREE_LAB_PROCESS_H */
