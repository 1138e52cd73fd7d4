/*
 * paths.c
 *	  When a join looks up the foreign rows of many outer rows at once.
 *
 * A nested loop whose inner side is a parameterized foreign scan sends one
 * query for each outer row.  To such a nested loop this file adds a second
 * one that differs in one thing: its outer side has a custom scan on top
 * (node.c), which has the inner scan fetch the rows for many outer rows at
 * once.
 *
 * That node returns the outer rows as they are and in their order.  So the
 * nested loop keeps its properties, whatever the join type, and conditions
 * that the remote server cannot evaluate are checked in the join as usual.
 *
 * Outer rows are read ahead.  This has no visible effect in a query that
 * calls no volatile function, locks no rows, and writes at most to a local
 * table without row triggers.  EvalPlanQual rechecks a changed row of that
 * table in a plan of its own, where the node lets rows pass through.
 *
 * Rows of a foreign table to be modified are looked up before the first one is
 * modified: another node above the nested loop stores them (store.c).  Only rows
 * that are looked up are locked remotely.
 *
 * A semi-join whose left side is looked up is a join with the different rows of
 * its right side.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/joininfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/tables.h"
#include "join/lookup.h"
#include "join/memory.h"
#include "rewrite/rewrite.h"
#include "scan/scan.h"
#include "scan/scan_state.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "sql/plan.h"

/*
 * The share of its cost without batches that a nested loop costs at most with
 * them, where they are to be preferred: the planner takes 1% for no difference
 */
#define LOOKUP_PREFERENCE 0.98

/* A scan parameterized by some tables, as in MEMORY_SCANS */
typedef struct MadeScan
{
	Relids		outer;
	Path	   *path;			/* NULL: there is none */
} MadeScan;

static set_join_pathlist_hook_type next_hook = NULL;

/* Does a table have triggers for the rows that a command writes? */
static bool
fires_triggers(Oid relid, CmdType command)
{
	Relation	rel = table_open(relid, NoLock);
	const TriggerDesc *triggers = rel->trigdesc;
	bool		fires = triggers != NULL &&
		(command == CMD_INSERT ?
		 triggers->trig_insert_before_row || triggers->trig_insert_after_row :
		 command == CMD_UPDATE ?
		 triggers->trig_update_before_row || triggers->trig_update_after_row :
		 triggers->trig_delete_before_row || triggers->trig_delete_after_row);

	table_close(rel, NoLock);
	return fires;
}

/*
 * Does a query modify rows of a foreign table?  It can look up rows only
 * before it modifies the first one (store.c).  Not of partitions or children:
 * custom scans cannot return what identifies rows of several tables.
 */
static bool
modifies_foreign(const PlannerInfo *root)
{
	const Query *query = root->parse;
	const RangeTblEntry *target;

	if (query->commandType != CMD_UPDATE && query->commandType != CMD_DELETE)
		return false;
	target = planner_rt_fetch(query->resultRelation, root);
	return target->relkind == RELKIND_FOREIGN_TABLE && !target->inh;
}

/* Does a query write, if at all, only to a local table without row triggers? */
bool
lookup_writes_quietly(const Query *query)
{
	const RangeTblEntry *target;

	if (query->commandType == CMD_SELECT)
		return true;
	if (query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE &&
		query->commandType != CMD_DELETE)
		return false;
	target = rt_fetch(query->resultRelation, query->rtable);
	return target->relkind == RELKIND_RELATION &&
		!(target->inh && has_subclass(target->relid)) &&
		query->onConflict == NULL &&
		!fires_triggers(target->relid, query->commandType);
}

/* Walker: does a query, or one in it, lock rows by FOR UPDATE or the like? */
static bool
locks_rows(Node *node, void *arg)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return ((Query *) node)->rowMarks != NIL ||
			query_tree_walker((Query *) node, locks_rows, arg, 0);
	return expression_tree_walker(node, locks_rows, arg);
}

/*
 * May the result of a query or subquery depend on when rows are read?  Locks
 * count only where it may stop early.
 */
static bool
depends_on_timing(Query *query, bool may_stop)
{
	return contain_volatile_functions((Node *) query) ||
		(may_stop && locks_rows((Node *) query, NULL));
}

/* May that of a query, or of a subquery of it? */
static bool
any_depends_on_timing(const PlannerInfo *root, bool may_stop)
{
	ListCell   *cell;

	if (depends_on_timing(root->parse, may_stop))
		return true;
	/* Subqueries in its expressions are planned already, and not seen there. */
	foreach(cell, root->glob->subroots)
	{
		if (depends_on_timing(lfirst_node(PlannerInfo, cell)->parse, may_stop))
			return true;
	}
	return false;
}

/*
 * Has reading ahead outer rows no visible effect, where rows of this relation
 * are looked up by them?  Of a query that modifies a foreign table, which may
 * be in WITH, this is asked for its own joins.  It reads all outer rows of its
 * target anyway, also those that a subquery locks, as that of a queue does.
 */
static bool
may_read_ahead(PlannerInfo *root, const RelOptInfo *inner)
{
	if (modifies_foreign(root))
		return !root->parse->hasModifyingCTE &&
			!any_depends_on_timing(root, !bms_overlap(inner->relids,
													  root->all_result_relids));
	for (;; root = root->parent_root)
	{
		if (!lookup_writes_quietly(root->parse))
			return false;
		if (root->parent_root == NULL)
			return !root->parse->hasModifyingCTE &&
				!any_depends_on_timing(root, true);
	}
}

/*
 * Does the query use the ctids of a table, other than to modify its rows?  Such
 * rows are fetched row by row (method.c).
 */
static bool
wants_ctids(const PlannerInfo *root, const RelOptInfo *rel)
{
	return !bms_is_member(rel->relid, root->all_result_relids) &&
		!bms_is_empty(rel->attr_needed[SelfItemPointerAttributeNumber -
									   rel->min_attr]);
}

/* May scans of a relation be looked up in batches, by these fast paths? */
static bool
may_batch(const RelOptInfo *rel, int fast_paths)
{
	return lookup_is_on(fast_paths) &&
		sessions_may_send_arrays(lookup_user(rel), rel->serverid);
}

/* Is a relation a foreign table, join or aggregate of ours? */
static bool
is_ours(const RelOptInfo *rel)
{
	return rel->fdwroutine != NULL &&
		rel->fdwroutine->BeginForeignScan == tollfreeBeginForeignScan;
}

/*
 * Is a relation a foreign table whose rows may be looked up in batches?  One with
 * children is not scanned itself: its own rows are those of a child.
 */
static bool
is_table(PlannerInfo *root, const RelOptInfo *rel)
{
	const RangeTblEntry *entry = IS_SIMPLE_REL(rel) ?
		planner_rt_fetch(rel->relid, root) : NULL;

	return entry != NULL && !entry->inh && is_ours(rel) &&
		!wants_ctids(root, rel) &&
		may_batch(rel, tables_fast_paths(entry->relid));
}

/*
 * Is a relation a table with partitions or children, whose ctids are not used?
 */
static bool
has_members(PlannerInfo *root, const RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL && rel->rtekind == RTE_RELATION &&
		planner_rt_fetch(rel->relid, root)->inh && !wants_ctids(root, rel);
}

/* Is any input of an Append a foreign scan that may be looked up in batches? */
static bool
has_lookup(PlannerInfo *root, const AppendPath *append)
{
	ListCell   *cell;

	foreach(cell, append->subpaths)
	{
		const Path *path = lfirst(cell);

		if (IsA(path, ForeignPath) && is_table(root, path->parent))
			return true;
	}
	return false;
}

/*
 * Has a relation a pseudoconstant condition, as PostgreSQL 15 may push below
 * an outer join?  A Result above its scan evaluates it, so the node would not
 * find the scan.
 */
static bool
has_pseudoconstant_qual(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		if (lfirst_node(RestrictInfo, cell)->pseudoconstant)
			return true;
	}
	return false;
}

/*
 * Is an inner path a foreign scan that may be looked up in batches, of a
 * table, of some partitions, or of all of a LATERAL subquery?  A subquery
 * inside it is executed once for many outer rows, so it must not depend on
 * them.
 */
static bool
is_lookup(PlannerInfo *root, const Path *inner)
{
	const RelOptInfo *rel = inner->parent;

	if (IsA(inner, AppendPath))
		return has_members(root, rel) &&
			has_lookup(root, (const AppendPath *) inner);
	if (IsA(inner, SubqueryScanPath))
	{
		const Path *scan = ((const SubqueryScanPath *) inner)->subpath;

		return IsA(scan, ForeignPath) && is_ours(scan->parent) &&
			!has_pseudoconstant_qual(scan->parent) &&
			rel->subroot->init_plans == NIL &&
			may_batch(scan->parent,
					  plan_fast_paths(rel->subroot, scan->parent,
									  InvalidOid));
	}
	return IsA(inner, ForeignPath) && is_table(root, rel);
}

/* Could a relation be joined on the remote server with this foreign scan? */
static bool
is_same_server(const RelOptInfo *rel, const RelOptInfo *scan)
{
	return OidIsValid(rel->serverid) && rel->serverid == scan->serverid &&
		rel->userid == scan->userid;
}

/*
 * Can the remote server join the inner side with the outer one, or with a
 * table of it?  postgres_fdw then has a path that sends one query.  If it is
 * costed as a nested loop, its cost cannot be compared with that of lookups.
 */
static bool
may_join_remotely(PlannerInfo *root, RelOptInfo *outerrel, RelOptInfo *innerrel)
{
	int			relid = -1;

	if (is_same_server(outerrel, innerrel))
		return true;
	if (fastpath_is_on(plan_fast_paths(root, innerrel, InvalidOid),
					   FAST_JOIN_ESTIMATES))
		return false;
	while ((relid = bms_next_member(outerrel->relids, relid)) >= 0)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel != NULL && is_same_server(rel, innerrel) &&
			have_relevant_joinclause(root, rel, innerrel))
			return true;
	}
	return false;
}

/*
 * One of the foreign scans of an inner side, which all have the same
 * parameters.
 */
static const Path *
foreign_scan(const Path *inner)
{
	ListCell   *cell;

	if (!IsA(inner, AppendPath))
		return inner;
	foreach(cell, ((const AppendPath *) inner)->subpaths)
	{
		if (IsA(lfirst(cell), ForeignPath))
			return lfirst(cell);
	}
	return inner;
}

/* The columns of outer rows that parameterize a path. */
static List *
find_keys(const Path *path)
{
	const RelOptInfo *rel = path->parent;
	List	   *clauses = path->param_info->ppi_clauses;
	List	   *exprs = list_concat(extract_actual_clauses(clauses, false),
									rel->lateral_vars);
	List	   *vars = pull_var_clause((Node *) exprs,
									   PVC_RECURSE_PLACEHOLDERS);
	List	   *keys = NIL;
	ListCell   *cell;

	foreach(cell, vars)
	{
		if (!bms_is_member(lfirst_node(Var, cell)->varno, rel->relids))
			keys = lappend(keys, lfirst(cell));
	}
	return keys;
}

/* Walker: is there a parameter whose value cannot be sent in an array? */
static bool
has_other_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return !deparse_may_be_key(((Param *) node)->paramtype);
	return expression_tree_walker(node, has_other_param, context);
}

/*
 * Has a scan a parameter of the query, not of outer rows, that cannot be sent?
 */
static bool
is_given_others(const Path *scan)
{
	List	   *clauses = list_concat_copy(scan->parent->baserestrictinfo,
										   scan->param_info->ppi_clauses);

	return has_other_param((Node *) extract_actual_clauses(clauses, false), NULL);
}

/* Can all these values be sent in arrays to the server of this relation? */
static bool
may_be_sent(const PlannerInfo *root, const RelOptInfo *rel, const List *keys)
{
	const ListCell *cell;

	foreach(cell, keys)
	{
		if (!deparse_may_be_key(rewrite_sent_as(root, rel,
												lfirst_node(Var, cell)->vartype)))
			return false;
	}
	return keys != NIL;
}

/* Makes the node's plan, which returns the rows of the outer side's. */
static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *outer = linitial(plans);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.lefttree = outer;
	scan->custom_scan_tlist = list_copy_deep(outer->targetlist);
	scan->flags = path->flags;
	scan->methods = &lookup_scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = LOOKUP_NODE,
	.PlanCustomPath = make_plan
};

/* The node's path above an outer side. */
static Path *
make_path(Path *outer)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *outer;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.parallel_aware = path->path.parallel_safe = false;
	path->path.parallel_workers = 0;
	path->path.total_cost += outer->rows * cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(outer);
	path->methods = &path_methods;
	return &path->path;
}

/*
 * The cost at most of a nested loop that looks up all rows before the first one
 * is modified, given what it costs without batches.  Without them, it could find
 * rows again that it has modified, so with them it costs less.
 */
static Cost
cost_before_writes(PlannerInfo *root, Cost plain, const Path *outer,
				   const Path *inner, List *keys)
{
	Cost		cost = plain;

	if (bms_overlap(inner->parent->relids, root->all_result_relids))
		cost *= LOOKUP_PREFERENCE;
	/* Before 18 the cost of a nested loop may say that it is not wanted. */
	if (IsA(inner, ForeignPath) && enable_nestloop)
		cost = Min(cost, lookup_whole_cost(root, outer, inner, keys));
	return cost;
}

/*
 * Adds the nested loop of two sides with the node, if the inner one's
 * parameters can be sent.
 */
static void
add_loop(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner,
		 JoinType jointype, JoinPathExtraData *extra)
{
	const Path *scan = foreign_scan(inner);
	List	   *columns = find_keys(scan);
	List	   *pathkeys = build_join_pathkeys(root, joinrel, jointype,
											   outer->pathkeys);
	Path	   *keys = make_path(outer);
	JoinCostWorkspace workspace;
	NestPath   *loop;
	Cost		plain;

	if (!may_be_sent(root, scan->parent, columns) || is_given_others(scan))
		return;
	compat_cost_nestloop(root, &workspace, jointype, keys, inner, extra);
	loop = create_nestloop_path(root, joinrel, jointype, &workspace, extra,
								keys, inner, extra->restrictlist, pathkeys,
								NULL);
	loop->jpath.path.parallel_safe = false;
	plain = loop->jpath.path.total_cost;
	loop->jpath.path.total_cost -= lookup_saved_cost(root, outer->rows, inner,
													 columns, jointype, extra);
	loop->jpath.path.total_cost = Max(loop->jpath.path.total_cost,
									  keys->total_cost + inner->total_cost);
	if (modifies_foreign(root))
	{
		loop->jpath.path.total_cost = Min(loop->jpath.path.total_cost,
										  cost_before_writes(root, plain, keys,
															 inner, columns));
		add_path(joinrel, store_make_path(&loop->jpath.path));
		return;
	}
	loop->jpath.path.startup_cost =
		Min(loop->jpath.path.startup_cost + lookup_first_cost(outer->rows, inner),
			loop->jpath.path.total_cost);
	add_path(joinrel, &loop->jpath.path);
}

/*
 * The cheapest path of a relation parameterized by just these tables; NULL if
 * there is none.  A local table may have an unparameterized path.
 */
static Path *
cheapest_given(PlannerInfo *root, const RelOptInfo *rel, Relids outer)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		Path	   *path = lfirst(cell);

		if (bms_equal(PATH_REQ_OUTER(path), outer) &&
			(cheapest == NULL || path->total_cost < cheapest->total_cost))
			cheapest = path;
	}
	return cheapest != NULL ? cheapest
		: reparameterize_path(root, rel->cheapest_total_path, outer, 1.0);
}

/* The leaf tables of a partitioned table, or one with children. */
static List *
find_members(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *members = NIL;
	ListCell   *cell;

	foreach(cell, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst_node(AppendRelInfo, cell);
		RelOptInfo *member = info->parent_relid == rel->relid ?
			root->simple_rel_array[info->child_relid] : NULL;

		if (member == NULL || IS_DUMMY_REL(member))
			continue;
		members = planner_rt_fetch(member->relid, root)->inh ?
			list_concat(members, find_members(root, member)) :
			lappend(members, member);
	}
	return members;
}

/*
 * The Append of the scans of partitions parameterized by these tables; NULL if
 * there is none.
 */
static Path *
make_append(PlannerInfo *root, RelOptInfo *rel, Relids tables)
{
	List	   *members = find_members(root, rel);
	List	   *paths = NIL;
	Path	   *made = NULL;
	ListCell   *cell;

	foreach(cell, members)
	{
		if (made == NULL && is_table(root, lfirst(cell)))
			made = lookup_make_scan(root, lfirst(cell), tables);
	}
	if (made == NULL)
		return NULL;
	foreach(cell, members)
	{
		RelOptInfo *member = lfirst(cell);
		Path	   *path = is_table(root, member) ?
			lookup_make_scan(root, member, tables) : NULL;

		if (path == NULL || !bms_equal(PATH_REQ_OUTER(path), PATH_REQ_OUTER(made)))
			path = cheapest_given(root, member, PATH_REQ_OUTER(made));
		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	return (Path *) compat_append_path(root, rel, paths, PATH_REQ_OUTER(made));
}

/* Makes such a scan of a table or of its members, and keeps it in memory.c. */
static MadeScan *
make_scan(PlannerInfo *root, RelOptInfo *rel, Relids outer)
{
	MadeScan   *made = palloc(sizeof(MadeScan));

	made->outer = outer;
	made->path = is_table(root, rel) ? lookup_make_scan(root, rel, outer) :
		has_members(root, rel) ? make_append(root, rel, outer) : NULL;
	memory_keep(rel, MEMORY_SCANS,
				lappend(memory_find(rel, MEMORY_SCANS), made));
	return made;
}

/*
 * The scan of an inner side parameterized by these tables, unless PostgreSQL
 * has made one.  It is allocated with the relation's other paths: GEQO frees
 * the memory of joins.
 */
static Path *
make_inner(PlannerInfo *root, RelOptInfo *rel, Relids tables)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(rel));
	Relids		outer = rel->rtekind == RTE_RELATION && !IS_DUMMY_REL(rel) ?
		lookup_outer(root, rel, tables) : NULL;
	MadeScan   *made = NULL;
	ListCell   *cell;

	foreach(cell, memory_find(rel, MEMORY_SCANS))
	{
		if (bms_equal(((MadeScan *) lfirst(cell))->outer, outer))
			made = lfirst(cell);
	}
	if (made == NULL && outer != NULL)
		made = make_scan(root, rel, outer);
	MemoryContextSwitchTo(old);
	return made == NULL ? NULL : made->path;
}

/* Could rows of an inner side be looked up?  A cheap test before the others. */
static bool
may_be_lookup(PlannerInfo *root, const RelOptInfo *rel)
{
	return !compat_is_grouped(rel) &&
		(is_ours(rel) || has_members(root, rel) ||
		 rel->rtekind == RTE_SUBQUERY);
}

/* May rows of the inner side of a join of this type be looked up? */
static bool
is_looked_up(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
		case JOIN_UNIQUE_OUTER:
			return true;
		default:
			return false;
	}
}

/* The hook: adds nested loops with batched lookups for two sides of a join. */
static void
consider(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
		 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *outer = outerrel->cheapest_total_path;
	Path	   *made;
	ListCell   *cell;

	if (next_hook != NULL)
		next_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!is_looked_up(jointype) ||
		outer == NULL || PATH_REQ_OUTER(outer) != NULL ||
		!may_be_lookup(root, innerrel) ||
		has_pseudoconstant_qual(outerrel) || has_pseudoconstant_qual(innerrel) ||
		may_join_remotely(root, outerrel, innerrel) ||
		!may_read_ahead(root, innerrel))
		return;
	if (jointype == JOIN_UNIQUE_OUTER)
	{
		outer = compat_unique_path(root, outerrel, outer, extra->sjinfo);
		jointype = JOIN_INNER;
	}
	foreach(cell, innerrel->cheapest_parameterized_paths)
	{
		Path	   *inner = lfirst(cell);

		if (inner->param_info != NULL &&
			bms_is_subset(PATH_REQ_OUTER(inner), outerrel->relids) &&
			is_lookup(root, inner))
			add_loop(root, joinrel, outer, inner, jointype, extra);
	}
	made = make_inner(root, innerrel, outerrel->relids);
	if (made != NULL)
		add_loop(root, joinrel, outer, made, jointype, extra);
}

/* Installs the hook; called when the library is loaded. */
void
lookup_install(void)
{
	RegisterCustomScanMethods(&lookup_scan_methods);
	RegisterCustomScanMethods(&store_scan_methods);
	next_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = consider;
}
