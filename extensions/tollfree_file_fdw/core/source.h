/*
 * source.h
 *	  The file, read by pread and watched for changes.
 *
 * A file is never mapped: one that is truncated under a mapping raises SIGBUS.
 * What is read is what the file had when it was opened, to the byte: the size
 * is taken once, nothing behind it is looked at, and a file that is shorter, or
 * was written to before the scan ended, is reported.
 *
 * A longer file may be the old one with something appended, or another one
 * written over it.  Its old first and last bytes tell: where anything has moved,
 * the last ones are no longer there.  The same is asked of a file that has been
 * renamed, removed or given other rights, of which only ctime knows.
 */
#ifndef CORE_SOURCE_H
#define CORE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SOURCE_EDGE	512			/* bytes remembered of either end */

typedef enum SourceStatus
{
	SOURCE_OK,
	SOURCE_NOT_REGULAR,			/* no regular file, or one that does not say
								 * how long it is: not for core/ */
	SOURCE_FAILED,				/* see error */
	SOURCE_TRUNCATED,			/* it has become shorter */
	SOURCE_CHANGED,				/* it was written to */
	SOURCE_GROWN				/* it has become longer, its edges as before */
} SourceStatus;

/* The caller opens the descriptor, and closes it. */
typedef struct Source
{
	int			fd;
	void		(*check_interrupts) (void); /* called before each read, or
											 * NULL; see filescan.h */
	int			error;			/* errno of what failed */
	int64_t		size;			/* bytes, when it was opened */
	dev_t		device;
	ino_t		inode;
	int64_t		modified_ns;	/* mtime, since 1970 */
	int64_t		changed_ns;		/* ctime, since 1970 */
	int64_t		bytes_read;		/* in all, for whoever wants to know */
	unsigned char first[SOURCE_EDGE];	/* of a shorter file, all bytes */
	unsigned char last[SOURCE_EDGE];
} Source;

/* Remembers what the file is now. */
extern SourceStatus source_open(Source *source, int fd);

/*
 * Reads exactly length bytes from offset, which must lie inside size.  On any
 * status but SOURCE_OK the buffer's contents are undefined.
 */
extern SourceStatus source_read(Source *source, void *buffer, size_t length,
								int64_t offset);

/* Says whether the file still is what it was when opened. */
extern SourceStatus source_verify(Source *source);

/*
 * Says whether the file is to the nanosecond what it was when opened, and has
 * been so for that long: neither written to nor touched since, by the clock of
 * now.  Times in the future are none.  So whoever writes to it later gives it
 * another time.
 */
extern bool source_is_settled(const Source *source, int64_t quiet_ns);

#endif							/* CORE_SOURCE_H */
