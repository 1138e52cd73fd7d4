/*
 * main.c
 *		floortest: a lower bound for the time of all drivers.
 *
 * libpq connects; then only bytes are sent and received.  The statement is
 * parsed once a connection; each execution sends the same prepared bytes
 * (Bind, Execute, Sync) with one system call, and drains the answer: of every
 * message only type and length are read, to count rows and their bytes and to
 * find the end.  No cell is read or copied.
 *
 * In the checked execution, and if rows are printed, cells are decoded.
 *
 * Not over TLS: libpq does not expose it.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"
#include "fail.h"
#include "wire.h"

struct Session
{
	PGconn	   *conn;			/* has connected, and owns the socket */
	Wire		wire;
	bool		prepared;
};

/* Returns the version of the protocol; the text is static. */
static const char *
main_protocol_version(void)
{
	return "protocol 3.0";
}

/* Connects, or ends the program. */
static Session *
main_open(const Request *request)
{
	Session    *session = calloc(1, sizeof(Session));

	if (session == NULL)
		fail(EXIT_CODE_FAILURE, "out of memory");
	session->conn = PQconnectdb(request->conninfo);
	if (PQstatus(session->conn) != CONNECTION_OK)
		fail(EXIT_CODE_FAILURE, "%s", PQerrorMessage(session->conn));
	if (PQsslInUse(session->conn))
		fail(EXIT_CODE_UNAVAILABLE,
			 "the floor is measured without TLS: give sslmode=disable");
	wire_begin(&session->wire, PQsocket(session->conn));
	return session;
}

/* Disconnects. */
static void
main_close(Session *session)
{
	wire_end(&session->wire);
	PQfinish(session->conn);
	free(session);
}

/* Runs the statement once, parsing it first in a new connection. */
static void
main_execute(Session *session, Execution *execution)
{
	Wire	   *wire = &session->wire;

	execution_sent(execution);
	if (!session->prepared)
		wire_add_parse(wire, execution->request->sql);
	wire_add_execute(wire);
	wire_send(wire);
	session->prepared = true;
	wire_drain(wire, execution);
	execution_all_rows(execution);
}

/* Runs the client. */
int
main(int argc, char **argv)
{
	static const Method methods[] = {
		{"normal", '\0', "nothing", true, 1, main_execute},
		{NULL, '\0', NULL, false, 0, NULL}
	};
	static const Client client = {
		.driver = "floor",
		.driver_version = main_protocol_version,
		.open = main_open,
		.close = main_close,
		.methods = methods
	};

	return client_main(&client, argc, argv);
}
