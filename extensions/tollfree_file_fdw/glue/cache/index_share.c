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
 * Parts of a file that is not very large are within such 16 MB, and have one run.
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
void
index_share_take(IndexUse *use, const ScanRange *range)
{
	Assert(use->role == INDEX_SHARED);
	use->next = find_block_from(&use->index, range->offset);
	use->has_tail = range->end == PG_INT64_MAX;
	use->nblocks = use->has_tail ? use->next :
		find_block_from(&use->index, range->end);
}

/* Finds the next run of the part that was taken last; false if none is left. */
bool
index_share_next(IndexUse *use, BlockRun *run)
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
