/*
 * compat.h
 *	  Differences between the supported major versions, 15 to 19.
 */
#ifndef TOLLFREE_FDW_COMPAT_H
#define TOLLFREE_FDW_COMPAT_H

#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "utils/memutils.h"
#include "utils/guc_tables.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 190000
#include "access/htup_details.h"
#include "utils/tuplestore.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#include "storage/waiteventset.h"
#endif
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
#if PG_VERSION_NUM >= 160000
#include "varatt.h"				/* part of postgres.h before */
#endif

/*
 * With ENABLE_GSS, libpq-be.h includes GSSAPI's headers, which need not be
 * installed.  Without it Port is the same, and one function is missing.
 */
#ifdef ENABLE_GSS
#define COMPAT_HAS_GSS
#undef ENABLE_GSS
#endif
#include "libpq/libpq-be.h"
#if defined(COMPAT_HAS_GSS) && PG_VERSION_NUM >= 160000
extern bool be_gssapi_get_delegation(Port *port);
#endif

#include "base/libpq.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "the plans of this version's postgres_fdw are not known here"
#endif

/* That a case falls through to the next one; compilers do not read comments. */
#define compat_fallthrough __attribute__((fallthrough))

/*
 * Rows that libpq collects before it hands them over; few, because rows can be
 * wide.  A million short rows take as long 8 at a time as 32, and four times
 * as long one by one.
 */
#define COMPAT_ROWS_IN_CHUNK 8

/* What postgres_fdw takes a scan and each of its rows to cost */
#define COMPAT_FDW_STARTUP_COST 100.0
#if PG_VERSION_NUM >= 170000
#define COMPAT_FDW_TUPLE_COST 0.2
#else
#define COMPAT_FDW_TUPLE_COST 0.01
#endif

/* The path of a foreign scan with parameters */
#if PG_VERSION_NUM >= 180000
#define compat_foreign_path(root, rel, rows, startup, total, outer) \
	create_foreignscan_path(root, rel, NULL, rows, 0, startup, total, NIL, \
							outer, NULL, NIL, NIL)
#elif PG_VERSION_NUM >= 170000
#define compat_foreign_path(root, rel, rows, startup, total, outer) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, NIL, \
							outer, NULL, NIL, NIL)
#else
#define compat_foreign_path(root, rel, rows, startup, total, outer) \
	create_foreignscan_path(root, rel, NULL, rows, startup, total, NIL, \
							outer, NULL, NIL)
#endif

/*
 * Gives a copied Append or MergeAppend its own pruning.  From 18 on that is kept in
 * the statement, and the executor changes its state when it begins the node.
 */
static inline void
compat_own_pruning(Plan *plan, PlannedStmt *stmt)
{
#if PG_VERSION_NUM >= 180000
	int		   *number = IsA(plan, Append) ? &((Append *) plan)->part_prune_index :
		IsA(plan, MergeAppend) ? &((MergeAppend *) plan)->part_prune_index : NULL;

	if (number == NULL || *number < 0)
		return;
	stmt->partPruneInfos =
		lappend(stmt->partPruneInfos,
				copyObjectImpl(list_nth(stmt->partPruneInfos, *number)));
	*number = list_length(stmt->partPruneInfos) - 1;
#endif
}

/* An Append of these paths, and a nested loop's cost. */
#if PG_VERSION_NUM >= 190000
#define compat_append_path(root, rel, paths, outer) \
	create_append_path(root, rel, (AppendPathInput) {.subpaths = (paths)}, NIL, \
					   outer, 0, false, -1)
#define compat_cost_nestloop(root, workspace, type, outer, inner, extra) \
	initial_cost_nestloop(root, workspace, type, PGS_NESTLOOP_PLAIN, outer, \
						  inner, extra)
#else
#define compat_append_path(root, rel, paths, outer) \
	create_append_path(root, rel, paths, NIL, NIL, outer, 0, false, -1)
#define compat_cost_nestloop(root, workspace, type, outer, inner, extra) \
	initial_cost_nestloop(root, workspace, type, outer, inner, extra)
#endif

/* Does postgres_fdw send semi joins? */
#define COMPAT_STOCK_SEMI_JOINS (PG_VERSION_NUM >= 170000)

/*
 * The different rows of the outer side of a join of type JOIN_UNIQUE_OUTER, whose
 * cheapest path is given.  From 19 on the planner has made a relation of them.
 */
#if PG_VERSION_NUM >= 190000
#define compat_unique_path(root, rel, path, sjinfo) (path)
#else
#define compat_unique_path(root, rel, path, sjinfo) \
	((Path *) create_unique_path(root, rel, path, sjinfo))
#endif

/*
 * Is it a relation's partial aggregation below a join?  It is a copy of the
 * relation, whose rows are groups.
 */
#if PG_VERSION_NUM >= 190000
#define compat_is_grouped(rel) IS_GROUPED_REL(rel)
#else
#define compat_is_grouped(rel) false
#endif

/* Which inputs of an Append can have rows, as it finds out in its execution. */
#if PG_VERSION_NUM >= 180000
#define compat_matching_subplans(prune) \
	ExecFindMatchingSubPlans(prune, false, NULL)
#else
#define compat_matching_subplans(prune) ExecFindMatchingSubPlans(prune, false)
#endif

/* Is it JSON_VALUE or the like, which may leave its arguments unevaluated? */
#if PG_VERSION_NUM >= 170000
#define compat_is_json_expr(node) IsA(node, JsonExpr)
#else
#define compat_is_json_expr(node) false
#endif

/* How rows are compared: less, less or equal and so on, as strategies of a B-tree */
#if PG_VERSION_NUM >= 180000
#define compat_row_comparison(rows) ((int) (rows)->cmptype)
#else
#define compat_row_comparison(rows) ((int) (rows)->rctype)
#endif

/* The first version whose dates and times have one binary form */
#define COMPAT_BINARY_VERSION 100000

/*
 * What came with 18: the members of an equivalence class that are of partitions
 * are apart; orders are named by comparisons.
 */
#if PG_VERSION_NUM >= 180000
#define COMPAT_LESS COMPARE_LT
#define compat_ascends(pathkey) ((pathkey)->pk_cmptype == COMPARE_LT)
typedef EquivalenceMemberIterator CompatMembers;
#define compat_begin_members(members, class, relids) \
	setup_eclass_member_iterator(members, class, relids)
#define compat_next_member(members) eclass_member_iterator_next(members)
#else
#define COMPAT_LESS BTLessStrategyNumber
#define compat_ascends(pathkey) ((pathkey)->pk_strategy == BTLessStrategyNumber)
typedef struct CompatMembers
{
	List	   *list;
	int			next;
} CompatMembers;
#define compat_begin_members(members, class, relids) \
	(*(members) = (CompatMembers) {(class)->ec_members, 0})
#define compat_next_member(members) \
	((members)->next < list_length((members)->list) ? \
	 (EquivalenceMember *) list_nth((members)->list, (members)->next++) : NULL)
#endif

/*
 * The bounds that are known of the values of window functions, as OpExprs whose first
 * argument is the function: of a function from 17 on, before of all those of its
 * window
 */
static inline List *
compat_run_conditions(WindowFunc *function, const WindowClause *window)
{
#if PG_VERSION_NUM >= 170000
	List	   *conditions = NIL;
	ListCell   *cell;

	foreach(cell, function->runCondition)
	{
		const WindowFuncRunCondition *condition = lfirst(cell);

		if (condition->wfunc_left)
			conditions = lappend(conditions,
								 make_opclause(condition->opno, BOOLOID, false,
											   (Expr *) function,
											   condition->arg, InvalidOid,
											   condition->inputcollid));
	}
	return conditions;
#else
	return window->runCondition;
#endif
}

/* Parameters of ExecutorRun_hook, and the arguments that pass them on */
#if PG_VERSION_NUM >= 180000
#define COMPAT_EXECUTOR_RUN_PARAMS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count
#define COMPAT_EXECUTOR_RUN_ARGS queryDesc, direction, count
#else
#define COMPAT_EXECUTOR_RUN_PARAMS \
	QueryDesc *queryDesc, ScanDirection direction, uint64 count, bool once
#define COMPAT_EXECUTOR_RUN_ARGS queryDesc, direction, count, once
#endif

/* Counts time towards the whole execution, if an extension wants that. */
#if PG_VERSION_NUM >= 190000
#define compat_start_timing(queryDesc) \
	((queryDesc)->query_instr != NULL ? InstrStart((queryDesc)->query_instr) : (void) 0)
#define compat_stop_timing(queryDesc) \
	((queryDesc)->query_instr != NULL ? InstrStop((queryDesc)->query_instr) : (void) 0)
#else
#define compat_start_timing(queryDesc) \
	((queryDesc)->totaltime != NULL ? InstrStartNode((queryDesc)->totaltime) : (void) 0)
#define compat_stop_timing(queryDesc) \
	((queryDesc)->totaltime != NULL ? InstrStopNode((queryDesc)->totaltime, 0) : (void) 0)
#endif

/* From 19 on a descriptor is to be finished before rows are made by it. */
#if PG_VERSION_NUM >= 190000
#define compat_finish_tupdesc(tupdesc) TupleDescFinalize(tupdesc)
#else
#define compat_finish_tupdesc(tupdesc) ((void) 0)
#endif

/* Parameters of planner_hook, and the arguments that pass them on */
#if PG_VERSION_NUM >= 190000
#define COMPAT_PLANNER_PARAMS \
	Query *query, const char *text, int cursor_options, ParamListInfo params, \
	ExplainState *es
#define COMPAT_PLANNER_ARGS query, text, cursor_options, params, es
#else
#define COMPAT_PLANNER_PARAMS \
	Query *query, const char *text, int cursor_options, ParamListInfo params
#define COMPAT_PLANNER_ARGS query, text, cursor_options, params
#endif

/* Plans a query. */
#if PG_VERSION_NUM >= 190000
#define compat_plan(query, text, cursor_options, params) \
	planner(query, text, cursor_options, params, NULL)
#else
#define compat_plan(query, text, cursor_options, params) \
	planner(query, text, cursor_options, params)
#endif

/* Adds the tables of a subquery, whose Vars are shifted already, to those of a query. */
static inline void
compat_combine_tables(Query *query, Query *sub)
{
#if PG_VERSION_NUM >= 160000
	CombineRangeTables(&query->rtable, &query->rteperminfos, sub->rtable,
					   sub->rteperminfos);
#else
	query->rtable = list_concat(query->rtable, sub->rtable);
#endif
}

/* The flag of EXPLAIN (GENERIC_PLAN), which has parameters without values. */
#if PG_VERSION_NUM >= 160000
#define COMPAT_EXPLAINS_GENERIC EXEC_FLAG_EXPLAIN_GENERIC
#else
#define COMPAT_EXPLAINS_GENERIC 0
#endif

/* Does a statement write to the relation at this range table index? */
#if PG_VERSION_NUM >= 190000
#define compat_is_target(stmt, rtindex) \
	bms_is_member(rtindex, (stmt)->resultRelationRelids)
#else
#define compat_is_target(stmt, rtindex) \
	list_member_int((stmt)->resultRelations, rtindex)
#endif

/*
 * The level of the topmost read-only transaction that this one is in, 0 if it may
 * write; is it deferrable?  postgres_fdw heeds neither before 19.
 */
#if PG_VERSION_NUM >= 190000
#define compat_read_only_level() GetTopReadOnlyTransactionNestLevel()
#define compat_is_deferrable() XactDeferrable
#else
#define compat_read_only_level() 0
#define compat_is_deferrable() false
#endif

/* Does this backend hold a lock of exactly this mode on a relation? */
static inline bool
compat_holds_lock(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(&tag, mode, false);
#else
	return LockHeldByMe(&tag, mode);
#endif
}

/*
 * What the notice receiver of a new connection is to be given.  From 19 on it begins
 * the line in the log; libpq's own, before 19, does not look at it.
 */
#define COMPAT_NOTICE_PREFIX "received message via remote connection"

/* Does postgres_fdw send a cast of an array? */
#define COMPAT_STOCK_CASTS_ARRAYS (PG_VERSION_NUM >= 190000)

/* Does postgres_fdw have the option import_stats? */
#define COMPAT_STOCK_IMPORTS (PG_VERSION_NUM >= 190000)

/* Has nobody given a setting a value? */
static inline bool
compat_is_default(const char *name)
{
#if PG_VERSION_NUM >= 160000
	return find_option(name, false, false, ERROR)->source == PGC_S_DEFAULT;
#else
	struct config_generic **settings = get_guc_variables();

	for (int i = 0; i < GetNumConfigOptions(); i++)
	{
		if (strcmp(settings[i]->name, name) == 0)
			return settings[i]->source == PGC_S_DEFAULT;
	}
	return false;
#endif
}

/*
 * What came with 16: postgres_fdw's option analyze_sampling; the relations that
 * a scan of a join or an aggregate reads, without outer joins; a count of the
 * rows that all runs of a statement have processed, which is added to here;
 * passwords that delegated credentials replace; one check of rights for all objects.
 */
#if PG_VERSION_NUM >= 160000
#define COMPAT_STOCK_SAMPLES true
#define compat_server_aclcheck(server) \
	object_aclcheck(ForeignServerRelationId, server, GetUserId(), ACL_USAGE)
#define compat_scan_rtindexes(plan) ((plan)->fs_base_relids)
#define compat_correct_total(estate, difference) \
	((estate)->es_total_processed += (difference))
#define COMPAT_NO_PASSWORD "password or GSSAPI delegated credentials required"
#define COMPAT_PASSWORD_UNUSED \
	"Non-superuser cannot connect if the server does not request a password or use GSSAPI with delegated credentials."
#else
#define COMPAT_STOCK_SAMPLES false
#define compat_server_aclcheck(server) \
	pg_foreign_server_aclcheck(server, GetUserId(), ACL_USAGE)
#define compat_scan_rtindexes(plan) ((plan)->fs_relids)
#define compat_correct_total(estate, difference) ((void) (difference))
#define COMPAT_NO_PASSWORD "password is required"
#define COMPAT_PASSWORD_UNUSED \
	"Non-superuser cannot connect if the server does not request a password."
#endif

/* Weak: older minor releases, which a build must load into, lack it. */
extern bool libpqsrv_is_valid_proxy_option(const char *keyword)
			__attribute__((weak));

/* Raises an ERROR for a connection option that a wrapper must not pass on. */
static inline void
compat_check_proxy_option(const char *keyword)
{
	if (libpqsrv_is_valid_proxy_option != NULL &&
		!libpqsrv_is_valid_proxy_option(keyword))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set connection option \"%s\"",
						keyword)));
}

#if PG_VERSION_NUM < 160000
/* May connect_timeout be set: as an option, by environment or service? */
static inline bool
compat_may_time_out(const char *const *names)
{
	PQconninfoOption *defaults;
	bool		has_default = false;

	for (; *names != NULL; names++)
	{
		if (strcmp(*names, "connect_timeout") == 0 ||
			strcmp(*names, "service") == 0)
			return true;
	}
	defaults = PQconndefaults();	/* from the environment and its service */
	if (defaults == NULL)
		return true;
	for (PQconninfoOption *option = defaults; option->keyword != NULL; option++)
	{
		if (strcmp(option->keyword, "connect_timeout") == 0)
			has_default = option->val != NULL;
	}
	PQconninfoFree(defaults);
	return has_default;
}
#endif

/*
 * Connects, and reserves a file descriptor.  From 19 on messages of the remote
 * server that are no errors go to the log of this one.  On 15 only libpq's own waiting
 * heeds connect_timeout, and nothing interrupts it, so it is used only where
 * there may be a timeout.  From 16 on connect_timeout is ignored.
 */
static inline PGconn *
compat_connect(const char *const *names, const char *const *values,
			   uint32 wait_event)
{
#if PG_VERSION_NUM < 160000
	if (compat_may_time_out(names))
	{
		PGconn	   *conn;

		libpqsrv_connect_prepare();
		conn = PQconnectdbParams(names, values, false);
		if (conn == NULL)
			ReleaseExternalFD();
		return conn;
	}
#endif
#if PG_VERSION_NUM >= 190000
	{
		PGconn	   *conn = libpqsrv_connect_params_start(names, values, false);

		PQsetNoticeReceiver(conn, libpqsrv_notice_receiver, COMPAT_NOTICE_PREFIX);
		libpqsrv_connect_complete(conn, wait_event);
		return conn;
	}
#else
	return libpqsrv_connect_params(names, values, false, wait_event);
#endif
}

/* Can subscriptions connect to servers of this wrapper?  There are none before 19. */
#if PG_VERSION_NUM >= 190000
#define compat_serves_subscriptions(wrapper) OidIsValid((wrapper)->fdwconnection)
#else
#define compat_serves_subscriptions(wrapper) true
#endif

/*
 * What came with libpq 17, queued: dropping a prepared statement that need not
 * exist; closing a portal that need not, as a message that does nothing but is
 * answered; a Sync that is not flushed at once.
 */
#ifdef LIBPQ_HAS_CLOSE_PREPARED
#define compat_send_deallocate(conn, name) PQsendClosePrepared(conn, name)
#define compat_send_nothing(conn) PQsendClosePortal(conn, "")
#define compat_send_sync(conn) PQsendPipelineSync(conn)
#else
#define compat_send_nothing(conn) PQsendPrepare(conn, "", "", 0, NULL)
#define compat_send_sync(conn) PQpipelineSync(conn)

static inline int
compat_send_deallocate(PGconn *conn, const char *name)
{
	char		sql[NAMEDATALEN + 16];

	snprintf(sql, sizeof(sql), "DEALLOCATE %s", name);
	return PQsendQueryParams(conn, sql, 0, NULL, NULL, NULL, NULL, 0);
}
#endif

/*
 * What came with 17: shared memory for a library that is not preloaded; cancel
 * requests with a deadline, which can be interrupted; wait events of an
 * extension; the resource owner of a wait event set, here none.
 */
#if PG_VERSION_NUM >= 170000
#define COMPAT_HAS_SEGMENTS true
#define COMPAT_CANCEL_IS_BOUNDED true
#define compat_new_wait_event(name) WaitEventExtensionNew(name)
#define compat_create_wait_event_set(nevents) CreateWaitEventSet(NULL, nevents)
#else
#define COMPAT_HAS_SEGMENTS false
#define COMPAT_CANCEL_IS_BOUNDED false
#define compat_new_wait_event(name) PG_WAIT_EXTENSION
#define compat_create_wait_event_set(nevents) \
	CreateWaitEventSet(TopMemoryContext, nevents)
#endif

/* Parameters of a function that initializes named shared memory */
#if PG_VERSION_NUM >= 190000
#define COMPAT_INIT_PARAMS void *memory, void *arg
#else
#define COMPAT_INIT_PARAMS void *memory
#endif

/*
 * Named shared memory, which the first caller makes, and which lasts until
 * the server ends; NULL before 17.
 */
static inline void *
compat_get_segment(const char *name, size_t size,
				   void (*init) (COMPAT_INIT_PARAMS))
{
#if PG_VERSION_NUM >= 190000
	bool		found;

	return GetNamedDSMSegment(name, size, init, &found, NULL);
#elif PG_VERSION_NUM >= 170000
	bool		found;

	return GetNamedDSMSegment(name, size, init, &found);
#else
	return NULL;
#endif
}

/* Sends a cancel request; NULL, or an error message in this context. */
static inline const char *
compat_cancel(PGconn *conn, TimestampTz deadline)
{
#if PG_VERSION_NUM >= 170000
	return libpqsrv_cancel(conn, deadline);
#else
	PGcancel   *cancel = PQgetCancel(conn);
	char		message[256] = "out of memory";
	bool		sent = cancel != NULL &&
		PQcancel(cancel, message, sizeof(message));

	PQfreeCancel(cancel);
	return sent ? NULL : pstrdup(message);
#endif
}

/* Sets how many rows come in one result, as they arrive; one before libpq 17. */
static inline void
compat_set_row_mode(PGconn *conn, int rows)
{
#ifdef LIBPQ_HAS_CHUNK_MODE
	PQsetChunkedRowsMode(conn, Max(1, Min(rows, COMPAT_ROWS_IN_CHUNK)));
#else
	PQsetSingleRowMode(conn);
#endif
}

/* Does a result hold all or some rows of a command? */
static inline bool
compat_has_rows(const PGresult *res)
{
	ExecStatusType status = PQresultStatus(res);

#ifdef LIBPQ_HAS_CHUNK_MODE
	if (status == PGRES_TUPLES_CHUNK)
		return true;
#endif
	return status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE;
}

/* The first of the relations that a scan reads. */
static inline Index
compat_scan_rtindex(const ForeignScan *plan)
{
	if (plan->scan.scanrelid > 0)
		return plan->scan.scanrelid;
	return bms_next_member(compat_scan_rtindexes(plan), -1);
}

/*
 * Has the client already executed another command in this implicit transaction?
 * Minor releases that cannot tell say yes.
 */
#ifdef XACT_FLAGS_PIPELINING
#define compat_is_pipelining() ((MyXactFlags & XACT_FLAGS_PIPELINING) != 0)
#else
#define compat_is_pipelining() true
#endif

/* The user whose mapping a scan or a direct modification uses. */
static inline Oid
compat_scan_user(const ForeignScan *plan, const RangeTblEntry *rte)
{
#if PG_VERSION_NUM >= 160000
	Oid			user = plan->checkAsUser;
#else
	Oid			user = rte->checkAsUser;
#endif

	return OidIsValid(user) ? user : GetUserId();
}

/* The user whose mapping a row by row modification uses. */
static inline Oid
compat_result_user(ResultRelInfo *rinfo, EState *estate)
{
#if PG_VERSION_NUM >= 160000
	return ExecGetResultRelCheckAsUser(rinfo, estate);
#else
	Index		rtindex = rinfo->ri_RangeTableIndex;
	Oid			user;

	if (rtindex == 0)
		rtindex = rinfo->ri_RootResultRelInfo->ri_RangeTableIndex;
	user = exec_rt_fetch(rtindex, estate)->checkAsUser;
	return OidIsValid(user) ? user : GetUserId();
#endif
}

/* Does ANALYZE collect statistics of this column? */
static inline bool
compat_is_analyzed(Form_pg_attribute attribute)
{
	int			target = -1;	/* the default */
#if PG_VERSION_NUM >= 170000
	HeapTuple	tuple = SearchSysCache2(ATTNUM,
										ObjectIdGetDatum(attribute->attrelid),
										Int16GetDatum(attribute->attnum));
	Datum		value;
	bool		is_default;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u",
			 attribute->attnum, attribute->attrelid);
	value = SysCacheGetAttr(ATTNUM, tuple, Anum_pg_attribute_attstattarget,
							&is_default);
	if (!is_default)
		target = DatumGetInt16(value);
	ReleaseSysCache(tuple);
#else
	target = attribute->attstattarget;
#endif
#if PG_VERSION_NUM >= 180000
	if (attribute->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
		return false;
#endif
	return !attribute->attisdropped && target != 0;
}

/*
 * Has the client delegated GSSAPI credentials that a connection may use?  Was
 * this connection made with them?
 */
#if PG_VERSION_NUM >= 160000 && defined(COMPAT_HAS_GSS)
#define compat_has_delegation() be_gssapi_get_delegation(MyProcPort)
#define compat_used_delegation(conn) \
	(PQconnectionUsedGSSAPI(conn) && compat_has_delegation())
#else
#define compat_has_delegation() false
#define compat_used_delegation(conn) false
#endif

#if PG_VERSION_NUM >= 180000
#define COMPAT_PASSWORD_MISSING \
	"Non-superusers must delegate GSSAPI credentials, provide a password, or enable SCRAM pass-through in user mapping."
#elif PG_VERSION_NUM >= 160000
#define COMPAT_PASSWORD_MISSING \
	"Non-superusers must delegate GSSAPI credentials or provide a password in the user mapping."
#else
#define COMPAT_PASSWORD_MISSING \
	"Non-superusers must provide a password in the user mapping."
#endif

#endif							/* TOLLFREE_FDW_COMPAT_H */
