/*
 * file.c
 *	  Files for tests: nameless, in memory or the temporary folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/test/file.h"

int
test_file(const void *bytes, size_t length)
{
	int			fd = memfd_create("test", MFD_CLOEXEC);
	const char *from = bytes;

	while (fd >= 0 && length > 0)
	{
		ssize_t		n = write(fd, from, length);

		if (n <= 0)
			break;
		from += n;
		length -= (size_t) n;
	}
	if (fd < 0 || length > 0)
	{
		perror("Bail out! a file for the test");
		exit(1);
	}
	return fd;
}
