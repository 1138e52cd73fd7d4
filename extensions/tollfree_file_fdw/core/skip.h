/*
 * skip.h
 *	  Lines that are left out: found where a record may begin.
 */
#ifndef CORE_SKIP_H
#define CORE_SKIP_H

#include "core/dialect.h"

/* How far the lines of a file have been left out. */
typedef struct LineSkip
{
	bool		mark_due;		/* may a byte order mark be next? */
	int64_t		lines_due;		/* how many lines are next */
	bool		in_line;		/* is the next byte inside a line left out? */
	uint64_t	nlines;			/* left out so far */
} LineSkip;

/* Before the first byte of a file. */
extern LineSkip skip_begin(const RecordPolicy *policy);

/* May a line that is left out begin with these bytes? */
extern bool skip_may_match(const RecordPolicy *policy,
						   const unsigned char *bytes, size_t length);

/*
 * Returns how many bytes are left out, of lines that begin at the first of them.
 * *more is set if the bytes after these may be left out, too, but more have to be
 * read to know: at_end says that there are no more.  line_end is the file's, if it
 * is known; until then each style ends a line.
 */
extern size_t skip_lines(LineSkip *skip, const RecordPolicy *policy,
						 LineEnd line_end, const unsigned char *bytes,
						 size_t length, bool at_end, bool *more);

#endif							/* CORE_SKIP_H */
