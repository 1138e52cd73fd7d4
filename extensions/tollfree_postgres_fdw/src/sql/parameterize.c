/*
 * parameterize.c
 *	  Constants of a remote command, sent as parameters.
 *
 * postgres_fdw writes constants into its SQL.  If these differ in each
 * statement, the remote server parses and plans each.  With parameters in
 * place of the constants the remote text is the same each time, and is kept
 * prepared (statement.c).
 *
 * So postgres_fdw plans such a command with Params in place of some
 * constants.  It deparses them as $n::type and adds them to the list of
 * parameter expressions.  That text is executed, with the constants as its
 * parameters.  EXPLAIN and errors show the text with the constants, as
 * postgres_fdw writes them.
 *
 * Constants are replaced in scans and modifications of one table that are
 * expected to have few rows and do not sort: operands of a built-in operator
 * = and, in SET, the assigned value or an operand of any operator.  Elsewhere
 * the remote plan depends too much on the constant's value.
 *
 * The parameter has the type that the constant has in the text:
 *
 *	- a constant written with a cast to a built-in type becomes $n::type.
 *	- a literal of type int4 or numeric has no cast.  Its parameter is declared
 *	  with that type, and the cast of $n is removed: a remote user without the
 *	  right to use schema pg_catalog may not write a cast.
 *	- a quoted literal beside a column of its type has no cast.  The remote
 *	  server infers its type, so it stays.
 *	- a floating-point number is written as a literal that is read as numeric.
 *	  It stays, since a parameter of -0 would have another value.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/fastpath.h"
#include "base/tables.h"
#include "sql/parameterize.h"
#include "sql/plan.h"
#include "wire/rows.h"

/*
 * The Param that stands for the nth constant.  Its number is negative, since
 * those of the query's own Params begin with 1.
 */
static Param *
make_param(const Const *constant, int n)
{
	Param	   *param = makeNode(Param);

	param->paramkind = PARAM_EXTERN;
	param->paramid = -1 - n;
	param->paramtype = constant->consttype;
	param->paramtypmod = constant->consttypmod;
	param->paramcollid = constant->constcollid;
	param->location = -1;
	return param;
}

static Node *replace(Node *node, void *arg);

/* Is a constant that is written with its type the same value as $n::type? */
static bool
is_sent_alike(const Const *constant)
{
	switch (constant->consttype)
	{
		case BOOLOID:
		case FLOAT4OID:
		case FLOAT8OID:
			return false;
		default:
			return !constant->constisnull &&
				constant->consttype < FirstGenbkiObjectId &&
				get_typtype(constant->consttype) == TYPTYPE_BASE;
	}
}

/*
 * Leaves a constant, written with its type, in the text.  If its type is not
 * built-in the command is not kept prepared: the label of an enum, for
 * example, may be renamed.
 */
static Node *
leave(Parameterization *command, Const *constant)
{
	command->is_cacheable &= constant->consttype < FirstGenbkiObjectId;
	return (Node *) constant;
}

/* Replaces a constant that is written with its type, if that can be done. */
static Node *
replace_constant(Parameterization *command, Const *constant)
{
	if (command->count == command->max || !is_sent_alike(constant))
		return leave(command, constant);
	command->constants[command->count] = constant;
	return (Node *) make_param(constant, command->count++);
}

/* Is an operand written as the name of a column? */
static bool
is_column(const Node *node)
{
	if (IsA(node, RelabelType) &&
		((const RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
		node = (const Node *) ((const RelabelType *) node)->arg;
	return IsA(node, Var);
}

/*
 * Is a constant written without its type?  It is if the other operand is a
 * column of the same type.
 */
static bool
is_untyped(const Const *constant, const Node *other)
{
	switch (constant->consttype)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case BITOID:
		case VARBITOID:
		case BOOLOID:
			return false;
		default:
			return is_column(other) && exprType(other) == constant->consttype;
	}
}

/*
 * One operand of two, with Params for constants.
 *
 * The remote server infers the type of a constant without a cast.  If it is a
 * date or time, 'today' has another value the next time.  So a command that
 * compares such a constant is not kept prepared.  Operators other than
 * comparisons, such as LIKE's, take text there as they do here.
 */
static Node *
replace_operand(Parameterization *command, const OpExpr *operation,
				Node *operand, const Node *other)
{
	Const	   *constant = (Const *) operand;
	char	   *operator;

	if (!IsA(operand, Const))
		return replace(operand, command);
	operator = get_opname(operation->opno);
	if (is_untyped(constant, other))
	{
		if (operator[strspn(operator, "<>=")] == '\0')
			command->is_cacheable = false;
		return operand;
	}
	if (command->in_set ||
		(operation->opno < FirstGenbkiObjectId && strcmp(operator, "=") == 0))
		return replace_constant(command, constant);
	return leave(command, constant);
}

/* A copy of an expression, with Params for constants. */
static Node *
replace(Node *node, void *arg)
{
	check_stack_depth();
	if (node == NULL)
		return NULL;
	if (IsA(node, Const))
		return leave(arg, (Const *) node);
	if (IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2)
	{
		OpExpr	   *copy = makeNode(OpExpr);
		Node	   *left = linitial(((OpExpr *) node)->args);
		Node	   *right = lsecond(((OpExpr *) node)->args);

		*copy = *(OpExpr *) node;
		copy->args = list_make2(replace_operand(arg, copy, left, right),
								replace_operand(arg, copy, right, left));
		return (Node *) copy;
	}
	return expression_tree_mutator(node, replace, arg);
}

/*
 * Replaces the constants of an expression in the planner's structures, until
 * parameterize_restore.
 */
static void
replace_at(Parameterization *command, Expr **place)
{
	Node	   *node = (Node *) *place;

	command->places = lappend(command->places, place);
	command->originals = lappend(command->originals, node);
	if (command->in_set && IsA(node, Const))
		node = replace_constant(command, (Const *) node);
	else
		node = replace(node, command);
	*place = (Expr *) node;
}

/* Begins a command of one table, whose expressions the caller then walks. */
static void
begin(Parameterization *command, int fast_paths, double rows)
{
	command->is_known = command->is_cacheable = true;
	command->max = rows <= PLAN_FEW_ROWS &&
		fastpath_is_on(fast_paths, FAST_CONSTANTS) ? PARAMETERIZE_MAX : 0;
}

/*
 * Replaces the constants of a scan's conditions, until parameterize_restore,
 * if it scans one table, does not sort and has no LIMIT.  A join, an aggregate
 * or a LIMIT may read many rows to return few.  Constants are not replaced in
 * the scan of a modified table: it becomes a direct modification, or uses a
 * cursor.  The caller passes an empty command.
 */
void
parameterize_scan(Parameterization *command, const PlannerInfo *root,
				  const RelOptInfo *rel, const ForeignPath *path,
				  List *clauses, int fast_paths)
{
	ListCell   *cell;

	/* A path of postgres_fdw with a LIMIT has a private list. */
	if (!IS_SIMPLE_REL(rel) || path->path.pathkeys != NIL ||
		path->fdw_private != NIL ||
		bms_is_member(rel->relid, root->all_result_relids))
		return;
	begin(command, fast_paths, path->path.rows);
	foreach(cell, clauses)
		replace_at(command, &lfirst_node(RestrictInfo, cell)->clause);
}

/*
 * The scan of a table that is to be modified; NULL if there is none of that
 * table alone.
 */
static ForeignScan *
find_scan(Plan *plan, Index target)
{
	ListCell   *cell;

	if (plan == NULL)
		return NULL;
	if (IsA(plan, ForeignScan))
		return ((ForeignScan *) plan)->scan.scanrelid == target ?
			(ForeignScan *) plan : NULL;
	if (IsA(plan, Result))
		return find_scan(outerPlan(plan), target);
	if (!IsA(plan, Append))
		return NULL;
	foreach(cell, ((Append *) plan)->appendplans)
	{
		ForeignScan *scan = find_scan(lfirst(cell), target);

		if (scan != NULL)
			return scan;
	}
	return NULL;
}

/*
 * The same for a modification of one table that may become one remote
 * command.  Returns the plan of its scan, or NULL if it was not examined.
 *
 * Conditions are replaced in that plan's fdw_recheck_quals, the list from
 * which postgres_fdw deparses the command.  If it used another list the text
 * would have its constants, and be correct.
 */
ForeignScan *
parameterize_direct(Parameterization *command, PlannerInfo *root,
					const ModifyTable *plan, Index target)
{
	ForeignScan *scan = find_scan(outerPlan(plan), target);
	ListCell   *cell;

	if (scan == NULL || scan->scan.plan.qual != NIL)
		return NULL;
	begin(command, tables_fast_paths(planner_rt_fetch(target, root)->relid),
		  scan->scan.plan.plan_rows);
	command->in_set = true;
	foreach(cell, root->processed_tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (plan->operation == CMD_UPDATE && !entry->resjunk)
			replace_at(command, &entry->expr);
	}
	command->in_set = false;
	foreach(cell, scan->fdw_recheck_quals)
		replace_at(command, (Expr **) &lfirst(cell));
	return scan;
}

/* Restores an expression in a list that may have its replacement. */
static void
restore_in(List *list, const Node *replacement, Node *original)
{
	ListCell   *cell;

	foreach(cell, list)
	{
		if (lfirst(cell) == replacement)
			lfirst(cell) = original;
	}
}

/*
 * Restores the replaced expressions: in the planner's structures, and in the
 * plan of a scan made from them, which may be NULL.
 */
void
parameterize_restore(const Parameterization *command, ForeignScan *plan)
{
	ListCell   *cell;
	ListCell   *original;

	forboth(cell, command->places, original, command->originals)
	{
		Node	  **place = lfirst(cell);

		if (plan != NULL)
		{
			restore_in(plan->fdw_recheck_quals, *place, lfirst(original));
			restore_in(plan->scan.plan.qual, *place, lfirst(original));
		}
		*place = lfirst(original);
	}
}

/* Does postgres_fdw write constants of the type as literals without a cast? */
static bool
has_literals(const Const *constant)
{
	return constant->consttypmod < 0 &&
		(constant->consttype == INT4OID || constant->consttype == NUMERICOID);
}

/* The text of a constant, whatever the session's settings. */
static char *
print_value(const Const *constant)
{
	Oid			output;
	bool		is_varlena;
	int			nestlevel;
	char	   *value;

	getTypeOutputInfo(constant->consttype, &output, &is_varlena);
	nestlevel = rows_enter_transmission(rows_needs_path(output));
	value = OidOutputFunctionCall(output, constant->constvalue);
	rows_leave_transmission(nestlevel);
	return value;
}

/* Writes a constant as postgres_fdw does; cast is the name of its type. */
static void
write_constant(StringInfo text, const Const *constant, const char *cast)
{
	Oid			type = constant->consttype;
	char	   *value = print_value(constant);
	bool		is_number = false;

	if (type == INT2OID || type == INT4OID || type == INT8OID ||
		type == OIDOID || type == NUMERICOID)
		is_number = value[strspn(value, "+-.0123456789")] == '\0';

	if (is_number && *value != '-')
		appendStringInfoString(text, value);
	else if (is_number)
		appendStringInfo(text, "(%s)", value);
	else if (type == BITOID || type == VARBITOID)
		appendStringInfo(text, "B'%s'", value);
	else
		appendStringInfoString(text, quote_literal_cstr(value));
	if (!has_literals(constant) ||
		(type == NUMERICOID && !(is_number && strchr(value, '.') != NULL)))
	{
		appendStringInfoString(text, "::");
		appendStringInfoString(text, cast);
	}
}

/*
 * The place of the nth parameter in a text; NULL unless it occurs exactly
 * once, since a string can look the same.
 */
static const char *
find_param(const char *text, int n, const char *cast)
{
	char		name[16] = "$";
	int			length = 1 + pg_ltoa(n, name + 1);
	const char *found;

	strcpy(name + length, "::");
	found = strstr(text, name);
	if (found == NULL || strstr(found + 1, name) != NULL ||
		strncmp(found + length + 2, cast, strlen(cast)) != 0)
		return NULL;
	return found;
}

/*
 * Makes the command to be executed from a plan with Params, with the declared
 * types of its parameters, 0 for one with a cast; and restores the constants
 * in the plan's own text.  False, and the plan is unusable, if there are other
 * parameters, or one is not found in the text.
 */
bool
parameterize_finish(Parameterization *command, ForeignScan *plan)
{
	const char *text;
	const char *rest;
	StringInfo	sql = makeStringInfo();
	StringInfo	shown = makeStringInfo();
	List	   *types = NIL;
	ListCell   *cell;

	if (command->count == 0)
		return true;
	text = rest = strVal(linitial(plan->fdw_private));

	foreach(cell, plan->fdw_exprs)
	{
		Param	   *param = lfirst(cell);
		int			n = foreach_current_index(cell) + 1;
		Const	   *constant;
		char	   *cast;
		const char *found;
		const char *end;

		if (!IsA(param, Param) || param->paramkind != PARAM_EXTERN ||
			param->paramid >= 0)
			return false;
		if (param->paramid <= PARAMETERIZE_OTHERS)
		{
			types = lappend_oid(types, InvalidOid);
			continue;
		}
		constant = command->constants[-1 - param->paramid];
		cast = format_type_extended(param->paramtype, param->paramtypmod,
									FORMAT_TYPE_TYPEMOD_GIVEN);
		found = find_param(text, n, cast);
		if (found == NULL || found < rest)
			return false;

		appendBinaryStringInfo(shown, rest, found - rest);
		write_constant(shown, constant, cast);
		end = strchr(found, ':');
		appendBinaryStringInfo(sql, rest, end - rest);
		rest = end + strlen("::") + strlen(cast);
		if (has_literals(constant))
			types = lappend_oid(types, constant->consttype);
		else
		{
			appendBinaryStringInfo(sql, end, rest - end);
			types = lappend_oid(types, InvalidOid);
		}
		lfirst(cell) = constant;
	}
	appendStringInfoString(shown, rest);
	appendStringInfoString(sql, rest);
	command->sql = sql->data;
	command->types = types;
	linitial(plan->fdw_private) = makeString(shown->data);
	return true;
}

/*
 * Stores in a plan the command to be executed: the one with parameters, or
 * else the plan's own.
 */
void
parameterize_note(const Parameterization *command, ForeignScan *plan)
{
	if (command->is_known)
		plan_note_command(plan, command->sql != NULL ?
						  (Node *) makeString(command->sql) :
						  linitial(plan->fdw_private),
						  command->types, command->is_cacheable);
}
