/*
 * index_share.h
 *	  A record index in a scan by several processes, beyond its parts.
 */
#ifndef TOLLFREE_FILE_INDEX_SHARE_H
#define TOLLFREE_FILE_INDEX_SHARE_H

#include "cache/index_blocks.h"

/* Which index a file was cut by.  Of one id, each size has other last blocks. */
typedef struct IndexIdentity
{
	unsigned char id[INDEX_ID_SIZE];
	int64		size;			/* of the file, bytes */
} IndexIdentity;

extern IndexIdentity index_share_identify(const IndexUse *use);
extern void index_share_join(IndexUse *use, FileReader *reader,
							 const IndexIdentity *identity);
extern void index_share_take(IndexUse *use, const ScanRange *range);
extern bool index_share_next(IndexUse *use, BlockRun *run);

#endif							/* TOLLFREE_FILE_INDEX_SHARE_H */
