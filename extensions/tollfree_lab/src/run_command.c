/*
 * run_command.c
 *	  lab.run_command: runs one command and returns its outcome.
 *
 * This file checks the arguments, shapes the result and decides which
 * outcomes are errors.  A command that ran, however it ended, is a row; one
 * that could not be executed is an ERROR.  process.c runs it.
 *
 * All memory is in the context of the call.
 */
#include "postgres.h"

#include "access/htup_details.h"

#include <limits.h>
#include <sys/wait.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "compat_export.h"
#include "output.h"
#include "process.h"

/* The two outputs and their copies have to fit into a row. */
#define RUN_OUTPUT_MAX (256 * 1024 * 1024)

/* The longest time that a setting such as statement_timeout can hold */
#define RUN_LIMIT_MAX_US ((int64) INT_MAX * 1000)

typedef enum RunArgument
{
	ARG_ARGV,
	ARG_ENV,
	ARG_TIME_LIMIT,
	ARG_STDOUT_LIMIT,
	ARG_STDERR_TAIL
} RunArgument;

#define RUN_ARGUMENTS (ARG_STDERR_TAIL + 1)

static const char *const argument_names[RUN_ARGUMENTS] = {
	"argv", "env", "time_limit", "stdout_limit", "stderr_tail"
};

typedef enum RunColumn
{
	COL_EXIT_STATUS,
	COL_TERM_SIGNAL,
	COL_TIMED_OUT,
	COL_WALL_NS,
	COL_USER_US,
	COL_SYSTEM_US,
	COL_PEAK_KB,
	COL_STDOUT,
	COL_STDOUT_TRUNCATED,
	COL_STDERR
} RunColumn;

#define RUN_COLUMNS (COL_STDERR + 1)

PG_MODULE_MAGIC;

COMPAT_SQL_FUNCTION(run_command);

/* Raises an ERROR unless the caller may run commands with these arguments. */
static void
check_call(FunctionCallInfo fcinfo)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to run a command"),
				 errdetail("A command runs as the operating system user of the server.")));
	for (int i = 0; i < RUN_ARGUMENTS; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", argument_names[i])));
	}
}

/* The elements of a text array argument, as C strings in this context. */
static char **
get_strings(FunctionCallInfo fcinfo, RunArgument which, int *count)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(which);
	char	  **strings;
	Datum	   *elements;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("%s must be a one-dimensional array",
						argument_names[which])));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not contain nulls", argument_names[which])));

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, NULL, count);
	strings = palloc(*count * sizeof(char *));
	for (int i = 0; i < *count; i++)
		strings[i] = TextDatumGetCString(elements[i]);
	return strings;
}

/* Raises an ERROR if there is no command to run. */
static void
check_argv(const Command *command)
{
	if (command->argc == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argv must not be empty"),
				 errhint("Its first element names the command.")));
	if (command->argv[0][0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the first element of argv must not be empty"),
				 errhint("It names the command.")));
}

/* Raises an ERROR if an earlier entry has the name of this one. */
static void
check_env_unique(char **env, int position)
{
	int			name_length = strchr(env[position], '=') - env[position];

	for (int i = 0; i < position; i++)
	{
		if (strncmp(env[i], env[position], name_length + 1) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("env has more than one entry for \"%.*s\"",
							name_length, env[position])));
	}
}

/*
 * Raises an ERROR if the environment is not a set of NAME=value.  The message
 * must not show an entry: its value may be a password.
 */
static void
check_env(const Command *command)
{
	for (int i = 0; i < command->env_count; i++)
	{
		const char *equals = strchr(command->env[i], '=');

		CHECK_FOR_INTERRUPTS();
		if (equals == NULL || equals == command->env[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("element %d of env is not of the form NAME=value",
							i + 1)));
		check_env_unique(command->env, i);
	}
}

/* The time limit in microseconds; a month counts as 30 days. */
static int64
get_time_limit(FunctionCallInfo fcinfo)
{
	const Interval *limit = PG_GETARG_INTERVAL_P(ARG_TIME_LIMIT);
	double		days = limit->month * (double) DAYS_PER_MONTH + limit->day;
	double		limit_us = days * USECS_PER_DAY + limit->time;

	if (limit_us <= 0 || limit_us > RUN_LIMIT_MAX_US)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time_limit must be positive and at most %d days",
						(int) (RUN_LIMIT_MAX_US / USECS_PER_DAY))));
	return (int64) limit_us;
}

/* A limit in bytes. */
static int
get_byte_limit(FunctionCallInfo fcinfo, RunArgument which)
{
	int			limit = PG_GETARG_INT32(which);

	if (limit <= 0 || limit > RUN_OUTPUT_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be between 1 and %d bytes",
						argument_names[which], RUN_OUTPUT_MAX)));
	return limit;
}

/* Would the command be looked up in PATH, but env has none? */
static bool
lacks_path(const Command *command)
{
	if (strchr(command->argv[0], '/') != NULL)
		return false;
	for (int i = 0; i < command->env_count; i++)
	{
		if (strncmp(command->env[i], "PATH=", 5) == 0)
			return false;
	}
	return true;
}

/* Raises an ERROR for a command without a result. */
static void
check_outcome(const Command *command, const RunReport *report)
{
	int			error = report->error;

	if (report->outcome == RUN_NOT_STARTED)
	{
		errno = error;
		ereport(ERROR,
				(error == ENOEXEC ? errcode(ERRCODE_WRONG_OBJECT_TYPE)
				 : errcode_for_file_access(),
				 errmsg("could not execute command \"%s\": %m",
						command->argv[0]),
				 error == ENOEXEC ?
				 errhint("A script needs a first line that names its interpreter.") : 0,
				 lacks_path(command) ?
				 errhint("Give a path, or set PATH in env: the server's is not used.") : 0));
	}
	if (report->outcome == RUN_NOT_KILLED)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not end command \"%s\"", command->argv[0]),
				 errdetail("It did not end within %d ms of SIGKILL.",
						   RUNNER_KILL_LIMIT_MS),
				 errhint("See whether it runs as another user.")));
}

/* Runs the command; on an ERROR or a FATAL exit no process of it survives. */
static void
execute(const Command *command, Output *out, Output *err, RunReport *report)
{
	Process		process;

	process_init(&process);
	PG_ENSURE_ERROR_CLEANUP(process_end, PointerGetDatum(&process));
	{
		process_start(&process, command);
		process_wait(&process, out, err, report);
	}
	PG_END_ENSURE_ERROR_CLEANUP(process_end, PointerGetDatum(&process));
	process_end(0, PointerGetDatum(&process));

	check_outcome(command, report);
}

/* The result row. */
static Datum
make_row(FunctionCallInfo fcinfo, const RunReport *report,
		 const Output *out, const Output *err)
{
	int			status = report->wait_status;
	Datum		values[RUN_COLUMNS] = {0};
	bool		nulls[RUN_COLUMNS] = {0};
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	nulls[COL_EXIT_STATUS] = !WIFEXITED(status);
	nulls[COL_TERM_SIGNAL] = !WIFSIGNALED(status);
	values[COL_EXIT_STATUS] = Int32GetDatum(WEXITSTATUS(status));
	values[COL_TERM_SIGNAL] = Int32GetDatum(WTERMSIG(status));
	values[COL_TIMED_OUT] = BoolGetDatum(report->timed_out != 0);
	values[COL_WALL_NS] = Int64GetDatum(report->wall_ns);
	values[COL_USER_US] = Int64GetDatum(report->user_us);
	values[COL_SYSTEM_US] = Int64GetDatum(report->system_us);
	values[COL_PEAK_KB] = Int64GetDatum(report->peak_kb);
	values[COL_STDOUT] = PointerGetDatum(output_text(out));
	values[COL_STDOUT_TRUNCATED] = BoolGetDatum(output_truncated(out));
	values[COL_STDERR] = PointerGetDatum(output_text(err));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc),
											 values, nulls));
}

/* The SQL function; sql/10_run_command.sql has its signature. */
Datum
run_command(PG_FUNCTION_ARGS)
{
	Command		command;
	Output		out;
	Output		err;
	RunReport	report;

	check_call(fcinfo);
	command.argv = get_strings(fcinfo, ARG_ARGV, &command.argc);
	check_argv(&command);
	command.env = get_strings(fcinfo, ARG_ENV, &command.env_count);
	check_env(&command);
	command.limit_us = get_time_limit(fcinfo);
	output_init(&out, KEEP_HEAD, get_byte_limit(fcinfo, ARG_STDOUT_LIMIT));
	output_init(&err, KEEP_TAIL, get_byte_limit(fcinfo, ARG_STDERR_TAIL));

	execute(&command, &out, &err, &report);
	return make_row(fcinfo, &report, &out, &err);
}
