/*
 * filter_prepare.c
 *	  Simplifies conditions once: a comparison of integers becomes a range,
 *	  whatever the operator and the constant's scale; a list becomes a hash
 *	  table.
 */
#include "core/digits.h"
#include "vector/compare.h"
#include "vector/filter.h"
#include "vector/in_list.h"
#include "vector/like.h"

/*
 * Brings a constant to the column's scale, rounding down; returns whether it
 * had to.  A constant out of range becomes INT64_MAX or INT64_MIN, which no
 * value of a column with a scale reaches.
 */
static bool
filter_rescale(const FilterValue *value, int scale, int64_t *integer)
{
	int64_t		power;
	int64_t		rest;

	if (value->scale <= scale)
	{
		if (__builtin_mul_overflow(value->integer,
								   digits_power(scale - value->scale),
								   integer))
			*integer = value->integer < 0 ? INT64_MIN : INT64_MAX;
		return false;
	}
	power = digits_power(value->scale - scale);
	rest = value->integer % power;
	*integer = value->integer / power - (rest < 0 ? 1 : 0);
	return rest != 0;
}

/*
 * Passes integers in [low, high]: all if these are the ends of int64, none if
 * low is above high.
 */
static void
filter_set_range(FilterNode *node, int64_t low, int64_t high)
{
	node->negated = low > high;
	node->low = node->negated ? INT64_MIN : low;
	node->high = node->negated ? INT64_MAX : high;
}

/* Passes integers above that one. */
static void
filter_set_above(FilterNode *node, int64_t value)
{
	if (value == INT64_MAX)
		filter_set_range(node, INT64_MAX, INT64_MIN);
	else
		filter_set_range(node, value + 1, INT64_MAX);
}

/* Passes integers below that one. */
static void
filter_set_below(FilterNode *node, int64_t value)
{
	if (value == INT64_MIN)
		filter_set_range(node, INT64_MAX, INT64_MIN);
	else
		filter_set_range(node, INT64_MIN, value - 1);
}

/* Turns column op constant into a range.  A rounded constant equals nothing. */
static void
filter_prepare_integer(FilterNode *node, int scale)
{
	int64_t		value;
	bool		rounded = filter_rescale(&node->values[0], scale, &value);

	switch (node->op)
	{
		case FILTER_EQ:
		case FILTER_NE:
			filter_set_range(node, rounded ? INT64_MIN : value,
							 rounded ? INT64_MAX : value);
			if (rounded == (node->op == FILTER_EQ))
				node->negated = true;
			break;
		case FILTER_LT:
			if (rounded)
				filter_set_range(node, INT64_MIN, value);
			else
				filter_set_below(node, value);
			break;
		case FILTER_GE:
			if (rounded)
				filter_set_above(node, value);
			else
				filter_set_range(node, value, INT64_MAX);
			break;
		case FILTER_LE:
			filter_set_range(node, INT64_MIN, value);
			break;
		case FILTER_GT:
			filter_set_above(node, value);
			break;
	}
}

/* Keeps the constants that a value of the column's scale can equal. */
static void
filter_rescale_list(FilterNode *node, int scale)
{
	int			n = 0;

	for (int i = 0; i < node->nvalues; i++)
	{
		int64_t		integer;

		if (filter_rescale(&node->values[i], scale, &integer))
			continue;
		node->values[n].integer = integer;
		node->values[n].scale = scale;
		n++;
	}
	node->nvalues = n;
}

static void
filter_prepare_list(FilterNode *node, const ColumnSpec *spec)
{
	if (column_type_is_integer(spec->type))
		filter_rescale_list(node, column_scale(spec));
	in_list_prepare(node, spec->type);
}

static bool
filter_is_number(ColumnType type)
{
	return type == COLUMN_INT2 || type == COLUMN_INT4 ||
		type == COLUMN_INT8 || type == COLUMN_NUMERIC;
}

static bool
filter_can_compare(ColumnType a, ColumnType b)
{
	return a != COLUMN_OTHER &&
		(a == b || (filter_is_number(a) && filter_is_number(b)) ||
		 (column_type_is_float(a) && column_type_is_float(b)));
}

/* Is the condition a range of integers? */
static bool
filter_is_range(const FilterNode *node, const ColumnSpec *columns)
{
	return node->kind == FILTER_COMPARE && !node->negated &&
		column_type_is_integer(columns[node->column].type);
}

/*
 * Merges the ranges of an AND on an integer column into the first: x >= 3 AND
 * x < 5 is one range.  The others are not changed, for callers that run them
 * by themselves.
 */
static void
filter_merge_ranges(FilterNode *node, const ColumnSpec *columns)
{
	for (int i = 0; i < node->nchildren; i++)
	{
		FilterNode *first = node->children[i];

		if (first->implied || !filter_is_range(first, columns))
			continue;
		for (int j = i + 1; j < node->nchildren; j++)
		{
			FilterNode *other = node->children[j];

			if (other->column != first->column || first->negated ||
				!filter_is_range(other, columns))
				continue;
			other->implied = true;
			filter_set_range(first,
							 first->low > other->low ? first->low : other->low,
							 first->high < other->high ? first->high : other->high);
		}
	}
}

static const char *
filter_prepare_children(FilterNode *node, const ColumnSpec *columns,
						int ncolumns, FileEncoding encoding)
{
	for (int i = 0; i < node->nchildren; i++)
	{
		const char *why = filter_prepare(node->children[i], columns, ncolumns,
										 encoding);

		if (why != NULL)
			return why;
	}
	if (node->kind == FILTER_AND)
		filter_merge_ranges(node, columns);
	return node->kind == FILTER_NOT && node->nchildren != 1 ?
		"NOT needs one condition" : NULL;
}

/* Prepares a condition on one column, or on two. */
static const char *
filter_prepare_column(FilterNode *node, const ColumnSpec *columns,
					  int ncolumns, FileEncoding encoding)
{
	const ColumnSpec *spec;

	if (node->column < 0 || node->column >= ncolumns)
		return "no such column";
	spec = &columns[node->column];
	if (node->kind == FILTER_IS_NULL)
		return NULL;
	if (spec->type == COLUMN_OTHER)
		return "unsupported type";
	if (node->kind == FILTER_IS_TRUE)
		return spec->type == COLUMN_BOOL ? NULL : "type is not boolean";
	if (node->kind == FILTER_COMPARE_COLUMNS)
		return node->other_column < 0 || node->other_column >= ncolumns ||
			!filter_can_compare(spec->type, columns[node->other_column].type) ?
			"columns cannot be compared" : NULL;
	if (node->kind == FILTER_LIKE)
	{
		node->multibyte = encoding == FILE_ENCODING_UTF8;
		return spec->type != COLUMN_TEXT ? "LIKE of a type that is not text" :
			like_is_supported(node->values[0].text) ? NULL :
			"pattern ends in an escape";
	}
	if (node->kind == FILTER_IN)
		filter_prepare_list(node, spec);
	else if (column_type_is_integer(spec->type))
		filter_prepare_integer(node, column_scale(spec));
	return NULL;
}

const char *
filter_prepare(FilterNode *node, const ColumnSpec *columns, int ncolumns,
			   FileEncoding encoding)
{
	node->implied = false;
	switch (node->kind)
	{
		case FILTER_CONSTANT:
			return NULL;
		case FILTER_AND:
		case FILTER_OR:
		case FILTER_NOT:
			return filter_prepare_children(node, columns, ncolumns, encoding);
		default:
			return filter_prepare_column(node, columns, ncolumns, encoding);
	}
}
