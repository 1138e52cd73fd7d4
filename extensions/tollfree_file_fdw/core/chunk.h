/*
 * chunk.h
 *	  A file divided into ranges for several processes.
 *
 *		begins in quotes?	no		  yes		no
 *							|---------|---------|---------|		chunks
 *		 records			..r1..r2.."......"r3....r4..r5..
 *									^				^			chunk_start
 *
 * A chunk owns the records that begin in it; its scan reads past its end for
 * the last of them.  In text format the start of a record can be found
 * anywhere.  In CSV it depends on whether the chunk begins within quotes,
 * that is on the number of quotes before it: each chunk is counted by any
 * process (chunk_count) and, when all chunks before it have been counted,
 * gets its state and line number (chunk_resolve).  If ESCAPE is not QUOTE, what
 * the chunk's quotes do depends on where it begins, too: it is gone through
 * for both cases.
 *
 * Lines are counted for error messages only.  If nothing else is needed, as
 * in text format, they can be counted when there is an error.
 */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "core/dialect.h"
#include "core/filescan.h"
#include "core/kernel.h"
#include "core/source.h"

typedef struct FileChunk
{
	int64_t		from;			/* bytes [from, to) of the file */
	int64_t		to;
	StructureCount count;		/* of these bytes; set by chunk_count */
	bool		escaped;		/* is the byte at from, if it is in quotes?
								 * Set by chunk_count or chunk_look_before */
	bool		in_quotes;		/* at from; set by chunk_resolve, as the next */
	int64_t		line;			/* lines before from */
	bool		may_end;		/* may there be an end-of-data marker in it?
								 * Set by chunk_search_behind. */
} FileChunk;

/* The state at the start of a chunk. */
typedef struct ChunkState
{
	bool		in_quotes;
	int64_t		line;			/* line ends, and layout->line */
} ChunkState;

/* Properties that all chunks of a file share. */
typedef struct ChunkLayout
{
	StructureRules rules;
	LineEnd		line_end;
	int64_t		begin;			/* offset of the first record to be scanned,
								 * after the header */
	int64_t		line;			/* lines before it */
	int64_t		correction;		/* lines that COPY counts in that record,
								 * before it knows the line end, minus the
								 * line ends in it */
	int64_t		end;			/* end of the data: the file's end, or an
								 * end-of-data marker on the last line */
} ChunkLayout;

/*
 * Must chunks be counted before they are scanned?  Otherwise only for error
 * messages.
 */
extern bool chunk_needs_count(const Dialect *dialect);

/*
 * Examines the header's records or, without a header, the first record.
 * Returns false if the file cannot be divided: one of these is longer than
 * SCAN_BLOCK_MAX bytes, not plain, or missing, or the file cannot be read.
 * Takes memory for the time of the call.
 */
extern bool chunk_layout(Source *source, const Dialect *dialect,
						 int header, const Allocator *allocator,
						 ChunkLayout *layout);

/*
 * Counts quotes and lines in the chunk.  The buffer of size bytes, more than 2
 * * KERNEL_PADDING, is overwritten.
 */
extern SourceStatus chunk_count(Source *source, const Kernel *kernel,
								const ChunkLayout *layout, void *buffer,
								size_t size, FileChunk *chunk);

/*
 * Sets the chunk's escaped, in CSV format, by the bytes before it.  The buffer is
 * as above.
 */
extern SourceStatus chunk_look_before(Source *source,
									  const ChunkLayout *layout, void *buffer,
									  size_t size, FileChunk *chunk);

/*
 * Counts as chunk_count does, in CSV format, a chunk whose bytes are in memory with
 * KERNEL_PADDING on both sides, and whose escaped is known.
 */
extern void chunk_count_bytes(const Kernel *kernel, const ChunkLayout *layout,
							  const unsigned char *bytes, FileChunk *chunk);

/*
 * May there be an end-of-data marker in the bytes?  In text format they begin
 * with a record; in CSV format anywhere, and before is the byte before them.
 */
extern bool chunk_may_end(const Dialect *dialect, unsigned char before,
						  const unsigned char *bytes, size_t length);

/*
 * Gives a counted chunk its in_quotes and line.  The state is that before the
 * chunk, and becomes that after it; before the first chunk it is not in
 * quotes, and its line is layout->line.
 */
extern void chunk_resolve(const ChunkLayout *layout, ChunkState *state,
						  FileChunk *chunk);

/*
 * Sets the range of the records that begin in the chunk, whose in_quotes and
 * line are used; *empty when there is none.  The buffer is as above.
 *
 * range->line is chunk->line and the line ends from chunk->from on.  So if
 * the chunks before were not counted, as in text format, chunk->line may be
 * layout->line; the lines from layout->begin up to chunk->from are then
 * counted later, and added to every line number.
 */
extern SourceStatus chunk_start(Source *source,
								const ChunkLayout *layout, void *buffer,
								size_t size, const FileChunk *chunk,
								ScanRange *range, bool *empty);

/*
 * Looks for an end-of-data marker in the bytes of a chunk's last record past its end:
 * those given as behind, up to the start of the next record.  If no record starts
 * there, and they are not the file's last, the bytes that are not searched may have a
 * marker.  In CSV format behind's in_quotes is used.  Sets its may_end.  The buffer is
 * as above.
 */
extern SourceStatus chunk_search_behind(Source *source, const Dialect *dialect,
										const ChunkLayout *layout,
										void *buffer, size_t size,
										FileChunk *behind);

#endif							/* CORE_CHUNK_H */
