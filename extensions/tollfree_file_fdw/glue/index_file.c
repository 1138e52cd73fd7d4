/*
 * index_file.c
 *	  Where record indexes are kept: one file for each foreign table.
 *
 *		PGDATA/pgsql_tmp_tollfree_file_fdw/		0700
 *			pgsql_tmp_<database>_<table>			an index
 *			pgsql_tmp_<database>_<table>.<process>	one that is being written
 *
 * Base backups and pg_rewind pass over names that begin with pgsql_tmp, and the
 * server empties only the folders of that very name when it starts.  A file is
 * written under another name and then renamed.  It is not flushed: one that a
 * crash has damaged, as any other that is not what it should be, is found by its
 * checksum, removed and made again.
 *
 * All together are not larger than a setting says, but for what several processes
 * write at the same time.  What was written first goes first.
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
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "compat_export.h"
#include "guc.h"
#include "index_file.h"

#define FOLDER "pgsql_tmp_tollfree_file_fdw"
#define NAME_PREFIX "pgsql_tmp_"
#define FOLDER_MODE S_IRWXU
#define FILE_MODE (S_IRUSR | S_IWUSR)

/* When a file that was not finished is nobody's any more, seconds */
#define ABANDONED_AFTER 3600

/* Columns of tollfree_file_fdw_record_indexes */
#define LIST_COLUMNS 5

/* What is in the folder. */
typedef struct FolderSurvey
{
	uint64		size;			/* of all files, bytes */
	char		oldest[MAXPGPATH];	/* path of the oldest index; empty if
									 * there is none */
	int64		oldest_ns;		/* when it was written, since 1970 */
} FolderSurvey;

COMPAT_SQL_FUNCTION(tollfree_file_fdw_record_indexes);
COMPAT_SQL_FUNCTION(tollfree_file_fdw_drop_record_index);

/* The path of a table's index. */
static void
make_path(char *path, Oid relid)
{
	snprintf(path, MAXPGPATH, "%s/%s%u_%u", FOLDER, NAME_PREFIX, MyDatabaseId,
			 relid);
}

static pg_crc32c
compute_checksum(const unsigned char *bytes, size_t length)
{
	pg_crc32c	checksum;

	INIT_CRC32C(checksum);
	COMP_CRC32C(checksum, bytes + INDEX_CHECKED_FROM,
				length - INDEX_CHECKED_FROM);
	FIN_CRC32C(checksum);
	return checksum;
}

/* Reads so many bytes; false if there are fewer. */
static bool
read_all(int fd, unsigned char *bytes, size_t length)
{
	while (length > 0)
	{
		ssize_t		n = read(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		length -= n;
	}
	return true;
}

/* Writes so many bytes; false, with errno, if that fails. */
static bool
write_all(int fd, const unsigned char *bytes, size_t length)
{
	while (length > 0)
	{
		ssize_t		n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		bytes += n;
		length -= n;
	}
	return true;
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
	if (read_all(fd, bytes, length) &&
		((IndexHeader *) bytes)->checksum == compute_checksum(bytes, length) &&
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
	int			fd;

	make_path(path, relid);
	fd = BasicOpenFile(path, O_RDONLY | PG_BINARY);
	if (fd < 0)
		return false;
	is_read = read_index(fd, index);
	close(fd);
	if (!is_read)
		unlink(path);
	return is_read;
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
	int			fd;

	make_path(path, relid);
	fd = BasicOpenFile(path, O_RDONLY | PG_BINARY);
	if (fd < 0)
		return false;
	is_read = read_all(fd, (unsigned char *) header, sizeof(*header));
	close(fd);
	return is_read && index_header_is_known(header);
}

/* Is a file of the folder one that nobody will ask for again? */
static bool
is_abandoned(const char *name, const char *path)
{
	Oid			database;
	Oid			relid;
	int			process;
	struct stat status;
	int			nparts = sscanf(name, NAME_PREFIX "%u_%u.%d", &database, &relid,
								&process);

	if (nparts == 3)
		return stat(path, &status) == 0 &&
			status.st_mtime < time(NULL) - ABANDONED_AFTER;
	if (nparts != 2)
		return false;
	return database == MyDatabaseId ?
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) :
		!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database));
}

/* Looks at a file of the folder. */
static void
survey_file(FolderSurvey *survey, const char *name, const char *path)
{
	unsigned	database;
	unsigned	relid;
	int			process;
	struct stat status;
	int64		written_ns;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	survey->size += status.st_size;
	written_ns = status.st_mtim.tv_sec * INT64CONST(1000000000) +
		status.st_mtim.tv_nsec;
	if (sscanf(name, NAME_PREFIX "%u_%u.%d", &database, &relid, &process) != 2 ||
		(survey->oldest[0] != '\0' && written_ns >= survey->oldest_ns))
		return;
	survey->oldest_ns = written_ns;
	strlcpy(survey->oldest, path, MAXPGPATH);
}

/*
 * Looks at all files of the folder but one, and removes those of tables and
 * databases that are no more.
 */
static void
survey_folder(FolderSurvey *survey, const char *except)
{
	DIR		   *folder = opendir(FOLDER);
	struct dirent *entry;

	memset(survey, 0, sizeof(*survey));
	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL)
	{
		char		path[MAXPGPATH];

		snprintf(path, sizeof(path), "%s/%s", FOLDER, entry->d_name);
		if (is_abandoned(entry->d_name, path))
			unlink(path);
		else if (strcmp(path, except) != 0)
			survey_file(survey, entry->d_name, path);
	}
	closedir(folder);
}

/*
 * Removes the oldest indexes until there is room for one of that length; false if
 * there is none.  Mostly none or one has to go.
 */
static bool
make_room(const char *path, size_t length)
{
	const uint64 limit = (uint64) setting_record_index_size * 1024;
	FolderSurvey survey;

	do
	{
		survey_folder(&survey, path);
		if (survey.size + length <= limit)
			return true;
	} while (length <= limit && survey.oldest[0] != '\0' &&
			 (unlink(survey.oldest) == 0 || errno == ENOENT));
	return false;
}

/* Writes a file of its own name, and gives it that of the index. */
static bool
write_file(const char *path, const char *temporary,
		   const unsigned char *bytes, size_t length)
{
	int			fd;
	bool		is_written;
	int			error;

	if (mkdir(FOLDER, FOLDER_MODE) != 0 && errno != EEXIST)
		return false;
	fd = BasicOpenFilePerm(temporary, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY,
						   FILE_MODE);
	if (fd < 0)
		return false;
	is_written = write_all(fd, bytes, length);
	error = errno;
	if (close(fd) != 0 && is_written)
	{
		is_written = false;
		error = errno;
	}
	if (is_written && rename(temporary, path) == 0)
		return true;
	if (!is_written)
		errno = error;
	error = errno;
	unlink(temporary);
	errno = error;
	return false;
}

/*
 * Keeps a table's index; false if it is too large, or if it cannot be written,
 * which a session is told once.
 */
bool
index_file_store(Oid relid, unsigned char *bytes, size_t length)
{
	static bool is_told = false;
	char		path[MAXPGPATH];
	char		temporary[MAXPGPATH + 16];

	((IndexHeader *) bytes)->checksum = compute_checksum(bytes, length);
	make_path(path, relid);
	snprintf(temporary, sizeof(temporary), "%s.%d", path, MyProcPid);
	if (!make_room(path, length))
		return false;
	if (write_file(path, temporary, bytes, length))
		return true;
	ereport(is_told ? DEBUG1 : WARNING,
			(errcode_for_file_access(),
			 errmsg("could not write record index \"%s\": %m", path),
			 errdetail("Queries read the whole file.")));
	is_told = true;
	return false;
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
	folder = AllocateDir(FOLDER);
	if (folder == NULL && errno == ENOENT)
		return (Datum) 0;
	while ((entry = ReadDir(folder, FOLDER)) != NULL)
	{
		Oid			database;
		Oid			relid;
		int			process;

		if (sscanf(entry->d_name, NAME_PREFIX "%u_%u.%d", &database, &relid,
				   &process) == 2 &&
			database == MyDatabaseId && get_rel_name(relid) != NULL &&
			pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
			list_index((ReturnSetInfo *) fcinfo->resultinfo, relid);
	}
	FreeDir(folder);
	return (Datum) 0;
}

/* Removes a table's index, for the table's owner; false if there is none. */
Datum
tollfree_file_fdw_drop_record_index(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Relation	rel = table_open(relid, AccessShareLock);
	char		path[MAXPGPATH];
	bool		is_removed;

	if (!has_privs_of_role(GetUserId(), rel->rd_rel->relowner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(rel));
	make_path(path, relid);
	is_removed = unlink(path) == 0;
	if (!is_removed && errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", path)));
	table_close(rel, AccessShareLock);
	PG_RETURN_BOOL(is_removed);
}
