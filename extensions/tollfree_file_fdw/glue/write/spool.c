/*
 * spool.c
 *	  Bytes that are kept until all are there: in memory, or beyond work_mem in a
 *	  temporary file.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "write/spool.h"

/* Begins an empty one in the current memory context. */
void
spool_begin(Spool *spool)
{
	initStringInfo(&spool->bytes);
	spool->file = NULL;
	spool->saved = 0;
}

/* Moves what is in memory to the temporary file if it is large. */
void
spool_save_large(Spool *spool)
{
	if ((Size) spool->bytes.len < Min((Size) work_mem * 1024, MaxAllocSize / 4))
		return;
	if (spool->file == NULL)
	{
		PrepareTempTablespaces();
		spool->file = BufFileCreateTemp(false);
	}
	BufFileWrite(spool->file, spool->bytes.data, spool->bytes.len);
	spool->saved += spool->bytes.len;
	resetStringInfo(&spool->bytes);
}

/* Is nothing in it? */
bool
spool_is_empty(const Spool *spool)
{
	return spool->saved == 0 && spool->bytes.len == 0;
}

/* Goes to the first byte, for spool_read. */
void
spool_rewind(Spool *spool)
{
	if (spool->file != NULL && BufFileSeek(spool->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the temporary file of the rows of a statement: %m")));
}

/*
 * Copies the next bytes, at most this many; returns how many, 0 at the end.  *at is how
 * many have been read: 0 at first.
 */
size_t
spool_read(Spool *spool, char *bytes, size_t size, uint64 *at)
{
	if (*at < spool->saved)
	{
		size = Min(size, spool->saved - *at);
		(void) compat_read_saved(spool->file, bytes, size, false);
	}
	else
	{
		size = Min(size, spool->saved + spool->bytes.len - *at);
		memcpy(bytes, spool->bytes.data + (*at - spool->saved), size);
	}
	*at += size;
	return size;
}

/* Frees it all. */
void
spool_end(Spool *spool)
{
	if (spool->file != NULL)
		BufFileClose(spool->file);
	spool->file = NULL;
	pfree(spool->bytes.data);
}
