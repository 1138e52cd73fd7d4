/*
 * index_use.c
 *	  What a scan has to do with a record index: it uses one, or makes one.
 *
 *		the table's index is of this file, and	  yes	USED: blocks in which no
 *		knows all columns that matter to the	----->	row can pass the filter
 *		scan?											are not read
 *			| no
 *			v
 *		nobody has touched the file for a		  yes	FILLED: all is read, and
 *		while?									----->	stored at the end
 *
 * Of a file that is only ever appended to, the index of what it was is used, but
 * for its last block.  From there on the file is read, and that is added to the
 * index.
 *
 * An index that lacks a column is made again by one process, which reads block by
 * block.  So the blocks remain, with what else is known of them.
 *
 * Of several processes that use an index, the leader decides which blocks are read
 * and cuts them into parts; the others need not see the index.  How they make one
 * is in parallel_index.c.
 *
 * Where column segments may be used or made, a part is of what one segment is of,
 * 16 MB: who has taken it loads whole segments, once, and makes whole ones.  If
 * several processes shared a part, each would load and check all of its segments,
 * and none could make any.  A part of that size takes some 10 ms to read as text, so
 * little time is lost by those that have none left.
 *
 * When a hash join above has built its table, blocks are skipped in which no row can
 * have a match, too: those that are left, for by then reading has begun.
 *
 * A block that is not read has no error that file_fdw would raise: its records
 * were found to be good, and each value that the scan would have converted is
 * one that core/ has converted.  Of a lazy table that is asked of the columns of
 * filters alone.
 *
 * What is stored does not depend on the session.  Values that core/ leaves to
 * PostgreSQL's input functions are open, whatever these make of them.
 *
 * A file that is written to later has another time, unless that is done through
 * a mapping, or by one write() that was begun before and takes longer than
 * the file has to be left alone.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "allocate.h"
#include "guc.h"
#include "index_file.h"
#include "index_use.h"

#define MS_NS INT64CONST(1000000)

#define NO_INDEX "the file has no record index"

/* What is to be done with a block. */
typedef enum BlockVerdict
{
	BLOCK_READ,
	BLOCK_SKIP,					/* no row passes the filter */
	BLOCK_DROP,					/* no row has a match in a join above */
	BLOCK_COUNT
} BlockVerdict;

/*
 * Everything that the file's rows depend on beside its bytes: options, encodings
 * and all columns, by the names that options may have for them.  An index of a
 * file that has not been left alone holds only while it is append-only.
 */
static void
make_key(StringInfo key, Relation rel, int encoding, const FileOptions *options)
{
	TupleDesc	desc = RelationGetDescr(rel);
	ListCell   *cell;

	initStringInfo(key);
	appendStringInfo(key, "%d %d %d %d", PG_VERSION_NUM, GetDatabaseEncoding(),
					 encoding, options->is_append_only);
	foreach(cell, options->copy)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		/* The first is of the query, the second is known as it is used. */
		if (strcmp(option->defname, "convert_selectively") != 0 &&
			strcmp(option->defname, "encoding") != 0)
			appendStringInfo(key, " %s %s", option->defname,
							 nodeToString(option->arg));
	}
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (!attribute->attisdropped && !attribute->attgenerated)
			appendStringInfo(key, " %u %d %s", attribute->atttypid,
							 attribute->atttypmod,
							 quote_identifier(NameStr(attribute->attname)));
	}
}

/*
 * Loads the index of a table's file into the current memory context, if there is
 * one of the file as it is; false if not.
 */
bool
index_use_load(RecordIndex *index, const OpenFile *file, int encoding,
			   const FileOptions *options)
{
	StringInfoData key;

	make_key(&key, file->copy->rel, encoding, options);
	return index_file_load(RelationGetRelid(file->copy->rel), index) &&
		index_is_of(index, &file->source, (unsigned char *) key.data, key.len);
}

/* Finds which columns matter, and where the index has them; false if it lacks one. */
static bool
find_columns(IndexUse *use, const FileReader *reader)
{
	const FileColumns *columns = &reader->base.columns;
	int			n = Max(1, columns->ncolumns);
	bool		has_all = true;

	use->columns = palloc(sizeof(int) * n);
	use->needed = palloc(sizeof(bool) * n);
	use->zones = palloc(sizeof(Zone *) * n);
	memset(use->needed, !use->is_lazy, n);
	if (use->is_lazy && use->filter != NULL)
		filter_columns(use->filter, use->needed);
	for (int i = 0; i < columns->ncolumns; i++)
	{
		use->columns[i] = index_find_column(&use->index,
											columns->specs[i].field);
		has_all &= !use->needed[i] || use->columns[i] >= 0;
	}
	return has_all;
}

/* Would an index made by this scan know of a column that the old one does not? */
static bool
adds_column(const IndexUse *use, const FileReader *reader)
{
	const FileColumns *columns = &reader->base.columns;

	for (int i = 0; i < columns->ncolumns; i++)
	{
		if (!columns->specs[i].deferred && use->columns[i] < 0)
			return true;
	}
	return false;
}

/*
 * Can what was read not have been changed since, without another time or size?
 * What is only appended to needs no rest: whatever was there remains.
 */
static bool
is_settled(const IndexUse *use, const Source *source, int64_t quiet_ns)
{
	return use->is_append_only || source_is_settled(source, quiet_ns);
}

/* Is the file still, for all that can be told, what its index is or will be of? */
bool
index_use_is_settled(const IndexUse *use, const OpenFile *file)
{
	return is_settled(use, &file->source, 0);
}

/* Sets the id of the loaded index's blocks, or one that nobody else has. */
static void
choose_id(const IndexUse *use, bool is_loaded, unsigned char *id)
{
	if (is_loaded)
		memcpy(id, use->index.header->id, INDEX_ID_SIZE);
	else if (!pg_strong_random(id, INDEX_ID_SIZE))
		elog(ERROR, "could not generate random values");
}

/* Opens a builder for what the reader converts. */
void
index_use_open_builder(IndexUse *use, const FileReader *reader)
{
	Allocator	allocator = memory_allocator_or_fail(use->context);

	index_builder_open(&use->builder, &allocator, reader->base.columns.specs,
					   reader->base.columns.ncolumns);
}

/* Begins to make an index, if that is possible. */
static void
begin_filling(IndexUse *use, FileReader *reader)
{
	use->is_filling = is_settled(use, &reader->base.file->source,
								 setting_record_index_age * MS_NS);
	if (use->is_filling)
		index_use_open_builder(use, reader);
}

/* Reads the first so many blocks. */
static void
begin_blocks(IndexUse *use, uint32 nblocks, bool has_tail)
{
	use->next = 0;
	use->nblocks = nblocks;
	use->has_tail = has_tail;
}

/* Uses the index for all blocks, or for all but the last and what is behind. */
static void
begin_using(IndexUse *use, bool is_whole)
{
	use->role = INDEX_USED;
	choose_id(use, true, use->id);
	begin_blocks(use, use->index.header->nblocks - (is_whole ? 0 : 1),
				 !is_whole);
	use->blocks += use->nblocks;
}

/*
 * Is the index of what the file was when it was shorter, and not by more than
 * half?  More is worth a new one, with blocks for all processes.
 */
static bool
is_of_beginning(IndexUse *use, FileReader *reader)
{
	return use->is_append_only &&
		use->index.header->size >= reader->base.file->source.size / 2 &&
		index_is_of_beginning(&use->index, filescan_source(reader->scan),
							  (unsigned char *) use->key.data, use->key.len);
}

/* Loads the table's index, and uses it or makes one. */
static void
choose_role(IndexUse *use, FileReader *reader)
{
	const OpenFile *file = reader->base.file;
	bool		has_index = index_file_load(RelationGetRelid(file->copy->rel),
											&use->index);

	use->unused_reason = NO_INDEX;
	use->is_loaded = has_index &&
		index_is_of(&use->index, &file->source,
					(unsigned char *) use->key.data, use->key.len);
	if (use->is_loaded)
	{
		if (find_columns(use, reader))
		{
			begin_using(use, true);
			return;
		}
		use->unused_reason = "the record index lacks a column";
		if (!adds_column(use, reader))
			return;
	}
	else if (has_index && is_of_beginning(use, reader) &&
			 find_columns(use, reader))
	{
		begin_using(use, false);
		return;
	}
	begin_filling(use, reader);
	if (!use->is_filling)
	{
		use->unused_reason = "the file was changed a moment ago";
		return;
	}
	use->role = INDEX_FILLED;
	choose_id(use, use->is_loaded, use->id);
	if (use->is_loaded)
	{
		begin_blocks(use, use->index.header->nblocks, false);
		use->builder.ends_by_rows = false;
	}
}

/* Says whether a scan may use an index, or make one. */
void
index_use_prepare(IndexUse *use, const FileOptions *options)
{
	use->is_wanted = setting_record_index && options->may_have_index;
	use->is_lazy = options->is_lazy;
	use->is_append_only = options->is_append_only;
	use->unused_reason = use->is_wanted ? NO_INDEX :
		"the record index is switched off";
}

/* Forgets the last execution. */
static void
forget_execution(IndexUse *use)
{
	index_use_end(use);
	use->role = INDEX_UNUSED;
	use->is_loaded = use->is_filling = use->has_tail = false;
	use->skipped_rows = use->unjoined_rows = use->counted_rows = 0;
}

/* Makes the context of what follows, and the key; the context is the current one. */
static MemoryContext
begin_context(IndexUse *use, const FileReader *reader, int encoding,
			  const FileOptions *options)
{
	MemoryContext old;

	use->context = AllocSetContextCreate(CurrentMemoryContext,
										 "tollfree_file_fdw record index",
										 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(use->context);
	make_key(&use->key, reader->base.file->copy->rel, encoding, options);
	return old;
}

/* Decides what to do with the index of the reader's table, when reading begins. */
void
index_use_begin(IndexUse *use, FileReader *reader, int encoding,
				const FileOptions *options)
{
	MemoryContext old;

	forget_execution(use);
	if (!use->is_wanted)
		return;
	if (reader->layout.header == COPY_HEADER_MATCH)
	{
		use->unused_reason = "the header must match";
		return;
	}
	old = begin_context(use, reader, encoding, options);
	choose_role(use, reader);
	MemoryContextSwitchTo(old);
}

/* Begins to make a part of an index, as one of several processes. */
void
index_use_join(IndexUse *use, FileReader *reader, int encoding,
			   const FileOptions *options)
{
	MemoryContext old;

	forget_execution(use);
	old = begin_context(use, reader, encoding, options);
	use->is_filling = true;
	use->role = INDEX_FILLED;
	choose_id(use, false, use->id);
	index_use_open_builder(use, reader);
	MemoryContextSwitchTo(old);
}

/* Finds out what is to be done with a block. */
static BlockVerdict
judge_block(IndexUse *use, const FileReader *reader, const IndexBlock *block)
{
	const FileColumns *columns = &reader->base.columns;
	ZoneTruths	truths = {true, false, false};

	for (int i = 0; i < columns->ncolumns; i++)
	{
		const Zone *zone = use->columns[i] < 0 ? NULL :
			&block->zones[use->columns[i]];
		bool		is_clean = zone != NULL && zone->open == 0 &&
			!(reader->base.asks_null[i] && zone->nulls > 0);

		if (use->needed[i] && !is_clean)
			return BLOCK_READ;
		use->zones[i] = is_clean ? zone : NULL;
	}
	if (use->filter != NULL)
		truths = zones_truths(use->filter, columns->specs, use->zones,
							  block->nrows);
	if (!truths.may_be_true)
		return BLOCK_SKIP;
	if (use->joins != NULL &&
		!zones_truths(use->joins, columns->specs, use->zones,
					  block->nrows).may_be_true)
		return BLOCK_DROP;
	return use->counts_rows && !truths.may_be_false &&
		!truths.may_be_unknown ? BLOCK_COUNT : BLOCK_READ;
}

/* Counts a block that is not read. */
static void
note_unread(IndexUse *use, BlockVerdict verdict, const IndexBlock *block)
{
	use->skipped += verdict == BLOCK_SKIP;
	use->skipped_rows += verdict == BLOCK_SKIP ? block->nrows : 0;
	use->unjoined += verdict == BLOCK_DROP;
	use->unjoined_rows += verdict == BLOCK_DROP ? block->nrows : 0;
	use->counted += verdict == BLOCK_COUNT;
	use->counted_rows += verdict == BLOCK_COUNT ? block->nrows : 0;
}

/* Passes over blocks that need not be read; false if all are left behind. */
static bool
find_block(IndexUse *use, const FileReader *reader)
{
	for (; use->next < use->nblocks; use->next++)
	{
		const IndexBlock *block = index_block(&use->index, use->next);
		BlockVerdict verdict = judge_block(use, reader, block);

		if (verdict == BLOCK_READ)
			return true;
		note_unread(use, verdict, block);
	}
	return false;
}

/* Where a block begins. */
ScanRange
index_use_range_from(const IndexUse *use, uint32 n)
{
	return (ScanRange)
	{
		.offset = index_block(&use->index, n)->offset,
			.line = index_block(&use->index, n)->line,
			.line_end = (LineEnd) use->index.header->line_end
	};
}

/* Finds what is behind the blocks; false if that has been read. */
static bool
find_tail(IndexUse *use, FileReader *reader, BlockRun *run)
{
	MemoryContext old;

	if (!use->has_tail)
		return false;
	use->has_tail = false;
	old = MemoryContextSwitchTo(use->context);
	begin_filling(use, reader);
	MemoryContextSwitchTo(old);
	run->range = index_use_range_from(use, use->nblocks);
	run->range.end = PG_INT64_MAX;
	run->nblocks = 0;
	return true;
}

/* Is the next block to be read, as a part of the run? */
static bool
continues_run(IndexUse *use, const FileReader *reader, const BlockRun *run)
{
	const IndexBlock *block;

	if (use->next == use->nblocks)
		return false;
	block = index_block(&use->index, use->next);
	if (use->run_size > 0 && block->offset / use->run_size !=
		run->range.offset / use->run_size)
		return false;
	return judge_block(use, reader, block) == BLOCK_READ;
}

/* Goes on with the next block, which is made again; false if there is none. */
static bool
next_filled(IndexUse *use, BlockRun *run)
{
	if (use->next == use->nblocks)
		return false;
	index_builder_end_block(&use->builder);
	run->first = use->next;
	run->nblocks = 1;
	run->range = index_use_range_from(use, use->next);
	run->range.end = index_block_end(&use->index, use->next++);
	return true;
}

/* Finds the next blocks to be read; false if there are none. */
bool
index_use_next(IndexUse *use, FileReader *reader, BlockRun *run)
{
	Assert(index_use_has_blocks(use));
	if (use->role == INDEX_FILLED)
		return next_filled(use, run);
	if (!find_block(use, reader))
		return find_tail(use, reader, run);
	run->first = use->next;
	run->range = index_use_range_from(use, use->next);
	do
		run->range.end = index_block_end(&use->index, use->next++);
	while (continues_run(use, reader, run));
	run->nblocks = use->next - run->first;
	return true;
}

/*
 * More is known by now of which blocks matter: has the run that is read end where
 * the next block begins, so that those behind it are judged again.
 */
void
index_use_cut_run(IndexUse *use, FileReader *reader)
{
	int64_t		at = filescan_offset(reader->scan, reader->base.batch->nrows);
	uint32		next = use->next;

	while (next > 0 && index_block(&use->index, next - 1)->offset >= at)
		next--;
	if (next == use->next)
		return;
	use->next = next;
	filescan_cut_range(reader->scan, index_block(&use->index, next)->offset);
}

/*
 * Does a block to be read begin another part than the one before it?  Parts have
 * that size in bytes, or a block more; for column segments it is a multiple of what
 * these are of, which no part goes beyond.
 */
static bool
begins_part(const IndexUse *use, const IndexPart *part,
			const IndexBlock *block, int64_t size)
{
	return use->run_size > 0 ? block->offset / size != part->offset / size :
		part->end - part->offset >= size;
}

/*
 * Cuts the blocks that are not skipped into parts of that size.  Returns their
 * number, or one more than the capacity if they do not fit.
 */
static uint32
cut_blocks(const IndexUse *use, const BlockVerdict *verdicts, int64_t size,
		   IndexPart *parts, uint32 capacity)
{
	BlockVerdict previous = BLOCK_SKIP;
	IndexPart  *part = NULL;
	uint32		nparts = 0;

	for (uint32 i = 0; i < use->nblocks; i++)
	{
		const IndexBlock *block = index_block(&use->index, i);
		bool		is_other = verdicts[i] != previous;

		previous = verdicts[i];
		if (verdicts[i] == BLOCK_SKIP)
			continue;
		if (is_other || (verdicts[i] == BLOCK_READ &&
						 begins_part(use, part, block, size)))
		{
			if (nparts == capacity)
				return capacity + 1;
			part = &parts[nparts++];
			part->offset = block->offset;
			part->line = block->line;
			part->counted_rows = 0;
		}
		part->end = index_block_end(&use->index, i);
		if (verdicts[i] == BLOCK_COUNT)
			part->counted_rows += block->nrows;
	}
	return nparts;
}

/* Has all blocks of a group read, unless none of it is. */
static void
widen_verdicts(BlockVerdict *verdicts, uint32 nblocks, uint32 group)
{
	for (uint32 from = 0; from < nblocks; from += group)
	{
		uint32		to = Min(nblocks, from + group);
		bool		is_uniform = true;

		for (uint32 i = from + 1; i < to; i++)
			is_uniform &= verdicts[i] == verdicts[from];
		for (uint32 i = from; i < to && !is_uniform; i++)
			verdicts[i] = BLOCK_READ;
	}
}

/*
 * Cuts the file into parts for several processes, of that size in bytes or more,
 * or of what column segments are of, and returns their number.  Where they would be
 * too many, blocks are read that need not be.  What is behind all blocks is the last
 * part, which one process reads to the end of the data.
 */
uint32
index_use_cut(IndexUse *use, const FileReader *reader, int64_t size,
			  IndexPart *parts, uint32 capacity)
{
	uint32		nblocks = use->nblocks;
	BlockVerdict *verdicts = palloc(sizeof(BlockVerdict) * nblocks);
	uint32		nparts;

	Assert(use->role == INDEX_USED);
	if (use->run_size > 0)
		size = use->run_size;
	/* Room for what is behind the blocks */
	capacity -= use->has_tail;
	for (uint32 i = 0; i < nblocks; i++)
		verdicts[i] = judge_block(use, reader, index_block(&use->index, i));
	nparts = cut_blocks(use, verdicts, size, parts, capacity);
	for (uint32 group = 2; nparts > capacity; group *= 2)
	{
		size *= 2;
		widen_verdicts(verdicts, nblocks, group);
		nparts = cut_blocks(use, verdicts, size, parts, capacity);
	}
	for (uint32 i = 0; i < nblocks; i++)
		note_unread(use, verdicts[i], index_block(&use->index, i));
	/* Whoever takes a part counts its rows. */
	use->counted_rows = 0;
	pfree(verdicts);
	if (use->has_tail)
		parts[nparts++] = (IndexPart)
	{
		.offset = index_block(&use->index, nblocks)->offset,
			.line = index_block(&use->index, nblocks)->line,
			.end = PG_INT64_MAX
	};
	return nparts;
}

/* Takes in the reader's batch, which has just been read: lines behind line_zero. */
void
index_use_add(IndexUse *use, FileReader *reader, int64 line_zero)
{
	Assert(use->is_filling);
	index_builder_add(&use->builder, filescan_offset(reader->scan, 0),
					  filescan_lines_before(reader->scan) - line_zero,
					  reader->base.batch);
	use->end = filescan_offset(reader->scan, reader->base.batch->nrows);
}

/*
 * All has been read to the end: stores the index, if it is still that file; false
 * if there is none.
 */
bool
index_use_store(IndexUse *use, FileReader *reader, LineEnd line_end)
{
	Source	   *source = &reader->base.file->source;
	unsigned char id[INDEX_ID_SIZE];
	IndexFacts	facts = {
		.source = source,
		.line_end = line_end,
		/* A line end that the file lacks has been counted in. */
		.end = Min(use->end, source->size),
		.key = (unsigned char *) use->key.data,
		.key_length = use->key.len,
		.id = id
	};
	unsigned char *bytes;
	size_t		length;

	Assert(use->is_filling);
	/* Blocks that are not those of the old index need another id. */
	if (use->is_loaded)
		choose_id(use, false, id);
	else
		memcpy(id, use->id, sizeof(id));
	if (use->role == INDEX_USED)
		bytes = index_builder_extend(&use->builder, &facts, &use->index,
									 &length);
	/* One block is read by whoever wants anything of it. */
	else if (use->builder.nblocks < 2)
		return false;
	else
		bytes = index_builder_finish(&use->builder, &facts,
									 use->is_loaded ? &use->index : NULL,
									 &length);
	/* That has read some of it. */
	if (bytes == NULL || !is_settled(use, source, 0) ||
		!index_file_store(RelationGetRelid(reader->base.file->copy->rel), bytes,
						  length))
		return false;
	memcpy(use->id, ((IndexHeader *) bytes)->id, INDEX_ID_SIZE);
	use->written += use->builder.nblocks;
	return true;
}

/*
 * Another one than the reader goes on, to the file's end; in a scan by several
 * processes to that of the blocks that are read, behind which the reader goes on.
 */
void
index_use_give_up(IndexUse *use)
{
	if (use->role == INDEX_SHARED)
		return;
	if (use->role == INDEX_FILLED)
	{
		use->role = INDEX_UNUSED;
		use->unused_reason = "a record is not plain";
	}
	use->next = use->nblocks;
	use->is_filling = use->has_tail = false;
}

/* Gives back all memory.  What was the scan's role is still known. */
void
index_use_end(IndexUse *use)
{
	if (use->context != NULL)
		MemoryContextDelete(use->context);
	use->context = NULL;
}

/* How many rows the filter has ruled out unread, since the last call. */
uint64
index_use_take_skipped(IndexUse *use)
{
	uint64		rows = use->skipped_rows;

	use->skipped_rows = 0;
	return rows;
}

/* How many rows joins above have ruled out unread, since the last call. */
uint64
index_use_take_unjoined(IndexUse *use)
{
	uint64		rows = use->unjoined_rows;

	use->unjoined_rows = 0;
	return rows;
}

/* How many rows were counted unread, since the last call. */
uint64
index_use_take_counted(IndexUse *use)
{
	uint64		rows = use->counted_rows;

	use->counted_rows = 0;
	return rows;
}
