/*
 * window.h
 *	  The part of a file that is in memory.
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
	size_t		block_size;		/* bytes, of which there is room for two */
	unsigned char *bytes;		/* with KERNEL_PADDING on both sides */
	size_t		capacity;
	size_t		begin;
	size_t		filled;
	int64_t		offset;			/* of bytes[0] in the file */
	bool		closed;			/* the file's last line, which had no end, has
								 * been given one */
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
 * Makes the byte at offset the next one.  It, and what follows it, is not read
 * again if it is in the window.
 */
extern void window_seek(Window *window, int64_t offset);

/* Is the file's last byte in the window? */
extern bool window_has_end(const Window *window, const Source *source);

/*
 * Reads on, that many bytes or what is left of the file; *source_status is set
 * with WINDOW_SOURCE.
 */
extern WindowStatus window_read(Window *window, Source *source, size_t length,
								SourceStatus *source_status);

/* Gives the last line an end, LINE_END_NL or LINE_END_CRNL. */
extern void window_close_line(Window *window, LineEnd line_end);

extern void window_free(Window *window);

#endif							/* CORE_WINDOW_H */
