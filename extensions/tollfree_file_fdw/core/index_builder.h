/*
 * index_builder.h
 *	  A record index, made of batches.
 */
#ifndef CORE_INDEX_BUILDER_H
#define CORE_INDEX_BUILDER_H

#include "core/allocator.h"
#include "core/batch.h"
#include "core/record_index.h"

/* An index being made, batch by batch. */
typedef struct IndexBuilder
{
	Allocator	allocator;		/* may return NULL */
	size_t		room;			/* of the next two, columns */
	int			ncolumns;
	int		   *columns;		/* of the batch, whose fields ascend */
	uint32_t   *fields;			/* of these columns */
	unsigned char *blocks;
	size_t		stride;
	size_t		nblocks;
	size_t		capacity;		/* blocks */
	bool		ends_by_rows;	/* does a block end when it has enough rows?
								 * Else only at index_builder_end_block */
	bool		is_ended;		/* does the next batch begin a block? */
	bool		failed;			/* no memory, or too large: no index */
} IndexBuilder;

/* The data of an index that are not in the batches. */
typedef struct IndexFacts
{
	Source	   *source;
	LineEnd		line_end;
	int64_t		end;
	const unsigned char *key;
	size_t		key_length;
	const unsigned char *id;	/* of new blocks, INDEX_ID_SIZE random bytes */
} IndexFacts;

/*
 * Begins an index of the columns that are not deferred, since only these have
 * values in all rows of a batch.
 */
extern void index_builder_open(IndexBuilder *builder,
							   const Allocator *allocator,
							   const ColumnSpec *columns, int ncolumns);

/*
 * Adds the next batch, as it was read: the caller must not have stored
 * unresolved values.  Its first record is at offset, after this many lines.
 */
extern void index_builder_add(IndexBuilder *builder, int64_t offset,
							  int64_t line, const RowBatch *batch);

/* Ends the block of the last batch. */
extern void index_builder_end_block(IndexBuilder *builder);

/*
 * Appends blocks that were made of the same columns.  Their lines are relative
 * to a record after this many lines.
 */
extern void index_builder_append(IndexBuilder *builder,
								 const unsigned char *blocks, size_t nblocks,
								 int64_t line);

/* Returns the offset of the last batch's block; -1 if failed. */
extern int64_t index_builder_block_offset(const IndexBuilder *builder);

/*
 * Returns the index of all batches, without a checksum, or NULL if none can be
 * made.  Reads samples of the file.  If the old index, which may be NULL, has
 * the same blocks, its id is kept, and its further columns are added.
 */
extern unsigned char *index_builder_finish(const IndexBuilder *builder,
										   const IndexFacts *facts,
										   const RecordIndex *old,
										   size_t *length);

/*
 * The same for batches from the start of the old index's last block on, which
 * they replace.  The columns are those of the old index; values of a column
 * that the batches lack are unresolved.  The id is kept, since all blocks but
 * the last are unchanged.
 */
extern unsigned char *index_builder_extend(const IndexBuilder *builder,
										   const IndexFacts *facts,
										   const RecordIndex *old,
										   size_t *length);

extern void index_builder_close(IndexBuilder *builder);

#endif							/* CORE_INDEX_BUILDER_H */
