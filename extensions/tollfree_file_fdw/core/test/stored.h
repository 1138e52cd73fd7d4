/*
 * stored.h
 *	  gzip as a test can write it without a library: blocks that are stored.
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

#endif							/* CORE_TEST_STORED_H */
