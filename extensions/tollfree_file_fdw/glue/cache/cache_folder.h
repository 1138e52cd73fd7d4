/*
 * cache_folder.h
 *	  The folder in which record indexes and column segments are kept.
 */
#ifndef TOLLFREE_FILE_CACHE_FOLDER_H
#define TOLLFREE_FILE_CACHE_FOLDER_H

#include "utils/rel.h"

#include "base/core.h"

#define CACHE_FOLDER "pgsql_tmp_tollfree_file_fdw"

/* What the name of a file in the folder says. */
typedef struct CacheName
{
	Oid			database;
	Oid			relid;
	bool		is_segment;		/* else it is an index; then the next two are
								 * 0 */
	uint32		number;			/* of the segment in the foreign table's file */
	uint32		field;
	bool		is_unfinished;	/* is it one that is being written? */
} CacheName;

/* Room for files of one kind. */
typedef struct CacheLimit
{
	uint64		size;			/* of all together, bytes */
	int64		keep_from_ns;	/* what was used since then is not removed,
								 * since 1970 */

	/*
	 * What is worth least goes first, by the path of its file.  NULL: what
	 * has the oldest modification time.
	 */
	double		(*worth) (const char *path);
} CacheLimit;

extern void cache_make_path(char *path, const CacheName *name);
extern bool cache_parse_name(const char *file, CacheName *name);
extern uint32 cache_checksum(const unsigned char *bytes, size_t length,
							 size_t from);
extern bool cache_read(int fd, unsigned char *bytes, size_t length);
extern bool cache_write(const CacheName *name, const unsigned char *bytes,
						size_t length);
extern bool cache_make_room(const CacheName *name, size_t length,
							const CacheLimit *limit, uint64 *left);

/* For the functions that show and drop what is kept */
extern bool cache_is_visible(const CacheName *name);
extern Relation cache_open_owned(Oid relid);

#endif							/* TOLLFREE_FILE_CACHE_FOLDER_H */
