/*
 * segment_file.c
 *	  Column segments in the folder where they are kept: one file for each column
 *	  and part of a foreign table's file.
 *
 * A segment is of an index, whose id it has: without that it is nothing.  Whoever
 * meets one of another index, as one that is damaged, removes it.  A file is read
 * as a whole, and that is counted in it.
 *
 * Where there is no more room, the segment goes that was used least often, for the
 * bytes that it takes and the time since it was made.  In simulated queries
 * (lab/benchmarks/cache_choice.py) that takes 0.5 to 1.0 of the time that removing what
 * was used longest ago takes.  How long values take to convert makes no difference there:
 * columns save time together, where a query finds all of its own.
 *
 * Nothing here raises an ERROR while a query is executed: without a segment text
 * is read, and that is all.
 */
#include "postgres.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/table.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/columns.h"
#include "base/compat.h"
#include "base/compat_export.h"
#include "base/guc.h"
#include "cache/segment_file.h"

#define NS_PER_S INT64CONST(1000000000)

/* Columns of tollfree_file_fdw_cached_columns */
#define LIST_COLUMNS 4

COMPAT_SQL_FUNCTION(tollfree_file_fdw_cached_columns);
COMPAT_SQL_FUNCTION(tollfree_file_fdw_drop_cached_columns);

static CacheName
segment_name(const SegmentKey *key)
{
	return (CacheName)
	{
		.database = MyDatabaseId,.relid = key->relid,.is_segment = true,
			.number = key->number,.field = key->spec->field
	};
}

/* Is it the segment that it should be? */
static bool
segment_file_matches(const SegmentHeader *header, const SegmentKey *key)
{
	return memcmp(header->index_id, key->index_id, INDEX_ID_SIZE) == 0 &&
		header->field == key->spec->field && header->type == key->spec->type &&
		(key->offset < 0 || header->offset == key->offset) &&
		(key->nrows == 0 || header->nrows == key->nrows);
}

/* Makes room for that size, bytes; false if there is no memory. */
static bool
buffer_reserve(SegmentBuffer *buffer, size_t size)
{
	if (size <= buffer->size)
		return true;
	if (buffer->bytes != NULL)
		pfree(buffer->bytes);
	buffer->bytes = MemoryContextAllocExtended(buffer->context, size,
											   MCXT_ALLOC_HUGE |
											   MCXT_ALLOC_NO_OOM);
	buffer->size = buffer->bytes == NULL ? 0 : size;
	return buffer->bytes != NULL;
}

/* Reads an open file that may be a segment, into the buffer. */
static bool
read_segment(int fd, const SegmentKey *key, SegmentBuffer *buffer,
			 Segment *segment)
{
	struct stat status;
	size_t		length;

	if (fstat(fd, &status) != 0 || status.st_size < sizeof(SegmentHeader) ||
		status.st_size > SEGMENT_SIZE_MAX)
		return false;
	length = status.st_size;
	return buffer_reserve(buffer, length) &&
		cache_read(fd, buffer->bytes, length) &&
		((SegmentHeader *) buffer->bytes)->checksum ==
		cache_checksum(buffer->bytes, length, SEGMENT_CHECKED_FROM) &&
		segment_read(segment, buffer->bytes, length) &&
		segment_file_matches(segment->header, key);
}

/* Counts one more use; two at a time may be counted as one. */
static void
count_use(int fd, const SegmentHeader *header)
{
	const uint32 uses = Max(header->uses, header->uses + 1);

	/* It is no harm if that fails. */
	if (pwrite(fd, &uses, sizeof(uses), offsetof(SegmentHeader, uses)) < 0)
		elog(DEBUG1, "could not count the use of a column segment: %m");
}

/*
 * Loads a segment into the buffer; false if there is none.  What is not that
 * segment is removed.
 */
bool
segment_file_load(const SegmentKey *key, SegmentBuffer *buffer,
				  Segment *segment)
{
	const CacheName name = segment_name(key);
	char		path[MAXPGPATH];
	bool		is_read;
	int			fd;

	cache_make_path(path, &name);
	fd = BasicOpenFile(path, O_RDWR | PG_BINARY);
	if (fd < 0)
		return false;
	is_read = read_segment(fd, key, buffer, segment);
	if (is_read)
		count_use(fd, segment->header);
	close(fd);
	if (!is_read)
		unlink(path);
	return is_read;
}

/* Reads the header of a file that may be a segment. */
static bool
segment_file_read_header(const char *path, SegmentHeader *header)
{
	int			fd = BasicOpenFile(path, O_RDONLY | PG_BINARY);
	bool		is_read;

	if (fd < 0)
		return false;
	is_read = cache_read(fd, (unsigned char *) header, sizeof(*header));
	close(fd);
	return is_read;
}

/* Is there such a segment, by what its header says? */
bool
segment_file_exists(const SegmentKey *key)
{
	const CacheName name = segment_name(key);
	char		path[MAXPGPATH];
	SegmentHeader header;

	cache_make_path(path, &name);
	return segment_file_read_header(path, &header) && segment_file_matches(&header, key);
}

/* Now, since 1970, by the clock that files are given their times by. */
static int64
file_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* What a scan that begins now knows of the room: nothing. */
void
segment_file_begin_room(SegmentRoom *room)
{
	room->began_ns = file_time_ns();
	pg_atomic_init_u64(&room->left, 0);
}

/* How often a segment was used, a second and byte; nothing if it is none. */
static double
segment_worth(const char *path)
{
	SegmentHeader header;
	int64		age_ns;

	if (!segment_file_read_header(path, &header) || header.length == 0)
		return 0;
	/* The clock may have been set back. */
	age_ns = Max(0, file_time_ns() - header.made_ns);
	return header.uses / ((double) header.length * (1 + (double) age_ns / NS_PER_S));
}

/* Takes room for that size, bytes, and makes some if none is left. */
static bool
take_room(const CacheName *name, size_t length, SegmentRoom *room)
{
	const CacheLimit limit = {
		.size = (uint64) setting_column_cache_size * 1024,
		.keep_from_ns = room->began_ns,
		.worth = segment_worth
	};
	uint64		left = pg_atomic_read_u64(&room->left);
	bool		has_room;

	while (length <= left)
	{
		if (pg_atomic_compare_exchange_u64(&room->left, &left, left - length))
			return true;
	}
	has_room = cache_make_room(name, length, &limit, &left);
	pg_atomic_write_u64(&room->left, left);
	return has_room;
}

/* Keeps a segment; false if there is no room, or if it cannot be written. */
bool
segment_file_store(const SegmentKey *key, unsigned char *bytes, size_t length,
				   SegmentRoom *room)
{
	const CacheName name = segment_name(key);

	((SegmentHeader *) bytes)->made_ns = file_time_ns();
	((SegmentHeader *) bytes)->checksum =
		cache_checksum(bytes, length, SEGMENT_CHECKED_FROM);
	return take_room(&name, length, room) && cache_write(&name, bytes, length);
}

/*
 * Removes a table's segments, or those that are not of an index of that id.
 * Returns whether there were any.
 */
bool
segment_file_remove(Oid relid, const unsigned char *index_id)
{
	DIR		   *folder = opendir(CACHE_FOLDER);
	struct dirent *entry;
	bool		is_removed = false;

	if (folder == NULL)
		return false;
	while ((entry = readdir(folder)) != NULL)
	{
		char		path[MAXPGPATH];
		CacheName	name;
		SegmentHeader header;

		if (!cache_parse_name(entry->d_name, &name) || !name.is_segment ||
			name.is_unfinished || name.database != MyDatabaseId ||
			name.relid != relid)
			continue;
		cache_make_path(path, &name);
		if (index_id != NULL && segment_file_read_header(path, &header) &&
			memcmp(header.index_id, index_id, INDEX_ID_SIZE) == 0)
			continue;
		is_removed |= unlink(path) == 0;
	}
	closedir(folder);
	return is_removed;
}

/* Adds up what is kept of the tables that the current user may read: KeptColumns. */
HTAB *
segment_file_survey(void)
{
	const HASHCTL info = {
		.keysize = offsetof(KeptColumn, nsegments),
		.entrysize = sizeof(KeptColumn),
		.hcxt = CurrentMemoryContext
	};
	HTAB	   *columns = hash_create("tollfree_file_fdw columns", 64, &info,
									  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	DIR		   *folder = AllocateDir(CACHE_FOLDER);
	struct dirent *entry;

	if (folder == NULL && errno == ENOENT)
		return columns;
	while ((entry = ReadDir(folder, CACHE_FOLDER)) != NULL)
	{
		char		path[MAXPGPATH];
		CacheName	name;
		struct stat status;
		KeptColumn	key;
		KeptColumn *column;
		bool		is_found;

		if (!cache_parse_name(entry->d_name, &name) || !name.is_segment ||
			name.is_unfinished || !cache_is_visible(&name))
			continue;
		cache_make_path(path, &name);
		if (stat(path, &status) != 0)
			continue;
		key.relid = name.relid;
		key.field = name.field;
		column = hash_search(columns, &key, HASH_ENTER, &is_found);
		column->nsegments = (is_found ? column->nsegments : 0) + 1;
		column->size = (is_found ? column->size : 0) + status.st_size;
	}
	FreeDir(folder);
	return columns;
}

/* The columns kept of the database's tables that the current user may read. */
Datum
tollfree_file_fdw_cached_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HASH_SEQ_STATUS status;
	KeptColumn *column;

	InitMaterializedSRF(fcinfo, 0);
	hash_seq_init(&status, segment_file_survey());
	while ((column = hash_seq_search(&status)) != NULL)
	{
		Datum		values[LIST_COLUMNS];
		bool		nulls[LIST_COLUMNS] = {false};
		char	   *name = columns_field_name(column->relid, column->field);

		nulls[1] = name == NULL;
		values[0] = ObjectIdGetDatum(column->relid);
		values[1] = name == NULL ? (Datum) 0 : CStringGetTextDatum(name);
		values[2] = Int64GetDatum(column->nsegments);
		values[3] = Int64GetDatum(column->size);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Removes a table's segments, for the table's owner; false if there are none. */
Datum
tollfree_file_fdw_drop_cached_columns(PG_FUNCTION_ARGS)
{
	Relation	rel = cache_open_owned(PG_GETARG_OID(0));
	bool		is_removed = segment_file_remove(RelationGetRelid(rel), NULL);

	table_close(rel, AccessShareLock);
	PG_RETURN_BOOL(is_removed);
}
