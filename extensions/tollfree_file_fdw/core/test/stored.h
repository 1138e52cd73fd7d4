/*
 * stored.h
 *	  gzip and zstd as a test can write them without a library: blocks that are
 *	  stored.
 */
#ifndef CORE_TEST_STORED_H
#define CORE_TEST_STORED_H

#include <stddef.h>
#include <stdint.h>

/* How long a member of so many bytes is. */
extern size_t stored_size(size_t length);

/* Writes a member with these bytes; returns the end of what was written. */
extern unsigned char *stored_write(unsigned char *to, const void *bytes,
								   size_t length);

/* The same as BGZF has it: the member says how long it is.  Up to 60,000 bytes. */
extern unsigned char *stored_write_sized(unsigned char *to, const void *bytes,
										 size_t length);

/* A frame of zstd, in up to two blocks, that says how long its text is. */
extern unsigned char *stored_write_frame(unsigned char *to, const void *bytes,
										 size_t length);

#endif							/* CORE_TEST_STORED_H */
