/*
 * fuzz_record_index.c
 *	  A fuzz target: any bytes as an index file, and the same with a header that
 *	  says of itself what it must.
 *
 * What is taken for an index is walked through; sanitizers watch.
 */
#include <stdlib.h>
#include <string.h>

#include "core/record_index.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looks at all that an index has, of exactly these bytes. */
static void
walk(const unsigned char *bytes, size_t size)
{
	static const Source source;
	RecordIndex index;

	if (!index_read(&index, bytes, size))
		return;
	(void) index_is_of(&index, &source, bytes, 5);
	if (index.header->nrows < index.header->nblocks)
		abort();
	for (uint32_t n = 0; n < index.header->nblocks; n++)
	{
		const IndexBlock *block = index_block(&index, n);

		if (index_block_end(&index, n) <= block->offset || block->nrows == 0)
			abort();
		for (uint32_t i = 0; i < index.header->ncolumns; i++)
		{
			if (block->zones[i].open > block->nrows ||
				index_find_column(&index, (int) index.fields[i]) != (int) i)
				abort();
		}
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *bytes = malloc(size > 0 ? size : 1);

	memcpy(bytes, data, size);
	walk(bytes, size);
	if (size >= sizeof(IndexHeader))
	{
		IndexHeader *header = (IndexHeader *) bytes;

		memcpy(header->magic, "tollidx", sizeof(header->magic));
		header->version = 4;
		header->length = size;
		walk(bytes, size);
	}
	free(bytes);
	return 0;
}
