/*
 * inputs.c
 *	  What the input functions of columns may do.
 *
 * Several processes scan a file only if every value that they convert may be
 * converted in any of them.  With file_fdw the session's own process converts
 * all, in a query that need not be parallel: a domain's CHECK may look at
 * temporary tables there, or write.
 *
 * What a function may do is what it was created with, PARALLEL SAFE or not.  Of
 * a domain nothing says it, and a constraint can come when a query has been
 * planned.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "columns.h"
#include "inputs.h"

static bool type_is_parallel_safe(Oid type);

/* The same for the columns of a composite type. */
static bool
row_is_parallel_safe(Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	bool		is_safe = true;

	for (int i = 0; i < desc->natts && is_safe; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		is_safe = attribute->attisdropped ||
			type_is_parallel_safe(attribute->atttypid);
	}
	ReleaseTupleDesc(desc);
	return is_safe;
}

/* The same for a range's bounds, which are compared, and for what it is made. */
static bool
range_is_parallel_safe(Oid type)
{
	const TypeCacheEntry *range = lookup_type_cache(type, TYPECACHE_RANGE_INFO);
	Oid			canonical = range->rng_canonical_finfo.fn_oid;

	return type_is_parallel_safe(range->rngelemtype->type_id) &&
		func_parallel(range->rng_cmp_proc_finfo.fn_oid) == PROPARALLEL_SAFE &&
		(!OidIsValid(canonical) ||
		 func_parallel(canonical) == PROPARALLEL_SAFE);
}

/* May any process convert values of the type? */
static bool
type_is_parallel_safe(Oid type)
{
	Oid			function;
	Oid			parameter;
	Oid			element;

	getTypeInputInfo(type, &function, &parameter);
	if (func_parallel(function) != PROPARALLEL_SAFE)
		return false;
	switch (get_typtype(type))
	{
		case TYPTYPE_DOMAIN:
			return false;
		case TYPTYPE_COMPOSITE:
			return row_is_parallel_safe(type);
		case TYPTYPE_RANGE:
			return range_is_parallel_safe(type);
		case TYPTYPE_MULTIRANGE:
			return range_is_parallel_safe(get_multirange_range(type));
		default:
			break;
	}
	element = get_element_type(type);
	return !OidIsValid(element) || type_is_parallel_safe(element);
}

/*
 * May any process convert values of the columns named (String; NIL means all)?
 * The table is locked.
 */
bool
inputs_are_parallel_safe(Oid relid, List *names)
{
	Relation	rel = table_open(relid, NoLock);
	FileColumns columns = columns_describe(rel, names, false);
	bool		is_safe = true;

	for (int i = 0; i < columns.ncolumns && is_safe; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													columns.attnums[i] - 1);

		/* The other types are built-in ones. */
		is_safe = columns.specs[i].type != COLUMN_OTHER ||
			type_is_parallel_safe(attribute->atttypid);
	}
	table_close(rel, NoLock);
	return is_safe;
}
