/*
 * cache_folder.c
 *	  The folder in which record indexes and column segments are kept.
 *
 *		PGDATA/pgsql_tmp_tollfree_file_fdw/			0700
 *			pgsql_tmp_<database>_<table>			an index
 *			pgsql_tmp_<database>_<table>_<number>_<field>
 *													a segment of a column
 *			<name>.<process>						one that is being written
 *
 * Base backups and pg_rewind pass over names that begin with pgsql_tmp, and the
 * server empties only the folders of that very name when it starts.  A file is
 * written under another name and then renamed.  It is not flushed: one that a
 * crash has damaged, as any other that is not what it should be, is found by its
 * checksum, removed and made again.
 *
 * All files of a kind together are not larger than a setting says, but for what
 * several processes write at the same time.  Of indexes the one that was written first
 * goes first, of segments what is worth least (segment_file.c).
 *
 * What queries call raises no ERROR but for want of memory for a list of files.
 */
#include "postgres.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/table.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "cache_folder.h"

#define NAME_PREFIX "pgsql_tmp_"
#define FOLDER_MODE S_IRWXU
#define FILE_MODE (S_IRUSR | S_IWUSR)

/* When a file that was not finished is nobody's any more, seconds */
#define ABANDONED_AFTER 3600

/* Room that is made at once, so that it is not looked for each time: of all */
#define ROOM_SHARE 32

#define FIRST_FILES 64

/* A file that may have to go. */
typedef struct KeptFile
{
	CacheName	name;
	uint64		size;			/* bytes */
	int64		used_ns;		/* modification time, since 1970 */
	double		worth;
} KeptFile;

/* What is in the folder, of one kind. */
typedef struct FolderSurvey
{
	uint64		size;			/* of all, bytes */
	KeptFile   *files;			/* those that are finished */
	size_t		nfiles;
	size_t		capacity;
} FolderSurvey;

/* The path of a file, of MAXPGPATH bytes. */
void
cache_make_path(char *path, const CacheName *name)
{
	char		segment[32] = "";

	if (name->is_segment)
		snprintf(segment, sizeof(segment), "_%u_%u", name->number, name->field);
	snprintf(path, MAXPGPATH, "%s/%s%u_%u%s", CACHE_FOLDER, NAME_PREFIX,
			 name->database, name->relid, segment);
}

/* Reads the name of a file; false if it is none of ours. */
bool
cache_parse_name(const char *file, CacheName *name)
{
	int			end = 0;
	int			more = 0;

	memset(name, 0, sizeof(*name));
	if (sscanf(file, NAME_PREFIX "%u_%u%n", &name->database, &name->relid,
			   &end) != 2)
		return false;
	name->is_segment = sscanf(file + end, "_%u_%u%n", &name->number,
							  &name->field, &more) == 2;
	end += more;
	name->is_unfinished = file[end] == '.';
	return file[end] == '\0' || name->is_unfinished;
}

/* The checksum of the bytes from an offset on. */
uint32
cache_checksum(const unsigned char *bytes, size_t length, size_t from)
{
	pg_crc32c	checksum;

	INIT_CRC32C(checksum);
	COMP_CRC32C(checksum, bytes + from, length - from);
	FIN_CRC32C(checksum);
	return checksum;
}

/* Reads so many bytes; false if there are fewer. */
bool
cache_read(int fd, unsigned char *bytes, size_t length)
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

/* Writes a file under another name, and gives it its own; false, with errno. */
bool
cache_write(const CacheName *name, const unsigned char *bytes, size_t length)
{
	char		path[MAXPGPATH];
	char		temporary[MAXPGPATH + 16];
	int			fd;
	bool		is_written;
	int			error;

	cache_make_path(path, name);
	snprintf(temporary, sizeof(temporary), "%s.%d", path, MyProcPid);
	if (mkdir(CACHE_FOLDER, FOLDER_MODE) != 0 && errno != EEXIST)
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

/* Is it a file that nobody will ask for again? */
static bool
is_abandoned(const CacheName *name, const char *path)
{
	struct stat status;

	if (name->is_unfinished)
		return stat(path, &status) == 0 &&
			status.st_mtime < time(NULL) - ABANDONED_AFTER;
	return name->database == MyDatabaseId ?
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(name->relid)) :
		!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(name->database));
}

/* Adds a file to what is there. */
static void
survey_file(FolderSurvey *survey, const CacheName *name, const char *path)
{
	struct stat status;
	KeptFile   *file;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	survey->size += status.st_size;
	if (name->is_unfinished)
		return;
	if (survey->nfiles == survey->capacity)
	{
		survey->capacity = Max(FIRST_FILES, 2 * survey->capacity);
		survey->files = survey->files == NULL ?
			palloc(survey->capacity * sizeof(KeptFile)) :
			repalloc_huge(survey->files, survey->capacity * sizeof(KeptFile));
	}
	file = &survey->files[survey->nfiles++];
	file->name = *name;
	file->size = status.st_size;
	file->used_ns = status.st_mtim.tv_sec * INT64CONST(1000000000) +
		status.st_mtim.tv_nsec;
}

/*
 * Looks at all files of a kind but one, and removes those of either kind whose
 * tables and databases are no more.
 */
static void
survey_folder(FolderSurvey *survey, const CacheName *except)
{
	DIR		   *folder = opendir(CACHE_FOLDER);
	char		except_path[MAXPGPATH];
	struct dirent *entry;

	memset(survey, 0, sizeof(*survey));
	cache_make_path(except_path, except);
	if (folder == NULL)
		return;
	while ((entry = readdir(folder)) != NULL)
	{
		char		path[MAXPGPATH];
		CacheName	name;

		snprintf(path, sizeof(path), "%s/%s", CACHE_FOLDER, entry->d_name);
		if (!cache_parse_name(entry->d_name, &name))
			continue;
		if (is_abandoned(&name, path))
			unlink(path);
		else if (name.is_segment == except->is_segment &&
				 strcmp(path, except_path) != 0)
			survey_file(survey, &name, path);
	}
	closedir(folder);
}

/* What is worth least comes first. */
static int
compare_files(const void *a, const void *b)
{
	double		a_worth = ((const KeptFile *) a)->worth;
	double		b_worth = ((const KeptFile *) b)->worth;

	return (a_worth > b_worth) - (a_worth < b_worth);
}

/* Sorts the files by what they are worth. */
static void
sort_files(const FolderSurvey *survey, const CacheLimit *limit)
{
	for (size_t i = 0; i < survey->nfiles; i++)
	{
		KeptFile   *file = &survey->files[i];
		char		path[MAXPGPATH];

		cache_make_path(path, &file->name);
		file->worth = limit->worth == NULL ? (double) file->used_ns :
			limit->worth(path);
	}
	qsort(survey->files, survey->nfiles, sizeof(KeptFile), compare_files);
}

/*
 * Removes files until there is room for one of that name and length; false if
 * there is none.  *left is then how many bytes may be written beside it before
 * this has to be called again.
 */
bool
cache_make_room(const CacheName *name, size_t length, const CacheLimit *limit,
				uint64 *left)
{
	FolderSurvey survey;
	uint64		aim;

	*left = 0;
	if (length > limit->size)
		return false;
	survey_folder(&survey, name);
	aim = limit->size - length;
	if (survey.size > aim)
	{
		aim -= Min(aim, limit->is_segment ? limit->size / ROOM_SHARE : 0);
		sort_files(&survey, limit);
	}
	for (size_t i = 0; i < survey.nfiles && survey.size > aim; i++)
	{
		char		path[MAXPGPATH];

		if (survey.files[i].used_ns >= limit->keep_from_ns)
			continue;
		cache_make_path(path, &survey.files[i].name);
		if (unlink(path) != 0 && errno != ENOENT)
			break;
		survey.size -= survey.files[i].size;
	}
	if (survey.files != NULL)
		pfree(survey.files);
	if (survey.size > limit->size - length)
		return false;
	*left = limit->size - length - survey.size;
	return true;
}

/* Is it of a table of this database that the current user may read? */
bool
cache_is_visible(const CacheName *name)
{
	return name->database == MyDatabaseId && get_rel_name(name->relid) != NULL &&
		pg_class_aclcheck(name->relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Opens a table that the current user owns; ERROR if it is another's. */
Relation
cache_open_owned(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);

	if (!has_privs_of_role(GetUserId(), rel->rd_rel->relowner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_FOREIGN_TABLE,
					   RelationGetRelationName(rel));
	return rel;
}
