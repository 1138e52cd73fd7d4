/*
 * index_file.c
 *	  Record indexes in the folder where they are kept: one for each foreign table.
 *
 * Nothing here raises an ERROR while a query is executed: without an index the
 * query takes longer, and that is all.
 */
#include "postgres.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/guc.h"
#include "cache/cache_folder.h"
#include "cache/index_file.h"
#include "cache/segment_file.h"

/* Columns of tollfree_file_fdw_record_indexes */
#define LIST_COLUMNS 5

COMPAT_SQL_FUNCTION(tollfree_file_fdw_record_indexes);
COMPAT_SQL_FUNCTION(tollfree_file_fdw_drop_record_index);

/* The name of a table's index. */
static CacheName
index_name(Oid relid)
{
	return (CacheName)
	{
		.database = MyDatabaseId,.relid = relid
	};
}

/* Opens a table's index, and sets its path; -1 if there is none. */
static int
open_index(Oid relid, char *path)
{
	const CacheName name = index_name(relid);

	cache_make_path(path, &name);
	return BasicOpenFile(path, O_RDONLY | PG_BINARY);
}

/* Reads an open file that may be an index, into memory of its own. */
static bool
read_index(int fd, RecordIndex *index)
{
	struct stat status;
	size_t		length;
	unsigned char *bytes;

	if (fstat(fd, &status) != 0 || status.st_size < sizeof(IndexHeader) ||
		status.st_size > INDEX_SIZE_MAX)
		return false;
	length = status.st_size;
	bytes = palloc_extended(length, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
	if (bytes == NULL)
		return false;
	if (cache_read(fd, bytes, length) &&
		((IndexHeader *) bytes)->checksum ==
		cache_checksum(bytes, length, INDEX_CHECKED_FROM) &&
		index_read(index, bytes, length))
		return true;
	pfree(bytes);
	return false;
}

/*
 * Loads a table's index, into the current memory context; false if there is
 * none.  What cannot be read is removed.
 */
bool
index_file_load(Oid relid, RecordIndex *index)
{
	char		path[MAXPGPATH];
	bool		is_read;
	int			fd = open_index(relid, path);

	if (fd < 0)
		return false;
	is_read = read_index(fd, index);
	close(fd);
	if (!is_read)
		unlink(path);
	return is_read;
}

/* Reads what an index says of all of the file; false if that cannot be one. */
static bool
index_file_read_header(int fd, IndexHeader *header)
{
	return cache_read(fd, (unsigned char *) header, sizeof(*header)) &&
		index_header_is_known(header);
}

/*
 * Loads what a table's index says of all of the file; false if there is none.  It
 * is not checked further: for guesses alone.
 */
bool
index_file_load_header(Oid relid, IndexHeader *header)
{
	char		path[MAXPGPATH];
	bool		is_read;
	int			fd = open_index(relid, path);

	if (fd < 0)
		return false;
	is_read = index_file_read_header(fd, header);
	close(fd);
	return is_read;
}

/*
 * The same, with the header's ncolumns fields that the index knows, in the current
 * memory context.
 */
bool
index_file_load_fields(Oid relid, IndexHeader *header, uint32 **fields)
{
	char		path[MAXPGPATH];
	bool		is_read;
	int			fd = open_index(relid, path);

	if (fd < 0)
		return false;
	is_read = index_file_read_header(fd, header) &&
		header->ncolumns <= INDEX_COLUMNS_MAX &&
		lseek(fd, index_fields_offset(header), SEEK_SET) >= 0;
	if (is_read)
	{
		*fields = palloc(sizeof(uint32) * Max(1, header->ncolumns));
		is_read = cache_read(fd, (unsigned char *) *fields,
							 sizeof(uint32) * header->ncolumns);
	}
	close(fd);
	return is_read;
}

/* May an index of the same blocks be kept that has that many columns more? */
bool
index_file_has_room(const IndexHeader *header, int nmore)
{
	return header->ncolumns + nmore <= INDEX_COLUMNS_MAX &&
		index_length_with(header, nmore) <=
		Min(INDEX_SIZE_MAX, (uint64) setting_record_index_size * 1024);
}

/* Keeps a table's index; false if it is too large, or if it cannot be written. */
bool
index_file_store(Oid relid, unsigned char *bytes, size_t length)
{
	const CacheName name = index_name(relid);
	const CacheLimit limit = {
		.size = (uint64) setting_record_index_size * 1024,
		.keep_from_ns = PG_INT64_MAX
	};
	uint64		left;

	((IndexHeader *) bytes)->checksum =
		cache_checksum(bytes, length, INDEX_CHECKED_FROM);
	return cache_make_room(&name, length, &limit, &left) &&
		cache_write(&name, bytes, length);
}

/* The names of the columns whose values an index knows of. */
static Datum
column_names(Relation rel, const RecordIndex *index)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *names = palloc(sizeof(Datum) * Max(1, desc->natts));
	int			nnames = 0;
	int			field = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attisdropped || attribute->attgenerated)
			continue;
		if (index_find_column(index, field++) >= 0)
			names[nnames++] = CStringGetTextDatum(NameStr(attribute->attname));
	}
	return PointerGetDatum(construct_array(names, nnames, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

/* Adds the row of a table's index, if it can be read. */
static void
list_index(ReturnSetInfo *result, Oid relid)
{
	Relation	rel = try_table_open(relid, AccessShareLock);
	Datum		values[LIST_COLUMNS];
	bool		nulls[LIST_COLUMNS] = {false};
	RecordIndex index;

	if (rel == NULL)
		return;
	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE &&
		index_file_load(relid, &index))
	{
		values[0] = ObjectIdGetDatum(relid);
		values[1] = Int64GetDatum(index.header->size);
		values[2] = Int64GetDatum(index.header->nblocks);
		values[3] = column_names(rel, &index);
		values[4] = Int64GetDatum(index.header->length);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		pfree((void *) index.header);
	}
	table_close(rel, AccessShareLock);
}

/* The indexes of the database's tables that the current user may read. */
Datum
tollfree_file_fdw_record_indexes(PG_FUNCTION_ARGS)
{
	DIR		   *folder;
	struct dirent *entry;

	InitMaterializedSRF(fcinfo, 0);
	folder = AllocateDir(CACHE_FOLDER);
	if (folder == NULL && errno == ENOENT)
		return (Datum) 0;
	while ((entry = ReadDir(folder, CACHE_FOLDER)) != NULL)
	{
		CacheName	name;

		if (cache_parse_name(entry->d_name, &name) && !name.is_segment &&
			!name.is_unfinished && cache_is_visible(&name))
			list_index((ReturnSetInfo *) fcinfo->resultinfo, name.relid);
	}
	FreeDir(folder);
	return (Datum) 0;
}

/* Removes a table's index, for the table's owner; false if there is none. */
Datum
tollfree_file_fdw_drop_record_index(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	const CacheName name = index_name(relid);
	Relation	rel = cache_open_owned(relid);
	char		path[MAXPGPATH];
	bool		is_removed;

	cache_make_path(path, &name);
	is_removed = unlink(path) == 0;
	if (!is_removed && errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", path)));
	/* They are of no use without it. */
	(void) segment_file_remove(relid, NULL);
	table_close(rel, AccessShareLock);
	PG_RETURN_BOOL(is_removed);
}
