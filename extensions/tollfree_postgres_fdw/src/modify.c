/*
 * modify.c
 *	  INSERT, UPDATE and DELETE row by row.
 *
 * The command is prepared with the flight that executes it first, and again
 * whenever the number of rows that one INSERT carries changes.  The prepared
 * statement belongs to the executor node; it is dropped along with a later
 * flight.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "nodes/plannodes.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "cache.h"
#include "callbacks.h"
#include "deparse.h"
#include "options.h"
#include "plan.h"
#include "rows.h"

typedef struct ForeignModifyState
{
	Relation	rel;
	Session    *session;
	ModifyPlan	plan;
	RowReader  *reader;			/* NULL without RETURNING */
	AttrNumber	ctid_attno;		/* in the plan's rows; 0 for INSERT */

	char	   *sql;			/* the command for nrows rows */
	int			nrows;
	char	   *statement;		/* its name once prepared, else NULL */
	int			batch_size;

	int			nparams;		/* per row */
	FmgrInfo   *output;			/* of each parameter of a row */
	MemoryContext context;		/* of the state */
	MemoryContext temp_context; /* of one execution */

	/* where an UPDATE moves rows into this table, for these */
	struct ForeignModifyState *routed;
} ForeignModifyState;

/* Looks up how a type is printed. */
static void
add_param(ForeignModifyState *state, Oid type)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(type, &function, &is_varlena);
	fmgr_info(function, &state->output[state->nparams++]);
}

/* Looks up how the parameters are printed: a ctid, then columns. */
static void
prepare_params(ForeignModifyState *state)
{
	TupleDesc	tupdesc = RelationGetDescr(state->rel);
	ListCell   *cell;

	state->output = palloc0((list_length(state->plan.targets) + 1) *
							sizeof(FmgrInfo));
	if (state->ctid_attno != 0)
		add_param(state, TIDOID);
	foreach(cell, state->plan.targets)
	{
		Form_pg_attribute attribute = TupleDescAttr(tupdesc,
													lfirst_int(cell) - 1);

		if (!attribute->attgenerated)
			add_param(state, attribute->atttypid);
	}
}

/*
 * The state of modifying one table; connects if that has not been done.  The
 * subplan is what an UPDATE or DELETE takes its rows from, NULL for INSERT.
 */
static ForeignModifyState *
make_state(EState *estate, ResultRelInfo *rinfo, const ModifyPlan *plan,
		   Plan *subplan)
{
	ForeignModifyState *state = palloc0(sizeof(ForeignModifyState));
	Oid			server;

	state->rel = rinfo->ri_RelationDesc;
	state->plan = *plan;
	state->sql = plan->sql;
	state->nrows = 1;
	server = GetForeignTable(RelationGetRelid(state->rel))->serverid;
	state->session =
		cache_get_session(GetUserMapping(compat_result_user(rinfo, estate),
										 server));
	state->context = CurrentMemoryContext;
	state->temp_context = AllocSetContextCreate(estate->es_query_cxt,
												"tollfree_postgres_fdw execution",
												ALLOCSET_SMALL_SIZES);
	if (plan->has_returning)
		state->reader = rows_reader_for_table(state->rel, plan->attrs,
											  estate->es_query_cxt);
	if (subplan != NULL)
	{
		state->ctid_attno =
			ExecFindJunkAttributeInTlist(subplan->targetlist, "ctid");
		if (!AttributeNumberIsValid(state->ctid_attno))
			elog(ERROR, "could not find junk ctid column");
	}
	else
		state->batch_size = option_batch_size(state->rel);
	prepare_params(state);
	return state;
}

/* Prepares a planned modification. */
void
tollfreeBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo,
						   List *fdw_private, int subplan_index, int eflags)
{
	ModifyPlan	plan;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	plan = plan_read_modify(fdw_private);
	rinfo->ri_FdwState = make_state(mtstate->ps.state, rinfo, &plan,
									mtstate->operation == CMD_INSERT ? NULL
									: outerPlanState(mtstate)->plan);
}

/* The range table index by which routed rows' expressions refer to them. */
static Index
routed_rtindex(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	ModifyTable *plan = castNode(ModifyTable, mtstate->ps.plan);
	Index		root;

	if (rinfo->ri_RangeTableIndex != 0)
		return rinfo->ri_RangeTableIndex;
	root = rinfo->ri_RootResultRelInfo->ri_RangeTableIndex;
	if (plan != NULL && plan->operation == CMD_UPDATE &&
		root == plan->rootRelation)
		return mtstate->resultRelInfo[0].ri_RangeTableIndex;
	return root;
}

/* Prepares to insert rows of COPY, or rows routed to a partition. */
void
tollfreeBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	ModifyTable *mtplan = castNode(ModifyTable, mtstate->ps.plan);
	ModifyPlan	plan;
	ForeignModifyState *state;

	/* An UPDATE to come would change what this INSERT brings. */
	if (mtplan != NULL && mtplan->operation == CMD_UPDATE &&
		(rinfo->ri_usesFdwDirectModify || rinfo->ri_FdwState != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot route tuples into foreign table to be updated \"%s\"",
						RelationGetRelationName(rinfo->ri_RelationDesc))));
	if (mtplan != NULL && mtplan->onConflictAction != ONCONFLICT_NONE &&
		mtplan->onConflictAction != ONCONFLICT_NOTHING)
		elog(ERROR, "unexpected ON CONFLICT specification: %d",
			 (int) mtplan->onConflictAction);

	plan = deparse_insert(rinfo, routed_rtindex(mtstate, rinfo),
						  mtplan != NULL &&
						  mtplan->onConflictAction == ONCONFLICT_NOTHING);
	state = make_state(mtstate->ps.state, rinfo, &plan, NULL);

	/* A table that the UPDATE is already done with has its own state. */
	if (rinfo->ri_FdwState != NULL)
		((ForeignModifyState *) rinfo->ri_FdwState)->routed = state;
	else
		rinfo->ri_FdwState = state;
}

/* Drops the prepared statement, if there is one. */
static void
drop_statement(ForeignModifyState *state)
{
	if (state->statement != NULL && state->session->conn != NULL)
		session_deallocate_later(state->session, state->statement);
	state->statement = NULL;
}

/* Makes the command carry another number of rows. */
static void
set_rows(ForeignModifyState *state, int nrows)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);

	drop_statement(state);
	if (state->sql != state->plan.sql)
		pfree(state->sql);
	state->sql = nrows == 1 ? state->plan.sql
		: deparse_insert_rows(&state->plan, state->rel, nrows);
	state->nrows = nrows;
	MemoryContextSwitchTo(old);
}

/* Prints one row's columns into its parameters. */
static void
print_columns(ForeignModifyState *state, TupleTableSlot *slot, int first,
			  const char **values)
{
	int			param = first;
	ListCell   *cell;

	foreach(cell, state->plan.targets)
	{
		AttrNumber	attno = lfirst_int(cell);
		bool		is_null;
		Datum		value;

		if (TupleDescAttr(RelationGetDescr(state->rel),
						  attno - 1)->attgenerated)
			continue;
		value = slot_getattr(slot, attno, &is_null);
		values[param] = is_null ? NULL
			: OutputFunctionCall(&state->output[param], value);
		param++;
	}
}

/* Prints the parameters of all rows, in this context. */
static const char **
print_params(ForeignModifyState *state, TupleTableSlot **slots,
			 TupleTableSlot *plan_slot, int nrows)
{
	const char **values = palloc0(Max(nrows * state->nparams, 1) *
								  sizeof(char *));
	int			first = 0;
	int			nestlevel;

	if (state->ctid_attno != 0)
	{
		bool		is_null;
		Datum		ctid = ExecGetJunkAttribute(plan_slot, state->ctid_attno,
												&is_null);

		if (is_null)
			elog(ERROR, "ctid is NULL");
		values[first] = OutputFunctionCall(&state->output[first], ctid);
		first++;
	}
	if (state->nparams == first)
		return values;
	nestlevel = rows_enter_transmission();
	for (int i = 0; i < nrows; i++)
		print_columns(state, slots[i], first, values + i * state->nparams);
	rows_leave_transmission(nestlevel);
	return values;
}

/* Sends one execution, its preparation before it if there was none yet. */
static PGresult *
execute(ForeignModifyState *state, const char **values)
{
	char		name[NAMEDATALEN];
	RemoteCommand commands[2] = {0};
	bool		prepares = state->statement == NULL;
	PGresult   *res;

	snprintf(name, sizeof(name), "tollfree_%u", state->session->names + 1);
	commands[0] = (RemoteCommand)
	{
		.sql = state->sql,.shown = state->sql,.statement = name,.prepare = true
	};
	commands[1] = (RemoteCommand)
	{
		.shown = state->sql,
			.statement = prepares ? name : state->statement,
			.nparams = state->nparams * state->nrows,
			.params = values
	};
	if (!prepares)
		return session_execute(state->session, &commands[1], 1, false);
	state->session->names++;
	res = session_execute(state->session, commands, 2, false);
	state->statement = MemoryContextStrdup(state->context, name);
	return res;
}

/* Puts the row that the remote server returned into the slot. */
static void
store_returning(ForeignModifyState *state, PGresult *res, TupleTableSlot *slot)
{
	PG_TRY();
	{
		ExecForceStoreHeapTuple(rows_read(state->reader, res, 0), slot, true);
	}
	PG_CATCH();
	{
		PQclear(res);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * Modifies rows; sets how many were, and returns the slots, or NULL if there
 * were none.
 */
static TupleTableSlot **
modify(ForeignModifyState *state, TupleTableSlot **slots,
	   TupleTableSlot **plan_slots, int *nrows)
{
	MemoryContext old;
	PGresult   *res;

	if (state->nrows != *nrows)
		set_rows(state, *nrows);
	old = MemoryContextSwitchTo(state->temp_context);
	res = execute(state, print_params(state, slots,
									  plan_slots ? plan_slots[0] : NULL,
									  *nrows));
	MemoryContextSwitchTo(old);

	if (state->plan.has_returning)
	{
		*nrows = PQntuples(res);
		if (*nrows > 0)
			store_returning(state, res, slots[0]);
	}
	else
		*nrows = atoi(PQcmdTuples(res));
	PQclear(res);
	MemoryContextReset(state->temp_context);
	return *nrows > 0 ? slots : NULL;
}

/* The state for rows that are inserted. */
static ForeignModifyState *
insert_state(ResultRelInfo *rinfo)
{
	ForeignModifyState *state = rinfo->ri_FdwState;

	return state->routed ? state->routed : state;
}

/* Inserts a row. */
TupleTableSlot *
tollfreeExecForeignInsert(EState *estate, ResultRelInfo *rinfo,
						  TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	int			nrows = 1;

	return modify(insert_state(rinfo), &slot, &planSlot, &nrows) ? slot : NULL;
}

/* Inserts rows. */
TupleTableSlot **
tollfreeExecForeignBatchInsert(EState *estate, ResultRelInfo *rinfo,
							   TupleTableSlot **slots,
							   TupleTableSlot **planSlots, int *numSlots)
{
	return modify(insert_state(rinfo), slots, planSlots, numSlots);
}

/* How many rows may be inserted together. */
int
tollfreeGetForeignModifyBatchSize(ResultRelInfo *rinfo)
{
	ForeignModifyState *state = rinfo->ri_FdwState;
	TriggerDesc *triggers = rinfo->ri_TrigDesc;
	int			size = state ? state->batch_size
		: option_batch_size(rinfo->ri_RelationDesc);

	/* Each row's outcome has to be seen before the next one. */
	if (rinfo->ri_projectReturning != NULL ||
		rinfo->ri_WithCheckOptions != NIL ||
		(triggers != NULL && (triggers->trig_insert_before_row ||
							  triggers->trig_insert_after_row)))
		return 1;
	if (state == NULL)
		return size;
	/* There is no syntax for several rows without columns. */
	if (state->plan.targets == NIL)
		return 1;
	if (state->nparams > 0)
		size = Min(size, PQ_QUERY_PARAM_MAX_LIMIT / state->nparams);
	return size;
}

/* Updates a row. */
TupleTableSlot *
tollfreeExecForeignUpdate(EState *estate, ResultRelInfo *rinfo,
						  TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	int			nrows = 1;

	return modify(rinfo->ri_FdwState, &slot, &planSlot, &nrows) ? slot : NULL;
}

/* Deletes a row. */
TupleTableSlot *
tollfreeExecForeignDelete(EState *estate, ResultRelInfo *rinfo,
						  TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	int			nrows = 1;

	return modify(rinfo->ri_FdwState, &slot, &planSlot, &nrows) ? slot : NULL;
}

/* Ends a planned modification. */
void
tollfreeEndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	if (rinfo->ri_FdwState != NULL)
		drop_statement(rinfo->ri_FdwState);
}

/* Ends an insertion that was not planned. */
void
tollfreeEndForeignInsert(EState *estate, ResultRelInfo *rinfo)
{
	drop_statement(insert_state(rinfo));
}
