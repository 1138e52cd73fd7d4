/*
 * escape.h
 *	  The backslash sequences of COPY's text format.
 */
#ifndef CORE_ESCAPE_H
#define CORE_ESCAPE_H

#include <stddef.h>

/*
 * Reads the sequence that the bytes begin with: a backslash and at least one
 * more byte.  Sets *value to the byte that it represents and returns its
 * length.
 */
extern size_t escape_read(const unsigned char *bytes, size_t length,
						  unsigned char *value);

#endif							/* CORE_ESCAPE_H */
