/*
 * zones.c
 *	  Times in the session's zone, in a form that is sent.
 *
 * What a timestamptz is in the session's zone depends on a setting, which the remote
 * session does not have.  With the zone as a parameter $z, and z standing for AT TIME
 * ZONE $z:
 *
 *	ts::date, ts::time, ts::timestamp		(ts z)::date, (ts z)::time, ts z
 *	t::timestamptz, d::timestamptz			t z, d::timestamp z
 *	extract(hour FROM ts)					extract(hour FROM ts z)
 *	extract(epoch FROM ts)					that of the time at UTC
 *	date_trunc('day', ts)					date_trunc('day', ts z) z
 *	date_trunc('hour', ts)					ts - (ts z - date_trunc('hour', ts z)), if
 *											ts is finite
 *	ts + interval '1 day'					(ts z + interval '1 day') z
 *	ts + interval '1 hour'					ts + interval '1 hour'
 *
 * Read in the sources of 15 to 19, these are the same computations: AT TIME ZONE makes
 * a local time, or takes one, as the functions on the left do within.  Around a
 * change of the clock, too: a local time that exists twice or not at all is taken for
 * the same instant (DetermineTimeZoneOffset).  A date_trunc below a day keeps the
 * offset of its argument.  Infinite times stay as they are.  An interval is added
 * in up to three steps, as PostgreSQL does: its months, its days, its time.
 *
 * A sum of a time without a zone is used for that of an instant, at UTC: that of an
 * instant is not immutable, as days have no fixed length.
 *
 * The local time of an instant less than a day from the ends of a timestamp's range
 * can be out of that range, which is an error there, and none here.
 *
 * The parameter's value is fixed when the scan begins.  Then it is known that the
 * remote server has the rules of this zone (replan.c).
 *
 * A comparison of a timestamptz with a date or a timestamp that is a value without
 * columns needs no zone there: the value is made a timestamptz here.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "rewrite/values.h"
#include "rewrite/zones.h"

/* Parts of an interval, at most, so that none overflows when it is negated */
#define ZONES_MAX_MONTHS 120000
#define ZONES_MAX_DAYS 3650000

/* An expression whose times are being replaced */
typedef struct Replacing
{
	List	  **values;			/* those found so far in the query */
	bool		may_use_zone;	/* or only forms without one? */
} Replacing;

/* Units that a time without a zone has, too, and in the same sense */
static const char *const parts[] = {
	"microseconds", "milliseconds", "second", "minute", "hour", "day", "dow",
	"isodow", "doy", "week", "month", "quarter", "year", "isoyear", "decade",
	"century", "millennium"
};

/* A unit that no zone counts for */
static const char *const epoch[] = {"epoch"};

/* Units that are truncated to a local time, and those that keep an offset */
static const char *const days[] = {
	"day", "week", "month", "quarter", "year", "decade", "century", "millennium"
};
static const char *const hours[] = {"hour", "minute", "second"};

/* Is an argument one of these units? */
static bool
is_unit_of(const Node *node, const char *const *units, int nunits)
{
	const Const *constant = (const Const *) node;
	char	   *name;

	if (!IsA(node, Const) || constant->constisnull)
		return false;
	name = TextDatumGetCString(constant->constvalue);
	for (int i = 0; i < nunits; i++)
	{
		if (strcmp(name, units[i]) == 0)
			return true;
	}
	return false;
}

/* A call without a collation. */
static Node *
call(Oid function, Oid type, List *args)
{
	return (Node *) makeFuncExpr(function, type, args, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* A cast. */
static Node *
cast(Oid function, Oid type, Node *arg)
{
	return (Node *) makeFuncExpr(function, type, list_make1(arg), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CAST);
}

/* The name of the session's zone: a value that no expression of a user looks like */
static Node *
make_zone_value(void)
{
	Const	   *setting = makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
									CStringGetTextDatum("TimeZone"), false, false);
	FuncExpr   *value = makeFuncExpr(F_CURRENT_SETTING_TEXT, TEXTOID,
									 list_make1(setting), DEFAULT_COLLATION_OID,
									 DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CALL);

	return (Node *) makeRelabelType((Expr *) value, TEXTOID, -1,
									DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CAST);
}

/* Is a value the name of the session's zone? */
static bool
is_zone_value(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) ((const RelabelType *) node)->arg;

	return IsA(node, RelabelType) && IsA(call, FuncExpr) &&
		call->funcid == F_CURRENT_SETTING_TEXT &&
		exprType((const Node *) call) == ((const RelabelType *) node)->resulttype &&
		equal(node, make_zone_value());
}

/* The local time of an instant. */
static Node *
local(Node *instant, const Replacing *replacing)
{
	return call(F_TIMEZONE_TEXT_TIMESTAMPTZ, TIMESTAMPOID,
				list_make2(values_make_param(make_zone_value(), replacing->values),
						   instant));
}

/* The instant of a local time. */
static Node *
instant(Node *local, const Replacing *replacing)
{
	return call(F_TIMEZONE_TEXT_TIMESTAMP, TIMESTAMPTZOID,
				list_make2(values_make_param(make_zone_value(), replacing->values),
						   local));
}

/* An interval. */
static Node *
make_span(int months, int days, TimeOffset time)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->month = months;
	interval->day = days;
	interval->time = time;
	return (Node *) makeConst(INTERVALOID, -1, InvalidOid, sizeof(Interval),
							  IntervalPGetDatum(interval), false, false);
}

/* The time of an instant at UTC, and the instant of such a time */
static Node *
utc(Node *instant)
{
	return call(F_TIMEZONE_INTERVAL_TIMESTAMPTZ, TIMESTAMPOID,
				list_make2(make_span(0, 0, 0), instant));
}

static Node *
instant_of_utc(Node *time)
{
	return call(F_TIMEZONE_INTERVAL_TIMESTAMP, TIMESTAMPTZOID,
				list_make2(make_span(0, 0, 0), time));
}

/* CASE WHEN condition THEN result ELSE otherwise END, of instants */
static Node *
choose(Node *condition, Node *result, Node *otherwise)
{
	CaseWhen   *when = makeNode(CaseWhen);
	CaseExpr   *choice = makeNode(CaseExpr);

	when->expr = (Expr *) condition;
	when->result = (Expr *) result;
	when->location = -1;
	choice->casetype = TIMESTAMPTZOID;
	choice->args = list_make1(when);
	choice->defresult = (Expr *) otherwise;
	choice->location = -1;
	return (Node *) choice;
}

/* A part of an instant; NULL if it is none that a local time has. */
static Node *
replace_part(const FuncExpr *part, Oid function, const Replacing *replacing)
{
	Node	   *unit = linitial(part->args);
	Node	   *time = lsecond(part->args);
	FuncExpr   *copy;

	if (is_unit_of(unit, epoch, lengthof(epoch)))
		time = utc(time);
	else if (replacing->may_use_zone && is_unit_of(unit, parts, lengthof(parts)))
		time = local(time, replacing);
	else
		return NULL;
	copy = makeNode(FuncExpr);
	*copy = *part;
	copy->funcid = function;
	copy->inputcollid = InvalidOid;
	copy->args = list_make2(unit, time);
	return (Node *) copy;
}

/* date_trunc; NULL if the unit is none that is known. */
static Node *
replace_trunc(const FuncExpr *trunc, const Replacing *replacing)
{
	Node	   *unit = linitial(trunc->args);
	Node	   *time = lsecond(trunc->args);
	bool		keeps_offset = is_unit_of(unit, hours, lengthof(hours));
	Node	   *truncated;
	Node	   *is_finite;
	Node	   *rest;

	if (!replacing->may_use_zone ||
		(!keeps_offset && !is_unit_of(unit, days, lengthof(days))))
		return NULL;
	truncated = call(F_DATE_TRUNC_TEXT_TIMESTAMP, TIMESTAMPOID,
					 list_make2(unit, local(time, replacing)));
	if (!keeps_offset)
		return instant(truncated, replacing);
	rest = call(F_TIMESTAMP_MI, INTERVALOID,
				list_make2(local(copyObjectImpl(time), replacing), truncated));
	is_finite = call(F_ISFINITE_TIMESTAMPTZ, BOOLOID,
					 list_make1(copyObjectImpl(time)));
	return choose(is_finite,
				  instant_of_utc(call(F_TIMESTAMP_MI_INTERVAL, TIMESTAMPOID,
									  list_make2(utc(copyObjectImpl(time)), rest))),
				  copyObjectImpl(time));
}

/*
 * An instant plus, or minus, an interval; NULL if that is no constant, or so large
 * that it may overflow.
 */
static Node *
replace_sum(Node *time, const Node *span, bool is_minus, const Replacing *replacing)
{
	const Const *constant = (const Const *) span;
	Oid			function = is_minus ? F_TIMESTAMP_MI_INTERVAL :
		F_TIMESTAMP_PL_INTERVAL;
	const Interval *interval;

	if (!IsA(span, Const) || constant->constisnull)
		return NULL;
	interval = DatumGetIntervalP(constant->constvalue);
	if (abs(interval->month) > ZONES_MAX_MONTHS ||
		abs(interval->day) > ZONES_MAX_DAYS ||
		interval->time / USECS_PER_DAY > ZONES_MAX_DAYS ||
		interval->time / USECS_PER_DAY < -ZONES_MAX_DAYS ||
		(!replacing->may_use_zone && (interval->month != 0 || interval->day != 0)))
		return NULL;
	if (interval->month != 0)
		time = instant(call(function, TIMESTAMPOID,
							list_make2(local(time, replacing),
									   make_span(interval->month, 0, 0))),
					   replacing);
	if (interval->day != 0)
		time = instant(call(function, TIMESTAMPOID,
							list_make2(local(time, replacing),
									   make_span(0, interval->day, 0))),
					   replacing);
	return interval->time == 0 ? time :
		instant_of_utc(call(function, TIMESTAMPOID,
							list_make2(utc(time),
									   make_span(0, 0, interval->time))));
}

/* A cast from or to timestamptz; NULL if it is another call. */
static Node *
replace_cast(const FuncExpr *func, const Replacing *replacing)
{
	Node	   *arg = linitial(func->args);

	if (!replacing->may_use_zone)
		return NULL;
	switch (func->funcid)
	{
		case F_DATE_TIMESTAMPTZ:
			return cast(F_DATE_TIMESTAMP, DATEOID, local(arg, replacing));
		case F_TIME_TIMESTAMPTZ:
			return cast(F_TIME_TIMESTAMP, TIMEOID, local(arg, replacing));
		case F_TIMESTAMP_TIMESTAMPTZ:
			return local(arg, replacing);
		case F_TIMESTAMPTZ_TIMESTAMP:
			return instant(arg, replacing);
		case F_TIMESTAMPTZ_DATE:
			return instant(cast(F_TIMESTAMP_DATE, TIMESTAMPOID, arg), replacing);
		default:
			return NULL;
	}
}

/* The other form of a call or an operator; NULL if it has none. */
static Node *
form_of(const Node *node, const Replacing *replacing)
{
	const FuncExpr *func = (const FuncExpr *) node;
	const OpExpr *op = (const OpExpr *) node;

	if (IsA(node, OpExpr))
	{
		switch (op->opfuncid)
		{
			case F_TIMESTAMPTZ_PL_INTERVAL:
				return replace_sum(linitial(op->args), lsecond(op->args), false,
								   replacing);
			case F_TIMESTAMPTZ_MI_INTERVAL:
				return replace_sum(linitial(op->args), lsecond(op->args), true,
								   replacing);
			default:
				return NULL;
		}
	}
	if (!IsA(node, FuncExpr) || func->args == NIL)
		return NULL;
	switch (func->funcid)
	{
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
			return replace_part(func, F_EXTRACT_TEXT_TIMESTAMP, replacing);
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			return replace_part(func, F_DATE_PART_TEXT_TIMESTAMP, replacing);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return replace_trunc(func, replacing);
		default:
			return replace_cast(func, replacing);
	}
}

/* Is it a function whose call may have another form? */
bool
zones_is_of_zone(Oid function)
{
	switch (function)
	{
		case F_DATE_TIMESTAMPTZ:
		case F_TIME_TIMESTAMPTZ:
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_TIMESTAMPTZ_DATE:
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMPTZ_MI_INTERVAL:
			return true;
		default:
			return false;
	}
}

/* check_function_callback: the same */
static bool
is_of_zone(Oid function, void *context)
{
	return zones_is_of_zone(function);
}

/* Walker: is there a call of such a one, of a column? */
static bool
has_zone(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_zone, context, 0);
	return (check_functions_in_node(node, is_of_zone, NULL) &&
			contain_var_clause(node)) ||
		expression_tree_walker(node, has_zone, context);
}

/* May a query have times in the session's zone, as far as its text shows? */
bool
zones_in_query(Query *query)
{
	return has_zone((Node *) query, NULL);
}

/* Mutator: other forms, the innermost ones first. */
static Node *
replace(Node *node, void *arg)
{
	Node	   *form;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, replace, arg);
	form = form_of(node, arg);
	return form != NULL ? form : node;
}

/*
 * A copy of an expression with its times in a form that can be sent; the expression
 * itself if there are none.  values are those of the query.  Without may_use_zone only
 * forms are used whose value does not depend on the zone.
 */
Node *
zones_replace(Node *expr, bool may_use_zone, List **values)
{
	Replacing	replacing = {.values = values,.may_use_zone = may_use_zone};

	if (!has_zone(expr, NULL) || contain_volatile_functions(expr))
		return expr;
	return replace(expr, &replacing);
}

/* The operator that compares instants as this one does other times; or InvalidOid. */
static Oid
operator_of_instants(Oid operator)
{
	Oid			family = lookup_type_cache(TIMESTAMPTZOID,
										   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	Oid			compared = operator;
	int			strategy = get_op_opfamily_strategy(operator, family);

	if (strategy == 0)
	{
		compared = get_negator(operator);
		strategy = OidIsValid(compared) ?
			get_op_opfamily_strategy(compared, family) : 0;
	}
	if (strategy == 0)
		return InvalidOid;
	strategy = get_opfamily_member(family, TIMESTAMPTZOID, TIMESTAMPTZOID, strategy);
	return compared == operator ? (Oid) strategy : get_negator(strategy);
}

/* A date or a timestamp that is a value without columns as an instant; else NULL. */
static Node *
instant_of_value(Node *value)
{
	Oid			type = exprType(value);

	if ((type != DATEOID && type != TIMESTAMPOID) || contain_var_clause(value) ||
		!values_cannot_fail(value))
		return NULL;
	return cast(type == DATEOID ? F_TIMESTAMPTZ_DATE : F_TIMESTAMPTZ_TIMESTAMP,
				TIMESTAMPTZOID, value);
}

/* The comparison of instants in place of that of another time; else the node. */
static Node *
compare_instants(OpExpr *comparison)
{
	Node	   *left = linitial(comparison->args);
	Node	   *right = lsecond(comparison->args);
	Node	   *value;
	OpExpr	   *copy;
	Oid			operator;

	if (exprType(left) == TIMESTAMPTZOID)
		right = value = instant_of_value(right);
	else if (exprType(right) == TIMESTAMPTZOID)
		left = value = instant_of_value(left);
	else
		return (Node *) comparison;
	if (value == NULL)
		return (Node *) comparison;
	operator = operator_of_instants(comparison->opno);
	if (!OidIsValid(operator))
		return (Node *) comparison;
	copy = makeNode(OpExpr);
	*copy = *comparison;
	copy->opno = operator;
	copy->opfuncid = get_opcode(operator);
	copy->args = list_make2(left, right);
	return (Node *) copy;
}

/* Mutator: comparisons of instants. */
static Node *
compare(Node *node, void *context)
{
	check_stack_depth();
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, compare, context);
	if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
		return compare_instants((OpExpr *) node);
	return node;
}

/*
 * A copy of an expression in which a timestamptz is compared with instants, not with
 * dates or times that are values; the expression itself if nothing changes.
 */
Node *
zones_compare(Node *expr)
{
	Node	   *copy;

	if (!contain_mutable_functions(expr) || contain_volatile_functions(expr))
		return expr;
	copy = compare(expr, NULL);
	return equal(copy, expr) ? expr : copy;
}

/* Is the zone among the values of parameters? */
bool
zones_among(const List *exprs)
{
	const ListCell *cell;

	foreach(cell, exprs)
	{
		if (is_zone_value(lfirst(cell)))
			return true;
	}
	return false;
}

/*
 * The values of parameters with the present zone in place of that of the session,
 * which may change; the list itself if it is not among them.
 */
List *
zones_fix(List *exprs)
{
	List	   *fixed = NIL;
	ListCell   *cell;

	if (!zones_among(exprs))
		return exprs;
	foreach(cell, exprs)
	{
		Node	   *value = lfirst(cell);

		if (is_zone_value(value))
			value = (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
									   CStringGetTextDatum(pg_get_timezone_name(session_timezone)),
									   false, false);
		fixed = lappend(fixed, value);
	}
	return fixed;
}
