/*
 * autocommit.c
 *	  Which scans need no remote transaction around them.
 *
 * START TRANSACTION and COMMIT keep several commands together.  A scan that is
 * all that the local transaction ever does in its session can do without: its
 * SELECT is a remote transaction of its own, with the one snapshot that it
 * would have had.  That nothing comes after it is proven here:
 *
 *	- it is executed by the client's own query, the last and only one of an
 *	  autocommit transaction that is not SERIALIZABLE: the statement of a simple
 *	  query, or an Execute of the unnamed portal with Sync right behind it;
 *	- the plan reads nothing else, and scans once; and
 *	- no code runs in it that could ask the remote server: only functions,
 *	  operators and types that are PostgreSQL's own, and of its functions the
 *	  immutable ones, which excludes those that take a query as an argument.
 *
 * That nothing came before it is known to the session, and that the SELECT
 * writes nothing remotely to relations.c.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/settings.h"
#include "scan/autocommit.h"

/* Is it a type of PostgreSQL's own, and whatever its values contain too? */
static bool
is_own_type(Oid type)
{
	return type < FirstUnpinnedObjectId && type != RECORDOID &&
		type != RECORDARRAYOID;
}

/* Are these functions or operators PostgreSQL's own? */
static bool
are_own(const Oid *oids, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (oids[i] >= FirstUnpinnedObjectId)
			return false;
	}
	return true;
}

/* Could a function run a query? */
static bool
may_run_query(Oid function, void *context)
{
	return !are_own(&function, 1) ||
		func_volatile(function) != PROVOLATILE_IMMUTABLE;
}

/*
 * Could an expression run a query?  What is not listed could.  Sorting inside
 * an aggregate has operators of its own, which are not looked at.
 */
static bool
is_suspect(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
			return !is_own_type(exprType(node));
		case T_Aggref:
			if (castNode(Aggref, node)->aggorder != NIL ||
				castNode(Aggref, node)->aggdistinct != NIL)
				return true;
			/* FALLTHROUGH */
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_CoerceViaIO:
			if (check_functions_in_node(node, may_run_query, NULL))
				return true;
			break;
		case T_List:
		case T_TargetEntry:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CoalesceExpr:
		case T_ArrayExpr:
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, is_suspect, context);
}

/* The same of what an Agg has beside its expressions. */
static bool
is_suspect_agg(const Agg *agg)
{
	return agg->groupingSets != NIL || agg->chain != NIL ||
		!are_own(agg->grpOperators, agg->numCols);
}

/* The same of any node between the query's result and the scan. */
static bool
is_suspect_node(Plan *plan)
{
	if (plan->initPlan != NIL || innerPlan(plan) != NULL ||
		is_suspect((Node *) plan->targetlist, NULL) ||
		is_suspect((Node *) plan->qual, NULL))
		return true;
	switch (nodeTag(plan))
	{
		case T_ForeignScan:
		case T_SubqueryScan:
		case T_Material:
			return false;
		case T_Limit:
			return is_suspect(((Limit *) plan)->limitOffset, NULL) ||
				is_suspect(((Limit *) plan)->limitCount, NULL) ||
				!are_own(((Limit *) plan)->uniqOperators,
						 ((Limit *) plan)->uniqNumCols);
		case T_Result:
			return is_suspect(((Result *) plan)->resconstantqual, NULL);
		case T_Sort:
		case T_IncrementalSort:
			/* The second is a Sort and more. */
			return !are_own(((Sort *) plan)->sortOperators,
							((Sort *) plan)->numCols);
		case T_Unique:
			return !are_own(((Unique *) plan)->uniqOperators,
							((Unique *) plan)->numCols);
		case T_Agg:
			return is_suspect_agg((Agg *) plan);
		default:
			return true;
	}
}

/* The node that another one reads, or NULL. */
static Plan *
node_below(Plan *plan)
{
	return IsA(plan, SubqueryScan) ? ((SubqueryScan *) plan)->subplan
		: outerPlan(plan);
}

/* Are all columns that the scan receives of PostgreSQL's own types? */
static bool
has_own_columns(ForeignScanState *node, List *attrs)
{
	TupleDesc	tupdesc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	ListCell   *cell;

	foreach(cell, attrs)
	{
		int			attno = lfirst_int(cell);

		if (attno > 0 &&
			!is_own_type(TupleDescAttr(tupdesc, attno - 1)->atttypid))
			return false;
	}
	return true;
}

/*
 * Is the scan, which receives these attributes, all that its statement does
 * that could involve the remote server?
 */
bool
autocommit_suits_plan(ForeignScanState *node, List *attrs)
{
	const PlannedStmt *stmt = node->ss.ps.state->es_plannedstmt;
	ForeignScan *scan = castNode(ForeignScan, node->ss.ps.plan);
	Plan	   *plan = stmt->planTree;

	if (!setting_autocommit_scans || stmt->commandType != CMD_SELECT ||
		stmt->hasModifyingCTE || stmt->rowMarks != NIL ||
		stmt->subplans != NIL || scan->operation != CMD_SELECT ||
		is_suspect((Node *) scan->fdw_exprs, NULL) ||
		!has_own_columns(node, attrs))
		return false;
	for (; plan != NULL && !is_suspect_node(plan); plan = node_below(plan))
	{
		if (plan == &scan->scan.plan)
			return true;
	}
	return false;
}

/* Is this execution the whole of an autocommit transaction of the client's? */
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
		GetCurrentTransactionNestLevel() > 1 || compat_is_pipelining())
		return false;
	/* Only the portal of a simple query is not listed in pg_cursors. */
	return !portal->visible || compat_sync_follows();
}

/*
 * The foreign tables that a scan reads, in this context, if it is about to be
 * executed as all that the local transaction does, else NIL.
 */
List *
autocommit_relations(ForeignScanState *node, List *attrs)
{
	EState	   *estate = node->ss.ps.state;
	ForeignScan *scan = castNode(ForeignScan, node->ss.ps.plan);
	const Bitmapset *rtindexes;
	List	   *relids = NIL;
	int			rtindex = -1;

	if (!is_whole_transaction(estate) || !autocommit_suits_plan(node, attrs))
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
