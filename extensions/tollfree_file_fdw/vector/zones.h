/*
 * zones.h
 *	  The possible results of a condition in a block, by its zone maps.
 */
#ifndef VECTOR_ZONES_H
#define VECTOR_ZONES_H

#include "core/record_index.h"
#include "vector/filter.h"

/* Truth values that some row may have; a superset is correct. */
typedef struct ZoneTruths
{
	bool		may_be_true;
	bool		may_be_false;
	bool		may_be_unknown;
} ZoneTruths;

/*
 * Returns the possible results of a prepared condition in a block.
 * zones[column] is the zone map of the batch's column, or NULL; it must have
 * no unresolved values.
 */
extern ZoneTruths zones_truths(const FilterNode *node,
							   const ColumnSpec *columns,
							   const Zone *const *zones, uint32_t nrows);

#endif							/* VECTOR_ZONES_H */
