/*
 * output.c
 *	  Keeps the first or the last bytes of a stream and makes a text of them.
 *
 * Memory is bounded by the limit given to output_init; it grows up to it as
 * bytes arrive.  It belongs to the memory context of output_init.
 *
 * A command may write anything, so the text is made valid in the database
 * encoding: each byte that is not part of a valid character, and each NUL,
 * becomes '?'.  A character that the limit has cut in two is dropped.
 *
 * process.c reads the stream.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "compat.h"
#include "output.h"

#define OUTPUT_ALLOCATED_MIN 1024

/* Makes "output" an empty one that keeps at most "limit" bytes. */
void
output_init(Output *output, OutputKeep keep, int limit)
{
	output->keep = keep;
	output->limit = limit;
	output->allocated = Min(limit, OUTPUT_ALLOCATED_MIN);
	output->total = 0;
	output->data = palloc(output->allocated);
}

/* Makes room for "needed" bytes, which are within the limit. */
static void
output_enlarge(Output *output, int needed)
{
	int64		allocated = output->allocated;

	if (needed <= allocated)
		return;
	while (allocated < needed)
		allocated *= 2;
	output->allocated = Min(allocated, output->limit);
	output->data = repalloc(output->data, output->allocated);
}

/* Adds "bytes" to a full ring; only the last "limit" of them matter. */
static void
output_wrap(Output *output, const char *bytes, int length)
{
	int			surplus = Max(length - output->limit, 0);
	int			position = (output->total + surplus) % output->limit;
	int			kept = length - surplus;
	int			first = Min(kept, output->limit - position);

	memcpy(output->data + position, bytes + surplus, first);
	memcpy(output->data, bytes + surplus + first, kept - first);
}

/* Adds the next bytes of the stream. */
void
output_append(Output *output, const char *bytes, int length)
{
	if (output->total < output->limit)
	{
		int			used = (int) output->total;
		int			fill = Min(length, output->limit - used);

		output_enlarge(output, used + fill);
		memcpy(output->data + used, bytes, fill);
		output->total += fill;
		bytes += fill;
		length -= fill;
	}
	if (output->keep == KEEP_TAIL)
		output_wrap(output, bytes, length);
	output->total += length;
}

/* Has some of the stream been dropped? */
bool
output_truncated(const Output *output)
{
	return output->total > output->limit;
}

/*
 * The number of bytes at the start that are the end of a character cut in two.
 * Only UTF-8 tells these from the first byte of a character.
 */
static int
count_cut_start(const char *bytes, int length)
{
	int			count = 0;

	if (GetDatabaseEncoding() != PG_UTF8)
		return 0;
	while (count < Min(length, pg_database_encoding_max_length() - 1) &&
		   ((unsigned char) bytes[count] & 0xC0) == 0x80)
		count++;
	return count;
}

/*
 * Are these last bytes, which are not a valid character, the start of one?
 * In a server encoding all bytes of a multibyte character have the high bit.
 */
static bool
is_cut_end(const char *bytes, int length)
{
	if (length >= pg_database_encoding_max_length())
		return false;
	for (int i = 0; i < length; i++)
	{
		if (!IS_HIGHBIT_SET(bytes[i]))
			return false;
	}
	return true;
}

/* Makes the bytes valid, in place, and returns their new number. */
static int
make_valid(char *bytes, int length, bool cut_end)
{
	int			encoding = GetDatabaseEncoding();
	int			valid = 0;

	for (;;)
	{
		valid += pg_encoding_verifymbstr(encoding, bytes + valid,
										 length - valid);
		if (valid == length ||
			(cut_end && is_cut_end(bytes + valid, length - valid)))
			return valid;
		bytes[valid++] = '?';
	}
}

/* The kept bytes, as a valid text in the current memory context. */
text *
output_text(const Output *output)
{
	bool		truncated = output_truncated(output);
	int			kept = (int) Min(output->total, output->limit);
	int			oldest = 0;
	text	   *result = palloc(VARHDRSZ + kept);
	char	   *bytes = VARDATA(result);

	if (truncated && output->keep == KEEP_TAIL)
		oldest = output->total % output->limit;
	memcpy(bytes, output->data + oldest, kept - oldest);
	memcpy(bytes + kept - oldest, output->data, oldest);

	if (truncated && output->keep == KEEP_TAIL)
	{
		int			cut = count_cut_start(bytes, kept);

		kept -= cut;
		memmove(bytes, bytes + cut, kept);
	}
	kept = make_valid(bytes, kept, truncated && output->keep == KEEP_HEAD);
	SET_VARSIZE(result, VARHDRSZ + kept);
	return result;
}
