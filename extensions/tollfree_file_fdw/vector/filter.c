/*
 * filter.c
 *	  Conditions on the columns of a batch, in SQL's three-valued logic.
 *
 * Each node gives two sets of rows, those for which it is true and those for
 * which it is unknown; AND, OR and NOT are then operations on whole words.
 * Comparisons have been simplified by filter_prepare.c.
 */
#include "core/inline.h"
#include "vector/compare.h"
#include "vector/filter.h"
#include "vector/in_list.h"
#include "vector/like.h"

/* Rows for which a condition is true, and rows for which it is unknown. */
typedef struct FilterResult
{
	RowBitmap	is_true;
	RowBitmap	is_unknown;
} FilterResult;

/*
 * The words of the bitmaps that are computed: [first, last).  Words in which
 * an AND has left no row may get any value.
 */
typedef struct FilterWords
{
	const RowBatch *batch;
	int			first;
	int			last;
	const RowBitmap *left;		/* NULL: all rows */
} FilterWords;

/*------------------------------------------------------------------------
 * Running: one condition on one row, made into words
 *------------------------------------------------------------------------
 */

/* Is the condition true for a row whose values are not null? */
typedef bool (*FilterRow) (const FilterNode *node, const RowBatch *batch,
						   int row);

static ALWAYS_INLINE
void
filter_rows(const FilterNode *node, const FilterWords *words,
			RowBitmap *is_true, FilterRow is_true_of)
{
	for (int word = words->first; word < words->last; word++)
	{
		int			left = words->batch->nrows - word * 64;
		int			nrows = left < 64 ? left : 64;
		uint64_t	bits = 0;

		if (words->left != NULL && words->left->words[word] == 0)
			nrows = 0;
		for (int bit = 0; bit < nrows; bit++)
			bits |= (uint64_t) is_true_of(node, words->batch,
										  word * 64 + bit) << bit;
		is_true->words[word] = bits;
	}
}

/*
 * Returns which of 64 integers are outside of a range that begins at low.  One
 * comparison tests both ends: a value below low wraps around.  Two independent
 * halves each begin with their last row.
 */
static inline uint64_t
filter_outside(const int64_t *values, uint64_t low, uint64_t span)
{
	uint64_t	first = 0;
	uint64_t	second = 0;

	for (int bit = 31; bit >= 0; bit--)
	{
		first += first + (span < (uint64_t) values[bit] - low);
		second += second + (span < (uint64_t) values[bit + 32] - low);
	}
	return first | second << 32;
}

/*
 * Sets the rows whose integer is in the range.  A vector has room for whole
 * words; bits after the last row may have any value.
 */
static void
filter_rows_in_range(const FilterNode *node, const FilterWords *words,
					 RowBitmap *is_true)
{
	const int64_t *values = words->batch->columns[node->column].values.integers;
	const uint64_t low = (uint64_t) node->low;
	const uint64_t span = (uint64_t) node->high - low;
	const uint64_t flip = node->negated ? 0 : ~(uint64_t) 0;

	for (int word = words->first; word < words->last; word++)
	{
		is_true->words[word] = 0;
		if (words->left == NULL || words->left->words[word] != 0)
			is_true->words[word] = flip ^
				filter_outside(values + word * 64, low, span);
	}
}

static inline bool
filter_is_true_value(const FilterNode *node, const RowBatch *batch, int row)
{
	return batch->columns[node->column].values.integers[row] != 0;
}

static inline bool
filter_is_like(const FilterNode *node, const RowBatch *batch, int row)
{
	return like_matches(batch->columns[node->column].values.texts[row],
						node->values[0].text, node->multibyte);
}

/* Returns how a row's value compares with a constant. */
static inline int
filter_compare_constant(const ColumnVector *vector, int row,
						const FilterValue *value)
{
	ColumnType	type = vector->spec->type;

	if (column_type_is_float(type))
		return compare_floats(vector->values.floats[row], value->floating);
	if (column_type_is_text(type))
		return compare_texts(vector->values.texts[row], value->text,
							 type == COLUMN_BPCHAR);
	return memcmp(&vector->values.uuids[row], &value->uuid, sizeof(Uuid));
}

/* Is it a comparison of texts for equality? */
static inline bool
filter_is_text_equality(const FilterNode *node, ColumnType type)
{
	return column_type_is_text(type) &&
		(node->op == FILTER_EQ || node->op == FILTER_NE);
}

static inline bool
filter_is_related(const FilterNode *node, const RowBatch *batch, int row)
{
	const ColumnVector *vector = &batch->columns[node->column];
	const ColumnType type = vector->spec->type;

	if (filter_is_text_equality(node, type))
		return compare_equal_texts(vector->values.texts[row],
								   node->values[0].text,
								   type == COLUMN_BPCHAR) ==
			(node->op == FILTER_EQ);
	return compare_holds(node->op,
						 filter_compare_constant(&batch->columns[node->column],
												 row, &node->values[0]));
}

static inline bool
filter_is_in_list(const FilterNode *node, const RowBatch *batch, int row)
{
	return in_list_has(node, &batch->columns[node->column], row);
}

static inline int
filter_compare_columns(const ColumnVector *a, const ColumnVector *b, int row)
{
	ColumnType	type = a->spec->type;

	if (column_type_is_integer(type))
		return compare_scaled(a->values.integers[row], column_scale(a->spec),
							  b->values.integers[row], column_scale(b->spec));
	if (column_type_is_float(type))
		return compare_floats(a->values.floats[row], b->values.floats[row]);
	if (column_type_is_text(type))
		return compare_texts(a->values.texts[row], b->values.texts[row],
							 type == COLUMN_BPCHAR);
	return memcmp(&a->values.uuids[row], &b->values.uuids[row], sizeof(Uuid));
}

static inline bool
filter_are_related(const FilterNode *node, const RowBatch *batch, int row)
{
	return compare_holds(node->op,
						 filter_compare_columns(&batch->columns[node->column],
												&batch->columns[node->other_column],
												row));
}

/*------------------------------------------------------------------------
 * Running: conditions on words
 *------------------------------------------------------------------------
 */

/* Moves the rows with a null from is_true to is_unknown. */
static void
filter_set_unknown(const FilterNode *node, const FilterWords *words,
				   FilterResult *result)
{
	const ColumnVector *columns = words->batch->columns;

	for (int i = words->first; i < words->last; i++)
	{
		uint64_t	nulls = columns[node->column].nulls.words[i];

		if (node->kind == FILTER_COMPARE_COLUMNS)
			nulls |= columns[node->other_column].nulls.words[i];
		result->is_true.words[i] &= ~nulls;
		result->is_unknown.words[i] = nulls;
		if (node->kind == FILTER_IN && node->null_in_list)
			result->is_unknown.words[i] = ~result->is_true.words[i];
	}
}

/* A condition on columns, as if nothing were null. */
static void
filter_run_values(const FilterNode *node, const FilterWords *words,
				  RowBitmap *is_true)
{
	ColumnType	type = words->batch->columns[node->column].spec->type;

	switch (node->kind)
	{
		case FILTER_COMPARE:
			if (column_type_is_integer(type))
				filter_rows_in_range(node, words, is_true);
			else
				filter_rows(node, words, is_true, filter_is_related);
			break;
		case FILTER_COMPARE_COLUMNS:
			filter_rows(node, words, is_true, filter_are_related);
			break;
		case FILTER_IN:
			filter_rows(node, words, is_true, filter_is_in_list);
			break;
		case FILTER_LIKE:
			filter_rows(node, words, is_true, filter_is_like);
			break;
		default:
			filter_rows(node, words, is_true, filter_is_true_value);
			break;
	}
}

static void
filter_run_constant(FilterTruth constant, const FilterWords *words,
					FilterResult *result)
{
	for (int i = words->first; i < words->last; i++)
	{
		result->is_true.words[i] = constant == FILTER_TRUE ? ~(uint64_t) 0 : 0;
		result->is_unknown.words[i] =
			constant == FILTER_UNKNOWN ? ~(uint64_t) 0 : 0;
	}
}

/* AND: unknown unless one is false.  OR: unknown unless one is true. */
static void
filter_combine(FilterKind kind, const FilterWords *words,
			   FilterResult *result, const FilterResult *other)
{
	for (int i = words->first; i < words->last; i++)
	{
		uint64_t	t1 = result->is_true.words[i];
		uint64_t	u1 = result->is_unknown.words[i];
		uint64_t	t2 = other->is_true.words[i];
		uint64_t	u2 = other->is_unknown.words[i];

		if (kind == FILTER_AND)
		{
			result->is_true.words[i] = t1 & t2;
			result->is_unknown.words[i] = (t1 | u1) & (t2 | u2) & (u1 | u2);
		}
		else
		{
			result->is_true.words[i] = t1 | t2;
			result->is_unknown.words[i] = (u1 | u2) & ~(t1 | t2);
		}
	}
}

static void filter_run_node(const FilterNode *node, const FilterWords *words,
							FilterResult *result);

static void
filter_run_children(const FilterNode *node, const FilterWords *words,
					FilterResult *result)
{
	FilterWords child_words = *words;
	RowBitmap	left;

	filter_run_constant(node->kind == FILTER_AND ? FILTER_TRUE : FILTER_FALSE,
						words, result);
	for (int i = 0; i < node->nchildren; i++)
	{
		FilterResult child;

		if (node->children[i]->implied)
			continue;
		filter_run_node(node->children[i], &child_words, &child);
		filter_combine(node->kind, words, result, &child);
		if (node->kind != FILTER_AND)
			continue;
		for (int word = words->first; word < words->last; word++)
			left.words[word] = result->is_true.words[word] |
				result->is_unknown.words[word];
		child_words.left = &left;
	}
}

static void
filter_run_node(const FilterNode *node, const FilterWords *words,
				FilterResult *result)
{
	switch (node->kind)
	{
		case FILTER_CONSTANT:
			filter_run_constant(node->constant, words, result);
			break;
		case FILTER_AND:
		case FILTER_OR:
			filter_run_children(node, words, result);
			break;
		case FILTER_NOT:
			filter_run_node(node->children[0], words, result);
			for (int i = words->first; i < words->last; i++)
				result->is_true.words[i] = ~(result->is_true.words[i] |
											 result->is_unknown.words[i]);
			break;
		case FILTER_IS_NULL:
			filter_run_constant(FILTER_FALSE, words, result);
			for (int i = words->first; i < words->last; i++)
				result->is_true.words[i] =
					words->batch->columns[node->column].nulls.words[i];
			break;
		default:
			filter_run_values(node, words, &result->is_true);
			filter_set_unknown(node, words, result);
			break;
	}
}

void
filter_run(const FilterNode *node, const RowBatch *batch, int first_word,
		   int last_word, RowBitmap *selected)
{
	FilterWords words = {batch, first_word, last_word, NULL};
	FilterResult result;
	RowBitmap	all;

	filter_run_node(node, &words, &result);
	bitmap_fill(&all, batch->nrows);
	for (int i = first_word; i < last_word; i++)
		selected->words[i] = result.is_true.words[i] & all.words[i];
}

/*------------------------------------------------------------------------
 * What a condition needs
 *------------------------------------------------------------------------
 */

void
filter_columns(const FilterNode *node, bool *used)
{
	switch (node->kind)
	{
		case FILTER_COMPARE_COLUMNS:
			used[node->other_column] = true;
			used[node->column] = true;
			break;
		case FILTER_COMPARE:
		case FILTER_IN:
		case FILTER_IS_NULL:
		case FILTER_IS_TRUE:
		case FILTER_LIKE:
			used[node->column] = true;
			break;
		case FILTER_CONSTANT:
			break;
		case FILTER_AND:
		case FILTER_OR:
		case FILTER_NOT:
			for (int i = 0; i < node->nchildren; i++)
				filter_columns(node->children[i], used);
			break;
	}
}
