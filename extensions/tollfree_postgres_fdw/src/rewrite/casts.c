/*
 * casts.c
 *	  Casts to and from text, and concat, in a form that is sent.
 *
 *	id::text			textin(int4out(id)), which postgres_fdw writes as id::text
 *	name || id			has such a cast, too
 *	(doc->>'n')::int	int4in(textout(doc->>'n')), which it writes as a cast, too
 *	concat(a, id)		COALESCE(a, '') || COALESCE(id::text, '')
 *
 * A cast without a function of its own calls the output function of one type and the
 * input function of the other.  postgres_fdw has no words for that, but for calls
 * that are written as casts: so these two functions are called, one in an implicit
 * cast, which it leaves out, and one in an explicit one.  Their value is that of
 * the cast, wherever they are evaluated.
 *
 * Into text: only types whose text is the same on each server, whatever the settings:
 * integers, numeric, uuid.  Those of dates and times depend on DateStyle, of floating-point
 * numbers on extra_float_digits, of bytea on bytea_output.
 *
 * From text: only types whose input function looks at no setting and at no catalog.
 * What such a function accepts differs between major versions: '0x1F' is an integer
 * from 16 on.  So these casts are sent only to a server of the local one (replan.c).
 * A text that is none of the type is an error there as it is here.  One difference is
 * left: which bytes beyond ASCII are blanks around a number is up to the locale of
 * the server, in encodings of one byte.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "rewrite/casts.h"

/* ||, which has no name in PostgreSQL's headers */
#define TEXT_CONCATENATION 654

/* Does a value of a type have the same text on each server? */
static bool
has_one_text(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
		case UUIDOID:
			return true;
		default:
			return false;
	}
}

/* Does every server of one major version read the same values from texts? */
static bool
is_read_alike(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case UUIDOID:
		case INETOID:
		case CIDROID:
		case MACADDROID:
		case MACADDR8OID:
		case LSNOID:
			return true;
		default:
			return false;
	}
}

/* A cast from text by functions: all that read a type take these arguments. */
static Node *
make_reading(Node *text, Oid type)
{
	Oid			output;
	Oid			input;
	Oid			param;
	bool		is_varlena;
	List	   *args;

	getTypeOutputInfo(exprType(text), &output, &is_varlena);
	getTypeInputInfo(type, &input, &param);
	args = list_make1(makeFuncExpr(output, CSTRINGOID, list_make1(text), InvalidOid,
								   InvalidOid, COERCE_IMPLICIT_CAST));
	if (get_func_nargs(input) > 1)
		args = lappend(lappend(args, makeConst(OIDOID, -1, InvalidOid, sizeof(Oid),
											   ObjectIdGetDatum(param), false, true)),
					   makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								 Int32GetDatum(-1), false, true));
	return (Node *) makeFuncExpr(input, type, args, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CAST);
}

/* A cast to text by functions; the collation is that of the result. */
static Node *
make_cast(Node *value, Oid collation)
{
	Oid			output;
	bool		is_varlena;
	FuncExpr   *text;

	getTypeOutputInfo(exprType(value), &output, &is_varlena);
	text = makeFuncExpr(output, CSTRINGOID, list_make1(value), InvalidOid,
						InvalidOid, COERCE_IMPLICIT_CAST);

	return (Node *) makeFuncExpr(F_TEXTIN, TEXTOID, list_make1(text), collation,
								 InvalidOid, COERCE_EXPLICIT_CAST);
}

/* A text as an argument of concat, which takes null for an empty one. */
static Node *
make_filled(Node *text, Oid collation)
{
	CoalesceExpr *filled = makeNode(CoalesceExpr);

	if (IsA(text, Const) && !((Const *) text)->constisnull)
		return text;

	filled->coalescetype = TEXTOID;
	filled->coalescecollid = collation;
	filled->args = list_make2(text, makeConst(TEXTOID, -1, collation, -1,
											  CStringGetTextDatum(""), false, false));
	filled->location = -1;
	return (Node *) filled;
}

/* An argument of concat as a text; NULL if its text is not the same everywhere. */
static Node *
text_of(Node *arg, Oid collation)
{
	Oid			type = exprType(arg);
	const Const *literal = (const Const *) arg;

	if (type == TEXTOID)
		return arg;
	if (type == UNKNOWNOID && IsA(arg, Const) && !literal->constisnull)
		return (Node *) makeConst(TEXTOID, -1, collation, -1,
								  CStringGetTextDatum(DatumGetCString(literal->constvalue)),
								  false, false);
	if (type == VARCHAROID)
		return (Node *) makeRelabelType((Expr *) arg, TEXTOID, -1, collation,
										COERCE_IMPLICIT_CAST);
	return has_one_text(type) ? make_cast(arg, collation) : NULL;
}

/* concat without VARIADIC; what it is, if it has an argument of another type */
static Node *
replace_concat(FuncExpr *call)
{
	Node	   *all = NULL;
	ListCell   *cell;

	foreach(cell, call->args)
	{
		Node	   *text = text_of(lfirst(cell), call->inputcollid);

		if (text == NULL)
			return (Node *) call;
		text = make_filled(text, call->inputcollid);

		if (all != NULL)
		{
			OpExpr	   *both = (OpExpr *)
				make_opclause(TEXT_CONCATENATION, TEXTOID, false, (Expr *) all,
							  (Expr *) text, call->funccollid,
							  call->inputcollid);

			set_opfuncid(both);
			text = (Node *) both;
		}
		all = text;
	}
	return all;
}

/* Is it a call of concat whose arguments all stand there? */
static bool
is_concat(const Node *node)
{
	const FuncExpr *call = (const FuncExpr *) node;

	return IsA(node, FuncExpr) && call->funcid == F_CONCAT &&
		!call->funcvariadic && OidIsValid(call->inputcollid);
}

/* Is it a cast to text whose text is the same everywhere? */
static bool
is_cast(const Node *node)
{
	const CoerceViaIO *cast = (const CoerceViaIO *) node;

	return IsA(node, CoerceViaIO) && cast->resulttype == TEXTOID &&
		has_one_text(exprType((Node *) cast->arg));
}

/* Is it a cast from text that reads the same value on each server of a version? */
bool
casts_is_reading(const Node *node)
{
	const CoerceViaIO *cast = (const CoerceViaIO *) node;
	Oid			type;

	if (!IsA(node, CoerceViaIO) || !is_read_alike(cast->resulttype))
		return false;
	type = exprType((const Node *) cast->arg);
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

/* Is it any of these? */
bool
casts_is_node(const Node *node)
{
	return is_cast(node) || is_concat(node) || casts_is_reading(node);
}

/* Walker: is there a cast from text, of a column? */
static bool
has_reading(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_reading, context, 0);
	return (casts_is_reading(node) && contain_var_clause(node)) ||
		expression_tree_walker(node, has_reading, context);
}

/* May a query have casts that need something of a server, as far as its text shows? */
bool
casts_in_query(Query *query)
{
	return has_reading((Node *) query, NULL);
}

/* Walker: is there a call of a function that reads a text? */
static bool
calls_reading(Node *node, void *context)
{
	const FuncExpr *call = (const FuncExpr *) node;

	if (node == NULL)
		return false;
	return (IsA(node, FuncExpr) && call->args != NIL &&
			is_read_alike(call->funcresulttype) &&
			exprType(linitial(call->args)) == CSTRINGOID) ||
		expression_tree_walker(node, calls_reading, context);
}

/* Has a form casts from text? */
bool
casts_read_text(Node *form)
{
	return calls_reading(form, NULL);
}

/* Walker: is there a cast to text, or concat? */
static bool
has_writing(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return is_cast(node) || is_concat(node) ||
		expression_tree_walker(node, has_writing, context);
}

/* Walker: is there any of them? */
static bool
has_cast(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return casts_is_node(node) ||
		expression_tree_walker(node, has_cast, context);
}

/* Mutator: other forms. */
static Node *
replace(Node *node, void *may_read_texts)
{
	check_stack_depth();
	if (node == NULL)
		return NULL;
	node = expression_tree_mutator(node, replace, may_read_texts);
	if (*(bool *) may_read_texts && casts_is_reading(node))
		return make_reading((Node *) ((CoerceViaIO *) node)->arg,
							((CoerceViaIO *) node)->resulttype);
	if (is_cast(node))
		return make_cast((Node *) ((CoerceViaIO *) node)->arg,
						 ((CoerceViaIO *) node)->resultcollid);
	return is_concat(node) ? replace_concat((FuncExpr *) node) : node;
}

/*
 * A copy of an expression in an equal form; the expression itself if it has no such
 * cast.  Casts from text stay, unless the server is one that reads them alike.  What
 * takes the place of concat may be COALESCE (forms.c).
 */
Node *
casts_replace(Node *expr, bool may_read_texts)
{
	if (!has_cast(expr, NULL) ||
		(!may_read_texts && !has_writing(expr, NULL)))
		return expr;
	return replace(expr, &may_read_texts);
}
