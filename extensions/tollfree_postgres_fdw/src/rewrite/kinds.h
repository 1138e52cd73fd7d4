/*
 * kinds.h
 *	  What an expression has that could be sent in another form.
 */
#ifndef TOLLFREE_FDW_KINDS_H
#define TOLLFREE_FDW_KINDS_H

#include "nodes/nodes.h"

/* Bits of a set */
typedef enum Kind
{
	KIND_TYPE = 1 << 0,			/* a column of a type that is not PostgreSQL's
								 * own */
	KIND_TIMES = 1 << 1,		/* a timestamptz beside another operand */
	KIND_GIVEN = 1 << 2,		/* a part without columns, neither a constant
								 * nor a parameter */
	KIND_ZONE = 1 << 3,			/* a function that looks at the session's zone */
	KIND_CAST = 1 << 4,			/* a cast that casts.c replaces */
	KIND_FORM = 1 << 5,			/* what forms.c replaces */
	KIND_COLLATION = 1 << 6		/* a call that may have a collation */
} Kind;

extern int	kinds_of(Node *expr);

#endif							/* TOLLFREE_FDW_KINDS_H */
