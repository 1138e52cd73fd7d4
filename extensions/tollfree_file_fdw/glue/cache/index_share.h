/*
 * index_share.h
 *	  A record index in a scan by several processes, beyond its parts.
 */
#ifndef TOLLFREE_FILE_INDEX_SHARE_H
#define TOLLFREE_FILE_INDEX_SHARE_H

#include "cache/column_cache.h"
#include "cache/index_blocks.h"
#include "read/range.h"

/* Which index a file was cut by.  Of one id, each size has other last blocks. */
typedef struct IndexIdentity
{
	unsigned char id[INDEX_ID_SIZE];
	int64		size;			/* of the file, bytes */
} IndexIdentity;

/* Runs of blocks within the parts that another source gives. */
typedef struct PartRuns
{
	RangeSource base;
	RangeSource *parts;
	IndexUse   *use;			/* SHARED */
	ColumnCache *cache;
} PartRuns;

extern IndexIdentity index_share_identify(const IndexUse *use);
extern void index_share_join(IndexUse *use, FileReader *reader,
							 const IndexIdentity *identity);
extern RangeSource *part_runs_begin(PartRuns *runs, RangeSource *parts,
									IndexUse *use, ColumnCache *cache);

#endif							/* TOLLFREE_FILE_INDEX_SHARE_H */
