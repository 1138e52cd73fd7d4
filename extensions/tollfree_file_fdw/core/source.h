/*
 * source.h
 *	  The file, read by pread and watched for changes.
 *
 * A file is never mapped: one that is truncated under a mapping raises
 * SIGBUS.  The file is read as it was when it was opened: the size is taken
 * once, later bytes are ignored, and a file that became shorter, or was
 * written to before the scan ended, is reported.
 *
 * A longer file may have been appended to, or overwritten.  Its old first and
 * last bytes decide: if data have moved, the last ones differ.  The same
 * check is made if only ctime has changed, as when a file is renamed, removed
 * or given other permissions.
 */
#ifndef CORE_SOURCE_H
#define CORE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SOURCE_EDGE	512			/* bytes stored of either end */

typedef enum SourceStatus
{
	SOURCE_OK,
	SOURCE_NOT_REGULAR,			/* not a regular file of known size */
	SOURCE_FAILED,				/* see error */
	SOURCE_TRUNCATED,			/* it has become shorter */
	SOURCE_CHANGED,				/* it was written to */
	SOURCE_GROWN,				/* it has become longer, its edges as before */
	SOURCE_UNDECODABLE			/* it is compressed, and wrongly so: see the
								 * stream's fault */
} SourceStatus;

/* The caller opens the descriptor, and closes it. */
typedef struct Source
{
	int			fd;
	void		(*check_interrupts) (void); /* called before each read, or
											 * NULL; see filescan.h */
	int			error;			/* errno of what failed */
	int64_t		size;			/* bytes that are read: all that it had when
								 * it was opened */
	int64_t		left_out;		/* but for these, at its end */
	dev_t		device;
	ino_t		inode;
	int64_t		modified_ns;	/* mtime, since 1970 */
	int64_t		changed_ns;		/* ctime, since 1970 */
	int64_t		bytes_read;		/* in all, for EXPLAIN */
	struct Stream *stream;		/* the text of a compressed file: the bytes
								 * above are of that; or NULL */
	int64_t		bytes_decoded;	/* by that, in all */
	unsigned char first[SOURCE_EDGE];	/* of a shorter file, all bytes */
	unsigned char last[SOURCE_EDGE];
} Source;

/* Stores the file's present state. */
extern SourceStatus source_open(Source *source, int fd);

/*
 * Reads exactly length bytes from offset, which must lie inside size.  On any
 * status but SOURCE_OK the buffer's contents are undefined.
 */
extern SourceStatus source_read(Source *source, void *buffer, size_t length,
								int64_t offset);

/* Has bytes from that offset on left out; what is stored of the end is as before. */
extern void source_leave_out(Source *source, int64_t offset);

/* Is the file unchanged since it was opened? */
extern SourceStatus source_verify(Source *source);

/*
 * Is the file unchanged since it was opened, to the nanosecond, and was it
 * last written or touched at least that long ago?  Not if its times are in the
 * future.  Then any later write sets another time.
 */
extern bool source_is_settled(const Source *source, int64_t quiet_ns);

#endif							/* CORE_SOURCE_H */
