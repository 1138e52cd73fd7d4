/*
 * error_options.c
 *	  Options about rows with values that their types' input functions refuse.
 *
 *	on_error		'ignore': such a row is left out; 'stop': it is an error
 *	reject_limit	how many may be left out
 *	log_verbosity	'default': their number is told; 'verbose': each, too; 'silent'
 *
 * file_fdw has them from PostgreSQL 18 on, and checks them there.  Before, they are
 * ours, with the same values and errors.  On every major the rows are left out here
 * (read/refuse.c), so COPY is told of none of them but 'set_null'.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

#include "base/error_options.h"

#define VALUE_SET_NULL "set_null"

/* Is it one of these options? */
bool
error_option_is(const char *name)
{
	return strcmp(name, OPTION_ON_ERROR) == 0 ||
		strcmp(name, OPTION_REJECT_LIMIT) == 0 ||
		strcmp(name, OPTION_LOG_VERBOSITY) == 0;
}

/* Raises COPY's ERROR of a value that an option cannot have. */
static void
report_value(const char *name, const char *value)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("COPY %s \"%s\" not recognized",
					asc_toupper(name, strlen(name)), value)));
}

/* What becomes of rows; ERROR if the value says nothing of that. */
static void
read_action(ErrorPolicy *policy, const char *value)
{
	policy->ignores = pg_strcasecmp(value, "ignore") == 0;
	policy->sets_null = PG_VERSION_NUM >= 190000 &&
		pg_strcasecmp(value, VALUE_SET_NULL) == 0;
	if (!policy->ignores && !policy->sets_null &&
		pg_strcasecmp(value, "stop") != 0)
		report_value(OPTION_ON_ERROR, value);
}

/* How many may be left out; ERROR if it is no such number. */
static void
read_limit(ErrorPolicy *policy, const char *value)
{
	policy->limit = pg_strtoint64(value);
	if (policy->limit <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("REJECT_LIMIT (%lld) must be greater than zero",
						(long long) policy->limit)));
}

/* What is told of them; ERROR if the value says nothing of that. */
static void
read_verbosity(ErrorPolicy *policy, const char *value)
{
	if (pg_strcasecmp(value, "default") == 0)
		policy->verbosity = TELL_COUNT;
	else if (pg_strcasecmp(value, "verbose") == 0)
		policy->verbosity = TELL_EACH;
	else if (pg_strcasecmp(value, "silent") == 0)
		policy->verbosity = TELL_NOTHING;
	else
		report_value(OPTION_LOG_VERBOSITY, value);
}

/* Adds what one of them says.  ERROR if it cannot say that. */
void
error_option_read(ErrorPolicy *policy, const char *name, const char *value)
{
	if (strcmp(name, OPTION_ON_ERROR) == 0)
		read_action(policy, value);
	else if (strcmp(name, OPTION_REJECT_LIMIT) == 0)
		read_limit(policy, value);
	else if (strcmp(name, OPTION_LOG_VERBOSITY) == 0)
		read_verbosity(policy, value);
}

/* Raises an ERROR if they contradict each other, or the format. */
void
error_options_check(const ErrorPolicy *policy, bool is_binary)
{
	if (is_binary && policy->ignores)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("only ON_ERROR STOP is allowed in BINARY mode")));
	if (policy->limit > 0 && !policy->ignores)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("COPY %s requires %s to be set to %s", "REJECT_LIMIT",
						"ON_ERROR", "IGNORE")));
}

/* Those of them that COPY is told (DefElem), in the current memory context. */
List *
error_options_for_copy(const ErrorPolicy *policy)
{
	static const char *const verbosities[] = {"default", "verbose", "silent"};

	if (!policy->sets_null)
		return NIL;
	return list_make2(makeDefElem(pstrdup(OPTION_ON_ERROR),
								  (Node *) makeString(pstrdup(VALUE_SET_NULL)), -1),
					  makeDefElem(pstrdup(OPTION_LOG_VERBOSITY),
								  (Node *) makeString(pstrdup(verbosities[policy->verbosity])),
								  -1));
}
