/*
 * aggregate.c
 *	  count, sum, avg, min and max of the rows of batches, plain or grouped.
 *
 * The selected rows of a batch become a list, once; each row in it gets its
 * group's number.  If there are few groups the list is sorted by group, and
 * by file order within a group.  Then each aggregate loops over the list, and
 * keeps a group's state in registers while its rows follow each other.
 */
#include <math.h>

#include "core/inline.h"
#include "vector/aggregate.h"
#include "vector/compare.h"
#include "vector/groups.h"

/* Up to this many groups, rows are sorted by group */
#define SORTED_GROUPS_MAX	256

struct Aggregation
{
	AggregateOptions options;	/* has the allocator that all others point to */
	Groups		groups;
	AggregateState *states;		/* nspecs for each group, group 0 first */
	size_t		states_max;		/* capacity, in groups */
	ArithmeticBuffers buffers;
	uint16_t	selected[BATCH_ROWS];	/* in the order of the file */
	uint32_t	found[BATCH_ROWS];	/* their groups */
	uint16_t	sorted[BATCH_ROWS];
	uint32_t	sorted_numbers[BATCH_ROWS];
	const uint16_t *rows;		/* one of these lists */
	const uint32_t *numbers;
	uint16_t	filtered_rows[BATCH_ROWS];	/* those that pass a FILTER */
	uint32_t	filtered_numbers[BATCH_ROWS];
	uint16_t	present[BATCH_ROWS];	/* places of values that are not null */
	uint32_t	present_numbers[BATCH_ROWS];
	uint16_t	identity[BATCH_ROWS];	/* 0, 1, 2, ... */
};

/* The input of one aggregate from a batch. */
typedef struct AggregateInput
{
	const uint16_t *rows;
	const uint16_t *places;		/* indexes of the rows' values */
	const uint32_t *numbers;	/* of their groups */
	int			n;
	const RowBitmap *nulls;		/* rows without a value; NULL: none */
	const ColumnVector *vector; /* of aggregates of a column */
	const int64_t *values;		/* of aggregates of an expression */
	AggregateState *states;		/* of group 0 */
	size_t		stride;			/* states from one group to the next */
	Arena	   *arena;
} AggregateInput;

/*------------------------------------------------------------------------
 * Opening and closing
 *------------------------------------------------------------------------
 */

static bool
aggregate_takes_expression(AggregateKind kind)
{
	return kind == AGGREGATE_SUM || kind == AGGREGATE_MIN ||
		kind == AGGREGATE_MAX;
}

/* Is the column of a type that the aggregate takes? */
static bool
aggregate_takes_column(AggregateKind kind, ColumnType type)
{
	switch (kind)
	{
		case AGGREGATE_COUNT:
			return true;
		case AGGREGATE_SUM_FLOAT4:
			return type == COLUMN_FLOAT4;
		case AGGREGATE_SUM_FLOAT8:
			return type == COLUMN_FLOAT8;
		case AGGREGATE_MOMENTS:
		case AGGREGATE_MIN_FLOAT:
		case AGGREGATE_MAX_FLOAT:
			return column_type_is_float(type);
		case AGGREGATE_MIN_TEXT:
		case AGGREGATE_MAX_TEXT:
			return column_type_is_text(type);
		default:
			return false;
	}
}

/* Returns NULL, or the reason why the aggregate is not supported. */
static const char *
aggregate_prepare(const AggregateOptions *options, const AggregateSpec *spec)
{
	const char *why = NULL;

	if (spec->filter != NULL)
		why = filter_prepare(spec->filter, options->columns,
							 options->ncolumns, options->encoding);
	if (why != NULL || spec->kind == AGGREGATE_COUNT_ROWS)
		return why;
	if (aggregate_takes_expression(spec->kind))
		return arithmetic_prepare(spec->argument, options->columns,
								  options->ncolumns);
	if (spec->column < 0 || spec->column >= options->ncolumns ||
		!aggregate_takes_column(spec->kind,
								options->columns[spec->column].type))
		return "unsupported argument of an aggregate";
	return NULL;
}

const char *
aggregate_unsupported(const AggregateOptions *options)
{
	if (options->nkeys > AGGREGATE_KEYS_MAX)
		return "too many grouping columns";
	for (int i = 0; i < options->nkeys; i++)
	{
		int			key = options->keys[i];

		if (key < 0 || key >= options->ncolumns ||
			options->columns[key].type == COLUMN_OTHER ||
			column_type_is_float(options->columns[key].type))
			return "unsupported type of a grouping column";
	}
	for (int i = 0; i < options->nspecs; i++)
	{
		const char *why = aggregate_prepare(options, &options->specs[i]);

		if (why != NULL)
			return why;
	}
	return NULL;
}

/* Makes states for all groups there are; returns false without memory. */
static bool
aggregate_grow_states(Aggregation *aggregation, size_t ngroups)
{
	const Allocator *allocator = &aggregation->options.allocator;
	size_t		row_size = (size_t) aggregation->options.nspecs *
		sizeof(AggregateState);
	size_t		states_max = aggregation->states_max;
	char	   *memory;

	while (states_max < ngroups)
		states_max = states_max == 0 ? 1 : states_max * 2;
	if (states_max == aggregation->states_max || row_size == 0)
		return true;
	memory = allocator->resize(allocator->context, aggregation->states,
							   aggregation->states_max * row_size,
							   states_max * row_size);
	if (memory == NULL)
		return false;
	memset(memory + aggregation->states_max * row_size, 0,
		   (states_max - aggregation->states_max) * row_size);
	aggregation->states = (AggregateState *) memory;
	aggregation->states_max = states_max;
	return true;
}

Aggregation *
aggregate_open(const AggregateOptions *options, const char **unsupported)
{
	Aggregation *aggregation;

	*unsupported = aggregate_unsupported(options);
	if (*unsupported != NULL)
		return NULL;
	aggregation = allocator_new(&options->allocator, sizeof(Aggregation));
	if (aggregation == NULL)
		return NULL;
	aggregation->options = *options;
	aggregation->states = NULL;
	aggregation->states_max = 0;
	memset(aggregation->found, 0, sizeof(aggregation->found));
	for (int i = 0; i < BATCH_ROWS; i++)
		aggregation->identity[i] = (uint16_t) i;
	groups_open(&aggregation->groups, &aggregation->options);
	if (!aggregate_grow_states(aggregation, 1))
	{
		aggregate_close(aggregation);
		return NULL;
	}
	return aggregation;
}

static void
aggregate_free_states(Aggregation *aggregation)
{
	allocator_free(&aggregation->options.allocator, aggregation->states,
				   aggregation->states_max *
				   (size_t) aggregation->options.nspecs *
				   sizeof(AggregateState));
	aggregation->states = NULL;
	aggregation->states_max = 0;
}

void
aggregate_close(Aggregation *aggregation)
{
	Allocator	allocator = aggregation->options.allocator;

	groups_close(&aggregation->groups);
	aggregate_free_states(aggregation);
	allocator_free(&allocator, aggregation, sizeof(Aggregation));
}

void
aggregate_restart(Aggregation *aggregation)
{
	groups_close(&aggregation->groups);
	if (aggregation->states != NULL)
		memset(aggregation->states, 0,
			   aggregation->states_max *
			   (size_t) aggregation->options.nspecs * sizeof(AggregateState));
}

/*------------------------------------------------------------------------
 * Taking values in
 *------------------------------------------------------------------------
 */

/* Adds the value at a place to a state. */
typedef AggregateStatus (*TakeValue) (const AggregateInput *input, int place,
									  AggregateState *state);

static ALWAYS_INLINE
AggregateStatus
aggregate_take(const AggregateInput *input, TakeValue take)
{
	const AggregateInput copy = *input;

	for (int i = 0; i < copy.n;)
	{
		const uint32_t number = copy.numbers[i];
		AggregateState *const state = copy.states + number * copy.stride;
		AggregateState local = *state;

		do
		{
			AggregateStatus status = take(&copy, copy.places[i], &local);

			if (status != AGGREGATE_OK)
				return status;
			local.count++;
		} while (++i < copy.n && copy.numbers[i] == number);
		*state = local;
	}
	return AGGREGATE_OK;
}

static inline AggregateStatus
aggregate_take_nothing(const AggregateInput *input, int place,
					   AggregateState *state)
{
	(void) input;
	(void) place;
	(void) state;
	return AGGREGATE_OK;
}

static inline AggregateStatus
aggregate_take_sum(const AggregateInput *input, int place,
				   AggregateState *state)
{
	/* 2^63 values of 64 bits cannot leave 128 bits. */
	state->u.sum += input->values[place];
	return AGGREGATE_OK;
}

static inline AggregateStatus
aggregate_take_min(const AggregateInput *input, int place,
				   AggregateState *state)
{
	if (state->count == 0 || input->values[place] < state->u.extreme)
		state->u.extreme = input->values[place];
	return AGGREGATE_OK;
}

static inline AggregateStatus
aggregate_take_max(const AggregateInput *input, int place,
				   AggregateState *state)
{
	if (state->count == 0 || input->values[place] > state->u.extreme)
		state->u.extreme = input->values[place];
	return AGGREGATE_OK;
}

static inline AggregateStatus
aggregate_check_float(double value, double result)
{
	if (!isfinite(value))
		return AGGREGATE_NOT_FINITE;
	return isfinite(result) ? AGGREGATE_OK : AGGREGATE_OVERFLOW;
}

static inline AggregateStatus
aggregate_take_float4(const AggregateInput *input, int place,
					  AggregateState *state)
{
	double		value = input->vector->values.floats[place];

	/* The first value is the sum, which keeps the sign of a zero. */
	if (state->count == 0)
		state->u.floating = value;
	else
		state->u.floating = (float) state->u.floating + (float) value;
	return aggregate_check_float(value, state->u.floating);
}

static inline AggregateStatus
aggregate_take_float8(const AggregateInput *input, int place,
					  AggregateState *state)
{
	double		value = input->vector->values.floats[place];

	if (state->count == 0)
		state->u.floating = value;
	else
		state->u.floating += value;
	return aggregate_check_float(value, state->u.floating);
}

/*
 * Youngs and Cramer's recurrence, step by step as float8_accum does it, so that
 * it rounds and overflows in the same places.
 */
static inline AggregateStatus
aggregate_take_moments(const AggregateInput *input, int place,
					   AggregateState *state)
{
	double		value = input->vector->values.floats[place];
	double		before = state->u.moments.n;
	double		n = before + 1;

	state->u.moments.n = n;
	state->u.moments.sum += value;
	if (before > 0)
	{
		double		distance = value * n - state->u.moments.sum;

		state->u.moments.squares += distance * distance / (n * before);
	}
	if (!isfinite(state->u.moments.squares))
		return aggregate_check_float(value, state->u.moments.squares);
	return aggregate_check_float(value, state->u.moments.sum);
}

/* Of equal values the later one is kept, since zeros can differ in sign. */
static inline AggregateStatus
aggregate_take_min_float(const AggregateInput *input, int place,
						 AggregateState *state)
{
	double		value = input->vector->values.floats[place];

	if (state->count == 0 || !(state->u.floating < value))
		state->u.floating = value;
	return aggregate_check_float(value, value);
}

static inline AggregateStatus
aggregate_take_max_float(const AggregateInput *input, int place,
						 AggregateState *state)
{
	double		value = input->vector->values.floats[place];

	if (state->count == 0 || !(state->u.floating > value))
		state->u.floating = value;
	return aggregate_check_float(value, value);
}

/* Keeps a copy of the text, in the memory of the one before if it fits. */
static AggregateStatus
aggregate_keep_text(Arena *arena, TextRef text, AggregateState *state)
{
	unsigned char *bytes = (unsigned char *) state->u.text.bytes;

	if (state->count == 0 || text.length > state->u.text.length)
		bytes = arena_new(arena, text.length);
	if (bytes == NULL)
		return AGGREGATE_NO_MEMORY;
	if (text.length > 0)
		memcpy(bytes, text.bytes, text.length);
	state->u.text.bytes = bytes;
	state->u.text.length = text.length;

	return AGGREGATE_OK;
}

static inline AggregateStatus
aggregate_take_text(const AggregateInput *input, int place,
					AggregateState *state, CompareOp op)
{
	TextRef text = input->vector->values.texts[place];
	bool		is_bpchar = input->vector->spec->type == COLUMN_BPCHAR;

	if (state->count > 0 &&
		!compare_holds(op, compare_texts(text, state->u.text, is_bpchar)))
		return AGGREGATE_OK;
	return aggregate_keep_text(input->arena, text, state);
}

static inline AggregateStatus
aggregate_take_min_text(const AggregateInput *input, int place,
						AggregateState *state)
{
	return aggregate_take_text(input, place, state, FILTER_LT);
}

static inline AggregateStatus
aggregate_take_max_text(const AggregateInput *input, int place,
						AggregateState *state)
{
	return aggregate_take_text(input, place, state, FILTER_GT);
}

static AggregateStatus
aggregate_take_all(AggregateKind kind, const AggregateInput *input)
{
	switch (kind)
	{
		case AGGREGATE_COUNT_ROWS:
		case AGGREGATE_COUNT:
			return aggregate_take(input, aggregate_take_nothing);
		case AGGREGATE_SUM:
			return aggregate_take(input, aggregate_take_sum);
		case AGGREGATE_SUM_FLOAT4:
			return aggregate_take(input, aggregate_take_float4);
		case AGGREGATE_SUM_FLOAT8:
			return aggregate_take(input, aggregate_take_float8);
		case AGGREGATE_MOMENTS:
			return aggregate_take(input, aggregate_take_moments);
		case AGGREGATE_MIN:
			return aggregate_take(input, aggregate_take_min);
		case AGGREGATE_MAX:
			return aggregate_take(input, aggregate_take_max);
		case AGGREGATE_MIN_FLOAT:
			return aggregate_take(input, aggregate_take_min_float);
		case AGGREGATE_MAX_FLOAT:
			return aggregate_take(input, aggregate_take_max_float);
		case AGGREGATE_MIN_TEXT:
			return aggregate_take(input, aggregate_take_min_text);
		case AGGREGATE_MAX_TEXT:
			return aggregate_take(input, aggregate_take_max_text);
	}
	return AGGREGATE_OK;
}

/*------------------------------------------------------------------------
 * Batches
 *------------------------------------------------------------------------
 */

static int
aggregate_list_rows(const RowBitmap *selected, uint16_t *rows)
{
	int			n = 0;

	for (int word = 0; word < BATCH_WORDS; word++)
		for (uint64_t bits = selected->words[word]; bits != 0;
			 bits &= bits - 1)
			rows[n++] = (uint16_t) (word * 64 + __builtin_ctzll(bits));
	return n;
}

/*
 * Keeps the rows that pass an aggregate's FILTER; often few, if a batch is
 * added row by row.
 */
static void
aggregate_apply_filter(Aggregation *aggregation, const FilterNode *filter,
					   const RowBatch *batch, AggregateInput *input)
{
	RowBitmap	passed;
	int			from = BATCH_WORDS;
	int			to = 0;
	int			n = 0;

	for (int i = 0; i < input->n; i++)
	{
		int			word = input->rows[i] / 64;

		from = word < from ? word : from;
		to = word >= to ? word + 1 : to;
	}
	if (from < to)
		filter_run(filter, batch, from, to, &passed);
	for (int i = 0; i < input->n; i++)
	{
		aggregation->filtered_rows[n] = input->rows[i];
		aggregation->filtered_numbers[n] = input->numbers[i];
		n += bitmap_has(&passed, input->rows[i]);
	}
	input->rows = input->places = aggregation->filtered_rows;
	input->numbers = aggregation->filtered_numbers;
	input->n = n;
}

/* Keeps the places of values that are not null. */
static void
aggregate_drop_nulls(Aggregation *aggregation, AggregateInput *input)
{
	int			n = 0;

	if (input->nulls == NULL || bitmap_is_empty(input->nulls))
		return;
	for (int i = 0; i < input->n; i++)
	{
		aggregation->present[n] = input->places[i];
		aggregation->present_numbers[n] = input->numbers[i];
		n += !bitmap_has(input->nulls, input->rows[i]);
	}
	input->places = aggregation->present;
	input->numbers = aggregation->present_numbers;
	input->n = n;
}

static AggregateStatus
aggregate_add_spec(Aggregation *aggregation, int i, const RowBatch *batch,
				   int nrows)
{
	const AggregateSpec *spec = &aggregation->options.specs[i];
	ArithmeticResult result;
	AggregateInput input = {
		.rows = aggregation->rows,
		.places = aggregation->rows,
		.numbers = aggregation->numbers,
		.n = nrows,
		.states = aggregation->states + i,
		.stride = (size_t) aggregation->options.nspecs,
		.arena = &aggregation->groups.arena
	};

	if (spec->filter != NULL)
		aggregate_apply_filter(aggregation, spec->filter, batch, &input);
	if (aggregate_takes_expression(spec->kind))
	{
		if (!arithmetic_run(spec->argument, batch, input.rows, input.n,
							&aggregation->buffers, &result))
			return AGGREGATE_OVERFLOW;
		input.values = result.values;
		input.nulls = &result.nulls;
		if (result.is_listed)
			input.places = aggregation->identity;
	}
	else if (spec->kind != AGGREGATE_COUNT_ROWS)
	{
		input.vector = &batch->columns[spec->column];
		input.nulls = &input.vector->nulls;
	}
	aggregate_drop_nulls(aggregation, &input);
	return aggregate_take_all(spec->kind, &input);
}

/* Sorts the rows by group, if there are few groups. */
static void
aggregate_sort_rows(Aggregation *aggregation, int nrows)
{
	const uint32_t ngroups = aggregation->groups.ngroups;
	int			next[SORTED_GROUPS_MAX] = {0};
	int			begin = 0;

	if (ngroups < 2 || ngroups > SORTED_GROUPS_MAX)
		return;
	for (int i = 0; i < nrows; i++)
		next[aggregation->found[i]]++;
	for (uint32_t group = 0; group < ngroups; group++)
	{
		int			count = next[group];

		next[group] = begin;
		begin += count;
	}
	for (int i = 0; i < nrows; i++)
	{
		int			place = next[aggregation->found[i]]++;

		aggregation->sorted[place] = aggregation->selected[i];
		aggregation->sorted_numbers[place] = aggregation->found[i];
	}
	aggregation->rows = aggregation->sorted;
	aggregation->numbers = aggregation->sorted_numbers;
}

static size_t
aggregate_memory(const Aggregation *aggregation)
{
	return groups_memory(&aggregation->groups) + aggregation->states_max *
		(size_t) aggregation->options.nspecs * sizeof(AggregateState);
}

AggregateStatus
aggregate_add(Aggregation *aggregation, const RowBatch *batch,
			  const RowBitmap *selected)
{
	int			nrows = aggregate_list_rows(selected, aggregation->selected);

	if (aggregation->options.nkeys > 0 &&
		(!groups_find(&aggregation->groups, batch, aggregation->selected,
					  nrows, aggregation->found) ||
		 !aggregate_grow_states(aggregation, aggregation->groups.ngroups)))
		return AGGREGATE_NO_MEMORY;
	aggregation->rows = aggregation->selected;
	aggregation->numbers = aggregation->found;
	aggregate_sort_rows(aggregation, nrows);
	for (int i = 0; i < aggregation->options.nspecs; i++)
	{
		AggregateStatus status = aggregate_add_spec(aggregation, i, batch,
													nrows);

		if (status != AGGREGATE_OK)
			return status;
	}
	return aggregate_memory(aggregation) > aggregation->options.max_memory ?
		AGGREGATE_TOO_LARGE : AGGREGATE_OK;
}

/*------------------------------------------------------------------------
 * Results
 *------------------------------------------------------------------------
 */

int
aggregate_ngroups(const Aggregation *aggregation)
{
	return aggregation->options.nkeys == 0 ? 1 :
		(int) aggregation->groups.ngroups;
}

GroupKey
aggregate_key(const Aggregation *aggregation, int group, int key)
{
	return groups_key(&aggregation->groups, (uint32_t) group, key);
}

const AggregateState *
aggregate_state(const Aggregation *aggregation, int group, int spec)
{
	return aggregation->states +
		(size_t) group * (size_t) aggregation->options.nspecs + spec;
}
