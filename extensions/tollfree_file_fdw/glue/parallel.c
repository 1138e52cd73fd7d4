/*
 * parallel.c
 *	  One file, scanned by several processes.
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

#include "callbacks.h"
#include "compat.h"
#include "copy.h"
#include "guc.h"
#include "parallel.h"

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

/* Cuts the file that the leader has open, and reads later as the others do. */
static void
cut_file(FileScanState *scan, ParallelFile *shared)
{
	FileReader *reader = scan->reader;

	pg_atomic_init_u32(&shared->next, 0);
	SpinLockInit(&shared->fallbacks_lock);
	memset(&shared->fallbacks, 0, sizeof(shared->fallbacks));
	pg_atomic_init_u64(&shared->bytes_read, 0);
	scan->is_shut_down = false;
	pg_atomic_init_u32(&shared->searched, 0);
	pg_atomic_init_u32(&shared->last, PG_UINT32_MAX);
	ConditionVariableInit(&shared->progress);
	shared->encoding = scan->encoding;
	shared->is_whole = reader == NULL ||
		!format_is_divisible(&scan->layout) || !reader_find_chunks(reader);
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

/* Keeps what EXPLAIN will tell of the workers, and of the cuts. */
static void
keep_counts(FileScanState *scan)
{
	ParallelFile *shared = scan->parallel;
	Fallbacks	fallbacks;

	SpinLockAcquire(&shared->fallbacks_lock);
	fallbacks = shared->fallbacks;
	SpinLockRelease(&shared->fallbacks_lock);
	scan->worker_fallbacks.nworkers += fallbacks.nworkers;
	for (int i = 0; i < fallbacks.nreasons; i++)
		add_reason(&scan->worker_fallbacks, fallbacks.reasons[i].words,
				   fallbacks.reasons[i].times);
	scan->worker_bytes_read += pg_atomic_read_u64(&shared->bytes_read);
	if (shared->is_whole)
		scan->undivided = "all of it";
	else if (pg_atomic_read_u32(&shared->last) != PG_UINT32_MAX)
		scan->undivided = "from what may be an end-of-data marker on";
}

/* How much shared memory is needed. */
Size
tollfreeEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	return sizeof(ParallelFile);
}

/* Sets up what is shared. */
void
tollfreeInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
								 void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	scan_begin_reading(node);
	scan->parallel = coordinate;
	cut_file(scan, scan->parallel);
	scan_leave_file(node);
}

/*
 * Sets it up again, for the file that has the name by now.  The executor asks
 * for that before it asks the leader to scan again, which opens the file.
 */
void
tollfreeReInitializeDSMForeignScan(ForeignScanState *node,
								   ParallelContext *pcxt, void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	if (!scan->is_shut_down)
		keep_counts(scan);
	tollfreeReScanForeignScan(node);
	scan->parallel = NULL;
	scan_begin_reading(node);
	scan->parallel = coordinate;
	cut_file(scan, scan->parallel);
	scan_leave_file(node);
}

/*
 * Raises an ERROR if the file has another encoding here than for the leader: it
 * is the client's, and a query may be begun before that is set and go on behind.
 */
static void
check_encoding(const FileScanState *scan)
{
	if (scan->encoding != scan->parallel->encoding)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("client_encoding was changed while file \"%s\" was read",
						scan->options.filename),
				 errhint("Run the query again, or set the table's option \"encoding\".")));
}

/* Lets a worker take part. */
void
tollfreeInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
									void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	scan->parallel = coordinate;
	check_encoding(scan);
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
parallel_share_source(FileScanState *scan)
{
	if (scan->parallel->is_whole)
		return;
	check_identity(scan->reader, scan->parallel);
	reader_set_source(scan->reader, &scan->parallel->source);
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

/*
 * Enters a chunk that was taken when those before it have been looked through;
 * false if another process reads it.  There may be no record in it, as *has_rows
 * says.
 */
static bool
enter_chunk(FileScanState *scan, TakenChunk *taken, bool *has_rows)
{
	ParallelFile *shared = scan->parallel;
	FileReader *reader = scan->reader;
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
		reader_begin_records(reader, taken->is_last);
	return true;
}

/* Remembers a chunk of a scan that returns groups, which may have to start over. */
static void
remember_chunk(FileScanState *scan, const TakenChunk *taken)
{
	TakenChunk *copy;

	if (scan->aggregate == NULL)
		return;
	copy = palloc(sizeof(TakenChunk));
	*copy = *taken;
	scan->taken = lappend(scan->taken, copy);
}

/*
 * Goes on with the records of the next chunk; false if none is left.  There may
 * be no record in it, as *has_rows says.
 */
static bool
enter_next_chunk(FileScanState *scan, bool *has_rows)
{
	ParallelFile *shared = scan->parallel;
	TakenChunk	taken = {
		.number = pg_atomic_fetch_add_u32(&shared->next, 1)
	};

	if (taken.number >= shared->nchunks ||
		taken.number > pg_atomic_read_u32(&shared->last))
		return false;
	if (!shared->is_whole)
	{
		check_identity(scan->reader, shared);
		scan->reader->chunks = shared->layout;
		taken.chunk = chunk_bounds(shared, taken.number);
		if (!enter_chunk(scan, &taken, has_rows))
			return false;
	}
	scan->chunk = taken.number;
	remember_chunk(scan, &taken);
	return true;
}

/* Goes on with the records of a chunk that the scan above has taken. */
static bool
enter_owed_chunk(FileScanState *scan)
{
	const TakenChunk *owed = linitial(scan->owed);
	bool		has_rows;

	scan->owed = list_delete_first(scan->owed);
	scan->chunk = owed->number;
	if (scan->parallel->is_whole)
		return true;
	check_identity(scan->reader, scan->parallel);
	scan->reader->chunks = scan->parallel->layout;
	has_rows = reader_find_records(scan->reader, &owed->chunk);
	if (has_rows)
		reader_begin_records(scan->reader, owed->is_last);
	return has_rows;
}

/* Takes a chunk that has rows; false if none is left. */
static bool
take_chunk(FileScanState *scan)
{
	bool		has_rows = true;

	do
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->owed != NIL)
			has_rows = enter_owed_chunk(scan);
		else if (!enter_next_chunk(scan, &has_rows))
			return false;
	} while (!has_rows);
	return true;
}

/* Is it this process that reads a file which cannot be cut? */
bool
parallel_claim_file(FileScanState *scan)
{
	if (!scan->parallel->is_whole)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed while it was read",
						scan->options.filename)));
	if (!scan->has_chunk)
		scan->has_chunk = take_chunk(scan);
	return scan->has_chunk;
}

/*
 * Reads the next batch of this process's chunk, or of the next one; false if
 * there is none, and where COPY's parser must go on.
 */
bool
parallel_next_batch(FileScanState *scan)
{
	for (;;)
	{
		if (!scan->has_chunk && !take_chunk(scan))
			return false;
		scan->has_chunk = true;
		if (reader_next_batch(scan->reader))
			return true;
		if (scan->reader->hands_over)
			return false;
		scan->has_chunk = false;
	}
}

/* Has COPY's parser more records to read of the chunk that it has taken over? */
bool
parallel_copies_on(const FileScanState *scan)
{
	return scan->parallel->is_whole ||
		copy_position(scan->file) < scan->reader->range.end;
}

/* Counts that a worker leaves the fast path, for EXPLAIN in the leader. */
void
parallel_note_fallback(FileScanState *scan, const char *reason)
{
	ParallelFile *shared = scan->parallel;

	if (shared == NULL || !IsParallelWorker())
		return;
	SpinLockAcquire(&shared->fallbacks_lock);
	shared->fallbacks.nworkers += !scan->is_noted;
	add_reason(&shared->fallbacks, reason, 1);
	SpinLockRelease(&shared->fallbacks_lock);
	scan->is_noted = true;
}

/*
 * Tells the leader what a worker has read; the leader keeps it, since what is
 * shared ends before EXPLAIN.  Comes twice if a LIMIT ends the query, the second
 * time when it has ended.
 */
void
tollfreeShutdownForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	if (scan->parallel == NULL || scan->is_shut_down)
		return;
	scan->is_shut_down = true;
	if (IsParallelWorker())
		pg_atomic_fetch_add_u64(&scan->parallel->bytes_read,
								scan_bytes_read(scan));
	else
		keep_counts(scan);
}

/*
 * Hands what a scan shares, and the chunks that it has taken, over to the one
 * below that starts over.
 */
void
parallel_pass_down(FileScanState *scan, FileScanState *below)
{
	below->parallel = scan->parallel;
	below->is_noted = scan->is_noted;
	/* Of workers the scan above tells. */
	below->is_shut_down = !IsParallelWorker();
	below->owed = scan->taken;
	scan->taken = NIL;
}

/*
 * Raises an ERROR if COPY's parser has met the end of the data before the end
 * of its chunk, and none was found there before.
 */
void
parallel_check_end(const FileScanState *scan)
{
	if (!scan->parallel->is_whole &&
		pg_atomic_read_u32(&scan->parallel->last) != scan->chunk &&
		copy_position(scan->file) < scan->parallel->source.size)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed while it was read",
						scan->options.filename),
				 errhint("Run the query again when nobody writes to the file.")));
}
