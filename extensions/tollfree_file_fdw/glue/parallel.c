/*
 * parallel.c
 *	  One file, scanned by several processes.
 *
 * The file is cut into chunks.  A process owns the records that begin in a chunk
 * that it has taken.  Where core/ does not want to judge a record, COPY's parser
 * of that process reads on to the chunk's end.
 *
 * Where records begin, and whether there are any, depends on all that is before
 * a chunk: in CSV format on whether that is an odd number of quotes, in text
 * format on whether it holds an end-of-data marker.  So everybody looks through
 * a chunk that was taken, and reads it once those before it have been looked
 * through.  That is soon, for nobody waits before having looked.
 *
 * What looks like a marker in CSV format may be a part of a value.  A file that
 * has one is not cut: one process reads all of it.
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
#define COUNT_BUFFER_SIZE (256 * 1024)
#define SEARCH_BUFFER_SIZE (256 * 1024)

/* A chunk that a process has taken. */
typedef struct TakenChunk
{
	uint32		number;
	FileChunk	chunk;
} TakenChunk;

/*
 * Can such files be cut?  A process must know what COPY's parser has read, in
 * the file, so nothing may be converted.
 */
bool
parallel_is_possible(const FileLayout *layout)
{
	return layout->dialect.encoding != FILE_ENCODING_ASCII &&
		layout->header != COPY_HEADER_MATCH &&
		chunk_unsupported(&layout->dialect) == NULL;
}

/* The bytes of a chunk. */
static FileChunk
chunk_bounds(const ParallelFile *shared, uint32 n)
{
	int64_t		from = shared->layout.begin + n * shared->chunk_size;

	return (FileChunk)
	{
		.from = from,.to = Min(from + shared->chunk_size, shared->layout.end)
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

/*
 * Is there what may be an end-of-data marker of a CSV file in the bytes, at the
 * beginning of a line?  There is a byte before the first one.
 */
static bool
find_csv_marker(const char *bytes, size_t length)
{
	const char *end = bytes + length;
	const char *at = bytes;

	while ((at = memchr(at, '\\', end - at)) != NULL)
	{
		if (++at < end && *at == '.' && (at[-2] == '\n' || at[-2] == '\r'))
			return true;
	}
	return false;
}

/*
 * May the data of a CSV file end before the file does?  Whoever scans a later
 * chunk would not know.  So this is looked for before.
 */
static bool
has_csv_marker(const FileReader *reader)
{
	const Dialect *dialect = &reader->layout.dialect;
	Source		source = *filescan_source(reader->scan);
	int64_t		end = reader->chunks.end;
	int64_t		length;
	bool		found = false;
	char	   *buffer;

	if (dialect->format != FILE_FORMAT_CSV || !dialect->marker_in_csv)
		return false;
	buffer = palloc(1 + SEARCH_BUFFER_SIZE);
	buffer[0] = '\n';
	for (int64_t offset = reader->chunks.begin; offset < end && !found;
		 offset += Max(1, length - 1))
	{
		CHECK_FOR_INTERRUPTS();
		length = Min(SEARCH_BUFFER_SIZE, end - offset);
		reader_check_source(reader,
							source_read(&source, buffer + 1, length, offset));
		found = find_csv_marker(buffer + 1, length);
		/* The last byte is looked at again, with what is before it. */
		if (length > 1)
			buffer[0] = buffer[length - 1];
	}
	pfree(buffer);
	return found;
}

/* Cuts the file that the leader has open. */
static void
cut_file(FileScanState *scan, ParallelFile *shared)
{
	FileReader *reader = scan->reader;

	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u32(&shared->fallbacks, 0);
	scan->is_shut_down = false;
	pg_atomic_init_u32(&shared->searched, 0);
	pg_atomic_init_u32(&shared->last, PG_UINT32_MAX);
	ConditionVariableInit(&shared->progress);
	shared->is_whole = reader == NULL || !reader_find_chunks(reader) ||
		has_csv_marker(reader);
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
}

/* Sets it up again, for the file that has the name by now. */
void
tollfreeReInitializeDSMForeignScan(ForeignScanState *node,
								   ParallelContext *pcxt, void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	scan_begin_reading(node);
	cut_file(scan, scan->parallel);
}

/* Lets a worker take part. */
void
tollfreeInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
									void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	scan->parallel = coordinate;
	scan_begin_reading(node);
}

/* Raises an ERROR unless this process has the leader's file open. */
static void
check_identity(const FileReader *reader, const ParallelFile *shared)
{
	const Source *ours = filescan_source(reader->scan);
	Source		leaders = shared->source;

	leaders.fd = ours->fd;
	if (ours->device != leaders.device || ours->inode != leaders.inode)
		reader_check_source(reader, SOURCE_CHANGED);
	reader_check_source(reader, source_verify(&leaders));
}

/* Where the records of the chunks behind one begin. */
static int64_t
find_records_end(const FileReader *reader, const ParallelFile *shared, uint32 n)
{
	char		buffer[START_BUFFER_SIZE];
	bool		empty = true;
	ScanRange	range;

	while (empty && ++n < shared->nchunks)
	{
		FileChunk	chunk = chunk_bounds(shared, n);

		reader_check_source(reader,
							chunk_start(filescan_source(reader->scan),
										&shared->layout, buffer, sizeof(buffer),
										&chunk, &range, &empty));
	}
	return empty ? shared->layout.end : range.offset;
}

/*
 * Is there an end-of-data marker among the records from one offset to another,
 * in text format?
 */
static bool
find_text_marker(const FileReader *reader, int64_t from, int64_t to)
{
	Source		source = *filescan_source(reader->scan);
	char	   *buffer = palloc(SEARCH_BUFFER_SIZE);
	bool		found = false;

	while (from < to && !found)
	{
		size_t		length = Min(SEARCH_BUFFER_SIZE, to - from);
		const char *end = buffer + length;
		const char *at = buffer;

		CHECK_FOR_INTERRUPTS();
		reader_check_source(reader, source_read(&source, buffer, length, from));
		while (at < end && (at = memchr(at, '\\', end - at)) != NULL &&
			   at + 1 < end && !found)
		{
			found = at[1] == '.';
			at += 2;
		}
		/* An escape that is cut off is looked at with what follows it. */
		if (at == end - 1 && from + length < to)
			length--;
		from += length;
	}
	pfree(buffer);
	return found;
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
 * Looks through a text chunk that the reader has entered.  Do the data of the
 * file go on up to it?
 */
static bool
search_text(FileScanState *scan, uint32 n, bool is_empty)
{
	ParallelFile *shared = scan->parallel;
	const FileReader *reader = scan->reader;
	bool		found = !is_empty &&
		find_text_marker(reader, reader->range.offset,
						 find_records_end(reader, shared, n));

	if (!await_search(shared, n))
		return false;
	if (found)
		pg_atomic_write_u32(&shared->last, n);
	else
		pg_atomic_write_u32(&shared->searched, n + 1);
	ConditionVariableBroadcast(&shared->progress);
	return true;
}

/* Looks through a CSV chunk, to find out where and how it begins. */
static void
search_csv(FileScanState *scan, uint32 n, FileChunk *chunk)
{
	ParallelFile *shared = scan->parallel;
	void	   *buffer = palloc(COUNT_BUFFER_SIZE);

	reader_check_source(scan->reader,
						chunk_count(filescan_source(scan->reader->scan),
									setting_kernel(), &shared->layout, buffer,
									COUNT_BUFFER_SIZE, chunk));
	pfree(buffer);
	await_search(shared, n);
	pg_read_barrier();
	chunk_resolve(&shared->layout, &shared->state, chunk);
	pg_write_barrier();
	pg_atomic_write_u32(&shared->searched, n + 1);
	ConditionVariableBroadcast(&shared->progress);
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
	bool		is_csv = chunk_needs_count(&scan->layout.dialect);

	if (taken.number >= shared->nchunks)
		return false;
	if (!shared->is_whole)
	{
		check_identity(scan->reader, shared);
		scan->reader->chunks = shared->layout;
		taken.chunk = chunk_bounds(shared, taken.number);
		if (is_csv)
			search_csv(scan, taken.number, &taken.chunk);
		*has_rows = reader_enter_chunk(scan->reader, &taken.chunk);
		if (!is_csv && !search_text(scan, taken.number, !*has_rows))
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

	scan->owed = list_delete_first(scan->owed);
	scan->chunk = owed->number;
	if (scan->parallel->is_whole)
		return true;
	check_identity(scan->reader, scan->parallel);
	scan->reader->chunks = scan->parallel->layout;
	return reader_enter_chunk(scan->reader, &owed->chunk);
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
		copy_position(scan->copy) < scan->reader->range.end;
}

/* Counts a worker that leaves the fast path, for EXPLAIN in the leader. */
void
parallel_note_fallback(FileScanState *scan)
{
	if (scan->parallel == NULL || !IsParallelWorker() || scan->is_noted)
		return;
	scan->is_noted = true;
	pg_atomic_fetch_add_u32(&scan->parallel->fallbacks, 1);
}

/*
 * Keeps what EXPLAIN will tell, since what is shared ends before that.  Comes
 * twice if a LIMIT ends the query, the second time when it has ended.
 */
void
tollfreeShutdownForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;

	if (scan->parallel == NULL || scan->is_shut_down)
		return;
	scan->is_shut_down = true;
	scan->worker_fallbacks = pg_atomic_read_u32(&scan->parallel->fallbacks);
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
		copy_position(scan->copy) < scan->parallel->source.size)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed while it was read",
						scan->options.filename),
				 errhint("Run the query again when nobody writes to the file.")));
}
