/*
 * parallel.h
 *	  One file, read by several processes.
 */
#ifndef TOLLFREE_FILE_PARALLEL_H
#define TOLLFREE_FILE_PARALLEL_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "base/paths.h"
#include "cache/index_share.h"
#include "cache/kept.h"
#include "read/range.h"
#include "share/parallel_index.h"
#include "share/parallel_packed.h"

/* How many parts of a file with a record index there may be */
#define MAX_INDEX_PARTS 256

/* More reasons than there are; others would be counted as the last one. */
#define MAX_FALLBACK_REASONS 16
#define MAX_FALLBACK_WORDS 64

/* Why workers have left the fast path. */
typedef struct Fallbacks
{
	int			nworkers;
	int			nreasons;
	struct
	{
		char		words[MAX_FALLBACK_WORDS];
		int			times;
	}			reasons[MAX_FALLBACK_REASONS];
} Fallbacks;

/*
 * What the processes share.  The file is cut into chunks, which are taken one
 * after the other by whoever is free.
 */
typedef struct ParallelFile
{
	Source		source;			/* the file, as the leader has seen it */
	ChunkLayout layout;
	int			encoding;		/* of the file, as the leader takes it */
	PackedChunks packed;		/* of compressed text */
	bool		is_whole;		/* can it not be cut?  One process reads it. */
	bool		by_index;		/* are the chunks parts of a record index? */
	int64_t		chunk_size;		/* bytes */
	uint32		nchunks;
	pg_atomic_uint32 next;		/* the chunk to be taken next */
	slock_t		counts_lock;	/* of the next two */
	Fallbacks	fallbacks;		/* of workers */
	SegmentCounts segments;		/* of workers */
	pg_atomic_uint64 bytes_read;	/* by workers, through core/ */
	pg_atomic_uint64 bytes_decoded; /* likewise */
	ParallelIndex made;			/* what comes of a record index that is made */

	/*
	 * What has been found out by looking through chunks, in their order.  The
	 * state is changed by whoever has looked through the chunk that is next.
	 */
	pg_atomic_uint32 searched;	/* how many chunks, from the first, are known
								 * to have no marker */
	pg_atomic_uint32 last;		/* the chunk that may have one: who took it
								 * reads all behind it as well */
	ChunkState	state;			/* CSV: behind the chunks searched */
	ConditionVariable progress; /* of these */

	/*
	 * What the record index gives.  Where each part begins, and that there is
	 * no marker in it, is known.
	 */
	IndexIdentity index;
	SegmentRoom room;			/* for column segments */
	uint32		max_parts;

	/* Of a table with many files: how many; their names are where parts are. */
	uint32		nfiles;
	IndexPart	parts[FLEXIBLE_ARRAY_MEMBER];
} ParallelFile;

/* What one process has of it: a source of ranges, chunks or parts. */
typedef struct ParallelShare
{
	RangeSource ranges;
	PartRuns	runs;			/* of its parts, if segments are used or made */
	ParallelFile *file;			/* what they share, or NULL */
	FilePaths	files;			/* of a table with many files: these, in the
								 * order in which they are taken */
	bool		keeps_chunks;	/* may a scan below have to read them again? */
	bool		counts_rows;	/* are rows only counted? */
	uint32		chunk;			/* the one taken last */
	List	   *taken;			/* those taken, if they are kept */
	List	   *owed;			/* chunks to be read before more are taken */
	IndexMaker	maker;			/* this process's part of an index */
	bool		is_noted;		/* has this worker been counted as one that
								 * left the fast path? */
	bool		is_shut_down;	/* may what is shared be gone? */

	/* In the leader at the end */
	Fallbacks	worker_fallbacks;	/* of all workers */
	SegmentCounts worker_segments;
	ByteCounts	worker_bytes;
	uint64		worker_blocks_written;	/* of a record index */
	const char *undivided;		/* which part one process has read; or NULL */
} ParallelShare;

extern void parallel_cut(ParallelFile *shared, FileReader *reader,
						 const FileLayout *layout, int encoding,
						 IndexUse *index, dsa_area *area);
extern Size parallel_files_size(const FilePaths *paths);
extern void parallel_files_write(ParallelFile *shared, const FilePaths *paths);
extern void parallel_files_join(ParallelShare *share, ParallelFile *shared,
								MemoryContext memory);
extern void parallel_keep_counts(ParallelShare *share);
extern void parallel_tell_counts(ParallelShare *share, ByteCounts bytes,
								 uint64 blocks_written,
								 const SegmentCounts *segments);
extern RangeSource *chunks_begin(ParallelShare *share, KeptFile *kept,
								 OpenFile *file, FileReader *reader,
								 const FileOptions *options);
extern void parallel_note_fallback(ParallelShare *share, const char *reason);
extern void parallel_pass_down(ParallelShare *share, ParallelShare *below);
extern void parallel_forget_chunks(ParallelShare *share);

#endif							/* TOLLFREE_FILE_PARALLEL_H */
