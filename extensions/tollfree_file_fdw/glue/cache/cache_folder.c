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

#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/parallel.h"
#include "access/table.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "cache/cache_folder.h"

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

/* Reads a number behind a letter, and what follows it; false if there is none. */
static bool
parse_number(const char **at, char letter, uint32 *number)
{
	char	   *end;

	if (**at != letter || !isdigit((unsigned char) (*at)[1]))
		return false;
	*number = (uint32) strtoul(*at + 1, &end, 10);
	*at = end;
	return true;
}

/*
 * Reads the name of a file; false if it is none of ours.  A folder may have tens of
 * thousands.
 */
bool
cache_parse_name(const char *file, CacheName *name)
{
	const char *at = file + strlen(NAME_PREFIX) - 1;

	memset(name, 0, sizeof(*name));
	if (strncmp(file, NAME_PREFIX, strlen(NAME_PREFIX)) != 0 ||
		!parse_number(&at, '_', &name->database) ||
		!parse_number(&at, '_', &name->relid))
		return false;
	name->is_segment = parse_number(&at, '_', &name->number) &&
		parse_number(&at, '_', &name->field);
	name->is_unfinished = *at == '.';
	return *at == '\0' || name->is_unfinished;
}

/* Is it the same file, once it is finished? */
static bool
is_same_file(const CacheName *a, const CacheName *b)
{
	return a->relid == b->relid && a->number == b->number &&
		a->field == b->field && a->database == b->database &&
		a->is_segment == b->is_segment;
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

/* Reads length bytes; false if there are fewer. */
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

/* Writes length bytes; false, with errno, if that fails. */
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

/* Writes a file under another name, and renames it to path; false, with errno. */
static bool
write_file(const char *path, const unsigned char *bytes, size_t length)
{
	char		temporary[MAXPGPATH + 16];
	int			fd;
	int			error;

	snprintf(temporary, sizeof(temporary), "%s.%d", path, MyProcPid);
	if (mkdir(CACHE_FOLDER, FOLDER_MODE) != 0 && errno != EEXIST)
		return false;
	fd = BasicOpenFilePerm(temporary, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY,
						   FILE_MODE);
	if (fd < 0)
		return false;
	error = write_all(fd, bytes, length) ? 0 : errno;
	if (close(fd) != 0 && error == 0)
		error = errno;
	if (error == 0 && rename(temporary, path) == 0)
		return true;
	if (error == 0)
		error = errno;
	unlink(temporary);
	errno = error;
	return false;
}

/*
 * Writes a file; false if that fails, of which a session is warned once for each
 * kind of file.
 */
bool
cache_write(const CacheName *name, const unsigned char *bytes, size_t length)
{
	static bool is_warned[2] = {false, false};
	char		path[MAXPGPATH];

	cache_make_path(path, name);
	if (write_file(path, bytes, length))
		return true;
	/* Each query's workers would repeat the leader's warning. */
	ereport(is_warned[name->is_segment] || IsParallelWorker() ? DEBUG1 : WARNING,
			(errcode_for_file_access(),
			 name->is_segment ?
			 errmsg("could not write column segment \"%s\": %m", path) :
			 errmsg("could not write record index \"%s\": %m", path),
			 name->is_segment ?
			 errdetail("Queries convert the file's text.") :
			 errdetail("Queries read the whole file.")));
	is_warned[name->is_segment] = true;
	return false;
}

/* Is it a file that nobody will ask for again? */
static bool
is_abandoned(const CacheName *name, DIR *folder, const char *file_name)
{
	struct stat status;

	if (name->is_unfinished)
		return fstatat(dirfd(folder), file_name, &status, 0) == 0 &&
			status.st_mtime < time(NULL) - ABANDONED_AFTER;
	return name->database == MyDatabaseId ?
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(name->relid)) :
		!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(name->database));
}

/* Adds a file of a folder to what is there. */
static void
survey_file(FolderSurvey *survey, const CacheName *name, DIR *folder,
			const char *file_name)
{
	struct stat status;
	KeptFile   *file;

	if (fstatat(dirfd(folder), file_name, &status, 0) != 0 ||
		!S_ISREG(status.st_mode))
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
	DIR		   *folder = AllocateDir(CACHE_FOLDER);
	struct dirent *entry;

	memset(survey, 0, sizeof(*survey));
	if (folder == NULL)
		return;
	while ((entry = ReadDirExtended(folder, CACHE_FOLDER, LOG)) != NULL)
	{
		CacheName	name;

		if (!cache_parse_name(entry->d_name, &name))
			continue;
		if (is_abandoned(&name, folder, entry->d_name))
			(void) unlinkat(dirfd(folder), entry->d_name, 0);
		else if (name.is_segment == except->is_segment &&
				 (name.is_unfinished || !is_same_file(&name, except)))
			survey_file(survey, &name, folder, entry->d_name);
	}
	FreeDir(folder);
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
 * this has to be called again, for others write, too.
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
		aim -= Min(aim, name->is_segment ? limit->size / ROOM_SHARE : 0);
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
	*left = Min(limit->size - length - survey.size, limit->size / ROOM_SHARE);
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
