/*
 * filescan.h
 *	  A file, or a range of it, as batches of typed rows.
 *
 *		pread -> window -> structure -> fields -> converters -> RowBatch
 *
 * The window holds one block of the file plus the record that the last block
 * ended in; it grows only for a record that does not fit, up to max_record.
 *
 * The caller may need only a few rows.  So a scan that begins_small has a
 * first block of SCAN_BLOCK_FIRST, each next one twice as large up to
 * block_size, and batches with as many rows as all batches before.
 *
 *		|<-padding->|<- returned ->|<- rows of the batch ->|<- to come ->|<-pad->|
 *
 * Records that core/ reads have the values of COPY FROM.  Before any other
 * record (a line end of another style, bytes that are not valid in the
 * encoding, too few or too many fields, an unterminated quote, an end-of-data
 * marker that is not alone on its line, ...) it stops with SCAN_HANDOVER.
 * The handover has offset, line number and line end: with these PostgreSQL's
 * own COPY parser continues from there, and returns its rows and errors.
 */
#ifndef CORE_FILESCAN_H
#define CORE_FILESCAN_H

#include "core/allocator.h"
#include "core/batch.h"
#include "core/dialect.h"
#include "core/json_paths.h"
#include "core/kernel.h"
#include "core/source.h"

#define SCAN_BLOCK_DEFAULT		((size_t) 256 << 10)
#define SCAN_BLOCK_MIN			((size_t) 256)
#define SCAN_BLOCK_MAX			((size_t) 16 << 20)

/*
 * Of a scan that may be left after a few rows: the first block, bytes, and the
 * rows of the first batch
 */
#define SCAN_BLOCK_FIRST		((size_t) 8 << 10)
#define SCAN_ROWS_FIRST			8

/* Bytes read at once past the end of a range, for its last record */
#define SCAN_REACH		((size_t) 4 << 10)

/*
 * Longest record.  A longer one is more likely a hole in the file than a
 * value; COPY handles it without holding all of it in memory.
 */
#define SCAN_RECORD_MAX			((size_t) 64 << 20)

typedef enum ScanStatus
{
	SCAN_BATCH,					/* rows */
	SCAN_HEADER,				/* a record of the header, in row 0 of a batch
								 * without columns: use filescan_nfields and
								 * _field */
	SCAN_AGAIN,					/* a block was read, no rows yet: call again */
	SCAN_END,					/* all rows returned, the file is unchanged */
	SCAN_HANDOVER,				/* COPY's parser must continue, see handover */
	SCAN_NO_MEMORY,
	SCAN_FAILED,				/* see source.error, an errno */
	SCAN_TRUNCATED,				/* the file became shorter */
	SCAN_CHANGED,				/* the file was changed; one that has only
								 * grown is read up to its old size: SCAN_END */
	SCAN_UNDECODABLE			/* it is compressed, and wrongly so: see the
								 * fault of the source's stream */
} ScanStatus;

typedef enum HandoverReason
{
	HANDOVER_NONE,
	HANDOVER_ENCODING,			/* a zero byte, or bytes not known to be valid */
	HANDOVER_LINE_END,			/* not of the style of the first, or CR alone */
	HANDOVER_FIELDS,			/* missing or extra fields */
	HANDOVER_UNTERMINATED,		/* the data end within quotes or an escape */
	HANDOVER_MARKER,			/* \. not alone on a line */
	HANDOVER_ESCAPE,			/* an escape gives a byte not known to be
								 * valid */
	HANDOVER_TOO_LONG,			/* a record longer than max_record */
	HANDOVER_JSON				/* a line that is no JSON object, or has a
								 * value that its column cannot take */
} HandoverReason;

/* Where COPY's parser takes over. */
typedef struct Handover
{
	HandoverReason reason;
	int64_t		offset;			/* of the record's first byte in the file */
	int64_t		line;			/* lines before the record, as counted in
								 * COPY's errors */
	LineEnd		line_end;		/* LINE_END_UNKNOWN in the first record */
	bool		in_header;		/* that record is one of the header */
} Handover;

/*
 * Which records to read: those that begin at or after offset, before end.  An
 * end-of-data marker inside a range is handed over, since it ends the other
 * ranges, too.
 */
typedef struct ScanRange
{
	int64_t		offset;			/* where a record begins */
	int64_t		end;			/* INT64_MAX for the file's end */
	int64_t		line;			/* lines before offset */
	LineEnd		line_end;
} ScanRange;

/*
 * Options of a scan, which copies the struct, but not the objects it points
 * to.
 */
typedef struct FileScanOptions
{
	const Dialect *dialect;		/* one that dialect_unsupported lets pass */
	const JsonField *json_fields;	/* FILE_FORMAT_JSON_LINES: nfields; those
									 * of columns are wanted */
	const Kernel *kernel;
	const ColumnSpec *columns;	/* the referenced columns, in the order of the
								 * fields */
	int			ncolumns;
	int			nfields;		/* that a record must have, at least 1 */
	int			header;			/* records before the first row */
	size_t		block_size;		/* bytes, SCAN_BLOCK_MIN..SCAN_BLOCK_MAX, or 0
								 * for SCAN_BLOCK_DEFAULT */
	bool		begins_small;	/* begin with a small block and batch, and
								 * double them? */
	size_t		max_record;		/* bytes, or 0 for SCAN_RECORD_MAX */
	void		(*check_interrupts) (void); /* called before each read, or
											 * NULL; if it does not return,
											 * the scan can only be freed */
	const Source *source;		/* the file's state when it was opened, or
								 * NULL to take it now */
	Allocator	allocator;
} FileScanOptions;

/* Bytes of a field, without quotes and escapes. */
typedef struct FieldRef
{
	const unsigned char *bytes;
	size_t		length;			/* bytes */
	bool		is_null;
} FieldRef;

typedef struct FileScan FileScan;

/*
 * Returns a scan of the whole file, which must stay open, or NULL when there
 * is no memory or when *status, which is set always, is not SOURCE_OK.
 */
extern FileScan *filescan_open(const FileScanOptions *options, int fd,
							   SourceStatus *status);

/*
 * Reads at most one more block.  After a status other than SCAN_BATCH,
 * SCAN_HEADER and SCAN_AGAIN it returns that status again.
 */
extern ScanStatus filescan_next(FileScan *scan, RowBatch **batch);

/*
 * Converts a deferred column of the batch, once, in these rows; its values in
 * other rows are zero, and unchecked.  Returns false when there is no memory.
 */
extern bool filescan_convert_column(FileScan *scan, int column,
									const RowBitmap *rows);

/* Restarts at the beginning of the same file, as it was when opened. */
extern void filescan_restart(FileScan *scan);

/*
 * Continues with the records of a range: see chunk.h.  No header is returned.
 */
extern void filescan_set_range(FileScan *scan, const ScanRange *range);

/* Moves the end of the range to an earlier offset, after the batch. */
extern void filescan_cut_range(FileScan *scan, int64_t end);

/*
 * Reads bytes [from, to) of the file for the caller to examine, with
 * KERNEL_PADDING on both sides.  They last until filescan_next, which does not
 * read them again for a range that begins in them.  Returns SCAN_AGAIN, or the
 * status of a failure.
 */
extern ScanStatus filescan_load(FileScan *scan, int64_t from, int64_t to,
								const unsigned char **bytes);

/*
 * Returns a field of a row of the batch, as COPY passes it to the input
 * function of a column with that specification.  The bytes last as long as the
 * batch.  *no_memory is set without memory, otherwise unchanged.
 */
extern FieldRef filescan_field(FileScan *scan, int row, int field,
							   const ColumnSpec *spec, bool *no_memory);

/* Returns the number of the header's fields. */
extern int	filescan_nfields(const FileScan *scan);

/* Returns the line number that COPY's errors give for a row of the batch. */
extern int64_t filescan_line(const FileScan *scan, int row);

/* Returns the number of lines before the batch. */
extern int64_t filescan_lines_before(const FileScan *scan);

/* Returns the bytes of a whole row of the batch, without the line end. */
extern TextRef filescan_record(const FileScan *scan, int row);

/*
 * Returns the offset of a row of the batch; for row nrows, the end of the last
 * one.
 */
extern int64_t filescan_offset(const FileScan *scan, int row);

/* Returns what the dialect's policy has led to, in rows that have been passed. */
extern PolicyCounts filescan_counts(const FileScan *scan);

/* Forgets that, where all is read again. */
extern void filescan_forget_counts(FileScan *scan);

/* Returns the file's line end; unknown before the first row or header. */
extern LineEnd filescan_line_end(const FileScan *scan);

/*
 * Returns the bytes that have been read of the file and not returned as rows,
 * and their offset; *length may be 0.
 */
extern const unsigned char *filescan_unread(const FileScan *scan,
											int64_t *offset, size_t *length);

/* Returns all bytes of the file that are in memory, and their offset. */
extern const unsigned char *filescan_window(const FileScan *scan,
											int64_t *offset, size_t *length);

extern const Handover *filescan_handover(const FileScan *scan);
extern Source *filescan_source(FileScan *scan);

/* Frees all memory.  The descriptor stays open. */
extern void filescan_close(FileScan *scan);

#endif							/* CORE_FILESCAN_H */
