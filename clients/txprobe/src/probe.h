/*
 * probe.h
 *		A run of the probe: its phases and their results.
 */
#ifndef PROBE_H
#define PROBE_H

#include "link.h"
#include "options.h"
#include "samples.h"

/* When the link's totals are read; each phase lies between two readings. */
typedef enum ProbeReading
{
	READING_START,
	READING_CONNECTED,
	READING_FIRST,				/* after the first transaction */
	READING_WARM,				/* after the warm-up */
	READING_END,
	READING_COUNT
} ProbeReading;

/* The results of a run. */
typedef struct ProbeResult
{
	Samples		latencies;		/* of all clients, sorted */
	uint64_t	retries;
	uint64_t	rows;
	int64_t		measured_ns;	/* first client's start to last's end */
	int64_t		connect_ns;		/* mean over clients */
	int			server_version; /* as PQserverVersion gives it */
	LinkTotals	totals[READING_COUNT];	/* only with a link */
} ProbeResult;

extern void probe_run(ProbeResult *result, const ProbeOptions *options);

#endif							/* PROBE_H */
