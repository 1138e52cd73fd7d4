/*
 * direct.c
 *	  UPDATE and DELETE that are one remote command.
 *
 * If the modified relation is a join, RETURNING returns the join's columns.
 * The local RETURNING list refers to the target table's row, which is put
 * together from them.
 *
 * Those of a partitioned table can be executed by several servers at a time.
 * The statement then waits for the servers in plan order.  The owner must
 * allow that by the option parallel_modify: two such statements may wait for
 * each other on two servers, and no server detects that deadlock.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "foreign/foreign.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/run.h"
#include "base/tables.h"
#include "modify/modify.h"
#include "rewrite/zone_values.h"
#include "session/batch.h"
#include "session/reader.h"
#include "session/session.h"
#include "sql/plan.h"
#include "wire/rows.h"
#include "xact/transaction.h"

typedef struct DirectModifyState
{
	DirectPlan	plan;
	Session    *session;
	const EState *estate;
	ParamWriter *params;		/* NULL if there are none */
	RowReader  *reader;			/* NULL if the remote command does not return
								 * rows */

	bool		is_parallel;	/* may other servers work meanwhile? */
	bool		is_sent;
	RemoteCommand command;		/* what was sent */
	SessionUsage usage;
	PGresult   *res;			/* NULL until it has been received */
	int			nrows;			/* rows modified */
	int			next;			/* row to be returned next */
	MemoryContextCallback clear;
	MemoryContext row_context;	/* of the tuple last returned */

	bool		is_join;
	AttrNumber *columns;		/* for a join: scan column of each attribute
								 * of the target, 0 if none */
	AttrNumber	ctid_column;	/* the same for its ctid */
} DirectModifyState;

/* Frees the result of libpq, when the query's memory is freed or before. */
static void
clear_result(void *arg)
{
	DirectModifyState *state = arg;

	PQclear(state->res);
	state->res = NULL;
}

/* Finds the target's attributes among the columns of the join. */
static void
map_target(DirectModifyState *state, ForeignScan *plan, Index rtindex,
		   Relation target)
{
	int			column = 0;
	ListCell   *cell;

	state->columns = palloc0(RelationGetNumberOfAttributes(target) *
							 sizeof(AttrNumber));
	foreach(cell, plan->fdw_scan_tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, cell)->expr;

		column++;
		if (!IsA(var, Var) || var->varno != rtindex ||
			!list_member_int(state->plan.attrs, column))
			continue;
		if (var->varattno == SelfItemPointerAttributeNumber)
			state->ctid_column = column;
		else if (var->varattno > 0)
			state->columns[var->varattno - 1] = column;
	}
}

/* Prepares a modification; connects if that has not been done. */
void
tollfreeBeginDirectModify(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	EState	   *estate = node->ss.ps.state;
	Index		rtindex = node->resultRelInfo->ri_RangeTableIndex;
	DirectModifyState *state;
	Relation	target;
	Oid			user;

	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state = palloc0(sizeof(DirectModifyState));
	state->plan = plan_read_direct(plan->fdw_private);
	state->estate = estate;
	state->is_join = plan->scan.scanrelid == 0;
	target = state->is_join ? ExecOpenScanRelation(estate, rtindex, eflags)
		: node->ss.ss_currentRelation;
	user = compat_scan_user(plan, exec_rt_fetch(rtindex, estate));
	state->session =
		transaction_get_session(user,
								GetForeignServerIdByRelId(RelationGetRelid(target)));

	if (state->plan.has_returning)
	{
		state->reader = rows_reader_for_scan(node,
											 state->is_join ? NULL : target,
											 state->plan.attrs,
											 state->session->remote.same_encoding);
		if (state->is_join)
			map_target(state, plan, rtindex, target);
	}
	state->params = rows_params(&node->ss.ps, zone_values_fix(plan->fdw_exprs));
	state->is_parallel =
		fastpath_is_on(tables_fast_paths(RelationGetRelid(target)),
					   FAST_PARALLEL_MODIFY);
	state->row_context = AllocSetContextCreate(estate->es_query_cxt,
											   "tollfree_postgres_fdw tuple",
											   ALLOCSET_SMALL_SIZES);
	state->clear.func = clear_result;
	state->clear.arg = state;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &state->clear);
	node->fdw_state = state;
}

/* Receives the result of the command that was sent. */
static void
receive_result(DirectModifyState *state)
{
	Session    *session = state->session;

	reader_release(session);
	usage_start(session, &state->usage);
	state->res = session_receive(session, &state->command, 1);
	usage_stop(session, &state->usage);
	usage_receive(&state->usage, state->res, state->estate);
	state->nrows = state->plan.has_returning ? PQntuples(state->res)
		: atoi(PQcmdTuples(state->res));
}

/*
 * PendingWork's drain: receives the result, since the session is needed
 * otherwise.
 */
static void
drain_result(void *arg)
{
	receive_result(arg);
}

/* Sends the command. */
static void
send_command(ForeignScanState *node, DirectModifyState *state)
{
	Session    *session = state->session;

	state->command = (RemoteCommand)
	{
		.sql = state->plan.command.sql,.shown = state->plan.command.shown,
			.hints.is_cacheable = state->plan.command.is_cacheable,
			.hints.returns_nothing = !state->plan.has_returning &&
			(state->params == NULL || state->params->is_builtin)
	};
	if (state->params != NULL)
	{
		rows_write_params(state->params, node->ss.ps.ps_ExprContext);
		state->command.nparams = state->params->count;
		state->command.params = state->params->values;
		state->command.types = state->plan.command.types;
	}
	usage_start(session, &state->usage);
	session_send_ahead(session, &state->command, 1, false);
	usage_stop(session, &state->usage);
	state->is_sent = true;
	reader_claim(session, drain_result, state);
}

/* Are the parameters known, so that no subplan is executed for them? */
static bool
params_are_known(const ForeignScanState *node)
{
	const EState *estate = node->ss.ps.state;
	ListCell   *cell;

	foreach(cell, castNode(ForeignScan, node->ss.ps.plan)->fdw_exprs)
	{
		const Node *expr = lfirst(cell);
		const Param *param = (const Param *) expr;

		if (!IsA(expr, Const) &&
			(!IsA(expr, Param) ||
			 (param->paramkind == PARAM_EXEC &&
			  estate->es_param_exec_vals[param->paramid].execPlan != NULL)))
			return false;
	}
	return true;
}

/*
 * Is this a direct modification of ours that other servers may execute in
 * parallel?
 */
static bool
is_parallel(const PlanState *node)
{
	const ForeignScanState *scan = (const ForeignScanState *) node;

	return IsA(node, ForeignScanState) &&
		scan->fdwroutine->IterateDirectModify == tollfreeIterateDirectModify &&
		castNode(ForeignScan, node->plan)->operation != CMD_SELECT &&
		scan->resultRelInfo->ri_projectReturning == NULL &&
		((const DirectModifyState *) scan->fdw_state)->is_parallel;
}

/* The Append of a statement that does nothing but such modifications, or NULL. */
static const AppendState *
find_append(const EState *estate)
{
	const PlanState *top = run_plan(estate);
	const AppendState *append;

	if (top == NULL || !IsA(top, ModifyTableState) ||
		outerPlanState(top) == NULL || !IsA(outerPlanState(top), AppendState))
		return NULL;
	append = castNode(AppendState, outerPlanState(top));
	for (int i = 0; i < append->as_nplans; i++)
	{
		if (!is_parallel(append->appendplans[i]))
			return NULL;
	}
	return append;
}

/*
 * Sends the commands of the other partitions, to servers that are idle.  The
 * Append has been pruned by now.
 */
static void
send_others(const EState *estate)
{
	const AppendState *append = find_append(estate);
	int			i = -1;

	if (append == NULL)
		return;
	while ((i = bms_next_member(append->as_valid_subplans, i)) >= 0)
	{
		ForeignScanState *other = castNode(ForeignScanState,
										   append->appendplans[i]);
		DirectModifyState *state = other->fdw_state;

		if (!state->is_sent && !batch_is_in_flight(state->session) &&
			params_are_known(other))
			send_command(other, state);
	}
}

/* Builds the target's row from a row of the join, in the slot of RETURNING. */
static TupleTableSlot *
extract_target(DirectModifyState *state, ForeignScanState *node,
			   TupleTableSlot *joined)
{
	TupleTableSlot *slot = ExecGetReturningSlot(node->ss.ps.state,
												node->resultRelInfo);
	int			natts = slot->tts_tupleDescriptor->natts;

	slot_getallattrs(joined);
	ExecClearTuple(slot);
	for (int i = 0; i < natts; i++)
	{
		AttrNumber	column = state->columns[i];

		slot->tts_isnull[i] = column == 0 || joined->tts_isnull[column - 1];
		slot->tts_values[i] = column == 0 ? (Datum) 0
			: joined->tts_values[column - 1];
	}
	ExecStoreVirtualTuple(slot);

	if (state->ctid_column != 0)
	{
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, true, NULL);
		Datum		ctid = joined->tts_values[state->ctid_column - 1];

		tuple->t_self = *(ItemPointer) DatumGetPointer(ctid);
		HeapTupleHeaderSetXmin(tuple->t_data, InvalidTransactionId);
		HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
		HeapTupleHeaderSetCmin(tuple->t_data, InvalidTransactionId);
	}
	return slot;
}

/* Stores the next modified row in the slot that RETURNING is computed from. */
static TupleTableSlot *
next_returning(ForeignScanState *node, DirectModifyState *state)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	TupleTableSlot *target = slot;
	MemoryContext old;

	if (state->next >= state->nrows)
		return ExecClearTuple(slot);
	if (state->plan.set_processed)
		node->ss.ps.state->es_processed++;

	/* RETURNING may use no column of the row. */
	if (!state->plan.has_returning)
		ExecStoreAllNullTuple(slot);
	else
	{
		MemoryContextReset(state->row_context);
		old = MemoryContextSwitchTo(state->row_context);
		ExecStoreHeapTuple(rows_read(state->reader, state->res, state->next),
						   slot, false);
		MemoryContextSwitchTo(old);
		if (state->is_join)
			target = extract_target(state, node, slot);
	}
	state->next++;
	node->resultRelInfo->ri_projectReturning->pi_exprContext->ecxt_scantuple =
		target;
	return slot;
}

/* Executes the command; returns rows only for RETURNING. */
TupleTableSlot *
tollfreeIterateDirectModify(ForeignScanState *node)
{
	DirectModifyState *state = node->fdw_state;

	if (!state->is_sent)
		send_command(node, state);
	if (state->is_parallel)
		send_others(node->ss.ps.state);
	if (state->res == NULL)
		receive_result(state);
	if (node->resultRelInfo->ri_projectReturning != NULL)
		return next_returning(node, state);

	if (state->plan.set_processed)
		node->ss.ps.state->es_processed += state->nrows;
	if (node->ss.ps.instrument != NULL)
		node->ss.ps.instrument->tuplecount += state->nrows;
	return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}

/* Shows the command's counters in EXPLAIN. */
void
direct_explain(ForeignScanState *node, ExplainState *es)
{
	DirectModifyState *state = node->fdw_state;

	if (es->verbose && es->analyze && state != NULL)
		usage_explain(&state->usage, es);
}

/* Ends a modification. */
void
tollfreeEndDirectModify(ForeignScanState *node)
{
	if (node->fdw_state != NULL)
		clear_result(node->fdw_state);
}
