/*
 * column_cache.c
 *	  What a scan has to do with column segments: it reads them, and makes them.
 *
 * A file is divided into spans of 16 MB: a block of the record index belongs to the
 * one that its first byte is in.  A segment covers one column in one span.
 *
 *		the index is USED or SHARED, and there is	 yes	the span's blocks are
 *		a segment of each of the scan's columns		---->	read from segments
 *			| no
 *			v
 *		all blocks of the span are read as text		 yes	segments are made of
 *		by this scan, or it FILLS an index			---->	columns that lack one
 *
 * The scan that needs them writes segments, when it has read the span: there is
 * nobody in the background.  One that is made beside its index has the id that the
 * index is going to have, and is worth nothing if that comes to nothing.  Before a
 * segment is written the file must still be what it was when it was opened.
 *
 * Of a file that is only ever appended to, the last span has no segments until
 * there is another one behind it.
 *
 * Of several processes each does so for the parts that it takes, and none makes an
 * index (see index_use.c).  The processes share what is known of the room.
 */
#include "postgres.h"

#include "utils/rel.h"

#include "base/allocate.h"
#include "base/compression.h"
#include "base/guc.h"
#include "cache/column_cache.h"

/* A run of blocks of less than this share of its span is read as text */
#define SPARSE_SHARE 16

/* Prepares to make segments of what the reader converts. */
static void
open_builders(ColumnCache *cache)
{
	const FileColumns *columns = &cache->index->reader->base.columns;
	Allocator	allocator = memory_allocator_or_fail(cache->context);

	cache->builders = palloc0(sizeof(SegmentBuilder) * columns->ncolumns);
	cache->is_kept = palloc0(sizeof(bool) * columns->ncolumns);
	cache->is_missing = palloc0(sizeof(bool) * columns->ncolumns);
	for (int i = 0; i < columns->ncolumns; i++)
	{
		const ColumnSpec *spec = &columns->specs[i];

		cache->is_kept[i] = !spec->deferred && spec->type != COLUMN_OTHER &&
			!cache->index->reader->base.asks_null[i];
		if (cache->is_kept[i])
			segment_builder_open(&cache->builders[i], &allocator, spec);
		else if (!spec->deferred && cache->unkept < 0)
			cache->unkept = i;
	}
}

/*
 * Decides what to do with segments, by the index's role, when reading begins.  The
 * room is that of several processes, or NULL.
 */
void
column_cache_begin(ColumnCache *cache, SegmentRoom *shared)
{
	IndexUse   *index = cache->index;
	MemoryContext old;

	column_cache_end(cache);
	cache->span = cache->filled_span = NO_SPAN;
	if (!cache->is_wanted)
		return;
	cache->unused_reason = index->unused_reason;
	if (index->role == INDEX_UNUSED)
		return;
	cache->context = AllocSetContextCreate(CurrentMemoryContext,
										   "tollfree_file_fdw column cache",
										   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(cache->context);
	cache->span_size = (int64) setting_segment_size * 1024;
	cache->room = shared == NULL ? &cache->own_room : shared;
	if (shared == NULL)
		segment_file_begin_room(&cache->own_room);
	cache->is_closed = false;
	open_builders(cache);
	if (index->role != INDEX_FILLED)
	{
		cache->unused_reason = NULL;
		index->run_size = cache->span_size;
		cache->source = segments_open(index->reader->base.file, &cache->columns,
									  &index->index);
	}
	MemoryContextSwitchTo(old);
}

/* The span of the file that a block is in which begins there. */
static uint32
span_of(const ColumnCache *cache, int64 offset)
{
	return Min(offset / cache->span_size, NO_SPAN - 1);
}

/* Finds the blocks of the span that a block is in. */
static void
find_span(ColumnCache *cache, const RecordIndex *index, uint32 block)
{
	uint32		first = block;
	uint32		end = block + 1;

	cache->span = span_of(cache, index_block(index, block)->offset);
	while (first > 0 &&
		   span_of(cache, index_block(index, first - 1)->offset) == cache->span)
		first--;
	while (end < index->header->nblocks &&
		   span_of(cache, index_block(index, end)->offset) == cache->span)
		end++;
	cache->span_block = first;
	cache->span_blocks = end - first;
}

/* Will the span found last remain what it is, whatever is appended? */
static bool
span_is_complete(const ColumnCache *cache)
{
	const IndexUse *index = cache->index;

	return !index->is_append_only ||
		cache->span_block + cache->span_blocks < index->index.header->nblocks;
}

/* Is so little of its span to be read that loading whole segments takes longer? */
static bool
is_sparse(const ColumnCache *cache, const BlockRun *run)
{
	return (uint64) run->nblocks * SPARSE_SHARE < cache->span_blocks;
}

/* Finds the span that a run of blocks is in, unless that is the one found last. */
static void
find_run_span(ColumnCache *cache, const BlockRun *run)
{
	if (cache->span == span_of(cache, run->range.offset))
		return;
	find_span(cache, &cache->index->index, run->first);
	cache->span_state = SPAN_UNTRIED;
}

/* Has the source load the span found last, if each column has a segment of it. */
static void
load_span(ColumnCache *cache)
{
	bool		is_loaded = span_is_complete(cache) &&
		segments_load(cache->source, cache->span, cache->span_block,
					  cache->span_blocks);

	cache->span_state = is_loaded ? SPAN_LOADED : SPAN_INCOMPLETE;
	cache->counts.needed += cache->columns.ncolumns;
	cache->counts.used += is_loaded ? cache->columns.ncolumns : 0;
}

/*
 * Begins to make segments of a span, of columns that have none.  It has nrows rows;
 * 0: that is not known.
 */
static void
begin_span(ColumnCache *cache, int64 offset, uint32 nrows)
{
	const FileColumns *columns = &cache->index->reader->base.columns;
	SegmentKey	key = {
		.relid = RelationGetRelid(cache->index->reader->base.file->copy->rel),
		.number = span_of(cache, offset),
		.index_id = cache->index->id,
		.offset = offset,
		.nrows = nrows
	};

	cache->filled_span = key.number;
	cache->filled_offset = offset;
	for (int i = 0; i < columns->ncolumns; i++)
	{
		key.spec = &columns->specs[i];
		cache->is_missing[i] = cache->is_kept[i] && !cache->is_closed &&
			!segment_file_exists(&key);
		if (cache->is_missing[i])
			segment_builder_reset(&cache->builders[i]);
	}
}

/* Writes the segments of a span that has been read to its end. */
static void
store_span(ColumnCache *cache)
{
	const IndexUse *index = cache->index;
	const FileColumns *columns = &cache->index->reader->base.columns;
	SegmentKey	key = {
		.relid = RelationGetRelid(cache->index->reader->base.file->copy->rel),
		.number = cache->filled_span
	};

	if (cache->filled_span == NO_SPAN)
		return;
	cache->filled_span = NO_SPAN;
	if (!index_use_is_settled(index))
		return;
	for (int i = 0; i < columns->ncolumns; i++)
	{
		unsigned char *bytes;
		size_t		length;

		key.spec = &columns->specs[i];
		if (!cache->is_missing[i])
			continue;
		bytes = segment_builder_finish(&cache->builders[i], index->id,
									   cache->filled_offset, key.spec->field,
									   &length);
		if (bytes == NULL)
		{
			cache->has_failed[i] = true;
			if (cache->unkept < 0)
				cache->unkept = i;
			cache->counts.open_column = i + 1;
		}
		if (bytes == NULL || cache->is_closed)
			continue;
		cache->is_closed = !segment_file_store(&key, bytes, length, cache->room);
		cache->counts.written += !cache->is_closed;
	}
}

/* May a run of several blocks be read from segments, if they are there? */
bool
column_cache_may_enter(ColumnCache *cache, const BlockRun *run)
{
	if (cache->source == NULL || run->nblocks < 2)
		return false;
	find_run_span(cache, run);
	return !is_sparse(cache, run);
}

/*
 * Is a run of blocks to be read from segments?  Then the source has them.  If it is
 * read as text, and is all of its span, segments are made of it.
 */
static bool
column_cache_has(ColumnCache *cache, const BlockRun *run)
{
	const RecordIndex *index = &cache->index->index;

	if (cache->source == NULL)
		return false;
	if (run->nblocks == 0)
	{
		cache->unused_reason = "the file has grown";
		return false;
	}
	find_run_span(cache, run);
	if (cache->span_state != SPAN_LOADED && is_sparse(cache, run))
		return false;
	if (cache->span_state == SPAN_UNTRIED)
		load_span(cache);
	if (cache->span_state == SPAN_LOADED)
		return true;
	cache->unused_reason = "a column segment is missing";
	if (run->nblocks == cache->span_blocks && span_is_complete(cache))
		begin_span(cache, run->range.offset,
				   segments_count_rows(index, run->first, run->nblocks));
	return false;
}

/* Has a run of blocks be read, from segments if they are there; returns by what. */
BatchSource *
column_cache_enter(ColumnCache *cache, const BlockRun *run)
{
	FileReader *reader = cache->index->reader;

	if (!column_cache_has(cache, run))
	{
		reader_read_range(reader, &run->range);
		return &reader->base;
	}
	batch_set_range(&cache->source->base, &run->range);
	return &cache->source->base;
}

/*
 * The slots of SinkMethods, whose comments say what each does.  The index has been
 * shown what this one is shown before.
 */

static void
cache_sink_add(BatchSink *sink, const BatchSource *source)
{
	ColumnCache *cache = (ColumnCache *) sink;
	const IndexUse *index = cache->index;
	const RowBatch *batch = source->batch;

	if (cache->context == NULL)
		return;
	if (index->role == INDEX_FILLED)
	{
		int64		offset = index_builder_block_offset(&index->builder);

		if (offset < 0)
			cache->is_closed = true;
		else if (cache->filled_span != span_of(cache, offset))
		{
			store_span(cache);
			begin_span(cache, offset, 0);
		}
	}
	if (cache->filled_span == NO_SPAN)
		return;
	for (int i = 0; i < batch->ncolumns; i++)
	{
		if (cache->is_missing[i])
			segment_builder_add(&cache->builders[i], &batch->columns[i],
								batch->nrows);
	}
}

static void
cache_sink_end_range(BatchSink *sink)
{
	ColumnCache *cache = (ColumnCache *) sink;

	if (cache->context != NULL && cache->index->role != INDEX_FILLED)
		store_span(cache);
}

/* Segments of another index than the one that is stored now are worth nothing. */
static void
cache_sink_finish(BatchSink *sink)
{
	ColumnCache *cache = (ColumnCache *) sink;
	const IndexUse *index = cache->index;

	if (!index->is_stored)
		return;
	segment_file_remove(RelationGetRelid(cache->index->reader->base.file->copy->rel),
						index->id);
	if (cache->context != NULL && index->role == INDEX_FILLED &&
		!index->is_append_only)
		store_span(cache);
}

/* The unfinished segments are discarded. */
static void
cache_sink_give_up(BatchSink *sink)
{
	ColumnCache *cache = (ColumnCache *) sink;

	cache->filled_span = NO_SPAN;
	cache->unused_reason = "a record is not plain";
}

static void
cache_sink_end(BatchSink *sink)
{
	column_cache_end((ColumnCache *) sink);
}

static const SinkMethods cache_sink_methods = {
	.add = cache_sink_add,
	.end_range = cache_sink_end_range,
	.finish = cache_sink_finish,
	.give_up = cache_sink_give_up,
	.end = cache_sink_end
};

/*
 * Says whether a scan of these columns may use segments, or make them.  Who counts
 * all rows has all columns converted, but uses none: they would take the room of
 * those that queries use.
 */
void
column_cache_prepare(ColumnCache *cache, IndexUse *index,
					 const FileOptions *options, const FileColumns *columns)
{
	const bool	counts_all = index->counts_rows && index->filter == NULL;

	cache->sink.methods = &cache_sink_methods;
	cache->index = index;
	cache->columns = columns_copy(columns);
	cache->has_failed = palloc0(sizeof(bool) * Max(1, columns->ncolumns));
	cache->unkept = -1;
	cache->is_wanted = options_keep_columns(options) && index->is_wanted &&
		columns->ncolumns > 0 && !counts_all;
	cache->unused_reason = compression_is_possible(options) ?
		"the file is compressed" : !options_keep_columns(options) ?
		"the column cache is switched off" :
		!index->is_wanted ? index->unused_reason : "the query needs no column";
}

/*
 * Why spans of a column are not kept, for all that the scan has met; NULL if it knows
 * of nothing against that.
 */
const char *
column_cache_missing_reason(const ColumnCache *cache, int column)
{
	if (cache->columns.specs[column].type == COLUMN_OTHER)
		return "its type has no fast conversion";
	if (cache->has_failed[column])
		return COLUMN_CACHE_OPEN_VALUE;
	return cache->is_closed ? "there is no room, or it cannot be written" : NULL;
}

/* Gives back all memory. */
void
column_cache_end(ColumnCache *cache)
{
	if (cache->context != NULL)
		MemoryContextDelete(cache->context);
	cache->context = NULL;
	cache->source = NULL;
}
