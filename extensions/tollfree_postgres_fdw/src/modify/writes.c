/*
 * writes.c
 *	  The remote commands that write rows of one table.
 *
 * Most statements write only one row.  So a single first row is written by a
 * command that the session may keep prepared for later statements.
 *
 * For further rows a command is prepared, in the batch that executes it
 * first.  There are up to two such commands, for two numbers of rows: those
 * of an INSERT's full batches, and of its last one.  Their prepared
 * statements belong to the executor node, and are dropped with a later batch.
 *
 * Large batches of an INSERT become arrays once their command has been executed
 * a few times (arrays.c).
 *
 * Those of an UPDATE or DELETE write one row each: one of the remote table that
 * is named, and one of its partitions or children (sql/located.c).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/settings.h"
#include "modify/writes.h"
#include "session/prepared.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "sql/located.h"
#include "wire/ctids.h"
#include "wire/rows.h"

/* Rows of a batch that may become arrays: fewer gain little, and would take more bytes. */
#define ARRAYS_ROWS_MIN 50

/*
 * Executions of a batch's command before batches become arrays.  The remote
 * server makes a custom plan for each of these.
 */
#define ARRAYS_EXECUTIONS 5

/* The command that writes nrows rows */
typedef struct WriteCommand
{
	int			nrows;			/* 0 if there is none */
	bool		has_table;		/* is their table a parameter, the last one? */
	char	   *sql;
	int			executions;
	char		statement[STATEMENT_NAME_SIZE]; /* "" until it is prepared */
} WriteCommand;

struct RowWrites
{
	Session    *session;
	Relation	rel;
	ModifyPlan	plan;
	AttrNumber	ctid_attno;		/* in the plan's rows; 0 for INSERT */
	const EState *estate;		/* of the execution, for ctids_resolve */
	Index		rtindex;		/* of the table, the same */
	WriteCommand commands[2];	/* the second for another number of rows, or
								 * one whose table is a parameter */

	int			nparams;		/* per row */
	FmgrInfo   *output;			/* of each parameter of a row */
	Oid		   *types;			/* of each parameter of a row */
	bool		allows_arrays;	/* may batches become arrays, as far as known? */
	RowArrays  *arrays;			/* NULL until they are considered */
	bool		has_begun;		/* has a row been written? */
	bool		needs_path;		/* does an output function use search_path? */
	MemoryContext context;		/* of this struct and its members */
};

/* Adds a parameter of a type: looks up the output function. */
static void
add_param(RowWrites *writes, Oid type)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(type, &function, &is_varlena);
	fmgr_info(function, &writes->output[writes->nparams]);
	writes->types[writes->nparams++] = type;
	writes->needs_path |= rows_needs_path(function);
}

/*
 * Adds the parameters of a row: a ctid if there is one, then the columns.  The
 * types end with that of a further parameter for the table.
 */
static void
add_params(RowWrites *writes)
{
	TupleDesc	tupdesc = RelationGetDescr(writes->rel);
	int			most = list_length(writes->plan.targets) + 2;
	ListCell   *cell;

	writes->output = palloc0(most * sizeof(FmgrInfo));
	writes->types = palloc0(most * sizeof(Oid));
	if (writes->ctid_attno != 0)
		add_param(writes, TIDOID);
	foreach(cell, writes->plan.targets)
	{
		Form_pg_attribute attribute = TupleDescAttr(tupdesc,
													lfirst_int(cell) - 1);

		if (!attribute->attgenerated)
			add_param(writes, attribute->atttypid);
	}
	writes->types[writes->nparams] = OIDOID;
}

/*
 * Makes the writer of a table's rows by a plan, in this context.  ctid_attno
 * is the attribute of the subplan's rows that has the ctid of the row to be
 * modified, 0 for INSERT.
 */
RowWrites *
writes_create(Session *session, const ResultRelInfo *rinfo,
			  const EState *estate, const ModifyPlan *plan,
			  AttrNumber ctid_attno)
{
	RowWrites  *writes = palloc0(sizeof(RowWrites));

	writes->session = session;
	writes->rel = rinfo->ri_RelationDesc;
	writes->rtindex = rinfo->ri_RangeTableIndex;
	writes->estate = estate;
	writes->plan = *plan;
	writes->ctid_attno = ctid_attno;
	writes->context = CurrentMemoryContext;
	add_params(writes);
	return writes;
}

/*
 * The index of the command for nrows rows, which may be occupied by another
 * one.
 */
static int
command_index(const RowWrites *writes, int nrows, bool has_table)
{
	int			first = writes->commands[0].nrows;

	if (writes->ctid_attno != 0)
		return has_table ? 1 : 0;
	return first == nrows || first == 0 ? 0 : 1;
}

/* Allows arrays for batches of rows. */
void
writes_allow_arrays(RowWrites *writes)
{
	writes->allows_arrays = true;
}

/* Is the next batch that is written by this command to be sent as arrays? */
static bool
wants_arrays(const WriteCommand *command)
{
	return command->nrows >= ARRAYS_ROWS_MIN &&
		command->executions >= ARRAYS_EXECUTIONS;
}

/*
 * Can the command for nrows rows be made while a pipeline has buffered others?
 * Not if it replaces one of these, or if it depends on an answer.
 */
bool
writes_are_ready(const RowWrites *writes, int nrows)
{
	const WriteCommand *command =
		&writes->commands[command_index(writes, nrows, false)];

	if (command->nrows != nrows)
		return command->nrows == 0;
	return writes->arrays == NULL || !wants_arrays(command) ||
		!arrays_are_undecided(writes->arrays);
}

/* The text of a command, in this context. */
static char *
make_sql(const RowWrites *writes, int nrows, bool has_table)
{
	if (writes->ctid_attno != 0)
		return located_write(writes->plan.sql, writes->nparams, has_table);
	return nrows == 1 ? pstrdup(writes->plan.sql) :
		deparse_insert_rows(&writes->plan, writes->rel, writes->nparams, nrows);
}

/* Finds or makes the command for nrows rows; drops the one at its index. */
static WriteCommand *
find_command(RowWrites *writes, int nrows, bool has_table)
{
	WriteCommand *command =
		&writes->commands[command_index(writes, nrows, has_table)];
	MemoryContext old;

	if (command->nrows == nrows)
		return command;
	prepared_deallocate_later(writes->session, command->statement);
	command->statement[0] = '\0';
	old = MemoryContextSwitchTo(writes->context);
	if (command->sql != NULL)
		pfree(command->sql);
	command->sql = make_sql(writes, nrows, has_table);
	command->nrows = nrows;
	command->executions = 0;
	MemoryContextSwitchTo(old);
	return command;
}

/* Prints one row's columns into its parameters. */
static void
print_columns(RowWrites *writes, TupleTableSlot *slot, int first,
			  const char **values)
{
	int			param = first;
	ListCell   *cell;

	foreach(cell, writes->plan.targets)
	{
		AttrNumber	attno = lfirst_int(cell);
		bool		is_null;
		Datum		value;

		if (TupleDescAttr(RelationGetDescr(writes->rel),
						  attno - 1)->attgenerated)
			continue;
		value = slot_getattr(slot, attno, &is_null);
		values[param] = is_null ? NULL
			: OutputFunctionCall(&writes->output[param], value);
		param++;
	}
}

/*
 * Prints the ctid of the row to be modified as its first parameter and, if it is
 * of a partition or child, the OID of that as its last one.
 */
static void
print_ctid(RowWrites *writes, TupleTableSlot *plan_slot, const char **values)
{
	bool		is_null;
	Datum		datum = ExecGetJunkAttribute(plan_slot, writes->ctid_attno,
											 &is_null);
	ItemPointerData ctid;
	Oid			table;

	if (is_null)
		elog(ERROR, "ctid is NULL");
	ctid = *(ItemPointer) DatumGetPointer(datum);
	table = ctids_resolve(writes->estate, writes->rtindex, &ctid);
	values[0] = OutputFunctionCall(&writes->output[0], PointerGetDatum(&ctid));
	if (OidIsValid(table))
		values[writes->nparams] = psprintf("%u", table);
}

/*
 * Prints the parameters of all rows, in this context; behind them NULL, or the
 * table of the one row.
 */
static const char **
print_params(RowWrites *writes, TupleTableSlot **slots,
			 TupleTableSlot *plan_slot, int nrows)
{
	const char **values = palloc0((nrows * writes->nparams + 1) *
								  sizeof(char *));
	int			first = writes->ctid_attno != 0 ? 1 : 0;
	int			nestlevel;

	if (writes->ctid_attno != 0)
		print_ctid(writes, plan_slot, values);
	if (writes->nparams == first)
		return values;
	nestlevel = rows_enter_transmission(writes->needs_path);
	for (int i = 0; i < nrows; i++)
		print_columns(writes, slots[i], first, values + i * writes->nparams);
	rows_leave_transmission(nestlevel);
	return values;
}

/*
 * Makes the commands that insert a batch as arrays, in this context, and
 * returns their number; 0 if it is to be sent as parameters.
 */
static int
make_arrays(RowWrites *writes, TupleTableSlot **slots, int nrows,
			RemoteCommand *commands)
{
	const WriteCommand *command = find_command(writes, nrows, false);
	int			ncommands = 0;

	if (!wants_arrays(command))
		return 0;
	if (writes->arrays != NULL)
		ncommands = arrays_make(writes->arrays, slots, nrows, command->sql,
								commands);
	settings_require(REQUIRE_ARRAYS, ncommands > 0);
	return ncommands;
}

/*
 * Counts an execution.  With the one after which arrays are considered it makes
 * a command that requests what these depend on; returns the number of commands.
 */
static int
count_execution(RowWrites *writes, WriteCommand *command,
				RemoteCommand *commands)
{
	MemoryContext old;

	command->executions++;
	if (!wants_arrays(command) || !writes->allows_arrays)
		return 0;
	writes->allows_arrays = false;
	old = MemoryContextSwitchTo(writes->context);
	writes->arrays = arrays_request(writes->session, writes->rel, &writes->plan,
									commands);
	MemoryContextSwitchTo(old);
	return writes->arrays != NULL ? 1 : 0;
}

/*
 * Makes the commands of one execution, in this context, and returns their
 * number.  A single first row needs no prepared statement of the node.
 */
int
writes_make(RowWrites *writes, TupleTableSlot **slots,
			TupleTableSlot *plan_slot, int nrows, RemoteCommand *commands)
{
	int			ncommands = nrows > 1 ?
		make_arrays(writes, slots, nrows, commands) : 0;
	RemoteCommand execution = {.shown = writes->plan.sql};
	bool		is_first = !writes->has_begun && nrows == 1;
	bool		has_table;
	WriteCommand *command;

	if (ncommands > 0)
		return ncommands;
	execution.nparams = writes->nparams * nrows;
	execution.params = print_params(writes, slots, plan_slot, nrows);
	has_table = execution.params[execution.nparams] != NULL;
	execution.nparams += has_table;
	writes->has_begun = true;
	if (is_first)
	{
		execution.sql = make_sql(writes, 1, has_table);
		execution.hints.is_cacheable = true;
		execution.hints.returns_nothing = !writes->plan.has_returning;
		execution.hints.printed_types = writes->types;
		commands[0] = execution;
		return 1;
	}
	command = find_command(writes, nrows, has_table);
	if (writes->ctid_attno == 0)
		execution.shown = command->sql;
	ncommands = count_execution(writes, command, commands);
	return ncommands + prepared_make(writes->session, command->statement,
									 command->sql, execution,
									 commands + ncommands);
}

/* Has a batch been sent as arrays? */
bool
writes_use_arrays(const RowWrites *writes)
{
	return writes->arrays != NULL && arrays_are_used(writes->arrays);
}

/*
 * The number of these rows that one command can write, limited by its
 * parameters.
 */
int
writes_limit(const RowWrites *writes, int nrows)
{
	return Min(nrows, PQ_QUERY_PARAM_MAX_LIMIT / Max(writes->nparams, 1));
}

/* Drops the statements after the last row. */
void
writes_end(RowWrites *writes)
{
	for (int i = 0; i < lengthof(writes->commands); i++)
		prepared_deallocate_later(writes->session,
								  writes->commands[i].statement);
	if (writes->arrays != NULL)
		arrays_end(writes->arrays);
}
