/*
 * index_use.h
 *	  What a scan has to do with a record index: it uses one, or makes one.
 */
#ifndef TOLLFREE_FILE_INDEX_USE_H
#define TOLLFREE_FILE_INDEX_USE_H

#include "read/reader.h"
#include "read/sink.h"

typedef enum IndexRole
{
	INDEX_UNUSED,
	INDEX_USED,					/* only blocks that may matter are read */
	INDEX_SHARED,				/* the leader has cut the file by it: blocks
								 * are those of the part that was taken */
	INDEX_FILLED				/* all is read, and an index made of it: with
								 * the blocks of the one that is_loaded, if
								 * there is one */
} IndexRole;

/*
 * In a ScanInput.  The first part is set when the scan is prepared, the second
 * whenever it begins; the last adds up over all of its executions.  As a sink it
 * makes an index of what one process reads.
 */
typedef struct IndexUse
{
	BatchSink	sink;

	bool		is_wanted;
	const FilterNode *filter;	/* for batches; NULL if there is none */
	const FilterNode *joins;	/* what keys of hash joins above must be for a
								 * row to be of use; NULL if that is not
								 * known, as before reading begins */
	bool		counts_rows;	/* are rows only counted? */
	bool		is_lazy;		/* are the filter's columns all that matters? */

	bool		is_append_only; /* is the index of a shorter file true, too? */
	int64		run_size;		/* all blocks of a run begin within one
								 * multiple of this, bytes; 0: anywhere */

	IndexRole	role;
	const char *unused_reason;	/* why it is not USED, if it is not */
	const char *unmade_reason;	/* FILLED: why none is stored, if none is */
	bool		is_stored;		/* has an index of all that was read been
								 * stored? */
	MemoryContext context;		/* of all below; NULL between executions */
	FileReader *reader;			/* of the file */
	StringInfoData key;
	bool		is_loaded;		/* is an index of the file there? */
	RecordIndex index;			/* that one */
	uint32		nblocks;		/* its blocks, but for the last one of an
								 * index of a shorter file; SHARED: up to the
								 * part's end */
	bool		has_tail;		/* is what is behind them to be read? */
	bool		is_filling;		/* is an index made of what is read now? */
	int		   *columns;		/* USED: of the index, for each of the batch */
	bool	   *needed;			/* USED: must it be clean? */
	const Zone **zones;			/* USED: of the block that is looked at */
	uint32		next;			/* the first block not looked at */
	IndexBuilder builder;		/* is_filling, as the next */
	int64_t		end;			/* offset behind what was added */
	unsigned char id[INDEX_ID_SIZE];	/* of the blocks that are used or made */

	uint64		blocks;			/* of indexes used */
	uint64		skipped;		/* blocks not read: no row passes the filter */
	uint64		unjoined;		/* blocks not read: no row is joined */
	uint64		counted;		/* blocks not read: all rows do, and are only
								 * counted */
	int			unclean;		/* a needed column of which a block that was
								 * read has values that are not known; -1 if
								 * there is none */
	uint64		skipped_rows;	/* since somebody has asked */
	uint64		unjoined_rows;	/* likewise, as the next */
	uint64		counted_rows;
	uint64		written;		/* blocks of indexes made */
} IndexUse;

/* Why a file has no index whose records are in one block, as long as that is */
#define INDEX_TOO_SMALL "the file has fewer than two blocks"

extern bool index_use_load(RecordIndex *index, const OpenFile *file,
						   int encoding, const FileOptions *options);
extern void index_use_prepare(IndexUse *use, const FileOptions *options);
extern void index_use_begin(IndexUse *use, FileReader *reader, int encoding,
							const FileOptions *options);
extern void index_use_reset(IndexUse *use);
extern MemoryContext index_use_enter(IndexUse *use, FileReader *reader);
extern void index_use_join(IndexUse *use, FileReader *reader, int encoding,
						   const FileOptions *options);
extern void index_use_begin_filling(IndexUse *use);
extern void index_use_open_builder(IndexUse *use);
extern void index_use_add(IndexUse *use, int64 line_zero);
extern bool index_use_store(IndexUse *use, LineEnd line_end);
extern bool index_use_is_settled(const IndexUse *use);
extern void index_use_give_up(IndexUse *use);
extern void index_use_end(IndexUse *use);

/* What a counter has counted since the last call */
static inline uint64
counter_take(uint64 *counter)
{
	uint64		count = *counter;

	*counter = 0;
	return count;
}

/* Is the file read by blocks of an index that is there? */
static inline bool
index_use_has_blocks(const IndexUse *use)
{
	return use->role == INDEX_USED ||
		(use->role == INDEX_FILLED && use->is_loaded);
}

#endif							/* TOLLFREE_FILE_INDEX_USE_H */
