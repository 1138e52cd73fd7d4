/*
 * parallel.c
 *	  One file, read by several processes.
 *
 * The file is cut into chunks.  A process owns the records that begin in a chunk
 * that it has taken.  Where core/ cannot tell what COPY makes of it, COPY's parser
 * of that process reads on to the chunk's end.
 *
 * Where records begin, and whether there are any, depends on all that is before
 * a chunk: in CSV format on whether that is an odd number of quotes, in either
 * on whether it holds an end-of-data marker.  So everybody looks through a chunk
 * that was taken, and returns its rows once those before it have been looked
 * through.  That is soon, for nobody waits before having looked.
 *
 *		pread -> the reader's window	the whole chunk, and a little behind it
 *					look through it		quotes, line ends, markers
 *					await the others
 *					scan it				where it is: it is not read again
 *
 * Of compressed text the chunks begin where members do: see parallel_packed.c.
 *
 * With a record index all that is known.  The leader has cut the file into parts,
 * in which nothing is looked for, and nobody waits.  What is read of a part may be
 * column segments instead of text: see index_share.c.  How a process takes chunks and
 * parts is in chunks.c.
 *
 * What looks like a marker may be a part of a value, or an error.  Whoever has
 * it in a chunk reads the file to its end, and the others stop there.  So they do
 * at a record that is too long to be looked through before it is read.
 *
 * Rows come in no particular order, and of several errors any may be raised.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/guc.h"
#include "share/parallel.h"

/* Their numbers are 32 bits long */
#define MAX_CHUNKS PG_INT32_MAX

/* How long chunks are to be, bytes */
static int64
chunk_size(void)
{
	return (int64) setting_parallel_chunk_size * 1024;
}

/* Cuts the file where the record index says that records begin. */
static void
cut_by_index(ParallelFile *shared, FileReader *reader, IndexUse *index)
{
	shared->by_index = true;
	shared->is_whole = false;
	shared->source = *filescan_source(reader->scan);
	shared->layout.line_end = (LineEnd) index->index.header->line_end;
	shared->index = index_share_identify(index);
	shared->nchunks = index_blocks_cut(index,
									   chunk_size(),
									   shared->parts, shared->max_parts);
	if (index->has_tail)
		pg_atomic_write_u32(&shared->last, shared->nchunks - 1);
}

/* Cuts the file by its size, or compressed text where members begin. */
static void
cut_by_size(ParallelFile *shared, const FileReader *reader, dsa_area *area)
{
	const PackedFile *packed = reader->base.file->packed;
	int64_t		size = shared->layout.end - shared->layout.begin;

	shared->source = *filescan_source(reader->scan);
	shared->chunk_size = Max(chunk_size(), size / MAX_CHUNKS + 1);
	shared->nchunks = packed == NULL ?
		(size + shared->chunk_size - 1) / shared->chunk_size :
		parallel_packed_cut(&shared->packed, area, packed, &shared->layout,
							chunk_size());
	shared->is_whole = packed != NULL && shared->nchunks == 1;
}

/* Prepares what the processes share, before anybody joins. */
static void
init_shared(ParallelFile *shared, int encoding)
{
	pg_atomic_init_u32(&shared->next, 0);
	SpinLockInit(&shared->counts_lock);
	memset(&shared->fallbacks, 0, sizeof(shared->fallbacks));
	memset(&shared->segments, 0, sizeof(shared->segments));
	segment_file_begin_room(&shared->room);
	pg_atomic_init_u64(&shared->bytes_read, 0);
	pg_atomic_init_u64(&shared->bytes_decoded, 0);
	pg_atomic_init_u32(&shared->searched, 0);
	pg_atomic_init_u32(&shared->last, PG_UINT32_MAX);
	ConditionVariableInit(&shared->progress);
	shared->encoding = encoding;
	shared->by_index = false;
	parallel_index_init(&shared->made, false);
	parallel_packed_init(&shared->packed);
}

/*
 * Cuts the file that the leader has open, and reads later as the others do.
 * Without a reader it is whole.  The area is memory that all see, or NULL.
 */
void
parallel_cut(ParallelFile *shared, FileReader *reader, const FileLayout *layout,
			 int encoding, IndexUse *index, dsa_area *area)
{
	init_shared(shared, encoding);
	if (reader != NULL && index->role == INDEX_USED)
	{
		cut_by_index(shared, reader, index);
		return;
	}
	shared->is_whole = reader == NULL || !format_is_divisible(layout) ||
		!reader_find_chunks(reader, chunk_size());
	shared->nchunks = 1;
	if (shared->is_whole)
		return;
	shared->layout = reader->chunks;
	shared->state = (ChunkState)
	{
		.line = shared->layout.line
	};
	cut_by_size(shared, reader, area);
	shared->made.is_made = index->role == INDEX_FILLED && !index->is_loaded;
}

/* Counts how often workers have met a reason. */
static void
add_reason(Fallbacks *fallbacks, const char *words, int times)
{
	int			i = 0;

	while (i < fallbacks->nreasons && i < MAX_FALLBACK_REASONS - 1 &&
		   strcmp(fallbacks->reasons[i].words, words) != 0)
		i++;
	if (i == fallbacks->nreasons)
	{
		strlcpy(fallbacks->reasons[i].words, words, MAX_FALLBACK_WORDS);
		fallbacks->nreasons++;
	}
	fallbacks->reasons[i].times += times;
}

static void
add_segments(SegmentCounts *sum, const SegmentCounts *counts)
{
	sum->needed += counts->needed;
	sum->used += counts->used;
	sum->written += counts->written;
	if (sum->open_column == 0)
		sum->open_column = counts->open_column;
}

/* Tells the leader what a worker has read and kept, when that has ended. */
void
parallel_tell_counts(ParallelShare *share, ByteCounts bytes,
					 uint64 blocks_written, const SegmentCounts *segments)
{
	ParallelFile *shared = share->file;

	pg_atomic_fetch_add_u64(&shared->bytes_read, bytes.read);
	pg_atomic_fetch_add_u64(&shared->bytes_decoded, bytes.decoded);
	pg_atomic_fetch_add_u64(&shared->made.written, blocks_written);
	SpinLockAcquire(&shared->counts_lock);
	add_segments(&shared->segments, segments);
	SpinLockRelease(&shared->counts_lock);
}

/* Keeps what EXPLAIN will tell of the workers, and of the cuts. */
void
parallel_keep_counts(ParallelShare *share)
{
	ParallelFile *shared = share->file;
	Fallbacks	fallbacks;
	SegmentCounts segments;

	SpinLockAcquire(&shared->counts_lock);
	fallbacks = shared->fallbacks;
	segments = shared->segments;
	SpinLockRelease(&shared->counts_lock);
	share->worker_fallbacks.nworkers += fallbacks.nworkers;
	for (int i = 0; i < fallbacks.nreasons; i++)
		add_reason(&share->worker_fallbacks, fallbacks.reasons[i].words,
				   fallbacks.reasons[i].times);
	add_segments(&share->worker_segments, &segments);
	share->worker_bytes.read += pg_atomic_read_u64(&shared->bytes_read);
	share->worker_bytes.decoded += pg_atomic_read_u64(&shared->bytes_decoded);
	share->worker_blocks_written += pg_atomic_read_u64(&shared->made.written);
	if (shared->is_whole)
		share->undivided = "all of it";
	else if (!shared->by_index &&
			 pg_atomic_read_u32(&shared->last) != PG_UINT32_MAX)
		share->undivided = "from what may be an end-of-data marker on";
}

/* Counts that a worker leaves the fast path, for EXPLAIN in the leader. */
void
parallel_note_fallback(ParallelShare *share, const char *reason)
{
	ParallelFile *shared = share->file;

	if (shared == NULL || !IsParallelWorker())
		return;
	SpinLockAcquire(&shared->counts_lock);
	shared->fallbacks.nworkers += !share->is_noted;
	add_reason(&shared->fallbacks, reason, 1);
	SpinLockRelease(&shared->counts_lock);
	share->is_noted = true;
}

/*
 * Hands what a scan shares, and the chunks that it has taken, over to the one
 * below that starts over.
 */
void
parallel_pass_down(ParallelShare *share, ParallelShare *below)
{
	below->file = share->file;
	below->files = share->files;
	below->is_noted = share->is_noted;
	/* Of workers the scan above tells. */
	below->is_shut_down = !IsParallelWorker();
	below->owed = share->taken;
	share->taken = NIL;
}

/* Forgets which chunks were taken, or are to be read again. */
void
parallel_forget_chunks(ParallelShare *share)
{
	list_free_deep(share->taken);
	list_free_deep(share->owed);
	share->taken = share->owed = NIL;
}
