/*
 * analyze.c
 *	  Sampling a file for ANALYZE.
 *
 * As for PostgreSQL's own tables: as many random blocks as rows are wanted, and
 * of the rows that begin in them a random choice by Vitter's algorithm.  A block
 * is as long as one record on average.  Longer ones would bring neighbours into
 * the sample, which are often alike, and make few of the distinct values.  How
 * long records are is guessed from the first ones, and where the blocks turn out
 * to hold few, longer ones are drawn instead.
 *
 * Rows behind an end-of-data marker are no rows.  So all of a file that may have
 * one is looked through, at the speed of memory, though only blocks are parsed.
 * A record index knows that there is none, how many rows there are and, in CSV
 * format, where to begin looking for the quotes before a block.
 *
 * Files that are short, that core/ cannot read from the middle, that may have such a
 * marker, or of which rows are left out, which all are told of, are read from end to end by COPY's parser, as file_fdw reads all.
 */
#include "postgres.h"

#include <math.h>
#include <sys/stat.h>

#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/sampling.h"

#include "base/compat.h"
#include "base/guc.h"
#include "base/paths.h"
#include "cache/index_use.h"
#include "plan/callbacks.h"
#include "read/clean.h"
#include "read/computed.h"
#include "read/copy.h"
#include "read/header.h"
#include "read/reader.h"
#include "translate/inputs.h"

/* Read at once for a block, bytes */
#define BLOCK_READ_SIZE ((size_t) 1024)

/* For looking through the file up to a block, bytes */
#define SEARCHED_AT_ONCE (256 * 1024)

/* Looked at to see how long records are, bytes */
#define MEASURED_BYTES 16384

/* How many blocks a file must have for each wanted row to be sampled by them */
#define LEAST_BLOCKS 2

/*
 * The part of the wanted rows that blocks must hold, else longer ones are drawn.
 * It is small: where chance alone missed it, estimates would come out too high.
 */
#define LEAST_ROWS 0.25

/* Keeps a random sample of up to targrows rows of those offered. */
typedef struct Reservoir
{
	HeapTuple  *rows;
	int			targrows;
	int			numrows;
	double		seen;			/* rows offered */
	double		skip;			/* how many to pass over; < 0 if not known */
	ReservoirStateData state;
} Reservoir;

/* How far a file has been looked through for the blocks drawn. */
typedef struct BlockSearch
{
	int64_t		at;				/* offset of the next byte to look at */
	ChunkState	state;			/* CSV: before that byte */
	const RecordIndex *index;	/* of the file, or NULL */
	uint32		next;			/* its first block that is not before at */
} BlockSearch;

/* Begins with an empty sample. */
static void
reservoir_begin(Reservoir *sample, HeapTuple *rows, int targrows)
{
	sample->rows = rows;
	sample->targrows = targrows;
	sample->numrows = 0;
	sample->seen = 0;
	sample->skip = -1;
	reservoir_init_selection_state(&sample->state, targrows);
}

/* Counts a row; is it one to be taken into the sample? */
static bool
reservoir_wants(Reservoir *sample)
{
	bool		wanted = true;

	if (sample->numrows == sample->targrows)
	{
		if (sample->skip < 0)
			sample->skip = reservoir_get_next_S(&sample->state, sample->seen,
												sample->targrows);
		wanted = sample->skip <= 0;
		sample->skip -= 1;
	}
	sample->seen += 1;
	return wanted;
}

/* Takes the row that was wanted, maybe in place of another one. */
static void
reservoir_take(Reservoir *sample, TupleTableSlot *slot)
{
	int			place = sample->numrows;

	if (place < sample->targrows)
		sample->numrows++;
	else
	{
		place = sample->targrows *
			sampler_random_fract(&sample->state.randstate);
		heap_freetuple(sample->rows[place]);
	}
	sample->rows[place] = ExecCopySlotHeapTuple(slot);
}

/* Offers all rows, read by COPY's parser; the columns that are no file's may be NULL. */
static void
sample_file(Reservoir *sample, OpenFile *file,
			const ComputedColumns *computed, ExprContext *econtext,
			TupleTableSlot *slot)
{
	MemoryContext caller = CurrentMemoryContext;

	/* As file_fdw does for ANALYZE */
	file->errors.limit = 0;
	for (;;)
	{
		bool		found;

		compat_vacuum_delay_point();
		ResetExprContext(econtext);
		MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		found = copy_next_row(file, econtext, slot);
		MemoryContextSwitchTo(caller);
		if (!found)
			break;
		if (computed != NULL)
			computed_store(computed, slot, copy_line(file));
		if (reservoir_wants(sample))
			reservoir_take(sample, slot);
	}
	copy_report_left_out(&file->errors, file->left_out);
	if (file->cleaner != NULL)
	{
		PolicyCounts counts = cleaner_counts(file->cleaner);

		counts.lines += file->footer_lines;
		copy_report_policy(RelationGetRelationName(file->copy->rel), &counts);
	}
}

/* Offers the rows that begin in a block; false where COPY's parser is needed. */
static bool
sample_block(Reservoir *sample, FileReader *reader, const FileChunk *block,
			 ExprContext *econtext, TupleTableSlot *slot)
{
	MemoryContext caller = CurrentMemoryContext;
	BatchSource *source = &reader->base;
	BatchStatus status;

	if (!reader_find_records(reader, block))
		return true;
	batch_set_range(source, &reader->range);
	while ((status = batch_next(source)) == BATCH_READY)
	{
		for (int row = 0; row < source->batch->nrows; row++)
		{
			if (!reservoir_wants(sample))
				continue;
			ResetExprContext(econtext);
			MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
			(void) batch_load_row(source, row, slot);
			MemoryContextSwitchTo(caller);
			reservoir_take(sample, slot);
		}
	}
	return status == BATCH_END;
}

/*
 * Continues at the last record up to an offset that the record index knows of;
 * in text format, where only markers are looked for, at the offset: there are none.
 */
static void
skip_by_index(FileReader *reader, BlockSearch *search, int64_t to)
{
	const RecordIndex *index = search->index;

	if (!chunk_needs_count(&reader->layout.dialect))
	{
		search->at = to;
		return;
	}
	for (; search->next < index->header->nblocks; search->next++)
	{
		const IndexBlock *block = index_block(index, search->next);

		if (block->offset > to)
			break;
		if (block->offset <= search->at)
			continue;
		search->at = block->offset;
		search->state.in_quotes = false;
		/* COPY's line, which chunk_resolve makes of it again */
		search->state.line = block->line - reader->chunks.correction;
	}
}

/* May the byte after this one be another one's than it seems? */
static bool
may_protect(const Dialect *dialect, unsigned char c)
{
	return c == '\\' || (dialect->format == FILE_FORMAT_CSV &&
						 dialect->escape != dialect->quote && c == dialect->escape);
}

/*
 * Looks through the file up to an offset; false where an end-of-data marker may
 * be.  In CSV format, whether a block begins within quotes and on which line
 * depends on all that is before it, as whether it belongs to the data does in
 * either.  What is looked at in one piece does not end with a backslash or escape,
 * which may have the next byte to itself.
 */
static bool
search_up_to(FileReader *reader, BlockSearch *search, int64_t to)
{
	const ChunkLayout *chunks = &reader->chunks;
	const Dialect *dialect = &reader->layout.dialect;

	/* Lines of JSON begin wherever one ends, and have no marker. */
	if (dialect->format == FILE_FORMAT_JSON_LINES)
		search->at = to;
	if (search->index != NULL)
		skip_by_index(reader, search, to);
	while (search->at < to)
	{
		FileChunk	piece = {
			.from = search->at,
			.to = Min(to, search->at + SEARCHED_AT_ONCE)
		};
		bool		reaches = piece.to == to;
		int			before = piece.from > chunks->begin ? 1 : 0;
		const unsigned char *bytes =
			reader_load(reader, piece.from - before, piece.to) + before;

		while (piece.to > piece.from &&
			   may_protect(dialect, bytes[piece.to - piece.from - 1]))
			piece.to--;
		if (piece.to == piece.from)
			return reaches;
		if (chunk_needs_count(dialect))
			chunk_count_bytes(setting_kernel(), chunks, bytes, &piece);
		chunk_resolve(chunks, &search->state, &piece);
		search->at = piece.to;
		if (search->index == NULL &&
			chunk_may_end(dialect, before > 0 ? bytes[-1] : '\n', bytes,
						  piece.to - piece.from))
			return false;
	}
	return true;
}

/* How long records are on average, bytes. */
static int64_t
measure_records(FileReader *reader)
{
	char		buffer[MEASURED_BYTES + 2 * KERNEL_PADDING];
	const ChunkLayout *chunks = &reader->chunks;
	FileChunk	first = {
		.from = chunks->begin,
		.to = Min(chunks->end, chunks->begin + MEASURED_BYTES)
	};

	reader_check_source(reader,
						chunk_count(filescan_source(reader->scan),
									setting_kernel(), chunks, buffer,
									sizeof(buffer), &first));
	return Max(1, (first.to - first.from) /
			   Max(1, (int64_t) first.count.line_ends));
}

/* How many blocks of this size there are. */
static int64_t
count_blocks(const ChunkLayout *chunks, int64_t size)
{
	return (chunks->end - chunks->begin + size - 1) / size;
}

/*
 * Offers the rows of as many random blocks of this size as rows are wanted, of
 * which there are more; false if the file has to be read by COPY.
 */
static bool
draw_blocks(Reservoir *sample, FileReader *reader, const RecordIndex *index,
			int64_t size, ExprContext *econtext, TupleTableSlot *slot)
{
	const ChunkLayout *chunks = &reader->chunks;
	BlockSearch search = {
		.at = chunks->begin,
		.state.line = chunks->line,
		.index = index
	};
	BlockSamplerData sampler;

	BlockSampler_Init(&sampler, count_blocks(chunks, size), sample->targrows,
					  pg_prng_uint32(&pg_global_prng_state));
	while (BlockSampler_HasMore(&sampler))
	{
		int64_t		from = chunks->begin + BlockSampler_Next(&sampler) * size;
		FileChunk	block = {.from = from,.to = Min(from + size, chunks->end)};

		compat_vacuum_delay_point();
		if (!search_up_to(reader, &search, block.from))
			return false;
		/* It has not been counted, so the state stays that before it. */
		structure_count_begin(&block.count, false);
		chunk_resolve(chunks, &search.state, &block);
		if (!search_up_to(reader, &search, block.to) ||
			!sample_block(sample, reader, &block, econtext, slot))
			return false;
	}
	return index != NULL || search_up_to(reader, &search, chunks->end);
}

/*
 * Offers rows of random blocks, and sets how many rows the file may have; false
 * if it has to be read by COPY.
 */
static bool
sample_blocks(Reservoir *sample, FileReader *reader, const RecordIndex *index,
			  ExprContext *econtext, TupleTableSlot *slot, double *totalrows)
{
	ChunkLayout *chunks = &reader->chunks;
	int64_t		size;

	if (!reader_find_chunks(reader, BLOCK_READ_SIZE))
		return false;
	if (index != NULL)
		chunks->end = index->header->end;
	size = measure_records(reader);
	for (;;)
	{
		int64_t		nblocks = count_blocks(chunks, size);

		if (nblocks <= (int64_t) sample->targrows * LEAST_BLOCKS ||
			nblocks > MaxBlockNumber)
			return false;
		if (!draw_blocks(sample, reader, index, size, econtext, slot))
			return false;
		if (sample->seen >= sample->targrows * LEAST_ROWS)
		{
			*totalrows = index != NULL ? index->header->nrows :
				rint(sample->seen / sample->targrows * nblocks);
			return true;
		}
		size = Max(size * 2, size * sample->targrows /
				   Max(1, (int64_t) sample->seen));
		reservoir_begin(sample, sample->rows, sample->targrows);
	}
}

/*
 * The same for a file that may not be one for a reader at all.  COPY's parser
 * finds it as it was opened.
 */
static bool
try_blocks(Reservoir *sample, OpenFile *file, const FileOptions *options,
		   ExprContext *econtext, TupleTableSlot *slot, double *totalrows)
{
	FileColumns columns = columns_describe(file->copy->rel, options, NIL,
										   false);
	FileLayout	layout;
	FileReader *reader;
	RecordIndex index;
	bool		has_index;
	bool		done = false;

	if (!setting_sample_blocks || columns.nfields == 0 || options_leave_out(options) ||
		format_unsupported(options, &layout) != NULL ||
		!inputs_are_repeatable(file->copy->rel, &columns))
		return false;
	reader = file->packed != NULL ? NULL :
		reader_open(file, &columns, &layout, BLOCK_READ_SIZE, false);
	if (reader != NULL)
	{
		has_index = options_keep_index(options) &&
			index_use_load(&index, file, format_encoding(options), options);
		done = sample_blocks(sample, reader, has_index ? &index : NULL,
							 econtext, slot, totalrows);
		reader_close(reader);
	}
	return done;
}

/* Offers rows of the table's only file, and sets how many it has. */
static void
sample_one(Reservoir *sample, Relation rel, const FileOptions *options,
		   ExprContext *econtext, TupleTableSlot *slot, double *totalrows)
{
	OpenFile   *file = file_open(rel, options, format_encoding(options), NULL);

	if (!try_blocks(sample, file, options, econtext, slot, totalrows))
	{
		reservoir_begin(sample, sample->rows, sample->targrows);
		sample_file(sample, file, NULL, econtext, slot);
		*totalrows = sample->seen;
	}
	file_close(file);
}

/*
 * Offers all rows of all files: so each file has the part of the sample that it has
 * of the rows.
 */
static void
sample_many(Reservoir *sample, Relation rel, const FileOptions *options,
			ExprContext *econtext, TupleTableSlot *slot, double *totalrows)
{
	FilePaths	paths = paths_find(options->pattern, false);
	FileOptions one = *options;
	List	   *attnums = NIL;
	ComputedColumns *computed;
	ListCell   *cell;

	foreach(cell, options->computed)
		attnums = lappend_int(attnums, ((const ComputedColumn *) lfirst(cell))->attnum);
	computed = computed_open(rel, options, attnums);
	for (int i = 0; i < paths.count; i++)
	{
		OpenFile   *file;

		one.filename = paths.names[i];
		if (options->by_name)
			one = header_options(rel, options, format_encoding(options),
								 paths.names[i]);
		file = file_open(rel, &one, format_encoding(options), NULL);
		if (computed != NULL)
			computed_set_file(computed, one.filename);
		sample_file(sample, file, computed, econtext, slot);
		file_close(file);
	}
	*totalrows = sample->seen;
}

/* Takes the sample; see AcquireSampleRowsFunc. */
static int
acquire_sample_rows(Relation rel, int elevel, HeapTuple *rows, int targrows,
					double *totalrows, double *totaldeadrows)
{
	FileOptions options = options_read(RelationGetRelid(rel));
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
													&TTSOpsVirtual);
	ExprContext *econtext = CreateStandaloneExprContext();
	Reservoir	sample;

	reservoir_begin(&sample, rows, targrows);
	memset(slot->tts_isnull, true, RelationGetDescr(rel)->natts);
	if (options.pattern != NULL)
		sample_many(&sample, rel, &options, econtext, slot, totalrows);
	else
		sample_one(&sample, rel, &options, econtext, slot, totalrows);
	FreeExprContext(econtext, true);
	ExecDropSingleTupleTableSlot(slot);

	*totaldeadrows = 0;
	ereport(elevel,
			(errmsg("\"%s\": %s %.0f rows; %d rows in sample",
					RelationGetRelationName(rel),
					options.pattern == NULL ? "file contains" : "files contain",
					*totalrows,
					sample.numrows)));
	return sample.numrows;
}

/* How many pages all files that a pattern names have. */
static BlockNumber
count_pages(const char *pattern)
{
	FilePaths	paths = paths_find(pattern, false);
	int64		size = 0;

	for (int i = 0; i < paths.count; i++)
	{
		struct stat status;

		if (stat(paths.names[i], &status) < 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not stat file \"%s\": %m", paths.names[i])));
		size += status.st_size;
	}
	return Max(1, (size + (BLCKSZ - 1)) / BLCKSZ);
}

/* Says how to sample the table, and how large it is; false for a program. */
bool
tollfreeAnalyzeForeignTable(Relation rel, AcquireSampleRowsFunc *func,
							BlockNumber *totalpages)
{
	FileOptions options = options_read(RelationGetRelid(rel));
	struct stat status;

	if (options.is_program)
		return false;
	*func = acquire_sample_rows;
	if (options.pattern != NULL)
	{
		*totalpages = count_pages(options.pattern);
		return true;
	}
	if (stat(options.filename, &status) < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", options.filename)));
	*totalpages = Max(1, (status.st_size + (BLCKSZ - 1)) / BLCKSZ);
	return true;
}
