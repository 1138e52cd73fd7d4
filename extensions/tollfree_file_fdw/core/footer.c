/*
 * footer.c
 *	  Finds the last lines of a file: it is looked through from its end.
 *
 *		... data \n | Total: 3 \n | printed today \n
 *					^ offset of the last two lines
 *
 * Quotes mean nothing here, as in lines that are left out elsewhere.
 */
#include "core/dialect.h"
#include "core/footer.h"

/* Read at a time, bytes */
#define FOOTER_BLOCK (16 * 1024)

/* What has been found, from the end. */
typedef struct FooterSearch
{
	LineEnd		line_end;		/* of the last line end in the file */
	int64_t		wanted;
	int64_t		nlines;			/* whose beginning has been found */
	bool		in_line;		/* has a byte of the line before been seen? */
} FooterSearch;

/*
 * Does a line end at this byte, the last of its end?  The bytes before it are there if
 * it is not the first of the file.
 */
static bool
footer_ends_line(FooterSearch *search, const unsigned char *byte, bool is_first)
{
	bool		after_cr = !is_first && byte[-1] == '\r';

	if (*byte != '\n' && *byte != '\r')
		return false;
	if (search->line_end == LINE_END_UNKNOWN)
		search->line_end = *byte == '\r' ? LINE_END_CR :
			after_cr ? LINE_END_CRNL : LINE_END_NL;
	switch (search->line_end)
	{
		case LINE_END_CR:
			return *byte == '\r';
		case LINE_END_CRNL:
			return *byte == '\n' && after_cr;
		default:
			return *byte == '\n';
	}
}

/*
 * Looks through bytes from their end; the first is at that offset, and the one before
 * it is there, too, if the file has it.  True if the lines have been found.
 */
static bool
footer_search(FooterSearch *search, const unsigned char *bytes, size_t length,
			  int64_t offset, Footer *footer)
{
	for (size_t i = length; i > 0; i--)
	{
		if (footer_ends_line(search, bytes + i - 1, offset == 0 && i == 1) &&
			search->in_line && ++search->nlines == search->wanted)
		{
			footer->offset = offset + (int64_t) i;
			footer->nlines = search->nlines;
			return true;
		}
		search->in_line = true;
	}
	return false;
}

SourceStatus
footer_find(Source *source, int64_t nlines, Footer *footer)
{
	unsigned char buffer[1 + FOOTER_BLOCK] = {0};
	FooterSearch search = {.line_end = LINE_END_UNKNOWN,.wanted = nlines};
	int64_t		end = source->size;

	while (end > 0)
	{
		size_t		length = end < FOOTER_BLOCK ? (size_t) end : FOOTER_BLOCK;
		int64_t		begin = end - (int64_t) length;
		size_t		before = begin > 0 ? 1 : 0;
		SourceStatus status = source_read(source, buffer + 1 - before,
										  length + before,
										  begin - (int64_t) before);

		if (status != SOURCE_OK)
			return status;
		if (footer_search(&search, buffer + 1, length, begin, footer))
			return SOURCE_OK;
		end = begin;
	}
	footer->offset = 0;
	footer->nlines = search.nlines + (search.in_line ? 1 : 0);
	return SOURCE_OK;
}
