/*
 * report.c
 *		The link's counts as JSON.
 *
 * Numbers, booleans and numeric addresses only, so nothing needs escaping.
 *
 * control.c sends it.
 */
#include <inttypes.h>

#include "clock.h"
#include "report.h"

/* Prints the members that a total and a connection have in common. */
static void
report_counters(FILE *stream, const Counters *counters)
{
	uint64_t	mean_ns = counters->chunks ?
		counters->late_sum_ns / counters->chunks : 0;

	fprintf(stream,
			"\"flights\": %" PRIu64
			", \"bytes_to_server\": %" PRIu64
			", \"bytes_to_client\": %" PRIu64
			", \"rows_to_client\": %" PRIu64
			", \"lateness_count\": %" PRIu64
			", \"lateness_mean_ns\": %" PRIu64
			", \"lateness_max_ns\": %" PRIu64 "}",
			counters->flights, counters->bytes_to_server,
			counters->bytes_to_client, counters->rows_to_client,
			counters->chunks, mean_ns,
			counters->late_max_ns);
}

/* Prints one connection as an object. */
static void
report_connection(FILE *stream, const ConnectionRecord *record, bool open)
{
	fprintf(stream, "{\"id\": %" PRIu64 ", \"client\": \"%s\", \"open\": %s, ",
			record->id, record->client, open ? "true" : "false");
	report_counters(stream, &record->counters);
}

/* Prints the totals of all connections, open and closed, as an object. */
void
report_stats(FILE *stream, const Relay *relay)
{
	Counters	total = relay->history.total;

	for (const Connection *connection = relay->connections;
		 connection != NULL; connection = connection->next)
		counters_add(&total, &connection->record.counters);

	fprintf(stream,
			"{\"requested_one_way_us\": %" PRId64
			", \"connections_opened\": %" PRIu64
			", \"connections_open\": %" PRIu64 ", ",
			relay->options->delay_ns / NS_PER_US, relay->opened,
			relay_connections(relay));
	report_counters(stream, &total);
}

/*
 * Prints an array of the open connections, newest first, and then of the last
 * that closed, latest first.
 */
void
report_connections(FILE *stream, const Relay *relay)
{
	const ConnectionHistory *history = &relay->history;
	uint64_t	oldest = history->count > HISTORY_LENGTH ?
		history->count - HISTORY_LENGTH : 0;
	const char *separator = "";

	fputc('[', stream);
	for (const Connection *connection = relay->connections;
		 connection != NULL; connection = connection->next)
	{
		fputs(separator, stream);
		report_connection(stream, &connection->record, true);
		separator = ", ";
	}
	for (uint64_t i = history->count; i > oldest; i--)
	{
		fputs(separator, stream);
		report_connection(stream, &history->ring[(i - 1) % HISTORY_LENGTH],
						  false);
		separator = ", ";
	}
	fputc(']', stream);
}
