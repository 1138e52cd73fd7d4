/*
 * record_index.h
 *	  A record index: where the blocks of a file begin, and what is in them.
 *
 * A block is some whole batches, of INDEX_BLOCK_ROWS records or more; the last
 * one of the file, or of a process's part of it, may have fewer.  For each of some
 * columns there is a zone map:
 *
 *		IndexHeader | key | fields[ncolumns] | block 0 | block 1 | ...
 *														|
 *		IndexBlock		offset, line, nrows, zones[ncolumns]
 *														|
 *		Zone			low, high, nulls, open
 *
 * Each part begins at a multiple of 8 bytes.  It is the same in memory and in
 * an index file, in the byte order of the machine.  Whoever stores it computes
 * the checksum, over all bytes from INDEX_CHECKED_FROM on; index_read finds any
 * bytes at all to be an index or not.
 *
 * The index is true of the file as long as that is what it was: device, inode,
 * size, times and edges, and the key, the caller's words for everything else
 * that says how it is read.
 *
 * Of a file that is only ever appended to, all blocks but the last remain true,
 * whose last record may have gone on.  That it is such a file is the caller's to
 * know.  Some bytes of it are compared, which tells one that was written anew
 * under the same inode, as logs are rotated, but no change of a byte.
 */
#ifndef CORE_RECORD_INDEX_H
#define CORE_RECORD_INDEX_H

#include "core/batch.h"
#include "core/dialect.h"
#include "core/source.h"

#define INDEX_BLOCK_ROWS	1024
#define INDEX_COLUMNS_MAX	1600
#define INDEX_ID_SIZE		16	/* bytes */
#define INDEX_SAMPLES		16	/* pieces of the file that are remembered, and
								 * the bytes of each */
#define INDEX_SAMPLE_SIZE	64
#define INDEX_SIZE_MAX		((size_t) 64 << 20) /* bytes; larger ones are not
												 * made */

/* What is known of a column's values in a block. */
typedef struct Zone
{
	int64_t		low;			/* the least integer, or key of another value,
								 * INT64_MAX if there is none, as of types
								 * that have no keys */
	int64_t		high;			/* the greatest, INT64_MIN if there is none */
	uint32_t	nulls;			/* records */
	uint32_t	open;			/* records whose value core/ does not know: it
								 * may be any, or an error */
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
	unsigned char id[INDEX_ID_SIZE];	/* of these blocks: no other index of
										 * them, or of others, has it */
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

/* An index in memory of the caller's, who frees it. */
typedef struct RecordIndex
{
	const IndexHeader *header;
	const unsigned char *key;
	const uint32_t *fields;		/* of the columns, ascending */
	const unsigned char *blocks;
	size_t		stride;			/* from one block to the next, bytes */
} RecordIndex;

/* Is it the beginning of what may be an index?  For guesses alone. */
extern bool index_header_is_known(const IndexHeader *header);

/* Returns how long an index of the same blocks is that has so many columns more. */
extern size_t index_length_with(const IndexHeader *header, uint32_t nmore);

/* Returns where in the bytes of an index its fields are. */
extern size_t index_fields_offset(const IndexHeader *header);

/* Says whether the bytes, aligned to 8, are an index; *index points to them. */
extern bool index_read(RecordIndex *index, const unsigned char *bytes,
					   size_t length);

/* Is it of that file, as it is, and of that key? */
extern bool index_is_of(const RecordIndex *index, const Source *source,
						const unsigned char *key, size_t key_length);

/*
 * Is it of what that file may have been before something was appended, by all
 * that can be told without reading it?  Reads pieces of it.
 */
extern bool index_is_of_beginning(const RecordIndex *index, Source *source,
								  const unsigned char *key, size_t key_length);

/*
 * The keys of values that are no integers: where one value is less than another,
 * its key is no greater.  Only equal floats have equal keys; NaN is the greatest.
 * Texts are in the order of their bytes, of which a key has the first eight; of
 * COLUMN_BPCHAR without trailing blanks.
 */
extern int64_t zone_float_key(double value);
extern int64_t zone_text_key(TextRef text, ColumnType type);

/*
 * May a file of so many bytes, whose records have so many fields, have two blocks?
 * A record has a byte for each field.
 */
static inline bool
index_may_have_blocks(int64_t size, int nfields)
{
	return size / INDEX_BLOCK_ROWS >= nfields;
}

/* Returns which column of the index a field is, or -1. */
extern int	index_find_column(const RecordIndex *index, int field);

/* Returns the offset behind a block. */
extern int64_t index_block_end(const RecordIndex *index, uint32_t n);

static inline const IndexBlock *
index_block(const RecordIndex *index, uint32_t n)
{
	return (const IndexBlock *) (index->blocks + n * index->stride);
}

#endif							/* CORE_RECORD_INDEX_H */
