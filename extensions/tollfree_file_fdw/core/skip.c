/*
 * skip.c
 *	  Lines that are left out: found where a record may begin.
 */
#include <string.h>

#include "core/skip.h"

#define MARK		"\xEF\xBB\xBF"
#define MARK_LENGTH	3

LineSkip
skip_begin(const RecordPolicy *policy)
{
	LineSkip	skip = {
		.mark_due = policy->skip_mark,
		.lines_due = policy->skip_lines
	};

	return skip;
}

static bool
skip_is_comment(const RecordPolicy *policy, const unsigned char *bytes,
				size_t length)
{
	return policy->comment != NULL && length >= policy->comment_length &&
		memcmp(bytes, policy->comment, policy->comment_length) == 0;
}

bool
skip_may_match(const RecordPolicy *policy, const unsigned char *bytes,
			   size_t length)
{
	return skip_is_comment(policy, bytes, length) ||
		(policy->skip_blank && length > 0 &&
		 (bytes[0] == '\n' || bytes[0] == '\r'));
}

/*
 * Is it an empty line?  Before the first record each style of line ends counts, then
 * the file's; *more is set if the next byte decides.
 */
static bool
skip_is_blank(const RecordPolicy *policy, LineEnd line_end,
			  const unsigned char *bytes, size_t length, bool at_end,
			  bool *more)
{
	if (!policy->skip_blank || (bytes[0] != '\r' && bytes[0] != '\n'))
		return false;
	switch (line_end)
	{
		case LINE_END_UNKNOWN:
			return true;
		case LINE_END_NL:
			return bytes[0] == '\n';
		case LINE_END_CR:
			return bytes[0] == '\r';
		case LINE_END_CRNL:
			break;
	}
	*more = bytes[0] == '\r' && length == 1 && !at_end;
	return bytes[0] == '\r' && length > 1 && bytes[1] == '\n';
}

/* May the bytes be the beginning of a longer comment's? */
static bool
skip_may_be_comment(const RecordPolicy *policy, const unsigned char *bytes,
					size_t length)
{
	return policy->comment != NULL && length < policy->comment_length &&
		memcmp(bytes, policy->comment, length) == 0;
}

/* Returns the length of a byte order mark; *more as for skip_lines. */
static size_t
skip_mark(LineSkip *skip, const unsigned char *bytes, size_t length,
		  bool at_end, bool *more)
{
	size_t		n = length < MARK_LENGTH ? length : MARK_LENGTH;

	if (!skip->mark_due)
		return 0;
	if (memcmp(bytes, MARK, n) == 0 && n < MARK_LENGTH && !at_end)
	{
		*more = true;
		return 0;
	}
	skip->mark_due = false;
	return n == MARK_LENGTH && memcmp(bytes, MARK, n) == 0 ? MARK_LENGTH : 0;
}

/* Returns the offset behind the line's end, or 0 if that is not among the bytes. */
static size_t
skip_line_length(LineEnd line_end, const unsigned char *bytes, size_t length,
				 bool at_end)
{
	for (size_t i = 0; i < length; i++)
	{
		if (bytes[i] == '\n' &&
			(line_end == LINE_END_NL || line_end == LINE_END_UNKNOWN ||
			 (line_end == LINE_END_CRNL && i > 0 && bytes[i - 1] == '\r')))
			return i + 1;
		if (bytes[i] != '\r' || line_end == LINE_END_NL ||
			line_end == LINE_END_CRNL)
			continue;
		if (line_end == LINE_END_CR || (i + 1 == length && at_end))
			return i + 1;
		if (i + 1 < length)
			return i + 1 + (bytes[i + 1] == '\n');
	}
	return 0;
}

/* Leaves out the line that begins, or goes on, with these bytes. */
static size_t
skip_line(LineSkip *skip, LineEnd line_end, const unsigned char *bytes,
		  size_t length, bool at_end, bool *more)
{
	size_t		line = skip_line_length(line_end, bytes, length, at_end);

	*more = line == 0 && !at_end;
	skip->in_line = *more;
	if (!*more)
	{
		skip->nlines++;
		skip->lines_due -= skip->lines_due > 0;
	}
	if (line > 0)
		return line;

	/* A CR may be the first half of the line's end. */
	return length - (*more && length > 0 && bytes[length - 1] == '\r');
}

size_t
skip_lines(LineSkip *skip, const RecordPolicy *policy, LineEnd line_end,
		   const unsigned char *bytes, size_t length, bool at_end, bool *more)
{
	size_t		n;

	*more = false;
	if (length == 0)
		return 0;
	n = skip_mark(skip, bytes, length, at_end, more);
	while (!*more && n < length &&
		   (skip->in_line || skip->lines_due > 0 ||
			skip_is_comment(policy, bytes + n, length - n) ||
			skip_is_blank(policy, line_end, bytes + n, length - n, at_end,
						  more)))
		n += skip_line(skip, line_end, bytes + n, length - n, at_end, more);
	if (n < length && !at_end &&
		skip_may_be_comment(policy, bytes + n, length - n))
		*more = true;
	return n;
}
