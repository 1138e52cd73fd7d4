/*
 * in_list.h
 *	  The constants of an IN, in a hash table.
 *
 * A slot holds the place of a constant plus one, or 0, as most slots do.
 */
#ifndef VECTOR_IN_LIST_H
#define VECTOR_IN_LIST_H

#include "vector/filter.h"

/*
 * Puts the constants of a condition into its slots; they have the column's scale.  Blank-
 * padded ones are trimmed.
 */
extern void in_list_prepare(FilterNode *node, ColumnType type);

/* Is the value of a row, which is not null, one of them? */
extern bool in_list_has(const FilterNode *node, const ColumnVector *vector,
						int row);

#endif							/* VECTOR_IN_LIST_H */
