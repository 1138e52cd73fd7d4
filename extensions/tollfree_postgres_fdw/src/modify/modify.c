/*
 * modify.c
 *	  INSERT, UPDATE and DELETE row by row.
 *
 * Each row is sent and awaited, unless the statement's effect is the same
 * without waiting: then rows are written through a pipeline (pipeline.c).
 * writes.c makes the remote commands.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "foreign/foreign.h"
#include "nodes/plannodes.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/run.h"
#include "base/settings.h"
#include "base/tables.h"
#include "modify/modify.h"
#include "modify/pipeline.h"
#include "modify/routed.h"
#include "modify/writes.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "wire/rows.h"
#include "xact/transaction.h"

/* The batch size reported to COPY, which may pass fewer rows */
#define COPY_ROWS 1000

typedef struct ForeignModifyState
{
	Relation	rel;
	ModifyTableState *node;
	Session    *session;
	ModifyPlan	plan;
	RowReader  *reader;			/* NULL without RETURNING */

	RowWrites  *writes;			/* makes the commands */
	SessionUsage usage;
	int			batch_size;
	bool		is_copy;
	uint64		copied;			/* rows written of COPY's present batch */

	int			fast_paths;		/* that options allow; fastpath.h */
	bool		is_decided;		/* has it been decided whether there is a
								 * pipeline? */
	WritePipeline *pipeline;	/* NULL if each row is awaited */

	MemoryContext temp_context; /* of one execution */
} ForeignModifyState;

/*
 * The state of modifying one table; connects if that has not been done.  The
 * subplan returns the rows of an UPDATE or DELETE; NULL for INSERT.
 */
static ForeignModifyState *
make_state(ModifyTableState *node, ResultRelInfo *rinfo, const ModifyPlan *plan,
		   Plan *subplan)
{
	ForeignModifyState *state = palloc0(sizeof(ForeignModifyState));
	EState	   *estate = node->ps.state;
	AttrNumber	ctid_attno = 0;
	Oid			server;

	state->rel = rinfo->ri_RelationDesc;
	state->node = node;
	state->plan = *plan;
	state->fast_paths = tables_fast_paths(RelationGetRelid(state->rel));
	server = GetForeignServerIdByRelId(RelationGetRelid(state->rel));
	state->session = transaction_get_session(compat_result_user(rinfo, estate),
											 server);
	state->temp_context = AllocSetContextCreate(estate->es_query_cxt,
												"tollfree_postgres_fdw execution",
												ALLOCSET_SMALL_SIZES);
	if (plan->has_returning)
		state->reader = rows_reader_for_table(state->rel, plan->attrs,
											  state->session->remote.same_encoding,
											  estate->es_query_cxt);
	if (subplan != NULL)
	{
		ctid_attno = ExecFindJunkAttributeInTlist(subplan->targetlist, "ctid");
		if (!AttributeNumberIsValid(ctid_attno))
			elog(ERROR, "could not find junk ctid column");
	}
	else
		state->batch_size = option_batch_size(state->rel);
	state->is_copy = node->ps.plan == NULL;
	state->writes = writes_create(state->session, rinfo, estate, plan, ctid_attno);
	if (fastpath_is_on(state->fast_paths, FAST_ARRAYS))
		writes_allow_arrays(state->writes);
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
	rinfo->ri_FdwState = make_state(mtstate, rinfo, &plan,
									mtstate->operation == CMD_INSERT ? NULL
									: outerPlanState(mtstate)->plan);
}

/* The range table index that expressions use for a routed row. */
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

	/* A later UPDATE of this table would update these rows, too. */
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
	/* Only an UPDATE routes rows into a table that it modifies itself. */
	Assert(rinfo->ri_FdwState == NULL);
	rinfo->ri_FdwState = make_state(mtstate, rinfo, &plan, NULL);
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

/* Does the plan call functions that are not PostgreSQL's own? */
static bool
calls_functions(const PlannedStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, stmt->invalItems)
	{
		if (lfirst_node(PlanInvalItem, cell)->cacheId == PROCOID)
			return true;
	}
	return false;
}

/*
 * Can rows be written without waiting for each?  Only if the statement uses
 * nothing of their results but their number, and no user's code runs between
 * them, which could see a row's error at another place.
 */
static bool
can_pipeline(const ModifyTableState *node, ResultRelInfo *rinfo,
			 bool has_returning, int fast_paths)
{
	const ModifyTable *plan = castNode(ModifyTable, node->ps.plan);
	const PlannedStmt *stmt = node->ps.state->es_plannedstmt;

	return fastpath_is_on(fast_paths, FAST_PIPELINED_WRITES) &&
		!has_returning &&
		!triggers_see_rows(rinfo->ri_TrigDesc) &&
		rinfo->ri_WithCheckOptions == NIL &&
		rinfo->ri_projectReturning == NULL &&
		node->mt_transition_capture == NULL &&
		node->canSetTag &&
		plan != NULL && stmt->planTree == (const Plan *) plan &&
		!stmt->hasModifyingCTE && !calls_functions(stmt) &&
		routed_quietly(node, rinfo, fast_paths);
}

/* Makes a pipeline, in this context, which lasts as long as the execution. */
static WritePipeline *
create_pipeline(ForeignModifyState *state, uint64 *count)
{
	return pipeline_create(state->session, state->node->ps.state, count,
						   &state->usage);
}

/*
 * The pipeline for rows that are routed to a partition.  Partitions on one
 * server share it, so that the rows keep their order.
 */
static WritePipeline *
routed_pipeline(ForeignModifyState *state, uint64 *count)
{
	WritePipeline *pipeline = routed_find_pipeline(state->session);

	if (pipeline == NULL)
	{
		pipeline = create_pipeline(state, count);
		routed_add_pipeline(pipeline);
	}
	return pipeline;
}

/* Makes the pipeline, which corrects the count of rows. */
static void
make_pipeline(ForeignModifyState *state, bool is_routed, uint64 *count)
{
	MemoryContext old = MemoryContextSwitchTo(state->node->ps.state->es_query_cxt);

	state->pipeline = is_routed ? routed_pipeline(state, count)
		: create_pipeline(state, count);
	MemoryContextSwitchTo(old);
}

/*
 * Are the pipelines of a statement finished before its rows are counted?  They
 * are at the end of ExecutorRun, or at the end of the input if a row has
 * loaded this library.  Batches are written after the input.
 */
static bool
is_finished(const ModifyTableState *node, const ResultRelInfo *rinfo)
{
	return run_plan(node->ps.state) != NULL ||
		(rinfo->ri_BatchSize <= 1 &&
		 run_watch(outerPlanState(node), pipeline_finish_execution));
}

/* Decides before the first row whether to use a pipeline, and makes it. */
static void
decide_pipeline(ForeignModifyState *state, ResultRelInfo *rinfo)
{
	if (state->is_decided)
		return;
	state->is_decided = true;

	if (can_pipeline(state->node, rinfo, state->plan.has_returning,
					 state->fast_paths) &&
		is_finished(state->node, rinfo))
		make_pipeline(state, rinfo->ri_RootResultRelInfo != NULL,
					  &state->node->ps.state->es_processed);
	settings_require(REQUIRE_PIPELINED, state->pipeline != NULL);
}

/* Finishes the pipeline if that is needed to make the command for these rows. */
static void
finish_if_needed(ForeignModifyState *state, int nrows)
{
	if (state->pipeline != NULL && !writes_are_ready(state->writes, nrows))
		pipeline_finish(state->pipeline);
}

/* Adds the commands that write these rows to the pipeline. */
static void
add_execution(ForeignModifyState *state, WritePipeline *pipeline,
			  TupleTableSlot **slots, TupleTableSlot *plan_slot, int nrows)
{
	RemoteCommand commands[WRITE_COMMANDS_MAX];
	MemoryContext old;
	int			ncommands;

	finish_if_needed(state, nrows);
	old = MemoryContextSwitchTo(pipeline_context(pipeline));
	ncommands = writes_make(state->writes, slots, plan_slot, nrows, commands);
	MemoryContextSwitchTo(old);
	pipeline_hold(pipeline);
	pipeline_append(pipeline, commands, ncommands, nrows);
	pipeline_send_if_due(pipeline);
}

/* Sends the commands that write these rows, and waits for the result. */
static PGresult *
execute_awaited(ForeignModifyState *state, TupleTableSlot **slots,
				TupleTableSlot *plan_slot, int nrows)
{
	RemoteCommand commands[WRITE_COMMANDS_MAX];
	MemoryContext old;
	int			ncommands;
	PGresult   *res;

	finish_if_needed(state, nrows);
	old = MemoryContextSwitchTo(state->temp_context);
	ncommands = writes_make(state->writes, slots, plan_slot, nrows, commands);
	usage_start(state->session, &state->usage);
	res = session_execute(state->session, commands, ncommands, false);
	usage_stop(state->session, &state->usage);
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->temp_context);
	return res;
}

/*
 * Modifies rows.  Sets the number modified, as far as it is known; returns the
 * slots, or NULL if there are none.  The executor reads as many slots, so the
 * number cannot be larger than it was, whatever the remote server says.
 */
static TupleTableSlot **
modify(ForeignModifyState *state, ResultRelInfo *rinfo, TupleTableSlot **slots,
	   TupleTableSlot **plan_slots, int *nrows)
{
	TupleTableSlot *plan_slot = plan_slots ? plan_slots[0] : NULL;
	PGresult   *res;

	decide_pipeline(state, rinfo);
	if (state->pipeline != NULL && !state->is_copy)
	{
		add_execution(state, state->pipeline, slots, plan_slot, *nrows);
		return slots;
	}
	res = execute_awaited(state, slots, plan_slot, *nrows);
	usage_receive(&state->usage, res, state->node->ps.state);
	if (state->plan.has_returning)
	{
		*nrows = Min(*nrows, PQntuples(res));
		if (*nrows > 0)
			store_returning(state, res, slots[0]);
	}
	else
		*nrows = Min(*nrows, atoi(PQcmdTuples(res)));
	PQclear(res);
	return *nrows > 0 ? slots : NULL;
}

/* May rows of COPY go through a pipeline? */
static bool
pipelines_copy(const ForeignModifyState *state)
{
	return state->is_copy &&
		fastpath_is_on(state->fast_paths, FAST_PIPELINED_WRITES);
}

/* Inserts, updates or deletes a row. */
TupleTableSlot *
tollfreeExecForeignModify(EState *estate, ResultRelInfo *rinfo,
						  TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	ForeignModifyState *state = rinfo->ri_FdwState;
	int			nrows = 1;

	return modify(state, rinfo, &slot, &planSlot, &nrows) ? slot : NULL;
}

/* Inserts a batch of COPY, and waits for all of it: COPY counts it at once. */
static TupleTableSlot **
copy_rows(ForeignModifyState *state, TupleTableSlot **slots, int *nrows)
{
	int			most = writes_limit(state->writes, state->batch_size);

	if (state->pipeline == NULL)
		make_pipeline(state, false, &state->copied);
	state->copied = *nrows;
	for (int i = 0; i < *nrows; i += most)
	{
		add_execution(state, state->pipeline, &slots[i], NULL,
					  Min(most, *nrows - i));
	}
	pipeline_finish(state->pipeline);
	*nrows = state->copied;
	return *nrows > 0 ? slots : NULL;
}

/* Inserts rows. */
TupleTableSlot **
tollfreeExecForeignBatchInsert(EState *estate, ResultRelInfo *rinfo,
							   TupleTableSlot **slots,
							   TupleTableSlot **planSlots, int *numSlots)
{
	if (pipelines_copy(rinfo->ri_FdwState))
		return copy_rows(rinfo->ri_FdwState, slots, numSlots);
	return modify(rinfo->ri_FdwState, rinfo, slots, planSlots, numSlots);
}

/*
 * May COPY pass many rows at a time?  From 16 on it does so for partitions,
 * too, partition by partition.  So the rows of a server keep their order if it
 * has only one partition.  With a batch_size the owner accepts another order.
 */
static bool
may_copy_rows(const ForeignModifyState *state, const ResultRelInfo *rinfo)
{
	return rinfo->ri_RootResultRelInfo == NULL || state->batch_size > 1 ||
		!routed_shares_server(state->node, rinfo);
}

/* How many rows may be inserted together. */
int
tollfreeGetForeignModifyBatchSize(ResultRelInfo *rinfo)
{
	ForeignModifyState *state = rinfo->ri_FdwState;
	TriggerDesc *triggers = rinfo->ri_TrigDesc;

	/* The result of each row must be known before the next one. */
	if (rinfo->ri_projectReturning != NULL ||
		rinfo->ri_WithCheckOptions != NIL ||
		(triggers != NULL && (triggers->trig_insert_before_row ||
							  triggers->trig_insert_after_row)))
		return 1;
	if (state == NULL)
		return option_batch_size(rinfo->ri_RelationDesc);
	/* SQL cannot insert several rows without columns by one command. */
	if (state->plan.targets == NIL)
		return 1;

	if (pipelines_copy(state) && state->reader == NULL &&
		may_copy_rows(state, rinfo))
		return COPY_ROWS;
	return writes_limit(state->writes, state->batch_size);
}

/*
 * The write method, for EXPLAIN.  Whether arrays are used is known only after
 * some batches have been written.
 */
static const char *
write_method(const ModifyTableState *node, ResultRelInfo *rinfo,
			 const ModifyPlan *plan)
{
	const ForeignModifyState *state = rinfo->ri_FdwState;
	bool		in_arrays = state != NULL && writes_use_arrays(state->writes);

	if (!can_pipeline(node, rinfo, plan->has_returning,
					  tables_fast_paths(RelationGetRelid(rinfo->ri_RelationDesc))))
		return in_arrays ? "awaited, in arrays" : "awaited";
	return in_arrays ? "pipelined, in arrays" : "pipelined";
}

/* Shows the write method and its counters in EXPLAIN. */
void
modify_explain(ModifyTableState *node, ResultRelInfo *rinfo, List *private,
			   ExplainState *es)
{
	ModifyPlan	plan = plan_read_modify(private);
	ForeignModifyState *state = rinfo->ri_FdwState;

	if (!es->verbose)
		return;
	ExplainPropertyText("Write Method", write_method(node, rinfo, &plan), es);
	if (es->analyze && state != NULL)
		usage_explain(&state->usage, es);
}

/* Ends a modification: writes all rows, has its statements dropped later. */
void
tollfreeEndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	ForeignModifyState *state = rinfo->ri_FdwState;

	if (state == NULL)
		return;
	if (state->pipeline != NULL)
		pipeline_finish(state->pipeline);
	writes_end(state->writes);
}
