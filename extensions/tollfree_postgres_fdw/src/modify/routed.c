/*
 * routed.c
 *	  Rows that PostgreSQL routes to partitions.
 *
 * Whether they may be written without waiting for each depends on all
 * partitions of the table, not only on those that get rows.  It is checked
 * for each partition that gets some, so the result is kept for the execution.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "nodes/plannodes.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/fastpath.h"
#include "modify/routed.h"

/* The execution that last routed rows to partitions of ours */
typedef struct RoutedExecution
{
	const EState *estate;		/* NULL once it has ended */
	Oid			root;			/* the partitioned table */
	bool		has_triggers;	/* has any partition a row trigger? */
	List	   *servers;		/* of foreign partitions */
	List	   *shared_servers; /* of several of them */
	List	   *pipelines;		/* one for each session */
} RoutedExecution;

static RoutedExecution routed;

/* Can a local trigger see or change a row? */
bool
triggers_see_rows(const TriggerDesc *triggers)
{
	return triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_update_before_row || triggers->trig_update_after_row ||
		 triggers->trig_delete_before_row || triggers->trig_delete_after_row);
}

/*
 * Has a partition a row trigger?  relhastriggers rules most out without a
 * lock.
 */
static bool
partition_has_triggers(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		found = HeapTupleIsValid(tuple) &&
		((Form_pg_class) GETSTRUCT(tuple))->relhastriggers;
	Relation	rel;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (!found)
		return false;
	rel = try_relation_open(relid, AccessShareLock);
	found = rel != NULL && triggers_see_rows(rel->trigdesc);
	if (rel != NULL)
		relation_close(rel, NoLock);
	return found;
}

/* Records the server of a partition, if that is a foreign table. */
static void
note_server(Oid relid)
{
	Oid			server;

	if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE)
		return;
	server = GetForeignServerIdByRelId(relid);
	if (list_member_oid(routed.servers, server))
		routed.shared_servers = list_append_unique_oid(routed.shared_servers,
													   server);
	else
		routed.servers = lappend_oid(routed.servers, server);
}

/* Examines all partitions of a table; the result is in this context. */
static void
look_at_partitions(Oid root)
{
	List	   *relids = find_all_inheritors(root, NoLock, NULL);
	ListCell   *cell;

	routed.root = root;
	routed.has_triggers = false;
	routed.servers = routed.shared_servers = NIL;
	foreach(cell, relids)
	{
		note_server(lfirst_oid(cell));
		routed.has_triggers = routed.has_triggers ||
			partition_has_triggers(lfirst_oid(cell));
	}
	list_free(relids);
}

/* Forgets the execution at its end. */
static void
forget_routed(void *arg)
{
	if (routed.estate == arg)
		routed.estate = NULL;
}

/*
 * Examines the partitions that rows are routed to, unless that has been done.
 */
static void
begin_routed(const ModifyTableState *node, const ResultRelInfo *rinfo)
{
	EState	   *estate = node->ps.state;
	Oid			root = RelationGetRelid(rinfo->ri_RootResultRelInfo->ri_RelationDesc);
	MemoryContextCallback *forget;
	MemoryContext old;

	if (routed.estate == estate && routed.root == root)
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	if (routed.estate != estate)
	{
		routed.pipelines = NIL;
		forget = palloc0(sizeof(MemoryContextCallback));
		forget->func = forget_routed;
		forget->arg = estate;
		MemoryContextRegisterResetCallback(estate->es_query_cxt, forget);
	}
	routed.estate = NULL;
	look_at_partitions(root);
	routed.estate = estate;
	MemoryContextSwitchTo(old);
}

/* Does a plan return one row, as that of VALUES with one does? */
static bool
returns_one_row(const Plan *plan)
{
	return IsA(plan, Result) && outerPlan(plan) == NULL;
}

/*
 * If a row was routed to a partition, is it one of several that are inserted,
 * and does no trigger of any partition run between them?
 *
 * With ON CONFLICT two sessions are likely to insert the same rows.  If they
 * wait for each other on two servers, no server detects the deadlock.  So the
 * owner has to allow that.
 */
bool
routed_quietly(const ModifyTableState *node, const ResultRelInfo *rinfo,
			   int fast_paths)
{
	if (rinfo->ri_RootResultRelInfo == NULL)
		return true;
	if (node->operation != CMD_INSERT ||
		returns_one_row(outerPlan(node->ps.plan)) ||
		(castNode(ModifyTable, node->ps.plan)->onConflictAction != ONCONFLICT_NONE &&
		 !fastpath_is_on(fast_paths, FAST_PARALLEL_MODIFY)))
		return false;
	begin_routed(node, rinfo);
	return !routed.has_triggers;
}

/* Is there another foreign partition on the server of this one? */
bool
routed_shares_server(const ModifyTableState *node, const ResultRelInfo *rinfo)
{
	begin_routed(node, rinfo);
	return list_member_oid(routed.shared_servers,
						   GetForeignServerIdByRelId(RelationGetRelid(rinfo->ri_RelationDesc)));
}

/*
 * The pipeline for routed rows in a session, or NULL.  routed_quietly must
 * have been called before.
 */
WritePipeline *
routed_find_pipeline(const Session *session)
{
	ListCell   *cell;

	foreach(cell, routed.pipelines)
	{
		if (pipeline_session(lfirst(cell)) == session)
			return lfirst(cell);
	}
	return NULL;
}

/* Keeps a pipeline for routed rows; the pipeline must live in this context. */
void
routed_add_pipeline(WritePipeline *pipeline)
{
	routed.pipelines = lappend(routed.pipelines, pipeline);
}
