/*
 * options.c
 *		The probe's command line.
 *
 * An error is one line with the option, the value and the remedy, and exit
 * code 2.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fail.h"
#include "options.h"

static const char usage_text[] =
"txprobe: runs pgbench's transactions, checks every answer, keeps every latency\n"
"\n"
"Usage:\n"
"  txprobe -c CONNINFO --script NAME (--transactions N | --seconds S) [OPTION]...\n"
"\n"
"Options:\n"
"  -c CONNINFO         libpq connection string or URI\n"
"  --script NAME       ro (select-only), rw (tpcb-like) or ping (an empty query)\n"
"  --transactions N    transactions to measure, per client\n"
"  --seconds S         or: time to measure for\n"
"  --protocol NAME     simple (default), extended or prepared\n"
"  --clients N         concurrent connections, 1 to 1000 (default 1)\n"
"  --scale N           pgbench scale of the tables (default 1)\n"
"  --warmup N          transactions per client before measuring (default 1)\n"
"  --control PATH      control socket of a tollfree-link to read flights from;\n"
"                      with one client, and a warm-up of at least 1\n"
"  --seed N            repeat the random values of an earlier run\n"
"  --version           print the version and exit\n"
"  --help              print this text and exit\n"
"\n"
"Prints one line of JSON.  Session settings, such as the isolation level, come\n"
"from PGOPTIONS.\n"
"\n"
"Exit codes: 0 measured, 1 failure (nothing was printed), 2 bad option.\n";

/* Prints the requested text and exits. */
static noreturn void
options_answer(const char *text)
{
	fputs(text, stdout);
	exit(fflush(stdout) == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILURE);
}

/* Returns an option's integer, once it is known to lie between the bounds. */
static int64_t
options_parse_integer(const char *option, const char *value,
					  int64_t low, int64_t high)
{
	char	   *end;
	long long	number;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (end == value || *end != '\0' || errno != 0 ||
		number < low || number > high)
		fail(EXIT_CODE_USAGE,
			 "--%s \"%s\" is not valid: give a whole number from %lld to %lld",
			 option, value, (long long) low, (long long) high);
	return number;
}

/* Returns the script of that name. */
static const Script *
options_parse_script(const char *value)
{
	const Script *script = script_find(value);

	if (script == NULL)
		fail(EXIT_CODE_USAGE,
			 "--script \"%s\" is not known: give ro, rw or ping", value);
	return script;
}

/* Returns the protocol of that name. */
static SessionProtocol
options_parse_protocol(const char *value)
{
	if (strcmp(value, "simple") == 0)
		return PROTOCOL_SIMPLE;
	if (strcmp(value, "extended") == 0)
		return PROTOCOL_EXTENDED;
	if (strcmp(value, "prepared") == 0)
		return PROTOCOL_PREPARED;
	fail(EXIT_CODE_USAGE,
		 "--protocol \"%s\" is not known: give simple, extended or prepared",
		 value);
}

/* Checks combinations of options. */
static void
options_check(const ProbeOptions *options)
{
	if (options->conninfo == NULL)
		fail(EXIT_CODE_USAGE, "-c is missing: give -c CONNINFO");
	if (options->script == NULL)
		fail(EXIT_CODE_USAGE, "--script is missing: give ro, rw or ping");
	if ((options->transactions == 0) == (options->seconds == 0))
		fail(EXIT_CODE_USAGE,
			 "the length of the run is %s: give either --transactions or --seconds",
			 options->seconds == 0 ? "missing" : "given twice");
	if (options->control_path != NULL && options->clients != 1)
		fail(EXIT_CODE_USAGE,
			 "--control cannot tell %d clients apart: give --clients 1",
			 options->clients);
	if (options->control_path != NULL && options->warmup == 0)
		fail(EXIT_CODE_USAGE,
			 "--control counts the first transaction by itself: give --warmup 1 or more");
}

/* Handles one option of the command line. */
static void
options_take(ProbeOptions *options, int letter, const char *value)
{
	switch (letter)
	{
		case 'c':
			options->conninfo = value;
			break;
		case 's':
			options->script = options_parse_script(value);
			break;
		case 'P':
			options->protocol = options_parse_protocol(value);
			options->protocol_name = value;
			break;
		case 'C':
			options->clients = (int)
				options_parse_integer("clients", value, CLIENTS_MIN, CLIENTS_MAX);
			break;
		case 'S':
			options->scale = (int)
				options_parse_integer("scale", value, SCALE_MIN, SCALE_MAX);
			break;
		case 'w':
			options->warmup =
				options_parse_integer("warmup", value, WARMUP_MIN, WARMUP_MAX);
			break;
		case 't':
			options->transactions =
				options_parse_integer("transactions", value,
									  TRANSACTIONS_MIN, TRANSACTIONS_MAX);
			break;
		case 'T':
			options->seconds =
				options_parse_integer("seconds", value, SECONDS_MIN, SECONDS_MAX);
			break;
		case 'l':
			options->control_path = value;
			break;
		case 'r':
			options->seed = (uint64_t)
				options_parse_integer("seed", value, SEED_MIN, SEED_MAX);
			break;
		case 'v':
			options_answer("txprobe " TOLLFREE_VERSION "\n");
		case 'h':
			options_answer(usage_text);
	}
}

/* Fills the options from the command line, or exits. */
void
options_parse(ProbeOptions *options, int argc, char **argv)
{
	static const struct option known[] = {
		{"script", required_argument, NULL, 's'},
		{"protocol", required_argument, NULL, 'P'},
		{"clients", required_argument, NULL, 'C'},
		{"scale", required_argument, NULL, 'S'},
		{"warmup", required_argument, NULL, 'w'},
		{"transactions", required_argument, NULL, 't'},
		{"seconds", required_argument, NULL, 'T'},
		{"control", required_argument, NULL, 'l'},
		{"seed", required_argument, NULL, 'r'},
		{"version", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0}
	};
	const ProbeOptions defaults = {
		.protocol = PROTOCOL_SIMPLE,
		.protocol_name = "simple",
		.scale = SCALE_DEFAULT,
		.clients = CLIENTS_DEFAULT,
		.warmup = WARMUP_DEFAULT,
		.seed = (uint64_t) clock_now_ns()
	};
	int			letter;

	*options = defaults;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":c:", known, NULL)) != -1)
	{
		if (letter == ':')
			fail(EXIT_CODE_USAGE, "%s has no value: see --help",
				 argv[optind - 1]);
		if (letter == '?')
			fail(EXIT_CODE_USAGE, "unknown option \"%s\": see --help",
				 argv[optind - 1]);
		options_take(options, letter, optarg);
	}
	if (optind < argc)
		fail(EXIT_CODE_USAGE, "unexpected argument \"%s\": see --help",
			 argv[optind]);
	options_check(options);
}
