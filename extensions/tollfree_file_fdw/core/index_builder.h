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
								 * Else only where the caller says so */
	bool		is_ended;		/* does the next batch begin a block? */
	bool		failed;			/* no memory, or too large: no index */
} IndexBuilder;

/* What an index is made of that is not in the batches. */
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
 * Begins an index of the columns that are not deferred, which batches have
 * for all of their rows.
 */
extern void index_builder_open(IndexBuilder *builder,
							   const Allocator *allocator,
							   const ColumnSpec *columns, int ncolumns);

/*
 * Takes in the next batch, as it was read: no open value may have been stored
 * since.  Its first record is at offset, behind so many lines.
 */
extern void index_builder_add(IndexBuilder *builder, int64_t offset,
							  int64_t line, const RowBatch *batch);

/* Ends the block that the last batch is part of. */
extern void index_builder_end_block(IndexBuilder *builder);

/*
 * Takes in blocks that were made of the same columns, behind all that it has.
 * Their lines are counted from a record behind so many lines.
 */
extern void index_builder_append(IndexBuilder *builder,
								 const unsigned char *blocks, size_t nblocks,
								 int64_t line);

/* Returns where the block begins that the last batch is part of; -1 if failed. */
extern int64_t index_builder_block_offset(const IndexBuilder *builder);

/*
 * Returns the index of all batches, without a checksum, or NULL if there is
 * none to be made.  Reads pieces of the file.  If the old index, which may be
 * NULL, has the same blocks, its id is kept, and columns that only it has are
 * added.
 */
extern unsigned char *index_builder_finish(const IndexBuilder *builder,
										   const IndexFacts *facts,
										   const RecordIndex *old,
										   size_t *length);

/*
 * The same for batches from the beginning of the old index's last block on, which
 * is replaced by them.  The columns are those of the old one; where the batches
 * lack one, all of its values are open.  So is the id: of all blocks but the last
 * it means what it did.
 */
extern unsigned char *index_builder_extend(const IndexBuilder *builder,
										   const IndexFacts *facts,
										   const RecordIndex *old,
										   size_t *length);

extern void index_builder_close(IndexBuilder *builder);

#endif							/* CORE_INDEX_BUILDER_H */
