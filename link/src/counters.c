/*
 * counters.c
 *		The link's counters, per connection and in total.
 *
 * An open connection's counts are in its own record only; totals are summed
 * on request.
 *
 * It neither sees sockets (connection.c) nor formats anything (report.c).
 */
#include <string.h>

#include "counters.h"

/* Starts the account of a connection. */
void
record_start(ConnectionRecord *record, uint64_t id,
			 const struct sockaddr *client, socklen_t length)
{
	memset(record, 0, sizeof(*record));
	record->id = id;
	record->begins_flight = true;
	address_format(client, length, record->client);
}

/* Counts bytes that arrived from the client. */
void
record_request(ConnectionRecord *record, size_t bytes)
{
	record->counters.flights += record->begins_flight;
	record->begins_flight = false;
	record->counters.bytes_to_server += bytes;
}

/* Counts bytes that were handed to the client, and the rows in them. */
void
record_answer(ConnectionRecord *record, const unsigned char *data,
			  size_t bytes)
{
	record->begins_flight = true;
	record->counters.bytes_to_client += bytes;
	record->counters.rows_to_client +=
		messages_count_rows(&record->messages, data, bytes);
}

/* Counts a delivery that began this long after it was due. */
void
record_lateness(ConnectionRecord *record, int64_t late_ns)
{
	Counters   *counters = &record->counters;

	counters->chunks++;
	counters->late_sum_ns += (uint64_t) late_ns;
	if (counters->late_max_ns < (uint64_t) late_ns)
		counters->late_max_ns = (uint64_t) late_ns;
}

/* Adds the other counters to the sum. */
void
counters_add(Counters *sum, const Counters *other)
{
	sum->flights += other->flights;
	sum->bytes_to_server += other->bytes_to_server;
	sum->bytes_to_client += other->bytes_to_client;
	sum->rows_to_client += other->rows_to_client;
	sum->chunks += other->chunks;
	sum->late_sum_ns += other->late_sum_ns;
	if (sum->late_max_ns < other->late_max_ns)
		sum->late_max_ns = other->late_max_ns;
}

/* Takes over the record of a connection that has closed. */
void
history_add(ConnectionHistory *history, const ConnectionRecord *record)
{
	counters_add(&history->total, &record->counters);
	history->ring[history->count % HISTORY_LENGTH] = *record;
	history->count++;
}
