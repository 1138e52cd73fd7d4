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
 * A row with an open value is always left: what is stored for the value means
 * nothing, and it might be an error.
 */
#include "postgres.h"

#include "select.h"

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

/* Plans the selection of rows by a filter; marks the columns that wait for it. */
static void
plan_turns(RowSelector *selector, FileColumns *columns,
		   const FilterNode *filter)
{
	int			nconditions = filter->kind == FILTER_AND ? filter->nchildren : 1;
	bool	   *used = palloc0(sizeof(bool) * Max(1, columns->ncolumns));

	selector->nsteps = nconditions;
	selector->steps = palloc0(sizeof(SelectStep) * Max(1, nconditions));
	for (int i = 0; i < nconditions; i++)
	{
		SelectStep *step = &selector->steps[i];

		step->condition = filter->kind == FILTER_AND ?
			filter->children[i] : filter;
		filter_columns(step->condition, used);
		plan_step(step, columns, used);
	}
	pfree(used);
	if (nconditions == 0)
		return;
	plan_rest(selector, columns);

	/* What is wanted of all rows may as well be there from the beginning. */
	for (int i = 0; i < selector->steps[0].ncolumns; i++)
		columns->specs[selector->steps[0].columns[i]].deferred = false;
	selector->steps[0].ncolumns = 0;
}

/* Plans the selection of rows by a filter, which may be NULL. */
RowSelector *
select_plan(FileColumns *columns, const FilterNode *filter, bool is_lazy)
{
	RowSelector *selector = palloc0(sizeof(RowSelector));

	if (filter == NULL)
		return selector;
	if (is_lazy)
		plan_turns(selector, columns, filter);
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
 * A join above drops rows by these columns (a list of integers).  Where the table
 * is lazy, all that nobody has looked at by then waits for it.
 */
void
select_add_keys(RowSelector *selector, FileColumns *columns, bool is_lazy,
				List *keys)
{
	ListCell   *cell;

	if (!is_lazy)
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

/* Converts what joins look at, in the selected rows. */
void
select_keys(const RowSelector *selector, BatchSource *source,
			const RowBitmap *selected)
{
	convert_columns(&selector->keys, source, selected);
}

/* Converts what nobody has looked at, in the selected rows. */
void
select_rest(const RowSelector *selector, BatchSource *source,
			const RowBitmap *selected)
{
	convert_columns(&selector->rest, source, selected);
}

/*
 * Selects the rows of the source's present batch that satisfy the filter or
 * hold an open value, as far as they have been converted.
 */
void
select_rows(const RowSelector *selector, BatchSource *source,
			RowBitmap *selected)
{
	const RowBatch *batch = source->batch;
	int			nwords = bitmap_words(batch->nrows);

	bitmap_fill(selected, batch->nrows);
	for (int i = 0; i < selector->nsteps; i++)
	{
		const SelectStep *step = &selector->steps[i];
		RowBitmap	passing;

		convert_columns(step, source, selected);
		filter_run(step->condition, batch, 0, nwords, &passing);
		for (int word = 0; word < nwords; word++)
			selected->words[word] &= passing.words[word] |
				source->asks.words[word];
	}
}
