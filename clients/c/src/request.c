/*
 * request.c
 *		A client's command line, as CONTRACT.md has it.
 *
 * An error is one line with the option, the value and the remedy, and exit
 * code 2.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "clock.h"
#include "fail.h"

/* Returns an option's integer, once it is known to lie between the bounds. */
static int64_t
request_parse_integer(char option, const char *value, int64_t low, int64_t high)
{
	char	   *end;
	long long	number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 ||
		number < low || number > high)
		fail(EXIT_CODE_USAGE,
			 "-%c \"%s\" is not valid: give a whole number from %lld to %lld",
			 option, value, (long long) low, (long long) high);
	return number;
}

/* Returns the client's method that has this name, or this letter. */
static const Method *
request_find_method(const Client *client, const char *name, char letter)
{
	for (const Method *method = client->methods; method->name != NULL; method++)
		if (name != NULL ? strcmp(method->name, name) == 0 :
			method->letter == letter)
			return method;
	if (name != NULL)
		fail(EXIT_CODE_USAGE, "-m \"%s\" is not known: see --help", name);
	fail(EXIT_CODE_USAGE, "-%c is nothing that this client has: see --help",
		 letter);
}

/* Prints the requested text and exits. */
static noreturn void
request_help(const Client *client)
{
	printf("%s: runs a statement and prints how long its rows took\n\n"
		   "Usage: %s -c CONNINFO -s SQL [-p 0|1] [-o FILE] [-k 0|1] [-n N]\n"
		   "       [-w N] [-t SECONDS] [-f FILE] [-a | -y | -m METHOD]\n\n"
		   "What these mean is in clients/CONTRACT.md.  Methods:\n",
		   program_invocation_short_name, program_invocation_short_name);
	for (const Method *method = client->methods; method->name != NULL; method++)
		printf("  %s\n", method->name);
	exit(fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE);
}

/* Handles one option of the command line. */
static void
request_take(Request *request, const Client *client, int letter,
			 const char *value, bool *print)
{
	switch (letter)
	{
		case 'c':
			request->conninfo = value;
			break;
		case 's':
			request->sql = value;
			break;
		case 'p':
			*print = request_parse_integer('p', value, 0, 1) == 1;
			break;
		case 'o':
			request->output = value;
			break;
		case 'f':
			request->server_file = value;
			break;
		case 'k':
			request->connect_once = request_parse_integer('k', value, 0, 1) == 1;
			break;
		case 'n':
			request->executions =
				request_parse_integer('n', value, EXECUTIONS_MIN, EXECUTIONS_MAX);
			break;
		case 'w':
			request->warmup =
				request_parse_integer('w', value, WARMUP_MIN, WARMUP_MAX);
			break;
		case 't':
			request->limit_ns = NS_PER_S *
				request_parse_integer('t', value, LIMIT_MIN, LIMIT_MAX);
			break;
		case 'a':
		case 'y':
			request->method = request_find_method(client, NULL, (char) letter);
			break;
		case 'm':
			request->method = request_find_method(client, value, '\0');
			break;
		case 'h':
			request_help(client);
	}
}

/* Fills the request from the command line, or exits. */
void
request_parse(Request *request, const Client *client, int argc, char **argv)
{
	static const struct option known[] = {
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}
	};
	const Request defaults = {
		.output = "/dev/null",
		.executions = 1,
		.method = client->methods
	};
	bool		print = false;
	int			letter;

	*request = defaults;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":c:s:p:o:f:k:n:w:t:aym:", known,
								 NULL)) != -1)
	{
		if (letter == ':')
			fail(EXIT_CODE_USAGE, "%s has no value: see --help",
				 argv[optind - 1]);
		if (letter == '?')
			fail(EXIT_CODE_USAGE, "unknown option \"%s\": see --help",
				 argv[optind - 1]);
		request_take(request, client, letter, optarg, &print);
	}
	if (optind < argc)
		fail(EXIT_CODE_USAGE, "unexpected argument \"%s\": see --help",
			 argv[optind]);
	if (request->conninfo == NULL || request->sql == NULL)
		fail(EXIT_CODE_USAGE, "-%c is missing: see --help",
			 request->conninfo == NULL ? 'c' : 's');
	if (!print)
		request->output = NULL;
}
