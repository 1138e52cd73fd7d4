/*
 * zones.h
 *	  What a condition can come to in a block, by what is known of its columns.
 */
#ifndef VECTOR_ZONES_H
#define VECTOR_ZONES_H

#include "core/record_index.h"
#include "vector/filter.h"

/* Values of truth that some row may have; more than there are is never wrong. */
typedef struct ZoneTruths
{
	bool		may_be_true;
	bool		may_be_false;
	bool		may_be_unknown;
} ZoneTruths;

/*
 * Returns what a prepared condition can come to in the rows of a block.  Of the
 * batch's columns zones[column] is what is known there, or NULL; nothing open
 * may be in it.
 */
extern ZoneTruths zones_truths(const FilterNode *node,
							   const ColumnSpec *columns,
							   const Zone *const *zones, uint32_t nrows);

#endif							/* VECTOR_ZONES_H */
