/*
 * select.h
 *	  Which rows of a batch are to be looked at.
 */
#ifndef TOLLFREE_FILE_SELECT_H
#define TOLLFREE_FILE_SELECT_H

#include "read/batch.h"

/* When the columns of a filter are converted. */
typedef enum SelectMode
{
	SELECT_AT_ONCE,				/* before any condition sees one */
	SELECT_IN_TURNS,			/* when their condition's turn comes */
	SELECT_BY_TESTS				/* the same, unless the source can test the
								 * condition without */
} SelectMode;

/* Columns to be converted in the rows that are left, then a condition. */
typedef struct SelectStep
{
	int		   *columns;		/* deferred ones */
	int			ncolumns;
	const FilterNode *condition;	/* NULL if there is none */
	bool		may_test;		/* may the source test it instead? */
	bool		is_tested;		/* it has, in the present batch: the columns
								 * are still to be converted */
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
								SelectMode mode);
extern void select_add_keys(RowSelector *selector, FileColumns *columns,
							SelectMode mode, List *keys);
extern void select_rows(RowSelector *selector, BatchSource *source,
						RowBitmap *selected);
extern void select_keys(RowSelector *selector, BatchSource *source,
						const RowBitmap *selected);
extern void select_rest(RowSelector *selector, BatchSource *source,
						const RowBitmap *selected);

#endif							/* TOLLFREE_FILE_SELECT_H */
