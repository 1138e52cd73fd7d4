/*
 * index_blocks.c
 *	  Which blocks of a record index a scan reads.
 *
 * A block is not read where no row can pass the filter, by the zone maps, or where
 * all do and rows are only counted.  When a hash join above has built its table,
 * blocks are skipped in which no row can have a match, too: those that are left, for
 * by then reading has begun.
 *
 * A block that is not read has no error that file_fdw would raise: its records
 * were found to be good, and each value that the scan would have converted is
 * one that core/ has converted.  Of a lazy table that has to be so for the columns of
 * filters alone.
 *
 * Of several processes the leader decides which blocks are read and cuts them into
 * parts; the others need not see the index.  Where column segments may be used or
 * made, a part is the span that one segment covers, 16 MB: who has taken it loads
 * whole segments, once, and makes whole ones.  If several processes shared a part, each
 * would load and check all of its segments, and none could make any.  A part of that
 * size takes some 10 ms to read as text, so little time is lost by those that have
 * none left.
 */
#include "postgres.h"

#include "cache/index_blocks.h"

/* What is to be done with a block. */
typedef enum BlockVerdict
{
	BLOCK_READ,
	BLOCK_SKIP,					/* no row passes the filter */
	BLOCK_DROP,					/* no row has a match in a join above */
	BLOCK_COUNT
} BlockVerdict;

/* Decides what is to be done with a block. */
static BlockVerdict
decide_block(IndexUse *use, const IndexBlock *block)
{
	const BatchSource *base = &use->reader->base;
	const FileColumns *columns = &base->columns;
	ZoneTruths	truths = {true, false, false};

	for (int i = 0; i < columns->ncolumns; i++)
	{
		const Zone *zone = use->columns[i] < 0 ? NULL :
			&block->zones[use->columns[i]];
		bool		is_clean = zone != NULL && zone->open == 0 &&
			!(base->asks_null[i] && zone->nulls > 0);

		if (use->needed[i] && !is_clean)
		{
			use->unclean = i;
			return BLOCK_READ;
		}
		use->zones[i] = is_clean ? zone : NULL;
	}
	if (use->filter != NULL)
		truths = zones_truths(use->filter, columns->specs, use->zones,
							  block->nrows);
	if (!truths.may_be_true)
		return BLOCK_SKIP;
	if (use->joins != NULL &&
		!zones_truths(use->joins, columns->specs, use->zones,
					  block->nrows).may_be_true)
		return BLOCK_DROP;
	return use->counts_rows && !truths.may_be_false &&
		!truths.may_be_unknown ? BLOCK_COUNT : BLOCK_READ;
}

/* Counts a block that is not read. */
static void
note_unread(IndexUse *use, BlockVerdict verdict, const IndexBlock *block)
{
	use->skipped += verdict == BLOCK_SKIP;
	use->skipped_rows += verdict == BLOCK_SKIP ? block->nrows : 0;
	use->unjoined += verdict == BLOCK_DROP;
	use->unjoined_rows += verdict == BLOCK_DROP ? block->nrows : 0;
	use->counted += verdict == BLOCK_COUNT;
	use->counted_rows += verdict == BLOCK_COUNT ? block->nrows : 0;
}

/* Passes over blocks that need not be read; false if all are left behind. */
static bool
find_block(IndexUse *use)
{
	for (; use->next < use->nblocks; use->next++)
	{
		const IndexBlock *block = index_block(&use->index, use->next);
		BlockVerdict verdict = decide_block(use, block);

		if (verdict == BLOCK_READ)
			return true;
		note_unread(use, verdict, block);
	}
	return false;
}

/* Where a block begins. */
ScanRange
index_blocks_range_from(const IndexUse *use, uint32 n)
{
	return (ScanRange)
	{
		.offset = index_block(&use->index, n)->offset,
			.line = index_block(&use->index, n)->line,
			.line_end = (LineEnd) use->index.header->line_end
	};
}

/* Finds what is behind the blocks; false if that has been read. */
static bool
find_tail(IndexUse *use, BlockRun *run)
{
	MemoryContext old;

	if (!use->has_tail)
		return false;
	use->has_tail = false;
	old = MemoryContextSwitchTo(use->context);
	index_use_begin_filling(use);
	MemoryContextSwitchTo(old);
	run->range = index_blocks_range_from(use, use->nblocks);
	run->range.end = PG_INT64_MAX;
	run->nblocks = 0;
	return true;
}

/* Is the next block to be read, as a part of the run? */
static bool
continues_run(IndexUse *use, const BlockRun *run)
{
	const IndexBlock *block;

	if (use->next == use->nblocks)
		return false;
	block = index_block(&use->index, use->next);
	if (use->run_size > 0 && block->offset / use->run_size !=
		run->range.offset / use->run_size)
		return false;
	return decide_block(use, block) == BLOCK_READ;
}

/* Finds the next block, which is made again; false if there is none. */
bool
index_blocks_next_filled(IndexUse *use, BlockRun *run)
{
	if (use->next == use->nblocks)
		return false;
	index_builder_end_block(&use->builder);
	run->first = use->next;
	run->nblocks = 1;
	run->range = index_blocks_range_from(use, use->next);
	run->range.end = index_block_end(&use->index, use->next++);
	return true;
}

/* Finds the next blocks to be read; false if there are none. */
bool
index_blocks_next(IndexUse *use, BlockRun *run)
{
	Assert(use->role == INDEX_USED);
	if (!find_block(use))
		return find_tail(use, run);
	run->first = use->next;
	run->range = index_blocks_range_from(use, use->next);
	do
		run->range.end = index_block_end(&use->index, use->next++);
	while (continues_run(use, run));
	run->nblocks = use->next - run->first;
	return true;
}

/*
 * More is known by now of which blocks matter: has the run that is read end where
 * the next block begins, so that those behind it are decided on again.
 */
void
index_blocks_narrow(IndexUse *use)
{
	FileReader *reader = use->reader;
	int64_t		at = filescan_offset(reader->scan, reader->base.batch->nrows);
	uint32		next = use->next;

	while (next > 0 && index_block(&use->index, next - 1)->offset >= at)
		next--;
	if (next == use->next)
		return;
	use->next = next;
	filescan_cut_range(reader->scan, index_block(&use->index, next)->offset);
}

/*
 * Does a block to be read begin another part than the one before it?  Parts have
 * that size in bytes, or a block more; for column segments it is that of spans, and no
 * part is of two.
 */
static bool
begins_part(const IndexUse *use, const IndexPart *part,
			const IndexBlock *block, int64_t size)
{
	return use->run_size > 0 ? block->offset / size != part->offset / size :
		part->end - part->offset >= size;
}

/*
 * Cuts the blocks that are not skipped into parts of that size.  Returns their
 * number, or one more than the capacity if they do not fit.
 */
static uint32
cut_blocks(const IndexUse *use, const BlockVerdict *verdicts, int64_t size,
		   IndexPart *parts, uint32 capacity)
{
	BlockVerdict previous = BLOCK_SKIP;
	IndexPart  *part = NULL;
	uint32		nparts = 0;

	for (uint32 i = 0; i < use->nblocks; i++)
	{
		const IndexBlock *block = index_block(&use->index, i);
		bool		is_other = verdicts[i] != previous;

		previous = verdicts[i];
		if (verdicts[i] == BLOCK_SKIP)
			continue;
		if (is_other || (verdicts[i] == BLOCK_READ &&
						 begins_part(use, part, block, size)))
		{
			if (nparts == capacity)
				return capacity + 1;
			part = &parts[nparts++];
			part->offset = block->offset;
			part->line = block->line;
			part->counted_rows = 0;
		}
		part->end = index_block_end(&use->index, i);
		if (verdicts[i] == BLOCK_COUNT)
			part->counted_rows += block->nrows;
	}
	return nparts;
}

/* Has all blocks of a group read, unless none of it is. */
static void
widen_verdicts(BlockVerdict *verdicts, uint32 nblocks, uint32 group)
{
	for (uint32 from = 0; from < nblocks; from += group)
	{
		uint32		to = Min(nblocks, from + group);
		bool		is_uniform = true;

		for (uint32 i = from + 1; i < to; i++)
			is_uniform &= verdicts[i] == verdicts[from];
		for (uint32 i = from; i < to && !is_uniform; i++)
			verdicts[i] = BLOCK_READ;
	}
}

/*
 * Cuts the file into parts for several processes, of that size in bytes or more,
 * or of the spans of column segments, and returns their number.  Where they would be
 * too many, blocks are read that need not be.  What is behind all blocks is the last
 * part, which one process reads to the end of the data.
 */
uint32
index_blocks_cut(IndexUse *use, int64_t size, IndexPart *parts,
				 uint32 capacity)
{
	uint32		nblocks = use->nblocks;
	BlockVerdict *verdicts = palloc(sizeof(BlockVerdict) * nblocks);
	uint32		nparts;

	Assert(use->role == INDEX_USED);
	if (use->run_size > 0)
		size = use->run_size;
	/* Room for what is behind the blocks */
	capacity -= use->has_tail;
	for (uint32 i = 0; i < nblocks; i++)
		verdicts[i] = decide_block(use, index_block(&use->index, i));
	nparts = cut_blocks(use, verdicts, size, parts, capacity);
	for (uint32 group = 2; nparts > capacity; group *= 2)
	{
		size *= 2;
		widen_verdicts(verdicts, nblocks, group);
		nparts = cut_blocks(use, verdicts, size, parts, capacity);
	}
	for (uint32 i = 0; i < nblocks; i++)
		note_unread(use, verdicts[i], index_block(&use->index, i));
	/* Whoever takes a part counts its rows. */
	use->counted_rows = 0;
	pfree(verdicts);
	if (use->has_tail)
		parts[nparts++] = (IndexPart)
	{
		.offset = index_block(&use->index, nblocks)->offset,
			.line = index_block(&use->index, nblocks)->line,
			.end = PG_INT64_MAX
	};
	return nparts;
}
