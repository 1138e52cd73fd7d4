/*
 * fail.c
 *		Ends a client on an error: a line on standard error, nothing on
 *		standard output, and an exit code for the kind of error.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

#define FAIL_LINE		1024

/*
 * Prints the message as one line, whatever line breaks it has inside, and
 * exits with the code.
 */
noreturn void
fail(ExitCode code, const char *format,...)
{
	char		line[FAIL_LINE];
	va_list		arguments;
	size_t		length;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	length = strlen(line);
	while (length > 0 && line[length - 1] == '\n')
		line[--length] = '\0';
	for (char *at = line; (at = strchr(at, '\n')) != NULL;)
		*at = ' ';
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, line);
	exit(code);
}
