/*
 * fuzz_segment.c
 *	  Fuzz target: any bytes are a column segment or not, and no byte outside of
 *	  them is read.
 *
 * The first byte says of which type the column is to be; the rest is taken as it
 * is, and again with the beginning that a segment of that length has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/segment.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* So that what texts point to is looked at */
static volatile unsigned sum;

/* Decodes all that a segment has, of exactly these bytes. */
static void
walk(const unsigned char *bytes, size_t size, const ColumnSpec *spec)
{
	static Uuid memory[BATCH_ROWS];
	ColumnVector vector = {.spec = spec,.values.uuids = memory};
	RowBitmap	rows;
	Segment		segment;

	if (!segment_read(&segment, bytes, size))
		return;
	bitmap_clear(&rows);
	bitmap_add(&rows, 1);
	for (uint32_t row = 0; row < segment.header->nrows; row += BATCH_ROWS / 2)
	{
		uint32_t	left = segment.header->nrows - row;
		int			n = left < BATCH_ROWS / 2 ? (int) left : BATCH_ROWS / 2;
		TextRef		entries[SEGMENT_ENTRIES_MAX];
		RowBitmap	found;

		(void) segment_test_range(&segment, row, n, 1, INT64_MAX, false, &found);
		for (int i = segment_entries(&segment, row, entries) - 1; i >= 0; i--)
			sum += entries[i].length > 0 ? entries[i].bytes[0] : 0;
		(void) segment_test_entries(&segment, row, n, &rows, &found);
		(void) segment_decode(&segment, row, n, &rows, &vector);
		if (!segment_decode(&segment, row, n, NULL, &vector) ||
			!column_type_is_text(spec->type))
			continue;
		for (int i = 0; i < n; i++)
		{
			for (uint32_t j = 0; j < vector.values.texts[i].length; j++)
				sum += vector.values.texts[i].bytes[j];
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ColumnSpec	spec = {0};
	unsigned char *bytes;

	if (size == 0)
		return 0;
	spec.type = (ColumnType) (*data++ % (COLUMN_BPCHAR + 1));
	size--;
	bytes = malloc(size > 0 ? size : 1);
	memcpy(bytes, data, size);
	walk(bytes, size, &spec);
	if (size >= sizeof(SegmentHeader))
	{
		SegmentHeader *header = (SegmentHeader *) bytes;

		memcpy(header->magic, "tollseg", sizeof(header->magic));
		header->version = 2;
		header->length = size;
		header->type = (uint32_t) spec.type;
		walk(bytes, size, &spec);
	}
	free(bytes);
	return 0;
}
