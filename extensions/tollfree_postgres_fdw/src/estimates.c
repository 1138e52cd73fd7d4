/*
 * estimates.c
 *	  Cost estimates that postgres_fdw asks the remote server for.
 *
 * With use_remote_estimate postgres_fdw asks over its own connection, and
 * locks remote tables until the local transaction ends.  If a third session
 * asks for an exclusive lock before our session locks them, it waits for
 * postgres_fdw's transaction, and ours for it: a deadlock that no server
 * detects.  So each step of planning is a subtransaction, and postgres_fdw's
 * savepoint for it is rolled back too, which releases the remote locks.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "base/tables.h"
#include "estimates.h"
#include "join/remote.h"
#include "session/session.h"
#include "upper/partial.h"
#include "xact/transaction.h"

/* A step of planning: the arguments of a planner's callback */
typedef struct Planning
{
	PlannerInfo *root;
	RelOptInfo *rel;

	/* of a table; NULL for a relation above */
	void		(*callback) (PlannerInfo *root, RelOptInfo *rel, Oid tableid);
	Oid			tableid;

	/* of a join; NULL for a relation above the joins */
	JoinPathExtraData *join;
	RelOptInfo *outer;
	RelOptInfo *inner;
	JoinType	jointype;

	/* of a relation above the joins */
	UpperRelationKind stage;
	RelOptInfo *input;
	void	   *upper;
} Planning;

/* postgres_fdw's own callbacks */
static const FdwRoutine *stock = NULL;

/*
 * Notes that postgres_fdw's connection is used.  Raises an ERROR if it would
 * wait for ours, which has truncated a table.
 */
void
estimates_enter_stock(Oid server)
{
	if (sessions_use_server(server, true))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("server \"%s\" cannot be asked for estimates or schemas after TRUNCATE in the same transaction",
						GetForeignServer(server)->servername),
				 errhint("Commit the TRUNCATE first, or turn use_remote_estimate off.")));
	transaction_note_stock(server);
}

/* Rolls the subtransaction back, to the former context and owner. */
static void
roll_back(MemoryContext context, ResourceOwner owner)
{
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

/* Has postgres_fdw estimate a table's size, or make the paths of a relation. */
static void
call_stock(const Planning *step)
{
	if (step->callback != NULL)
		step->callback(step->root, step->rel, step->tableid);
	else if (step->join != NULL)
		stock->GetForeignJoinPaths(step->root, step->rel, step->outer,
								   step->inner, step->jointype, step->join);
	else
		stock->GetForeignUpperPaths(step->root, step->stage, step->input,
									step->rel, step->upper);
}

/*
 * Takes a step of planning, in a subtransaction if this transaction uses
 * postgres_fdw's connection to the server.  A parallel operation cannot have
 * one.
 */
static void
take_step(Oid server, const Planning *step)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (!transaction_noted_stock(server) || IsInParallelMode())
	{
		call_stock(step);
		return;
	}
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		call_stock(step);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		roll_back(context, owner);
		ReThrowError(error);
	}
	PG_END_TRY();
	roll_back(context, owner);
}

/* The planner's callbacks, named as in FdwRoutine */
static void
get_rel_size(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	Planning	step = {
		.root = root,.rel = rel,.callback = stock->GetForeignRelSize,
		.tableid = tableid
	};

	if (tables_asks_for_estimates(tableid))
		estimates_enter_stock(rel->serverid);
	take_step(rel->serverid, &step);
}

static void
get_paths(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	Planning	step = {
		.root = root,.rel = rel,.callback = stock->GetForeignPaths,
		.tableid = tableid
	};

	take_step(rel->serverid, &step);
}

static void
get_join_paths(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outer,
			   RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	Planning	step = {
		.root = root,.rel = rel,.join = extra,.outer = outer,.inner = inner,
		.jointype = jointype
	};
	RemoteJoin	join;

	remote_begin_join(&join, root, rel, outer, inner, jointype, extra);
	take_step(rel->serverid, &step);
	remote_end_join(&join);
}

static void
get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				RelOptInfo *rel, void *extra)
{
	Planning	step = {
		.root = root,.rel = rel,.stage = stage,.input = input,
		.upper = extra
	};
	FullAggregation *full = NULL;

	if (stage == UPPERREL_PARTIAL_GROUP_AGG)
	{
		full = partial_full_aggregation(root, rel, extra);
		if (full == NULL)
			return;
		step.stage = UPPERREL_GROUP_AGG;
		step.rel = full->rel;
		step.upper = &full->extra;
	}
	take_step(input->serverid, &step);
	if (full != NULL)
		partial_add_path(rel, full);
}

/* Puts our callbacks into the routine; postgres_fdw's own must last. */
void
estimates_install(FdwRoutine *routine, const FdwRoutine *postgres_fdw)
{
	stock = postgres_fdw;
	routine->GetForeignRelSize = get_rel_size;
	routine->GetForeignPaths = get_paths;
	routine->GetForeignJoinPaths = get_join_paths;
	routine->GetForeignUpperPaths = get_upper_paths;
}
