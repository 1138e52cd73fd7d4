/*
 * record_index_format.h
 *	  The layout of a record index, for the files that make and read it.
 */
#ifndef CORE_RECORD_INDEX_FORMAT_H
#define CORE_RECORD_INDEX_FORMAT_H

#include "core/record_index.h"

#define INDEX_MAGIC		"tollidx"
#define INDEX_VERSION	6

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
 * Reads the samples of the file that an index stores, by the file's size then.
 */
extern SourceStatus index_read_samples(Source *source, int64_t size,
									   unsigned char samples[INDEX_SAMPLES][INDEX_SAMPLE_SIZE]);

#endif							/* CORE_RECORD_INDEX_FORMAT_H */
