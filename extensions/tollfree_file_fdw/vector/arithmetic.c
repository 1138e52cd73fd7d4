/*
 * arithmetic.c
 *	  Columns, constants and + - * of them, exact in int64.
 *
 * Each step runs over the whole batch or, if few rows are needed, over a list
 * of these, into which columns are gathered.  A loop only detects that some
 * row has overflowed.  Then each row is computed again from the columns, to
 * see whether it counts, since a step's result replaces its operand.
 */
#include "core/digits.h"
#include "core/inline.h"
#include "vector/arithmetic.h"

/* Fewer rows than this share of a batch are computed as a list */
#define FEW_ROWS	4

/* A step's result on the stack: one value for each row, or a constant. */
typedef struct Operand
{
	const int64_t *values;		/* NULL for a constant */
	int64_t		constant;
	int			scale;
} Operand;

/*------------------------------------------------------------------------
 * Preparing
 *------------------------------------------------------------------------
 */

static const char *
arithmetic_prepare_column(ArithmeticStep *step, const ColumnSpec *columns,
						  int ncolumns)
{
	if (step->column < 0 || step->column >= ncolumns ||
		!column_type_is_integer(columns[step->column].type))
		return "not an integer column";
	step->scale = columns[step->column].type == COLUMN_NUMERIC ?
		columns[step->column].scale : 0;
	return NULL;
}

static const char *
arithmetic_prepare_operation(ArithmeticStep *step, int left, int right)
{
	int			distance = left > right ? left - right : right - left;

	if (step->op == ARITHMETIC_MULTIPLY)
		step->scale = left + right;
	else if (distance > NUMERIC_DIGITS_MAX)
		return "scales too far apart";
	else
		step->scale = left > right ? left : right;
	if (step->scale > ARITHMETIC_SCALE_MAX)
		return "scale too large";
	if (step->type != COLUMN_INT2 && step->type != COLUMN_INT4 &&
		step->type != COLUMN_INT8 && step->type != COLUMN_NUMERIC)
		return "not a numeric type";
	return NULL;
}

const char *
arithmetic_prepare(Arithmetic *arithmetic, const ColumnSpec *columns,
				   int ncolumns)
{
	int			scales[ARITHMETIC_DEPTH_MAX];
	int			depth = 0;

	for (int i = 0; i < arithmetic->nsteps; i++)
	{
		ArithmeticStep *step = &arithmetic->steps[i];
		const char *why = NULL;

		if (step->op == ARITHMETIC_COLUMN)
			why = arithmetic_prepare_column(step, columns, ncolumns);
		else if (step->op != ARITHMETIC_CONSTANT)
		{
			if (depth < 2)
				return "malformed expression";
			depth -= 2;
			why = arithmetic_prepare_operation(step, scales[depth],
											   scales[depth + 1]);
		}
		if (why != NULL)
			return why;
		if (depth == ARITHMETIC_DEPTH_MAX)
			return "expression too deep";
		scales[depth++] = step->scale;
	}
	return depth == 1 ? NULL : "malformed expression";
}

/*------------------------------------------------------------------------
 * Running
 *------------------------------------------------------------------------
 */

/*
 * Does the value leave the range of the type?  int64 is checked by the
 * operation itself.
 */
static inline bool
arithmetic_is_outside(int64_t value, ColumnType type)
{
	if (type == COLUMN_INT4)
		return value != (int32_t) value;
	return type == COLUMN_INT2 && value != (int16_t) value;
}

/*
 * One operation, with the factors that bring each operand to the common scale.
 */
typedef struct Operation
{
	ArithmeticOp op;
	ColumnType	type;
	Operand		left;
	Operand		right;
	int64_t		left_factor;
	int64_t		right_factor;
} Operation;

/* Computes one row's value; returns whether it overflows. */
static ALWAYS_INLINE
bool
arithmetic_compute(ArithmeticOp op, const Operation *operation, int row,
				   int64_t *result)
{
	int64_t		left = operation->left.values == NULL ?
		operation->left.constant : operation->left.values[row];
	int64_t		right = operation->right.values == NULL ?
		operation->right.constant : operation->right.values[row];
	bool		overflow = false;

	if (op == ARITHMETIC_MULTIPLY)
		overflow = __builtin_mul_overflow(left, right, result);
	else
	{
		overflow |= __builtin_mul_overflow(left, operation->left_factor,
										   &left);
		overflow |= __builtin_mul_overflow(right, operation->right_factor,
										   &right);
		if (op == ARITHMETIC_ADD)
			overflow |= __builtin_add_overflow(left, right, result);
		else
			overflow |= __builtin_sub_overflow(left, right, result);
	}
	return overflow || arithmetic_is_outside(*result, operation->type);
}

/* Computes all rows; returns whether any of them overflows. */
static ALWAYS_INLINE
bool
arithmetic_compute_rows(ArithmeticOp op, const Operation *operation,
						int nrows, int64_t *results)
{
	const Operation copy = *operation;
	bool		overflow = false;

	for (int row = 0; row < nrows; row++)
	{
		int64_t		result;

		overflow |= arithmetic_compute(op, &copy, row, &result);
		results[row] = result;
	}
	return overflow;
}

/*
 * Computes all rows of an operation whose operands have one scale, in int64's
 * range.
 */
static ALWAYS_INLINE
bool
arithmetic_compute_plain(ArithmeticOp op, const Operation *operation,
						 bool left_is_constant, bool right_is_constant,
						 int n, int64_t *results)
{
	const int64_t *lefts = operation->left.values;
	const int64_t *rights = operation->right.values;
	const int64_t left = operation->left.constant;
	const int64_t right = operation->right.constant;
	bool		overflow = false;

	for (int i = 0; i < n; i++)
	{
		int64_t		a = left_is_constant ? left : lefts[i];
		int64_t		b = right_is_constant ? right : rights[i];

		if (op == ARITHMETIC_MULTIPLY)
			overflow |= __builtin_mul_overflow(a, b, &results[i]);
		else if (op == ARITHMETIC_ADD)
			overflow |= __builtin_add_overflow(a, b, &results[i]);
		else
			overflow |= __builtin_sub_overflow(a, b, &results[i]);
	}
	return overflow;
}

/* Chooses the loop for an operation, with special ones for common cases. */
static ALWAYS_INLINE
bool
arithmetic_compute_op(ArithmeticOp op, const Operation *operation, int n,
					  int64_t *results)
{
	const bool	has_left = operation->left.values != NULL;
	const bool	has_right = operation->right.values != NULL;

	if (operation->left_factor != 1 || operation->right_factor != 1 ||
		operation->type == COLUMN_INT2 || operation->type == COLUMN_INT4)
		return arithmetic_compute_rows(op, operation, n, results);
	if (has_left && has_right)
		return arithmetic_compute_plain(op, operation, false, false, n,
										results);
	if (has_left)
		return arithmetic_compute_plain(op, operation, false, true, n, results);
	if (has_right)
		return arithmetic_compute_plain(op, operation, true, false, n, results);
	return arithmetic_compute_rows(op, operation, n, results);
}

static bool
arithmetic_compute_all(const Operation *operation, int n, int64_t *results)
{
	switch (operation->op)
	{
		case ARITHMETIC_ADD:
			return arithmetic_compute_op(ARITHMETIC_ADD, operation, n, results);
		case ARITHMETIC_SUBTRACT:
			return arithmetic_compute_op(ARITHMETIC_SUBTRACT, operation, n,
										 results);
		default:
			return arithmetic_compute_op(ARITHMETIC_MULTIPLY, operation, n,
										 results);
	}
}

/* Brings a constant to the scale of the operation, if it does not overflow. */
static void
arithmetic_align_constant(Operand *operand, int64_t *factor)
{
	int64_t		aligned;

	if (operand->values != NULL ||
		__builtin_mul_overflow(operand->constant, *factor, &aligned))
		return;
	operand->constant = aligned;
	*factor = 1;
}

static Operation
arithmetic_operation(const ArithmeticStep *step, const Operand *operands)
{
	int			scale = operands[0].scale > operands[1].scale ?
		operands[0].scale : operands[1].scale;
	bool		aligns = step->op != ARITHMETIC_MULTIPLY;

	Operation	operation = {
		.op = step->op,
		.type = step->type,
		.left = operands[0],
		.right = operands[1],
		.left_factor = aligns ? digits_power(scale - operands[0].scale) : 1,
		.right_factor = aligns ? digits_power(scale - operands[1].scale) : 1
	};

	arithmetic_align_constant(&operation.left, &operation.left_factor);
	arithmetic_align_constant(&operation.right, &operation.right_factor);
	return operation;
}

/*
 * Does a row overflow?  SQL evaluates both operands before it checks for
 * nulls: (a + b) * c may overflow even if c is null.
 */
static bool
arithmetic_row_overflows(const Arithmetic *arithmetic, const RowBatch *batch,
						 int row)
{
	Operand		stack[ARITHMETIC_DEPTH_MAX];
	bool		nulls[ARITHMETIC_DEPTH_MAX];
	int			depth = 0;

	for (int i = 0; i < arithmetic->nsteps; i++)
	{
		const ArithmeticStep *step = &arithmetic->steps[i];
		Operand		operand = {.constant = step->constant,.scale = step->scale};
		bool		is_null = false;

		if (step->op == ARITHMETIC_COLUMN)
		{
			const ColumnVector *vector = &batch->columns[step->column];

			operand.constant = vector->values.integers[row];
			is_null = bitmap_has(&vector->nulls, row);
		}
		else if (step->op != ARITHMETIC_CONSTANT)
		{
			Operation	operation;

			depth -= 2;
			operation = arithmetic_operation(step, &stack[depth]);
			is_null = nulls[depth] || nulls[depth + 1];
			if (arithmetic_compute(step->op, &operation, row,
								   &operand.constant) && !is_null)
				return true;
		}
		nulls[depth] = is_null;
		stack[depth++] = operand;
	}
	return false;
}

/* Does a row of the list overflow? */
static bool
arithmetic_overflow_counts(const Arithmetic *arithmetic, const RowBatch *batch,
						   const uint16_t *rows, int n)
{
	for (int i = 0; i < n; i++)
		if (arithmetic_row_overflows(arithmetic, batch, rows[i]))
			return true;
	return false;
}

static void
arithmetic_add_nulls(const Arithmetic *arithmetic, const RowBatch *batch,
					 RowBitmap *nulls)
{
	bitmap_clear(nulls);
	for (int i = 0; i < arithmetic->nsteps; i++)
		if (arithmetic->steps[i].op == ARITHMETIC_COLUMN)
			for (int word = 0; word < BATCH_WORDS; word++)
				nulls->words[word] |=
					batch->columns[arithmetic->steps[i].column].nulls.words[word];
}

/* Expands a constant result to one value for each row. */
static const int64_t *
arithmetic_spread(const Operand *operand, int n, int64_t *results)
{
	if (operand->values != NULL)
		return operand->values;
	for (int i = 0; i < n; i++)
		results[i] = operand->constant;
	return results;
}

/* Returns the values of a column, or in the slot those of a list of rows. */
static const int64_t *
arithmetic_column(const ColumnVector *vector, const uint16_t *rows, int n,
				  int64_t *slot)
{
	if (rows == NULL)
		return vector->values.integers;
	for (int i = 0; i < n; i++)
		slot[i] = vector->values.integers[rows[i]];
	return slot;
}

bool
arithmetic_run(const Arithmetic *arithmetic, const RowBatch *batch,
			   const uint16_t *rows, int n, ArithmeticBuffers *buffers,
			   ArithmeticResult *result)
{
	const bool	is_listed = n < batch->nrows / FEW_ROWS;
	const uint16_t *list = is_listed ? rows : NULL;
	const int	nvalues = is_listed ? n : batch->nrows;
	Operand		stack[ARITHMETIC_DEPTH_MAX];
	int			depth = 0;
	bool		overflow = false;

	for (int i = 0; i < arithmetic->nsteps; i++)
	{
		const ArithmeticStep *step = &arithmetic->steps[i];
		Operand		operand = {.scale = step->scale};

		if (step->op == ARITHMETIC_COLUMN)
			operand.values = arithmetic_column(&batch->columns[step->column],
											   list, nvalues,
											   buffers->slots[depth]);
		else if (step->op == ARITHMETIC_CONSTANT)
			operand.constant = step->constant;
		else
		{
			Operation	operation;

			depth -= 2;
			operation = arithmetic_operation(step, &stack[depth]);
			operand.values = buffers->slots[depth];
			overflow |= arithmetic_compute_all(&operation, nvalues,
											   buffers->slots[depth]);
		}
		stack[depth++] = operand;
	}
	if (overflow && arithmetic_overflow_counts(arithmetic, batch, rows, n))
		return false;
	arithmetic_add_nulls(arithmetic, batch, &result->nulls);
	result->values = arithmetic_spread(&stack[0], nvalues, buffers->slots[0]);
	result->is_listed = is_listed;
	return true;
}
