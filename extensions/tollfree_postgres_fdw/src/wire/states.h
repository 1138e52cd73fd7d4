/*
 * states.h
 *	  Transition states of aggregates, made of remote aggregates' results.
 */
#ifndef TOLLFREE_FDW_STATES_H
#define TOLLFREE_FDW_STATES_H

#include "nodes/pg_list.h"

/* How a state is made of its components; sums are numeric by default */
typedef enum StateKind
{
	STATE_VALUE,				/* it is the only component */
	STATE_INTEGER_AVERAGE,		/* count, sum (int8) */
	STATE_FLOAT,				/* count, sum, population variance (float8) */
	STATE_INTEGER_SUM,			/* count, sum */
	STATE_SMALLINT_SQUARES,		/* count, sum (int8), sum of squares (int8) */
	STATE_INTEGER_SQUARES,		/* count, sum (int8), sum of squares */
	STATE_NUMERIC_SUM,			/* count, sum */
	STATE_NUMERIC_SQUARES		/* count, sum, sum of squares */
} StateKind;

#define STATE_PARTS 3			/* at most */

/* Makes one column of each row from other columns; all are counted from 0. */
typedef struct StateMaker
{
	StateKind	kind;
	int			column;
	int			parts[STATE_PARTS];
} StateMaker;

extern int	states_count_parts(StateKind kind);
extern List *states_write(const StateMaker *maker);
extern StateMaker *states_read(List *written);
extern void states_make(const StateMaker *makers, int nmakers, Datum *values,
						bool *nulls);

#endif							/* TOLLFREE_FDW_STATES_H */
