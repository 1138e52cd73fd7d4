/*
 * error_options.h
 *	  Options about rows with values that their types' input functions refuse.
 */
#ifndef TOLLFREE_FILE_ERROR_OPTIONS_H
#define TOLLFREE_FILE_ERROR_OPTIONS_H

#include "nodes/pg_list.h"

#define OPTION_ON_ERROR "on_error"
#define OPTION_REJECT_LIMIT "reject_limit"
#define OPTION_LOG_VERBOSITY "log_verbosity"

/* What is told of rows that are left out. */
typedef enum ErrorVerbosity
{
	TELL_COUNT,
	TELL_EACH,
	TELL_NOTHING
} ErrorVerbosity;

/* What becomes of a row with such a value.  All zeros: the error is raised. */
typedef struct ErrorPolicy
{
	bool		ignores;		/* is it left out? */
	bool		sets_null;		/* is the value null, as on_error 'set_null'
								 * of 19 says? */
	int64		limit;			/* how many may be; 0 for any number */
	ErrorVerbosity verbosity;
} ErrorPolicy;

extern bool error_option_is(const char *name);
extern void error_option_read(ErrorPolicy *policy, const char *name,
							  const char *value);
extern void error_options_check(const ErrorPolicy *policy, bool is_binary);
extern List *error_options_for_copy(const ErrorPolicy *policy);

#endif							/* TOLLFREE_FILE_ERROR_OPTIONS_H */
