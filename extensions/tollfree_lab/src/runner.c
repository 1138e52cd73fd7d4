/*
 * runner.c
 *	  A small program that runs one command for the backend.
 *
 * It starts the command, times it, ends it, and reports its outcome; runner.h
 * has the exchange with the backend.  It is a process of its own, between the
 * backend and the command, for three reasons:
 *
 *	- It outlives a backend that is killed, and takes the command along.
 *	- Linux counts into a process's peak memory what it had before exec, which
 *	  is its parent's.  A child of the backend would never seem to need less
 *	  than the backend does; this program has about 1 MB.
 *	- After fork, a backend may call very little: it has handlers, locks and
 *	  shared memory.  This program has none of these.
 *
 * What is ended: the command's process group and, because this program is
 * the "child subreaper" of all that descends from it, also every descendant
 * that left the group or the session.  They get SIGKILL when the command
 * ends.  If the time limit or the backend ends the run, the group gets
 * SIGTERM first, and SIGKILL after RUNNER_TERM_GRACE_MS.
 *
 * What is not covered: a process that changed to another user (setuid
 * programs) cannot be killed and is left alone after RUNNER_KILL_LIMIT_MS.  So
 * is one that left the group, or outlived the command, on a kernel that does not
 * list a process's children (CONFIG_PROC_CHILDREN).  If this program itself gets SIGKILL, the kernel kills the command
 * (PR_SET_PDEATHSIG) but not the command's own children.
 *
 * Signals are blocked throughout; SIGCHLD is read from a signalfd.  Output
 * does not pass through here: the command writes to the backend's pipes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

#define NS_PER_S	INT64_C(1000000000)
#define NS_PER_MS	INT64_C(1000000)
#define NS_PER_US	INT64_C(1000)
#define US_PER_S	INT64_C(1000000)

/* SIGKILL is repeated this often: each round reaches one more generation */
#define KILL_INTERVAL_MS 2

typedef struct Run
{
	pid_t		command;		/* leader of its process group */
	int			signals;		/* a signalfd for SIGCHLD */
	int			failure;		/* carries errno if exec fails */
	int64_t		started_ns;
	bool		ended;			/* the command has been reaped */
	bool		childless;		/* so has every other descendant */
	RunReport	report;
} Run;

/* The monotonic clock, in nanoseconds. */
static int64_t
clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Waits on "fds" until the deadline; with a past one it only polls. */
static void
poll_until(struct pollfd *fds, nfds_t nfds, int64_t deadline_ns)
{
	int64_t		left_ns = deadline_ns - clock_ns();
	struct timespec timeout = {0, 0};

	if (left_ns > 0)
	{
		timeout.tv_sec = left_ns / NS_PER_S;
		timeout.tv_nsec = left_ns % NS_PER_S;
	}
	(void) ppoll(fds, nfds, &timeout, NULL);
}

/* The directories of "envp"'s PATH, or NULL if it has none. */
static const char *
find_path(char **envp)
{
	for (; *envp != NULL; envp++)
	{
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	}
	return NULL;
}

/*
 * Executes the command in this process; returns only on failure, with errno
 * set.  Unlike execvp, it knows no default PATH and gives no file to a shell.
 */
static void
exec_command(char **argv, char **envp)
{
	const char *directory = find_path(envp);
	int			error = ENOENT;

	if (strchr(argv[0], '/') != NULL)
	{
		execve(argv[0], argv, envp);
		return;
	}
	while (directory != NULL)
	{
		char		file[PATH_MAX];
		const char *end = strchrnul(directory, ':');

		/* An empty directory means the working directory, which is "/". */
		if (snprintf(file, sizeof(file), "%.*s/%s", (int) (end - directory),
					 directory, argv[0]) < (int) sizeof(file))
		{
			execve(file, argv, envp);
			if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
				return;
			if (errno == EACCES)
				error = EACCES;
		}
		directory = *end == ':' ? end + 1 : NULL;
	}
	errno = error;
}

/* The life of the command's process before exec; "failure" gets errno. */
static void
command_main(pid_t runner, int failure, char **argv, char **envp)
{
	sigset_t	none;
	int			error;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The runner may have died before prctl took effect. */
	if (getppid() != runner)
		_exit(EXIT_FAILURE);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	exec_command(argv, envp);
	error = errno;
	if (write(failure, &error, sizeof(error)) != sizeof(error))
		abort();
	_exit(EXIT_FAILURE);
}

/* Starts the command.  Returns false, with errno set, if it cannot fork. */
static bool
command_start(Run *run, char **argv, char **envp)
{
	pid_t		runner = getpid();
	int			failure[2];

	if (pipe2(failure, O_CLOEXEC) < 0)
		return false;
	run->failure = failure[0];
	run->started_ns = clock_ns();
	run->command = fork();
	if (run->command < 0)
		return false;
	if (run->command == 0)
		command_main(runner, failure[1], argv, envp);

	/* On both sides of the fork, so that neither has to wait for the other. */
	setpgid(run->command, run->command);
	close(failure[1]);
	return true;
}

/* Takes the times of the command, which is a zombie, and reaps it. */
static void
command_reap(Run *run)
{
	RunReport  *report = &run->report;
	struct rusage usage;
	int			error;

	report->wall_ns = clock_ns() - run->started_ns;

	/* The zombie still holds the group's id: it cannot be another's yet. */
	kill(-run->command, SIGKILL);
	wait4(run->command, &report->wait_status, 0, &usage);
	run->ended = true;
	report->outcome = RUN_ENDED;
	report->user_us = usage.ru_utime.tv_sec * US_PER_S + usage.ru_utime.tv_usec;
	report->system_us = usage.ru_stime.tv_sec * US_PER_S + usage.ru_stime.tv_usec;
	report->peak_kb = usage.ru_maxrss;

	if (read(run->failure, &error, sizeof(error)) == sizeof(error))
	{
		report->outcome = RUN_NOT_STARTED;
		report->error = error;
	}
}

/* Reaps every child that has ended. */
static void
reap_children(Run *run)
{
	struct signalfd_siginfo ignored;

	/* Before examining the children, so that no later SIGCHLD is lost. */
	while (read(run->signals, &ignored, sizeof(ignored)) > 0)
		;
	for (;;)
	{
		siginfo_t	child = {0};

		if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0)
		{
			run->childless = true;
			return;
		}
		if (child.si_pid == 0)
			return;
		if (child.si_pid == run->command && !run->ended)
			command_reap(run);
		else
			waitpid(child.si_pid, NULL, 0);
	}
}

/*
 * Waits until the command has ended, its time is over, or the backend has
 * closed its end of the socket.
 */
static void
command_wait(Run *run, int64_t deadline_ns)
{
	struct pollfd fds[] = {
		{.fd = run->signals,.events = POLLIN},
		{.fd = RUNNER_CONTROL_FD,.events = POLLIN}
	};

	for (;;)
	{
		poll_until(fds, 2, deadline_ns);
		reap_children(run);
		if (run->ended || fds[1].revents != 0)
			return;
		if (clock_ns() >= deadline_ns)
		{
			run->report.timed_out = 1;
			return;
		}
	}
}

/* Sends SIGTERM to the command's group and waits a moment. */
static void
command_terminate(Run *run)
{
	struct pollfd signals = {.fd = run->signals,.events = POLLIN};
	int64_t		deadline_ns = clock_ns() + RUNNER_TERM_GRACE_MS * NS_PER_MS;

	kill(-run->command, SIGTERM);
	while (!run->ended && clock_ns() < deadline_ns)
	{
		poll_until(&signals, 1, deadline_ns);
		reap_children(run);
	}
}

/*
 * Sends SIGKILL to every child, which orphans among the descendants become.  If
 * the kernel does not list them, only to the group, for as long as its number
 * cannot have become another's: until the command has been reaped.
 */
static void
kill_children(const Run *run)
{
	FILE	   *children = fopen("/proc/thread-self/children", "re");
	int			child;

	if (!run->ended)
		kill(-run->command, SIGKILL);
	if (children == NULL)
		return;
	while (fscanf(children, "%d", &child) == 1)
		kill(child, SIGKILL);
	fclose(children);
}

/* Kills and reaps the remaining processes, generation by generation. */
static void
run_end(Run *run)
{
	struct pollfd signals = {.fd = run->signals,.events = POLLIN};
	int64_t		deadline_ns = clock_ns() + RUNNER_KILL_LIMIT_MS * NS_PER_MS;

	reap_children(run);
	while (!run->childless && clock_ns() < deadline_ns)
	{
		kill_children(run);
		poll_until(&signals, 1, clock_ns() + KILL_INTERVAL_MS * NS_PER_MS);
		reap_children(run);
	}
}

/* Prepares this process and opens the signalfd; false, with errno, if not. */
static bool
run_prepare(Run *run)
{
	sigset_t	sigchld;

	sigemptyset(&sigchld);
	sigaddset(&sigchld, SIGCHLD);
	run->signals = signalfd(-1, &sigchld, SFD_CLOEXEC | SFD_NONBLOCK);
	umask(S_IRWXG | S_IRWXO);
	return run->signals >= 0 &&
		fcntl(RUNNER_CONTROL_FD, F_SETFD, FD_CLOEXEC) == 0 &&
		prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 &&
		chdir("/") == 0;
}

/* Runs the command to its end and fills in the report. */
static void
run_execute(Run *run, int64_t limit_ns, char **argv, char **envp)
{
	if (!run_prepare(run) || !command_start(run, argv, envp))
	{
		run->report.outcome = RUN_NOT_STARTED;
		run->report.error = errno;
		return;
	}
	run->report.outcome = RUN_NOT_KILLED;
	command_wait(run, run->started_ns + limit_ns);
	if (!run->ended)
		command_terminate(run);
	run_end(run);
}

int
main(int argc, char **argv, char **envp)
{
	Run			run = {0};

	if (argc < 3)
	{
		fprintf(stderr, "%s is started by lab.run_command only\n", RUNNER_NAME);
		return EXIT_FAILURE;
	}
	for (char **entry = envp; *entry != NULL; entry++)
		*entry += **entry == RUNNER_ENV_MARK;
	run_execute(&run, strtoll(argv[1], NULL, 10) * NS_PER_US, argv + 2, envp);
	return send(RUNNER_CONTROL_FD, &run.report, sizeof(run.report),
				MSG_NOSIGNAL) == sizeof(run.report) ? EXIT_SUCCESS : EXIT_FAILURE;
}
