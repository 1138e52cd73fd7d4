/*
 * reasons.c
 *	  Why an expression is not sent to the remote server.
 *
 * EXPLAIN says so of what a foreign scan evaluates here, after the fact: the finished
 * expression is taken to the form that it would have been sent in (rewrite.c), and
 * the first thing in that form that postgres_fdw does not send is the reason.  It is
 * looked for from the top down, in the order in which it helps the user:
 *
 *	- a function, an operator or a type that is not PostgreSQL's own, a function
 *	  whose value may change, a subquery, a column that does not travel;
 *	- a kind of expression that postgres_fdw has no words for;
 *	- a collation that does not come from a foreign column.
 *
 * If there is none of these, the form was not allowed to be sent.
 *
 * Nothing here decides what is sent.  A reason that is wrong misleads the reader, but
 * no result depends on it.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "foreign/foreign.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "base/fastpath.h"
#include "base/options.h"
#include "rewrite/casts.h"
#include "rewrite/collations.h"
#include "rewrite/groups.h"
#include "rewrite/reasons.h"
#include "rewrite/rewrite.h"
#include "rewrite/sources.h"
#include "rewrite/values.h"
#include "rewrite/zone_values.h"
#include "rewrite/zones.h"
#include "session/session.h"
#include "sql/plan.h"

#define REASON_ENCODING "the remote database has another encoding"

/* A search for a reason */
typedef struct Search
{
	const ReasonScan *scan;
	bool		has_columns;	/* does the present part have any? */
	const char *reason;			/* NULL until there is one */
} Search;

/* What decides whether the conditions and groups of a finished scan are sent. */
ReasonScan
reasons_scan(const ForeignScan *plan, const PlannedStmt *stmt)
{
	Bitmapset  *relids = plan->scan.scanrelid > 0 ?
		bms_make_singleton(plan->scan.scanrelid) : compat_scan_rtindexes(plan);
	const RangeTblEntry *rte = rt_fetch(bms_next_member(relids, -1),
										stmt->rtable);
	const char *extensions = option_find(GetForeignServer(plan->fs_server)->options,
										 "extensions");
	ReasonScan	scan = {.relids = relids};

	if (extensions != NULL)
		(void) SplitIdentifierString(pstrdup(extensions), ',', &scan.extensions);
	scan.is_on = fastpath_is_on(plan_read_scan(plan->fdw_private).fast_paths,
								FAST_REMOTE_EXPRESSIONS);
	scan.serverid = plan->fs_server;
	scan.same_collations =
		sessions_have_same_collations(compat_scan_user(plan, rte), plan->fs_server);
	scan.has_other_encoding =
		!sessions_have_same_encoding(compat_scan_user(plan, rte), plan->fs_server);
	scan.may_read_texts =
		sessions_have_same_version(compat_scan_user(plan, rte), plan->fs_server);
	scan.zones = (ZoneRules)
	{
		.userid = compat_scan_user(plan, rte),
			.serverid = plan->fs_server,
			.may_send = true
	};
	return scan;
}

/*
 * The reason not to send an object, which has this name: it is neither PostgreSQL's
 * own nor of an extension that the server's option names.  NULL if it is sent.
 */
static const char *
reason_of_object(const ReasonScan *scan, Oid class, Oid object, const char *name)
{
	Oid			extension;
	char	   *of_extension;
	ListCell   *cell;

	if (object < FirstGenbkiObjectId || name == NULL)
		return NULL;
	extension = getExtensionOfObject(class, object);
	if (!OidIsValid(extension))
		return psprintf("%s is not known to be the same on the remote server", name);
	of_extension = get_extension_name(extension);
	foreach(cell, scan->extensions)
	{
		if (strcmp(lfirst(cell), of_extension) == 0)
			return NULL;
	}
	return psprintf("%s of extension %s is not known to be the same on the remote server",
					name, quote_identifier(of_extension));
}

/* Has a function an argument or a result of one of two types? */
static bool
has_type(Oid function, Oid type, Oid other)
{
	Oid		   *types;
	int			ntypes;
	Oid			result = get_func_signature(function, &types, &ntypes);

	if (result == type || result == other)
		return true;
	for (int i = 0; i < ntypes; i++)
	{
		if (types[i] == type || types[i] == other)
			return true;
	}
	return false;
}

/* check_function_callback: may the value of a function change? */
static bool
has_changing_value(Oid function, void *arg)
{
	Search	   *search = arg;
	const char *name = get_func_name(function);

	switch (func_volatile(function))
	{
		case PROVOLATILE_VOLATILE:
			search->reason = psprintf("%s is volatile", name);
			return true;
		case PROVOLATILE_STABLE:
			search->reason = !search->has_columns ?
				psprintf("%s may raise an error, so it is sent only as one side of a condition in WHERE", name) :
				has_type(function, TIMESTAMPTZOID, TIMETZOID) ?
				psprintf("%s depends on this session's TimeZone", name) :
				has_type(function, MONEYOID, MONEYOID) ?
				psprintf("%s depends on this session's lc_monetary", name) :
				psprintf("%s depends on settings of this session", name);
			return true;
		default:
			return false;
	}
}

/* The reason not to send a column; NULL if there is none. */
static const char *
reason_of_column(const ReasonScan *scan, const Var *column)
{
	if (column->varlevelsup > 0 || !bms_is_member(column->varno, scan->relids))
		return "it has a column of another table";
	if (column->varattno == 0)
		return "a whole row is not sent";
	if (column->varattno < 0 &&
		column->varattno != SelfItemPointerAttributeNumber)
		return "a system column is not sent";
	return NULL;
}

/* The reason not to send a call, an operator or an aggregate; NULL if there is none. */
static const char *
reason_of_call(const ReasonScan *scan, const Node *node)
{
	Oid			operator;

	switch (nodeTag(node))
	{
		case T_FuncExpr:
			return reason_of_object(scan, ProcedureRelationId,
									((const FuncExpr *) node)->funcid,
									get_func_name(((const FuncExpr *) node)->funcid));
		case T_Aggref:
			return reason_of_object(scan, ProcedureRelationId,
									((const Aggref *) node)->aggfnoid,
									get_func_name(((const Aggref *) node)->aggfnoid));
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			operator = ((const OpExpr *) node)->opno;
			break;
		case T_ScalarArrayOpExpr:
			operator = ((const ScalarArrayOpExpr *) node)->opno;
			break;
		default:
			return NULL;
	}
	return reason_of_object(scan, OperatorRelationId, operator,
							psprintf("operator %s", get_opname(operator)));
}

/* Is it a part of an expression whose type may be another server's? */
static bool
is_typed(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_FuncExpr:
		case T_OpExpr:
		case T_Aggref:
		case T_SubscriptingRef:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_CoerceToDomain:
		case T_CaseExpr:
		case T_ArrayExpr:
			return true;
		default:
			return false;
	}
}

/* Walker: is there an object, a value or a column that is not sent? */
static bool
find_object(Node *node, void *arg)
{
	Search	   *search = arg;
	Oid			type;

	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		search->reason = "a subquery is evaluated here";
	else if (IsA(node, Var))
		search->reason = reason_of_column(search->scan, (const Var *) node);
	else
		search->reason = reason_of_call(search->scan, node);
	if (search->reason != NULL)
		return true;
	search->has_columns = contain_var_clause(node);
	/* A cast by text is not sent in any case, and its reason is simpler. */
	if (!IsA(node, CoerceViaIO) &&
		check_functions_in_node(node, has_changing_value, search))
		return true;
	if (is_typed(node))
	{
		type = exprType(node);
		search->reason = reason_of_object(search->scan, TypeRelationId, type,
										  psprintf("type %s", format_type_be(type)));
	}
	return search->reason != NULL ||
		expression_tree_walker(node, find_object, arg);
}

/* Walker: is there a time in a zone that is named and not sent? */
static bool
find_zone(Node *node, void *arg)
{
	Search	   *search = arg;
	const FuncExpr *func = (const FuncExpr *) node;
	Node	   *zone;

	if (node == NULL)
		return false;
	zone = IsA(node, FuncExpr) ? zones_named(func) : NULL;
	if (zone != NULL)
		search->reason = zone_values_refusal(zone, &search->scan->zones);
	return search->reason != NULL ||
		expression_tree_walker(node, find_zone, arg);
}

/* What the user calls a kind of expression. */
static const char *
words_for(const Node *node)
{
	switch (nodeTag(node))
	{
		case T_CoalesceExpr:
			return "COALESCE";
		case T_NullIfExpr:
			return "NULLIF";
		case T_MinMaxExpr:
			return ((const MinMaxExpr *) node)->op == IS_GREATEST ? "GREATEST"
				: "LEAST";
		case T_BooleanTest:
			return "IS TRUE or the like";
		case T_RowCompareExpr:
			return "a comparison of rows";
		case T_RowExpr:
			return "ROW";
		case T_FieldSelect:
			return "a field of a row";
		case T_CoerceViaIO:
			return psprintf("a cast of %s to %s",
							format_type_be(exprType((Node *) ((const CoerceViaIO *) node)->arg)),
							format_type_be(exprType(node)));
		case T_CoerceToDomain:
			return "a cast to a domain";
		case T_ArrayCoerceExpr:
			return "a cast of an array";
		case T_CollateExpr:
			return "COLLATE";
		case T_SQLValueFunction:
			return "a value of this session";
		case T_XmlExpr:
			return "an expression of XML";
		case T_WindowFunc:
			return "a window function";
		case T_GroupingFunc:
			return "GROUPING";
		default:
			return "an expression of this kind";
	}
}

/* Walker: is there a kind of expression that postgres_fdw has no words for? */
static bool
find_kind(Node *node, void *arg)
{
	Search	   *search = arg;

	if (node == NULL)
		return false;
	if (sources_is_known(node))
		return expression_tree_walker(node, find_kind, arg);
	search->reason = psprintf(casts_is_reading(node) ?
							  "%s accepts other texts on other major versions" :
							  "%s is not sent", words_for(node));
	return true;
}

/* Why a call that looks at this collation is not sent. */
static const char *
reason_of_collation(const Node *node, Oid collation)
{
	const char *name = IsA(node, FuncExpr) ?
		get_func_name(((const FuncExpr *) node)->funcid) :
		IsA(node, Aggref) ? get_func_name(((const Aggref *) node)->aggfnoid) :
		IsA(node, ScalarArrayOpExpr) ?
		get_opname(((const ScalarArrayOpExpr *) node)->opno) :
		IsA(node, OpExpr) || IsA(node, DistinctExpr) ?
		get_opname(((const OpExpr *) node)->opno) : "it";

	if (collation == DEFAULT_COLLATION_OID)
		return psprintf("%s depends on the default collation, which the remote database may have otherwise",
						name);
	return psprintf("%s depends on collation %s, which is not that of a foreign column",
					name, quote_identifier(get_collation_name(collation)));
}

/* Why postgres_fdw does not send an expression as it is; NULL if it does. */
static const char *
reason_of_form(const ReasonScan *scan, Node *expr)
{
	Search		search = {.scan = scan};
	Oid			collation;
	Node	   *other;

	/* On 15 functions that take a zone are stable, too. */
	if (find_zone(expr, &search) || find_object(expr, &search) ||
		find_kind(expr, &search))
		return search.reason;

	/*
	 * What does not look at its collation is not to blame, if anything else
	 * is.
	 */
	other = sources_find_other(collations_drop(expr, true, false),
							   scan->relids,
							   &collation);
	if (other == NULL)
		other = sources_find_other(expr, scan->relids, &collation);
	return other != NULL ? reason_of_collation(other, collation) : NULL;
}

/* Why a form that could be sent is not; rewrite.c decides so. */
static const char *
reason_of_refusal(const ReasonScan *scan, Node *form)
{
	if (!scan->is_on)
		return "remote_expressions is off";
	if (collations_remain(form))
		return collations_remain(collations_drop_default(form)) ?
			"it depends on a collation, and would be sent in another form" :
			"it depends on the default collation, which the remote database may have otherwise";
	if (values_may_fail_early(form, NULL))
		return "the remote server could raise an error where no row needs it";
	if (scan->has_other_encoding)
		return REASON_ENCODING;
	return "a security barrier hides rows, which another form could see, or the table has extended statistics of another type";
}

/* The forms that the scan's expressions are given. */
static FormRules
rules_of(const ReasonScan *scan, List **values, List **types)
{
	return (FormRules)
	{
		.serverid = scan->serverid,
			.zones = scan->zones,
			.may_read_texts = scan->may_read_texts,
			.may_count = true,
			.same_collations = scan->same_collations,
			.values = values,
			.types = types
	};
}

/* Why an aggregate, or what is grouped by, is evaluated here; NULL if it need not be. */
const char *
reasons_value(const ReasonScan *scan, Node *expr, bool is_group)
{
	List	   *values = NIL;
	List	   *types = NIL;
	FormRules	rules = rules_of(scan, &values, &types);
	Node	   *form = scan->is_on ? groups_form(expr, is_group, &rules) : expr;
	const char *reason = reason_of_form(scan, form);

	return reason == NULL && scan->has_other_encoding && collations_count(form) ?
		REASON_ENCODING : reason;
}

/* Why a condition of HAVING is evaluated here. */
static const char *
reason_of_having(const ReasonScan *scan, Node *condition)
{
	const char *reason = groups_have_other_type(condition) ?
		"PostgreSQL would estimate it by statistics of another type" :
		reasons_value(scan, condition, false);

	return reason != NULL ? reason : "postgres_fdw does not send it";
}

/* Why a condition of a scan, in its finished form, is evaluated here. */
const char *
reasons_condition(const ReasonScan *scan, Node *condition)
{
	List	   *values = NIL;
	List	   *types = NIL;
	FormRules	rules = rules_of(scan, &values, &types);
	Node	   *form;
	const char *reason;

	if (contain_agg_clause(condition))
		return reason_of_having(scan, condition);
	form = rewrite_form(condition, true, &rules);
	reason = reason_of_form(scan, form);
	if (reason != NULL)
		return reason;
	return form != condition ? reason_of_refusal(scan, form) :
		"postgres_fdw does not send it";
}
