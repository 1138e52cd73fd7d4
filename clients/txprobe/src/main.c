/*
 * main.c
 *		txprobe: runs pgbench's transactions, checks every answer, and keeps
 *		every latency.
 *
 * pgbench discards the rows it reads, and its log of latencies has recorded 0
 * us for transactions that took longer.
 *
 *		options					the command line
 *		probe -> session		phases and clients; one connection
 *		script, random			the transactions and their values
 *		samples, link			latencies; flights and bytes
 *
 * It creates and resets no tables (pgbench -i does), and compares no runs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "fail.h"
#include "probe.h"

#define NS_PER_US		1000.0

/* Prints the run's parameters and throughput, leaving the object open. */
static void
main_print_run(const ProbeOptions *options, const ProbeResult *result)
{
	double		seconds = (double) result->measured_ns / (double) NS_PER_S;

	printf("{\"program\": \"txprobe\", \"version\": \"%s\", \"script\": \"%s\""
		   ", \"clients\": %d, \"protocol\": \"%s\", \"transactions\": %zu"
		   ", \"committed\": %zu, \"retries\": %" PRIu64 ", \"seconds\": %.6f"
		   ", \"connect_us\": %.3f, \"tps\": %.3f",
		   TOLLFREE_VERSION, options->script->name, options->clients,
		   options->protocol_name, result->latencies.count,
		   result->latencies.count +
		   (size_t) options->warmup * (size_t) options->clients,
		   result->retries,
		   seconds, (double) result->connect_ns / NS_PER_US,
		   (double) result->latencies.count / seconds);
}

/* Prints one latency as a member of the object. */
static void
main_print_latency(const char *name, double ns)
{
	printf(", \"latency_%s_us\": %.3f", name, ns / NS_PER_US);
}

/* Prints the members with the latencies. */
static void
main_print_latencies(const Samples *latencies)
{
	static const struct
	{
		const char *name;
		int			per_mille;
	}			percentiles[] =
	{
		{"min", 0}, {"p50", 500}, {"p90", 900}, {"p95", 950}, {"p99", 990},
		{"p999", 999}, {"max", 1000}
	};

	main_print_latency("mean", samples_mean_ns(latencies));
	main_print_latency("stddev", samples_stddev_ns(latencies));
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		main_print_latency(percentiles[i].name, (double)
						   samples_percentile_ns(latencies,
												 percentiles[i].per_mille));
}

/* Prints the members with the link's totals. */
static void
main_print_link(const LinkTotals *totals, size_t transactions)
{
	const LinkTotals *warm = &totals[READING_WARM];
	const LinkTotals *end = &totals[READING_END];
	double		count = (double) transactions;

	printf(", \"flights_connect\": %" PRIu64 ", \"flights_first_tx\": %" PRIu64
		   ", \"flights_per_tx\": %.6g, \"bytes_to_server_per_tx\": %.6f"
		   ", \"bytes_to_client_per_tx\": %.6f",
		   totals[READING_CONNECTED].flights - totals[READING_START].flights,
		   totals[READING_FIRST].flights - totals[READING_CONNECTED].flights,
		   (double) (end->flights - warm->flights) / count,
		   (double) (end->bytes_to_server - warm->bytes_to_server) / count,
		   (double) (end->bytes_to_client - warm->bytes_to_client) / count);
}

/* Runs the probe and prints its one line. */
int
main(int argc, char **argv)
{
	ProbeOptions options;
	ProbeResult result;

	options_parse(&options, argc, argv);
	probe_run(&result, &options);
	main_print_run(&options, &result);
	main_print_latencies(&result.latencies);
	printf(", \"rows\": %" PRIu64 ", \"server_version\": %d"
		   ", \"libpq_version\": %d",
		   result.rows, result.server_version, PQlibVersion());
	if (options.control_path != NULL)
		main_print_link(result.totals, result.latencies.count);
	puts("}");
	samples_free(&result.latencies);
	if (fflush(stdout) != 0)
		fail(EXIT_CODE_FAILURE, "could not write the result");
	return EXIT_CODE_OK;
}
