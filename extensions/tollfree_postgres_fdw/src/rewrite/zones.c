/*
 * zones.c
 *	  Times in a zone, in a form that is sent.
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
 * A zone that the query names is taken in the same way:
 *
 *	ts AT TIME ZONE 'Europe/Berlin'			ts z, with that one as z
 *	date_trunc('day', ts, 'Europe/Berlin')	as above, with that one
 *	ts AT TIME ZONE 'UTC'					without a parameter
 *
 * So is a timestamptz that is shown as text by to_char (formats.c).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "rewrite/formats.h"
#include "rewrite/remotes.h"
#include "rewrite/values.h"
#include "rewrite/zone_values.h"
#include "rewrite/zones.h"

/* Parts of an interval, at most, so that none overflows when it is negated */
#define ZONES_MAX_MONTHS 120000
#define ZONES_MAX_DAYS 3650000

/* An expression whose times are being replaced */
typedef struct Replacing
{
	List	  **values;			/* those found so far in the query */
	const ZoneRules *rules;
	bool		may_use_zone;	/* or only forms without one? */
	Node	   *zone;			/* of the session, or another one: a value, or
								 * NULL for UTC */
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

/* The local time of an instant, and the instant of such a time */
static Node *
local(Node *instant, const Replacing *replacing)
{
	return replacing->zone == NULL ? utc(instant) :
		call(F_TIMEZONE_TEXT_TIMESTAMPTZ, TIMESTAMPOID,
			 list_make2(values_make_param(replacing->zone, replacing->values),
						instant));
}

static Node *
instant(Node *local, const Replacing *replacing)
{
	return replacing->zone == NULL ? instant_of_utc(local) :
		call(F_TIMEZONE_TEXT_TIMESTAMP, TIMESTAMPTZOID,
			 list_make2(values_make_param(replacing->zone, replacing->values),
						local));
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

/* The zone that a call names; NULL if it names none. */
Node *
zones_named(const FuncExpr *func)
{
	switch (func->funcid)
	{
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
			return linitial(func->args);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return lthird(func->args);
		default:
			return NULL;
	}
}

/*
 * A time in a zone that is given; NULL if it cannot be sent.  Then the rules of that
 * zone count, not those of the session's.
 */
static Node *
replace_in_zone(const FuncExpr *func, const Replacing *replacing)
{
	Replacing	in_zone = *replacing;

	in_zone.may_use_zone =
		zone_values_find(zones_named(func), replacing->rules, &in_zone.zone);
	if (!in_zone.may_use_zone)
		return NULL;
	switch (func->funcid)
	{
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			return local(lsecond(func->args), &in_zone);
		case F_TIMEZONE_TEXT_TIMESTAMP:
			return instant(lsecond(func->args), &in_zone);
		default:
			return replace_trunc(func, &in_zone);
	}
}

/* to_char of a time; NULL if its format is not known. */
static Node *
replace_format(const FuncExpr *func, const Replacing *replacing)
{
	Node	   *time = linitial(func->args);

	if (func->funcid == F_TO_CHAR_TIMESTAMPTZ_TEXT)
	{
		if (!replacing->may_use_zone)
			return NULL;
		time = local(time, replacing);
	}
	return formats_replace(time, lsecond(func->args));
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
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return replace_in_zone(func, replacing);
		case F_TO_CHAR_TIMESTAMP_TEXT:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
			return replace_format(func, replacing);
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
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMPTZ_MI_INTERVAL:
		case F_TO_CHAR_TIMESTAMP_TEXT:
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
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

/* May a query have times in a zone, as far as its text shows? */
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
 * itself if there are none.
 */
Node *
zones_replace(Node *expr, const FormRules *rules)
{
	Replacing	replacing = {.values = rules->values,.rules = &rules->zones};

	if (!has_zone(expr, NULL) || contain_volatile_functions(expr))
		return expr;
	replacing.may_use_zone = remotes_may_send_zone(&rules->zones, session_timezone);
	replacing.zone = zone_values_of_session();
	return replace(expr, &replacing);
}
