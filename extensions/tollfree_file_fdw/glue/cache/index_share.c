/*
 * index_share.c
 *	  A record index in a scan by several processes, beyond its parts.
 *
 * The leader has cut the file by an index, and text is read by these parts alone.
 * But column segments are of blocks.  So a process that may use or make segments
 * loads the index as well, and divides the part that it has taken:
 *
 *		part of the file	|    16 MB    |    16 MB    |    16 MB    |
 *		taken					|<------------------------->|
 *		runs					|<- 0 ->|<---- 1 ---->|<-2->|
 *
 * Parts of a file that is not very large are within one span of 16 MB, and have one
 * run.
 *
 * Another session may have removed or replaced the index since it was cut by.  Then
 * this process has none, and reads its parts as text.
 */
#include "postgres.h"

#include "utils/rel.h"

#include "cache/index_file.h"
#include "cache/index_share.h"

/* Which index is used. */
IndexIdentity
index_share_identify(const IndexUse *use)
{
	IndexIdentity identity = {.size = use->index.header->size};

	Assert(use->role == INDEX_USED);
	memcpy(identity.id, use->index.header->id, INDEX_ID_SIZE);
	return identity;
}

/* Loads, after a reset, the index that the leader has cut the file by, if it is there. */
void
index_share_join(IndexUse *use, FileReader *reader,
				 const IndexIdentity *identity)
{
	Oid			relid = RelationGetRelid(reader->base.file->copy->rel);
	MemoryContext old = index_use_enter(use, reader);

	use->next = use->nblocks = 0;
	if (index_file_load(relid, &use->index) &&
		memcmp(use->index.header->id, identity->id, INDEX_ID_SIZE) == 0 &&
		use->index.header->size == identity->size)
	{
		use->role = INDEX_SHARED;
		memcpy(use->id, identity->id, INDEX_ID_SIZE);
	}
	else
		use->unused_reason = "the record index was removed or replaced";
	MemoryContextSwitchTo(old);
}

/* The first block that begins at or after an offset, or the number of blocks. */
static uint32
find_block_from(const RecordIndex *index, int64 offset)
{
	uint32		low = 0;
	uint32		high = index->header->nblocks;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (index_block(index, middle)->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Has the blocks of a part be the next ones, or what is behind all blocks. */
static void
take_part_blocks(IndexUse *use, const ScanRange *range)
{
	Assert(use->role == INDEX_SHARED);
	use->next = find_block_from(&use->index, range->offset);
	use->has_tail = range->end == PG_INT64_MAX;
	use->nblocks = use->has_tail ? use->next :
		find_block_from(&use->index, range->end);
}

/* Finds the next run of the part that was taken last; false if none is left. */
static bool
next_part_run(IndexUse *use, BlockRun *run)
{
	int64		multiple;

	Assert(use->role == INDEX_SHARED && use->run_size > 0);
	if (use->next == use->nblocks && !use->has_tail)
		return false;
	run->first = use->next;
	run->range = index_blocks_range_from(use, use->next);
	if (use->has_tail)
	{
		use->has_tail = false;
		run->range.end = PG_INT64_MAX;
		run->nblocks = 0;
		return true;
	}
	multiple = run->range.offset / use->run_size;
	do
		run->range.end = index_block_end(&use->index, use->next++);
	while (use->next < use->nblocks &&
		   index_block(&use->index, use->next)->offset / use->run_size ==
		   multiple);
	run->nblocks = use->next - run->first;
	return true;
}

/* The slots of RangeMethods, whose comments say what each does. */

static bool
part_runs_next(RangeSource *source)
{
	PartRuns   *runs = (PartRuns *) source;
	BlockRun	run;

	while (!next_part_run(runs->use, &run))
	{
		bool		has_part = runs->parts->methods->next(runs->parts);

		source->counted += counter_take(&runs->parts->counted);
		if (!has_part)
			return false;
		take_part_blocks(runs->use, &source->reader->range);
	}
	source->batches = column_cache_enter(runs->cache, &run);
	return true;
}

static bool
part_runs_copies_on(const RangeSource *source)
{
	const RangeSource *parts = ((const PartRuns *) source)->parts;

	return parts->methods->copies_on(parts);
}

static void
part_runs_check_end(const RangeSource *source)
{
	const RangeSource *parts = ((const PartRuns *) source)->parts;

	parts->methods->check_end(parts);
}

static void
part_runs_end(RangeSource *source)
{
	index_use_end(((PartRuns *) source)->use);
}

static const RangeMethods part_runs_methods = {
	.next = part_runs_next,
	.copies_on = part_runs_copies_on,
	.check_end = part_runs_check_end,
	.end = part_runs_end
};

/* Begins with the runs of parts, whose blocks that index has. */
RangeSource *
part_runs_begin(PartRuns *runs, RangeSource *parts, IndexUse *use,
				ColumnCache *cache)
{
	Assert(use->role == INDEX_SHARED);
	range_prepare(&runs->base, &part_runs_methods, parts->file, parts->reader);
	runs->parts = parts;
	runs->use = use;
	runs->cache = cache;
	return &runs->base;
}
