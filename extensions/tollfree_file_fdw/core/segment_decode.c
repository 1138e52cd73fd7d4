/*
 * segment_decode.c
 *	  Column segments: decoding.
 *
 * Numbers are unpacked in groups of a fixed size, which compilers vectorize
 * by themselves.
 */
#include <string.h>

#include "core/inline.h"
#include "core/segment.h"
#include "core/segment_format.h"

#define GROUP	64				/* numbers */

/* Of the rows of a dictionary with one entry */
static const uint8_t no_codes[BATCH_ROWS];

/* The share of rows from which on all are decoded: an eighth */
#define FEW_ROWS(nrows)	((nrows) / 8)

bool
segment_read(Segment *segment, const unsigned char *bytes, size_t length)
{
	const SegmentHeader *header = (const SegmentHeader *) bytes;
	uint32_t	end = sizeof(SegmentHeader);

	if (length < sizeof(SegmentHeader) || length > SEGMENT_SIZE_MAX ||
		length % 8 != 0 ||
		memcmp(header->magic, SEGMENT_MAGIC, sizeof(header->magic)) != 0 ||
		header->version != SEGMENT_VERSION || header->length != length ||
		header->nrows == 0)
		return false;
	segment->header = header;
	segment->slices = bytes;
	segment->nslices = (header->nrows - 1) / BATCH_ROWS + 1;
	if (segment_align(segment->nslices * sizeof(uint32_t)) >
		length - sizeof(SegmentHeader))
		return false;
	segment->ends = (const uint32_t *)
		(bytes + length - segment_align(segment->nslices * sizeof(uint32_t)));
	for (uint32_t i = 0; i < segment->nslices; i++)
	{
		if (segment->ends[i] % 8 != 0 || segment->ends[i] < end ||
			segment->ends[i] - end < sizeof(SegmentSlice))
			return false;
		end = segment->ends[i];
	}
	return bytes + end == (const unsigned char *) segment->ends;
}

bool
segment_find_parts(const Segment *segment, uint32_t n, SliceParts *parts)
{
	const uint32_t begin = n == 0 ? sizeof(SegmentHeader) :
		segment->ends[n - 1];
	size_t		left = segment->ends[n] - begin - sizeof(SegmentSlice);
	size_t		nulls_size = 0;
	size_t		numbers_size;

	parts->head = (const SegmentSlice *) (segment->slices + begin);
	parts->nrows = n + 1 < segment->nslices ? BATCH_ROWS :
		(int) ((segment->header->nrows - 1) % BATCH_ROWS) + 1;
	if (parts->head->has_nulls != 0)
		nulls_size = (size_t) bitmap_words(parts->nrows) * sizeof(uint64_t);
	if (parts->head->width > sizeof(Uuid))
		return false;
	numbers_size = segment_align((size_t) parts->nrows * parts->head->width);
	if (nulls_size + numbers_size > left)
		return false;
	parts->nulls = nulls_size == 0 ? NULL :
		(const uint64_t *) (parts->head + 1);
	parts->numbers = (const unsigned char *) (parts->head + 1) + nulls_size;
	parts->bytes = parts->numbers + numbers_size;
	parts->nbytes = left - nulls_size - numbers_size;
	return true;
}

/*------------------------------------------------------------------------
 * Numbers
 *------------------------------------------------------------------------
 */

static ALWAYS_INLINE int64_t
unpack_number(const unsigned char *packed, uint32_t width, uint64_t base, int i)
{
	if (width == 1)
		return (int64_t) (base + packed[i]);
	if (width == 2)
		return (int64_t) (base + ((const uint16_t *) packed)[i]);
	if (width == 4)
		return (int64_t) (base + ((const uint32_t *) packed)[i]);
	if (width == 8)
		return (int64_t) (base + ((const uint64_t *) packed)[i]);
	return (int64_t) base;
}

/* Unpacks all numbers of a width that is a constant where this is inlined. */
static ALWAYS_INLINE void
unpack_all(const unsigned char *packed, uint32_t width, uint64_t base, int n,
		   int64_t *restrict numbers)
{
	int			i = 0;

	for (; i + GROUP <=n; i += GROUP)
	{
		for (int j = 0; j < GROUP; j++)
			numbers[i + j] = unpack_number(packed, width, base, i + j);
	}
	for (; i < n; i++)
		numbers[i] = unpack_number(packed, width, base, i);
}

static ALWAYS_INLINE void
unpack_some(const unsigned char *packed, uint32_t width, uint64_t base, int n,
			const RowBitmap *rows, int64_t *restrict numbers)
{
	memset(numbers, 0, (size_t) n * sizeof(int64_t));
	for (int i = bitmap_next(rows, 0, n); i < n;
		 i = bitmap_next(rows, i + 1, n))
		numbers[i] = unpack_number(packed, width, base, i);
}

/* Unpacks n numbers from the first on, or only those of the given rows. */
static bool
unpack_numbers(const SliceParts *parts, int first, int n, const RowBitmap *rows,
			   int64_t *numbers)
{
	const uint32_t width = parts->head->width;
	const uint64_t base = (uint64_t) parts->head->base;
	const unsigned char *packed = parts->numbers + (size_t) first * width;

	if (width != 0 && width != 1 && width != 2 && width != 4 && width != 8)
		return false;
	if (rows != NULL)
		unpack_some(packed, width, base, n, rows, numbers);
	else if (width == 0)
		unpack_all(packed, 0, base, n, numbers);
	else if (width == 1)
		unpack_all(packed, 1, base, n, numbers);
	else if (width == 2)
		unpack_all(packed, 2, base, n, numbers);
	else if (width == 4)
		unpack_all(packed, 4, base, n, numbers);
	else
		unpack_all(packed, 8, base, n, numbers);
	return true;
}

/*------------------------------------------------------------------------
 * Values
 *------------------------------------------------------------------------
 */

static bool
decode_raw(const SliceParts *parts, int first, int n, ColumnVector *vector)
{
	const uint32_t width = segment_raw_width(vector->spec->type);
	const unsigned char *raw = parts->numbers + (size_t) first * width;

	if (width == 0 || width != parts->head->width)
		return false;
	if (vector->spec->type != COLUMN_FLOAT4)
	{
		memcpy(vector->values.any, raw, (size_t) n * width);
		return true;
	}
	for (int i = 0; i < n; i++)
		vector->values.floats[i] = (double) ((const float *) raw)[i];
	return true;
}

static bool
decode_texts(const SliceParts *parts, int first, int n, ColumnVector *vector)
{
	int64_t		lengths[BATCH_ROWS];
	const unsigned char *at = parts->bytes;
	size_t		left = parts->nbytes;

	if (!unpack_numbers(parts, 0, first + n, NULL, lengths))
		return false;
	for (int i = 0; i < first + n; i++)
	{
		if ((uint64_t) lengths[i] > left)
			return false;
		if (i >= first)
		{
			vector->values.texts[i - first].bytes = at;
			vector->values.texts[i - first].length = (uint32_t) lengths[i];
		}
		at += lengths[i];
		left -= (size_t) lengths[i];
	}
	return true;
}

bool
segment_find_entries(const SliceParts *parts, TextRef *entries)
{
	const uint32_t nentries = parts->head->nentries;
	const uint32_t *ends = (const uint32_t *) parts->bytes;
	const size_t ends_size = segment_align(nentries * sizeof(uint32_t));
	uint32_t	begin = 0;

	if (nentries > SEGMENT_ENTRIES_MAX || ends_size > parts->nbytes)
		return false;
	for (uint32_t i = 0; i < nentries; i++)
	{
		if (ends[i] < begin || ends[i] > parts->nbytes - ends_size)
			return false;
		entries[i].bytes = parts->bytes + ends_size + begin;
		entries[i].length = ends[i] - begin;
		begin = ends[i];
	}
	return true;
}

static bool
decode_dictionary(const SliceParts *parts, int first, int n,
				  ColumnVector *vector)
{
	int64_t		codes[BATCH_ROWS];
	TextRef		entries[SEGMENT_ENTRIES_MAX];

	if (!segment_find_entries(parts, entries) ||
		!unpack_numbers(parts, first, n, NULL, codes))
		return false;
	for (int i = 0; i < n; i++)
	{
		if ((uint64_t) codes[i] >= parts->head->nentries)
			return false;
		vector->values.texts[i] = entries[codes[i]];
	}
	if (parts->head->base == 0 && parts->head->width <= 1)
	{
		vector->codes = parts->head->width == 0 ? no_codes :
			parts->numbers + first;
		vector->ncodes = (int) parts->head->nentries;
	}
	return true;
}

/* Sets the vector's nulls, whose values are zero. */
static void
decode_nulls(const SliceParts *parts, int first, int n, ColumnVector *vector)
{
	const size_t size = column_value_size(vector->spec->type);
	char	   *values = vector->values.any;

	for (int i = 0; i < n; i++)
	{
		int			row = first + i;

		if (!(parts->nulls[row / 64] >> (row % 64) & 1))
			continue;
		bitmap_add(&vector->nulls, i);
		memset(values + (size_t) i * size, 0, size);
	}
}

bool
segment_decode(const Segment *segment, uint32_t row, int nrows,
			   const RowBitmap *rows, ColumnVector *vector)
{
	const ColumnType type = vector->spec->type;
	const int	first = (int) (row % BATCH_ROWS);
	SliceParts	parts;
	bool		is_decoded = false;

	bitmap_clear(&vector->nulls);
	bitmap_clear(&vector->unresolved);
	vector->codes = NULL;
	if (segment->header->type != (uint32_t) type ||
		row >= segment->header->nrows ||
		!segment_find_parts(segment, row / BATCH_ROWS, &parts) ||
		nrows < 0 || nrows > parts.nrows - first)
		return false;
	if (rows != NULL && bitmap_count(rows) > FEW_ROWS(nrows))
		rows = NULL;
	switch ((SegmentEncoding) parts.head->encoding)
	{
		case SEGMENT_INTEGERS:
			is_decoded = column_type_is_integer(type) &&
				unpack_numbers(&parts, first, nrows, rows,
							   vector->values.integers);
			break;
		case SEGMENT_RAW:
			is_decoded = decode_raw(&parts, first, nrows, vector);
			break;
		case SEGMENT_TEXTS:
			is_decoded = column_type_is_text(type) &&
				decode_texts(&parts, first, nrows, vector);
			break;
		case SEGMENT_DICTIONARY:
			is_decoded = column_type_is_text(type) &&
				decode_dictionary(&parts, first, nrows, vector);
			break;
	}
	if (is_decoded && parts.nulls != NULL)
		decode_nulls(&parts, first, nrows, vector);
	return is_decoded;
}
