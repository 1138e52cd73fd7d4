/*
 * fail.h
 *		A client's exit codes.
 */
#ifndef FAIL_H
#define FAIL_H

#include <stdnoreturn.h>

typedef enum ExitCode
{
	EXIT_CODE_OK = 0,
	EXIT_CODE_FAILURE = 1,		/* the database, or an error of it */
	EXIT_CODE_USAGE = 2,		/* an option is missing or bad */
	EXIT_CODE_UNAVAILABLE = 77	/* the driver here lacks the method */
} ExitCode;

extern noreturn void fail(ExitCode code, const char *format,...)
			__attribute__((format(printf, 2, 3)));

#endif							/* FAIL_H */
