/*
 * segments.h
 *	  Column segments, as a source of batches.
 */
#ifndef TOLLFREE_FILE_SEGMENTS_H
#define TOLLFREE_FILE_SEGMENTS_H

#include "cache/index_use.h"
#include "cache/segment_file.h"
#include "read/batch.h"

/* The segment of a column, and the memory that it is in. */
typedef struct LoadedSegment
{
	Segment		segment;
	SegmentBuffer buffer;
} LoadedSegment;

/* Of one span of the file at a time all columns are loaded, or none. */
typedef struct SegmentSource
{
	BatchSource base;
	MemoryContext context;		/* of everything below */
	const RecordIndex *index;
	RowBatch	batch;
	LoadedSegment *segments;	/* of each column */
	ColumnVector *entry_columns;	/* of each: texts of a dictionary that are
									 * being tested */
	uint32		first_block;	/* of the span loaded */
	uint32		row;			/* the next one, counted from that block's
								 * first */
	uint32		end;			/* behind the last one of the range */
	uint32		batch_row;		/* the first one of the batch */
} SegmentSource;

extern SegmentSource *segments_open(OpenFile *file, const FileColumns *columns,
									const RecordIndex *index);
extern bool segments_load(SegmentSource *source, uint32 number,
						  uint32 first_block, uint32 nblocks);
extern uint32 segments_count_rows(const RecordIndex *index, uint32 first_block,
								  uint32 nblocks);
extern void segments_close(SegmentSource *source);

#endif							/* TOLLFREE_FILE_SEGMENTS_H */
