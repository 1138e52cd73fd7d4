/*
 * block_ranges.c
 *	  Blocks of a record index, as a source of ranges.
 *
 *		USED		the blocks that may matter, in runs; then what is behind all
 *					blocks, of a file that has grown
 *		FILLED		all blocks, one by one, which are made again
 *
 * Runs are read from column segments, if they are there.  Who wants a few rows need
 * not load these: then the first block of the first run is read as text, and the
 * next range begins with the same block, whose rows are passed over.
 */
#include "postgres.h"

#include "cache/block_ranges.h"

/* Is the first block of this run to be read as text, before all of the run? */
static bool
begins_by_text(BlockRanges *blocks, const BlockRun *run)
{
	bool		is_first = blocks->begins_by_text;

	blocks->begins_by_text = false;
	return is_first && column_cache_may_enter(blocks->cache, run);
}

/* Has the first block of a run be read as text, and all of the run after it. */
static void
read_first_block(BlockRanges *blocks, BlockRun *run)
{
	IndexUse   *use = blocks->use;

	use->next = run->first;
	run->range.end = index_block_end(&use->index, run->first);
	blocks->nrepeated = index_block(&use->index, run->first)->nrows;
	reader_read_range(use->reader, &run->range);
	blocks->base.batches = &use->reader->base;
}

/* The slots of RangeMethods, whose comments say what each does. */

static bool
used_next(RangeSource *source)
{
	BlockRanges *blocks = (BlockRanges *) source;
	BlockRun	run;
	bool		found = index_blocks_next(blocks->use, &run);

	source->passed += blocks->nrepeated;
	source->counted += counter_take(&blocks->use->counted_rows);
	blocks->nrepeated = 0;
	if (!found)
		return false;
	if (begins_by_text(blocks, &run))
		read_first_block(blocks, &run);
	else
		source->batches = column_cache_enter(blocks->cache, &run);
	return true;
}

/* What segments are read from, or made of, is read to its end. */
static void
used_narrow(RangeSource *source, const FilterNode *joins)
{
	BlockRanges *blocks = (BlockRanges *) source;

	blocks->use->joins = joins;
	if (blocks->cache->context == NULL)
		index_blocks_narrow(blocks->use);
}

static void
used_end(RangeSource *source)
{
	((BlockRanges *) source)->use->joins = NULL;
}

static bool
filled_next(RangeSource *source)
{
	BlockRanges *blocks = (BlockRanges *) source;
	BlockRun	run;

	if (!index_blocks_next_filled(blocks->use, &run))
		return false;
	reader_read_range(source->reader, &run.range);
	source->batches = &source->reader->base;
	return true;
}

static const RangeMethods used_methods = {
	.next = used_next,
	.narrow = used_narrow,
	.end = used_end
};

static const RangeMethods filled_methods = {.next = filled_next};

/* Begins with the blocks of an index that is USED, or loaded to be FILLED. */
RangeSource *
block_ranges_begin(BlockRanges *blocks, IndexUse *use, ColumnCache *cache,
				   bool begins_by_text)
{
	Assert(index_use_has_blocks(use));
	range_prepare(&blocks->base,
				  use->role == INDEX_USED ? &used_methods : &filled_methods,
				  use->reader->base.file, use->reader);
	blocks->use = use;
	blocks->cache = cache;
	blocks->begins_by_text = begins_by_text && use->role == INDEX_USED;
	blocks->nrepeated = 0;
	return &blocks->base;
}
