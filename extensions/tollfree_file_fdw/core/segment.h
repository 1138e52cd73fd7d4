/*
 * segment.h
 *	  A column segment: the values of one column in a run of records.
 *
 * The run is whole blocks of a record index.  Its rows are encoded in slices
 * of BATCH_ROWS, the last of which may have fewer:
 *
 *		SegmentHeader | slice 0 | slice 1 | ... | ends[nslices]
 *							|
 *		SegmentSlice | nulls | numbers | bytes
 *
 *		nulls		one bit for each row; only if some row is null
 *		numbers		packed: each is base plus 0, 1, 2, 4 or 8 bytes
 *		ends		where each slice ends, counted from the header
 *
 * Each of these begins at a multiple of 8 bytes, and is in the byte order of
 * the machine.  Integers are stored as numbers.  The numbers of texts are the
 * lengths of the bytes that follow or, if few texts are distinct, entries of
 * a dictionary that follows.  Floats and uuids are stored unpacked, in place
 * of numbers.
 *
 * Only values that core/ has converted are stored: a column with an
 * unresolved value in these rows has no segment.  The caller that stores it
 * sets the time of creation and the checksum, over all bytes from
 * SEGMENT_CHECKED_FROM on, and may count its uses later.  segment_read and
 * segment_decode accept any bytes.
 *
 * A segment is valid for the file for which the index with that id is valid.
 */
#ifndef CORE_SEGMENT_H
#define CORE_SEGMENT_H

#include "core/allocator.h"
#include "core/batch.h"
#include "core/record_index.h"

#define SEGMENT_SIZE_MAX	((size_t) 64 << 20) /* bytes; larger ones are not
												 * made */
#define SEGMENT_ENTRIES_MAX 256 /* of a dictionary */

typedef struct SegmentHeader
{
	char		magic[8];
	uint32_t	version;
	uint32_t	checksum;
	uint32_t	uses;			/* reads, plus one */
	uint32_t	unused;			/* 0 */
	uint64_t	length;			/* of all, bytes */
	unsigned char index_id[INDEX_ID_SIZE];
	int64_t		offset;			/* of its first record in the file */
	uint32_t	nrows;			/* at least 1 */
	uint32_t	field;
	uint32_t	type;			/* a ColumnType */
	uint32_t	unused_too;		/* 0 */
	int64_t		made_ns;		/* time of creation, since 1970 */
} SegmentHeader;

#define SEGMENT_CHECKED_FROM	offsetof(SegmentHeader, length)

typedef enum SegmentEncoding
{
	SEGMENT_INTEGERS,
	SEGMENT_RAW,				/* floats, uuids */
	SEGMENT_TEXTS,				/* numbers are lengths */
	SEGMENT_DICTIONARY			/* numbers are entries: followed by the ends
								 * of the entries' bytes, 32 bits each, and
								 * these bytes */
} SegmentEncoding;

typedef struct SegmentSlice
{
	int64_t		base;			/* of the numbers */
	uint32_t	encoding;		/* a SegmentEncoding */
	uint32_t	width;			/* bytes of a number */
	uint32_t	nentries;		/* SEGMENT_DICTIONARY, else 0 */
	uint32_t	has_nulls;		/* 0 or 1 */
} SegmentSlice;

/* A segment in the caller's memory. */
typedef struct Segment
{
	const SegmentHeader *header;
	const unsigned char *slices;
	const uint32_t *ends;
	uint32_t	nslices;
} Segment;

typedef struct SegmentDictionary SegmentDictionary;

/* A segment being made, of one column. */
typedef struct SegmentBuilder
{
	Allocator	allocator;		/* may return NULL */
	bool		failed;			/* no memory, too large, or an unresolved
								 * value: no segment */
	ColumnType	type;
	int			nstaged;		/* rows of the slice being filled */
	RowBitmap	nulls;			/* of these, as the next two */
	int64_t    *numbers;		/* integers, entries of the dictionary, or
								 * lengths of texts */
	SegmentDictionary *dictionary;	/* of texts; else NULL */
	unsigned char *staged;		/* bytes of all else */
	size_t		nstaged_bytes;
	size_t		staged_room;
	unsigned char *bytes;		/* the header and finished slices */
	size_t		length;
	size_t		room;
	uint32_t   *ends;			/* of finished slices */
	size_t		nslices;
	size_t		ends_room;		/* slices */
} SegmentBuilder;

/* Begins a segment of a column of that specification, not of COLUMN_OTHER. */
extern void segment_builder_open(SegmentBuilder *builder,
								 const Allocator *allocator,
								 const ColumnSpec *spec);

/*
 * Adds the next rows, as they were read: the caller must not have stored
 * unresolved values.
 */
extern void segment_builder_add(SegmentBuilder *builder,
								const ColumnVector *vector, int nrows);

/*
 * Returns the segment of all rows, of that field, which begin at that offset,
 * without a checksum, or NULL if none can be made.  It lasts until the builder
 * is used again.
 */
extern unsigned char *segment_builder_finish(SegmentBuilder *builder,
											 const unsigned char *index_id,
											 int64_t offset, uint32_t field,
											 size_t *length);

/* Begins another segment of the same column. */
extern void segment_builder_reset(SegmentBuilder *builder);

extern void segment_builder_close(SegmentBuilder *builder);

/* Says whether the bytes, aligned to 8, are a segment; *segment points to them. */
extern bool segment_read(Segment *segment, const unsigned char *bytes,
						 size_t length);

/*
 * Decodes rows [row, row + nrows), which are in one slice, into the vector,
 * whose spec and memory are set: all of them, or those in the set, which
 * counts from row; other rows then have arbitrary valid values.  Texts point
 * into the segment.  Returns false if the segment is damaged, or of another
 * type.
 */
extern bool segment_decode(const Segment *segment, uint32_t row, int nrows,
						   const RowBitmap *rows, ColumnVector *vector);

/*
 * Sets inside to the rows, of [row, row + nrows) in one slice, whose integer
 * is low to high, both included, or, if negated, is not; never to nulls.
 * False if this cannot be decided without decoding.
 */
extern bool segment_test_range(const Segment *segment, uint32_t row, int nrows,
							   int64_t low, int64_t high, bool negated,
							   RowBitmap *inside);

/*
 * Returns the number of texts in the dictionary of the row's slice, at most
 * SEGMENT_ENTRIES_MAX, and sets entries to them, which point into the segment;
 * 0 if the slice has no dictionary.
 */
extern int	segment_entries(const Segment *segment, uint32_t row,
							TextRef *entries);

/*
 * Sets rows to those, of [row, row + nrows) in one slice with a dictionary,
 * whose text is one of these entries; never to nulls.  False if the segment is
 * damaged.
 */
extern bool segment_test_entries(const Segment *segment, uint32_t row, int nrows,
								 const RowBitmap *entries, RowBitmap *rows);

#endif							/* CORE_SEGMENT_H */
