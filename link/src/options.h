/*
 * options.h
 *		The link's command line.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#include "address.h"

#define DELAY_US_MIN	0
#define DELAY_US_MAX	20000

typedef struct LinkOptions
{
	const char *listen_text;	/* as given, for messages */
	AddressList *listen;		/* the first one is bound */
	AddressList *connect;		/* tried in order, for each connection */
	int64_t		delay_ns;		/* one way */
	const char *control_path;
	const char *question;		/* command for a running link; NULL to run one */
} LinkOptions;

extern void options_parse(LinkOptions *options, int argc, char **argv);
extern void options_free(LinkOptions *options);

#endif							/* OPTIONS_H */
