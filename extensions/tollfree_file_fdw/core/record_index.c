/*
 * record_index.c
 *	  Reads a record index and compares it with a file.
 */
#include <string.h>

#include "core/record_index_format.h"

bool
index_header_is_known(const IndexHeader *header)
{
	return memcmp(header->magic, INDEX_MAGIC, sizeof(header->magic)) == 0 &&
		header->version == INDEX_VERSION && header->nrows > 0 &&
		header->size > 0;
}

size_t
index_fields_offset(const IndexHeader *header)
{
	return sizeof(IndexHeader) + index_align(header->key_length);
}

size_t
index_length_with(const IndexHeader *header, uint32_t nmore)
{
	size_t		ncolumns = (size_t) header->ncolumns + nmore;

	return index_fields_offset(header) +
		index_align(ncolumns * sizeof(uint32_t)) +
		header->nblocks * index_stride(ncolumns);
}

/* Does the index described by the header fit into this many bytes? */
static bool
header_is_valid(const IndexHeader *header, size_t length)
{
	if (!index_header_is_known(header) || header->length != length ||
		header->key_length > length ||
		header->ncolumns > INDEX_COLUMNS_MAX || header->nblocks == 0 ||
		(header->line_end != LINE_END_NL && header->line_end != LINE_END_CRNL))
		return false;
	return index_length_with(header, 0) == length;
}

/* Are the blocks plausible? */
static bool
blocks_are_valid(const RecordIndex *index)
{
	int64_t		offset = -1;
	int64_t		line = -1;
	int64_t		nrows = 0;

	for (uint32_t i = 0; i < index->header->nblocks; i++)
	{
		const IndexBlock *block = index_block(index, i);

		if (block->offset <= offset || block->line <= line ||
			block->nrows == 0)
			return false;
		for (uint32_t j = 0; j < index->header->ncolumns; j++)
		{
			if (block->zones[j].nulls > block->nrows ||
				block->zones[j].open > block->nrows)
				return false;
		}
		offset = block->offset;
		line = block->line;
		nrows += block->nrows;
	}
	return offset < index->header->end && nrows == index->header->nrows &&
		index->header->end <= index->header->size;
}

bool
index_read(RecordIndex *index, const unsigned char *bytes, size_t length)
{
	const IndexHeader *header = (const IndexHeader *) bytes;

	if (length < sizeof(IndexHeader) || length > INDEX_SIZE_MAX ||
		!header_is_valid(header, length))
		return false;
	index->header = header;
	index->key = bytes + sizeof(IndexHeader);
	index->fields = (const uint32_t *) (bytes + index_fields_offset(header));
	index->blocks = (const unsigned char *) index->fields +
		index_align(header->ncolumns * sizeof(uint32_t));
	index->stride = index_stride(header->ncolumns);
	for (uint32_t i = 1; i < header->ncolumns; i++)
	{
		if (index->fields[i] <= index->fields[i - 1])
			return false;
	}
	return blocks_are_valid(index);
}

bool
index_is_of(const RecordIndex *index, const Source *source,
			const unsigned char *key, size_t key_length)
{
	const IndexHeader *header = index->header;

	return header->device == (uint64_t) source->device &&
		header->inode == (uint64_t) source->inode &&
		header->size == source->size &&
		header->modified_ns == source->modified_ns &&
		header->changed_ns == source->changed_ns &&
		memcmp(header->first, source->first, SOURCE_EDGE) == 0 &&
		memcmp(header->last, source->last, SOURCE_EDGE) == 0 &&
		header->key_length == key_length &&
		memcmp(index->key, key, key_length) == 0;
}

/*
 * Reads the samples of the file that an index stores, by the file's old size.
 */
SourceStatus
index_read_samples(Source *source, int64_t size,
				   unsigned char samples[INDEX_SAMPLES][INDEX_SAMPLE_SIZE])
{
	SourceStatus status = SOURCE_OK;

	if (size < INDEX_SAMPLES * INDEX_SAMPLE_SIZE)
		return status;
	for (int i = 0; status == SOURCE_OK && i < INDEX_SAMPLES; i++)
		status = source_read(source, samples[i], INDEX_SAMPLE_SIZE,
							 size / INDEX_SAMPLES * i);
	return status;
}

/* Are the index's samples unchanged in the file? */
static bool
pieces_match(const IndexHeader *header, Source *source)
{
	unsigned char last[SOURCE_EDGE];
	unsigned char samples[INDEX_SAMPLES][INDEX_SAMPLE_SIZE] = {{0}};

	return memcmp(header->first, source->first, SOURCE_EDGE) == 0 &&
		source_read(source, last, SOURCE_EDGE,
					header->size - SOURCE_EDGE) == SOURCE_OK &&
		memcmp(header->last, last, SOURCE_EDGE) == 0 &&
		index_read_samples(source, header->size, samples) == SOURCE_OK &&
		memcmp(header->samples, samples, sizeof(samples)) == 0;
}

bool
index_is_of_beginning(const RecordIndex *index, Source *source,
					  const unsigned char *key, size_t key_length)
{
	const IndexHeader *header = index->header;

	return header->nblocks > 1 &&
		header->device == (uint64_t) source->device &&
		header->inode == (uint64_t) source->inode &&
		header->size >= SOURCE_EDGE && header->size <= source->size &&
		header->key_length == key_length &&
		memcmp(index->key, key, key_length) == 0 &&
		pieces_match(header, source);
}

int
index_find_column(const RecordIndex *index, int field)
{
	for (uint32_t i = 0; i < index->header->ncolumns; i++)
	{
		if (index->fields[i] == (uint32_t) field)
			return (int) i;
	}
	return -1;
}

int64_t
index_block_end(const RecordIndex *index, uint32_t n)
{
	return n + 1 == index->header->nblocks ? index->header->end :
		index_block(index, n + 1)->offset;
}
