/*
 * window.h
 *	  The window of a file that is in memory.
 *
 *		 bytes								   filled		 capacity
 *		 v									   v			 v
 *	|pad|#### used up ####|==== unread ========|.............|pad|
 *						  ^begin
 *
 * Unread bytes begin with a record.  Reading moves them to the front and adds
 * to them.
 */
#ifndef CORE_WINDOW_H
#define CORE_WINDOW_H

#include <stdbool.h>

#include "core/allocator.h"
#include "core/dialect.h"
#include "core/source.h"

typedef struct Window
{
	const Allocator *allocator;
	size_t		block_size;		/* bytes; the window has room for two */
	unsigned char *bytes;		/* with KERNEL_PADDING on both sides */
	size_t		capacity;
	size_t		begin;
	size_t		filled;
	int64_t		offset;			/* of bytes[0] in the file */
	bool		closed;			/* a line end has been appended to the file's
								 * last line */
} Window;

typedef enum WindowStatus
{
	WINDOW_OK,
	WINDOW_NO_MEMORY,
	WINDOW_SOURCE				/* see the source's status */
} WindowStatus;

extern void window_open(Window *window, const Allocator *allocator,
						size_t block_size);

/*
 * Makes the byte at offset the next one.  Bytes in the window are not read
 * again.
 */
extern void window_seek(Window *window, int64_t offset);

/* Is the file's last byte in the window? */
extern bool window_has_end(const Window *window, const Source *source);

/*
 * Reads that many bytes, or up to the end of the file; *source_status is set
 * with WINDOW_SOURCE.
 */
extern WindowStatus window_read(Window *window, Source *source, size_t length,
								SourceStatus *source_status);

/* Appends a line end to the last line, LINE_END_NL or LINE_END_CRNL. */
extern void window_close_line(Window *window, LineEnd line_end);

extern void window_free(Window *window);

#endif							/* CORE_WINDOW_H */
