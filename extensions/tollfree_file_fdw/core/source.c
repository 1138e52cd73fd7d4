/*
 * source.c
 *	  The file, read by pread and watched for changes.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/source.h"

/* Largest single read, so that interrupts are not delayed, bytes */
#define SOURCE_READ_MAX	((size_t) 16 << 20)

#define SETTLE_PAUSES	20
#define SETTLE_PAUSE_NS	1000000

static int64_t
source_ns(const struct timespec *time)
{
	return (int64_t) time->tv_sec * 1000000000 + time->tv_nsec;
}

static SourceStatus
source_fail(Source *source)
{
	source->error = errno;
	return SOURCE_FAILED;
}

SourceStatus
source_read(Source *source, void *buffer, size_t length, int64_t offset)
{
	char	   *to = buffer;

	while (length > 0)
	{
		size_t		part = length < SOURCE_READ_MAX ? length : SOURCE_READ_MAX;
		ssize_t		n;

		if (source->check_interrupts != NULL)
			source->check_interrupts();
		n = pread(source->fd, to, part, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return source_fail(source);
		if (n == 0)
			return SOURCE_TRUNCATED;
		source->bytes_read += n;
		to += n;
		offset += n;
		length -= (size_t) n;
	}
	return SOURCE_OK;
}

/* Reads the first and last bytes of the file, by its size when opened. */
static SourceStatus
source_read_edges(Source *source, unsigned char *first, unsigned char *last)
{
	int64_t		size = source->size + source->left_out;
	size_t		length = size < SOURCE_EDGE ? (size_t) size : SOURCE_EDGE;
	SourceStatus status = source_read(source, first, length, 0);

	if (status != SOURCE_OK || (int64_t) length < size)
		return status != SOURCE_OK ? status :
			source_read(source, last, length, size - (int64_t) length);
	memcpy(last, first, length);
	return status;
}

/*
 * Is the reported size of the file wrong?  That of files in /proc and /sys is
 * 0 or a page.
 */
static SourceStatus
source_check_length(Source *source)
{
	SourceStatus status = source_read_edges(source, source->first,
											source->last);
	char		byte;

	if (status == SOURCE_TRUNCATED ||
		(source->size == 0 && pread(source->fd, &byte, 1, 0) == 1))
		return SOURCE_NOT_REGULAR;
	return status;
}

SourceStatus
source_open(Source *source, int fd)
{
	struct stat now;

	memset(source, 0, sizeof(*source));
	source->fd = fd;
	if (fstat(fd, &now) != 0)
		return source_fail(source);
	if (!S_ISREG(now.st_mode))
		return SOURCE_NOT_REGULAR;
	source->size = now.st_size;
	source->device = now.st_dev;
	source->inode = now.st_ino;
	source->modified_ns = source_ns(&now.st_mtim);
	source->changed_ns = source_ns(&now.st_ctim);
	return source_check_length(source);
}

void
source_leave_out(Source *source, int64_t offset)
{
	source->left_out += source->size - offset;
	source->size = offset;
}

/*
 * Returns the status given if the file's first and last bytes, by its size
 * when opened, are unchanged.
 */
static SourceStatus
source_compare_edges(Source *source, SourceStatus same)
{
	unsigned char first[SOURCE_EDGE] = {0};
	unsigned char last[SOURCE_EDGE] = {0};
	SourceStatus status = source_read_edges(source, first, last);

	if (status != SOURCE_OK)
		return status;
	return memcmp(first, source->first, SOURCE_EDGE) == 0 &&
		memcmp(last, source->last, SOURCE_EDGE) == 0 ?
		same : SOURCE_CHANGED;
}

/* Compares the file's state with that when it was opened. */
static SourceStatus
source_compare(Source *source)
{
	const int64_t size = source->size + source->left_out;
	struct stat now;

	if (fstat(source->fd, &now) != 0)
		return source_fail(source);
	if (now.st_size < size)
		return SOURCE_TRUNCATED;
	if (now.st_size > size)
		return source_compare_edges(source, SOURCE_GROWN);
	if (source_ns(&now.st_mtim) != source->modified_ns)
		return SOURCE_CHANGED;

	/*
	 * Only ctime has changed: a new name, owner or mode, or a write after
	 * which mtime was set back.
	 */
	if (source_ns(&now.st_ctim) != source->changed_ns)
		return source_compare_edges(source, SOURCE_OK);
	return SOURCE_OK;
}

/*
 * The kernel sets the time of a write before it writes.  So a file being
 * appended to may seem changed before it is longer.
 */
SourceStatus
source_verify(Source *source)
{
	const struct timespec pause = {.tv_nsec = SETTLE_PAUSE_NS};
	SourceStatus status = source_compare(source);

	for (int i = 0; status == SOURCE_CHANGED && i < SETTLE_PAUSES; i++)
	{
		nanosleep(&pause, NULL);
		status = source_compare(source);
	}
	return status;
}

bool
source_is_settled(const Source *source, int64_t quiet_ns)
{
	struct timespec clock;
	struct stat now;
	int64_t		latest;

	/* Read the clock first: writes after fstat then have a later time. */
	if (clock_gettime(CLOCK_REALTIME, &clock) != 0 ||
		fstat(source->fd, &now) != 0)
		return false;
	latest = source->modified_ns > source->changed_ns ?
		source->modified_ns : source->changed_ns;
	return now.st_size == source->size + source->left_out &&
		source_ns(&now.st_mtim) == source->modified_ns &&
		source_ns(&now.st_ctim) == source->changed_ns &&
		latest <= source_ns(&clock) - quiet_ns;
}
