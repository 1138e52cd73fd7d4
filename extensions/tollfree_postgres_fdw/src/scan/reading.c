/*
 * reading.c
 *	  How much of a scan its query reads.
 *
 * All rows of a scan are certain to be read if
 *
 *	- the executor was asked for all rows of the query, not for the next ones of
 *	  a cursor (run.c), and
 *	- each node between the scan and the query's result reads its input to the
 *	  end (reading_of_scan).
 *
 * The remote server can then send all of them at once, for the query does not
 * stop early.
 *
 * The session can do nothing else while rows are in flight.  A node may read
 * another foreign table of the same server before all rows of the scan have
 * been read.  Such a node counts as one that stops early.
 *
 * A hash join reads one row of its outer side before it builds its hash table,
 * and no further row if that table is empty.  So the outer side is READS_REST.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "foreign/fdwapi.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"

#include "base/inputs.h"
#include "scan/scan_state.h"

typedef struct ReadingSearch
{
	const Plan *scan;			/* to be found */
	Oid			server;			/* of the scan */
	const PlannedStmt *stmt;
	ScanReading reading;		/* result, once the scan is found */
} ReadingSearch;

/* Is a plan our own node, which reads all of its outer plan? */
static bool
is_lookups(const Plan *plan)
{
	return strcmp(((const CustomScan *) plan)->methods->CustomName,
				  LOOKUP_NODE) == 0;
}

static bool uses_server(List *plans, Oid server);

/* Does a plan read the server, or could it? */
static bool
plan_uses_server(Plan *plan, Oid server)
{
	if (plan == NULL)
		return false;
	if (IsA(plan, ForeignScan))
		return ((ForeignScan *) plan)->fs_server == server;
	if (IsA(plan, CustomScan) && !is_lookups(plan))
		return true;
	return uses_server(inputs_of_plan(plan), server);
}

/* Does one of these plans read the server, or could it? */
static bool
uses_server(List *plans, Oid server)
{
	ListCell   *cell;

	foreach(cell, plans)
	{
		if (plan_uses_server(lfirst(cell), server))
			return true;
	}
	return false;
}

/* Does a modification write to the server? */
static bool
writes_to_server(const ModifyTable *modify, const ReadingSearch *search)
{
	ListCell   *cell;

	/* Tuple routing can add partitions, which resultRelations does not list. */
	if (modify->operation == CMD_MERGE || modify->rootRelation != 0)
		return true;
	foreach(cell, modify->resultRelations)
	{
		const RangeTblEntry *rte = rt_fetch(lfirst_int(cell),
											search->stmt->rtable);

		if (rte->relkind == RELKIND_PARTITIONED_TABLE ||
			(rte->relkind == RELKIND_FOREIGN_TABLE &&
			 GetForeignServerIdByRelId(rte->relid) == search->server))
			return true;
	}
	return false;
}

/* Does an aggregation read all of its input before it returns a row? */
static bool
reads_at_once(const Agg *agg)
{
	return agg->chain == NIL &&
		(agg->aggstrategy == AGG_PLAIN || agg->aggstrategy == AGG_HASHED);
}

static bool find_scan(ReadingSearch *search, Plan *plan, ScanReading reading);

/* find_scan in several plans. */
static bool
find_in_list(ReadingSearch *search, List *plans, ScanReading reading)
{
	ListCell   *cell;

	foreach(cell, plans)
	{
		if (find_scan(search, lfirst(cell), reading))
			return true;
	}
	return false;
}

/* find_scan on both sides of a nested loop whose output is read like this. */
static bool
find_in_loop(ReadingSearch *search, NestLoop *loop, ScanReading reading)
{
	Plan	   *outer = outerPlan(loop);
	Plan	   *inner = innerPlan(loop);
	bool		stops = loop->join.inner_unique ||
		(loop->join.jointype != JOIN_INNER && loop->join.jointype != JOIN_LEFT);

	return find_scan(search, outer, plan_uses_server(inner, search->server) ?
					 READS_SOME : reading) ||
		find_scan(search, inner,
				  stops || plan_uses_server(outer, search->server) ?
				  READS_SOME : reading);
}

/*
 * Looks for the scan in a plan whose output is read like this.  Notes how the
 * scan is read; false if it is not in the plan, or is below a node of a kind
 * that is not listed here.
 */
static bool
find_scan(ReadingSearch *search, Plan *plan, ScanReading reading)
{
	if (plan == NULL)
		return false;
	if (plan == search->scan)
	{
		search->reading = reading;
		return true;
	}
	switch (nodeTag(plan))
	{
		case T_Result:
		case T_ProjectSet:
		case T_Material:
		case T_Unique:
		case T_Group:
		case T_IncrementalSort:
			return find_scan(search, outerPlan(plan), reading);
		case T_SubqueryScan:
			return find_scan(search, ((SubqueryScan *) plan)->subplan, reading);
		case T_Sort:
		case T_Hash:
			return find_scan(search, outerPlan(plan), READS_ALL);
		case T_Agg:
			return find_scan(search, outerPlan(plan),
							 reads_at_once((Agg *) plan) ? READS_ALL : reading);
		case T_WindowAgg:
			return find_scan(search, outerPlan(plan),
							 ((WindowAgg *) plan)->runCondition == NIL ?
							 reading : READS_SOME);
		case T_Limit:
			return find_scan(search, outerPlan(plan), READS_SOME);
		case T_NestLoop:
			return find_in_loop(search, (NestLoop *) plan, reading);
		case T_HashJoin:
			return find_scan(search, innerPlan(plan), READS_ALL) ||
				find_scan(search, outerPlan(plan), Min(reading, READS_REST));
		case T_ModifyTable:
			return find_scan(search, outerPlan(plan),
							 writes_to_server((ModifyTable *) plan, search) ?
							 READS_SOME : reading);
		case T_Append:
			return find_in_list(search, ((Append *) plan)->appendplans, reading);
		case T_CustomScan:
			return is_lookups(plan) &&
				find_scan(search, outerPlan(plan), reading);
		default:
			return false;
	}
}

/* How much of a scan is read by a query that is asked for all of its rows? */
ScanReading
reading_of_scan(const ForeignScanState *node)
{
	return reading_of_plan(node->ss.ps.state, node->ss.ps.plan,
						   castNode(ForeignScan, node->ss.ps.plan)->fs_server);
}

/*
 * The same for any plan of the query; with InvalidOid it does not matter whether
 * a server is used in between.
 */
ScanReading
reading_of_plan(const EState *estate, const Plan *plan, Oid server)
{
	const PlannedStmt *stmt = estate->es_plannedstmt;
	ReadingSearch search = {
		.scan = plan,.server = server,.stmt = stmt,.reading = READS_SOME
	};

	if (!uses_server(stmt->subplans, server))
		(void) find_scan(&search, stmt->planTree, READS_ALL);
	return search.reading;
}
