/*
 * segment.c
 *	  Column segments: encoding.
 */
#include <string.h>

#include "core/inline.h"
#include "core/range.h"
#include "core/segment.h"
#include "core/segment_format.h"
#include "core/text_word.h"

#define FIRST_ROOM		((size_t) 64 << 10) /* bytes */
#define FIRST_CHUNKS	64

/* Limits of a dictionary's entries */
#define ENTRIES_ALWAYS	16		/* whatever the number of rows */
#define ROWS_PER_ENTRY	8

#define DICTIONARY_SLOTS	512 /* of a hash table; a power of two */

/* An odd number with bits everywhere, to multiply by. */
#define HASH_FACTOR		((uint64_t) 0x9E3779B97F4A7C15)

/*
 * The distinct texts of the slice being filled, whose bytes are staged first.
 * The numbers of its rows are then entries.
 */
struct SegmentDictionary
{
	bool		is_open;		/* false: the slice has too many */
	uint64_t	words[SEGMENT_ENTRIES_MAX]; /* their first bytes */
	uint32_t	offsets[SEGMENT_ENTRIES_MAX];	/* of their bytes */
	uint32_t	lengths[SEGMENT_ENTRIES_MAX];
	uint32_t	nentries;
	size_t		nbytes;			/* of all */
	size_t		text_bytes;		/* of all rows */
	uint16_t	slots[DICTIONARY_SLOTS];	/* an entry plus one, or 0 */
};

/* Makes room for more bytes; false without memory. */
static bool
segment_grow(SegmentBuilder *builder, unsigned char **bytes, size_t used,
			 size_t *room, size_t more)
{
	size_t		size = *room > 0 ? *room : FIRST_ROOM;
	unsigned char *grown;

	if (more > SEGMENT_SIZE_MAX - used)
		return false;
	while (size < used + more)
		size *= 2;
	if (size == *room)
		return true;
	grown = builder->allocator.resize(builder->allocator.context, *bytes,
									  *room, size);
	if (grown == NULL)
		return false;
	*bytes = grown;
	*room = size;
	return true;
}

/* Appends bytes, from a multiple of 8 on; NULL: zeros.  Sets failed. */
static void
segment_append(SegmentBuilder *builder, const void *bytes, size_t length)
{
	size_t		aligned = segment_align(length);

	if (builder->failed ||
		!segment_grow(builder, &builder->bytes, builder->length,
					  &builder->room, aligned))
	{
		builder->failed = true;
		return;
	}
	if (bytes == NULL)
		memset(builder->bytes + builder->length, 0, length);
	else if (length > 0)
		memcpy(builder->bytes + builder->length, bytes, length);
	memset(builder->bytes + builder->length + length, 0, aligned - length);
	builder->length += aligned;
}

/* Begins to stage a slice. */
static void
begin_slice(SegmentBuilder *builder)
{
	SegmentDictionary *dictionary = builder->dictionary;

	builder->nstaged = 0;
	builder->nstaged_bytes = 0;
	bitmap_clear(&builder->nulls);
	if (dictionary == NULL)
		return;
	dictionary->is_open = true;
	dictionary->nentries = 0;
	dictionary->nbytes = 0;
	dictionary->text_bytes = 0;
	memset(dictionary->slots, 0, sizeof(dictionary->slots));
}

void
segment_builder_open(SegmentBuilder *builder, const Allocator *allocator,
					 const ColumnSpec *spec)
{
	memset(builder, 0, sizeof(*builder));
	builder->allocator = *allocator;
	builder->type = spec->type;
	builder->numbers = allocator_new(allocator, BATCH_ROWS * sizeof(int64_t));
	if (builder->numbers != NULL)
		memset(builder->numbers, 0, BATCH_ROWS * sizeof(int64_t));
	if (column_type_is_text(spec->type))
		builder->dictionary = allocator_new(allocator,
											sizeof(SegmentDictionary));
	segment_builder_reset(builder);
}

void
segment_builder_reset(SegmentBuilder *builder)
{
	builder->failed = builder->numbers == NULL ||
		(column_type_is_text(builder->type) && builder->dictionary == NULL);
	begin_slice(builder);
	builder->length = 0;
	builder->nslices = 0;
	segment_append(builder, NULL, sizeof(SegmentHeader));
}

void
segment_builder_close(SegmentBuilder *builder)
{
	allocator_free(&builder->allocator, builder->numbers,
				   BATCH_ROWS * sizeof(int64_t));
	allocator_free(&builder->allocator, builder->dictionary,
				   sizeof(SegmentDictionary));
	allocator_free(&builder->allocator, builder->staged, builder->staged_room);
	allocator_free(&builder->allocator, builder->bytes, builder->room);
	allocator_free(&builder->allocator, builder->ends,
				   builder->ends_room * sizeof(uint32_t));
	memset(builder, 0, sizeof(*builder));
}

/*------------------------------------------------------------------------
 * Texts of the slice being filled
 *------------------------------------------------------------------------
 */

/*
 * Makes room for more bytes after the staged ones, and for one more word; sets
 * failed without memory.
 */
static unsigned char *
stage_reserve(SegmentBuilder *builder, size_t length)
{
	if (!segment_grow(builder, &builder->staged, builder->nstaged_bytes,
					  &builder->staged_room, length + TEXT_WORD_SIZE))
	{
		builder->failed = true;
		return NULL;
	}
	builder->nstaged_bytes += length;
	return builder->staged + builder->nstaged_bytes - length;
}

/*
 * Copies a text; returns the place of the next one.  Most are short: surplus
 * bytes are overwritten by the next text, or are past the last.
 */
static inline unsigned char *
put_text(unsigned char *to, const unsigned char *bytes, uint32_t length)
{
	if (length <= TEXT_WORD_SIZE)
	{
		uint64_t	word = text_word_order(text_word(bytes, length));

		memcpy(to, &word, sizeof(word));
	}
	else
		memcpy(to, bytes, length);
	return to + length;
}

/* Returns the slot of a text, by its first bytes and, of long ones, its last. */
static inline uint32_t
entry_hash(uint64_t word, TextRef text)
{
	if (text.length > TEXT_WORD_SIZE)
		word ^= text_word(text.bytes + text.length - TEXT_WORD_SIZE,
						  TEXT_WORD_SIZE) << 1;
	return (uint32_t) (((word + text.length) *HASH_FACTOR) >> 32);
}

/* Returns the entry of a text, or -1 if it has none. */
static ALWAYS_INLINE int
find_entry(const SegmentBuilder *builder, TextRef text, uint64_t word)
{
	const SegmentDictionary *dictionary = builder->dictionary;

	for (uint32_t slot = entry_hash(word, text);; slot++)
	{
		const int	entry = dictionary->slots[slot % DICTIONARY_SLOTS] - 1;

		if (entry < 0 ||
			(dictionary->words[entry] == word &&
			 dictionary->lengths[entry] == text.length &&
			 (text.length <= TEXT_WORD_SIZE ||
			  memcmp(builder->staged + dictionary->offsets[entry], text.bytes,
					 text.length) == 0)))
			return entry;
	}
}

/* Adds an entry for a text of that row; -1 if there are too many, or no memory. */
static NEVER_INLINE int
add_entry(SegmentBuilder *builder, TextRef text, uint64_t word, int row)
{
	SegmentDictionary *dictionary = builder->dictionary;
	const uint32_t entry = dictionary->nentries;
	const uint32_t most = ENTRIES_ALWAYS + (uint32_t) row / ROWS_PER_ENTRY;
	uint32_t	slot = entry_hash(word, text);
	unsigned char *to;

	if (entry >= most || entry == SEGMENT_ENTRIES_MAX)
		return -1;
	to = stage_reserve(builder, text.length);
	if (to == NULL)
		return -1;
	(void) put_text(to, text.bytes, text.length);
	while (dictionary->slots[slot % DICTIONARY_SLOTS] != 0)
		slot++;
	dictionary->slots[slot % DICTIONARY_SLOTS] = (uint16_t) (entry + 1);
	dictionary->words[entry] = word;
	dictionary->offsets[entry] = (uint32_t) dictionary->nbytes;
	dictionary->lengths[entry] = text.length;
	dictionary->nbytes += text.length;

	dictionary->nentries++;
	return (int) entry;
}

/*
 * Stages the first n rows as texts, after the dictionary's, and drops the
 * dictionary.
 */
static void
give_up_dictionary(SegmentBuilder *builder, int n)
{
	SegmentDictionary *dictionary = builder->dictionary;
	unsigned char *to = stage_reserve(builder, dictionary->text_bytes);

	dictionary->is_open = false;
	for (int i = 0; to != NULL && i < n; i++)
	{
		const int64_t entry = builder->numbers[i];

		builder->numbers[i] = dictionary->lengths[entry];
		to = put_text(to, builder->staged + dictionary->offsets[entry],
					  dictionary->lengths[entry]);
	}
}

/*------------------------------------------------------------------------
 * Slices
 *------------------------------------------------------------------------
 */

/* Sets base and width so that all of n numbers can be packed, at least one. */
static void
choose_packing(SegmentSlice *slice, const int64_t *numbers, int n)
{
	IntegerRange all = {INT64_MAX, INT64_MIN};
	uint64_t	range;

	range_add_all(&all, numbers, n);
	range = (uint64_t) all.high - (uint64_t) all.low;
	slice->base = all.low;
	slice->width = range == 0 ? 0 : range <= UINT8_MAX ? 1 :
		range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

/* Packs a number of a width that is a constant where this is inlined. */
static ALWAYS_INLINE void
pack_number(void *packed, uint32_t width, uint64_t number, int i)
{
	if (width == 1)
		((uint8_t *) packed)[i] = (uint8_t) number;
	else if (width == 2)
		((uint16_t *) packed)[i] = (uint16_t) number;
	else if (width == 4)
		((uint32_t *) packed)[i] = (uint32_t) number;
	else
		((uint64_t *) packed)[i] = number;
}

/* Packs the whole slice; numbers after the last one are arbitrary. */
static ALWAYS_INLINE void
pack_all(void *restrict packed, uint32_t width, uint64_t base,
		 const int64_t *numbers)
{
	for (int i = 0; i < BATCH_ROWS; i++)
		pack_number(packed, width, (uint64_t) numbers[i] - base, i);
}

/* Appends the first n numbers, of BATCH_ROWS, packed by base and width. */
static void
append_numbers(SegmentBuilder *builder, const SegmentSlice *slice,
			   const int64_t *numbers, int n)
{
	const uint64_t base = (uint64_t) slice->base;
	uint64_t	packed[BATCH_ROWS];

	if (slice->width == 1)
		pack_all(packed, 1, base, numbers);
	else if (slice->width == 2)
		pack_all(packed, 2, base, numbers);
	else if (slice->width == 4)
		pack_all(packed, 4, base, numbers);
	else if (slice->width == 8)
		pack_all(packed, 8, base, numbers);
	segment_append(builder, packed, (size_t) n * slice->width);
}

/* Appends the entries of a dictionary: their ends, then their bytes. */
static void
append_entries(SegmentBuilder *builder)
{
	const SegmentDictionary *dictionary = builder->dictionary;
	uint32_t	ends[SEGMENT_ENTRIES_MAX];
	uint32_t	end = 0;

	for (uint32_t i = 0; i < dictionary->nentries; i++)
		ends[i] = end += dictionary->lengths[i];
	segment_append(builder, ends, dictionary->nentries * sizeof(uint32_t));
	segment_append(builder, builder->staged, dictionary->nbytes);
}

static void
append_head(SegmentBuilder *builder, const SegmentSlice *slice)
{
	segment_append(builder, slice, sizeof(*slice));
	if (slice->has_nulls)
		segment_append(builder, &builder->nulls,
					   (size_t) bitmap_words(builder->nstaged) *
					   sizeof(uint64_t));
}

/* Appends a slice of texts, with a dictionary if that is shorter. */
static void
append_texts(SegmentBuilder *builder, SegmentSlice *slice)
{
	SegmentDictionary *dictionary = builder->dictionary;
	const int	n = builder->nstaged;

	if (dictionary->is_open &&
		dictionary->nbytes + dictionary->nentries * sizeof(uint32_t) >
		dictionary->text_bytes)
		give_up_dictionary(builder, n);
	if (builder->failed)
		return;
	slice->encoding = dictionary->is_open ? SEGMENT_DICTIONARY : SEGMENT_TEXTS;
	slice->nentries = dictionary->is_open ? dictionary->nentries : 0;
	choose_packing(slice, builder->numbers, n);
	append_head(builder, slice);
	append_numbers(builder, slice, builder->numbers, n);
	if (dictionary->is_open)
		append_entries(builder);
	else
		segment_append(builder, builder->staged + dictionary->nbytes,
					   builder->nstaged_bytes - dictionary->nbytes);
}

/* Gives null rows the number of another row, which takes no space. */
static void
fill_nulls(SegmentBuilder *builder)
{
	const int	n = builder->nstaged;
	int			first = 0;

	while (first < n - 1 && bitmap_has(&builder->nulls, first))
		first++;
	for (int i = bitmap_next(&builder->nulls, 0, n); i < n;
		 i = bitmap_next(&builder->nulls, i + 1, n))
		builder->numbers[i] = builder->numbers[first];
}

/* Appends a slice of integers; nulls take no space of their own. */
static void
append_integers(SegmentBuilder *builder, SegmentSlice *slice)
{
	const int	n = builder->nstaged;

	slice->encoding = SEGMENT_INTEGERS;
	if (slice->has_nulls)
		fill_nulls(builder);
	choose_packing(slice, builder->numbers, n);
	append_head(builder, slice);
	append_numbers(builder, slice, builder->numbers, n);
}

/* Stores the end of the slice; may set failed. */
static void
end_slice(SegmentBuilder *builder)
{
	if (builder->nslices == builder->ends_room)
	{
		size_t		room = builder->ends_room > 0 ? 2 * builder->ends_room :
			FIRST_CHUNKS;
		uint32_t   *ends =
			builder->allocator.resize(builder->allocator.context,
									  builder->ends,
									  builder->ends_room * sizeof(uint32_t),
									  room * sizeof(uint32_t));

		if (ends == NULL)
		{
			builder->failed = true;
			return;
		}
		builder->ends = ends;
		builder->ends_room = room;
	}
	builder->ends[builder->nslices++] = (uint32_t) builder->length;
}

/* Encodes the staged rows, if any. */
static void
flush_slice(SegmentBuilder *builder)
{
	SegmentSlice slice = {0};

	if (builder->nstaged == 0)
		return;
	for (int i = 0; i < BATCH_WORDS; i++)
		slice.has_nulls |= builder->nulls.words[i] != 0;
	if (column_type_is_integer(builder->type))
		append_integers(builder, &slice);
	else if (column_type_is_text(builder->type))
		append_texts(builder, &slice);
	else
	{
		slice.encoding = SEGMENT_RAW;
		slice.width = segment_raw_width(builder->type);
		append_head(builder, &slice);
		segment_append(builder, builder->staged, builder->nstaged_bytes);
	}
	if (!builder->failed)
		end_slice(builder);
	begin_slice(builder);
}

/*------------------------------------------------------------------------
 * Rows
 *------------------------------------------------------------------------
 */

/* Stages n texts, of rows from the first on, after the staged rows. */
static void
stage_texts(SegmentBuilder *builder, const TextRef *texts, int first, int n)
{
	unsigned char *to;
	size_t		length = 0;

	for (int i = 0; i < n; i++)
	{
		builder->numbers[first + i] = texts[i].length;
		length += texts[i].length;
	}
	to = stage_reserve(builder, length);
	for (int i = 0; to != NULL && i < n; i++)
		to = put_text(to, texts[i].bytes, texts[i].length);
}

/*
 * Stages texts as entries of the dictionary until it is full; returns their
 * number.
 */
static int
stage_entries(SegmentBuilder *builder, const TextRef *texts, int first, int n)
{
	SegmentDictionary *dictionary = builder->dictionary;

	for (int i = 0; i < n; i++)
	{
		const uint64_t word = text_word(texts[i].bytes, texts[i].length);
		int			entry = find_entry(builder, texts[i], word);

		if (entry < 0)
			entry = add_entry(builder, texts[i], word, first + i);
		if (entry < 0)
			return i;
		builder->numbers[first + i] = entry;
		dictionary->text_bytes += texts[i].length;
	}
	return n;
}

/* Stages texts, of rows from the first on. */
static void
stage_text_rows(SegmentBuilder *builder, const TextRef *texts, int n)
{
	const int	first = builder->nstaged;
	int			nentries = 0;

	if (builder->dictionary->is_open)
	{
		nentries = stage_entries(builder, texts, first, n);
		if (nentries < n)
			give_up_dictionary(builder, first + nentries);
	}
	if (!builder->failed)
		stage_texts(builder, texts + nentries, first + nentries, n - nentries);
}

/* A float4 is a float, of which the vector has the double. */
static void
stage_floats(SegmentBuilder *builder, const double *floats, int n)
{
	float	   *to = (float *) stage_reserve(builder, (size_t) n * sizeof(float));

	for (int i = 0; to != NULL && i < n; i++)
		to[i] = (float) floats[i];
}

/* Stages values of a type that is stored unpacked. */
static void
stage_values(SegmentBuilder *builder, const void *values, size_t length)
{
	unsigned char *to = stage_reserve(builder, length);

	if (to != NULL)
		memcpy(to, values, length);
}

/* Stages rows [from, from + n) of the vector; there is room for them. */
static void
stage_rows(SegmentBuilder *builder, const ColumnVector *vector, int from, int n)
{
	const ColumnValues values = vector->values;

	if (column_type_is_integer(builder->type))
		memcpy(builder->numbers + builder->nstaged, values.integers + from,
			   (size_t) n * sizeof(int64_t));
	else if (column_type_is_text(builder->type))
		stage_text_rows(builder, values.texts + from, n);
	else if (builder->type == COLUMN_FLOAT4)
		stage_floats(builder, values.floats + from, n);
	else if (builder->type == COLUMN_FLOAT8)
		stage_values(builder, values.floats + from,
					 (size_t) n * sizeof(double));
	else
		stage_values(builder, values.uuids + from, (size_t) n * sizeof(Uuid));
	for (int row = bitmap_next(&vector->nulls, from, from + n); row < from + n;
		 row = bitmap_next(&vector->nulls, row + 1, from + n))
		bitmap_add(&builder->nulls, builder->nstaged + row - from);
	builder->nstaged += n;
}

void
segment_builder_add(SegmentBuilder *builder, const ColumnVector *vector,
					int nrows)
{
	if (bitmap_next(&vector->unresolved, 0, nrows) < nrows)
		builder->failed = true;
	for (int from = 0; from < nrows && !builder->failed;)
	{
		int			room = BATCH_ROWS - builder->nstaged;
		int			n = nrows - from < room ? nrows - from : room;

		stage_rows(builder, vector, from, n);
		from += n;
		if (builder->nstaged == BATCH_ROWS && !builder->failed)
			flush_slice(builder);
	}
}

unsigned char *
segment_builder_finish(SegmentBuilder *builder, const unsigned char *index_id,
					   int64_t offset, uint32_t field, size_t *length)
{
	SegmentHeader *header;
	uint32_t	nrows = (uint32_t) (builder->nslices * BATCH_ROWS);

	if (builder->nstaged > 0)
		nrows += (uint32_t) builder->nstaged;
	if (!builder->failed)
		flush_slice(builder);
	segment_append(builder, builder->ends,
				   builder->nslices * sizeof(uint32_t));
	if (builder->failed || nrows == 0)
		return NULL;
	header = (SegmentHeader *) builder->bytes;
	memcpy(header->magic, SEGMENT_MAGIC, sizeof(header->magic));
	header->version = SEGMENT_VERSION;
	header->uses = 1;
	header->length = *length = builder->length;
	memcpy(header->index_id, index_id, INDEX_ID_SIZE);
	header->offset = offset;
	header->nrows = nrows;
	header->field = field;
	header->type = (uint32_t) builder->type;
	return builder->bytes;
}
