/*
 * fail.h
 *		The link's exit codes.
 */
#ifndef FAIL_H
#define FAIL_H

#include <stdnoreturn.h>

typedef enum ExitCode
{
	EXIT_CODE_OK = 0,
	EXIT_CODE_FAILURE = 1,		/* the system refused something */
	EXIT_CODE_USAGE = 2,		/* an option is missing or bad */
	EXIT_CODE_IN_USE = 3		/* the port or control socket is taken */
} ExitCode;

extern noreturn void fail(ExitCode code, const char *format,...)
			__attribute__((format(printf, 2, 3)));

#endif							/* FAIL_H */
