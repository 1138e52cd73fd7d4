/*
 * probe.c
 *		A run of the probe: its phases and their results.
 *
 *		connect -> first transaction -> rest of the warm-up -> measured
 *
 * Each phase runs all clients, one thread each, and ends when the last of them
 * has.  A latency is taken just around the transaction: drawing its values
 * and keeping the latency lie outside.
 *
 * With a link, its totals are read between the phases.  A phase has received
 * all its answers by then, and the link counts a byte before it passes it on,
 * so every awaited byte is counted.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "fail.h"
#include "probe.h"

/* How long a phase lasts, and whether its latencies are kept. */
typedef struct ProbePhase
{
	int64_t		transactions;	/* per client; 0 for no limit but time */
	int64_t		seconds;		/* 0 for no limit of time */
	bool		measured;
} ProbePhase;

/* One client, touched by its own thread alone while a phase runs. */
typedef struct ProbeClient
{
	pthread_t	thread;
	Session		session;
	RandomState random;
	int			scale;
	const ProbePhase *phase;
	Samples		latencies;
} ProbeClient;

/* Runs a client's share of a phase. */
static void *
probe_client_run(void *argument)
{
	ProbeClient *client = argument;
	const ProbePhase *phase = client->phase;
	int64_t		started_ns = clock_now_ns();
	int64_t		ended_ns = started_ns;

	for (int64_t i = 0;
		 phase->seconds > 0 ?
		 ended_ns - started_ns < phase->seconds * NS_PER_S :
		 i < phase->transactions; i++)
	{
		ScriptValues values;
		int64_t		begun_ns;

		script_draw(&values, &client->random, client->scale);
		begun_ns = clock_now_ns();
		session_run(&client->session, &values);
		ended_ns = clock_now_ns();
		if (phase->measured)
			samples_add(&client->latencies, ended_ns - begun_ns);
	}
	return NULL;
}

/* Runs a phase on all clients.  Returns how long it took. */
static int64_t
probe_run_phase(ProbeClient *clients, int count, const ProbePhase *phase)
{
	int64_t		started_ns = clock_now_ns();

	for (int i = 0; i < count; i++)
	{
		int			error;

		clients[i].phase = phase;
		error = pthread_create(&clients[i].thread, NULL, probe_client_run,
							   &clients[i]);
		if (error != 0)
			fail(EXIT_CODE_FAILURE, "could not start client %d: %s", i + 1,
				 strerror(error));
	}
	for (int i = 0; i < count; i++)
		pthread_join(clients[i].thread, NULL);
	return clock_now_ns() - started_ns;
}

/*
 * Connects every client, one after the other so that they do not slow each
 * other down.  Returns the mean time.
 */
static int64_t
probe_connect(ProbeClient *clients, const ProbeOptions *options)
{
	int64_t		started_ns = clock_now_ns();

	for (int i = 0; i < options->clients; i++)
	{
		ProbeClient *client = &clients[i];

		client->scale = options->scale;
		client->session.script = options->script;
		client->session.protocol = options->protocol;
		random_seed(&client->random, options->seed, (uint64_t) i);
		session_open(&client->session, options->conninfo);
	}
	return (clock_now_ns() - started_ns) / options->clients;
}

/* Reads the link's totals, if there is a link. */
static void
probe_read_link(ProbeResult *result, ProbeReading reading, int link)
{
	if (link >= 0)
		result->totals[reading] = link_read(link);
}

/* Adds up the clients' share of the measured phase, and disconnects them. */
static void
probe_collect(ProbeResult *result, ProbeClient *clients, int count)
{
	result->server_version = PQserverVersion(clients[0].session.conn);
	for (int i = 0; i < count; i++)
	{
		samples_append(&result->latencies, &clients[i].latencies);
		result->retries += clients[i].session.retries;
		result->rows += clients[i].session.rows;
		samples_free(&clients[i].latencies);
		session_close(&clients[i].session);
	}
	samples_sort(&result->latencies);
}

/* Resets the sessions' counters after the warm-up. */
static void
probe_forget_warmup(ProbeClient *clients, int count)
{
	for (int i = 0; i < count; i++)
	{
		clients[i].session.retries = 0;
		clients[i].session.rows = 0;
	}
}

/* Runs the probe; the caller frees the result's latencies. */
void
probe_run(ProbeResult *result, const ProbeOptions *options)
{
	const int	count = options->clients;
	const int64_t first_count = options->warmup > 0 ? 1 : 0;
	const ProbePhase first = {.transactions = first_count};
	const ProbePhase rest = {.transactions = options->warmup - first_count};
	const ProbePhase measured = {options->transactions, options->seconds, true};
	ProbeClient *clients = calloc((size_t) count, sizeof(*clients));
	int			link = options->control_path ?
		link_open(options->control_path) : -1;

	if (clients == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory for %d clients", count);
	memset(result, 0, sizeof(*result));
	probe_read_link(result, READING_START, link);
	result->connect_ns = probe_connect(clients, options);
	probe_read_link(result, READING_CONNECTED, link);
	probe_run_phase(clients, count, &first);
	probe_read_link(result, READING_FIRST, link);
	probe_run_phase(clients, count, &rest);
	probe_forget_warmup(clients, count);
	probe_read_link(result, READING_WARM, link);
	result->measured_ns = probe_run_phase(clients, count, &measured);
	probe_read_link(result, READING_END, link);

	probe_collect(result, clients, count);
	free(clients);
	if (link >= 0)
		close(link);
}
