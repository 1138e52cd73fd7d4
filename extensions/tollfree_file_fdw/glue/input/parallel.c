/*
 * parallel.c
 *	  One file, read by several processes.
 *
 * The file is cut into chunks.  A process owns the records that begin in a chunk
 * that it has taken.  Where core/ does not want to judge a record, COPY's parser
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
 * With a record index all that is known.  The leader has cut the file into parts,
 * in which nothing is looked for, and nobody waits.  What is read of a part may be
 * column segments instead of text: see index_share.c.
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
#include "utils/wait_event.h"

#include "base/compat.h"
#include "base/guc.h"
#include "input/parallel.h"
#include "read/copy.h"

/* Their numbers are 32 bits long */
#define MAX_CHUNKS PG_INT32_MAX

/* For looking into the file beside the scan, bytes */
#define START_BUFFER_SIZE 1024

/* A chunk that a process has taken. */
typedef struct TakenChunk
{
	uint32		number;
	FileChunk	chunk;
	int64_t		searched_to;	/* offset up to which it was looked through */
	bool		is_last;		/* is all behind it to be read as well? */
} TakenChunk;

/* The bytes of a chunk; its line is that of the first as long as none is counted. */
static FileChunk
chunk_bounds(const ParallelFile *shared, uint32 n)
{
	int64_t		from = shared->layout.begin + n * shared->chunk_size;

	return (FileChunk)
	{
		.from = from,
			.to = Min(from + shared->chunk_size, shared->layout.end),
			.line = shared->layout.line
	};
}

/* How many chunks a file of that size is cut into. */
static uint32
count_chunks(int64_t size, int64_t *chunk_size)
{
	*chunk_size = Max((int64_t) setting_parallel_chunk_size * 1024,
					  size / MAX_CHUNKS + 1);
	return (size + *chunk_size - 1) / *chunk_size;
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
									   (int64_t) setting_parallel_chunk_size * 1024,
									   shared->parts, shared->max_parts);
	if (index->has_tail)
		pg_atomic_write_u32(&shared->last, shared->nchunks - 1);
}

/*
 * Cuts the file that the leader has open, and reads later as the others do.
 * Without a reader it is whole.
 */
void
parallel_cut(ParallelFile *shared, FileReader *reader,
			 const FileLayout *layout, int encoding, IndexUse *index)
{
	pg_atomic_init_u32(&shared->next, 0);
	SpinLockInit(&shared->counts_lock);
	memset(&shared->fallbacks, 0, sizeof(shared->fallbacks));
	memset(&shared->segments, 0, sizeof(shared->segments));
	segment_file_begin_room(&shared->room);
	pg_atomic_init_u64(&shared->bytes_read, 0);
	pg_atomic_init_u32(&shared->searched, 0);
	pg_atomic_init_u32(&shared->last, PG_UINT32_MAX);
	ConditionVariableInit(&shared->progress);
	shared->encoding = encoding;
	shared->by_index = false;
	parallel_index_init(&shared->made, false);
	if (reader != NULL && index->role == INDEX_USED)
	{
		cut_by_index(shared, reader, index);
		return;
	}
	shared->is_whole = reader == NULL || !format_is_divisible(layout) ||
		!reader_find_chunks(reader);
	shared->nchunks = 1;
	if (shared->is_whole)
		return;
	shared->source = *filescan_source(reader->scan);
	shared->layout = reader->chunks;
	shared->state = (ChunkState)
	{
		.line = shared->layout.line
	};
	shared->nchunks = count_chunks(shared->layout.end - shared->layout.begin,
								   &shared->chunk_size);
	shared->made.is_made = index->role == INDEX_FILLED && !index->is_loaded;
}

/* Counts that workers have met a reason so many times. */
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
parallel_tell_counts(ParallelShare *share, uint64 bytes_read,
					 uint64 blocks_written, const SegmentCounts *segments)
{
	ParallelFile *shared = share->file;

	pg_atomic_fetch_add_u64(&shared->bytes_read, bytes_read);
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
	share->worker_bytes_read += pg_atomic_read_u64(&shared->bytes_read);
	share->worker_blocks_written += pg_atomic_read_u64(&shared->made.written);
	if (shared->is_whole)
		share->undivided = "all of it";
	else if (!shared->by_index &&
			 pg_atomic_read_u32(&shared->last) != PG_UINT32_MAX)
		share->undivided = "from what may be an end-of-data marker on";
}

/* Raises an ERROR unless this process has the leader's file open. */
static void
check_identity(const FileReader *reader, const ParallelFile *shared)
{
	const Source *ours = filescan_source(reader->scan);
	Source		leaders = shared->source;

	/* What is of one process alone */
	leaders.fd = ours->fd;
	leaders.check_interrupts = ours->check_interrupts;
	if (ours->device != leaders.device || ours->inode != leaders.inode)
		reader_check_source(reader, SOURCE_CHANGED);
	reader_check_source(reader, source_verify(&leaders));
}

/*
 * Has this process read the leader's file as it was for the leader: its end, and
 * so the last record, may be others by now.
 */
void
parallel_share_source(const ParallelShare *share, FileReader *reader)
{
	if (share->file->is_whole)
		return;
	check_identity(reader, share->file);
	reader_set_source(reader, &share->file->source);
}

/* Begins to make this process's part of a record index, if one is made. */
void
parallel_begin_index(ParallelShare *share, FileReader *reader, IndexUse *index,
					 const FileOptions *options)
{
	share->maker.layout = &share->file->layout;
	parallel_index_join(&share->file->made, &share->maker, index, reader,
						share->file->encoding, options);
}

/*
 * Waits until the chunks before one have been searched; false if the data end
 * in them.
 */
static bool
await_search(ParallelFile *shared, uint32 n)
{
	while (pg_atomic_read_u32(&shared->searched) < n &&
		   pg_atomic_read_u32(&shared->last) >= n)
		ConditionVariableSleep(&shared->progress, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	return pg_atomic_read_u32(&shared->last) >= n;
}

/*
 * Reads a chunk, up to some byte behind it.  Returns where it begins; the byte
 * before is there as well.
 */
static const unsigned char *
load_chunk(FileReader *reader, const FileChunk *chunk, int64_t to)
{
	int64_t		before = chunk->from > reader->chunks.begin ? 1 : 0;

	return reader_load(reader, chunk->from - before, to) + before;
}

/*
 * May there be an end-of-data marker in a chunk that has been read up to some
 * byte?  In text format its records must have been found.
 */
static bool
may_end(const FileReader *reader, const FileChunk *chunk,
		const unsigned char *bytes, int64_t to)
{
	const Dialect *dialect = &reader->layout.dialect;
	int64_t		skipped = dialect->format == FILE_FORMAT_CSV ? 0 :
		reader->range.offset - chunk->from;
	unsigned char before = chunk->from > reader->chunks.begin ?
		bytes[-1] : '\n';
	int64_t		length = to - chunk->from - skipped;

	return length > 0 &&
		chunk_may_end(dialect, before, bytes + skipped, length);
}

/* Looks through a chunk.  Does it have records, as far as that can be told? */
static bool
search_chunk(FileReader *reader, TakenChunk *taken)
{
	FileChunk  *chunk = &taken->chunk;
	bool		is_csv = chunk_needs_count(&reader->layout.dialect);
	const unsigned char *bytes;

	if (!is_csv && !reader_find_records(reader, chunk))
		return false;
	taken->searched_to = Min(chunk->to + SCAN_REACH, reader->chunks.end);
	bytes = load_chunk(reader, chunk, taken->searched_to);
	if (is_csv)
		chunk_count_bytes(setting_kernel(), &reader->chunks, bytes, chunk);
	taken->is_last = may_end(reader, chunk, bytes, taken->searched_to);
	return true;
}

/*
 * Looks on, behind a chunk, to the end of its last record, if that is not very
 * long.  All before it has been looked through.
 */
static void
search_behind(const FileReader *reader, const ChunkState *state,
			  TakenChunk *taken)
{
	const ChunkLayout *layout = &reader->chunks;
	char		buffer[START_BUFFER_SIZE];
	FileChunk	behind = {
		.from = taken->chunk.to,
		.to = Min(layout->end, taken->chunk.to + (int64_t) SCAN_BLOCK_MAX),
		.in_quotes = state->in_quotes
	};

	if (!taken->is_last && taken->searched_to < layout->end)
		reader_check_source(reader,
							chunk_may_end_behind(filescan_source(reader->scan),
												 &reader->layout.dialect,
												 layout, buffer,
												 sizeof(buffer), &behind,
												 &taken->is_last));
}

/* Goes on with the records found, or with all from the first of them on. */
static void
begin_records(FileReader *reader, bool to_end)
{
	ScanRange	range = reader->range;

	if (to_end)
		range.end = PG_INT64_MAX;
	batch_set_range(&reader->base, &range);
}

/*
 * Enters a chunk that was taken when those before it have been looked through;
 * false if another process reads it.  There may be no record in it, as *has_rows
 * says.
 */
static bool
enter_chunk(ParallelFile *shared, FileReader *reader, TakenChunk *taken,
			bool *has_rows)
{
	ChunkState	state = {0};

	*has_rows = search_chunk(reader, taken);
	if (!await_search(shared, taken->number))
		return false;
	if (chunk_needs_count(&reader->layout.dialect))
	{
		pg_read_barrier();
		chunk_resolve(&shared->layout, &shared->state, &taken->chunk);
		state = shared->state;
		*has_rows = reader_find_records(reader, &taken->chunk);
	}
	if (*has_rows)
		search_behind(reader, &state, taken);
	else
		taken->is_last = false;
	pg_write_barrier();
	if (taken->is_last)
		pg_atomic_write_u32(&shared->last, taken->number);
	else
		pg_atomic_write_u32(&shared->searched, taken->number + 1);
	ConditionVariableBroadcast(&shared->progress);
	if (*has_rows)
		begin_records(reader, taken->is_last);
	return true;
}

/* Remembers a chunk for a scan that may have to start over. */
static void
remember_chunk(ParallelShare *share, const TakenChunk *taken)
{
	TakenChunk *copy;

	if (!share->keeps_chunks)
		return;
	copy = palloc(sizeof(TakenChunk));
	*copy = *taken;
	share->taken = lappend(share->taken, copy);
}

/*
 * Goes on with the records of a part that the record index gives; false if their
 * number is enough.
 */
static bool
enter_part(ParallelShare *share, FileReader *reader, uint32 n)
{
	const IndexPart *part = &share->file->parts[n];
	ScanRange	range = {
		.offset = part->offset,
		.end = part->end,
		.line = part->line,
		.line_end = share->file->layout.line_end
	};

	if (share->counts_rows && part->counted_rows > 0)
	{
		share->counted_rows += part->counted_rows;
		return false;
	}
	reader_read_range(reader, &range);
	return true;
}

/*
 * Goes on with the records of the next chunk; false if none is left.  There may
 * be no record in it, as *has_rows says.
 */
static bool
enter_next_chunk(ParallelShare *share, FileReader *reader, bool *has_rows)
{
	ParallelFile *shared = share->file;
	TakenChunk	taken = {
		.number = pg_atomic_fetch_add_u32(&shared->next, 1)
	};

	if (taken.number >= shared->nchunks ||
		taken.number > pg_atomic_read_u32(&shared->last))
		return false;
	if (!shared->is_whole)
		check_identity(reader, shared);
	if (shared->by_index)
		*has_rows = enter_part(share, reader, taken.number);
	else if (!shared->is_whole)
	{
		reader->chunks = shared->layout;
		taken.chunk = chunk_bounds(shared, taken.number);
		if (!enter_chunk(shared, reader, &taken, has_rows))
			return false;
		if (parallel_index_is_making(&share->maker))
			parallel_index_begin_chunk(&share->maker, taken.number);
	}
	share->chunk = taken.number;
	remember_chunk(share, &taken);
	return true;
}

/* Goes on with the records of a chunk that the scan above has taken. */
static bool
enter_owed_chunk(ParallelShare *share, FileReader *reader)
{
	const TakenChunk *owed = linitial(share->owed);
	bool		has_rows;

	share->owed = list_delete_first(share->owed);
	share->chunk = owed->number;
	if (share->file->is_whole)
		return true;
	check_identity(reader, share->file);
	if (share->file->by_index)
		return enter_part(share, reader, owed->number);
	reader->chunks = share->file->layout;
	has_rows = reader_find_records(reader, &owed->chunk);
	if (has_rows)
		begin_records(reader, owed->is_last);
	return has_rows;
}

/* Tells this process's part of an index how many chunks all processes have read. */
static void
tell_chunks(ParallelShare *share)
{
	uint32		last = pg_atomic_read_u32(&share->file->last);

	share->maker.nexpected = Min(last, share->file->nchunks - 1) + 1;
}

/*
 * Takes a chunk that has rows; false if none is left.  Without a reader that can
 * only be all of a file that is not cut.
 */
bool
parallel_take_chunk(ParallelShare *share, FileReader *reader,
					const OpenFile *file)
{
	bool		has_rows = true;

	if (reader == NULL && !share->file->is_whole)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed while it was read",
						file->filename)));
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (share->owed != NIL)
			has_rows = enter_owed_chunk(share, reader);
		else if (!enter_next_chunk(share, reader, &has_rows))
		{
			tell_chunks(share);
			return false;
		}
	} while (!has_rows);
	return true;
}

/* Has COPY's parser more records to read of the chunk that it has taken over? */
bool
parallel_copies_on(const ParallelShare *share, const FileReader *reader,
				   const OpenFile *file)
{
	return share->file->is_whole || copy_position(file) < reader->range.end;
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
	below->is_noted = share->is_noted;
	/* Of workers the scan above tells. */
	below->is_shut_down = !IsParallelWorker();
	below->owed = share->taken;
	share->taken = NIL;
	share->counted_rows = 0;
}

/* Forgets which chunks were taken, or are to be read again. */
void
parallel_forget_chunks(ParallelShare *share)
{
	list_free_deep(share->taken);
	list_free_deep(share->owed);
	share->taken = share->owed = NIL;
	share->counted_rows = 0;
}

/*
 * Raises an ERROR if COPY's parser has met the end of the data before the end
 * of its chunk, and none was found there before.
 */
void
parallel_check_end(const ParallelShare *share, const OpenFile *file)
{
	ParallelFile *shared = share->file;

	if (!shared->is_whole &&
		pg_atomic_read_u32(&shared->last) != share->chunk &&
		copy_position(file) < shared->source.size)
		file_report_change(file->filename, false);
}
