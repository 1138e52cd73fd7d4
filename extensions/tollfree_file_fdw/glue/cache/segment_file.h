/*
 * segment_file.h
 *	  Column segments in the folder where they are kept.
 */
#ifndef TOLLFREE_FILE_SEGMENT_FILE_H
#define TOLLFREE_FILE_SEGMENT_FILE_H

#include "port/atomics.h"
#include "utils/hsearch.h"

#include "cache/cache_folder.h"

/* Which segment it is, and what must be true of it. */
typedef struct SegmentKey
{
	Oid			relid;
	uint32		number;
	const unsigned char *index_id;
	int64		offset;			/* of its first record; -1 if that is not
								 * known */
	uint32		nrows;			/* 0 if that is not known */
	const ColumnSpec *spec;
} SegmentKey;

/* Memory for the bytes of a segment, which grows as is needed. */
typedef struct SegmentBuffer
{
	MemoryContext context;
	unsigned char *bytes;
	size_t		size;
} SegmentBuffer;

/* What a scan knows of the room for segments.  All of its processes share it. */
typedef struct SegmentRoom
{
	int64		began_ns;		/* when the scan began: what was used since is
								 * not removed */
	pg_atomic_uint64 left;		/* bytes */
} SegmentRoom;

/* What is kept of a column. */
typedef struct KeptColumn
{
	Oid			relid;			/* the first two are the key of a hash table */
	uint32		field;
	int64		nsegments;
	int64		size;			/* bytes */
} KeptColumn;

extern bool segment_file_load(const SegmentKey *key, SegmentBuffer *buffer,
							  Segment *segment);
extern bool segment_file_exists(const SegmentKey *key);
extern void segment_file_begin_room(SegmentRoom *room);
extern bool segment_file_store(const SegmentKey *key, unsigned char *bytes,
							   size_t length, SegmentRoom *room);
extern bool segment_file_remove(Oid relid, const unsigned char *index_id);
extern HTAB *segment_file_survey(void);

#endif							/* TOLLFREE_FILE_SEGMENT_FILE_H */
