/*
 * inputs.c
 *	  What the input functions of columns may do.
 *
 * With file_fdw the session's own process converts each value once, in a query
 * that need not be parallel: a domain's CHECK may look at temporary tables
 * there, or write.  So several processes scan a file only if every value may be
 * converted in any of them.  And what may have to begin again, as an
 * aggregation, begins only if every value may be converted a second time.
 *
 * What a function may do is what it was created with, PARALLEL SAFE or VOLATILE.
 * Of a domain nothing says in which process it may be checked, and a constraint
 * can come when a query has been planned.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "base/columns.h"
#include "translate/inputs.h"

/* What is to be done with values. */
typedef enum InputUse
{
	CONVERT_ANYWHERE,			/* convert them in any process */
	CONVERT_AGAIN				/* convert them once more */
} InputUse;

static bool type_allows(Oid type, InputUse use);

/* Does a function that takes part in a conversion allow that? */
static bool
function_allows(Oid function, InputUse use)
{
	return use == CONVERT_ANYWHERE ?
		func_parallel(function) == PROPARALLEL_SAFE :
		func_volatile(function) != PROVOLATILE_VOLATILE;
}

/*
 * Does an expression that has no volatile function convert to a domain that has
 * one in its constraints?  PostgreSQL does not look there.
 */
static bool
has_unrepeatable_domain(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) &&
		!type_allows(((CoerceToDomain *) node)->resulttype, CONVERT_AGAIN))
		return true;
	return expression_tree_walker(node, has_unrepeatable_domain, context);
}

/* The same for a domain: what it is made of, and all its constraints. */
static bool
domain_allows(Oid type, InputUse use)
{
	DomainConstraintRef *ref;
	ListCell   *cell;

	if (use == CONVERT_ANYWHERE)
		return false;
	/* It is given back when the memory context is reset. */
	ref = palloc(sizeof(DomainConstraintRef));
	InitDomainConstraintRef(type, ref, CurrentMemoryContext, false);
	foreach(cell, ref->constraints)
	{
		const DomainConstraintState *constraint = lfirst(cell);
		Node	   *check = (Node *) constraint->check_expr;

		if (contain_volatile_functions(check) ||
			has_unrepeatable_domain(check, NULL))
			return false;
	}
	return type_allows(getBaseType(type), use);
}

/* The same for the columns of a composite type. */
static bool
row_allows(Oid type, InputUse use)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	bool		allows = true;

	for (int i = 0; i < desc->natts && allows; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		allows = attribute->attisdropped ||
			type_allows(attribute->atttypid, use);
	}
	ReleaseTupleDesc(desc);
	return allows;
}

/* The same for a range's bounds, which are compared, and for what it is made. */
static bool
range_allows(Oid type, InputUse use)
{
	const TypeCacheEntry *range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	Oid			canonical = range->rng_canonical_finfo.fn_oid;

	return type_allows(range->rngelemtype->type_id, use) &&
		function_allows(range->rng_cmp_proc_finfo.fn_oid, use) &&
		(!OidIsValid(canonical) || function_allows(canonical, use));
}

/* The same for a type. */
static bool
type_allows(Oid type, InputUse use)
{
	Oid			function;
	Oid			parameter;
	Oid			element;

	getTypeInputInfo(type, &function, &parameter);
	if (!function_allows(function, use))
		return false;
	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			return domain_allows(type, use);
		case TYPTYPE_COMPOSITE:
			return row_allows(type, use);
		case TYPTYPE_RANGE:
			return range_allows(type, use);
		case TYPTYPE_MULTIRANGE:
			return range_allows(get_multirange_range(type), use);
		default:
			break;
	}
	element = get_element_type(type);
	return !OidIsValid(element) || type_allows(element, use);
}

/* The same for all these columns. */
static bool
columns_allow(Relation rel, const FileColumns *columns, InputUse use)
{
	for (int i = 0; i < columns->ncolumns; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													columns->attnums[i] - 1);

		/* The other types are built-in ones. */
		if (columns->specs[i].type == COLUMN_OTHER &&
			!type_allows(attribute->atttypid, use))
			return false;
	}
	return true;
}

/*
 * May any process convert values of the columns named (String; NIL means all)?
 * The table is locked.
 */
bool
inputs_are_parallel_safe(Oid relid, const FileOptions *options, List *names)
{
	Relation	rel = table_open(relid, NoLock);
	FileColumns columns = columns_describe(rel, options, names, false);
	bool		is_safe = columns_allow(rel, &columns, CONVERT_ANYWHERE);

	table_close(rel, NoLock);
	return is_safe;
}

/* May values of these columns be converted twice where file_fdw does it once? */
bool
inputs_are_repeatable(Relation rel, const FileColumns *columns)
{
	return columns_allow(rel, columns, CONVERT_AGAIN);
}
