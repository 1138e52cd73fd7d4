/*
 * client.h
 *		The interface between a client in C and its measuring loop.
 *
 * A client fills in a Client and calls client_main().  Its methods tell the
 * Execution when they send, when the first row has arrived and when all have,
 * and pass every cell to its sink.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "request.h"
#include "sink.h"

typedef struct Client
{
	const char *driver;
	const char *(*driver_version) (void);
	Session    *(*open) (const Request *request);	/* or fail() */
	void		(*close) (Session *session);
	const Method *methods;		/* the normal one first; a nameless one ends
								 * it */
} Client;

struct Execution
{
	const Request *request;
	Sink	   *sink;
	int			count;			/* executions to send together */
	uint64_t	wire_bytes;		/* received; 0 where the driver hides it */
	int64_t		sent_ns;
	int64_t		first_row_ns;	/* 0 until there is one */
	int64_t		all_rows_ns;
};

extern void execution_sent(Execution *execution);
extern void execution_first_row(Execution *execution);
extern void execution_all_rows(Execution *execution);

extern int	client_main(const Client *client, int argc, char **argv);

#endif							/* CLIENT_H */
