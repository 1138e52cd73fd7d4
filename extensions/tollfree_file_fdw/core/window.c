/*
 * window.c
 *	  The window of a file that is in memory.
 */
#include <string.h>

#include "core/kernel.h"
#include "core/stream.h"
#include "core/window.h"

/* Room for window_close_line. */
#define LINE_END_BYTES	2

static size_t
window_memory(size_t capacity)
{
	return KERNEL_PADDING + capacity + LINE_END_BYTES + KERNEL_PADDING;
}

void
window_open(Window *window, const Allocator *allocator, size_t block_size)
{
	memset(window, 0, sizeof(*window));
	window->allocator = allocator;
	window->block_size = block_size;
}

void
window_seek(Window *window, int64_t offset)
{
	if (!window->closed && offset >= window->offset &&
		offset <= window->offset + (int64_t) window->filled)
	{
		window->begin = (size_t) (offset - window->offset);
		return;
	}
	window->begin = 0;
	window->filled = 0;
	window->offset = offset;
	window->closed = false;
}

bool
window_has_end(const Window *window, const Source *source)
{
	return window->closed ||
		window->offset + (int64_t) window->filled >= source_text_end(source);
}

/* Makes room; returns false, with the window unchanged, without memory. */
static bool
window_grow(Window *window, size_t capacity)
{
	unsigned char *memory;

	if (capacity <= window->capacity)
		return true;
	if (capacity < 2 * window->block_size)
		capacity = 2 * window->block_size;
	memory = window->allocator->resize(window->allocator->context,
									   window->bytes == NULL ? NULL :
									   window->bytes - KERNEL_PADDING,
									   window->bytes == NULL ? 0 :
									   window_memory(window->capacity),
									   window_memory(capacity));
	if (memory == NULL)
		return false;
	memset(memory, 0, KERNEL_PADDING);
	window->bytes = memory + KERNEL_PADDING;
	window->capacity = capacity;
	return true;
}

/* Initializes the padding after the last byte. */
static void
window_pad(Window *window)
{
	memset(window->bytes + window->filled, 0, KERNEL_PADDING);
}

static void
window_drop_used(Window *window)
{
	size_t		unread = window->filled - window->begin;

	if (window->begin == 0)
		return;
	memmove(window->bytes, window->bytes + window->begin, unread);
	window->offset += (int64_t) window->begin;
	window->begin = 0;
	window->filled = unread;
}

WindowStatus
window_read(Window *window, Source *source, size_t length,
			SourceStatus *source_status)
{
	size_t		unread = window->filled - window->begin;
	size_t		got;

	window_drop_used(window);
	if (!window_grow(window, unread + length))
		return WINDOW_NO_MEMORY;
	*source_status = source_read_text(source, window->bytes + unread, length,
									  window->offset + (int64_t) unread, &got);
	if (*source_status != SOURCE_OK)
		return WINDOW_SOURCE;
	window->filled += got;
	window_pad(window);
	return WINDOW_OK;
}

void
window_close_line(Window *window, LineEnd line_end)
{
	if (line_end == LINE_END_CRNL)
		window->bytes[window->filled++] = '\r';
	window->bytes[window->filled++] = '\n';
	window->closed = true;
	window_pad(window);
}

void
window_free(Window *window)
{
	if (window->bytes != NULL)
		allocator_free(window->allocator, window->bytes - KERNEL_PADDING,
					   window_memory(window->capacity));
	window->bytes = NULL;
	window->capacity = 0;
}
