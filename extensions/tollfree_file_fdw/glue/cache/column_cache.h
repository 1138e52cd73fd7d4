/*
 * column_cache.h
 *	  What a scan has to do with column segments: it reads them, and makes them.
 */
#ifndef TOLLFREE_FILE_COLUMN_CACHE_H
#define TOLLFREE_FILE_COLUMN_CACHE_H

#include "cache/index_blocks.h"
#include "cache/segments.h"

/* No span of the file */
#define NO_SPAN PG_UINT32_MAX

/* What is known of the segments of a span of the file. */
typedef enum SpanState
{
	SPAN_UNTRIED,				/* nobody has looked for them */
	SPAN_LOADED,				/* the source has one of each column */
	SPAN_INCOMPLETE				/* a column has none */
} SpanState;

/* Why a column is not kept, of the reasons that a worker can meet */
#define COLUMN_CACHE_OPEN_VALUE "a value has no fast conversion"

/* Of the spans that were read. */
typedef struct SegmentCounts
{
	uint64		needed;
	uint64		used;			/* of these, read instead of text */
	uint64		written;
	int			open_column;	/* one with a value that has no fast
								 * conversion, counted from 1; 0 if none */
} SegmentCounts;

/*
 * In a ScanInput.  The first part is set when the scan is prepared, the second
 * whenever it begins; the last adds up over all of its executions.  As a sink it
 * makes segments of what is read as text.
 */
typedef struct ColumnCache
{
	BatchSink	sink;
	IndexUse   *index;			/* of the same scan */
	bool		is_wanted;
	FileColumns columns;		/* the scan's, some of which wait for a filter */

	const char *unused_reason;	/* why text is read, if it is; or NULL */
	MemoryContext context;		/* of all below; NULL between executions */
	int64		span_size;		/* bytes of the file that a segment covers */
	SegmentSource *source;		/* where an index is used; else NULL */
	uint32		span;			/* the one looked at last, or NO_SPAN */
	uint32		span_block;		/* its first block */
	uint32		span_blocks;
	SpanState	span_state;
	SegmentBuilder *builders;	/* of each column that the reader converts */
	bool	   *is_kept;		/* of each: may it be kept at all? */
	bool	   *is_missing;		/* of each: is a segment of filled_span made? */
	uint32		filled_span;	/* the one segments are made of, or NO_SPAN */
	int64		filled_offset;	/* of its first record */
	SegmentRoom own_room;		/* of a scan by one process */
	SegmentRoom *room;			/* this one, or that of several */
	bool		is_closed;		/* is there no room, or does writing fail? */

	SegmentCounts counts;
	int			unkept;			/* a column of which a span is not kept since
								 * it cannot be; -1 if none has been met */
	bool	   *has_failed;		/* of each: does a value keep it from that? */
} ColumnCache;

extern void column_cache_prepare(ColumnCache *cache, IndexUse *index,
								 const FileOptions *options,
								 const FileColumns *columns);
extern void column_cache_begin(ColumnCache *cache, SegmentRoom *shared);
extern bool column_cache_may_enter(ColumnCache *cache, const BlockRun *run);
extern BatchSource *column_cache_enter(ColumnCache *cache, const BlockRun *run);
extern const char *column_cache_missing_reason(const ColumnCache *cache,
											   int column);
extern void column_cache_end(ColumnCache *cache);

#endif							/* TOLLFREE_FILE_COLUMN_CACHE_H */
