/*
 * writes.c
 *	  The remote commands that write rows of one table.
 *
 * The first row is sent by itself, by a statement that the session keeps if the
 * command comes again: most commands write but one row.  For those that follow
 * a command is prepared with the batch that executes it first, for up to two
 * numbers of rows: an INSERT's full batches and its last one.  These prepared
 * statements belong to the executor node; they are dropped along with a later
 * batch.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "modify/writes.h"
#include "session/results.h"
#include "session/session.h"
#include "session/state.h"
#include "sql/command.h"
#include "sql/deparse.h"
#include "sql/plan.h"
#include "wire/rows.h"

/* The command for a number of rows */
typedef struct WriteCommand
{
	int			nrows;			/* 0 if there is none */
	char	   *sql;
	char	   *statement;		/* its name once prepared, else NULL */
} WriteCommand;

struct RowWrites
{
	Session    *session;
	Relation	rel;
	ModifyPlan	plan;
	AttrNumber	ctid_attno;		/* in the plan's rows; 0 for INSERT */
	WriteCommand commands[2];	/* the second for another number of rows */

	int			nparams;		/* per row */
	FmgrInfo   *output;			/* of each parameter of a row */
	Oid		   *types;			/* of which it is */
	bool		describes;		/* is it asked how the parameters are typed? */
	bool		has_begun;		/* has there been an execution? */
	bool		needs_path;		/* does one of them look at search_path? */
	MemoryContext context;		/* that all of it is in */
};

/* Looks up how a type is printed. */
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

/* Looks up how the parameters are printed: a ctid, then columns. */
static void
add_params(RowWrites *writes)
{
	TupleDesc	tupdesc = RelationGetDescr(writes->rel);
	int			most = list_length(writes->plan.targets) + 1;
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
}

/*
 * What writes rows of a table by a plan, in this context.  ctid_attno is where
 * the plan's rows have the ctid of the row to be modified, 0 for INSERT.
 */
RowWrites *
writes_create(Session *session, Relation rel, const ModifyPlan *plan,
			  AttrNumber ctid_attno)
{
	RowWrites  *writes = palloc0(sizeof(RowWrites));

	writes->session = session;
	writes->rel = rel;
	writes->plan = *plan;
	writes->ctid_attno = ctid_attno;
	writes->context = CurrentMemoryContext;
	add_params(writes);
	return writes;
}

/* Drops the prepared statement, if there is one. */
static void
drop_statement(RowWrites *writes, WriteCommand *command)
{
	if (command->statement != NULL && writes->session->conn != NULL)
		session_deallocate_later(writes->session, command->statement);
	command->statement = NULL;
}

/* The place of the command for a number of rows, which may hold another. */
static int
command_index(const RowWrites *writes, int nrows)
{
	int			first = writes->commands[0].nrows;

	return first == nrows || first == 0 ? 0 : 1;
}

/*
 * Can rows be written without another command being dropped?  It must not be
 * as long as an execution of it is held back.
 */
bool
writes_have(const RowWrites *writes, int nrows)
{
	int			present = writes->commands[command_index(writes, nrows)].nrows;

	return present == nrows || present == 0;
}

/* The command for a number of rows. */
static WriteCommand *
find_command(RowWrites *writes, int nrows)
{
	WriteCommand *command = &writes->commands[command_index(writes, nrows)];
	MemoryContext old;

	if (command->nrows == nrows)
		return command;
	drop_statement(writes, command);
	old = MemoryContextSwitchTo(writes->context);
	if (command->nrows > 1)
		pfree(command->sql);
	command->sql = nrows == 1 ? writes->plan.sql
		: deparse_insert_rows(&writes->plan, writes->rel, nrows);
	command->nrows = nrows;
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

/* Prints the parameters of all rows, in this context. */
static const char **
print_params(RowWrites *writes, TupleTableSlot **slots,
			 TupleTableSlot *plan_slot, int nrows)
{
	const char **values = palloc0(Max(nrows * writes->nparams, 1) *
								  sizeof(char *));
	int			first = 0;
	int			nestlevel;

	if (writes->ctid_attno != 0)
	{
		bool		is_null;
		Datum		ctid = ExecGetJunkAttribute(plan_slot, writes->ctid_attno,
												&is_null);

		if (is_null)
			elog(ERROR, "ctid is NULL");
		values[first] = OutputFunctionCall(&writes->output[first], ctid);
		first++;
	}
	if (writes->nparams == first)
		return values;
	nestlevel = rows_enter_transmission(writes->needs_path);
	for (int i = 0; i < nrows; i++)
		print_columns(writes, slots[i], first, values + i * writes->nparams);
	rows_leave_transmission(nestlevel);
	return values;
}

/*
 * Makes the commands of one execution, in this context: to prepare the
 * statement, if there is none yet and more than one row, and to execute it.
 * Returns how many they are.
 */
int
writes_make(RowWrites *writes, TupleTableSlot **slots,
			TupleTableSlot *plan_slot, int nrows, RemoteCommand *commands)
{
	const char **values = print_params(writes, slots, plan_slot, nrows);
	bool		is_first = !writes->has_begun && nrows == 1;
	WriteCommand *command;
	int			n = 0;

	writes->has_begun = true;
	if (is_first)
	{
		commands[0] = (RemoteCommand)
		{
			.sql = writes->plan.sql,.shown = writes->plan.sql,
				.hints.is_cacheable = true,
				.hints.returns_nothing = !writes->plan.has_returning,
				.nparams = writes->nparams,.params = values,
				.hints.printed_types = writes->types
		};
		return 1;
	}
	command = find_command(writes, nrows);
	if (command->statement == NULL)
	{
		char		name[NAMEDATALEN];

		snprintf(name, sizeof(name), "tollfree_%u", ++writes->session->prepared.names);
		command->statement = MemoryContextStrdup(writes->context, name);
		commands[n++] = (RemoteCommand)
		{
			.sql = command->sql,.shown = command->sql,
				.statement = command->statement,.prepare = true,
				.describes = writes->describes
		};
	}
	commands[n++] = (RemoteCommand)
	{
		.shown = command->sql,.statement = command->statement,
			.nparams = writes->nparams * nrows,.params = values
	};
	return n;
}

/* From here on a statement is described when it is prepared. */
void
writes_describe(RowWrites *writes)
{
	writes->describes = true;
}

/*
 * The types that the remote server chose for the parameters of one row: those of
 * its columns.  NULL if they are not known.
 */
const Oid  *
writes_described_types(const RowWrites *writes)
{
	const Oid  *types = NULL;

	for (int i = 0; types == NULL && i < lengthof(writes->commands); i++)
		types = results_described_types(writes->session,
										writes->commands[i].statement,
										writes->nparams);
	return types;
}

/* The parameters that one row takes. */
int
writes_params_per_row(const RowWrites *writes)
{
	return writes->nparams;
}

/* No more rows are written: the statements are dropped. */
void
writes_end(RowWrites *writes)
{
	for (int i = 0; i < lengthof(writes->commands); i++)
		drop_statement(writes, &writes->commands[i]);
}
