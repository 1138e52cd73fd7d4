/*
 * fail.c
 *		Ends the link on an error.
 *
 * Only options and start-up end here, and running out of memory for the
 * poll set: a connection that fails is closed, never the program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"

/* Prints one line on standard error and exits with the code. */
void
fail(ExitCode code, const char *format,...)
{
	va_list		arguments;

	fputs("tollfree-link: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(code);
}
