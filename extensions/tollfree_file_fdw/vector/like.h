/*
 * like.h
 *	  LIKE, with a backslash as the escape, where equal bytes are equal text.
 */
#ifndef VECTOR_LIKE_H
#define VECTOR_LIKE_H

#include "core/batch.h"

/* Returns false for a pattern that is an error as soon as its end is reached. */
extern bool like_is_supported(TextRef pattern);

/*
 * Does the text match?  multibyte: the text is UTF-8, so that _ matches a
 * whole character; else a byte.
 */
extern bool like_matches(TextRef text, TextRef pattern, bool multibyte);

#endif							/* VECTOR_LIKE_H */
