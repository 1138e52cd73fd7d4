/*
 * autocommit.c
 *	  Which scans need no remote transaction around them.
 *
 * START TRANSACTION and COMMIT keep several commands together.  A SELECT does
 * not need them if it is all that the local transaction does in its session.
 * It is then a remote transaction of its own, and has one snapshot either way.
 * A scan is all that the local transaction does if
 *
 *	- it is executed by the client's own query, outside of a transaction block:
 *	  a simple query, or the first Execute of an unnamed portal.  A client may
 *	  execute more before its Sync.  Those commands get a later snapshot, so
 *	  an Execute qualifies only under READ COMMITTED, which allows that;
 *	- the plan is the scan, and perhaps a LIMIT; and
 *	- all functions and types that it uses here are PostgreSQL's own, and the
 *	  functions are immutable: any other could query the remote server, too.
 *
 * The session knows that nothing came before the scan.  questions.c knows that
 * the SELECT writes nothing remotely.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "optimizer/optimizer.h"
#include "tcop/pquery.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "scan/scan_state.h"

/* Are all columns that the scan receives of PostgreSQL's own types? */
static bool
has_own_columns(ForeignScanState *node, List *attrs)
{
	TupleDesc	tupdesc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	ListCell   *cell;

	foreach(cell, attrs)
	{
		int			attno = lfirst_int(cell);
		Oid			type;

		if (attno <= 0)
			continue;
		type = TupleDescAttr(tupdesc, attno - 1)->atttypid;
		if (type >= FirstUnpinnedObjectId || type == RECORDOID ||
			type == RECORDARRAYOID)
			return false;
	}
	return true;
}

/*
 * Is a plan this scan, or a LIMIT of it, and are all functions that it calls
 * immutable?
 */
static bool
is_plain_plan(Plan *plan, const ForeignScan *scan)
{
	if (IsA(plan, Limit))
	{
		const Limit *limit = (const Limit *) plan;

		if (limit->limitOption != LIMIT_OPTION_COUNT ||
			contain_mutable_functions(limit->limitOffset) ||
			contain_mutable_functions(limit->limitCount))
			return false;
		plan = outerPlan(plan);
	}
	return plan == &scan->scan.plan &&
		!contain_mutable_functions((Node *) plan->targetlist) &&
		!contain_mutable_functions((Node *) plan->qual) &&
		!contain_mutable_functions((Node *) scan->fdw_exprs);
}

/*
 * Is the scan the only part of its statement that could use the remote server?
 * The planner lists in invalItems each function and domain of the statement
 * that is not PostgreSQL's own.
 */
bool
autocommit_suits_plan(ForeignScanState *node, const ScanPlan *plan)
{
	const PlannedStmt *stmt = node->ss.ps.state->es_plannedstmt;
	ForeignScan *scan = castNode(ForeignScan, node->ss.ps.plan);

	return fastpath_is_on(plan->fast_paths, FAST_AUTOCOMMIT) &&
		stmt->commandType == CMD_SELECT && !stmt->hasModifyingCTE &&
		stmt->rowMarks == NIL && stmt->subplans == NIL &&
		stmt->invalItems == NIL &&
		is_plain_plan(stmt->planTree, scan) &&
		has_own_columns(node, plan->attrs);
}

/* Is this execution the client's own query, outside of a transaction block? */
static bool
is_whole_transaction(const EState *estate)
{
	Portal		portal = ActivePortal;

	/*
	 * Portals of SQL commands and of functions have names.  A background
	 * worker can run several queries in one transaction without a block.
	 */
	if (MyBackendType != B_BACKEND || portal == NULL || portal->name[0] != '\0' ||
		portal->queryDesc == NULL || portal->queryDesc->estate != estate)
		return false;
	if (IsolationIsSerializable() || IsTransactionBlock() ||
		GetCurrentTransactionNestLevel() > 1)
		return false;
	/* Only the portal of a simple query is not listed in pg_cursors. */
	return !portal->visible ||
		(!IsolationUsesXactSnapshot() && !compat_is_pipelining());
}

/*
 * The foreign tables that a scan reads, allocated in this context, if the scan
 * is all that the local transaction does, else NIL.
 */
List *
autocommit_relations(ForeignScanState *node, const ScanPlan *plan)
{
	EState	   *estate = node->ss.ps.state;
	ForeignScan *scan = castNode(ForeignScan, node->ss.ps.plan);
	const Bitmapset *rtindexes;
	List	   *relids = NIL;
	int			rtindex = -1;

	if (!is_whole_transaction(estate) || !autocommit_suits_plan(node, plan))
		return NIL;
	if (scan->scan.scanrelid > 0)
		return list_make1_oid(RelationGetRelid(node->ss.ss_currentRelation));
	rtindexes = compat_scan_rtindexes(scan);
	while ((rtindex = bms_next_member(rtindexes, rtindex)) >= 0)
	{
		const RangeTblEntry *rte = exec_rt_fetch(rtindex, estate);

		if (rte->relkind != RELKIND_FOREIGN_TABLE)
			return NIL;
		relids = list_append_unique_oid(relids, rte->relid);
	}
	return relids;
}
