/*
 * main.c
 *		odbctest: measures psqlODBC's methods to fetch the rows of a
 *		statement, through the driver manager unixODBC.
 *
 * The loop, the command line and the figures are those of every client in C
 * (../c); the use of ODBC is here.
 */
#include "methods.h"

/* Runs the client. */
int
main(int argc, char **argv)
{
	static const Method methods[] = {
		{"normal", '\0', "native", false, 1, method_normal},
		{"bound-array", 'a', "native", false, 1, method_bound},
		{"copy", 'y', "nothing", true, 1, method_copy},
		{"cursor", '\0', "nothing", true, 1, method_cursor},
		{"prepared", '\0', "native", false, 1, method_prepared},
		{"server-file", '\0', "file", true, 1, method_server_file},
		{NULL, '\0', NULL, false, 0, NULL}
	};
	static const Client client = {
		.driver = "psqlODBC",
		.driver_version = session_driver_version,
		.open = session_open,
		.close = session_close,
		.methods = methods
	};

	return client_main(&client, argc, argv);
}
