/*
 * parallel_index.c
 *	  A record index that is made by several processes.
 *
 * Each process has a builder, to which it adds the blocks of every chunk that it
 * has taken; no block is of two chunks.  A process that finds no more chunks puts
 * what it has where all see it.  Who is the last to do so has everything, and
 * stores the index:
 *
 *		process A	chunks 0, 2, 5	---->  blocks |0|0|2|5|5|  \
 *		process B	chunks 1, 4		---->  blocks |1|4|4|		 --> |0|0|1|2|3|4|4|5|5|
 *		process C	chunk 3			---->  blocks |3|			/
 *
 * There is no index where a process does not come so far: because of a LIMIT, of
 * an error, or of a record that COPY's parser has to read.  Then some chunks are
 * missing for good.
 *
 * In text format nobody knows how many lines are before a chunk.  So lines are
 * counted from the beginning of each chunk, and added up at the end.
 *
 * What the executor shares with workers has the memory, which goes with them.
 */
#include "postgres.h"

#include "cache/parallel_index.h"

#define FIRST_CAPACITY 16		/* chunks */

/* What a process has found, where all see it: behind it chunks, then blocks. */
typedef struct IndexPieces
{
	dsa_pointer next;
	uint32		nchunks;
	uint32		nblocks;
	size_t		stride;			/* of the blocks, bytes */
} IndexPieces;

/* A chunk's blocks, where all see them. */
typedef struct PlacedChunk
{
	const ChunkBlocks *chunk;
	const unsigned char *blocks;
} PlacedChunk;

static ChunkBlocks *
pieces_chunks(IndexPieces *pieces)
{
	return (ChunkBlocks *) ((char *) pieces + MAXALIGN(sizeof(IndexPieces)));
}

static unsigned char *
pieces_blocks(IndexPieces *pieces)
{
	return (unsigned char *) pieces_chunks(pieces) +
		MAXALIGN(sizeof(ChunkBlocks) * pieces->nchunks);
}

/* Prepares what is shared, before anybody joins. */
void
parallel_index_init(ParallelIndex *shared, bool is_made)
{
	SpinLockInit(&shared->lock);
	shared->is_made = is_made;
	shared->pieces = InvalidDsaPointer;
	shared->npieces = shared->nchunks = 0;
	pg_atomic_init_u64(&shared->written, 0);
}

/* Frees what is shared, when nobody else has a part in it. */
void
parallel_index_reset(ParallelIndex *shared, dsa_area *area)
{
	while (DsaPointerIsValid(shared->pieces))
	{
		IndexPieces *pieces = dsa_get_address(area, shared->pieces);
		dsa_pointer next = pieces->next;

		dsa_free(area, shared->pieces);
		shared->pieces = next;
	}
	shared->npieces = shared->nchunks = 0;
}

/* Begins to make this process's part of the index, if one is made. */
void
parallel_index_join(const ParallelIndex *shared, IndexMaker *maker, IndexUse *use,
					FileReader *reader, int encoding, const FileOptions *options)
{
	maker->nchunks = maker->capacity = 0;
	maker->chunks = NULL;
	maker->use = NULL;
	if (!shared->is_made || maker->area == NULL)
		return;
	index_use_join(use, reader, encoding, options);
	maker->use = use;
}

/* Doubles the room for chunks. */
static void
grow_chunks(IndexMaker *maker)
{
	uint32		capacity = Max(FIRST_CAPACITY, 2 * maker->capacity);
	ChunkBlocks *chunks = MemoryContextAllocHuge(maker->use->context,
												 sizeof(ChunkBlocks) *
												 (Size) capacity);

	if (maker->nchunks > 0)
		memcpy(chunks, maker->chunks, sizeof(ChunkBlocks) * maker->nchunks);
	maker->chunks = chunks;
	maker->capacity = capacity;
}

/* A chunk was taken.  There may be no record in it. */
void
parallel_index_begin_chunk(IndexMaker *maker, uint32 chunk)
{
	IndexBuilder *builder = &maker->use->builder;

	if (maker->nchunks == maker->capacity)
		grow_chunks(maker);
	maker->chunks[maker->nchunks++] = (ChunkBlocks)
	{
		.chunk = chunk,
			.first = builder->nblocks
	};
	index_builder_end_block(builder);
}

/* Takes in the reader's batch, which has just been read. */
void
parallel_index_add(IndexMaker *maker, FileReader *reader)
{
	IndexUse   *use = maker->use;
	ChunkBlocks *chunk = &maker->chunks[maker->nchunks - 1];

	if (chunk->nblocks == 0)
	{
		chunk->begin = filescan_offset(reader->scan, 0);
		chunk->line = filescan_lines_before(reader->scan);
	}
	index_use_add(use, reader, chunk->line);
	chunk->nblocks = use->builder.nblocks - chunk->first;
	chunk->end = use->end;
}

/* The chunk has been read to its end. */
void
parallel_index_end_chunk(IndexMaker *maker, const FileReader *reader)
{
	ChunkBlocks *chunk = &maker->chunks[maker->nchunks - 1];

	chunk->nlines = filescan_lines_before(reader->scan) - chunk->line;
}

/*
 * Puts what this process has found where all see it; false if there is no memory
 * for that, or if there is nothing to be made of it.
 */
static bool
publish(ParallelIndex *shared, const IndexMaker *maker, uint32 *nchunks)
{
	const IndexBuilder *builder = &maker->use->builder;
	Size		chunks_size = MAXALIGN(sizeof(ChunkBlocks) * maker->nchunks);
	Size		blocks_size = builder->stride * builder->nblocks;
	IndexPieces *pieces;
	dsa_pointer place;

	if (builder->failed || chunks_size > INDEX_SIZE_MAX)
		return false;
	place = dsa_allocate_extended(maker->area,
								  MAXALIGN(sizeof(IndexPieces)) + chunks_size +
								  blocks_size, DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(place))
		return false;
	pieces = dsa_get_address(maker->area, place);
	pieces->nchunks = maker->nchunks;
	pieces->nblocks = builder->nblocks;
	pieces->stride = builder->stride;
	memcpy(pieces_chunks(pieces), maker->chunks,
		   sizeof(ChunkBlocks) * maker->nchunks);
	memcpy(pieces_blocks(pieces), builder->blocks, blocks_size);

	SpinLockAcquire(&shared->lock);
	pieces->next = shared->pieces;
	shared->pieces = place;
	shared->npieces++;
	shared->nchunks += maker->nchunks;
	*nchunks = shared->nchunks;
	SpinLockRelease(&shared->lock);
	return true;
}

/* The chunks of all processes, each in its place; NULL if one is missing. */
static PlacedChunk *
place_chunks(const ParallelIndex *shared, dsa_area *area, uint32 nchunks)
{
	PlacedChunk *placed = palloc_extended(sizeof(PlacedChunk) * (Size) nchunks,
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (dsa_pointer place = shared->pieces; DsaPointerIsValid(place);)
	{
		IndexPieces *pieces = dsa_get_address(area, place);

		for (uint32 i = 0; i < pieces->nchunks; i++)
		{
			const ChunkBlocks *chunk = &pieces_chunks(pieces)[i];

			Assert(chunk->chunk < nchunks);
			placed[chunk->chunk].chunk = chunk;
			placed[chunk->chunk].blocks = pieces_blocks(pieces) +
				pieces->stride * chunk->first;
		}
		place = pieces->next;
	}
	for (uint32 i = 0; i < nchunks; i++)
	{
		if (placed[i].chunk == NULL)
			return NULL;
	}
	return placed;
}

/*
 * Replaces what this process has found by what all have; false if it does not
 * fit together.
 */
static bool
collect(const ParallelIndex *shared, IndexMaker *maker, const FileReader *reader,
		const ChunkLayout *layout, uint32 nchunks)
{
	IndexUse   *use = maker->use;
	PlacedChunk *placed = place_chunks(shared, maker->area, nchunks);
	int64		line = layout->line;

	if (placed == NULL)
		return false;
	index_builder_close(&use->builder);
	index_use_open_builder(use, reader);
	use->end = -1;
	for (uint32 i = 0; i < nchunks; i++)
	{
		const ChunkBlocks *chunk = placed[i].chunk;

		if (chunk->nblocks == 0)
			continue;
		if (use->end >= 0 && use->end != chunk->begin)
			return false;
		index_builder_append(&use->builder, placed[i].blocks, chunk->nblocks,
							 line);
		line += chunk->nlines;
		use->end = chunk->end;
	}
	return true;
}

/*
 * This process has found no more chunks: puts what it has to the rest, and stores
 * the index of all so many chunks if they are there.  Says whether it has.  One
 * that has had no chunk finds them all there when another one has stored them.
 */
bool
parallel_index_finish(ParallelIndex *shared, IndexMaker *maker,
					  FileReader *reader, const ChunkLayout *layout,
					  uint32 nchunks)
{
	IndexUse   *use = maker->use;
	MemoryContext old = MemoryContextSwitchTo(use->context);
	uint32		found = 0;
	bool		is_stored = maker->nchunks > 0 &&
		publish(shared, maker, &found) &&
		found == nchunks && collect(shared, maker, reader, layout, nchunks) &&
		index_use_store(use, reader, layout->line_end);

	use->is_filling = false;
	MemoryContextSwitchTo(old);
	return is_stored;
}
