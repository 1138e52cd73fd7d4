/*
 * parallel_packed.c
 *	  Chunks of compressed text, which begin where its members do.
 *
 *		members		|   m0   |   m1   |   m2   |   m3   |
 *		chunks		|     0     |   1    |   2    |  3  |
 *							   ^ some bytes behind the member's first
 *
 * To find the first record of a chunk, some bytes before the chunk are looked at. So it
 * begins a little behind where decoding does, and none of the member before is needed.
 *
 * The leader finds the members, and leaves their places in memory that all see.
 */
#include "postgres.h"

#include "share/parallel_packed.h"

/* Chunks' numbers are 32 bits long. */
#define MAX_PLACES PG_INT32_MAX

/* Prepares what is shared, before anybody joins. */
void
parallel_packed_init(PackedChunks *shared)
{
	memset(shared, 0, sizeof(*shared));
	shared->places = InvalidDsaPointer;
}

/* Frees what is shared, when nobody else has a part in it. */
void
parallel_packed_reset(PackedChunks *shared, dsa_area *area)
{
	if (DsaPointerIsValid(shared->places))
		dsa_free(area, shared->places);
	parallel_packed_init(shared);
}

/* Where a chunk but the first begins in the text. */
int64
parallel_packed_begin(const PackedChunks *shared, const PackedFile *packed, uint32 n)
{
	return packed->map->places[shared->first + n].text +PACKED_CHUNK_LEAD;
}

/* How many chunks begin behind the header and before the end. */
static uint32
count_chunks(PackedChunks *shared, const PackedFile *packed,
			 const ChunkLayout *layout)
{
	uint64		last = shared->nplaces - 1;

	while (shared->first < last &&
		   parallel_packed_begin(shared, packed, 1) <= layout->begin)
		shared->first++;
	while (last > shared->first &&
		   packed->map->places[last].text +PACKED_CHUNK_LEAD >= layout->end)
		last--;
	return last - shared->first + 1;
}

/* Leaves the places of the file's members for the others; returns how many chunks. */
uint32
parallel_packed_cut(PackedChunks *shared, dsa_area *area, const PackedFile *packed,
					const ChunkLayout *layout, int64 apart)
{
	const MemberMap *map = packed->map;
	Size		size = sizeof(MemberPlace) * (map->nplaces + 1);

	if (area == NULL || map->nplaces > MAX_PLACES)
		return 1;
	shared->nplaces = map->nplaces;
	shared->apart = apart;
	shared->places = dsa_allocate_extended(area, size, DSA_ALLOC_HUGE);
	memcpy(dsa_get_address(area, shared->places), map->places, size);
	return count_chunks(shared, packed, layout);
}

/*
 * Has this process know where the file's members begin, as the leader does.  It is
 * known to be the leader's file.
 */
void
parallel_packed_join(const PackedChunks *shared, dsa_area *area, PackedFile *packed)
{
	if (packed == NULL || packed->map != NULL)
		return;
	if (area != NULL && DsaPointerIsValid(shared->places))
		packed_use_members(packed, dsa_get_address(area, shared->places),
						   shared->nplaces);
	else if (!packed_find_members(packed, shared->apart) ||
			 packed->map->nplaces != shared->nplaces)
		file_report_change(packed->filename, false);
}
