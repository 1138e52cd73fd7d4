/*
 * options.c
 *		The link's command line.
 *
 * All four options of a link are required, so that no delay is left out by
 * mistake.  An error is one line with the option, the value and the remedy,
 * and exit code 2.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "clock.h"
#include "fail.h"
#include "options.h"

static const char usage_text[] =
"tollfree-link: a TCP link with a set one-way delay that counts flights and bytes\n"
"\n"
"Usage:\n"
"  tollfree-link --listen HOST:PORT --connect HOST:PORT --delay-us N --control PATH\n"
"  tollfree-link --control PATH --ask COMMAND\n"
"\n"
"Options:\n"
"  --listen HOST:PORT   where clients connect; port 0 takes a free one\n"
"  --connect HOST:PORT  the server behind the link\n"
"  --delay-us N         delay each way, 0 to 20000 microseconds\n"
"  --control PATH       Unix socket that answers \"stats\" and \"connections\"\n"
"  --ask COMMAND        print what the link at PATH answers to \"stats\" or\n"
"                       \"connections\"\n"
"  --version            print the version and exit\n"
"  --help               print this text and exit\n"
"\n"
"Prints \"listening HOST:PORT\" and \"ready\" once clients can connect, and runs\n"
"until SIGINT or SIGTERM.\n"
"\n"
"Exit codes: 0 stopped by a signal, 1 failure, 2 bad option, 3 port or control\n"
"socket in use.\n";

/* Prints the requested text and exits. */
static noreturn void
options_answer(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE);
}

/* Returns the delay in nanoseconds. */
static int64_t
options_parse_delay(const char *value)
{
	char	   *end;
	long		delay_us = strtol(value, &end, 10);

	if (end == value || *end != '\0' ||
		delay_us < DELAY_US_MIN || delay_us > DELAY_US_MAX)
		fail(EXIT_CODE_USAGE,
			 "--delay-us \"%s\" is not valid: give a whole number of microseconds from %d to %d",
			 value, DELAY_US_MIN, DELAY_US_MAX);
	return delay_us * NS_PER_US;
}

/* Returns the addresses of an option's HOST:PORT; options_free frees them. */
static AddressList *
options_parse_address(const char *option, const char *value)
{
	const char *reason;
	AddressList *list = address_resolve(value, &reason);

	if (list == NULL)
		fail(EXIT_CODE_USAGE,
			 "--%s \"%s\" is not valid (%s): give HOST:PORT, such as 127.0.0.1:5432",
			 option, value, reason);
	return list;
}

/* Returns the path, once it is known to fit a Unix socket address. */
static const char *
options_parse_control(const char *value)
{
	size_t		limit = sizeof(((struct sockaddr_un *) NULL)->sun_path) - 1;

	if (value[0] == '\0' || strlen(value) > limit)
		fail(EXIT_CODE_USAGE,
			 "--control \"%s\" is not valid: give a path of 1 to %zu bytes",
			 value, limit);
	return value;
}

/* Checks that an option was given. */
static void
options_require(bool given, const char *option, const char *placeholder)
{
	if (!given)
		fail(EXIT_CODE_USAGE, "--%s is missing: give --%s %s",
			 option, option, placeholder);
}

/* Fills the options from the command line, or exits. */
void
options_parse(LinkOptions *options, int argc, char **argv)
{
	static const struct option known[] = {
		{"listen", required_argument, NULL, 'l'},
		{"connect", required_argument, NULL, 'c'},
		{"delay-us", required_argument, NULL, 'd'},
		{"control", required_argument, NULL, 's'},
		{"ask", required_argument, NULL, 'a'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}
	};
	const char *connect_text = NULL;
	const char *delay_text = NULL;
	int			letter;

	memset(options, 0, sizeof(*options));
	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":", known, NULL)) != -1)
	{
		switch (letter)
		{
			case 'l':
				options->listen_text = optarg;
				break;
			case 'c':
				connect_text = optarg;
				break;
			case 'd':
				delay_text = optarg;
				break;
			case 's':
				options->control_path = options_parse_control(optarg);
				break;
			case 'a':
				options->question = optarg;
				break;
			case 'v':
				options_answer("tollfree-link " TOLLFREE_VERSION "\n");
			case 'h':
				options_answer(usage_text);
			case ':':
				fail(EXIT_CODE_USAGE, "%s has no value: see --help",
					 argv[optind - 1]);
			default:
				fail(EXIT_CODE_USAGE, "unknown option \"%s\": see --help",
					 argv[optind - 1]);
		}
	}
	if (optind < argc)
		fail(EXIT_CODE_USAGE, "unexpected argument \"%s\": see --help",
			 argv[optind]);
	if (options->question == NULL)
	{
		options_require(options->listen_text != NULL, "listen", "HOST:PORT");
		options_require(connect_text != NULL, "connect", "HOST:PORT");
		options_require(delay_text != NULL, "delay-us", "N");
	}
	options_require(options->control_path != NULL, "control", "PATH");
	if (options->question != NULL)
		return;

	options->delay_ns = options_parse_delay(delay_text);
	options->listen = options_parse_address("listen", options->listen_text);
	options->connect = options_parse_address("connect", connect_text);
}

/* Frees what options_parse resolved. */
void
options_free(LinkOptions *options)
{
	freeaddrinfo(options->listen);
	freeaddrinfo(options->connect);
}
