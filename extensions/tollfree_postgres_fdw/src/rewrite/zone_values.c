/*
 * zone_values.c
 *	  Time zones, as values of parameters.
 *
 * A zone is sent as a parameter, so that a finished plan shows on which zones it
 * depends.  That of the session may change between executions of a plan; one that the
 * query names does not.
 *
 * AT TIME ZONE takes an abbreviation before it looks for a zone, and since 18 those of
 * the session's zone first.  So of the names that may be abbreviations only that of
 * UTC is taken, if it has its meaning here: to it belongs an interval, not a zone.  A
 * name with a slash is a zone's.  Names are sent as PostgreSQL writes them.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include "rewrite/remotes.h"
#include "rewrite/zone_values.h"

/* A text, as a value that no expression of a user looks like: constants are folded. */
static Node *
mark(Node *text)
{
	return (Node *) makeRelabelType((Expr *) text, TEXTOID, -1,
									DEFAULT_COLLATION_OID, COERCE_EXPLICIT_CAST);
}

/* A constant text. */
static Node *
make_text(const char *value)
{
	return (Node *) makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1,
							  CStringGetTextDatum(value), false, false);
}

/* The name of the session's zone: a value that no expression of a user looks like */
Node *
zone_values_of_session(void)
{
	return mark((Node *) makeFuncExpr(F_CURRENT_SETTING_TEXT, TEXTOID,
									  list_make1(make_text("TimeZone")),
									  DEFAULT_COLLATION_OID,
									  DEFAULT_COLLATION_OID,
									  COERCE_EXPLICIT_CALL));
}

/* Is a value the name of the session's zone? */
static bool
is_of_session(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) ((const RelabelType *) node)->arg;

	return IsA(node, RelabelType) && IsA(call, FuncExpr) &&
		call->funcid == F_CURRENT_SETTING_TEXT &&
		exprType((const Node *) call) == ((const RelabelType *) node)->resulttype &&
		equal(node, zone_values_of_session());
}

/* The name of a zone that a query has named, if a value is such a one; else NULL. */
static char *
name_of(const Node *node)
{
	const Const *name = (const Const *) ((const RelabelType *) node)->arg;

	return IsA(node, RelabelType) && IsA(name, Const) &&
		name->consttype == TEXTOID && !name->constisnull ?
		TextDatumGetCString(name->constvalue) : NULL;
}

/* Is it a name of UTC, and not of anything else here? */
static bool
is_utc(const char *name)
{
	const TimestampTz instant = 0;

	return (pg_strcasecmp(name, "UTC") == 0 || pg_strcasecmp(name, "GMT") == 0) &&
		DatumGetTimestamp(DirectFunctionCall2(timestamptz_zone,
											  CStringGetTextDatum(name),
											  TimestampTzGetDatum(instant))) == instant;
}

/*
 * Looks for the value of a zone that a query names, if times in it may be sent; NULL
 * for UTC.  Returns whether they may.
 */
bool
zone_values_find(Node *zone, const ZoneRules *rules, Node **value)
{
	const Const *constant = (const Const *) zone;
	const char *name;
	pg_tz	   *known;

	*value = NULL;
	if (!IsA(zone, Const) || constant->constisnull)
		return false;
	name = TextDatumGetCString(constant->constvalue);
	if (is_utc(name))
		return true;
	if (strchr(name, '/') == NULL || strlen(name) > TZ_STRLEN_MAX)
		return false;
	known = pg_tzset(name);
	if (known == NULL || !remotes_may_send_zone(rules, known))
		return false;
	*value = mark(make_text(pg_get_timezone_name(known)));
	return true;
}

/* Why times in a zone that a query names are not sent; NULL if it is not for the zone. */
const char *
zone_values_refusal(Node *zone, const ZoneRules *rules)
{
	Node	   *value;
	const char *name;

	if (!IsA(zone, Const) || ((const Const *) zone)->constisnull ||
		zone_values_find(zone, rules, &value))
		return NULL;
	name = TextDatumGetCString(((const Const *) zone)->constvalue);
	return psprintf(strchr(name, '/') == NULL ?
					"\"%s\" may be an abbreviation, which the remote server may read otherwise; a name with a slash is sent" :
					"time zone \"%s\" is not known to have the same rules on the remote server",
					name);
}

/*
 * The zones among the values of parameters, as Strings: their names, or
 * ZONE_VALUES_SESSION.
 */
List *
zone_values_names(const List *exprs)
{
	List	   *names = NIL;
	const ListCell *cell;

	foreach(cell, exprs)
	{
		const char *name = is_of_session(lfirst(cell)) ? ZONE_VALUES_SESSION :
			name_of(lfirst(cell));

		if (name != NULL)
			names = lappend(names, makeString(pstrdup(name)));
	}
	return names;
}

/*
 * The values of parameters with the present zone in place of that of the session,
 * which may change; the list itself if it is not among them.
 */
List *
zone_values_fix(List *exprs)
{
	List	   *fixed = NIL;
	bool		is_changed = false;
	ListCell   *cell;

	foreach(cell, exprs)
	{
		Node	   *value = lfirst(cell);

		if (is_of_session(value))
		{
			value = make_text(pg_get_timezone_name(session_timezone));
			is_changed = true;
		}
		fixed = lappend(fixed, value);
	}
	return is_changed ? fixed : exprs;
}
