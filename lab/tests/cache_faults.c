/*
 * cache_faults.c
 *	  Lets what a server does with its folder of record indexes and column segments
 *	  fail at a chosen step; preloaded into it by the dynamic linker.
 *
 * A step is a call that makes, writes, renames or removes a file in the folder.
 * The file that CACHE_FAULTS names is mapped by all processes of the server.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "pgsql_tmp_tollfree_file_fdw"
#define MAX_FILES 1024

enum
{
	NOTHING,
	KILL_PROCESS,				/* at that step */
	KILL_SERVER,				/* the postmaster as well */
	DISK_FULL					/* from that step on; half of a write succeeds */
};

/* In the mapped file, in the byte order of the machine. */
struct faults
{
	_Atomic int fault;
	_Atomic int at;				/* step, from 1 on */
	_Atomic int steps;			/* that were made */
};

static struct faults *faults;
static bool is_in_folder[MAX_FILES];	/* by file descriptor */

__attribute__((constructor)) static void
map_faults(void)
{
	const char *path = getenv("CACHE_FAULTS");
	int			fd = path == NULL ? -1 : open(path, O_RDWR);
	void	   *bytes = fd < 0 ? MAP_FAILED :
		mmap(NULL, sizeof(struct faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	faults = bytes == MAP_FAILED ? NULL : bytes;
}

static bool
is_ours(const char *path)
{
	return faults != NULL && strstr(path, FOLDER) != NULL;
}

/* Counts a step; returns whether it is to fail. */
static bool
step_fails(void)
{
	int			step = atomic_fetch_add(&faults->steps, 1) + 1;

	return faults->fault != NOTHING &&
		(faults->fault == DISK_FULL ? step >= faults->at : step == faults->at);
}

/* Ends the process, or sets errno; returns -1. */
static int
fail(void)
{
	if (faults->fault == KILL_SERVER)
		kill(getppid(), SIGKILL);
	if (faults->fault != DISK_FULL)
		kill(getpid(), SIGKILL);
	errno = ENOSPC;
	return -1;
}

static void *
original(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

int
open(const char *path, int flags,...)
{
	int			(*next) (const char *, int,...) = original("open");
	bool		makes = is_ours(path) && (flags & O_CREAT) != 0;
	mode_t		mode = 0;
	int			fd;

	if ((flags & O_CREAT) != 0)
	{
		va_list		list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		va_end(list);
	}
	if (makes && step_fails())
		return fail();
	fd = next(path, flags, mode);
	if (fd >= 0 && fd < MAX_FILES)
		is_in_folder[fd] = makes;
	return fd;
}

/* Where offsets have 64 bits the two are one. */
int			open64(const char *path, int flags,...) __attribute__((alias("open")));

ssize_t
write(int fd, const void *bytes, size_t length)
{
	ssize_t		(*next) (int, const void *, size_t) = original("write");

	if (fd < 0 || fd >= MAX_FILES || !is_in_folder[fd])
		return next(fd, bytes, length);
	if (step_fails())
	{
		if (next(fd, bytes, length / 2) < 0)
			return -1;
		return fail();
	}
	return next(fd, bytes, length);
}

int
close(int fd)
{
	int			(*next) (int) = original("close");

	if (fd >= 0 && fd < MAX_FILES && is_in_folder[fd])
	{
		is_in_folder[fd] = false;
		if (step_fails() && faults->fault != DISK_FULL)
			return fail();
	}
	return next(fd);
}

int
rename(const char *from, const char *to)
{
	int			(*next) (const char *, const char *) = original("rename");

	return is_ours(to) && step_fails() ? fail() : next(from, to);
}

int
unlink(const char *path)
{
	int			(*next) (const char *) = original("unlink");

	/* A full disk lets files be removed. */
	if (is_ours(path) && step_fails() && faults->fault != DISK_FULL)
		return fail();
	return next(path);
}

int
mkdir(const char *path, mode_t mode)
{
	int			(*next) (const char *, mode_t) = original("mkdir");

	return is_ours(path) && step_fails() ? fail() : next(path, mode);
}
