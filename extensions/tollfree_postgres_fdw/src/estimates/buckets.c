/*
 * buckets.c
 *	  How many groups parts of times make, remainders and branches.
 *
 * PostgreSQL expects as many groups of date_trunc('month', t) as t has values, and
 * so does postgres_fdw: then all rows seem to travel, whoever groups them.
 * But the days or months between the first and the last value of a column are known
 * from its histogram, a day has 24 hours, n % 7 has seven values, and CASE of constants
 * one for each branch.  So a remote aggregation is taken to return no more groups than
 * that, and costs as much less as rows less travel.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "base/options.h"
#include "estimates/buckets.h"
#include "rewrite/formats.h"

/* A unit of time, for what function takes its name */
typedef struct Unit
{
	const char *name;
	double		days;			/* that it lasts; 0 if no date_trunc has it */
	double		parts;			/* values that extract returns; 0 if more come
								 * with the years */
} Unit;

static const Unit units[] = {
	{"minute", 1.0 / 1440, 60}, {"hour", 1.0 / 24, 24}, {"day", 1, 31},
	{"dow", 0, 7}, {"isodow", 0, 7}, {"doy", 0, 366}, {"week", 7, 53},
	{"month", 30.4, 12}, {"quarter", 91.3, 4}, {"year", 365.2, 0},
	{"isoyear", 365.2, 0}, {"decade", 3652, 0}, {"century", 36524, 0}
};

static const Unit day = {"day", 1, 0};

/* The unit of a name, or NULL. */
static const Unit *
unit_of_name(const char *name)
{
	for (int i = 0; i < lengthof(units); i++)
	{
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	}
	return NULL;
}

/* The unit that an argument names, or NULL. */
static const Unit *
find_unit(const Node *arg)
{
	const Const *constant = (const Const *) arg;

	return IsA(arg, Const) && !constant->constisnull ?
		unit_of_name(TextDatumGetCString(constant->constvalue)) : NULL;
}

/*
 * The unit in which an expression counts times, or NULL if it does not.  is_part says
 * whether it is a part of a time, and time is what it is computed from.
 */
static const Unit *
unit_of(const Node *expr, bool *is_part, Node **time)
{
	const FuncExpr *func = (const FuncExpr *) expr;

	if (!IsA(expr, FuncExpr) || func->args == NIL)
		return NULL;
	*is_part = false;
	*time = llast(func->args);
	switch (func->funcid)
	{
		case F_DATE_TIMESTAMP:
		case F_DATE_TIMESTAMPTZ:
			return &day;
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			*time = lsecond(func->args);
			return find_unit(linitial(func->args));
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return find_unit(linitial(func->args));
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_EXTRACT_TEXT_DATE:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_DATE:
			*is_part = true;
			return find_unit(linitial(func->args));
		default:
			return NULL;
	}
}

/* What a time is computed from, in about the same range. */
static Node *
origin_of(Node *time)
{
	while (IsA(time, FuncExpr))
	{
		const FuncExpr *func = (const FuncExpr *) time;

		switch (func->funcid)
		{
			case F_DATE_TRUNC_TEXT_TIMESTAMP:
			case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			case F_TIMEZONE_TEXT_TIMESTAMP:
			case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			case F_DATE_TIMESTAMP:
			case F_DATE_TIMESTAMPTZ:
			case F_TIMESTAMP_DATE:
			case F_TIMESTAMP_TIMESTAMPTZ:
			case F_TIMESTAMPTZ_DATE:
			case F_TIMESTAMPTZ_TIMESTAMP:
				time = llast(func->args);
				break;
			default:
				return time;
		}
	}
	return time;
}

/* A time as days since 2000-01-01 */
static double
days_of(Datum value, Oid type)
{
	return type == DATEOID ? (double) DatumGetDateADT(value)
		: (double) DatumGetTimestamp(value) / USECS_PER_DAY;
}

/*
 * The share of a column's values that its table's conditions on it alone leave, as
 * ts > now() - interval '7 days' does.
 */
static double
share_left(PlannerInfo *root, const Node *column)
{
	const Var  *var = (const Var *) column;
	const RelOptInfo *rel;
	List	   *conditions = NIL;
	ListCell   *cell;

	if (!IsA(column, Var) || var->varlevelsup > 0)
		return 1;
	rel = find_base_rel(root, var->varno);
	foreach(cell, rel->baserestrictinfo)
	{
		Expr	   *clause = lfirst_node(RestrictInfo, cell)->clause;
		List	   *vars = pull_var_clause((Node *) clause, PVC_INCLUDE_PLACEHOLDERS);
		bool		is_of_column = vars != NIL;
		ListCell   *other;

		foreach(other, vars)
			is_of_column &= equal(lfirst(other), var);
		if (is_of_column)
			conditions = lappend(conditions, lfirst(cell));
	}
	return clauselist_selectivity(root, conditions, 0, JOIN_INNER, NULL);
}

/* The days between the first and the last value of a column; 0 if not known. */
static double
range_of(PlannerInfo *root, Node *time)
{
	VariableStatData variable;
	AttStatsSlot slot;
	double		range = 0;
	Oid			type;

	time = origin_of(time);
	type = exprType(time);
	if (type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID)
		return 0;
	examine_variable(root, time, 0, &variable);
	if (HeapTupleIsValid(variable.statsTuple) && variable.atttype == type &&
		get_attstatsslot(&slot, variable.statsTuple, STATISTIC_KIND_HISTOGRAM,
						 InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1)
			range = days_of(slot.values[slot.nvalues - 1], type) -
				days_of(slot.values[0], type);
		range *= share_left(root, time);
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(variable);
	return range;
}

/* How many values a remainder has, taken to be of one sign; 0 if it is none. */
static double
count_remainders(const Node *expr)
{
	const OpExpr *operation = (const OpExpr *) expr;
	const Const *divisor;
	Oid			function = IsA(expr, OpExpr) ? get_opcode(operation->opno) :
		InvalidOid;

	if (function != F_INT2MOD && function != F_INT4MOD && function != F_INT8MOD)
		return 0;
	divisor = lsecond(operation->args);
	if (!IsA(divisor, Const) || divisor->constisnull)
		return 0;
	return fabs(function == F_INT8MOD ? (double) DatumGetInt64(divisor->constvalue) :
				function == F_INT4MOD ? (double) DatumGetInt32(divisor->constvalue) :
				(double) DatumGetInt16(divisor->constvalue));
}

/* How many values a CASE has whose branches are constants; 0 if one is none. */
static double
count_branches(const CaseExpr *expr)
{
	ListCell   *cell;

	if (expr->defresult != NULL && !IsA(expr->defresult, Const))
		return 0;
	foreach(cell, expr->args)
	{
		if (!IsA(lfirst_node(CaseWhen, cell)->result, Const))
			return 0;
	}
	return list_length(expr->args) + 1;
}

/* Is it to_char of a time? */
static bool
is_format(const Node *expr)
{
	return IsA(expr, FuncExpr) &&
		(((const FuncExpr *) expr)->funcid == F_TO_CHAR_TIMESTAMP_TEXT ||
		 ((const FuncExpr *) expr)->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT);
}

/*
 * How many texts to_char makes of times: no more than their parts have values
 * together, nor than the range has of the smallest one.  0 if not known.
 */
static double
count_texts(PlannerInfo *root, const FuncExpr *format)
{
	List	   *parts = formats_parts(lsecond(format->args));
	double		range = range_of(root, linitial(format->args));
	double		texts = 1;
	double		days = range;
	ListCell   *cell;

	foreach(cell, parts)
	{
		const Unit *unit = unit_of_name(lfirst(cell));

		if (unit == NULL || (unit->parts == 0 && range == 0))
			return 0;
		texts *= unit->parts > 0 ? unit->parts : range / unit->days + 1;
		days = Min(days, unit->days > 0 ? unit->days : day.days);
	}
	if (parts == NIL)
		return 0;
	return days > 0 ? Min(texts, range / days + 1) : texts;
}

/* How many values an expression has, of that many rows; 0 if that is not known here. */
static double
count_values(PlannerInfo *root, const Node *expr)
{
	bool		is_part;
	Node	   *time;
	const Unit *unit = unit_of(expr, &is_part, &time);
	double		range;

	if (IsA(expr, OpExpr))
		return count_remainders(expr);
	if (IsA(expr, CaseExpr))
		return count_branches((const CaseExpr *) expr);
	if (is_format(expr))
		return count_texts(root, (const FuncExpr *) expr);
	if (unit == NULL)
		return 0;
	if (is_part && unit->parts > 0)
		return unit->parts;
	range = unit->days > 0 ? range_of(root, time) : 0;
	return range > 0 ? range / unit->days + 1 : 0;
}

/* The expressions of GROUP BY in a target; NIL if not all are there. */
static List *
find_groups(const PlannerInfo *root, const PathTarget *target)
{
	List	   *groups = NIL;
	ListCell   *cell;

	foreach(cell, target->exprs)
	{
		Index		ref = get_pathtarget_sortgroupref(target,
													  foreach_current_index(cell));

		if (ref != 0 &&
			get_sortgroupref_clause_noerr(ref, root->parse->groupClause) != NULL)
			groups = lappend(groups, lfirst(cell));
	}
	return list_length(groups) == list_length(root->parse->groupClause) ? groups : NIL;
}

/*
 * Lowers the rows and the cost of a remote aggregation's path whose groups are parts
 * of times, remainders or branches.
 */
void
buckets_adjust(PlannerInfo *root, const RelOptInfo *input, Path *path)
{
	List	   *groups = find_groups(root, path->pathtarget);
	double		expected = 1;
	double		row = cpu_tuple_cost + option_cost(input->serverid, "fdw_tuple_cost",
												   COMPAT_FDW_TUPLE_COST);
	bool		found = false;
	double		former;
	double		rows;
	ListCell   *cell;

	foreach(cell, groups)
	{
		double		values = count_values(root, lfirst(cell));

		found |= values > 0;
		expected *= values > 0 ? values :
			estimate_num_groups(root, list_make1(lfirst(cell)), input->rows, NULL,
								NULL);
	}
	if (!found)
		return;
	former = estimate_num_groups(root, groups, input->rows, NULL, NULL);
	if (expected >= former)
		return;
	rows = clamp_row_est(path->rows * expected / former);
	path->total_cost = Max(path->startup_cost,
						   path->total_cost - row * (path->rows - rows));
	path->rows = rows;
}
