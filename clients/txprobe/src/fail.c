/*
 * fail.c
 *		Ends the probe on an error.
 *
 * A run with an error must not give a figure, so the first error ends the
 * program: one message on standard error, nothing on standard output.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "fail.h"

/*
 * Prints one line on standard error and exits with the code.  If several
 * clients fail together, as when the server ends, only the first prints.
 */
void
fail(ExitCode code, const char *format,...)
{
	static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;
	va_list		arguments;

	pthread_mutex_lock(&speaking);
	fputs("txprobe: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	_exit(code);
}
