/*
 * main.c
 *		tollfree-link: a TCP link with a set one-way delay that counts.
 *
 * Stands between a client and a server as a network with a known round trip
 * would, where the kernel offers no such thing, and counts the round trips
 * that were awaited: a number that is exact where times are noisy.
 *
 *		options -> address		what was asked for
 *		relay -> connection -> queue	the event loop and the data path
 *		counters				what is counted, and what a flight is
 *		control -> report		how it is told
 *		ask						asking a link that runs
 *
 * It limits no bandwidth, loses and reorders nothing, and knows no protocol
 * above TCP.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "ask.h"
#include "control.h"
#include "fail.h"
#include "options.h"
#include "relay.h"

static volatile sig_atomic_t stop_requested = 0;

/* Handles SIGINT and SIGTERM. */
static void
main_stop(int signal_number)
{
	(void) signal_number;
	stop_requested = 1;
}

/*
 * Unblocks the two signals only while waiting, so that none is lost between
 * the check of stop_requested and the wait.  Returns the mask to wait with.
 */
static sigset_t
main_set_signals(void)
{
	const struct sigaction action = {.sa_handler = main_stop};
	sigset_t	blocked;
	sigset_t	waiting;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &waiting);
	sigdelset(&waiting, SIGINT);
	sigdelset(&waiting, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	return waiting;
}

/* Prints the address that the link listens on. */
static void
main_announce(int listener)
{
	struct sockaddr_storage address;
	socklen_t	length = sizeof(address);
	char		text[ADDRESS_LENGTH];

	if (getsockname(listener, (struct sockaddr *) &address, &length) != 0)
		fail(EXIT_CODE_FAILURE, "could not read the listening address: %s",
			 strerror(errno));
	address_format((struct sockaddr *) &address, length, text);
	printf("listening %s\nready\n", text);
	fflush(stdout);
}

/*
 * Sets up the link, runs it until a signal, and closes it; or queries a
 * running one.
 */
int
main(int argc, char **argv)
{
	static Control control;
	static Relay relay;
	LinkOptions options;
	sigset_t	mask;

	options_parse(&options, argc, argv);
	if (options.question != NULL)
	{
		ask(options.control_path, options.question);
		return EXIT_CODE_OK;
	}
	mask = main_set_signals();
	/* The default of 50 us would be the largest part of a short delay. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	relay_open(&relay, &options);
	control_open(&control, options.control_path);
	main_announce(relay.listener);

	relay_run(&relay, &control, &stop_requested, &mask);

	control_close(&control);
	relay_close(&relay);
	options_free(&options);
	return EXIT_CODE_OK;
}
