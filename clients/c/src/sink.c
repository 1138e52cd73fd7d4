/*
 * sink.c
 *		Reads, prints or checks the cells of a result.
 *
 * The text of a row is that of COPY: cells separated by tabs, "\N" for null,
 * a line feed at the end.  Nothing is escaped: the statements that clients
 * are measured with have no such values.
 *
 * The checksum is the sum of the rows' CRC-32 (the polynomial of Ethernet and
 * zlib) modulo 2^32: a scan may return rows in any order.
 */
#include <string.h>

#include "sink.h"

#define CRC32_POLYNOMIAL	UINT32_C(0xEDB88320)

/* Returns the CRC-32 of the bytes that follow those that gave crc. */
static uint32_t
crc32_extend(uint32_t crc, const char *bytes, size_t length)
{
	static uint32_t table[256];

	if (table[1] == 0)
	{
		for (uint32_t byte = 0; byte < 256; byte++)
		{
			uint32_t	entry = byte;

			for (int bit = 0; bit < 8; bit++)
				entry = (entry >> 1) ^ ((entry & 1) ? CRC32_POLYNOMIAL : 0);
			table[byte] = entry;
		}
	}
	crc = ~crc;
	for (size_t i = 0; i < length; i++)
		crc = (crc >> 8) ^ table[(crc ^ (unsigned char) bytes[i]) & 0xFF];
	return ~crc;
}

/* Writes some of a row's text, or adds it to the row's CRC-32. */
static void
sink_put(Sink *sink, const char *bytes, size_t length)
{
	if (sink->mode == SINK_PRINT)
	{
		fwrite_unlocked(bytes, 1, length, sink->output);
		return;
	}
	sink->row_crc = crc32_extend(sink->row_crc, bytes, length);
	sink->bytes += length;
}

/* Handles a cell whose text is needed; a NULL pointer is a null value. */
void
sink_put_cell(Sink *sink, const char *value, size_t length)
{
	if (sink->row_begun)
		sink_put(sink, "\t", 1);
	sink->row_begun = true;
	if (value == NULL)
		sink_put(sink, "\\N", 2);
	else
		sink_put(sink, value, length);
}

/* Ends the row whose cells have been taken. */
void
sink_end_row(Sink *sink)
{
	if (sink_wants_text(sink))
		sink_put(sink, "\n", 1);
	sink->checksum += sink->row_crc;
	sink->row_crc = 0;
	sink->row_begun = false;
	sink->rows++;
}

/*
 * Handles a whole row in COPY's text format, its line feed included.  Reading
 * its cells means finding the end of each.
 */
void
sink_put_line(Sink *sink, const char *line, size_t length)
{
	const char *end = line + length - 1;

	if (sink_wants_text(sink))
		sink_put(sink, line, length - 1);
	else
	{
		for (const char *tab; (tab = memchr(line, '\t', (size_t) (end - line))) != NULL;
			 line = tab + 1)
			sink_cell(sink, line, (size_t) (tab - line));
		sink_cell(sink, line, (size_t) (end - line));
	}
	sink_end_row(sink);
}
