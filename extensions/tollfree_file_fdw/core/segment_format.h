/*
 * segment_format.h
 *	  The format of column segments, for the files that make, decode and
 *	  filter them.
 */
#ifndef CORE_SEGMENT_FORMAT_H
#define CORE_SEGMENT_FORMAT_H

#include "core/segment.h"

#define SEGMENT_MAGIC		"tollseg"
#define SEGMENT_VERSION		4

/* The sections of a slice. */
typedef struct SliceParts
{
	const SegmentSlice *head;
	const uint64_t *nulls;		/* NULL if there are none */
	const unsigned char *numbers;
	const unsigned char *bytes; /* after the numbers */
	size_t		nbytes;
	int			nrows;
} SliceParts;

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

/* Finds the sections of a slice; false if they exceed it. */
extern bool segment_find_parts(const Segment *segment, uint32_t n,
							   SliceParts *parts);

/* Finds the entries of a dictionary; false if they exceed the slice. */
extern bool segment_find_entries(const SliceParts *parts, TextRef *entries);

#endif							/* CORE_SEGMENT_FORMAT_H */
