/*
 * parallel.c
 *	  One file, scanned by several processes.
 *
 * The leader cuts the file into chunks.  In CSV format it also counts the
 * quotes in each, since only what is before a chunk says whether it begins
 * within quotes.  A CSV file that may hold an end-of-data marker is not cut:
 * one process reads all of it.  In text format, where a marker is an escape
 * like others and can be told for sure, everybody looks for one in a chunk that
 * was taken, and reads the chunk once those before it are known to have none.
 * That is soon, for nobody waits before having looked.
 *
 * A process owns the records that begin in a chunk that it has taken.  Where core/ does not want to judge a record, COPY's parser of that
 * process reads on to the chunk's end.
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

/* Bounds the table of chunks of a CSV file */
#define MAX_CHUNKS 65536

/* For looking into the file beside the scan, bytes */
#define START_BUFFER_SIZE 1024
#define COUNT_BUFFER_SIZE (256 * 1024)
#define SEARCH_BUFFER_SIZE (256 * 1024)

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

/* Counts quotes, so that each chunk can be begun. */
static void
resolve_chunks(FileReader *reader, ParallelFile *shared)
{
	void	   *buffer = palloc(COUNT_BUFFER_SIZE);

	for (uint32 n = 0; n < shared->nchunks; n++)
	{
		CHECK_FOR_INTERRUPTS();
		shared->chunks[n] = chunk_bounds(shared, n);
		reader_check_source(reader,
							chunk_count(&shared->source, setting_kernel(),
										&shared->layout, buffer,
										COUNT_BUFFER_SIZE, &shared->chunks[n]));
	}
	chunk_resolve(&shared->layout, shared->chunks, shared->nchunks);
	pfree(buffer);
}

/* Cuts the file that the leader has open, into as many chunks as there may be. */
static void
cut_file(FileScanState *scan, ParallelFile *shared)
{
	FileReader *reader = scan->reader;

	pg_atomic_init_u32(&shared->next, 0);
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
	shared->nchunks = count_chunks(shared->layout.end - shared->layout.begin,
								   &shared->chunk_size);
	if (!chunk_needs_count(&scan->layout.dialect))
		return;
	if (shared->nchunks > shared->max_chunks)
	{
		/* The file has grown between two executions. */
		shared->is_whole = true;
		shared->nchunks = 1;
	}
	else
		resolve_chunks(reader, shared);
}

/* How much shared memory is needed. */
Size
tollfreeEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	FileScanState *scan = node->fdw_state;
	int64_t		size;

	scan_begin_reading(node);
	scan->max_chunks = 1;
	if (scan->reader != NULL)
		scan->max_chunks = 1 +
			count_chunks(filescan_source(scan->reader->scan)->size, &size);
	return add_size(offsetof(ParallelFile, chunks),
					mul_size(sizeof(FileChunk), scan->max_chunks));
}

/* Sets up what is shared. */
void
tollfreeInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
								 void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	scan->parallel = coordinate;
	scan->parallel->max_chunks = scan->max_chunks;
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

/*
 * Takes the next chunk; false if none is left.  A scan that returns groups
 * remembers what it took, since the plan below may have to read it again.
 */
static bool
next_chunk(FileScanState *scan, uint32 *n)
{
	int			owed = bms_next_member(scan->owed, -1);

	if (owed >= 0)
	{
		scan->owed = bms_del_member(scan->owed, owed);
		*n = owed;
		return true;
	}
	*n = pg_atomic_fetch_add_u32(&scan->parallel->next, 1);
	if (*n >= scan->parallel->nchunks)
		return false;
	if (scan->aggregate != NULL)
		scan->taken = bms_add_member(scan->taken, *n);
	return true;
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
 * Do the data of the file go on up to the chunk that the reader has entered?
 * If so it is known of this chunk, too, when this returns.
 */
static bool
search_chunk(FileScanState *scan, uint32 n, bool is_empty)
{
	ParallelFile *shared = scan->parallel;
	const FileReader *reader = scan->reader;
	bool		found;

	/* Has it been searched, by the scan that this one starts over for? */
	if (pg_atomic_read_u32(&shared->searched) > n ||
		pg_atomic_read_u32(&shared->last) == n)
		return true;
	found = !is_empty &&
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

/* Takes a chunk that has rows; false if none is left. */
static bool
take_chunk(FileScanState *scan)
{
	ParallelFile *shared = scan->parallel;
	FileReader *reader = scan->reader;

	uint32		n;

	while (next_chunk(scan, &n))
	{
		FileChunk	chunk;
		bool		has_rows;

		if (shared->is_whole)
			return true;
		CHECK_FOR_INTERRUPTS();
		check_identity(reader, shared);
		reader->chunks = shared->layout;
		chunk = chunk_needs_count(&scan->layout.dialect) ?
			shared->chunks[n] : chunk_bounds(shared, n);
		has_rows = reader_enter_chunk(reader, &chunk);
		if (scan->layout.dialect.format == FILE_FORMAT_TEXT &&
			!search_chunk(scan, n, !has_rows))
			return false;
		scan->chunk = n;
		if (has_rows)
			return true;
	}
	return false;
}

/* Is it this process that reads a file which cannot be cut? */
bool
parallel_claim_file(FileScanState *scan)
{
	uint32		n;

	if (!scan->parallel->is_whole)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed while it was read",
						scan->options.filename)));
	if (!scan->has_chunk)
		scan->has_chunk = next_chunk(scan, &n);
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

/*
 * Hands what a scan shares, and the chunks that it has taken, over to the one
 * below that starts over.
 */
void
parallel_pass_down(FileScanState *scan, FileScanState *below)
{
	below->parallel = scan->parallel;
	below->owed = scan->taken;
	scan->taken = NULL;
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
