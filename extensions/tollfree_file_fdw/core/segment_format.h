/*
 * segment_format.h
 *	  What those who make, decode and filter column segments have in common.
 */
#ifndef CORE_SEGMENT_FORMAT_H
#define CORE_SEGMENT_FORMAT_H

#include "core/segment.h"

#define SEGMENT_MAGIC		"tollseg"
#define SEGMENT_VERSION		3

/* The parts of a chunk. */
typedef struct ChunkParts
{
	const SegmentChunk *head;
	const uint64_t *nulls;		/* NULL if there are none */
	const unsigned char *numbers;
	const unsigned char *bytes; /* behind the numbers */
	size_t		nbytes;
	int			nrows;
} ChunkParts;

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

/* Finds the parts of a chunk; false if they are not in it. */
extern bool segment_find_parts(const Segment *segment, uint32_t n,
							   ChunkParts *parts);

/* Finds the entries of a dictionary; false if they are not in the chunk. */
extern bool segment_find_entries(const ChunkParts *parts, TextRef *entries);

#endif							/* CORE_SEGMENT_FORMAT_H */
