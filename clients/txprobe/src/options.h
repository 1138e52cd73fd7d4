/*
 * options.h
 *		The probe's command line.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "session.h"

#define CLIENTS_DEFAULT		1
#define CLIENTS_MIN			1
#define CLIENTS_MAX			1000

/* The largest scale whose account numbers fit an integer column. */
#define SCALE_DEFAULT		1
#define SCALE_MIN			1
#define SCALE_MAX			21474

#define WARMUP_DEFAULT		1
#define WARMUP_MIN			0
#define WARMUP_MAX			1000000000

#define TRANSACTIONS_MIN	1
#define TRANSACTIONS_MAX	1000000000

#define SECONDS_MIN			1
#define SECONDS_MAX			86400

#define SEED_MIN			0
#define SEED_MAX			INT64_MAX

typedef struct ProbeOptions
{
	const char *conninfo;
	const Script *script;
	const char *protocol_name;
	SessionProtocol protocol;
	int			scale;
	int			clients;
	int64_t		warmup;			/* transactions per client, not measured */
	int64_t		transactions;	/* per client; 0 when seconds limit the run */
	int64_t		seconds;		/* 0 when transactions do */
	const char *control_path;	/* of a link; NULL for none */
	uint64_t	seed;
} ProbeOptions;

extern void options_parse(ProbeOptions *options, int argc, char **argv);

#endif							/* OPTIONS_H */
