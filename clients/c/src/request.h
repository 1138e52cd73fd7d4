/*
 * request.h
 *		A client's command line, and the methods it chooses among.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#define EXECUTIONS_MIN		1
#define EXECUTIONS_MAX		1000000000
#define WARMUP_MIN			0
#define WARMUP_MAX			1000000
#define LIMIT_MIN			1
#define LIMIT_MAX			1000000

typedef struct Session Session; /* the client's own: one connection */
typedef struct Execution Execution;

/* One way to get at the rows. */
typedef struct Method
{
	const char *name;			/* as in -m */
	char		letter;			/* 'a' or 'y' where that switch means it too */
	const char *held;			/* what is held when all rows are there */
	bool		streams;		/* cells are read while rows arrive */
	int			batch;			/* how many executions are sent together */
	void		(*execute) (Session *session, Execution *execution);
} Method;

typedef struct Request
{
	const char *conninfo;
	const char *sql;
	const char *output;			/* path to print to; NULL to print nothing */
	const char *server_file;	/* path that the server writes to, or NULL */
	bool		connect_once;
	int64_t		executions;
	int64_t		warmup;			/* executions that are not timed */
	int64_t		limit_ns;		/* no execution begins later; 0 for no limit */
	const Method *method;
} Request;

struct Client;

extern void request_parse(Request *request, const struct Client *client,
						  int argc, char **argv);

#endif							/* REQUEST_H */
