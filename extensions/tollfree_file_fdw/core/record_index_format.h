/*
 * record_index_format.h
 *	  What the files that make and read a record index share of its layout.
 */
#ifndef CORE_RECORD_INDEX_FORMAT_H
#define CORE_RECORD_INDEX_FORMAT_H

#include "core/record_index.h"

#define INDEX_MAGIC		"tollidx"
#define INDEX_VERSION	5

static inline size_t
index_align(size_t length)
{
	return (length + 7) & ~(size_t) 7;
}

static inline size_t
index_stride(size_t ncolumns)
{
	return sizeof(IndexBlock) + ncolumns * sizeof(Zone);
}

/*
 * Reads the pieces of the file that an index remembers, as long as the file was
 * for that.
 */
extern SourceStatus index_read_samples(Source *source, int64_t size,
									   unsigned char samples[INDEX_SAMPLES][INDEX_SAMPLE_SIZE]);

#endif							/* CORE_RECORD_INDEX_FORMAT_H */
