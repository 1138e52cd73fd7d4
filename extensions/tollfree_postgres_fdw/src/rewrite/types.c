/*
 * types.c
 *	  Enums as their labels, domains as their base types.
 *
 * postgres_fdw sends nothing about a column of a type that is not PostgreSQL's own.
 * But equal values of an enum have equal labels, and a domain compares as its
 * base type does:
 *
 *	status = 'open'		status::text = $1::text, with the label as the value
 *	email = 'a@b.c'		the same, of a column of type text
 *
 * The remote server casts to text, never to its enum.  So a label that only one of
 * the servers has is no error, and any type of the remote column will do whose cast
 * to text gives the text that it sends.  That of boolean does not: an enum with a
 * label that boolean sends is left alone.  Texts without a collation are equal if their bytes are.
 * A domain's check is not evaluated for a comparison, here or there.
 *
 * The order of an enum's values may be another one on the remote server, so nothing
 * but equality is sent.
 *
 * The column gets a type that it does not have here.  So what this file returns must
 * not be evaluated here.  A label is computed when a scan sends its command (values.c):
 * a plan may outlive the name of a label.
 *
 * Types of extensions are left to the server's option "extensions".
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/tables.h"
#include "rewrite/types.h"

/* An expression with the types that are sent, and what it is made of */
typedef struct TypeForm
{
	Node	   *sent;
	Node	   *written;
} TypeForm;

/* A type in whose place another one is sent */
typedef struct PlainType
{
	Oid			type;			/* the other one; InvalidOid if there is none */
	int32		typmod;
	bool		is_label;		/* is it the text of enums' labels, or an
								 * array? */
} PlainType;

/* An expression whose types are being replaced */
typedef struct Typing
{
	List	  **forms;			/* of TypeForm, those of the query so far */
	Index		relid;			/* if other tables' columns are values, the
								 * table; else 0 */
	bool		has_extensions; /* does the server send types of some? */
	bool		is_changed;
	Oid			last;			/* the type that was looked up last, */
	PlainType	plain;			/* and what is sent in its place */
} Typing;

/* Has an enum a label that is what a boolean is sent as? */
static bool
has_label_of_boolean(Oid type)
{
	NameData	label;

	namestrcpy(&label, "t");
	if (SearchSysCacheExists2(ENUMTYPOIDNAME, ObjectIdGetDatum(type),
							  NameGetDatum(&label)))
		return true;
	namestrcpy(&label, "f");
	return SearchSysCacheExists2(ENUMTYPOIDNAME, ObjectIdGetDatum(type),
								 NameGetDatum(&label));
}

/* The type that is sent in place of this one. */
static PlainType
find_plain_type(Oid type)
{
	PlainType	plain = {.typmod = -1};
	Oid			base;

	base = getBaseTypeAndTypmod(type, &plain.typmod);
	if (base < FirstGenbkiObjectId)
	{
		if (get_typtype(base) == TYPTYPE_BASE)
			plain.type = base;
		return plain;
	}
	plain.typmod = -1;
	plain.is_label = true;
	if (type_is_enum(base))
		plain.type = has_label_of_boolean(base) ? InvalidOid : TEXTOID;
	else if (type_is_enum(get_element_type(base)))
		plain.type = has_label_of_boolean(get_element_type(base)) ? InvalidOid :
			TEXTARRAYOID;
	return plain;
}

/* The same; no type but another one than PostgreSQL's own is looked up. */
static PlainType
plain_type(Oid type)
{
	return type >= FirstGenbkiObjectId ? find_plain_type(type) :
		(PlainType)
	{
		.typmod = -1
	};
}

/* The same for a type in an expression, which often has it again. */
static PlainType
plain_type_of(Oid type, Typing *typing)
{
	if (type != typing->last)
	{
		typing->last = type;
		typing->plain = plain_type(type);
	}
	return typing->plain;
}

/* Does the server's option decide whether a type is sent? */
static bool
is_of_extension(Oid type, const Typing *typing)
{
	return typing->has_extensions && type >= FirstGenbkiObjectId &&
		OidIsValid(getExtensionOfObject(TypeRelationId, type));
}

/*
 * Is a value known when a scan begins: a constant, a parameter or, if a table is
 * looked up, a column of another one?
 */
static bool
is_given(const Node *node, Index relid)
{
	const Param *param = (const Param *) node;

	if (IsA(node, Var))
		return relid > 0 && (Index) ((const Var *) node)->varno != relid;
	return IsA(node, Const) ||
		(IsA(node, Param) &&
		 (param->paramkind == PARAM_EXEC ||
		  (param->paramkind == PARAM_EXTERN && param->paramid > 0)));
}

/* Notes the form of an expression, which it returns. */
static Node *
note(Node *sent, const void *written, Typing *typing)
{
	TypeForm   *form = palloc(sizeof(TypeForm));

	form->sent = copyObjectImpl(sent);
	form->written = copyObjectImpl(written);
	*typing->forms = lappend(*typing->forms, form);
	typing->is_changed = true;
	return sent;
}

/*
 * A column as if it had another type; NULL if its values may be equal without
 * being the same.
 */
static Node *
retype(const Var *column, const PlainType *plain, Typing *typing)
{
	Var		   *copy = copyObjectImpl(column);

	if (column->varattno <= 0 || column->varlevelsup > 0 ||
		(OidIsValid(column->varcollid) &&
		 !get_collation_isdeterministic(column->varcollid)))
		return NULL;
	copy->vartype = plain->type;
	copy->vartypmod = plain->typmod;
	if (plain->is_label)
		copy->varcollid = InvalidOid;
	return note((Node *) copy, column, typing);
}

/* A column in another type. */
static Node *
plain_column(const Var *column, const PlainType *plain, Typing *typing)
{
	Node	   *copy = retype(column, plain, typing);

	if (copy == NULL || !plain->is_label)
		return copy;
	return (Node *) makeRelabelType((Expr *) copy, plain->type, -1, InvalidOid,
									COERCE_EXPLICIT_CAST);
}

/* A value without columns, in another type; it can be evaluated here. */
static Node *
plain_value(Node *value, const PlainType *plain)
{
	CoerceViaIO *label;
	Const	   *constant;

	if (plain->is_label)
	{
		label = makeNode(CoerceViaIO);
		label->arg = copyObjectImpl(value);
		label->resulttype = plain->type;
		label->resultcollid = InvalidOid;
		label->coerceformat = COERCE_EXPLICIT_CAST;
		label->location = -1;
		return (Node *) label;
	}
	if (!IsA(value, Const))
		return (Node *) makeRelabelType(copyObjectImpl(value), plain->type,
										plain->typmod, exprCollation(value),
										COERCE_IMPLICIT_CAST);
	constant = copyObjectImpl(value);
	constant->consttype = plain->type;
	constant->consttypmod = plain->typmod;
	return (Node *) constant;
}

static Node *plain_form(Node *node, Typing *typing);

/* The forms of several expressions; NIL if one has none. */
static List *
plain_forms(const List *exprs, Typing *typing)
{
	List	   *forms = NIL;
	const ListCell *cell;

	foreach(cell, exprs)
	{
		Node	   *form = plain_form(lfirst(cell), typing);

		if (form == NULL)
			return NIL;
		forms = lappend(forms, form);
	}
	return forms;
}

/* COALESCE or an array of such values; NULL if one of them has no form */
static Node *
plain_list(Node *node, const PlainType *plain, Typing *typing)
{
	Node	   *copy = copyObjectImpl(node);
	CoalesceExpr *coalesce = (CoalesceExpr *) copy;
	ArrayExpr  *array = (ArrayExpr *) copy;
	List	   *forms;

	if (IsA(node, CoalesceExpr))
	{
		forms = coalesce->args = plain_forms(coalesce->args, typing);
		coalesce->coalescetype = plain->type;
		if (plain->is_label)
			coalesce->coalescecollid = InvalidOid;
	}
	else
	{
		if (array->multidims || plain->type != TEXTARRAYOID)
			return NULL;
		forms = array->elements = plain_forms(array->elements, typing);
		array->array_typeid = TEXTARRAYOID;
		array->array_collid = InvalidOid;
		array->element_typeid = TEXTOID;
	}
	return forms != NIL ? copy : NULL;
}

/*
 * An expression of such a type in the type that is sent in its place, all in this
 * context; NULL if it has no such form.
 */
static Node *
plain_form(Node *node, Typing *typing)
{
	PlainType	plain = plain_type_of(exprType(node), typing);
	CaseTestExpr *tested;

	check_stack_depth();
	if (!OidIsValid(plain.type) || is_of_extension(exprType(node), typing))
		return NULL;
	switch (nodeTag(node))
	{
		case T_Var:
			return is_given(node, typing->relid) ? plain_value(node, &plain) :
				plain_column((Var *) node, &plain, typing);
		case T_CaseTestExpr:
			tested = copyObjectImpl(node);
			tested->typeId = plain.type;
			tested->typeMod = plain.typmod;
			if (plain.is_label)
				tested->collation = InvalidOid;
			return (Node *) tested;
		case T_RelabelType:
			/* a domain over an enum */
			return plain.is_label ?
				plain_form((Node *) ((RelabelType *) node)->arg, typing) : NULL;
		case T_CoalesceExpr:
		case T_ArrayExpr:
			return plain_list(node, &plain, typing);
		default:
			return contain_var_clause(node) || contain_subplans(node) ? NULL :
				plain_value(node, &plain);
	}
}

/*
 * The operator of texts in place of one of enums, or perhaps of arrays of them;
 * InvalidOid if there is none.
 */
static Oid
text_operator(Oid operator)
{
	switch (get_opcode(operator))
	{
		case F_ARRAY_EQ:
		case F_ARRAY_NE:
		case F_ARRAYOVERLAP:
		case F_ARRAYCONTAINS:
		case F_ARRAYCONTAINED:
			return operator;
		case F_ENUM_EQ:
			return TextEqualOperator;
		case F_ENUM_NE:
			return get_negator(TextEqualOperator);
		default:
			return InvalidOid;
	}
}

/* A comparison of two enums, or of one with those of an array; NULL without a form. */
static Node *
compare_labels(Node *node, Typing *typing)
{
	bool		is_array = IsA(node, ScalarArrayOpExpr);
	List	   *forms = plain_forms(is_array ? ((ScalarArrayOpExpr *) node)->args :
									((OpExpr *) node)->args, typing);
	Node	   *copy;

	if (forms == NIL)
		return NULL;
	copy = copyObjectImpl(node);
	if (is_array)
	{
		ScalarArrayOpExpr *comparison = (ScalarArrayOpExpr *) copy;

		comparison->opno = text_operator(comparison->opno);
		comparison->opfuncid = get_opcode(comparison->opno);
		comparison->hashfuncid = comparison->negfuncid = InvalidOid;
		comparison->args = forms;
	}
	else
	{
		OpExpr	   *comparison = (OpExpr *) copy;

		comparison->opno = text_operator(comparison->opno);
		comparison->opfuncid = get_opcode(comparison->opno);
		comparison->args = forms;
	}
	return copy;
}

/*
 * A cast of such a value to its base type, or of a label to text; NULL if it is
 * another cast.
 */
static Node *
cast_plain(Node *node, Typing *typing)
{
	RelabelType *relabel = (RelabelType *) node;
	Node	   *form;

	if (IsA(node, CoerceViaIO))
		return ((CoerceViaIO *) node)->resulttype == TEXTOID &&
			plain_type_of(exprType((Node *) ((CoerceViaIO *) node)->arg), typing).type == TEXTOID
			? plain_form((Node *) ((CoerceViaIO *) node)->arg, typing) : NULL;
	if (plain_type_of(exprType((Node *) relabel->arg), typing).is_label)
		return NULL;
	form = plain_form((Node *) relabel->arg, typing);
	if (form == NULL || !IsA(form, Var))
		return form;
	/* A cast that is not written keeps it apart from the column itself. */
	relabel = copyObjectImpl(node);
	relabel->arg = (Expr *) form;
	if (relabel->resulttype == exprType(form))
		relabel->relabelformat = COERCE_IMPLICIT_CAST;
	return (Node *) relabel;
}

/*
 * IS NULL of a column of any type that is no row, and of what has a plain form;
 * NULL for all other expressions.
 */
static Node *
test_plain(const NullTest *test, Typing *typing)
{
	PlainType text = {.type = TEXTOID,.typmod = -1,.is_label = true};
	Oid			type = exprType((Node *) test->arg);
	NullTest   *copy;
	Node	   *form;

	if (type < FirstGenbkiObjectId || test->argisrow || type_is_rowtype(type) ||
		is_of_extension(type, typing))
		return NULL;
	form = IsA(test->arg, Var) ? retype((Var *) test->arg, &text, typing) :
		plain_form((Node *) test->arg, typing);
	if (form == NULL)
		return NULL;
	copy = copyObjectImpl(test);
	copy->arg = (Expr *) form;
	return (Node *) copy;
}

static Node *replace(Node *node, void *arg);

/* An aggregate; count() takes a column of any type that is no row. */
static Node *
count_plain(Aggref *aggregate, Typing *typing)
{
	Aggref	   *copy = (Aggref *) expression_tree_mutator((Node *) aggregate, replace,
														  typing);
	PlainType	plain = {.type = TEXTOID,.typmod = -1,.is_label = true};
	TargetEntry *entry;
	Oid			type;
	Node	   *column;

	if (copy->aggfnoid != F_COUNT_ANY)
		return (Node *) copy;
	entry = linitial_node(TargetEntry, copy->args);
	type = exprType((Node *) entry->expr);
	if (copy->aggdistinct != NIL)
		plain = plain_type_of(type, typing);
	if (!IsA(entry->expr, Var) || type < FirstGenbkiObjectId ||
		type_is_rowtype(type) || !OidIsValid(plain.type) ||
		is_of_extension(type, typing))
		return (Node *) copy;
	column = retype((Var *) entry->expr, &plain, typing);
	if (column != NULL)
		entry->expr = (Expr *) column;
	return (Node *) copy;
}

/* Mutator: plain forms, where there are some. */
static Node *
replace(Node *node, void *arg)
{
	Typing	   *typing = arg;
	Node	   *form = NULL;
	CaseExpr   *choice;

	check_stack_depth();
	if (node == NULL)
		return NULL;
	switch (nodeTag(node))
	{
		case T_OpExpr:
		case T_DistinctExpr:
			if (OidIsValid(text_operator(((OpExpr *) node)->opno)))
				form = compare_labels(node, typing);
			break;
		case T_ScalarArrayOpExpr:
			if (OidIsValid(text_operator(((ScalarArrayOpExpr *) node)->opno)))
				form = compare_labels(node, typing);
			break;
		case T_RelabelType:
		case T_CoerceViaIO:
			form = cast_plain(node, typing);
			break;
		case T_NullTest:
			form = test_plain((NullTest *) node, typing);
			break;
		case T_CaseExpr:

			/*
			 * What its conditions compare has the type of what it begins
			 * with.
			 */
			choice = (CaseExpr *) node;
			if (choice->arg == NULL ||
				exprType((Node *) choice->arg) < FirstGenbkiObjectId)
				break;
			form = plain_form((Node *) choice->arg, typing);
			if (form == NULL)
				return node;
			choice = copyObjectImpl(choice);
			choice->arg = (Expr *) form;
			return note(expression_tree_mutator((Node *) choice, replace, arg),
						node, typing);
		case T_Aggref:
			return count_plain((Aggref *) node, typing);
		case T_ArrayCoerceExpr:
			return node;
		default:
			break;
	}
	return form != NULL ? note(form, node, typing) :
		expression_tree_mutator(node, replace, arg);
}

/* Walker: is there a column of a type that is not PostgreSQL's own? */
static bool
has_other_type(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->vartype >= FirstGenbkiObjectId;
	return expression_tree_walker(node, has_other_type, context);
}

/* Has an expression a column of a type that is not PostgreSQL's own? */
bool
types_are_other(Node *expr)
{
	return has_other_type(expr, NULL);
}

/* Prepares to replace types; false if an expression has none to be replaced. */
static bool
begin(Typing *typing, Node *expr, Oid serverid, List **forms)
{
	*typing = (Typing)
	{
		.forms = forms
	};
	if (!types_are_other(expr) || contain_volatile_functions(expr))
		return false;
	typing->has_extensions = tables_server_has_extensions(serverid);
	return true;
}

/*
 * A copy of an expression on columns of a server's tables, with the types that are
 * sent in place of enums and domains; the expression itself if there are none.  It must
 * not be evaluated here.  What has been replaced is added to forms.
 */
Node *
types_replace(Node *expr, Oid serverid, List **forms)
{
	Typing		typing;
	Node	   *sent;

	if (!begin(&typing, expr, serverid, forms))
		return expr;
	sent = replace(expr, &typing);
	return typing.is_changed ? sent : expr;
}

/*
 * The same for a condition of a join with other tables' columns, which values.c makes
 * parameters of a scan of this table.
 */
Node *
types_replace_lookup(Node *clause, const RelOptInfo *rel, List **forms)
{
	Typing		typing;
	Node	   *sent;

	if (!begin(&typing, clause, rel->serverid, forms))
		return clause;
	typing.relid = rel->relid;
	sent = replace(clause, &typing);
	return typing.is_changed ? sent : clause;
}

/*
 * The type that values of this one are sent as to a server; the type itself if they
 * are sent as such, or not at all.
 */
Oid
types_sent_as(Oid type, Oid serverid)
{
	Oid			plain = plain_type(type).type;

	return !OidIsValid(plain) ||
		tables_server_has_extensions(serverid) ? type : plain;
}

/*
 * What SET assigns to an enum or a domain, if it is given or needs no check: a label,
 * or a value of the base type.  All else as it is.  Sets whether it is given.
 */
Node *
types_replace_assigned(Node *expr, Oid serverid, bool *is_value)
{
	PlainType	plain = plain_type(exprType(expr));

	*is_value = false;
	if (!OidIsValid(plain.type) || plain.type == TEXTARRAYOID ||
		types_sent_as(exprType(expr), serverid) != plain.type)
		return expr;
	if (is_given(expr, 0))
	{
		*is_value = true;
		return plain_value(expr, &plain);
	}
	return IsA(expr, RelabelType) && !plain.is_label ?
		(Node *) ((RelabelType *) expr)->arg : expr;
}

/*
 * The same for a column of a result.  A column of labels is sent as it is: only
 * what is read of it counts.
 */
Node *
types_replace_output(Node *expr, Oid serverid, List **forms)
{
	PlainType	plain;
	Typing		typing;
	Node	   *sent;

	if (!IsA(expr, Var))
		return types_replace(expr, serverid, forms);
	plain = plain_type(exprType(expr));
	if (!begin(&typing, expr, serverid, forms) || !OidIsValid(plain.type) ||
		is_of_extension(exprType(expr), &typing))
		return expr;
	sent = retype((Var *) expr, &plain, &typing);
	return sent != NULL ? sent : expr;
}

/* Mutator: what was written in place of what is sent. */
static Node *
restore(Node *node, void *arg)
{
	const List *forms = arg;
	const ListCell *cell;

	if (node == NULL)
		return NULL;
	foreach(cell, forms)
	{
		const TypeForm *form = lfirst(cell);

		if (equal(form->sent, node))
			return copyObjectImpl(form->written);
	}
	return expression_tree_mutator(node, restore, arg);
}

/* A copy of expressions, with what was written in place of these forms. */
List *
types_restore(List *exprs, const List *forms)
{
	return (List *) restore((Node *) exprs, unconstify(List *, forms));
}

/*
 * Is an expression a value that is given, in the type that is sent in place of its
 * own?  It raises no error.  If a table is looked up, columns of others are given, too.
 */
bool
types_is_converted(const Node *node, Index relid)
{
	const Node *arg;

	if (IsA(node, CoerceViaIO))
		arg = (const Node *) ((const CoerceViaIO *) node)->arg;
	else if (IsA(node, RelabelType))
		arg = (const Node *) ((const RelabelType *) node)->arg;
	else
		return false;
	return is_given(arg, relid) && exprType(arg) >= FirstGenbkiObjectId &&
		plain_type(exprType(arg)).type == exprType(node);
}
