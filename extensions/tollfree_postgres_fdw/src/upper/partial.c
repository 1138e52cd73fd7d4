/*
 * partial.c
 *	  Partial aggregation of foreign partitions by their servers.
 *
 * With enable_partitionwise_aggregate PostgreSQL aggregates each partition
 * and combines the transition states.  postgres_fdw can push down only full
 * aggregations.  So each state is made of components that are results of
 * aggregates, as that of avg(x) of count(x) and sum(x):
 *
 *	postgres_fdw plans a full aggregation that returns all components, and the
 *	scan makes the states of them (wire/states.c).
 *
 * It is one foreign scan, so Append can have all servers work at once.  Its
 * rows have a column for each expression of the partial aggregation, followed
 * by one for each component that is no such expression.
 *
 * If we cannot make one of the states, the partition is scanned as without
 * us.
 *
 * Not done: groups below a join, which PostgreSQL 19 makes of rows that were
 * fetched (eager aggregation).  No callback is called for paths of a grouped
 * relation.  It would take: a path added to rel->grouped_rel in GetForeignPaths;
 * there, and when the plan is made, the groups of its RelAggInfo in place of
 * parse->groupClause, which postgres_fdw deparses; and an Append of the grouped
 * partitions, since PostgreSQL groups only above theirs.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "sql/plan.h"
#include "upper/partial.h"
#include "wire/states.h"

/* Operators, which have no names in PostgreSQL's headers */
#define INT4_TIMES_INT4 514
#define INT8_TIMES_INT8 686
#define NUMERIC_TIMES_NUMERIC 1760

/* How the states of a transition function are made */
typedef struct StateSource
{
	Oid			transition;		/* function */
	StateKind	kind;
	Oid			cast;			/* function that makes values wider, so that
								 * their sum or squares fit, or InvalidOid */
	Oid			sum;			/* aggregate of the values */
	Oid			multiply;		/* operator for their squares, or InvalidOid */
	Oid			sum_squares;	/* aggregate of these */
} StateSource;

static const StateSource sources[] = {
	{F_INT2_AVG_ACCUM, STATE_INTEGER_AVERAGE, 0, F_SUM_INT2, 0, 0},
	{F_INT4_AVG_ACCUM, STATE_INTEGER_AVERAGE, 0, F_SUM_INT4, 0, 0},
	{F_INT8_AVG_ACCUM, STATE_INTEGER_SUM, 0, F_SUM_INT8, 0, 0},
	{F_INT2_ACCUM, STATE_SMALLINT_SQUARES, F_INT4_INT2, F_SUM_INT2, INT4_TIMES_INT4, F_SUM_INT4},
	{F_INT4_ACCUM, STATE_INTEGER_SQUARES, F_INT8_INT4, F_SUM_INT4, INT8_TIMES_INT8, F_SUM_INT8},
	{F_INT8_ACCUM, STATE_NUMERIC_SQUARES, F_NUMERIC_INT8, F_SUM_INT8, NUMERIC_TIMES_NUMERIC, F_SUM_NUMERIC},
	{F_NUMERIC_AVG_ACCUM, STATE_NUMERIC_SUM, 0, F_SUM_NUMERIC, 0, 0},
	{F_NUMERIC_ACCUM, STATE_NUMERIC_SQUARES, 0, F_SUM_NUMERIC, NUMERIC_TIMES_NUMERIC, F_SUM_NUMERIC},
	{F_FLOAT4_ACCUM, STATE_FLOAT, F_FLOAT8_FLOAT4, F_SUM_FLOAT8, 0, 0},
	{F_FLOAT8_ACCUM, STATE_FLOAT, 0, F_SUM_FLOAT8, 0, 0}
};

/* The kind of a state, and the aggregates that yield its components */
typedef struct StateParts
{
	StateKind	kind;
	List	   *aggregates;		/* of Aggref */
} StateParts;

/* A full aggregate with the partial one's filter and no other arguments. */
static Aggref *
make_aggregate(const Aggref *partial, Oid function, Expr *argument)
{
	Aggref	   *aggregate = copyObjectImpl(partial);

	aggregate->aggfnoid = function;
	aggregate->aggtype = get_func_rettype(function);
	aggregate->aggcollid = aggregate->inputcollid = InvalidOid;
	aggregate->aggtranstype = InvalidOid;
	aggregate->aggargtypes = list_make1_oid(exprType((Node *) argument));
	aggregate->args = list_make1(makeTargetEntry(argument, 1, NULL, false));
	aggregate->aggstar = false;
	aggregate->aggsplit = AGGSPLIT_SIMPLE;
	aggregate->aggno = aggregate->aggtransno = -1;
	return aggregate;
}

/* The square of a value. */
static Expr *
square_of(Expr *value, Oid multiply)
{
	OpExpr	   *square = (OpExpr *)
		make_opclause(multiply, exprType((Node *) value), false, value,
					  copyObjectImpl(value), InvalidOid, InvalidOid);

	set_opfuncid(square);
	return (Expr *) square;
}

/* The components of a state that is made by one of the sources. */
static List *
make_parts(const Aggref *partial, const StateSource *source)
{
	Expr	   *value = linitial_node(TargetEntry, partial->args)->expr;
	Expr	   *wide = !OidIsValid(source->cast) ? value :
		(Expr *) makeFuncExpr(source->cast, get_func_rettype(source->cast),
							  list_make1(value), InvalidOid, InvalidOid,
							  COERCE_EXPLICIT_CAST);
	Aggref	   *count = make_aggregate(partial, F_COUNT_ANY, value);

	if (source->kind == STATE_FLOAT)
		return list_make3(count, make_aggregate(partial, source->sum, wide),
						  make_aggregate(partial, F_VAR_POP_FLOAT8, wide));
	if (OidIsValid(source->multiply))
		return list_make3(count, make_aggregate(partial, source->sum, value),
						  make_aggregate(partial, source->sum_squares,
										 square_of(wide, source->multiply)));
	return list_make2(count, make_aggregate(partial, source->sum, value));
}

/* The components of a partial aggregate's state; NIL if we cannot make it. */
static StateParts
parts_of(const Aggref *partial)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(partial->aggfnoid));
	Oid			transition;
	Oid			final;
	StateParts	parts = {.kind = STATE_VALUE};

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", partial->aggfnoid);
	transition = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);

	for (int i = 0; i < lengthof(sources); i++)
	{
		if (sources[i].transition == transition)
		{
			parts.kind = sources[i].kind;
			parts.aggregates = make_parts(partial, &sources[i]);
		}
	}
	if (parts.aggregates == NIL && !OidIsValid(final) &&
		partial->aggtranstype != INTERNALOID)
	{
		/* Without a final function the state is the result. */
		Aggref	   *aggregate = copyObjectImpl(partial);

		aggregate->aggtype = partial->aggtranstype;
		aggregate->aggsplit = AGGSPLIT_SIMPLE;
		parts.aggregates = list_make1(aggregate);
	}
	return parts;
}

/* An expression of the query, translated to the columns of these partitions. */
static Node *
translate(PlannerInfo *root, Node *expr, Relids relids)
{
	int			count;
	AppendRelInfo **infos = find_appinfos_by_relids(root, relids, &count);
	Relids		parents = NULL; /* that are partitions themselves */

	for (int i = 0; i < count; i++)
	{
		if (root->append_rel_array[infos[i]->parent_relid] != NULL)
			parents = bms_add_member(parents, infos[i]->parent_relid);
	}
	if (!bms_is_empty(parents))
		expr = translate(root, expr, parents);
	return adjust_appendrel_attrs(root, expr, count, infos);
}

/* The expressions of GROUP BY, as these partitions have them. */
static List *
find_groups(PlannerInfo *root, Relids relids)
{
	List	   *groups = NIL;
	ListCell   *cell;

	foreach(cell, root->parse->groupClause)
		groups = lappend(groups,
						 translate(root,
								   get_sortgroupclause_expr(lfirst(cell),
															root->processed_tlist),
								   relids));
	return groups;
}

/*
 * Adds a column for each entry of GROUP BY that is this expression; false if none
 * is.
 */
static bool
add_group(const PlannerInfo *root, PathTarget *target, Expr *expr, List *groups)
{
	bool		found = false;
	ListCell   *group;
	ListCell   *clause;

	forboth(group, groups, clause, root->parse->groupClause)
	{
		if (!equal(lfirst(group), expr))
			continue;
		add_column_to_pathtarget(target, expr,
								 lfirst_node(SortGroupClause, clause)->tleSortGroupRef);
		found = true;
	}
	return found;
}

/*
 * Adds the columns of a partial aggregation, or its states' components.  False
 * if we cannot make a state, or if a column is only part of an expression of
 * GROUP BY.
 */
static bool
add_columns(const PlannerInfo *root, PathTarget *target,
			const RelOptInfo *partial, List *groups)
{
	ListCell   *cell;

	foreach(cell, partial->reltarget->exprs)
	{
		Expr	   *expr = lfirst(cell);
		StateParts	parts;

		if (!IsA(expr, Aggref))
		{
			if (!add_group(root, target, expr, groups))
				return false;
			continue;
		}
		parts = parts_of((Aggref *) expr);
		if (parts.aggregates == NIL)
			return false;
		add_new_columns_to_pathtarget(target, parts.aggregates);
	}
	/* PostgreSQL omits grouping columns that conditions make redundant. */
	foreach(cell, groups)
	{
		if (!list_member(target->exprs, lfirst(cell)))
			(void) add_group(root, target, lfirst(cell), groups);
	}
	return true;
}

/*
 * The full aggregation that yields the components of all states of a partial
 * one; NULL if there is none, or if it is switched off.  postgres_fdw adds a
 * path to its relation if it can be pushed down.
 */
FullAggregation *
partial_full_aggregation(PlannerInfo *root, const RelOptInfo *partial,
						 const GroupPathExtraData *extra)
{
	PathTarget *target = create_empty_pathtarget();
	FullAggregation *full;

	/* Parallel workers aggregate partially, too, without partitions. */
	if (extra->patype != PARTITIONWISE_AGGREGATE_PARTIAL ||
		!fastpath_is_on(plan_fast_paths(root, partial, InvalidOid),
						FAST_PARTIAL_AGGREGATES) ||
		!add_columns(root, target, partial, find_groups(root, partial->relids)))
		return NULL;

	full = palloc(sizeof(FullAggregation));
	full->rel = makeNode(RelOptInfo);
	*full->rel = *partial;
	full->rel->reltarget = set_pathtarget_cost_width(root, target);
	full->rel->pathlist = full->rel->partial_pathlist = NIL;
	full->rel->fdw_private = NULL;
	full->extra = *extra;
	/* HAVING is checked after all states have been combined. */
	full->extra.havingQual = NULL;
	full->extra.patype = PARTITIONWISE_AGGREGATE_FULL;
	return full;
}

/* Adds the path of a full aggregation, if there is one, to the partial one. */
void
partial_add_path(RelOptInfo *partial, const FullAggregation *full)
{
	ForeignPath *path;

	if (full->rel->pathlist == NIL)
		return;
	path = makeNode(ForeignPath);
	*path = *linitial_node(ForeignPath, full->rel->pathlist);
	path->path.parent = partial;
	path->path.pathtarget = partial->reltarget;
	path->fdw_private = list_make1(linitial(full->rel->pathlist));
	/* postgres_fdw checks this for asynchronous execution. */
	partial->fdw_private = full->rel->fdw_private;
	add_path(partial, (Path *) path);
}

/*
 * The path of the full aggregation that a partial one's path represents; NULL
 * for any other path.
 */
ForeignPath *
partial_full_path(const ForeignPath *path)
{
	/* postgres_fdw's own paths have lists of Booleans, if any. */
	return path->fdw_private != NIL &&
		IsA(linitial(path->fdw_private), ForeignPath) ?
		linitial(path->fdw_private) : NULL;
}

/* The column of a scan, counted from 1, that receives a component. */
static int
column_of(const Expr *part, List *received, List *attrs)
{
	ListCell   *cell;

	foreach(cell, received)
	{
		if (equal(lfirst_node(TargetEntry, cell)->expr, part))
			return list_nth_int(attrs, foreach_current_index(cell));
	}
	elog(ERROR, "a part of a partial aggregate is not received");
	return 0;
}

/*
 * The column of a partial aggregation, counted from 1, that is received
 * unchanged; else 0.
 */
static int
column_that_is(const Expr *received, List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
	{
		Expr	   *expr = lfirst(cell);
		StateParts	parts;

		if (IsA(expr, Aggref))
		{
			parts = parts_of((Aggref *) expr);
			expr = parts.kind == STATE_VALUE ? linitial(parts.aggregates) : NULL;
		}
		if (expr != NULL && equal(expr, received))
			return foreach_current_index(cell) + 1;
	}
	return 0;
}

/* How a column is made of received columns, which are counted from 0. */
static StateMaker
make_maker(Expr *expr, int column, List *received, List *attrs)
{
	StateMaker	maker = {.kind = STATE_VALUE,.column = column};
	List	   *parts = list_make1(expr);
	ListCell   *cell;

	if (IsA(expr, Aggref))
	{
		StateParts	state = parts_of((Aggref *) expr);

		maker.kind = state.kind;
		parts = state.aggregates;
	}
	foreach(cell, parts)
		maker.parts[foreach_current_index(cell)] =
		column_of(lfirst(cell), received, attrs) - 1;
	return maker;
}

/*
 * Changes the plan of a full aggregation to the partial one that it
 * represents, with that target list.
 */
void
partial_finish_plan(ForeignScan *plan, const ForeignPath *path, List *tlist)
{
	List	   *exprs = path->path.pathtarget->exprs;
	List	   *received = plan->fdw_scan_tlist;
	List	   *columns = NIL;
	List	   *attrs = NIL;
	List	   *makers = NIL;
	ListCell   *cell;

	foreach(cell, exprs)
		columns = lappend(columns,
						  makeTargetEntry(lfirst(cell),
										  list_length(columns) + 1, NULL, false));
	foreach(cell, received)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		int			column = column_that_is(entry->expr, exprs);

		if (column == 0)
		{
			column = list_length(columns) + 1;
			columns = lappend(columns,
							  makeTargetEntry(entry->expr, column, NULL, false));
		}
		attrs = lappend_int(attrs, column);
	}
	foreach(cell, exprs)
	{
		int			column = foreach_current_index(cell);
		StateMaker	maker = make_maker(lfirst(cell), column, received, attrs);

		if (maker.kind != STATE_VALUE || maker.parts[0] != column)
			makers = lappend(makers, states_write(&maker));
	}
	plan->fdw_scan_tlist = columns;
	plan->scan.plan.targetlist = tlist;
	plan_note_states(plan, attrs, makers);
}
