/*
 * main.c
 *		libpqtest: measures libpq's methods to fetch the rows of a statement.
 *
 * The loop, the command line and the figures are those of every client in C
 * (../c); the use of libpq is here.
 */
#include <stdio.h>

#include "methods.h"

/* Executions that the pipeline method sends together. */
#define PIPELINE_BATCH	100

/* Returns libpq's version as x.y; the text is static. */
static const char *
main_libpq_version(void)
{
	static char version[16];

	snprintf(version, sizeof(version), "%d.%d", PQlibVersion() / 10000,
			 PQlibVersion() % 10000);
	return version;
}

/* Runs the client. */
int
main(int argc, char **argv)
{
	static const Method methods[] = {
		{"normal", '\0', "native", false, 1, method_normal},
		{"single-row", 'a', "nothing", true, 1, method_single},
		{"copy", 'y', "nothing", true, 1, method_copy},
		{"copy-binary", '\0', "nothing", true, 1, method_copy_binary},
		{"binary", '\0', "native", false, 1, method_binary},
		{"prepared", '\0', "native", false, 1, method_prepared},
		{"chunked", '\0', "nothing", true, 1, method_chunked},
		{"pipeline", '\0', "nothing", true, PIPELINE_BATCH, method_pipeline},
		{"server-file", '\0', "file", true, 1, method_server_file},
		{NULL, '\0', NULL, false, 0, NULL}
	};
	static const Client client = {
		.driver = "libpq",
		.driver_version = main_libpq_version,
		.open = session_open,
		.close = session_close,
		.methods = methods
	};

	return client_main(&client, argc, argv);
}
