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

#include "base/options.h"
#include "estimates.h"
#include "session/sessions.h"
#include "xact/transaction.h"

/* The arguments of a planner's callback, for any of those below */
typedef struct Planning
{
	PlannerInfo *root;
	RelOptInfo *rel;
	Oid			tableid;

	/* of a join */
	RelOptInfo *outer;
	RelOptInfo *inner;
	JoinType	jointype;
	JoinPathExtraData *join;

	/* of a relation above the joins */
	UpperRelationKind stage;
	RelOptInfo *input;
	void	   *upper;
} Planning;

typedef void (*PlanningStep) (const Planning *planning);

/* postgres_fdw's own callbacks */
static const FdwRoutine *stock = NULL;

/*
 * Notes that postgres_fdw's connection is used.  Raises an ERROR if it would
 * wait for ours, which has truncated a table.
 */
void
estimates_enter_stock(Oid server)
{
	if (sessions_have_truncated(server))
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

/*
 * Takes a step of planning, in a subtransaction if this transaction uses
 * postgres_fdw's connection to the server.  A parallel operation cannot have
 * one.
 */
static void
take_step(Oid server, PlanningStep step, const Planning *planning)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (!transaction_noted_stock(server) || IsInParallelMode())
	{
		step(planning);
		return;
	}
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(planning);
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

/* Has postgres_fdw estimate the size of a table. */
static void
size_table(const Planning *planning)
{
	stock->GetForeignRelSize(planning->root, planning->rel, planning->tableid);
}

/* Has postgres_fdw make the paths of a table. */
static void
find_table_paths(const Planning *planning)
{
	stock->GetForeignPaths(planning->root, planning->rel, planning->tableid);
}

/* Has postgres_fdw make the paths of a remote join. */
static void
find_join_paths(const Planning *planning)
{
	stock->GetForeignJoinPaths(planning->root, planning->rel, planning->outer,
							   planning->inner, planning->jointype,
							   planning->join);
}

/* Has postgres_fdw make the paths of remote grouping, sorting or a limit. */
static void
find_upper_paths(const Planning *planning)
{
	stock->GetForeignUpperPaths(planning->root, planning->stage,
								planning->input, planning->rel,
								planning->upper);
}

/* The planner's callbacks, named as in FdwRoutine */
static void
get_rel_size(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	Planning	planning = {.root = root,.rel = rel,.tableid = tableid};

	if (option_of_table_is_true(tableid, "use_remote_estimate", false))
		estimates_enter_stock(rel->serverid);
	take_step(rel->serverid, size_table, &planning);
}

static void
get_paths(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	Planning	planning = {.root = root,.rel = rel,.tableid = tableid};

	take_step(rel->serverid, find_table_paths, &planning);
}

static void
get_join_paths(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outer,
			   RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	Planning	planning = {
		.root = root,.rel = rel,.outer = outer,.inner = inner,
		.jointype = jointype,.join = extra
	};

	take_step(rel->serverid, find_join_paths, &planning);
}

static void
get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				RelOptInfo *rel, void *extra)
{
	Planning	planning = {
		.root = root,.rel = rel,.stage = stage,.input = input,
		.upper = extra
	};

	take_step(input->serverid, find_upper_paths, &planning);
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
