/*
 * spool.h
 *	  Bytes that are kept until all are there.
 */
#ifndef TOLLFREE_FILE_SPOOL_H
#define TOLLFREE_FILE_SPOOL_H

#include "lib/stringinfo.h"
#include "storage/buffile.h"

/*
 * What was put last is in bytes, where callers append; all before is in the temporary file,
 * if there is one.
 */
typedef struct Spool
{
	StringInfoData bytes;
	BufFile    *file;
	uint64		saved;			/* bytes in the file */
} Spool;

extern void spool_begin(Spool *spool);
extern void spool_save_large(Spool *spool);
extern bool spool_is_empty(const Spool *spool);
extern void spool_rewind(Spool *spool);
extern size_t spool_read(Spool *spool, char *bytes, size_t size, uint64 *at);
extern void spool_end(Spool *spool);

#endif							/* TOLLFREE_FILE_SPOOL_H */
