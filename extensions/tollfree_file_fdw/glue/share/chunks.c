/*
 * chunks.c
 *	  Chunks of a file, or parts of one with a record index, as a source of ranges:
 *	  what one of several processes reads.
 *
 * A chunk that was taken is looked through, then those before it are awaited, then
 * its records are read; see parallel.c for why.  The search decides (search_chunk,
 * resolve_chunk); then the others are told, and the reader is set to the records.
 * A part's records are known, and so is that there is no marker in it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "base/compat.h"
#include "base/guc.h"
#include "read/copy.h"
#include "share/parallel.h"

/* A chunk that a process has taken. */
typedef struct TakenChunk
{
	uint32		number;
	FileChunk	chunk;
	int64_t		searched_to;	/* offset up to which it was looked through */
	bool		has_records;	/* does a record begin in it? */
	bool		is_faulty;		/* can it not be decoded? */
	bool		is_last;		/* is all behind it to be read as well? */
} TakenChunk;

/* Where a chunk of a file begins; that behind the last one is the end of all. */
static int64
chunk_begin(const ParallelShare *share, uint32 n)
{
	const ParallelFile *shared = share->file;
	const PackedFile *packed = share->ranges.file->packed;

	if (n == 0)
		return shared->layout.begin;
	if (n == shared->nchunks)
		return shared->layout.end;
	return packed == NULL ? shared->layout.begin + n * shared->chunk_size :
		parallel_packed_begin(&shared->packed, packed, n);
}

/* The bytes of a chunk; its line is that of the first as long as none is counted. */
static FileChunk
chunk_bounds(const ParallelShare *share, uint32 n)
{
	return (FileChunk)
	{
		.from = chunk_begin(share, n),
			.to = chunk_begin(share, n + 1),
			.line = share->file->layout.line
	};
}

/* Raises an ERROR unless this process has the leader's file open. */
static void
check_identity(const ParallelShare *share)
{
	const FileReader *reader = share->ranges.reader;
	const Source *ours = filescan_source(reader->scan);
	Source		leaders = share->file->source;

	/* What is of one process alone */
	leaders.fd = ours->fd;
	leaders.check_interrupts = ours->check_interrupts;
	if (ours->device != leaders.device || ours->inode != leaders.inode)
		reader_check_source(reader, SOURCE_CHANGED);
	reader_check_source(reader, source_verify(&leaders));
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
chunk_has_end(const FileReader *reader, const FileChunk *chunk,
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

/*
 * Reads compressed text from where its decoding begins: looks at what is in front of
 * the chunk find it there.  False if that fails.  Before it is an error, the data may
 * end: so whoever has such a chunk reads the file to its end.
 */
static bool
load_packed(FileReader *reader, const FileChunk *chunk, int64_t to)
{
	return reader->base.file->packed == NULL ||
		reader_load_packed(reader, Max(reader->chunks.begin,
									   chunk->from - PACKED_CHUNK_LEAD), to);
}

/* Looks through a chunk, and finds its records where that takes no others. */
static void
search_chunk(FileReader *reader, TakenChunk *taken)
{
	FileChunk  *chunk = &taken->chunk;
	bool		is_csv = chunk_needs_count(&reader->layout.dialect);
	const unsigned char *bytes;

	taken->searched_to = Min(chunk->to + SCAN_REACH, reader->chunks.end);
	if (!load_packed(reader, chunk, taken->searched_to))
	{
		taken->is_faulty = taken->is_last = true;
		return;
	}
	taken->has_records = is_csv || reader_find_records(reader, chunk);
	if (!taken->has_records)
		return;
	bytes = load_chunk(reader, chunk, taken->searched_to);
	if (is_csv)
	{
		reader_look_before(reader, chunk);
		chunk_count_bytes(setting_kernel(), &reader->chunks, bytes, chunk);
	}
	taken->is_last = chunk_has_end(reader, chunk, bytes, taken->searched_to);
}

/*
 * Looks for an end-of-data marker from a chunk's end to that of its last record, if
 * that is not very long.  All before it has been looked through.
 */
static void
search_last_record(FileReader *reader, bool in_quotes, TakenChunk *taken)
{
	const ChunkLayout *layout = &reader->chunks;
	FileChunk	behind = {
		.from = taken->chunk.to,
		.to = Min(layout->end, taken->chunk.to + (int64_t) SCAN_BLOCK_MAX),
		.in_quotes = in_quotes
	};

	if (taken->is_last || taken->searched_to >= layout->end)
		return;
	reader_search_behind(reader, &behind);
	taken->is_last = behind.may_end;
}

/*
 * Finds out, when the chunks before have been looked through, which records of a
 * chunk are to be read, and whether all behind them are.
 */
static void
resolve_chunk(ParallelFile *shared, FileReader *reader, TakenChunk *taken)
{
	bool		in_quotes = false;

	if (chunk_needs_count(&reader->layout.dialect))
	{
		pg_read_barrier();
		chunk_resolve(&shared->layout, &shared->state, &taken->chunk);
		in_quotes = shared->state.in_quotes;
	}
	if (chunk_needs_count(&reader->layout.dialect) || taken->is_faulty)
		taken->has_records = reader_find_records(reader, &taken->chunk);
	if (taken->has_records)
		search_last_record(reader, in_quotes, taken);
	else
		taken->is_last = taken->is_faulty;
}

/* Tells those that wait that a chunk has been looked through. */
static void
publish_search(ParallelFile *shared, const TakenChunk *taken)
{
	pg_write_barrier();
	if (taken->is_last)
		pg_atomic_write_u32(&shared->last, taken->number);
	else
		pg_atomic_write_u32(&shared->searched, taken->number + 1);
	ConditionVariableBroadcast(&shared->progress);
}

/* Has the reader read the records found, or all from the first of them on. */
static void
read_records(FileReader *reader, const TakenChunk *taken)
{
	ScanRange	range = reader->range;

	if (!taken->has_records)
		return;
	if (taken->is_last)
		range.end = PG_INT64_MAX;
	batch_set_range(&reader->base, &range);
}

/*
 * Has the reader read a chunk that was taken, when those before it have been looked
 * through; false if the data end in them.
 */
static bool
enter_chunk(ParallelShare *share, TakenChunk *taken)
{
	ParallelFile *shared = share->file;
	FileReader *reader = share->ranges.reader;

	reader->chunks = shared->layout;
	taken->chunk = chunk_bounds(share, taken->number);
	search_chunk(reader, taken);
	if (!await_search(shared, taken->number))
		return false;
	resolve_chunk(shared, reader, taken);
	publish_search(shared, taken);
	read_records(reader, taken);
	if (parallel_index_is_making(&share->maker))
		parallel_index_begin_chunk(&share->maker, taken->number);
	return true;
}

/*
 * Has the reader read a part that the record index gives; false if the number of its
 * records is enough.
 */
static bool
enter_part(ParallelShare *share, uint32 n)
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
		share->ranges.counted += part->counted_rows;
		return false;
	}
	reader_read_range(share->ranges.reader, &range);
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

/* Takes the next chunk, and has its records read; false if none is left. */
static bool
take_chunk(ParallelShare *share, TakenChunk *taken)
{
	ParallelFile *shared = share->file;

	*taken = (TakenChunk)
	{
		.number = pg_atomic_fetch_add_u32(&shared->next, 1),
			.has_records = true
	};
	if (taken->number >= shared->nchunks ||
		taken->number > pg_atomic_read_u32(&shared->last))
		return false;
	if (!shared->is_whole)
		check_identity(share);
	if (shared->by_index)
		taken->has_records = enter_part(share, taken->number);
	else if (!shared->is_whole && !enter_chunk(share, taken))
		return false;
	share->chunk = taken->number;
	remember_chunk(share, taken);
	return true;
}

/* Has a chunk's records read that the scan above has taken. */
static void
take_owed_chunk(ParallelShare *share, TakenChunk *taken)
{
	FileReader *reader = share->ranges.reader;

	*taken = *(const TakenChunk *) linitial(share->owed);
	share->owed = list_delete_first(share->owed);
	share->chunk = taken->number;
	taken->has_records = true;
	if (share->file->is_whole)
		return;
	check_identity(share);
	if (share->file->by_index)
		taken->has_records = enter_part(share, taken->number);
	else
	{
		reader->chunks = share->file->layout;
		taken->has_records = reader_find_records(reader, &taken->chunk);
		read_records(reader, taken);
	}
}

/* The slots of RangeMethods, whose comments say what each does. */

static bool
chunks_next(RangeSource *source)
{
	ParallelShare *share = (ParallelShare *) source;
	FileReader *reader = source->reader;
	TakenChunk	taken;

	/* Without a reader it can only be all of a file that is not cut. */
	if (reader == NULL && !share->file->is_whole)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" was changed while it was read",
						source->file->filename)));
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (share->owed != NIL)
			take_owed_chunk(share, &taken);
		else if (!take_chunk(share, &taken))
		{
			/* What all processes have read, for an index made of it */
			share->maker.nexpected =
				Min(pg_atomic_read_u32(&share->file->last),
					share->file->nchunks - 1) + 1;
			return false;
		}
	} while (!taken.has_records);
	source->batches = reader == NULL ? NULL : &reader->base;
	return true;
}

static bool
chunks_copies_on(const RangeSource *source)
{
	const ParallelShare *share = (const ParallelShare *) source;

	return share->file->is_whole ||
		copy_position(source->file) < source->reader->range.end;
}

static void
chunks_check_end(const RangeSource *source)
{
	ParallelShare *share = (ParallelShare *) source;
	ParallelFile *shared = share->file;

	/* Lines of JSON do not end before the file does. */
	if (!shared->is_whole && source->file->feed == NULL &&
		pg_atomic_read_u32(&shared->last) != share->chunk &&
		copy_position(source->file) <
		source_text_end(filescan_source(source->reader->scan)))
		file_report_change(source->file->filename, false);
}

static const RangeMethods chunks_methods = {
	.next = chunks_next,
	.copies_on = chunks_copies_on,
	.check_end = chunks_check_end
};

/*
 * Joins the processes that read a file, which this process has open, too, and what
 * they have of what is kept of it.  Returns what this process reads.  The file must
 * be the leader's, as it was for that: its end, and so the last record, may be others
 * by now.
 */
RangeSource *
chunks_begin(ParallelShare *share, KeptFile *kept, OpenFile *file,
			 FileReader *reader, const FileOptions *options)
{
	ParallelFile *shared = share->file;
	IndexUse   *index = &kept->index;
	RangeSource *source = &share->ranges;

	range_prepare(source, &chunks_methods, file, reader);
	if (reader == NULL)
		return source;
	if (!shared->is_whole)
	{
		check_identity(share);
		reader_set_source(reader, &shared->source);
		parallel_packed_join(&shared->packed, share->maker.area, file->packed);
	}
	index_use_reset(index);
	share->maker.layout = &shared->layout;
	parallel_index_join(&shared->made, &share->maker, index, reader,
						shared->encoding, options);
	/* Segments are of blocks of an index that is there. */
	if (!parallel_index_is_making(&share->maker))
	{
		if (shared->by_index && kept->cache.is_wanted)
			index_share_join(index, reader, &shared->index);
		column_cache_begin(&kept->cache, &shared->room);
	}
	if (index->role == INDEX_SHARED)
		source = part_runs_begin(&share->runs, source, index, &kept->cache);
	range_add_sink(source, &share->maker.sink);
	range_add_sink(source, &kept->cache.sink);
	return source;
}
