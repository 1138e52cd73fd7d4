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
 *		all other columns, in the rows that are left
 *
 * A row with an open value is always left: what is stored for the value means
 * nothing, and it might be an error.
 */
#include "postgres.h"

#include "select.h"

/* Adds a step: the condition and what it is the first to look at. */
static void
add_step(RowSelector *selector, FileColumns *columns,
		 const FilterNode *condition, const bool *used)
{
	SelectStep *step = &selector->steps[selector->nsteps];

	step->condition = condition;
	step->columns = palloc(sizeof(int) * Max(1, columns->ncolumns));
	for (int i = 0; i < columns->ncolumns; i++)
	{
		if (!used[i] || columns->specs[i].deferred)
			continue;
		columns->specs[i].deferred = true;
		step->columns[step->ncolumns++] = i;
	}
	selector->nsteps++;
}

/* Plans the selection of rows by a filter; marks the columns that wait for it. */
static void
plan_turns(RowSelector *selector, FileColumns *columns,
		   const FilterNode *filter)
{
	int			nconditions = filter->kind == FILTER_AND ? filter->nchildren : 1;
	bool	   *used = palloc0(sizeof(bool) * Max(1, columns->ncolumns));

	selector->steps = palloc0(sizeof(SelectStep) * (nconditions + 1));
	for (int i = 0; i < nconditions; i++)
	{
		const FilterNode *condition = filter->kind == FILTER_AND ?
			filter->children[i] : filter;

		filter_columns(condition, used);
		add_step(selector, columns, condition, used);
	}
	memset(used, true, columns->ncolumns);
	add_step(selector, columns, NULL, used);
	pfree(used);

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

/*
 * Selects the rows of the source's present batch that satisfy the filter or
 * hold an open value, and converts what has been left of them.
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

		for (int j = 0; j < step->ncolumns; j++)
			batch_convert_column(source, step->columns[j], selected);
		if (step->condition == NULL)
			continue;
		filter_run(step->condition, batch, 0, nwords, &passing);
		for (int word = 0; word < nwords; word++)
			selected->words[word] &= passing.words[word] |
				source->asks.words[word];
	}
}
