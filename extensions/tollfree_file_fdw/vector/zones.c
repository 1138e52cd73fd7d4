/*
 * zones.c
 *	  The possible results of a condition in a block, by its zone maps.
 *
 * Each column is examined by itself.  So for AND and OR the result may
 * include truth values that no row has, as of a < 5 AND a > 5, but none is
 * missing.
 */
#include "vector/zones.h"

/* All truth values, given whether there may be nulls. */
static ZoneTruths
truths_of_any(const Zone *zone, uint32_t nrows)
{
	bool		has_values = zone == NULL || zone->nulls < nrows;
	ZoneTruths	truths = {has_values, has_values, zone == NULL || zone->nulls > 0};

	return truths;
}

/* A range of integers, perhaps negated. */
static ZoneTruths
truths_of_range(const FilterNode *node, const Zone *zone)
{
	bool		overlaps = node->low <= zone->high && zone->low <= node->high;
	bool		covers = node->low <= zone->low && zone->high <= node->high;
	ZoneTruths	truths = {overlaps, !covers, zone->nulls > 0};

	if (node->negated)
	{
		truths.may_be_true = !covers;
		truths.may_be_false = overlaps;
	}
	return truths;
}

/* Does a column of floats or texts have keys? */
static bool
has_keys(ColumnType type)
{
	return column_type_is_float(type) || column_type_is_text(type);
}

static int64_t
constant_key(const FilterValue *value, ColumnType type)
{
	return column_type_is_float(type) ? zone_float_key(value->floating) :
		zone_text_key(value->text, type);
}

/*
 * A comparison with a constant, by keys.  Texts whose keys are equal may have any
 * order.
 */
static ZoneTruths
truths_of_keys(const FilterNode *node, const Zone *zone, ColumnType type)
{
	const int64_t key = constant_key(&node->values[0], type);
	const bool	is_exact = column_type_is_float(type);
	const bool	may_be_equal = zone->low <= key && key <= zone->high;
	const bool	may_be_other = !is_exact || zone->low != key ||
		zone->high != key;
	const bool	may_be_less = zone->low < key ||
		(!is_exact && may_be_equal);
	const bool	may_be_greater = zone->high > key ||
		(!is_exact && may_be_equal);
	ZoneTruths	truths = {false, false, zone->nulls > 0};

	switch (node->op)
	{
		case FILTER_EQ:
		case FILTER_NE:
			truths.may_be_true = may_be_equal;
			truths.may_be_false = may_be_other;
			break;
		case FILTER_LT:
		case FILTER_GE:
			truths.may_be_true = may_be_less;
			truths.may_be_false = may_be_equal || may_be_greater;
			break;
		case FILTER_LE:
		case FILTER_GT:
			truths.may_be_true = may_be_less || may_be_equal;
			truths.may_be_false = may_be_greater;
			break;
	}
	if (node->op == FILTER_NE || node->op == FILTER_GE ||
		node->op == FILTER_GT)
	{
		bool		may_be_true = truths.may_be_true;

		truths.may_be_true = truths.may_be_false;
		truths.may_be_false = may_be_true;
	}
	return truths;
}

static ZoneTruths
truths_of_list(const FilterNode *node, const Zone *zone, ColumnType type)
{
	ZoneTruths	truths = {false, true, zone->nulls > 0 || node->null_in_list};

	for (int i = 0; i < node->nvalues; i++)
	{
		int64_t		key = has_keys(type) ?
			constant_key(&node->values[i], type) : node->values[i].integer;

		truths.may_be_true |= zone->low <= key && key <= zone->high;
	}
	return truths;
}

/* A condition on one column. */
static ZoneTruths
truths_of_column(const FilterNode *node, const ColumnSpec *columns,
				 const Zone *zone, uint32_t nrows)
{
	ColumnType	type = columns[node->column].type;
	bool		has_bounds = zone != NULL && zone->nulls < nrows &&
		(column_type_is_integer(type) || has_keys(type));

	if (node->kind == FILTER_COMPARE && has_bounds)
		return has_keys(type) ? truths_of_keys(node, zone, type) :
			truths_of_range(node, zone);
	if (node->kind == FILTER_IN && has_bounds)
		return truths_of_list(node, zone, type);
	if (node->kind == FILTER_IS_TRUE && has_bounds)
	{
		ZoneTruths	truths = {zone->high >= 1, zone->low <= 0, zone->nulls > 0};

		return truths;
	}
	if (node->kind == FILTER_IS_NULL)
	{
		ZoneTruths	truths = truths_of_any(zone, nrows);

		truths.may_be_false = truths.may_be_true;
		truths.may_be_true = truths.may_be_unknown;
		truths.may_be_unknown = false;
		return truths;
	}
	if (node->kind == FILTER_IN && node->null_in_list)
	{
		ZoneTruths	truths = truths_of_any(zone, nrows);

		truths.may_be_unknown = true;
		return truths;
	}
	return truths_of_any(zone, nrows);
}

static ZoneTruths
truths_of_children(const FilterNode *node, const ColumnSpec *columns,
				   const Zone *const *zones, uint32_t nrows)
{
	bool		is_and = node->kind == FILTER_AND;
	ZoneTruths	truths = {is_and, !is_and, false};

	for (int i = 0; i < node->nchildren; i++)
	{
		ZoneTruths	child = zones_truths(node->children[i], columns, zones,
										 nrows);

		if (is_and)
		{
			truths.may_be_true &= child.may_be_true;
			truths.may_be_false |= child.may_be_false;
		}
		else
		{
			truths.may_be_true |= child.may_be_true;
			truths.may_be_false &= child.may_be_false;
		}
		truths.may_be_unknown |= child.may_be_unknown;
	}
	return truths;
}

ZoneTruths
zones_truths(const FilterNode *node, const ColumnSpec *columns,
			 const Zone *const *zones, uint32_t nrows)
{
	static const ZoneTruths all = {true, true, true};

	switch (node->kind)
	{
		case FILTER_COMPARE_COLUMNS:
			return all;
		case FILTER_CONSTANT:
			{
				ZoneTruths	truths = {
					node->constant == FILTER_TRUE,
					node->constant == FILTER_FALSE,
					node->constant == FILTER_UNKNOWN
				};

				return truths;
			}
		case FILTER_AND:
		case FILTER_OR:
			return truths_of_children(node, columns, zones, nrows);
		case FILTER_NOT:
			{
				ZoneTruths	child = zones_truths(node->children[0], columns,
												 zones, nrows);
				ZoneTruths	truths = {
					child.may_be_false, child.may_be_true,
					child.may_be_unknown
				};

				return truths;
			}
		default:
			return truths_of_column(node, columns, zones[node->column], nrows);
	}
}
