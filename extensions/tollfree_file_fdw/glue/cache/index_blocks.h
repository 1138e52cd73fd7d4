/*
 * index_blocks.h
 *	  Which blocks of a record index a scan reads.
 */
#ifndef TOLLFREE_FILE_INDEX_BLOCKS_H
#define TOLLFREE_FILE_INDEX_BLOCKS_H

#include "cache/index_use.h"

/* Some blocks of a file for one of several processes. */
typedef struct IndexPart
{
	int64_t		offset;			/* as in a ScanRange, with the next two */
	int64_t		end;
	int64_t		line;
	uint64		counted_rows;	/* all of its rows, if they pass the filter
								 * and need not be read to be counted; else 0 */
} IndexPart;

/* Blocks to be read, one after the other. */
typedef struct BlockRun
{
	ScanRange	range;			/* the same as records of the file */
	uint32		first;			/* block of the index */
	uint32		nblocks;		/* 0 for what is behind all blocks */
} BlockRun;

extern bool index_blocks_next(IndexUse *use, BlockRun *run);
extern bool index_blocks_next_filled(IndexUse *use, BlockRun *run);
extern ScanRange index_blocks_range_from(const IndexUse *use, uint32 n);
extern void index_blocks_narrow(IndexUse *use);
extern uint32 index_blocks_cut(IndexUse *use, int64_t size, IndexPart *parts,
							   uint32 capacity);

#endif							/* TOLLFREE_FILE_INDEX_BLOCKS_H */
