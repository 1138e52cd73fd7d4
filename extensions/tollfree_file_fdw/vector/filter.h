/*
 * filter.h
 *	  Conditions on the columns of a batch, in SQL's three-valued logic.
 *
 * The caller builds a tree of FilterNodes in memory of its own, has it
 * prepared once (filter_prepare) and runs it over each batch (filter_run).
 * For an unresolved value the stored one is used: the caller resolves it,
 * stores it and runs the row's word again.
 */
#ifndef VECTOR_FILTER_H
#define VECTOR_FILTER_H

#include "core/batch.h"
#include "core/dialect.h"

typedef enum FilterKind
{
	FILTER_COMPARE,				/* column op values[0] */
	FILTER_COMPARE_COLUMNS,		/* column op other_column, both of one kind:
								 * integer, float, text, uuid */
	FILTER_IN,					/* column = any of values; unknown if it is
								 * none of them and null_in_list */
	FILTER_IS_NULL,				/* column IS NULL */
	FILTER_IS_TRUE,				/* the boolean column itself */
	FILTER_LIKE,				/* column LIKE values[0]; COLUMN_TEXT only */
	FILTER_CONSTANT,			/* constant */
	FILTER_AND,					/* of children, any number */
	FILTER_OR,
	FILTER_NOT					/* of children[0] */
} FilterKind;

typedef enum CompareOp
{
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE
} CompareOp;

typedef enum FilterTruth
{
	FILTER_FALSE,
	FILTER_TRUE,
	FILTER_UNKNOWN
} FilterTruth;

/* A constant; the member is that of the column's type. */
typedef struct FilterValue
{
	int64_t		integer;
	int			scale;			/* of integer, in decimal digits, 0..18; any
								 * scale may meet any column's */
	double		floating;
	TextRef text;
	Uuid		uuid;
} FilterValue;

/*
 * Text compares as bytes do: equality is that of every deterministic
 * collation, order that of C.  COLUMN_BPCHAR ignores trailing blanks.  Floats
 * order as in PostgreSQL: NaN equals NaN and is greater than all others.
 */
typedef struct FilterNode
{
	FilterKind	kind;
	CompareOp	op;
	int			column;			/* index in the batch */
	int			other_column;
	FilterValue *values;		/* changed by filter_prepare */
	int			nvalues;
	bool		null_in_list;
	uint32_t   *slots;			/* FILTER_IN: room for filter_slots(nvalues)
								 * numbers, which filter_prepare sets */
	int			nslots;			/* set by filter_prepare */
	FilterTruth constant;
	struct FilterNode **children;
	int			nchildren;

	/* Set by filter_prepare: an integer passes if low <= it <= high. */
	int64_t		low;
	int64_t		high;
	bool		negated;		/* or, if this is set, if not in that range */
	bool		implied;		/* implied by an earlier condition of the same
								 * AND */
	bool		multibyte;		/* LIKE: may _ match several bytes? */
} FilterNode;

/* Maximum number of slots for each value of a list. */
#define FILTER_SLOTS_MAX	16

/* The number of slots for a list of this many values; a power of two. */
extern int	filter_slots(int nvalues);

/*
 * Prepares the tree for columns of these specifications, whose texts are in
 * the database's encoding.  Returns NULL, or the reason why it is not
 * supported; the tree is then unusable.
 */
extern const char *filter_prepare(FilterNode *node, const ColumnSpec *columns,
								  int ncolumns, FileEncoding encoding);

/* Sets used[column] of the columns in the condition. */
extern void filter_columns(const FilterNode *node, bool *used);

/*
 * Sets words [first_word, last_word) of selected to the rows for which the
 * condition is true, of the batch's nrows; all of them: 0, bitmap_words(nrows).
 */
extern void filter_run(const FilterNode *node, const RowBatch *batch,
					   int first_word, int last_word, RowBitmap *selected);

#endif							/* VECTOR_FILTER_H */
