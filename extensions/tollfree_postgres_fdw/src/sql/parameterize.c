/*
 * parameterize.c
 *	  Constants of a remote command, sent as parameters.
 *
 * postgres_fdw writes constants into its SQL.  An application that writes its
 * own into each statement would have the remote server parse and plan every one
 * of them; with parameters in their place the text is the same each time, and
 * is kept prepared (statement.c).
 *
 * So postgres_fdw plans such a command twice: first with Params in place of some
 * constants, which it writes as $n::type and puts into the list of expressions
 * to be sent; then as the command is.  What is executed is the first text, with
 * the constants as its parameters; what EXPLAIN and errors show is the second.
 * postgres_fdw keeps things between its callbacks, so the second time comes last.
 *
 * Constants are replaced in scans and modifications of one table, which few rows
 * are expected of and which do not sort; if they are
 *
 *	- an operand of a built-in operator =, or assigned or an operand of any
 *	  operator in SET.  The remote plan depends too much on others.
 *	- written with a cast to a built-in type, which $n::type has, too; or of type
 *	  int4 or numeric, which a literal has by itself.  Its parameter is declared as
 *	  such and its cast dropped: who may not use the schema pg_catalog may write none.
 *	  A string beside a column of the same type is written without a cast, for the
 *	  remote server to find out its type, and stays.  So do floating-point numbers,
 *	  which are read as numeric: -0 would not be the same.
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
#include "sql/parameterize.h"
#include "sql/plan.h"

/*
 * The Param that stands for the nth constant.  The numbers of the query's own
 * begin with 1.
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

/* Does $n::type mean what is written for a constant that has its type? */
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
 * Leaves a constant that has its type in the text.  With one of a type that is no
 * built-in one, such as a label of an enum, which may be renamed, the command is
 * not kept.
 */
static Node *
leave(Parameterization *command, Const *constant)
{
	command->is_cacheable &= constant->consttype < FirstGenbkiObjectId;
	return (Node *) constant;
}

/* Replaces a constant that has its type in the text, or else leaves it. */
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

/* Is a constant written without its type, since that is the other operand's? */
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
 * One operand of two, with Params for constants.  If the type of a constant is for
 * the remote server to find out, and it is compared, the command is not kept: as
 * 'today' it would make another value the next time.  Other operators that text
 * has here mean text there, too.
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

/* Replaces constants of an expression at its place, until they are restored. */
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

/*
 * Begins a command of one foreign table, all of whose expressions are looked at.
 */
static void
begin(Parameterization *command, Oid relid, double rows)
{
	command->is_known = command->is_cacheable = true;
	command->max = plan_is_few(rows) &&
		fastpath_is_on(fastpath_of_table(relid), FAST_CONSTANTS) ?
		PARAMETERIZE_MAX : 0;
}

/*
 * Replaces constants of a scan's conditions, if it is one of a table and does not
 * sort, until they are restored.  The few rows of a join or an aggregate may be
 * made from many.  The scan of a table to be modified is not kept: it becomes a
 * direct modification, or comes through a cursor.  The command is empty so far.
 */
void
parameterize_scan(Parameterization *command, const PlannerInfo *root,
				  const RelOptInfo *rel, const ForeignPath *path,
				  List *clauses)
{
	ListCell   *cell;

	if (!IS_SIMPLE_REL(rel) || path->path.pathkeys != NIL ||
		bms_is_member(rel->relid, root->all_result_relids))
		return;
	begin(command, planner_rt_fetch(rel->relid, root)->relid, path->path.rows);
	foreach(cell, clauses)
		replace_at(command, &lfirst_node(RestrictInfo, cell)->clause);
}

/* The scan of a table that is to be modified, or NULL: it may be of a join. */
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
 * The same of what may become a modification by one remote command, if it is one
 * of a table.  Its conditions are in a list that postgres_fdw shares with the plan
 * of the scan; if they were in another one, nothing would come of it.  Returns that
 * plan, or NULL if nothing is looked at.
 */
ForeignScan *
parameterize_direct(Parameterization *command, PlannerInfo *root,
					const ModifyTable *plan, Index target)
{
	ForeignScan *scan = find_scan(outerPlan(plan), target);
	ListCell   *cell;

	if (scan == NULL || scan->scan.plan.qual != NIL)
		return NULL;
	begin(command, planner_rt_fetch(target, root)->relid,
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

/* Puts back what was replaced. */
void
parameterize_restore(Parameterization *command)
{
	ListCell   *cell;
	ListCell   *original;

	forboth(cell, command->places, original, command->originals)
	{
		Expr	  **place = lfirst(cell);

		*place = lfirst(original);
	}
}

/* Are there literals of the type that are written without a cast? */
static bool
has_literals(const Param *param)
{
	return param->paramtypmod < 0 &&
		(param->paramtype == INT4OID || param->paramtype == NUMERICOID);
}

/*
 * Drops the cast of the nth parameter, which has no typmod; false if a string looks
 * like it.
 */
static bool
drop_cast(char *sql, int n, Oid type)
{
	char	   *written = psprintf("$%d::%s", n, format_type_be(type));
	char	   *found = strstr(sql, written);
	char	   *cast;

	if (found == NULL || strstr(found + 1, written) != NULL)
		return false;
	cast = strchr(found, ':');
	memmove(cast, found + strlen(written), strlen(found + strlen(written)) + 1);
	return true;
}

/*
 * Puts the constants into the list of what is sent.  Returns the types that are
 * to be declared for all of it, 0 for one that has a cast.
 */
static List *
send_constants(const Parameterization *command, char *sql, List *exprs)
{
	List	   *types = NIL;
	ListCell   *cell;

	foreach(cell, exprs)
	{
		Param	   *param = lfirst(cell);
		Oid			type = InvalidOid;

		if (IsA(param, Param) && param->paramkind == PARAM_EXTERN &&
			param->paramid < 0)
		{
			lfirst(cell) = command->constants[-1 - param->paramid];
			if (has_literals(param) &&
				drop_cast(sql, foreach_current_index(cell) + 1,
						  param->paramtype))
				type = param->paramtype;
		}
		types = lappend_oid(types, type);
	}
	return types;
}

/*
 * Notes in a plan what is to be executed: its own command, or the same one as it
 * was planned with Params in place of constants, if that is not NULL.  The same
 * conditions have to be remote in both.
 */
void
parameterize_note(const Parameterization *command, ForeignScan *plan,
				  const ForeignScan *parameterized)
{
	Node	   *sql;
	List	   *types = NIL;

	if (!command->is_known)
		return;
	sql = linitial(plan->fdw_private);
	if (parameterized != NULL &&
		list_length(parameterized->fdw_recheck_quals) ==
		list_length(plan->fdw_recheck_quals))
	{
		sql = linitial(parameterized->fdw_private);
		plan->fdw_exprs = parameterized->fdw_exprs;
		types = send_constants(command, strVal(sql), plan->fdw_exprs);
	}
	plan_note_command(plan, sql, types, command->is_cacheable);
}
