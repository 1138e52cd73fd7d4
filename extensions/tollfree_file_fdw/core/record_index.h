/*
 * record_index.h
 *	  A record index: the blocks of a file, with a zone map for each column.
 *
 * A block is one or more whole batches, of INDEX_BLOCK_ROWS records or more;
 * the last one of the file, or of a process's chunk, may have fewer.  For
 * each of some columns there is a zone map:
 *
 *		IndexHeader | key | fields[ncolumns] | block 0 | block 1 | ...
 *														|
 *		IndexBlock		offset, line, nrows, zones[ncolumns]
 *														|
 *		Zone			low, high, nulls, open
 *
 * Each of these begins at a multiple of 8 bytes.  The format is the same in
 * memory and in an index file, in the byte order of the machine.  The caller
 * that stores it computes the checksum, over all bytes from
 * INDEX_CHECKED_FROM on; index_read accepts any bytes, and says whether they
 * are an index.
 *
 * The index is valid while the file is unchanged: device, inode, size, times
 * and edges, and the key, in which the caller describes everything else that
 * determines how the file is read.
 *
 * If a file is only appended to, all blocks but the last remain valid; the
 * last record may have been continued.  The caller must know that it is such
 * a file.  Samples of its bytes are compared, which detects a file rewritten
 * under the same inode, as by log rotation, but not every changed byte.
 */
#ifndef CORE_RECORD_INDEX_H
#define CORE_RECORD_INDEX_H

#include "core/batch.h"
#include "core/dialect.h"
#include "core/source.h"

#define INDEX_BLOCK_ROWS	1024
#define INDEX_COLUMNS_MAX	1600
#define INDEX_ID_SIZE		16	/* bytes */
#define INDEX_SAMPLES		16	/* samples of the file that are stored, and
								 * the bytes of each */
#define INDEX_SAMPLE_SIZE	64
#define INDEX_SIZE_MAX		((size_t) 64 << 20) /* bytes; larger ones are not
												 * made */

/* The zone map of a column in a block. */
typedef struct Zone
{
	int64_t		low;			/* minimum of integers, or of the keys of
								 * other values; INT64_MAX if there is none,
								 * or the type has no keys */
	int64_t		high;			/* maximum, INT64_MIN if there is none */
	uint32_t	nulls;			/* records */
	uint32_t	open;			/* records whose value is unresolved, and
								 * perhaps invalid */
} Zone;

typedef struct IndexBlock
{
	int64_t		offset;			/* of its first record in the file */
	int64_t		line;			/* lines before that */
	uint32_t	nrows;			/* at least 1 */
	uint32_t	unused;			/* 0 */
	Zone		zones[];
} IndexBlock;

typedef struct IndexHeader
{
	char		magic[8];
	uint32_t	version;
	uint32_t	checksum;
	uint64_t	length;			/* of all, bytes */
	unsigned char id[INDEX_ID_SIZE];	/* random, unique to this index */
	uint64_t	device;
	uint64_t	inode;
	int64_t		size;			/* of the file, bytes */
	int64_t		modified_ns;
	int64_t		changed_ns;
	int64_t		end;			/* offset behind the last record */
	int64_t		nrows;			/* of all blocks */
	uint32_t	line_end;		/* a LineEnd */
	uint32_t	key_length;		/* bytes */
	uint32_t	ncolumns;
	uint32_t	nblocks;		/* at least 1 */
	unsigned char first[SOURCE_EDGE];
	unsigned char last[SOURCE_EDGE];
	unsigned char samples[INDEX_SAMPLES][INDEX_SAMPLE_SIZE];
} IndexHeader;

#define INDEX_CHECKED_FROM	offsetof(IndexHeader, length)

/* An index in the caller's memory. */
typedef struct RecordIndex
{
	const IndexHeader *header;
	const unsigned char *key;
	const uint32_t *fields;		/* of the columns, ascending */
	const unsigned char *blocks;
	size_t		stride;			/* from one block to the next, bytes */
} RecordIndex;

/* Could it be the beginning of an index?  For estimates only. */
extern bool index_header_is_known(const IndexHeader *header);

/*
 * Returns the size of an index of the same blocks with this many more columns.
 */
extern size_t index_length_with(const IndexHeader *header, uint32_t nmore);

/* Returns the offset of the fields in an index. */
extern size_t index_fields_offset(const IndexHeader *header);

/* Says whether the bytes, aligned to 8, are an index; *index points to them. */
extern bool index_read(RecordIndex *index, const unsigned char *bytes,
					   size_t length);

/* Is it the index of this file, unchanged, and of this key? */
extern bool index_is_of(const RecordIndex *index, const Source *source,
						const unsigned char *key, size_t key_length);

/*
 * Is it the index of this file before data were appended, as far as samples of
 * the file show?
 */
extern bool index_is_of_beginning(const RecordIndex *index, Source *source,
								  const unsigned char *key, size_t key_length);

/*
 * The keys of values other than integers: if a value is less than another one,
 * its key is not greater.  Only equal floats have equal keys; NaN is the
 * greatest.  Texts are in the order of their bytes, of which a key has the
 * first eight; of COLUMN_BPCHAR without trailing blanks.
 */
extern int64_t zone_float_key(double value);
extern int64_t zone_text_key(TextRef text, ColumnType type);

/*
 * Can a file of this size and number of fields have two blocks?  A record has
 * at least a byte for each field.
 */
static inline bool
index_may_have_blocks(int64_t size, int nfields)
{
	return size / INDEX_BLOCK_ROWS >= nfields;
}

/* Returns the index's column of a field, or -1. */
extern int	index_find_column(const RecordIndex *index, int field);

/* Returns the offset of a block's end. */
extern int64_t index_block_end(const RecordIndex *index, uint32_t n);

static inline const IndexBlock *
index_block(const RecordIndex *index, uint32_t n)
{
	return (const IndexBlock *) (index->blocks + n * index->stride);
}

#endif							/* CORE_RECORD_INDEX_H */
