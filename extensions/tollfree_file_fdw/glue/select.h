/*
 * select.h
 *	  Which rows of a batch are to be looked at.
 */
#ifndef TOLLFREE_FILE_SELECT_H
#define TOLLFREE_FILE_SELECT_H

#include "batch.h"

/* Columns to be converted in the rows that are left, then a condition. */
typedef struct SelectStep
{
	int		   *columns;		/* deferred ones */
	int			ncolumns;
	const FilterNode *condition;	/* NULL if there is none */
} SelectStep;

typedef struct RowSelector
{
	int			nsteps;
	SelectStep *steps;
	bool		has_keys;		/* do joins above drop rows? */
	SelectStep	keys;			/* what these look at; no condition */
	SelectStep	rest;			/* all others; no condition */
} RowSelector;

extern RowSelector *select_plan(FileColumns *columns, const FilterNode *filter,
								bool is_lazy);
extern void select_add_keys(RowSelector *selector, FileColumns *columns,
							bool is_lazy, List *keys);
extern void select_rows(const RowSelector *selector, BatchSource *source,
						RowBitmap *selected);
extern void select_keys(const RowSelector *selector, BatchSource *source,
						const RowBitmap *selected);
extern void select_rest(const RowSelector *selector, BatchSource *source,
						const RowBitmap *selected);

#endif							/* TOLLFREE_FILE_SELECT_H */
