/*
 * arithmetic.h
 *	  Columns, constants and + - * of them, exact in int64.
 *
 * An expression is a list of steps in postfix order:
 *
 *		price * (1 - discount)		COLUMN price, CONSTANT 1, COLUMN discount,
 *									SUBTRACT, MULTIPLY
 *
 * Each step's result has a scale (its integers count 10^-scale) and a range,
 * that of its SQL type: leaving it is an error in SQL and ARITHMETIC_OVERFLOW
 * here, as is leaving int64, where SQL's numeric would continue.
 */
#ifndef VECTOR_ARITHMETIC_H
#define VECTOR_ARITHMETIC_H

#include "core/allocator.h"
#include "core/batch.h"

#define ARITHMETIC_STEPS_MAX	32
#define ARITHMETIC_DEPTH_MAX	8

/* With a larger scale only zeros fit into int64 */
#define ARITHMETIC_SCALE_MAX	(2 * NUMERIC_DIGITS_MAX)

typedef enum ArithmeticOp
{
	ARITHMETIC_COLUMN,
	ARITHMETIC_CONSTANT,
	ARITHMETIC_ADD,
	ARITHMETIC_SUBTRACT,
	ARITHMETIC_MULTIPLY
} ArithmeticOp;

typedef struct ArithmeticStep
{
	ArithmeticOp op;
	ColumnType	type;			/* of the result: COLUMN_INT2, _INT4, _INT8 or
								 * _NUMERIC; of a column, its own integer
								 * type, which need not be one of these */
	int			column;			/* ARITHMETIC_COLUMN: index in the batch */
	int64_t		constant;		/* ARITHMETIC_CONSTANT */
	int			scale;			/* of the result; ARITHMETIC_CONSTANT: given,
								 * others: set by arithmetic_prepare */
} ArithmeticStep;

typedef struct Arithmetic
{
	int			nsteps;
	ArithmeticStep steps[ARITHMETIC_STEPS_MAX];
} Arithmetic;

/* The values of an expression. */
typedef struct ArithmeticResult
{
	const int64_t *values;		/* a column's own, or in the buffers */
	bool		is_listed;		/* has it one value for each row of the list,
								 * or one for each row of the batch? */
	RowBitmap	nulls;			/* of the batch's rows */
} ArithmeticResult;

/* Buffers for arithmetic_run. */
typedef struct ArithmeticBuffers
{
	int64_t		slots[ARITHMETIC_DEPTH_MAX][BATCH_ROWS];
} ArithmeticBuffers;

/*
 * Sets the scale of each step.  Returns NULL, or the reason why the expression
 * is not supported.  The last step's scale is the result's.
 */
extern const char *arithmetic_prepare(Arithmetic *arithmetic,
									  const ColumnSpec *columns, int ncolumns);

/*
 * Computes the expression for the n rows of a list, in any order.  Returns
 * false when one of them overflows, in an operation of which neither operand
 * is null.  Values of other rows, or of null ones, are arbitrary.
 */
extern bool arithmetic_run(const Arithmetic *arithmetic, const RowBatch *batch,
						   const uint16_t *rows, int n,
						   ArithmeticBuffers *buffers,
						   ArithmeticResult *result);

#endif							/* VECTOR_ARITHMETIC_H */
