/*
 * parallel_index.h
 *	  A record index that is made by several processes.
 */
#ifndef TOLLFREE_FILE_PARALLEL_INDEX_H
#define TOLLFREE_FILE_PARALLEL_INDEX_H

#include "port/atomics.h"
#include "storage/spin.h"
#include "utils/dsa.h"

#include "cache/index_use.h"
#include "read/reader.h"

/* What the processes share, in a ParallelFile. */
typedef struct ParallelIndex
{
	bool		is_made;		/* do they make one at all? */
	slock_t		lock;			/* of the next three */
	dsa_pointer pieces;			/* a list, of those that are done */
	uint32		npieces;
	uint32		nchunks;		/* in these pieces */
	pg_atomic_uint64 written;	/* blocks, by workers */
} ParallelIndex;

/* What a process has found in a chunk: blocks, in the order of the file. */
typedef struct ChunkBlocks
{
	uint32		chunk;
	uint32		first;			/* block of the process's builder */
	uint32		nblocks;		/* 0 if no record begins in the chunk */
	int64		begin;			/* offset of the first record */
	int64		end;			/* offset behind the last one */
	int64		line;			/* of the first record, as its process counts */
	int64		nlines;			/* of all records */
} ChunkBlocks;

/* What one process has, in a ParallelShare: a sink. */
typedef struct IndexMaker
{
	BatchSink	sink;
	ParallelIndex *shared;
	const ChunkLayout *layout;	/* of the file */
	uint32		nexpected;		/* chunks of all processes, when no more are
								 * left */
	dsa_area   *area;			/* memory that all see; NULL if there is none */
	IndexUse   *use;			/* what the blocks are added to, as long as it
								 * is_filling; NULL if no index is made */
	ChunkBlocks *chunks;		/* read to their ends, but for the last; in
								 * the memory context of the IndexUse */
	uint32		nchunks;
	uint32		capacity;
} IndexMaker;

extern void parallel_index_init(ParallelIndex *shared, bool is_made);
extern void parallel_index_reset(ParallelIndex *shared, dsa_area *area);
extern void parallel_index_join(ParallelIndex *shared, IndexMaker *maker,
								IndexUse *use, FileReader *reader, int encoding,
								const FileOptions *options);
extern void parallel_index_begin_chunk(IndexMaker *maker, uint32 chunk);

/* Is this process still making its part? */
static inline bool
parallel_index_is_making(const IndexMaker *maker)
{
	return maker->use != NULL && maker->use->is_filling;
}

#endif							/* TOLLFREE_FILE_PARALLEL_INDEX_H */
