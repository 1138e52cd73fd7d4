/*
 * meaning.c
 *	  Values that mean the same to each server.
 */
#include "postgres.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "rewrite/meaning.h"

/* Has a type the same values, in the same order, on each server? */
bool
meaning_is_plain(Oid type)
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
		case BYTEAOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
			return true;
		default:
			return false;
	}
}

/* Is an expression of a type that has one order, or if none is asked for, groups? */
bool
meaning_is_same(const Node *expr, bool is_ordered)
{
	Oid			type = exprType(expr);
	Oid			collation = exprCollation(expr);

	if (type != TEXTOID && type != VARCHAROID && type != BPCHAROID)
		return meaning_is_plain(type);
	if (is_ordered)
		return collation == C_COLLATION_OID;
	return OidIsValid(collation) && get_collation_isdeterministic(collation);
}
