/*
 * append.c
 *	  Appending records to a file: all of a statement, or none.
 *
 * One session writes at a time: the file is locked by flock(), so that sessions of
 * other databases and servers on this machine wait, too, as do programs that take this
 * lock.  What was written is flushed before the statement ends.  After an error, as of
 * a full disk, the file has the length that it had.
 *
 * A transaction that is rolled back later does not take the records back; nor does a
 * crash of the machine in the middle leave none of them.
 *
 * Records end as the lines of the file do.  One whose last line has no end gets it.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "write/append.h"

/* How much is written at a time, and how much is read to find a line end, bytes */
#define APPEND_BLOCK 65536

/* Time between two attempts to lock a file, ms */
#define APPEND_LOCK_WAIT 10

/* The end of a file, with which it is known how lines end and what is to be appended */
typedef struct FileEnd
{
	off_t		size;			/* bytes */
	LineEnd		line_end;		/* UNKNOWN of a file without lines */
	bool		is_open;		/* has the last line no end? */
} FileEnd;

/* A file that is being appended to */
typedef struct Appending
{
	const char *path;
	int			fd;
	off_t		before;			/* its size before that, bytes */
	off_t		size;			/* and with what has been written */
} Appending;

/* Raises the ERROR of a system call about a file. */
static void
report_file(const char *path, const char *what)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not %s file \"%s\": %m", what, path)));
}

/* Reads some bytes of a file, as many as there are; returns how many. */
static size_t
read_bytes(int fd, const char *path, char *bytes, size_t size, off_t offset)
{
	ssize_t		nread = pg_pread(fd, bytes, size, offset);

	if (nread < 0)
		report_file(path, "read");
	return nread;
}

/* How the first line of these bytes ends, outside of quotes; UNKNOWN if none does. */
static LineEnd
find_first(const char *bytes, size_t length, char quote)
{
	bool		in_quotes = false;

	for (size_t i = 0; i < length; i++)
	{
		if (quote != '\0' && bytes[i] == quote)
			in_quotes = !in_quotes;
		else if (quote == '\0' && bytes[i] == '\\')
			i++;
		else if (!in_quotes && bytes[i] == '\n')
			return LINE_END_NL;
		else if (!in_quotes && bytes[i] == '\r')
			return i + 1 < length && bytes[i + 1] == '\n' ? LINE_END_CRNL :
				LINE_END_CR;
	}
	return LINE_END_UNKNOWN;
}

/* Raises an ERROR if the last line of a file, without its end, ends the data. */
static void
check_marker(const char *path, const RecordWriter *writer, const char *bytes,
			 size_t length)
{
	size_t		begin = length;

	while (begin > 0 && bytes[begin - 1] != '\n' && bytes[begin - 1] != '\r')
		begin--;
	if (record_writer_is_marker(writer, bytes + begin, length - begin))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot append to file \"%s\": it ends with an end-of-data marker",
						path),
				 errhint("Remove the last line of the file.")));
}

/* Looks at the end of an open file. */
static FileEnd
find_end(int fd, const char *path, const RecordWriter *writer)
{
	FileEnd		end = {0};
	struct stat state;
	char		bytes[APPEND_BLOCK];
	size_t		length;
	size_t		lines;			/* bytes up to the last line's end */

	if (fstat(fd, &state) != 0)
		report_file(path, "stat");
	if (!S_ISREG(state.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot append to \"%s\": it is not a regular file", path)));
	end.size = state.st_size;
	length = Min(end.size, (off_t) sizeof(bytes));
	length = read_bytes(fd, path, bytes, length, end.size - length);
	lines = length;
	if (lines > 0 && bytes[lines - 1] == '\n')
	{
		end.line_end = LINE_END_NL;
		lines--;
	}
	if (lines > 0 && bytes[lines - 1] == '\r')
	{
		end.line_end = lines < length ? LINE_END_CRNL : LINE_END_CR;
		lines--;
	}
	check_marker(path, writer, bytes, lines);
	end.is_open = length > 0 && end.line_end == LINE_END_UNKNOWN;
	if (end.is_open)
	{
		length = read_bytes(fd, path, bytes, sizeof(bytes), 0);
		end.line_end = find_first(bytes, length, record_writer_quote(writer));
	}
	return end;
}

/* How the lines of a file end; UNKNOWN if there is no file, or no line in it. */
LineEnd
append_find_line_end(const char *path, const RecordWriter *writer)
{
	/* A pipe without a writer would be waited for. */
	int			fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | PG_BINARY);
	LineEnd		line_end;

	if (fd < 0 && errno == ENOENT)
		return LINE_END_UNKNOWN;
	if (fd < 0)
		report_file(path, "open");
	line_end = find_end(fd, path, writer).line_end;
	CloseTransientFile(fd);
	return line_end;
}

/* Opens a file to append to it, with the rights that COPY TO gives a new one. */
static int
open_file(const char *path)
{
	mode_t		old = umask(S_IWGRP | S_IWOTH);
	int			fd;

	PG_TRY();
	{
		fd = OpenTransientFilePerm(path, O_RDWR | O_APPEND | O_CREAT | PG_BINARY,
								   S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP |
								   S_IROTH | S_IWOTH);
	}
	PG_FINALLY();
	{
		umask(old);
	}
	PG_END_TRY();
	if (fd < 0)
		report_file(path, "open");
	return fd;
}

/* Waits until no other session writes to an open file. */
static void
lock_file(int fd, const char *path)
{
	while (flock(fd, LOCK_EX | LOCK_NB) != 0)
	{
		if (errno != EWOULDBLOCK && errno != EINTR)
			report_file(path, "lock");
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 APPEND_LOCK_WAIT, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Is this still the file of that name? */
static bool
is_current(int fd, const char *path)
{
	struct stat opened;
	struct stat named;

	return fstat(fd, &opened) == 0 && stat(path, &named) == 0 &&
		opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* Opens and locks a file; another one that has taken its name meanwhile is taken. */
static int
open_locked(const char *path)
{
	int			fd = open_file(path);

	lock_file(fd, path);
	while (!is_current(fd, path))
	{
		CHECK_FOR_INTERRUPTS();
		CloseTransientFile(fd);
		fd = open_file(path);
		lock_file(fd, path);
	}
	return fd;
}

/* Appends bytes. */
static void
write_bytes(Appending *appending, const char *bytes, size_t length)
{
	while (length > 0)
	{
		ssize_t		written;

		CHECK_FOR_INTERRUPTS();
		errno = 0;
		written = write(appending->fd, bytes, length);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
		{
			/* One that says nothing else has no room. */
			if (errno == 0)
				errno = ENOSPC;
			report_file(appending->path, "write to");
		}
		bytes += written;
		length -= written;
		appending->size += written;
	}
}

/* Flushes the entry of a new file in its folder. */
static void
flush_folder(const char *path)
{
	char		folder[MAXPGPATH];

	strlcpy(folder, path, MAXPGPATH);
	get_parent_directory(folder);
	(void) fsync_fname_ext(folder, true, true, ERROR);
}

/* Appends records, and in front of them what the end of the file wants. */
static void
write_records(Appending *appending, const StringInfoData *front, Spool *records)
{
	char		bytes[APPEND_BLOCK];
	uint64		at = 0;
	size_t		length;

	write_bytes(appending, front->data, front->len);
	spool_rewind(records);
	while ((length = spool_read(records, bytes, sizeof(bytes), &at)) > 0)
		write_bytes(appending, bytes, length);
	if (pg_fsync(appending->fd) != 0)
		report_file(appending->path, "fsync");
	if (appending->before == 0)
		flush_folder(appending->path);
}

/*
 * A cleanup function, also of a process that ends: takes back what was appended,
 * unless somebody else has appended more.
 */
static void
take_back(int code, Datum arg)
{
	const Appending *appending = (const Appending *) DatumGetPointer(arg);
	struct stat state;

	if (appending->size > appending->before &&
		(fstat(appending->fd, &state) != 0 || state.st_size != appending->size ||
		 ftruncate(appending->fd, appending->before) != 0))
		ereport(WARNING,
				(errmsg("file \"%s\" may end with some of the records that were not written",
						appending->path),
				 errdetail("It had %lld bytes before.", (long long) appending->before)));
}

/*
 * Appends records, whose lines end so, to a file, which is made if there is none; an
 * empty one gets a header, if it is to have one.
 */
void
append_records(const char *path, const RecordWriter *writer, bool has_header,
			   LineEnd line_end, Spool *records)
{
	Appending	appending = {.path = path,.fd = open_locked(path)};
	FileEnd		end = find_end(appending.fd, path, writer);
	StringInfoData front;

	if (end.line_end != LINE_END_UNKNOWN && end.line_end != line_end)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot append to file \"%s\": somebody else has written to it",
						path),
				 errdetail("Its lines end otherwise than before."),
				 errhint("Execute the statement again.")));
	initStringInfo(&front);
	if (end.is_open)
		record_writer_put_line_end(line_end, &front);
	if (end.size == 0 && has_header)
		record_writer_put_header(writer, line_end, &front);
	appending.before = appending.size = end.size;
	PG_ENSURE_ERROR_CLEANUP(take_back, PointerGetDatum(&appending));
	{
		write_records(&appending, &front, records);
	}
	PG_END_ENSURE_ERROR_CLEANUP(take_back, PointerGetDatum(&appending));
	if (CloseTransientFile(appending.fd) != 0)
		report_file(path, "close");
	pfree(front.data);
}
