/*
 * process.c
 *	  Starts a runner, waits for its report, reads the command's output.
 *
 * posix_spawn starts the runner: no code of ours runs in a forked copy of the
 * backend.  The runner has a session of its own, so that the signals which
 * the postmaster sends to the backend's process group do not reach it.
 *
 * A Process owns its descriptors, its wait event set and the runner.  All are
 * released by process_end, whatever happens, since its caller uses
 * PG_ENSURE_ERROR_CLEANUP: PG_CATCH covers ERROR and thus cancel and
 * statement_timeout; before_shmem_exit covers FATAL, which does not unwind
 * the stack, and thus pg_terminate_backend, fast shutdown and the
 * postmaster's death.  A resource owner would cover only the first.  A
 * backend that ends without cleanup (SIGKILL, SIGQUIT) closes its socket, and
 * the runner ends the command.
 *
 * The runner kills the command, measures its times and enforces its time
 * limit.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/wait_event.h"

#include "compat.h"
#include "process.h"

/* The runner's own time to end a run, and as much again */
#define RUNNER_END_LIMIT_MS \
	(2 * (RUNNER_TERM_GRACE_MS + RUNNER_KILL_LIMIT_MS))

#define READ_SIZE (64 * 1024)

static const char runner_name[] = RUNNER_NAME;

/* Makes "process" one that owns nothing. */
void
process_init(Process *process)
{
	process->runner = 0;
	process->wait_set = NULL;
	for (int i = 0; i < PROCESS_FDS; i++)
		process->fds[i] = -1;
}

/* Closes one descriptor, if it is open. */
static void
process_close(Process *process, ProcessFd which)
{
	if (process->fds[which] < 0)
		return;
	close(process->fds[which]);
	process->fds[which] = -1;
	ReleaseExternalFD();
}

/* Takes over two new descriptors, or raises an ERROR. */
static void
process_adopt(Process *process, ProcessFd first, const int *pair, int rc)
{
	if (rc < 0)
		ereport(ERROR,
				(errcode_for_socket_access(),
				 errmsg("could not create a channel to a command: %m")));
	for (int i = 0; i < 2; i++)
	{
		ReserveExternalFD();
		process->fds[first + i] = pair[i];
	}

	/* The runner's own descriptors are put in place one after the other. */
	if (Min(pair[0], pair[1]) <= RUNNER_CONTROL_FD)
		elog(ERROR, "standard file descriptors of the server are closed");
}

/*
 * Opens the channels.  This side's ends do not block; it also keeps the
 * writing ends of the pipes, which so have no end of file and cannot wake
 * the wait event set forever: the run ends with the report.
 */
static void
process_open(Process *process)
{
	int			pair[2];

	process_adopt(process, FD_CONTROL, pair,
				  socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	for (int which = FD_STDOUT; which <= FD_STDERR;
		 which += FD_STDERR - FD_STDOUT)
	{
		process_adopt(process, which, pair, pipe2(pair, O_CLOEXEC));
		if (fcntl(process->fds[which], F_SETFL, O_NONBLOCK) < 0)
			elog(ERROR, "could not set a pipe to nonblocking mode: %m");
	}
}

/* The runner lies beside this library, wherever that was loaded from. */
static void
find_runner(char *path)
{
	Dl_info		library;

	if (dladdr(runner_name, &library) == 0)
		elog(ERROR, "could not find the library of lab.run_command");
	strlcpy(path, library.dli_fname, MAXPGPATH);
	get_parent_directory(path);
	join_path_components(path, path, runner_name);
}

/*
 * Sets the runner's descriptors: standard input empty, nothing inherited
 * beyond the four.  Returns 0 or an error number.
 */
static int
set_runner_fds(posix_spawn_file_actions_t *actions, const int *fds)
{
	int			rc;

	rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null",
										  O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, fds[FD_STDOUT_COMMAND],
											  STDOUT_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, fds[FD_STDERR_COMMAND],
											  STDERR_FILENO);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, fds[FD_CONTROL_RUNNER],
											  RUNNER_CONTROL_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions,
													  RUNNER_CONTROL_FD + 1);
	return rc;
}

/* Sets the runner's session and signals: all default, all blocked. */
static void
set_runner_attributes(posix_spawnattr_t *attributes)
{
	sigset_t	all;

	sigfillset(&all);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID |
							 POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setsigmask(attributes, &all);
}

/* The runner's argument vector: its own arguments, then the command's. */
static char **
make_runner_argv(const Command *command)
{
	char	  **argv = palloc((command->argc + 3) * sizeof(char *));

	argv[0] = pstrdup(runner_name);
	argv[1] = psprintf(INT64_FORMAT, command->limit_us);
	memcpy(argv + 2, command->argv, command->argc * sizeof(char *));
	argv[command->argc + 2] = NULL;
	return argv;
}

/* The command's environment as the runner takes it. */
static char **
make_runner_env(const Command *command)
{
	char	  **env = palloc((command->env_count + 1) * sizeof(char *));

	for (int i = 0; i < command->env_count; i++)
		env[i] = psprintf("%c%s", RUNNER_ENV_MARK, command->env[i]);
	env[command->env_count] = NULL;
	return env;
}

/* Executes "path"; returns 0, with process->runner set, or an error number. */
static int
spawn_runner(Process *process, const char *path, char **argv, char **env)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t		runner;
	int			rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	set_runner_attributes(&attributes);
	rc = set_runner_fds(&actions, process->fds);
	if (rc == 0)
		rc = posix_spawn(&runner, path, &actions, &attributes, argv, env);
	if (rc == 0)
		process->runner = runner;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

/* Starts a runner for "command", or raises an ERROR. */
void
process_start(Process *process, const Command *command)
{
	char		path[MAXPGPATH];
	char	  **argv = make_runner_argv(command);
	char	  **env = make_runner_env(command);
	int			error;

	find_runner(path);
	process_open(process);
	error = spawn_runner(process, path, argv, env);
	if (error != 0)
	{
		errno = error;
		ereport(ERROR,
				(error == E2BIG ? errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED)
				 : errcode_for_file_access(),
				 errmsg("could not execute \"%s\": %m", path)));
	}

	/* The runner's end of the socket closes with the runner, then. */
	process_close(process, FD_CONTROL_RUNNER);
}

/* Reads all bytes that are in a pipe now. */
static void
drain(int fd, char *chunk, Output *output)
{
	ssize_t		length;

	while ((length = read(fd, chunk, READ_SIZE)) > 0)
	{
		output_append(output, chunk, (int) length);
		CHECK_FOR_INTERRUPTS();
	}
	if (length < 0 && errno != EAGAIN && errno != EINTR)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the output of a command: %m")));
}

/*
 * Reads the report if it has arrived; an ERROR if the runner has ended without
 * one.
 */
static bool
receive_report(Process *process, RunReport *report)
{
	ssize_t		length = recv(process->fds[FD_CONTROL], report,
							  sizeof(*report), MSG_DONTWAIT);

	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (length != sizeof(*report))
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("lost the process that runs a command"),
				 errdetail("It ended without a report."),
				 errhint("See whether the system ran out of memory.")));
	return true;
}

/* The latch, the postmaster's death and this side's ends of the channels. */
static WaitEventSet *
make_wait_set(const Process *process)
{
	WaitEventSet *set = compat_create_wait_event_set(5);

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	AddWaitEventToSet(set, WL_SOCKET_READABLE, process->fds[FD_CONTROL],
					  NULL, NULL);
	AddWaitEventToSet(set, WL_SOCKET_READABLE, process->fds[FD_STDOUT],
					  NULL, NULL);
	AddWaitEventToSet(set, WL_SOCKET_READABLE, process->fds[FD_STDERR],
					  NULL, NULL);
	return set;
}

/* Collects output until the report has arrived; may be interrupted. */
void
process_wait(Process *process, Output *out, Output *err, RunReport *report)
{
	char	   *chunk = palloc(READ_SIZE);
	bool		reported = false;

	process->wait_set = make_wait_set(process);
	while (!reported)
	{
		WaitEvent	event;

		(void) WaitEventSetWait(process->wait_set, -1, &event, 1,
								PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();

		/* The report first: output written before it is then in the pipes. */
		reported = receive_report(process, report);
		drain(process->fds[FD_STDOUT], chunk, out);
		drain(process->fds[FD_STDERR], chunk, err);
	}
	pfree(chunk);
}

/* Has the runner ended, or is it ending, before the time is over? */
static bool
runner_leaves(int control)
{
	struct pollfd channel = {.fd = control,.events = POLLIN};
	instr_time	start;
	instr_time	waited;
	RunReport	unwanted;
	int			left_ms = RUNNER_END_LIMIT_MS;

	INSTR_TIME_SET_CURRENT(start);
	while (left_ms > 0)
	{
		if (poll(&channel, 1, left_ms) > 0 &&
			recv(control, &unwanted, sizeof(unwanted), MSG_DONTWAIT) == 0)
			return true;
		INSTR_TIME_SET_CURRENT(waited);
		INSTR_TIME_SUBTRACT(waited, start);
		left_ms = RUNNER_END_LIMIT_MS - (int) INSTR_TIME_GET_MILLISEC(waited);
	}
	return false;
}

/*
 * Ends the run, if it has not ended, and releases everything.  Waits for the
 * runner, and so for the last of the command's processes, up to a limit.  A
 * pg_on_exit_callback: raises no ERROR, takes no interrupts.
 */
void
process_end(int code, Datum arg)
{
	Process    *process = (Process *) DatumGetPointer(arg);

	if (process->runner > 0)
	{
		shutdown(process->fds[FD_CONTROL], SHUT_WR);
		if (!runner_leaves(process->fds[FD_CONTROL]))
			kill(process->runner, SIGKILL);
		while (waitpid(process->runner, NULL, 0) < 0 && errno == EINTR)
			;
		process->runner = 0;
	}
	if (process->wait_set != NULL)
		FreeWaitEventSet(process->wait_set);
	process->wait_set = NULL;
	for (int i = 0; i < PROCESS_FDS; i++)
		process_close(process, i);
}
