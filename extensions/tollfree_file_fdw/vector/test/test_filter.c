/*
 * test_filter.c
 *	  Random conditions on random rows, each compared with an evaluation that
 *	  takes one row at a time and one value of truth at a time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/index_builder.h"
#include "core/test/memory.h"
#include "core/test/table.h"
#include "vector/compare.h"
#include "vector/filter.h"
#include "vector/zones.h"

#define TREES			4000
#define ZONE_ROWS_MAX	5		/* few, so that zones rule something out */
#define NODES_MAX		64
#define VALUES_MAX		12
#define SLOTS_MAX		128		/* filter_slots(VALUES_MAX) */

typedef struct TestTree
{
	FilterNode	nodes[NODES_MAX];
	FilterNode *children[NODES_MAX][3];
	FilterValue values[NODES_MAX][VALUES_MAX];
	FilterValue originals[NODES_MAX][VALUES_MAX];	/* before filter_prepare */
	int			noriginals[NODES_MAX];
	uint32_t	slots[NODES_MAX][SLOTS_MAX];
	unsigned char bytes[NODES_MAX][VALUES_MAX][TEST_TEXT_MAX];
	int			nnodes;
} TestTree;

static const int pairs[][2] = {
	{TEST_INT4, TEST_INT4_TOO},
	{TEST_NUMERIC, TEST_NUMERIC_TOO},
	{TEST_INT4, TEST_NUMERIC},
	{TEST_FLOAT, TEST_FLOAT_TOO},
	{TEST_TEXT, TEST_TEXT_TOO},
	{TEST_BPCHAR, TEST_BPCHAR},
	{TEST_UUID, TEST_UUID}
};

/*------------------------------------------------------------------------
 * Making conditions
 *------------------------------------------------------------------------
 */

static void
make_value(TestRandom *random, FilterValue *value, unsigned char *bytes)
{
	static const int64_t extremes[] = {INT64_MAX, INT64_MIN, 999999999999999999};

	memset(value, 0, sizeof(*value));
	value->scale = (int) test_random_below(random, 6);
	value->integer = (int64_t) test_random_below(random, 9) - 4;
	for (int i = 0; i < value->scale; i++)
		value->integer *= test_random_below(random, 8) == 0 ? 3 : 10;
	if (test_random_below(random, 20) == 0)
	{
		value->integer = extremes[test_random_below(random, 3)];
		value->scale = (int) test_random_below(random, 19);
	}
	value->floating = ((double) test_random_below(random, 9) - 4) / 2;
	value->text.bytes = bytes;
	value->text.length = test_random_below(random, 5);
	for (uint32_t i = 0; i < value->text.length; i++)
		bytes[i] = (unsigned char) "ab %_"[test_random_below(random, 5)];
	value->uuid.bytes[test_random_below(random, 7)] = 1;
}

static FilterNode *make_node(TestTree *tree, TestRandom *random, int depth);

static void
make_children(TestTree *tree, TestRandom *random, int depth, FilterNode *node,
			  int number)
{
	node->nchildren = node->kind == FILTER_NOT ? 1 :
		(int) test_random_below(random, 3) + 1;
	node->children = tree->children[number];
	for (int i = 0; i < node->nchildren; i++)
		node->children[i] = make_node(tree, random, depth - 1);
}

static void
make_condition(TestTree *tree, TestRandom *random, FilterNode *node,
			   int number)
{
	unsigned	pair = test_random_below(random, sizeof(pairs) / sizeof(pairs[0]));

	node->op = (CompareOp) test_random_below(random, 6);
	node->column = pairs[pair][0];
	node->other_column = pairs[pair][1];
	if (test_random_below(random, 2) == 0)
		node->column = node->other_column;
	if (node->kind == FILTER_IS_TRUE)
		node->column = TEST_BOOL;
	if (node->kind == FILTER_LIKE)
		node->column = TEST_TEXT;
	node->null_in_list = test_random_below(random, 4) == 0;
	node->constant = (FilterTruth) test_random_below(random, 3);
	node->values = tree->values[number];
	node->slots = tree->slots[number];
	node->nvalues = node->kind == FILTER_IN ?
		(int) test_random_below(random, VALUES_MAX + 1) : 1;
	for (int i = 0; i < node->nvalues; i++)
		make_value(random, &node->values[i], tree->bytes[number][i]);
	memcpy(tree->originals[number], node->values, sizeof(tree->values[number]));
	tree->noriginals[number] = node->nvalues;
}

static FilterNode *
make_node(TestTree *tree, TestRandom *random, int depth)
{
	int			number = tree->nnodes++;
	FilterNode *node = &tree->nodes[number];

	memset(node, 0, sizeof(*node));
	node->kind = (FilterKind)
		test_random_below(random, depth > 0 ?
						  FILTER_NOT + 1 : FILTER_CONSTANT + 1);
	if (node->kind >= FILTER_AND)
		make_children(tree, random, depth, node, number);
	else
		make_condition(tree, random, node, number);
	return node;
}

/*------------------------------------------------------------------------
 * Evaluating them the slow way
 *------------------------------------------------------------------------
 */

static int
slow_sign(long double a, long double b)
{
	return (a > b) - (a < b);
}

static int
slow_bytes(TextRef a, TextRef b, bool trim)
{
	while (trim && a.length > 0 && a.bytes[a.length - 1] == ' ')
		a.length--;
	while (trim && b.length > 0 && b.bytes[b.length - 1] == ' ')
		b.length--;
	for (uint32_t i = 0; i < a.length && i < b.length; i++)
		if (a.bytes[i] != b.bytes[i])
			return a.bytes[i] < b.bytes[i] ? -1 : 1;
	return slow_sign(a.length, b.length);
}

/* Returns a number as integer and thousand-millionths, compared exactly. */
static int
slow_scaled(int64_t a, int a_scale, int64_t b, int b_scale)
{
	__int128	x = a;
	__int128	y = b;

	for (; a_scale < 18; a_scale++)
		x *= 10;
	for (; b_scale < 18; b_scale++)
		y *= 10;
	return (x > y) - (x < y);
}

static int
slow_scale(const ColumnSpec *spec)
{
	return spec->type == COLUMN_NUMERIC ? spec->scale : 0;
}

static int
slow_compare(const ColumnVector *vector, int row, const FilterValue *value)
{
	switch (vector->spec->type)
	{
		case COLUMN_FLOAT8:
			return slow_sign(vector->values.floats[row], value->floating);
		case COLUMN_TEXT:
		case COLUMN_BPCHAR:
			return slow_bytes(vector->values.texts[row], value->text,
							  vector->spec->type == COLUMN_BPCHAR);
		case COLUMN_UUID:
			return memcmp(vector->values.uuids[row].bytes, value->uuid.bytes, 16);
		default:
			return slow_scaled(vector->values.integers[row],
							   slow_scale(vector->spec), value->integer,
							   value->scale);
	}
}

/* Returns a column's value as a constant. */
static FilterValue
slow_value(const ColumnVector *vector, int row)
{
	FilterValue value = {.scale = slow_scale(vector->spec)};

	if (column_type_is_integer(vector->spec->type))
		value.integer = vector->values.integers[row];
	else if (column_type_is_float(vector->spec->type))
		value.floating = vector->values.floats[row];
	else if (column_type_is_text(vector->spec->type))
		value.text = vector->values.texts[row];
	else
		value.uuid = vector->values.uuids[row];
	return value;
}

static bool
slow_holds(CompareOp op, int order)
{
	return op == FILTER_EQ ? order == 0 : op == FILTER_NE ? order != 0 :
		op == FILTER_LT ? order < 0 : op == FILTER_LE ? order <= 0 :
		op == FILTER_GT ? order > 0 : order >= 0;
}

/* LIKE by its definition: every length of every % is tried. */
static bool
slow_like(const unsigned char *t, const unsigned char *t_end,
		  const unsigned char *p, const unsigned char *p_end)
{
	const unsigned char *next = t + 1;

	if (p == p_end)
		return t == t_end;
	while (next < t_end && (*next & 0xC0) == 0x80)
		next++;
	if (*p == '%')
		return slow_like(t, t_end, p + 1, p_end) ||
			(t < t_end && slow_like(next, t_end, p, p_end));
	if (t == t_end)
		return false;
	if (*p == '_')
		return slow_like(next, t_end, p + 1, p_end);
	return *t == *p && slow_like(t + 1, t_end, p + 1, p_end);
}

static FilterTruth
slow_truth(bool truth)
{
	return truth ? FILTER_TRUE : FILTER_FALSE;
}

static FilterTruth
slow_in(const FilterNode *node, const ColumnVector *vector, int row,
		const FilterValue *values, int nvalues)
{
	for (int i = 0; i < nvalues; i++)
		if (slow_compare(vector, row, &values[i]) == 0)
			return FILTER_TRUE;
	return node->null_in_list ? FILTER_UNKNOWN : FILTER_FALSE;
}

static FilterTruth slow_node(const TestTree *tree, const FilterNode *node,
							 const RowBatch *batch, int row);

static FilterTruth
slow_children(const TestTree *tree, const FilterNode *node,
			  const RowBatch *batch, int row)
{
	FilterTruth deciding = node->kind == FILTER_AND ? FILTER_FALSE : FILTER_TRUE;
	FilterTruth result = node->kind == FILTER_AND ? FILTER_TRUE : FILTER_FALSE;

	for (int i = 0; i < node->nchildren; i++)
	{
		FilterTruth truth = slow_node(tree, node->children[i], batch, row);

		if (node->kind == FILTER_NOT)
			return truth == FILTER_UNKNOWN ? truth : slow_truth(truth == FILTER_FALSE);
		if (truth == deciding)
			return deciding;
		if (truth == FILTER_UNKNOWN)
			result = FILTER_UNKNOWN;
	}
	return result;
}

static FilterTruth
slow_node(const TestTree *tree, const FilterNode *node, const RowBatch *batch,
		  int row)
{
	int			number = (int) (node - tree->nodes);
	const FilterValue *values = tree->originals[number];
	const ColumnVector *vector = &batch->columns[node->column];
	const ColumnVector *other = &batch->columns[node->other_column];
	FilterValue value;

	if (node->kind == FILTER_CONSTANT)
		return node->constant;
	if (node->kind >= FILTER_AND)
		return slow_children(tree, node, batch, row);
	if (node->kind == FILTER_IS_NULL)
		return slow_truth(bitmap_has(&vector->nulls, row));
	if (bitmap_has(&vector->nulls, row) ||
		(node->kind == FILTER_COMPARE_COLUMNS && bitmap_has(&other->nulls, row)))
		return FILTER_UNKNOWN;
	switch (node->kind)
	{
		case FILTER_COMPARE:
			return slow_truth(slow_holds(node->op, slow_compare(vector, row, values)));
		case FILTER_COMPARE_COLUMNS:
			value = slow_value(other, row);
			return slow_truth(slow_holds(node->op, slow_compare(vector, row, &value)));
		case FILTER_IN:
			return slow_in(node, vector, row, values, tree->noriginals[number]);
		case FILTER_LIKE:
			return slow_truth(slow_like(vector->values.texts[row].bytes,
										vector->values.texts[row].bytes +
										vector->values.texts[row].length,
										values[0].text.bytes,
										values[0].text.bytes + values[0].text.length));
		default:
			return slow_truth(vector->values.integers[row] != 0);
	}
}

/* Returns how many rows the filter judges differently. */
static int
count_differences(const TestTree *tree, const FilterNode *root,
				  const RowBatch *batch, const RowBitmap *selected)
{
	int			differences = 0;

	for (int row = 0; row < batch->nrows; row++)
		differences += bitmap_has(selected, row) !=
			(slow_node(tree, root, batch, row) == FILTER_TRUE);
	for (int row = batch->nrows; row < bitmap_words(batch->nrows) * 64; row++)
		differences += bitmap_has(selected, row);
	return differences;
}

static void
test_trees(TestTable *table)
{
	static TestTree tree;
	TestRandom	random = {1};
	int			trees = 0;
	int64_t		rows = 0;

	for (int i = 0; i < TREES; i++)
	{
		FilterNode *root;
		RowBitmap	selected;
		int			differences;

		tree.nnodes = 0;
		root = make_node(&tree, &random, 2);
		test_table_fill(table, &random, (int) test_random_below(&random, 200) + 1);
		if (filter_prepare(root, table->specs, TEST_COLUMNS,
						   FILE_ENCODING_UTF8) != NULL)
			continue;
		filter_run(root, &table->batch, 0, bitmap_words(table->batch.nrows),
				   &selected);
		differences = count_differences(&tree, root, &table->batch, &selected);
		if (differences != 0)
			TEST_EQUAL(differences, 0, "tree %d", i);
		trees++;
		rows += table->batch.nrows;
	}
	TEST_OK(trees > TREES * 9 / 10, "%d conditions on %lld rows", trees,
			(long long) rows);
}

/* An AND of two comparisons of one column, prepared again, as for a rescan. */
static int
range_differences(TestTable *table, CompareOp op, int64_t constant,
				  CompareOp other_op, int64_t other_constant)
{
	static TestTree tree;
	FilterNode *root = &tree.nodes[0];
	RowBitmap	selected;
	int			differences = 0;

	memset(&tree, 0, sizeof(tree));
	root->kind = FILTER_AND;
	root->nchildren = 2;
	root->children = tree.children[0];
	for (int i = 0; i < 2; i++)
	{
		FilterNode *node = root->children[i] = &tree.nodes[i + 1];

		node->kind = FILTER_COMPARE;
		node->op = i == 0 ? op : other_op;
		node->column = TEST_INT4;
		node->values = tree.values[i + 1];
		node->nvalues = 1;
		node->values[0].integer = i == 0 ? constant : other_constant;
		tree.originals[i + 1][0] = node->values[0];
	}
	for (int pass = 0; pass < 2; pass++)
	{
		filter_prepare(root, table->specs, TEST_COLUMNS, FILE_ENCODING_UTF8);
		filter_run(root, &table->batch, 0, 1, &selected);
		differences += count_differences(&tree, root, &table->batch, &selected);
	}
	return differences;
}

/* Ranges up to the ends of int64, and what two of them have in common. */
static void
test_ranges(TestTable *table)
{
	static const int64_t numbers[] = {
		INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX
	};
	const int	n = sizeof(numbers) / sizeof(numbers[0]);
	int			differences = 0;

	test_table_init(table);
	table->batch.nrows = n + 1;
	memcpy(table->integers[TEST_INT4], numbers, sizeof(numbers));
	bitmap_add(&table->vectors[TEST_INT4].nulls, n);
	for (int i = 0; i < n * n; i++)
	{
		for (int ops = 0; ops < 36; ops++)
			differences += range_differences(table, (CompareOp) (ops % 6),
											 numbers[i % n],
											 (CompareOp) (ops / 6),
											 numbers[i / n]);
	}
	TEST_EQUAL(differences, 0, "two ranges of integers");
}

/* Returns which values of truth the rows of the batch have. */
static ZoneTruths
slow_truths(const TestTree *tree, const FilterNode *root,
			const RowBatch *batch)
{
	ZoneTruths	truths = {false, false, false};

	for (int row = 0; row < batch->nrows; row++)
	{
		FilterTruth truth = slow_node(tree, root, batch, row);

		truths.may_be_true |= truth == FILTER_TRUE;
		truths.may_be_false |= truth == FILTER_FALSE;
		truths.may_be_unknown |= truth == FILTER_UNKNOWN;
	}
	return truths;
}

/* Returns what is said of a condition by the zones of the batch. */
static ZoneTruths
truths_by_zones(const TestTable *table, const FilterNode *root)
{
	TestMemory	memory;
	const Allocator allocator = test_memory_allocator(&memory);
	const Zone *zones[TEST_COLUMNS];
	IndexBuilder builder;
	ZoneTruths	truths;

	index_builder_open(&builder, &allocator, table->specs, TEST_COLUMNS);
	index_builder_add(&builder, 0, 0, &table->batch);
	for (int i = 0; i < TEST_COLUMNS; i++)
		zones[i] = &((const IndexBlock *) builder.blocks)->zones[i];
	truths = zones_truths(root, table->specs, zones,
						  (uint32_t) table->batch.nrows);
	index_builder_close(&builder);
	return truths;
}

/* No value of truth that a row has is ruled out by what is known of a block. */
static void
test_zones(TestTable *table)
{
	static TestTree tree;
	TestRandom	random = {2};
	int			ruled_out = 0;
	int			never = 0;

	for (int i = 0; i < 10 * TREES; i++)
	{
		FilterNode *root;
		ZoneTruths	has;
		ZoneTruths	said;

		tree.nnodes = 0;
		root = make_node(&tree, &random, 2);
		test_table_fill(table, &random,
						(int) test_random_below(&random, ZONE_ROWS_MAX) + 1);
		if (filter_prepare(root, table->specs, TEST_COLUMNS,
						   FILE_ENCODING_UTF8) != NULL)
			continue;
		has = slow_truths(&tree, root, &table->batch);
		said = truths_by_zones(table, root);
		if ((has.may_be_true && !said.may_be_true) ||
			(has.may_be_false && !said.may_be_false) ||
			(has.may_be_unknown && !said.may_be_unknown))
			TEST_OK(false, "zones of tree %d", i);
		never += !has.may_be_true;
		ruled_out += !said.may_be_true;
	}
	TEST_OK(ruled_out > never / 4, "%d of %d blocks without such a row ruled out",
			ruled_out, never);
}

/* Makes a text of bytes that are few, most of them beyond what a key has. */
static TextRef
make_long_text(TestRandom *random, unsigned char *bytes)
{
	for (int i = 0; i < TEST_TEXT_MAX; i++)
		bytes[i] = (unsigned char) " a\1\377"[test_random_below(random, 4)];
	if (test_random_below(random, 4) > 0)
		memcpy(bytes, "a a a a ", 8);
	return (TextRef)
	{
		bytes, test_random_below(random, TEST_TEXT_MAX + 1)
	};
}

/* Do the zones of a row rule out what a comparison of its text comes to? */
static bool
is_ruled_out(TestTable *table, int column, TextRef constant, CompareOp op)
{
	FilterValue value = {.text = constant};
	FilterNode	node = {
		.kind = FILTER_COMPARE,.op = op,.column = column,.values = &value,
		.nvalues = 1
	};
	int			order = compare_texts(table->texts[column][0], constant,
									  column == TEST_BPCHAR);
	ZoneTruths	said;

	filter_prepare(&node, table->specs, TEST_COLUMNS, FILE_ENCODING_UTF8);
	said = truths_by_zones(table, &node);
	return compare_holds(op, order) ? !said.may_be_true : !said.may_be_false;
}

/* Keys are in the order of the values, and nothing is ruled out by equal ones. */
static void
test_keys(TestTable *table)
{
	static const double floats[] = {
		-INFINITY, -1e300, -2, -1, -1e-310, 0, 1e-310, 1, 2, 1e300, INFINITY, NAN
	};
	TestRandom	random = {5};
	unsigned char bytes[2][TEST_TEXT_MAX];
	int			wrong = 0;

	for (int i = 1; i < (int) (sizeof(floats) / sizeof(floats[0])); i++)
		wrong += zone_float_key(floats[i - 1]) >= zone_float_key(floats[i]);
	TEST_EQUAL(wrong, 0, "keys of floats ascend");
	TEST_EQUAL(zone_float_key(-0.0), zone_float_key(0), "-0 is 0");
	for (int i = 0; i < 10 * TREES; i++)
	{
		int			column = i % 2 == 0 ? TEST_TEXT : TEST_BPCHAR;
		TextRef		constant = make_long_text(&random, bytes[0]);

		test_table_fill(table, &random, 1);
		bitmap_clear(&table->vectors[column].nulls);
		table->texts[column][0] = make_long_text(&random, bytes[1]);
		for (CompareOp op = FILTER_EQ; op <= FILTER_GE; op++)
			wrong += is_ruled_out(table, column, constant, op);
	}
	TEST_EQUAL(wrong, 0, "texts of equal keys may have any order");
}

static void
test_unsupported(void)
{
	const ColumnSpec columns[] = {{.type = COLUMN_OTHER}, {.type = COLUMN_TEXT}};
	FilterValue value = {.text = {(const unsigned char *) "a\\", 2}};
	FilterNode	node = {.kind = FILTER_COMPARE,.values = &value,.nvalues = 1};

	TEST_OK(filter_prepare(&node, columns, 2, FILE_ENCODING_UTF8) != NULL,
			"a type that is not fast is refused");
	node.kind = FILTER_IS_NULL;
	TEST_OK(filter_prepare(&node, columns, 2, FILE_ENCODING_UTF8) == NULL,
			"but may be tested for null");
	node.kind = FILTER_LIKE;
	node.column = 1;
	TEST_OK(filter_prepare(&node, columns, 2, FILE_ENCODING_UTF8) != NULL,
			"a pattern that ends in its escape is refused");
	node.column = 2;
	TEST_OK(filter_prepare(&node, columns, 2, FILE_ENCODING_UTF8) != NULL,
			"a column that is not there is refused");
}

int
main(void)
{
	TestTable  *table = malloc(sizeof(TestTable));

	test_unsupported();
	test_trees(table);
	test_ranges(table);
	test_zones(table);
	test_keys(table);
	free(table);
	return test_done();
}
