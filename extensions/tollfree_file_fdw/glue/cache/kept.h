/*
 * kept.h
 *	  What is kept of a file, in a scan of it.
 */
#ifndef TOLLFREE_FILE_KEPT_H
#define TOLLFREE_FILE_KEPT_H

#include "cache/block_ranges.h"
#include "cache/column_cache.h"
#include "cache/index_use.h"
#include "read/range.h"

/*
 * The first rows of a file, read as text without a look at what is kept of it: a
 * source, and the sink that ends it.
 */
typedef struct HeadRange
{
	RangeSource base;
	BatchSink	sink;
	bool		is_taken;
	bool		is_left;		/* has what is kept been looked for? */
	uint32		nrows;			/* read before that */
} HeadRange;

/* In a FileScanState. */
typedef struct KeptFile
{
	IndexUse	index;
	ColumnCache cache;

	/* In a scan by one process, of the present execution */
	MemoryContext context;		/* that lasts as long */
	const FileOptions *options;
	int			encoding;
	HeadRange	head;
	WholeFile	whole;
	BlockRanges blocks;
} KeptFile;

extern RangeSource *kept_begin(KeptFile *kept, FileReader *reader, int encoding,
							   const FileOptions *options, bool begins_small);

#endif							/* TOLLFREE_FILE_KEPT_H */
