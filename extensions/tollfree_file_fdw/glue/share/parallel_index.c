/*
 * parallel_index.c
 *	  A record index that is made by several processes.
 *
 * Each process has a builder, to which it adds the blocks of every chunk that it
 * has taken; no block is of two chunks.  A process that finds no more chunks
 * publishes its blocks.  Who is the last to do so has everything, and stores the
 * index:
 *
 *		process A	chunks 0, 2, 5	---->  blocks |0|0|2|5|5|  \
 *		process B	chunks 1, 4		---->  blocks |1|4|4|		 --> |0|0|1|2|3|4|4|5|5|
 *		process C	chunk 3			---->  blocks |3|			/
 *
 * There is no index where a process publishes nothing: because of a LIMIT, of an
 * error, or of a record that COPY's parser has to read.  Then some chunks are
 * missing for good.
 *
 * In text format nobody knows how many lines are before a chunk.  So lines are
 * counted from the beginning of each chunk, and added up at the end.
 *
 * What the executor shares with workers has the memory, which goes with them.
 */
#include "postgres.h"

#include "share/parallel_index.h"

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

/* The slots of SinkMethods, whose comments say what each does. */

static void
maker_sink_add(BatchSink *sink, const BatchSource *source)
{
	IndexMaker *maker = (IndexMaker *) sink;
	IndexUse   *use = maker->use;
	ChunkBlocks *chunk;

	if (!parallel_index_is_making(maker))
		return;
	chunk = &maker->chunks[maker->nchunks - 1];
	if (chunk->nblocks == 0)
	{
		chunk->begin = filescan_offset(use->reader->scan, 0);
		chunk->line = filescan_lines_before(use->reader->scan);
	}
	index_use_add(use, chunk->line);
	chunk->nblocks = use->builder.nblocks - chunk->first;
	chunk->end = use->end;
}

static void
maker_sink_end_range(BatchSink *sink)
{
	IndexMaker *maker = (IndexMaker *) sink;
	ChunkBlocks *chunk;

	if (!parallel_index_is_making(maker))
		return;
	chunk = &maker->chunks[maker->nchunks - 1];
	chunk->nlines = filescan_lines_before(maker->use->reader->scan) - chunk->line;
}

/*
 * Publishes this process's blocks, and sets how many chunks all have published;
 * false if there is no memory for that, or if its builder has failed.
 */
static bool
parallel_index_publish(const IndexMaker *maker, uint32 *nchunks)
{
	ParallelIndex *shared = maker->shared;
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
 * Replaces this process's blocks by those of all; false if they do not fit
 * together.
 */
static bool
parallel_index_collect(IndexMaker *maker)
{
	IndexUse   *use = maker->use;
	uint32		nchunks = maker->nexpected;
	PlacedChunk *placed = place_chunks(maker->shared, maker->area, nchunks);
	int64		line = maker->layout->line;

	if (placed == NULL)
		return false;
	index_builder_close(&use->builder);
	index_use_open_builder(use);
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
 * Publishes this process's blocks, and stores the index if those of all expected
 * chunks are there.  A process that has had no chunk finds them all there when
 * another one has stored them.
 */
static void
maker_sink_finish(BatchSink *sink)
{
	IndexMaker *maker = (IndexMaker *) sink;
	IndexUse   *use = maker->use;
	uint32		found = 0;
	MemoryContext old;

	if (!parallel_index_is_making(maker))
		return;
	old = MemoryContextSwitchTo(use->context);
	if (maker->nchunks > 0 && parallel_index_publish(maker, &found) &&
		found == maker->nexpected && parallel_index_collect(maker))
		index_use_store(use, maker->layout->line_end);
	use->is_filling = false;
	MemoryContextSwitchTo(old);
}

static void
maker_sink_give_up(BatchSink *sink)
{
	IndexMaker *maker = (IndexMaker *) sink;

	if (maker->use != NULL)
		index_use_give_up(maker->use);
}

static void
maker_sink_end(BatchSink *sink)
{
	IndexMaker *maker = (IndexMaker *) sink;

	if (maker->use != NULL)
		index_use_end(maker->use);
}

static const SinkMethods maker_sink_methods = {
	.add = maker_sink_add,
	.end_range = maker_sink_end_range,
	.finish = maker_sink_finish,
	.give_up = maker_sink_give_up,
	.end = maker_sink_end
};

/* Begins to make this process's blocks of the index, if one is made. */
void
parallel_index_join(ParallelIndex *shared, IndexMaker *maker, IndexUse *use,
					FileReader *reader, int encoding, const FileOptions *options)
{
	maker->sink.methods = &maker_sink_methods;
	maker->shared = shared;
	maker->nchunks = maker->capacity = 0;
	maker->chunks = NULL;
	maker->use = NULL;
	if (!shared->is_made || maker->area == NULL)
		return;
	index_use_join(use, reader, encoding, options);
	maker->use = use;
}
