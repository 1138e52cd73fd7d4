/*
 * parallel_packed.h
 *	  Chunks of compressed text, which begin where its members do.
 */
#ifndef TOLLFREE_FILE_PARALLEL_PACKED_H
#define TOLLFREE_FILE_PARALLEL_PACKED_H

#include "utils/dsa.h"

#include "read/file.h"

/* How far behind a member's first byte a chunk begins, bytes of text */
#define PACKED_CHUNK_LEAD (2 * KERNEL_BLOCK)

/* What the processes share, in a ParallelFile. */
typedef struct PackedChunks
{
	dsa_pointer places;			/* MemberPlace, nplaces + 1 of them; invalid
								 * where the file is not cut so */
	uint64		nplaces;
	uint64		first;			/* chunk n but the first begins at place first
								 * + n */
	int64		apart;			/* bytes of text between places, at least */
} PackedChunks;

extern void parallel_packed_init(PackedChunks *shared);
extern uint32 parallel_packed_cut(PackedChunks *shared, dsa_area *area,
								  const PackedFile *packed,
								  const ChunkLayout *layout, int64 apart);
extern void parallel_packed_join(const PackedChunks *shared, dsa_area *area,
								 PackedFile *packed);
extern int64 parallel_packed_begin(const PackedChunks *shared,
								   const PackedFile *packed, uint32 n);
extern void parallel_packed_reset(PackedChunks *shared, dsa_area *area);

#endif							/* TOLLFREE_FILE_PARALLEL_PACKED_H */
