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
 * Those of an UPDATE or DELETE write one row each: one of the remote table that
 * is named, and one of its partitions or children (sql/located.c).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "modify/writes.h"
#include "session/prepared.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "sql/located.h"
#include "wire/ctids.h"
#include "wire/rows.h"

/* The command that writes nrows rows */
typedef struct WriteCommand
{
	int			nrows;			/* 0 if there is none */
	bool		has_table;		/* is their table a parameter, the last one? */
	char	   *sql;
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
	bool		describes;		/* are statements described when prepared? */
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

/*
 * Can nrows rows be written without dropping another command?  A command must
 * not be dropped while a pipeline has buffered an execution of it.
 */
bool
writes_have(const RowWrites *writes, int nrows)
{
	int			index = command_index(writes, nrows, false);
	int			present = writes->commands[index].nrows;

	return present == nrows || present == 0;
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
 * Makes the commands that execute one of the node's prepared statements: the
 * first time one that prepares the SQL under a new name, then the execution.
 * Returns their number.
 */
int
writes_by_statement(Session *session, char *name, const char *sql,
					bool describes, RemoteCommand execution,
					RemoteCommand *commands)
{
	int			n = 0;

	execution.statement = name;
	if (name[0] == '\0')
		commands[n++] = (RemoteCommand)
	{
		.sql = sql,.shown = execution.shown,.prepare = true,
			.statement = prepared_next_name(session, name),.describes = describes
	};
	commands[n++] = execution;
	return n;
}

/*
 * Makes the commands of one execution, in this context, and returns their
 * number.  A single first row needs no prepared statement of the node.
 */
int
writes_make(RowWrites *writes, TupleTableSlot **slots,
			TupleTableSlot *plan_slot, int nrows, RemoteCommand *commands)
{
	RemoteCommand execution = {
		.shown = writes->plan.sql,.nparams = writes->nparams * nrows,
		.params = print_params(writes, slots, plan_slot, nrows)
	};
	bool		is_first = !writes->has_begun && nrows == 1;
	bool		has_table = execution.params[execution.nparams] != NULL;
	WriteCommand *command;

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
	return writes_by_statement(writes->session, command->statement,
							   command->sql, writes->describes, execution,
							   commands);
}

/* Requests a Describe for statements that are prepared from now on. */
void
writes_describe(RowWrites *writes)
{
	writes->describes = true;
}

/*
 * The types that the remote server chose for the parameters of one row, which
 * are those of the remote columns; NULL if they are not known.
 */
const Oid  *
writes_described_types(const RowWrites *writes)
{
	const Oid  *types = NULL;

	for (int i = 0; types == NULL && i < lengthof(writes->commands); i++)
		types = prepared_types(writes->session,
							   writes->commands[i].statement,
							   writes->nparams);
	return types;
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
}
