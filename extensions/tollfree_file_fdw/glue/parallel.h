/*
 * parallel.h
 *	  One file, scanned by several processes.
 */
#ifndef TOLLFREE_FILE_PARALLEL_H
#define TOLLFREE_FILE_PARALLEL_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "scan.h"

/*
 * What the processes share.  The file is cut into chunks, which are taken one
 * after the other by whoever is free.
 */
typedef struct ParallelFile
{
	Source		source;			/* the file, as the leader has seen it */
	ChunkLayout layout;
	int			encoding;		/* of the file, as the leader takes it */
	bool		is_whole;		/* can it not be cut?  One process reads it. */
	int64_t		chunk_size;		/* bytes */
	uint32		nchunks;
	pg_atomic_uint32 next;		/* the chunk to be taken next */
	slock_t		fallbacks_lock;
	Fallbacks	fallbacks;		/* of workers */
	pg_atomic_uint64 bytes_read;	/* by workers, through core/ */

	/*
	 * What has been found out by looking through chunks, in their order.  The
	 * state is changed by whoever has looked through the chunk that is next.
	 */
	pg_atomic_uint32 searched;	/* so many chunks, the first, have no marker */
	pg_atomic_uint32 last;		/* the chunk that may have one: who took it
								 * reads all behind it as well */
	ChunkState	state;			/* CSV: behind the chunks searched */
	ConditionVariable progress; /* of these */
} ParallelFile;

extern void parallel_share_source(FileScanState *scan);
extern bool parallel_claim_file(FileScanState *scan);
extern bool parallel_next_batch(FileScanState *scan);
extern bool parallel_copies_on(const FileScanState *scan);
extern void parallel_note_fallback(FileScanState *scan, const char *reason);
extern void parallel_pass_down(FileScanState *scan, FileScanState *below);
extern void parallel_check_end(const FileScanState *scan);

#endif							/* TOLLFREE_FILE_PARALLEL_H */
