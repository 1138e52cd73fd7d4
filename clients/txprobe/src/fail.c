/*
 * fail.c
 *		The probe's one way to give up.
 *
 * A figure from a run in which something went wrong must not exist, so the
 * first thing that does ends the program: one message on standard error,
 * nothing on standard output.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "fail.h"

/*
 * Prints one line on standard error and exits with the code.  When several
 * clients fail together, for a server that went away, only the first speaks.
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
