/*
 * footer.h
 *	  The last lines of a file, which are left out.
 */
#ifndef CORE_FOOTER_H
#define CORE_FOOTER_H

#include "core/source.h"

/* The lines found */
typedef struct Footer
{
	int64_t		offset;			/* where the first of them begins */
	int64_t		nlines;			/* fewer than wanted if the file has no more */
} Footer;

/*
 * Finds the last nlines lines of a file that is not compressed.  Its last line end says
 * how lines end, and the last line may have none.
 */
extern SourceStatus footer_find(Source *source, int64_t nlines, Footer *footer);

#endif							/* CORE_FOOTER_H */
