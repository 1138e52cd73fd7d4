/*
 * estimates.c
 *	  Planning with remote estimates.
 *
 * With use_remote_estimate postgres_fdw executes EXPLAIN over its own
 * connection: each estimate costs a round trip, each session has two
 * connections, and one of them may wait for a lock of the other, in a
 * deadlock that no server detects.  So postgres_fdw plans such a table as if
 * it lacked the option (hidden.c).  Relations made of the table then lack it,
 * too.  We have the paths that postgres_fdw makes, and those that it would
 * make for estimates alone, explained remotely (explain.c), and compute the
 * rows and costs that it would have computed (estimate.c).
 *
 * Tables are in scans.c, joins in joins.c, upper relations here.
 */
#include "postgres.h"

#include "nodes/value.h"
#include "optimizer/pathnode.h"

#include "base/compat.h"
#include "base/tables.h"
#include "estimates/buckets.h"
#include "estimates/estimate.h"
#include "estimates/estimates.h"
#include "estimates/joins.h"
#include "estimates/scans.h"
#include "join/remote.h"
#include "join/semi.h"
#include "rewrite/firsts.h"
#include "rewrite/groups.h"
#include "rewrite/orders.h"
#include "rewrite/planning.h"
#include "rewrite/rewrite.h"
#include "rewrite/sets.h"
#include "rewrite/targets.h"
#include "upper/partial.h"

/* By what costs are multiplied that are not to count; a power of two, so exactly */
#define COST_OF_OTHERS	1099511627776.0

/* So many matches of a row are joined at most, for each row of both tables */
#define MATCHES_MAX		10

/* postgres_fdw's own callbacks */
static const FdwRoutine *stock = NULL;

/*
 * Hides the order that a query needs from postgres_fdw, if rows must be sorted here.
 * Returns it; the caller puts it back.
 */
static List *
hide_order(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *order = root->query_pathkeys;

	if (rewrite_keeps_order(root, rel))
		root->query_pathkeys = NIL;
	return order;
}

/* The planner's callbacks, named as in FdwRoutine */
static void
get_rel_size(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	List	   *order;
	SentOrder	sent;

	rewrite_conditions(root, rel, tableid);
	order = hide_order(root, rel);
	orders_note(root, rel);
	orders_begin(&sent, root, rel);
	if (tables_asks_for_estimates(tableid))
		scans_size(stock, root, rel, tableid);
	else
		stock->GetForeignRelSize(root, rel, tableid);
	orders_end(&sent);
	root->query_pathkeys = order;
}

/* Has the paths of a table return the first rows of groups, if no others are needed. */
static void
reduce_paths(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	List	   *firsts = firsts_find(root, rel, tableid);
	ListCell   *cell;

	if (firsts == NIL || !scans_send_conditions(stock, root, rel))
		return;
	foreach(cell, scans_take_paths(rel, NIL))
	{
		firsts_reduce_path(root, lfirst_node(ForeignPath, cell), firsts);
		add_path(rel, lfirst(cell));
	}
}

static void
get_paths(PlannerInfo *root, RelOptInfo *rel, Oid tableid)
{
	List	   *order = hide_order(root, rel);
	SentOrder	sent;

	orders_begin(&sent, root, rel);
	if (tables_asks_for_estimates(tableid))
		scans_add_paths(stock, root, rel);
	else
		stock->GetForeignPaths(root, rel, tableid);
	orders_end(&sent);
	root->query_pathkeys = order;
	reduce_paths(root, rel, tableid);
}

/*
 * Has postgres_fdw make paths of a join, which may be sent as one of another type.  The
 * conditions are those that are sent.  May hide the order that the query needs.
 */
static void
make_join_paths(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outer,
				RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	bool		has_estimates = joins_have_estimates(outer, inner);
	List	   *written = extra->restrictlist;
	JoinType	sent_type;
	RemoteJoin	join;

	/* The mark of a semi join would be part of what is estimated. */
	sent_type = has_estimates && jointype == JOIN_SEMI ? jointype :
		semi_sent_type(root, rel, inner, jointype, extra);
	if (sent_type != jointype)
	{
		rewrite_note_join(root, rel, jointype == JOIN_SEMI);
		if (rewrite_keeps_join(root, rel, written))
			return;
		(void) hide_order(root, rel);
	}
	if (has_estimates)
	{
		joins_add_paths(stock, root, rel, outer, inner, sent_type, extra);
		return;
	}
	remote_begin_join(&join, root, rel, outer, inner, sent_type, extra);
	stock->GetForeignJoinPaths(root, rel, outer, inner, sent_type, extra);
	remote_end_join(&join);
}

/* Multiplies the costs of paths, which stay in their order. */
static void
scale_costs(const List *paths, double factor)
{
	const ListCell *cell;

	foreach(cell, paths)
		((Path *) lfirst(cell))->total_cost *= factor;
}

/* The remote path among those of a join, or NULL. */
static Path *
find_sent(const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rel->pathlist)
	{
		if (IsA(lfirst(cell), ForeignPath))
			return lfirst(cell);
	}
	return NULL;
}

/*
 * Has a remote path of a join made that nothing is cheaper than: that of a modification
 * that is to be one command, which returns no rows.  postgres_fdw needs the other paths,
 * whose costs are put back if there is none.  Where rows have very many matches no path
 * is made: a semi join would stop at the first of each.
 */
static void
make_cheapest_path(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outer,
				   RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *sent;

	if (rel->rows > MATCHES_MAX * (outer->rows + inner->rows))
		return;
	scale_costs(rel->pathlist, COST_OF_OTHERS);
	make_join_paths(root, rel, outer, inner, jointype, extra);
	sent = find_sent(rel);
	if (sent != NULL)
		sent->total_cost = sent->startup_cost;
	else
		scale_costs(rel->pathlist, 1 / COST_OF_OTHERS);
}

static void
get_join_paths(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outer,
			   RelOptInfo *inner, JoinType jointype, JoinPathExtraData *extra)
{
	JoinPathExtraData sent = *extra;
	List	   *order;

	/* postgres_fdw would treat partial aggregates as columns, and fail. */
	if (compat_is_grouped(rel))
		return;

	/*
	 * postgres_fdw adds paths to a join relation once, for the first pair
	 * that makes it.
	 */
	if (rel->fdw_private != NULL ||
		rewrite_keeps_join(root, rel, extra->restrictlist))
		return;
	sent.restrictlist = rewrite_join(root, rel, extra);

	/*
	 * To check a condition of a semi-join here, postgres_fdw would ask for
	 * columns that its command hides in EXISTS.
	 */
	if (jointype == JOIN_SEMI && IS_SIMPLE_REL(inner) && inner->fdw_private != NULL &&
		!scans_send_all(stock, root, inner, sent.restrictlist))
		return;
	order = hide_order(root, rel);
	if (planning_is_joined(root, rel))
		make_cheapest_path(root, rel, outer, inner, jointype, &sent);
	else
		make_join_paths(root, rel, outer, inner, jointype, &sent);
	root->query_pathkeys = order;
}

/*
 * Estimates a path of an upper relation.  target is that of the query's
 * result, if the path sorts that; or NULL.
 */
static Estimate *
estimate_upper_path(PlannerInfo *root, ForeignPath *path, const PathTarget *target)
{
	Estimate   *estimate = estimate_make(stock, root, path, NULL, NIL);

	explain_estimates(root, list_make1(estimate));
	estimate_finish(root, estimate,
					target == path->path.parent->reltarget ? NULL : target);
	estimate_apply(&path->path, estimate);
	return estimate;
}

/*
 * Sets the costs of postgres_fdw's path of an upper relation by a remote
 * estimate, if its input has one.
 */
static void
cost_upper_path(PlannerInfo *root, UpperRelationKind stage,
				const RelOptInfo *input, ForeignPath *path, void *extra)
{
	RelOptInfo *rel = path->path.parent;
	bool		groups = stage == UPPERREL_GROUP_AGG;
	List	   *below = estimate_find(groups ? input : rel);

	if (below == NIL || (!groups && path->fdw_private == NIL))
		return;
	if (groups)
		estimate_keep(rel, list_make1(estimate_upper_path(root, path, NULL)));
	else if (boolVal(linitial(path->fdw_private)))
		(void) estimate_upper_path(root, path, root->upper_targets[stage]);
	else
		estimate_limit(&path->path, linitial(below), extra);
}

/* Has postgres_fdw make paths of a grouping in another form than the written one. */
static void
make_rewritten_paths(PlannerInfo *root, RelOptInfo *input, RelOptInfo *rel,
					 void *extra)
{
	RewrittenTarget rewritten;

	if (input->fdw_private == NULL ||
		!groups_begin(&rewritten, root, input, rel, extra))
		return;
	rel->fdw_private = NULL;
	stock->GetForeignUpperPaths(root, UPPERREL_GROUP_AGG, input, rel, extra);
	groups_end(&rewritten, root, input, rel);
}

/*
 * Has postgres_fdw make paths of a grouping: as it is written, and in another form if
 * it does not send that.
 */
static void
make_group_paths(PlannerInfo *root, RelOptInfo *input, RelOptInfo *rel,
				 void *extra)
{
	bool		is_preferred = groups_prefer_other_form(extra);

	if (is_preferred)
		make_rewritten_paths(root, input, rel, extra);
	if (rel->pathlist == NIL && !groups_need_other_form(rel, extra))
	{
		rel->fdw_private = NULL;
		stock->GetForeignUpperPaths(root, UPPERREL_GROUP_AGG, input, rel, extra);
	}
	if (rel->pathlist == NIL && !is_preferred)
		make_rewritten_paths(root, input, rel, extra);
}

/* Has postgres_fdw make paths of an upper relation. */
static void
make_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				 RelOptInfo *rel, void *extra)
{
	if (stage == UPPERREL_GROUP_AGG)
		make_group_paths(root, input, rel, extra);
	else
		stock->GetForeignUpperPaths(root, stage, input, rel, extra);
}

/*
 * Is a path a command that does all of a query of groups, with its LIMIT?  Then it is
 * to be the only one, and costs no more than any plan that fetches rows for the query:
 * the remote server can do as that plan does, and stop as early.  postgres_fdw expects
 * it to make all groups.
 */
static bool
is_limited_whole(const PlannerInfo *root, UpperRelationKind stage, ForeignPath *path,
				 const List *others)
{
	Path	   *sent = &path->path;
	const ListCell *cell;

	if (stage != UPPERREL_FINAL || root->parse->groupClause == NIL ||
		list_length(path->fdw_private) < 2 ||
		!boolVal(lsecond(path->fdw_private)) ||
		!planning_is_rewritten(root, sent->parent))
		return false;
	foreach(cell, others)
	{
		const Path *other = lfirst(cell);

		sent->total_cost = Min(sent->total_cost, other->total_cost);
		sent->startup_cost = Min(sent->startup_cost, other->startup_cost);
	}
	return true;
}

/* Has postgres_fdw make paths of an upper relation, and sets their costs. */
static void
add_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				RelOptInfo *rel, void *extra)
{
	List	   *former;
	SentOrder	order;
	ListCell   *cell;

	if (stage == UPPERREL_ORDERED && orders_are_ambiguous(root, input))
		return;
	former = scans_take_paths(rel, NIL);
	orders_begin(&order, root, input);
	make_upper_paths(root, stage, input, rel, extra);
	foreach(cell, scans_take_paths(rel, former))
	{
		cost_upper_path(root, stage, input, lfirst_node(ForeignPath, cell),
						extra);
		if (stage == UPPERREL_GROUP_AGG && estimate_find(input) == NIL &&
			planning_is_rewritten(root, rel))
			buckets_adjust(root, input, lfirst(cell));
		if (is_limited_whole(root, stage, lfirst(cell), former))
			(void) scans_take_paths(rel, NIL);
		add_path(rel, lfirst(cell));
	}
	orders_end(&order);
}

/*
 * The same for a query with grouping sets, which are hidden from postgres_fdw unless
 * they stay.
 */
static void
add_paths_of_sets(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				  RelOptInfo *rel, void *extra)
{
	List	   *sets = sets_hide(root, stage, rel, extra);
	bool		has_all_groups = stage == UPPERREL_GROUP_AGG || stage == UPPERREL_ORDERED;
	List	   *former;
	ListCell   *cell;

	if (sets == NIL)
		return;
	former = has_all_groups ? scans_take_paths(rel, NIL) : NIL;
	add_upper_paths(root, stage, input, rel, extra);
	sets_show(root, sets);
	if (!has_all_groups)
		return;
	foreach(cell, scans_take_paths(rel, former))
	{
		sets_adjust(root, input, lfirst(cell), sets);
		add_path(rel, lfirst(cell));
	}
}

static void
get_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input,
				RelOptInfo *rel, void *extra)
{
	FullAggregation *full;

	if (rewrite_keeps_upper(root, stage, input, rel))
		return;
	if (root->parse->groupingSets != NIL)
	{
		add_paths_of_sets(root, stage, input, rel, extra);
		return;
	}
	if (stage != UPPERREL_PARTIAL_GROUP_AGG)
	{
		add_upper_paths(root, stage, input, rel, extra);
		return;
	}
	full = partial_full_aggregation(root, rel, extra);
	if (full == NULL)
		return;
	add_upper_paths(root, UPPERREL_GROUP_AGG, input, full->rel, &full->extra);
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
