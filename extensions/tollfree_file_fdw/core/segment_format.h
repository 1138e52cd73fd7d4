/*
 * segment_format.h
 *	  What the encoder and the decoder of column segments have in common.
 */
#ifndef CORE_SEGMENT_FORMAT_H
#define CORE_SEGMENT_FORMAT_H

#include "core/segment.h"

#define SEGMENT_MAGIC		"tollseg"
#define SEGMENT_VERSION		1
#define SEGMENT_ENTRIES_MAX 256 /* of a dictionary */

static inline size_t
segment_align(size_t length)
{
	return (length + 7) & ~(size_t) 7;
}

/* Returns the bytes that a value of SEGMENT_RAW takes; 0 for other types. */
static inline uint32_t
segment_raw_width(ColumnType type)
{
	if (type == COLUMN_UUID)
		return sizeof(Uuid);
	if (type == COLUMN_FLOAT4)
		return sizeof(float);
	return type == COLUMN_FLOAT8 ? sizeof(double) : 0;
}

#endif							/* CORE_SEGMENT_FORMAT_H */
