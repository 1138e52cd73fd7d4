/*
 * select.c
 *	  Which rows of a batch are to be looked at.
 *
 * All values of a row are converted and so checked before a condition sees any,
 * as file_fdw does.  Where the table is lazy, the conditions take turns:
 *
 *		columns of the first condition, in all rows
 *		the first condition
 *		other columns of the second condition, in the rows that are left
 *		the second condition
 *		...
 *		keys of hash joins above, in the rows that are left
 *		what these joins tell (join_filter.c)
 *		all other columns, in the rows that are left
 *
 * Column segments may test a condition without their values being converted: then
 * its column is converted where all other columns are.  Only a condition that is
 * alone with its column is tested so.
 *
 * A row with an unresolved value is always left: what is stored for the value
 * means nothing, and it might be an error.
 */
#include "postgres.h"

#include "read/select.h"

/* Has a step convert the columns used that no step before it does. */
static void
plan_step(SelectStep *step, FileColumns *columns, const bool *used)
{
	step->columns = palloc(sizeof(int) * Max(1, columns->ncolumns));
	for (int i = 0; i < columns->ncolumns; i++)
	{
		if (!used[i] || columns->specs[i].deferred)
			continue;
		columns->specs[i].deferred = true;
		step->columns[step->ncolumns++] = i;
	}
}

/* Has the last step convert all that no step before it does. */
static void
plan_rest(RowSelector *selector, FileColumns *columns)
{
	bool	   *used = palloc(sizeof(bool) * Max(1, columns->ncolumns));

	memset(used, true, columns->ncolumns);
	plan_step(&selector->rest, columns, used);
	pfree(used);
}

/* Is a step the only one that looks at a condition's only column? */
static bool
is_alone(const RowSelector *selector, const FilterNode *condition, int ncolumns)
{
	bool	   *used = palloc(sizeof(bool) * ncolumns);
	int			nusers = 0;

	for (int i = 0; i < selector->nsteps; i++)
	{
		memset(used, 0, ncolumns);
		filter_columns(selector->steps[i].condition, used);
		nusers += used[condition->column];
	}
	pfree(used);
	return nusers == 1;
}

/* Is it a condition on the values of one column, which is never true of a null? */
static bool
is_simple(const FilterNode *condition)
{
	return condition->kind == FILTER_COMPARE || condition->kind == FILTER_IN ||
		condition->kind == FILTER_LIKE;
}

/* Makes a step of each condition that another one does not imply. */
static void
add_steps(RowSelector *selector, const FilterNode *filter)
{
	int			n = filter->kind == FILTER_AND ? filter->nchildren : 1;

	selector->steps = palloc0(sizeof(SelectStep) * Max(1, n));
	for (int i = 0; i < n; i++)
	{
		const FilterNode *condition = filter->kind == FILTER_AND ?
			filter->children[i] : filter;

		if (!condition->implied)
			selector->steps[selector->nsteps++].condition = condition;
	}
}

/* Plans the selection of rows by a filter; marks the columns that wait for it. */
static void
plan_turns(RowSelector *selector, FileColumns *columns,
		   const FilterNode *filter, SelectMode mode)
{
	bool	   *used = palloc0(sizeof(bool) * Max(1, columns->ncolumns));

	add_steps(selector, filter);
	for (int i = 0; i < selector->nsteps; i++)
	{
		SelectStep *step = &selector->steps[i];

		step->may_test = mode == SELECT_BY_TESTS && is_simple(step->condition) &&
			is_alone(selector, step->condition, columns->ncolumns);
		filter_columns(step->condition, used);
		plan_step(step, columns, used);
	}
	pfree(used);
	if (selector->nsteps == 0)
		return;
	plan_rest(selector, columns);
	if (selector->steps[0].may_test)
		return;

	/* What is wanted of all rows may as well be there from the beginning. */
	for (int i = 0; i < selector->steps[0].ncolumns; i++)
		columns->specs[selector->steps[0].columns[i]].deferred = false;
	selector->steps[0].ncolumns = 0;
}

/* Plans the selection of rows by a filter, which may be NULL. */
RowSelector *
select_plan(FileColumns *columns, const FilterNode *filter, SelectMode mode)
{
	RowSelector *selector = palloc0(sizeof(RowSelector));

	if (filter == NULL)
		return selector;
	if (mode != SELECT_AT_ONCE)
		plan_turns(selector, columns, filter, mode);
	else
	{
		selector->nsteps = 1;
		selector->steps = palloc0(sizeof(SelectStep));
		selector->steps[0].condition = filter;
	}
	return selector;
}

/* Takes a column out of a step; false if it is not there. */
static bool
take_out(SelectStep *step, int column)
{
	for (int i = 0; i < step->ncolumns; i++)
	{
		if (step->columns[i] != column)
			continue;
		step->columns[i] = step->columns[--step->ncolumns];
		return true;
	}
	return false;
}

/*
 * A join above drops rows by these columns (a list of integers).  What nobody has
 * looked at by then waits for it, unless all is converted at once.
 */
void
select_add_keys(RowSelector *selector, FileColumns *columns, SelectMode mode,
				List *keys)
{
	ListCell   *cell;

	if (mode == SELECT_AT_ONCE)
		return;
	if (!selector->has_keys)
	{
		selector->has_keys = true;
		selector->keys.columns = palloc(sizeof(int) * columns->ncolumns);
		if (selector->nsteps == 0)
			plan_rest(selector, columns);
	}
	foreach(cell, keys)
	{
		int			column = lfirst_int(cell);

		if (!take_out(&selector->rest, column))
			continue;
		if (selector->nsteps == 0)
			columns->specs[column].deferred = false;
		else
			selector->keys.columns[selector->keys.ncolumns++] = column;
	}
}

/* Converts the columns of a step in these rows. */
static void
convert_columns(const SelectStep *step, BatchSource *source,
				const RowBitmap *rows)
{
	for (int i = 0; i < step->ncolumns; i++)
		batch_convert_column(source, step->columns[i], rows);
}

/* Converts what was tested without, in the selected rows. */
static void
convert_tested(RowSelector *selector, BatchSource *source,
			   const RowBitmap *selected)
{
	for (int i = 0; i < selector->nsteps; i++)
	{
		SelectStep *step = &selector->steps[i];

		if (step->is_tested)
			convert_columns(step, source, selected);
		step->is_tested = false;
	}
}

/* Converts what joins look at, in the selected rows. */
void
select_keys(RowSelector *selector, BatchSource *source,
			const RowBitmap *selected)
{
	convert_tested(selector, source, selected);
	convert_columns(&selector->keys, source, selected);
}

/* Converts what nobody has looked at, in the selected rows. */
void
select_rest(RowSelector *selector, BatchSource *source,
			const RowBitmap *selected)
{
	convert_tested(selector, source, selected);
	convert_columns(&selector->rest, source, selected);
}

/*
 * Selects the rows of the source's present batch that satisfy the filter or
 * hold an unresolved value, as far as they have been converted.
 */
void
select_rows(RowSelector *selector, BatchSource *source,
			RowBitmap *selected)
{
	const RowBatch *batch = source->batch;
	int			nwords = bitmap_words(batch->nrows);

	bitmap_fill(selected, batch->nrows);
	for (int i = 0; i < selector->nsteps; i++)
	{
		SelectStep *step = &selector->steps[i];
		RowBitmap	passing;

		step->is_tested = step->may_test &&
			source->methods->test(source, step->condition, &passing);
		if (!step->is_tested)
		{
			convert_columns(step, source, selected);
			filter_run(step->condition, batch, 0, nwords, &passing);
		}
		for (int word = 0; word < nwords; word++)
			selected->words[word] &= passing.words[word] |
				source->unresolved.words[word];
	}
}
