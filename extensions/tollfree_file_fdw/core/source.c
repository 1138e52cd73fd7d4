/*
 * source.c
 *	  The file, read by pread and watched for changes.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/source.h"

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
	return SOURCE_OK;
}

SourceStatus
source_read(Source *source, void *buffer, size_t length, int64_t offset)
{
	char	   *to = buffer;

	while (length > 0)
	{
		ssize_t		n = pread(source->fd, to, length, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return source_fail(source);
		if (n == 0)
			return SOURCE_TRUNCATED;
		to += n;
		offset += n;
		length -= (size_t) n;
	}
	return SOURCE_OK;
}

SourceStatus
source_verify(Source *source)
{
	struct stat now;

	if (fstat(source->fd, &now) != 0)
		return source_fail(source);
	if (now.st_size < source->size)
		return SOURCE_TRUNCATED;
	if (now.st_size > source->size ||
		source_ns(&now.st_mtim) != source->modified_ns ||
		source_ns(&now.st_ctim) != source->changed_ns)
		return SOURCE_CHANGED;
	return SOURCE_OK;
}
