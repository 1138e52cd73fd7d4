/*
 * client.c
 *		The measuring loop of every client in C.
 *
 * Timed: the requested executions, with connecting if each has its own
 * connection, reading every cell, and printing it if requested.  Not timed:
 * the program's start, warm-up, and one more execution at the end whose rows
 * are checked, since a checksum may cost as much as a driver.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "clock.h"
#include "fail.h"

#define OUTPUT_BUFFER	(1024 * 1024)

/*
 * The total times of the executions of one kind, in nanoseconds, and the time
 * from which on no further one begins.
 */
typedef struct Times
{
	int64_t		deadline_ns;	/* by clock_now_ns(); 0 for none */
	int64_t		executions;
	int64_t		connect_ns;
	int64_t		first_row_ns;
	int64_t		all_rows_ns;
	int64_t		materialise_ns;
	int64_t		total_ns;
	int64_t		cpu_ns;
	int64_t		connections;
	uint64_t	wire_bytes;
} Times;

/* To be called when the statement is about to be sent. */
void
execution_sent(Execution *execution)
{
	execution->sent_ns = clock_now_ns();
}

/* To be called, as often as is convenient, when a row is there. */
void
execution_first_row(Execution *execution)
{
	if (execution->first_row_ns == 0)
		execution->first_row_ns = clock_now_ns();
}

/* To be called when all rows are there. */
void
execution_all_rows(Execution *execution)
{
	execution->all_rows_ns = clock_now_ns();
	if (execution->first_row_ns == 0)
		execution->first_row_ns = execution->all_rows_ns;
}

/* Opens a connection and adds its time. */
static Session *
client_open(const Client *client, const Request *request, Times *times)
{
	int64_t		start_ns = clock_now_ns();
	Session    *session = client->open(request);

	times->connect_ns += clock_now_ns() - start_ns;
	times->connections++;
	return session;
}

/* Sends some executions together, reads their rows, and adds their time. */
static void
client_execute(const Request *request, Session *session, Sink *sink,
			   int count, Times *times)
{
	Execution	execution = {
		.request = request,.sink = sink,.count = count
	};

	request->method->execute(session, &execution);
	times->executions += count;
	times->first_row_ns += execution.first_row_ns - execution.sent_ns;
	times->all_rows_ns += execution.all_rows_ns - execution.sent_ns;
	times->wire_bytes += execution.wire_bytes;
	if (!request->method->streams)
		times->materialise_ns += clock_now_ns() - execution.all_rows_ns;
}

/* Returns whether the limit has passed.  The first execution is always done. */
static bool
client_is_over(const Times *times)
{
	return times->deadline_ns != 0 && times->executions > 0 &&
		clock_now_ns() >= times->deadline_ns;
}

/*
 * Runs the statement this many times, or until the limit has passed, in one
 * connection or each in its own.  Returns the last connection when it is still
 * open.
 */
static Session *
client_run(const Client *client, const Request *request, Sink *sink,
		   int64_t executions, Session *session, Times *times)
{
	while (executions > 0 && !client_is_over(times))
	{
		int			batch = request->connect_once ? request->method->batch : 1;
		int			count = batch < executions ? batch : (int) executions;

		if (session == NULL)
			session = client_open(client, request, times);
		client_execute(request, session, sink, count, times);
		executions -= count;
		if (!request->connect_once)
		{
			client->close(session);
			session = NULL;
		}
	}
	return session;
}

/* Opens the output for rows, if any. */
static FILE *
client_open_output(const Request *request)
{
	FILE	   *output;

	if (request->output == NULL)
		return NULL;
	output = fopen(request->output, "w");
	if (output == NULL)
		fail(EXIT_CODE_USAGE, "cannot write -o \"%s\": %s", request->output,
			 strerror(errno));
	setvbuf(output, NULL, _IOFBF, OUTPUT_BUFFER);
	return output;
}

/*
 * Runs the timed executions, and sets their times.  Returns the last
 * connection when it is still open.
 */
static Session *
client_measure(const Client *client, const Request *request, Sink *sink,
			   Times *times)
{
	int64_t		start_ns,
				start_cpu_ns;
	Session    *session;

	sink->output = client_open_output(request);
	sink->mode = sink->output != NULL ? SINK_PRINT : SINK_READ;
	start_cpu_ns = clock_cpu_ns();
	start_ns = clock_now_ns();
	if (request->limit_ns > 0)
		times->deadline_ns = start_ns + request->limit_ns;
	session = client_run(client, request, sink, request->executions, NULL, times);
	if (sink->output != NULL && fclose(sink->output) != 0)
		fail(EXIT_CODE_FAILURE, "cannot write -o \"%s\": %s", request->output,
			 strerror(errno));
	times->total_ns = clock_now_ns() - start_ns;
	times->cpu_ns = clock_cpu_ns() - start_cpu_ns;
	return session;
}

/* Prints a time, or null if the method does not have it. */
static void
client_print_ns(const char *name, int64_t ns, bool known)
{
	if (known)
		printf(", \"%s\": %" PRId64, name, ns);
	else
		printf(", \"%s\": null", name);
}

/* Prints the line of figures. */
static void
client_print(const Client *client, const Request *request, const Times *times,
			 const Sink *timed, const Sink *checked)
{
	printf("{\"driver\": \"%s\", \"driver_version\": \"%s\", \"method\": \"%s\""
		   ", \"held\": \"%s\", \"executions\": %" PRId64
		   ", \"connections\": %" PRId64 ", \"rows\": %" PRIu64
		   ", \"bytes\": %" PRIu64 ", \"checksum\": \"%08" PRIx32 "\"",
		   client->driver, client->driver_version(), request->method->name,
		   request->method->held, times->executions, times->connections,
		   timed->rows, checked->bytes, checked->checksum);
	client_print_ns("connect_ns", times->connect_ns, true);
	client_print_ns("first_row_ns", times->first_row_ns, true);
	client_print_ns("all_rows_ns", times->all_rows_ns, true);
	client_print_ns("materialise_ns", times->materialise_ns,
					!request->method->streams);
	client_print_ns("total_ns", times->total_ns, true);
	client_print_ns("cpu_ns", times->cpu_ns, true);
	client_print_ns("wire_bytes", (int64_t) times->wire_bytes,
					times->wire_bytes > 0);
	printf(", \"execution_us\": %.3f}\n",
		   (double) times->total_ns / (double) NS_PER_US /
		   (double) times->executions);
}

/* Executes the command line; returns the exit code. */
int
client_main(const Client *client, int argc, char **argv)
{
	Request		request;
	Times		times = {0},
				untimed = {0};
	Sink		warm = {.mode = SINK_READ},
				timed = {0},
				checked = {.mode = SINK_CHECK};
	Session    *session;

	request_parse(&request, client, argc, argv);
	session = client_run(client, &request, &warm, request.warmup, NULL,
						 &untimed);
	if (session != NULL)
		client->close(session);
	session = client_measure(client, &request, &timed, &times);
	session = client_run(client, &request, &checked, 1, session, &untimed);
	if (session != NULL)
		client->close(session);
	client_print(client, &request, &times, &timed, &checked);
	if (fflush(stdout) != 0)
		fail(EXIT_CODE_FAILURE, "could not write the figures");
	return EXIT_CODE_OK;
}
