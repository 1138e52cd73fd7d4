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
 * Which blocks are read is in index_blocks.c; how several processes use an index, and
 * make one, in index_share.c and parallel_index.c.
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

#include "base/allocate.h"
#include "base/columns.h"
#include "base/compression.h"
#include "base/guc.h"
#include "cache/index_file.h"
#include "cache/index_use.h"

#define MS_NS INT64CONST(1000000)

#define NO_INDEX "the file has no record index"

/*
 * Everything that the file's rows depend on beside its bytes: options, encodings
 * and all columns, by the names that options may have for them, with the labels of enums.  An index of a
 * file that has not been left alone holds only while it is append-only.
 */
static void
make_key(StringInfo key, Relation rel, int encoding, const FileOptions *options)
{
	TupleDesc	desc = RelationGetDescr(rel);
	ListCell   *cell;

	initStringInfo(key);
	appendStringInfo(key, "%d %d %d %d %d", PG_VERSION_NUM, GetDatabaseEncoding(),
					 encoding, options->is_append_only, columns_read_times());
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

		if (attribute->attisdropped || attribute->attgenerated)
			continue;
		appendStringInfo(key, " %u %d %s", attribute->atttypid,
						 attribute->atttypmod,
						 quote_literal_cstr(NameStr(attribute->attname)));
		columns_append_labels(key, attribute->atttypid);
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
index_use_find_columns(IndexUse *use)
{
	const FileColumns *columns = &use->reader->base.columns;
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

/* How many columns would this scan add to the index, if there is room? */
static int
index_use_count_missing(const IndexUse *use)
{
	const FileColumns *columns = &use->reader->base.columns;
	int			nmissing = 0;

	for (int i = 0; i < columns->ncolumns; i++)
		nmissing += !columns->specs[i].deferred && use->columns[i] < 0;
	return nmissing;
}

/* Is the index, which lacks a column, made again with what this scan converts? */
static bool
is_made_again(IndexUse *use)
{
	int			nmissing = index_use_count_missing(use);

	use->unused_reason = "the record index lacks a column";
	if (nmissing == 0 || index_file_has_room(use->index.header, nmissing))
		return nmissing > 0;
	use->unused_reason = "the record index has no room for a column";
	return false;
}

/*
 * Can what was read not have been changed since, without another time or size?
 * What is only appended to needs no rest: whatever was there remains.
 */
static bool
is_settled(const IndexUse *use, int64_t quiet_ns)
{
	return use->is_append_only ||
		source_is_settled(&use->reader->base.file->source, quiet_ns);
}

/* Is the file unchanged since it was opened? */
bool
index_use_is_settled(const IndexUse *use)
{
	return is_settled(use, 0);
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
index_use_open_builder(IndexUse *use)
{
	const FileColumns *columns = &use->reader->base.columns;
	Allocator	allocator = memory_allocator_or_fail(use->context);

	index_builder_open(&use->builder, &allocator, columns->specs,
					   columns->ncolumns);
}

/* Has an index be made of what is read from now on. */
static void
index_use_fill(IndexUse *use)
{
	use->role = INDEX_FILLED;
	use->unmade_reason = "not all of the file was read";
	choose_id(use, use->is_loaded, use->id);
}

/* Begins to make an index, if that is possible. */
void
index_use_begin_filling(IndexUse *use)
{
	use->is_filling = is_settled(use, setting_record_index_age * MS_NS);
	if (use->is_filling)
		index_use_open_builder(use);
}

/* Has the first nblocks blocks be read, and what is behind them if has_tail. */
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
is_of_beginning(IndexUse *use)
{
	return use->is_append_only &&
		use->index.header->size >= use->reader->base.file->source.size / 2 &&
		index_is_of_beginning(&use->index, filescan_source(use->reader->scan),
							  (unsigned char *) use->key.data, use->key.len);
}

/* What a scan can do with its table's index. */
typedef enum IndexChoice
{
	CHOICE_NOTHING,				/* as unused_reason says */
	CHOICE_USE,
	CHOICE_USE_BEGINNING,		/* the file was shorter: all blocks but the
								 * last, then what is behind them */
	CHOICE_REMAKE,				/* with the same blocks, and more columns */
	CHOICE_MAKE
} IndexChoice;

/* Loads the table's index, and decides what can be done with it. */
static IndexChoice
choose_role(IndexUse *use)
{
	const OpenFile *file = use->reader->base.file;
	bool		has_index = index_file_load(RelationGetRelid(file->copy->rel),
											&use->index);

	use->unused_reason = NO_INDEX;
	use->is_loaded = has_index &&
		index_is_of(&use->index, &file->source,
					(unsigned char *) use->key.data, use->key.len);
	if (use->is_loaded)
		return index_use_find_columns(use) ? CHOICE_USE :
			is_made_again(use) ? CHOICE_REMAKE : CHOICE_NOTHING;
	return has_index && is_of_beginning(use) && index_use_find_columns(use) ?
		CHOICE_USE_BEGINNING : CHOICE_MAKE;
}

/* Has an index be made of all that is read, if the file has been left alone. */
static void
begin_making(IndexUse *use)
{
	index_use_begin_filling(use);
	if (use->is_filling)
		index_use_fill(use);
	else
		use->unused_reason = "the file was changed a moment ago";
}

/* Begins to do what was decided. */
static void
begin_role(IndexUse *use, IndexChoice choice)
{
	switch (choice)
	{
		case CHOICE_NOTHING:
			break;
		case CHOICE_USE:
			begin_using(use, true);
			break;
		case CHOICE_USE_BEGINNING:
			begin_using(use, false);
			break;
		case CHOICE_REMAKE:
			begin_making(use);
			if (use->is_filling)
			{
				begin_blocks(use, use->index.header->nblocks, false);
				use->builder.ends_by_rows = false;
			}
			break;
		case CHOICE_MAKE:
			begin_making(use);
			break;
	}
}

/* The slots of SinkMethods, whose comments say what each does. */

static void
index_sink_add(BatchSink *sink, const BatchSource *source)
{
	IndexUse   *use = (IndexUse *) sink;

	if (use->is_filling)
		index_use_add(use, 0);
}

static void
index_sink_finish(BatchSink *sink)
{
	IndexUse   *use = (IndexUse *) sink;

	if (use->is_filling)
		index_use_store(use, filescan_line_end(use->reader->scan));
}

static void
index_sink_give_up(BatchSink *sink)
{
	index_use_give_up((IndexUse *) sink);
}

static void
index_sink_end(BatchSink *sink)
{
	index_use_end((IndexUse *) sink);
}

static const SinkMethods index_sink_methods = {
	.add = index_sink_add,
	.finish = index_sink_finish,
	.give_up = index_sink_give_up,
	.end = index_sink_end
};

/* Says whether a scan may use an index, or make one. */
void
index_use_prepare(IndexUse *use, const FileOptions *options)
{
	use->sink.methods = &index_sink_methods;
	use->is_wanted = options_keep_index(options);
	use->unclean = -1;
	use->is_lazy = options->is_lazy;
	use->is_append_only = options->is_append_only;
	use->unused_reason = use->is_wanted ? NO_INDEX :
		options_unkept_reason(options) != NULL ? options_unkept_reason(options) :
		options->record_index == OPTION_FALSE ? "the option record_index is false" :
		"the record index is switched off";
}

/* Forgets the last execution: what follows is another one. */
void
index_use_reset(IndexUse *use)
{
	index_use_end(use);
	use->role = INDEX_UNUSED;
	use->is_loaded = use->is_filling = use->has_tail = use->is_stored = false;
	use->skipped_rows = use->unjoined_rows = use->counted_rows = 0;
}

/* Makes the context of an execution and enters it; returns the one that was left. */
MemoryContext
index_use_enter(IndexUse *use, FileReader *reader)
{
	use->reader = reader;
	use->context = AllocSetContextCreate(CurrentMemoryContext,
										 "tollfree_file_fdw record index",
										 ALLOCSET_DEFAULT_SIZES);
	return MemoryContextSwitchTo(use->context);
}

/* Decides what to do with the index of the reader's table, when reading begins. */
void
index_use_begin(IndexUse *use, FileReader *reader, int encoding,
				const FileOptions *options)
{
	MemoryContext old;

	index_use_reset(use);
	if (!use->is_wanted)
		return;
	if (reader->layout.header_matches)
	{
		use->unused_reason = "the header must match";
		return;
	}
	if (!index_may_have_blocks(reader->base.file->source.size,
							   reader->base.columns.nfields))
	{
		use->unused_reason = INDEX_TOO_SMALL;
		return;
	}
	old = index_use_enter(use, reader);
	make_key(&use->key, reader->base.file->copy->rel, encoding, options);
	begin_role(use, choose_role(use));
	MemoryContextSwitchTo(old);
}

/* Begins, after a reset, to make a part of an index, as one of several processes. */
void
index_use_join(IndexUse *use, FileReader *reader, int encoding,
			   const FileOptions *options)
{
	MemoryContext old = index_use_enter(use, reader);

	make_key(&use->key, reader->base.file->copy->rel, encoding, options);
	use->is_filling = true;
	index_use_fill(use);
	index_use_open_builder(use);
	MemoryContextSwitchTo(old);
}

/* Adds the reader's batch, which has just been read: lines behind line_zero. */
void
index_use_add(IndexUse *use, int64 line_zero)
{
	const FileReader *reader = use->reader;

	Assert(use->is_filling);
	index_builder_add(&use->builder, filescan_offset(reader->scan, 0),
					  filescan_lines_before(reader->scan) - line_zero,
					  reader->base.batch);
	use->end = filescan_offset(reader->scan, reader->base.batch->nrows);
}

/* Notes why no index is stored; returns false. */
static bool
give_reason(IndexUse *use, const char *reason)
{
	use->unmade_reason = reason;
	return false;
}

/*
 * All has been read to the end: stores the index, if the file is unchanged; false
 * if there is none.
 */
bool
index_use_store(IndexUse *use, LineEnd line_end)
{
	OpenFile   *file = use->reader->base.file;
	Source	   *source = &file->source;
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
	else if (!use->builder.failed && use->builder.nblocks < 2)
		return give_reason(use, INDEX_TOO_SMALL);
	else
		bytes = index_builder_finish(&use->builder, &facts,
									 use->is_loaded ? &use->index : NULL,
									 &length);
	if (bytes == NULL)
		return give_reason(use, "it would be too large");
	/* That has read some of it. */
	if (!is_settled(use, 0))
		return give_reason(use, "the file was changed meanwhile");
	if (!index_file_store(RelationGetRelid(file->copy->rel), bytes, length))
		return give_reason(use, "it could not be stored");
	memcpy(use->id, ((IndexHeader *) bytes)->id, INDEX_ID_SIZE);
	use->written += use->builder.nblocks;
	use->is_stored = true;
	return true;
}

/* COPY's parser reads the rest of the file: the index is neither used nor made. */
void
index_use_give_up(IndexUse *use)
{
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
