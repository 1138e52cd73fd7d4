/*
 * plan.c
 *	  What postgres_fdw leaves for the executor in its plans.
 *
 * The lists are private to postgres_fdw.  From 15 to 18 they are
 *
 *	scan	sql, attrs, fetch_size [, relations, for EXPLAIN]
 *	modify	sql, targets, values_end, has_returning, attrs
 *	direct	sql, has_returning, attrs, set_processed
 *
 * Any other shape is refused.  compat.h refuses to compile for a version whose
 * plans have not been looked at.
 */
#include "postgres.h"

#include "nodes/value.h"
#include "utils/rel.h"

#include "compat.h"
#include "plan.h"

/* What is expected to be few rows even if that is but a guess */
#define FEW_ROWS 100

/* Are so few rows expected that little depends on their number? */
bool
plan_has_few_rows(const Plan *plan)
{
	return plan->plan_rows <= FEW_ROWS;
}

/*
 * Is it a command for few rows of one table?  The few of a join or an aggregate
 * may be made from many.
 */
bool
plan_is_short(const ForeignScan *plan)
{
	return plan->scan.scanrelid > 0 && plan_has_few_rows(&plan->scan.plan);
}

/* The one foreign table that a scan is about; 0 for a join or an aggregate. */
Oid
plan_relid(const ForeignScanState *node)
{
	Relation	rel = node->ss.ss_currentRelation;

	return rel != NULL ? RelationGetRelid(rel) : InvalidOid;
}

/* Is the nth member a list of integers?  The empty one is NULL. */
static bool
is_attrs(List *private, int n)
{
	Node	   *member = list_nth(private, n);

	return member == NULL || IsA(member, IntList);
}

/* Is the nth member a node of that kind? */
static bool
is_kind(List *private, int n, NodeTag tag)
{
	Node	   *member = list_nth(private, n);

	return member != NULL && nodeTag(member) == tag;
}

/* Raises an ERROR: going on would misread memory. */
static void
refuse(const char *kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_ERROR),
			 errmsg("the %s plan made by postgres_fdw has an unknown layout",
					kind),
			 errhint("Rebuild tollfree_postgres_fdw for this PostgreSQL, or return the server with tollfree_postgres_fdw_release.")));
}

/* The plan of a scan. */
ScanPlan
plan_read_scan(List *private)
{
	int			length = list_length(private);

	if (length < 3 || length > 4 || !is_kind(private, 0, T_String) ||
		!is_attrs(private, 1) || !is_kind(private, 2, T_Integer) ||
		(length == 4 && !is_kind(private, 3, T_String)))
		refuse("scan");
	return (ScanPlan)
	{
		.sql = strVal(linitial(private)),
			.attrs = lsecond(private),
			.fetch_size = intVal(lthird(private))
	};
}

/* The plan of a modification row by row. */
ModifyPlan
plan_read_modify(List *private)
{
	if (list_length(private) != 5 || !is_kind(private, 0, T_String) ||
		!is_attrs(private, 1) || !is_kind(private, 2, T_Integer) ||
		!is_kind(private, 3, T_Boolean) || !is_attrs(private, 4))
		refuse("modification");
	return (ModifyPlan)
	{
		.sql = strVal(linitial(private)),
			.targets = lsecond(private),
			.values_end = intVal(lthird(private)),
			.has_returning = boolVal(lfourth(private)),
			.attrs = list_nth(private, 4)
	};
}

/* The plan of a modification that is one remote command. */
DirectPlan
plan_read_direct(List *private)
{
	if (list_length(private) != 4 || !is_kind(private, 0, T_String) ||
		!is_kind(private, 1, T_Boolean) || !is_attrs(private, 2) ||
		!is_kind(private, 3, T_Boolean))
		refuse("direct modification");
	return (DirectPlan)
	{
		.sql = strVal(linitial(private)),
			.has_returning = boolVal(lsecond(private)),
			.attrs = lthird(private),
			.set_processed = boolVal(lfourth(private))
	};
}
