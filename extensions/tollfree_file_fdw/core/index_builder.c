/*
 * index_builder.c
 *	  A record index, made of batches.
 */
#include <math.h>
#include <string.h>

#include "core/index_builder.h"
#include "core/inline.h"
#include "core/range.h"
#include "core/record_index_format.h"
#include "core/text_word.h"

#define FIRST_CAPACITY	64		/* blocks */

void
index_builder_open(IndexBuilder *builder, const Allocator *allocator,
				   const ColumnSpec *columns, int ncolumns)
{
	size_t		n = ncolumns > 0 ? (size_t) ncolumns : 1;

	memset(builder, 0, sizeof(*builder));
	builder->allocator = *allocator;
	builder->room = n;
	builder->capacity = FIRST_CAPACITY;
	builder->ends_by_rows = builder->is_ended = true;
	builder->columns = allocator_new(allocator, n * sizeof(int));
	builder->fields = allocator_new(allocator, n * sizeof(uint32_t));
	if (builder->columns == NULL || builder->fields == NULL)
	{
		builder->failed = true;
		return;
	}
	for (int i = 0; i < ncolumns; i++)
	{
		if (columns[i].deferred)
			continue;
		builder->columns[builder->ncolumns] = i;
		builder->fields[builder->ncolumns++] = (uint32_t) columns[i].field;
	}
	builder->stride = index_stride((size_t) builder->ncolumns);
	builder->blocks = allocator_new(allocator,
									builder->capacity * builder->stride);
	builder->failed = builder->blocks == NULL ||
		builder->ncolumns > INDEX_COLUMNS_MAX;
}

static IndexBlock *
builder_block(const IndexBuilder *builder, size_t n)
{
	return (IndexBlock *) (builder->blocks + n * builder->stride);
}

/* Doubles the room for blocks; sets failed if that is too much. */
static void
builder_grow(IndexBuilder *builder)
{
	size_t		size = builder->capacity * builder->stride;
	unsigned char *grown = NULL;

	if (size <= INDEX_SIZE_MAX / 2)
		grown = builder->allocator.resize(builder->allocator.context,
										  builder->blocks, size, 2 * size);
	if (grown == NULL)
	{
		builder->failed = true;
		return;
	}
	builder->blocks = grown;
	builder->capacity *= 2;
}

/* Begins a block; there is room. */
static void
builder_begin_block(IndexBuilder *builder, int64_t offset, int64_t line)
{
	IndexBlock *block = builder_block(builder, builder->nblocks++);

	memset(block, 0, builder->stride);
	block->offset = offset;
	block->line = line;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		block->zones[i].low = INT64_MAX;
		block->zones[i].high = INT64_MIN;
	}
}

/* The number of rows in the set, mostly 0. */
static uint32_t
count_rows(const RowBitmap *rows)
{
	return bitmap_is_empty(rows) ? 0 : (uint32_t) bitmap_count(rows);
}

int64_t
zone_float_key(double value)
{
	int64_t		bits;

	if (isnan(value))
		return INT64_MAX;
	if (value == 0)
		value = 0;				/* not -0 */
	memcpy(&bits, &value, sizeof(bits));
	/* For negative numbers the order of the bits is reversed. */
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static ALWAYS_INLINE int64_t
text_key(TextRef text, ColumnType type)
{
	uint32_t	length = text.length;

	while (type == COLUMN_BPCHAR && length > 0 &&
		   text.bytes[length - 1] == ' ')
		length--;
	return (int64_t) (__builtin_bswap64(text_word(text.bytes, length)) ^
					  (uint64_t) 1 << 63);
}

int64_t
zone_text_key(TextRef text, ColumnType type)
{
	return text_key(text, type);
}

/* Returns the integer or key of a row's value, of a type that has one. */
static ALWAYS_INLINE int64_t
vector_key(ColumnValues values, ColumnType type, int row)
{
	if (column_type_is_float(type))
		return zone_float_key(values.floats[row]);
	return column_type_is_text(type) ? text_key(values.texts[row], type) :
		values.integers[row];
}

/* Adds the values of a type, without those of some rows. */
static ALWAYS_INLINE void
add_keys(IntegerRange *range, ColumnValues values, ColumnType type, int nrows,
		 const RowBitmap *without)
{
	int64_t		keys[BATCH_ROWS];
	int			n = 0;

	for (int row = 0; without == NULL && row < nrows; row++)
		keys[n++] = vector_key(values, type, row);
	for (int row = 0; without != NULL && row < nrows; row++)
	{
		keys[n] = vector_key(values, type, row);
		n += !bitmap_has(without, row);
	}
	range_add_all(range, keys, n);
}

/* Adds the values to a range, of integers or keys. */
static void
add_values(IntegerRange *range, const ColumnVector *vector, int nrows,
		   const RowBitmap *without)
{
	const ColumnType type = vector->spec->type;

	if (type == COLUMN_TEXT)
		add_keys(range, vector->values, COLUMN_TEXT, nrows, without);
	else if (type == COLUMN_BPCHAR)
		add_keys(range, vector->values, COLUMN_BPCHAR, nrows, without);
	else if (column_type_is_float(type))
		add_keys(range, vector->values, COLUMN_FLOAT8, nrows, without);
	else if (without != NULL)
		add_keys(range, vector->values, COLUMN_INT8, nrows, without);
	else
		range_add_all(range, vector->values.integers, nrows);
}

static void
zone_add(Zone *zone, const ColumnVector *vector, int nrows)
{
	IntegerRange range = {zone->low, zone->high};
	uint32_t	nulls = count_rows(&vector->nulls);
	uint32_t	open = count_rows(&vector->unresolved);
	RowBitmap	without;

	zone->nulls += nulls;
	zone->open += open;
	if (vector->spec->type == COLUMN_OTHER ||
		vector->spec->type == COLUMN_UUID)
		return;
	for (int i = 0; i < BATCH_WORDS; i++)
		without.words[i] = vector->nulls.words[i] | vector->unresolved.words[i];
	add_values(&range, vector, nrows, nulls + open > 0 ? &without : NULL);
	zone->low = range.low;
	zone->high = range.high;
}

void
index_builder_add(IndexBuilder *builder, int64_t offset, int64_t line,
				  const RowBatch *batch)
{
	IndexBlock *block;

	if (!builder->failed && builder->nblocks == builder->capacity)
		builder_grow(builder);
	if (builder->failed)
		return;
	if (builder->is_ended)
		builder_begin_block(builder, offset, line);
	block = builder_block(builder, builder->nblocks - 1);
	block->nrows += (uint32_t) batch->nrows;
	builder->is_ended = builder->ends_by_rows &&
		block->nrows >= INDEX_BLOCK_ROWS;
	for (int i = 0; i < builder->ncolumns; i++)
		zone_add(&block->zones[i], &batch->columns[builder->columns[i]],
				 batch->nrows);
}

void
index_builder_end_block(IndexBuilder *builder)
{
	builder->is_ended = true;
}

void
index_builder_append(IndexBuilder *builder, const unsigned char *blocks,
					 size_t nblocks, int64_t line)
{
	for (size_t i = 0; i < nblocks; i++)
	{
		IndexBlock *block;

		if (!builder->failed && builder->nblocks == builder->capacity)
			builder_grow(builder);
		if (builder->failed)
			return;
		block = builder_block(builder, builder->nblocks++);
		memcpy(block, blocks + i * builder->stride, builder->stride);
		block->line += line;
	}
}

int64_t
index_builder_block_offset(const IndexBuilder *builder)
{
	return builder->failed ? -1 :
		builder_block(builder, builder->nblocks - 1)->offset;
}

void
index_builder_close(IndexBuilder *builder)
{
	allocator_free(&builder->allocator, builder->columns,
				   builder->room * sizeof(int));
	allocator_free(&builder->allocator, builder->fields,
				   builder->room * sizeof(uint32_t));
	allocator_free(&builder->allocator, builder->blocks,
				   builder->capacity * builder->stride);
	memset(builder, 0, sizeof(*builder));
}

/* Has the old index the same blocks? */
static bool
has_same_blocks(const IndexBuilder *builder, const RecordIndex *old)
{
	if (old == NULL || old->header->nblocks != builder->nblocks)
		return false;
	for (uint32_t i = 0; i < builder->nblocks; i++)
	{
		if (memcmp(index_block(old, i), builder_block(builder, i),
				   sizeof(IndexBlock)) != 0)
			return false;
	}
	return true;
}

/* Merges the fields of both into one list, ascending; returns their number. */
static uint32_t
merge_fields(const IndexBuilder *builder, const RecordIndex *old,
			 uint32_t *fields)
{
	uint32_t	nold = old == NULL ? 0 : old->header->ncolumns;
	uint32_t	i = 0;
	uint32_t	n = 0;

	for (int j = 0; j < builder->ncolumns; j++)
	{
		for (; i < nold && old->fields[i] < builder->fields[j]; i++)
			fields[n++] = old->fields[i];
		i += i < nold && old->fields[i] == builder->fields[j];
		fields[n++] = builder->fields[j];
	}
	for (; i < nold; i++)
		fields[n++] = old->fields[i];
	return n;
}

/*
 * Writes the zones of a block: the new ones, and those that only the old index
 * has.
 */
static void
write_zones(const IndexBuilder *builder, const RecordIndex *old, uint32_t n,
			const uint32_t *fields, uint32_t ncolumns, IndexBlock *to)
{
	const Zone *made = builder_block(builder, n)->zones;
	const Zone *kept = old == NULL ? NULL : index_block(old, n)->zones;
	int			i = 0;
	uint32_t	j = 0;

	for (uint32_t column = 0; column < ncolumns; column++)
	{
		bool		is_made = i < builder->ncolumns &&
			builder->fields[i] == fields[column];
		bool		is_kept = old != NULL && j < old->header->ncolumns &&
			old->fields[j] == fields[column];

		to->zones[column] = is_made ? made[i] : kept[j];
		i += is_made;
		j += is_kept;
	}
}

/*
 * Sets the header's properties of the file; false if the file cannot be read.
 */
static bool
write_header(const IndexFacts *facts, const RecordIndex *old,
			 IndexHeader *header)
{
	const Source *source = facts->source;
	const unsigned char *id = old == NULL ? facts->id : old->header->id;

	memcpy(header->magic, INDEX_MAGIC, sizeof(header->magic));
	header->version = INDEX_VERSION;
	memcpy(header->id, id, INDEX_ID_SIZE);
	header->device = (uint64_t) source->device;
	header->inode = (uint64_t) source->inode;
	header->size = source->size;
	header->modified_ns = source->modified_ns;
	header->changed_ns = source->changed_ns;
	header->end = facts->end;
	header->line_end = (uint32_t) facts->line_end;
	header->key_length = (uint32_t) facts->key_length;
	memcpy(header->first, source->first, SOURCE_EDGE);
	memcpy(header->last, source->last, SOURCE_EDGE);
	return index_read_samples(facts->source, source->size,
							  header->samples) == SOURCE_OK;
}

/*
 * Returns an index whose blocks are still to be written, or NULL.  It has the old
 * one's id, if that is given.
 */
static unsigned char *
index_allocate(const Allocator *allocator, const IndexFacts *facts,
			   const RecordIndex *old, const uint32_t *fields,
			   uint32_t ncolumns, size_t nblocks, size_t *length)
{
	const size_t fields_at = sizeof(IndexHeader) + index_align(facts->key_length);
	const size_t blocks_at = fields_at +
		index_align(ncolumns * sizeof(uint32_t));
	unsigned char *bytes;
	IndexHeader *header;

	*length = blocks_at + nblocks * index_stride(ncolumns);
	if (ncolumns > INDEX_COLUMNS_MAX || *length > INDEX_SIZE_MAX)
		return NULL;
	bytes = allocator_new(allocator, *length);
	if (bytes == NULL)
		return NULL;
	memset(bytes, 0, blocks_at);
	header = (IndexHeader *) bytes;
	if (!write_header(facts, old, header))
	{
		allocator_free(allocator, bytes, *length);
		return NULL;
	}
	header->length = *length;
	header->ncolumns = ncolumns;
	header->nblocks = (uint32_t) nblocks;
	memcpy(bytes + sizeof(IndexHeader), facts->key, facts->key_length);
	memcpy(bytes + fields_at, fields, ncolumns * sizeof(uint32_t));
	return bytes;
}

/* Returns a block of an index being written. */
static IndexBlock *
allocated_block(unsigned char *bytes, size_t length, size_t n)
{
	const IndexHeader *header = (const IndexHeader *) bytes;
	size_t		stride = index_stride(header->ncolumns);

	return (IndexBlock *) (bytes + length - (header->nblocks - n) * stride);
}

unsigned char *
index_builder_finish(const IndexBuilder *builder, const IndexFacts *facts,
					 const RecordIndex *old, size_t *length)
{
	uint32_t	fields[2 * INDEX_COLUMNS_MAX];
	uint32_t	ncolumns;
	unsigned char *bytes;

	if (builder->failed || builder->nblocks == 0 ||
		facts->key_length > INDEX_SIZE_MAX)
		return NULL;
	if (!has_same_blocks(builder, old))
		old = NULL;
	ncolumns = merge_fields(builder, old, fields);
	bytes = index_allocate(&builder->allocator, facts, old, fields, ncolumns,
						   builder->nblocks, length);
	for (uint32_t i = 0; bytes != NULL && i < builder->nblocks; i++)
	{
		IndexBlock *block = allocated_block(bytes, *length, i);

		memcpy(block, builder_block(builder, i), sizeof(IndexBlock));
		((IndexHeader *) bytes)->nrows += block->nrows;
		write_zones(builder, old, i, fields, ncolumns, block);
	}
	return bytes;
}

/* Writes a new block, with the columns of the old index. */
static void
write_appended(const IndexBuilder *builder, const RecordIndex *old, uint32_t n,
			   IndexBlock *to)
{
	const IndexBlock *made = builder_block(builder, n);
	int			i = 0;

	memcpy(to, made, sizeof(IndexBlock));
	for (uint32_t column = 0; column < old->header->ncolumns; column++)
	{
		const Zone	unknown = {INT64_MAX, INT64_MIN, 0, made->nrows};

		while (i < builder->ncolumns && builder->fields[i] < old->fields[column])
			i++;
		to->zones[column] = i < builder->ncolumns &&
			builder->fields[i] == old->fields[column] ?
			made->zones[i] : unknown;
	}
}

unsigned char *
index_builder_extend(const IndexBuilder *builder, const IndexFacts *facts,
					 const RecordIndex *old, size_t *length)
{
	const uint32_t kept = old->header->nblocks - 1;
	unsigned char *bytes;

	if (builder->failed || builder->nblocks == 0 ||
		builder->nblocks > UINT32_MAX - kept ||
		facts->key_length > INDEX_SIZE_MAX)
		return NULL;
	bytes = index_allocate(&builder->allocator, facts, old, old->fields,
						   old->header->ncolumns, kept + builder->nblocks,
						   length);
	for (uint32_t i = 0; bytes != NULL && i < kept + builder->nblocks; i++)
	{
		IndexBlock *block = allocated_block(bytes, *length, i);

		if (i < kept)
			memcpy(block, index_block(old, i), old->stride);
		else
			write_appended(builder, old, i - kept, block);
		((IndexHeader *) bytes)->nrows += block->nrows;
	}
	return bytes;
}
