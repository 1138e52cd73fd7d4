/*
 * block_ranges.h
 *	  Blocks of a record index, as a source of ranges.
 */
#ifndef TOLLFREE_FILE_BLOCK_RANGES_H
#define TOLLFREE_FILE_BLOCK_RANGES_H

#include "cache/column_cache.h"
#include "cache/index_blocks.h"
#include "read/range.h"

typedef struct BlockRanges
{
	RangeSource base;
	IndexUse   *use;
	ColumnCache *cache;
	bool		begins_by_text; /* is the first block read as text, if its run
								 * may be read from segments? */
	uint32		nrepeated;		/* rows of the present range that begin the
								 * next one, too */
} BlockRanges;

extern RangeSource *block_ranges_begin(BlockRanges *blocks, IndexUse *use,
									   ColumnCache *cache, bool begins_by_text);

#endif							/* TOLLFREE_FILE_BLOCK_RANGES_H */
