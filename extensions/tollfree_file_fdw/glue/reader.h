/*
 * reader.h
 *	  The fast path: a file read by core/ instead of COPY's parser.
 */
#ifndef TOLLFREE_FILE_READER_H
#define TOLLFREE_FILE_READER_H

#include "executor/tuptable.h"

#include "columns.h"
#include "core.h"
#include "file.h"
#include "format.h"

/* What reading on has led to. */
typedef enum BatchStatus
{
	BATCH_READY,				/* a batch */
	BATCH_END,					/* the end of what is to be read */
	BATCH_STOPPED				/* a record for COPY's parser, which must go
								 * on */
} BatchStatus;

typedef struct FileReader
{
	OpenFile   *file;
	CopyFromState copy;			/* the file's; reads it after a handover */
	FileLayout	layout;
	FileScan   *scan;
	MemoryContext context;		/* of everything below, and of core/ */

	FileColumns columns;
	bool	   *asks_null;		/* of each: does its input function see nulls? */

	bool		awaits_header;	/* one that has to match has not come yet */

	/* If only a part of the file is read, else false */
	bool		is_ranged;
	ChunkLayout chunks;
	int64_t		from;			/* where the present part's chunk begins */
	ScanRange	range;			/* the part: records that begin in the chunk */
	int64_t		lines_before;	/* to be added to its lines; LINES_UNKNOWN
								 * before somebody asks */

	RowBatch   *batch;			/* the present one */
	RowBitmap	asks;			/* its rows with values to ask PostgreSQL for */
	int			asked_row;		/* of which a value is asked for */
} FileReader;

extern FileReader *reader_open(OpenFile *file, const FileColumns *columns,
							   const FileLayout *layout, size_t block_size);
extern void reader_set_source(FileReader *reader, const Source *source);
extern void reader_close(FileReader *reader);
extern void reader_verify(const FileReader *reader);
extern bool reader_find_chunks(FileReader *reader);
extern void reader_check_source(const FileReader *reader, SourceStatus status);
extern bool reader_find_records(FileReader *reader, const FileChunk *chunk);
extern void reader_begin_records(FileReader *reader, bool to_end);
extern const unsigned char *reader_load(FileReader *reader, int64_t from,
										int64_t to);
extern BatchStatus reader_next_batch(FileReader *reader);
extern void reader_convert_column(FileReader *reader, int column,
								  const RowBitmap *rows);
extern void reader_load_row(FileReader *reader, int row, TupleTableSlot *slot);
extern bool reader_judge_row(FileReader *reader, int row);
extern const char *reader_handover_words(const FileReader *reader);
extern char *reader_hand_over(FileReader *reader);
extern bool reader_copy_row(FileReader *reader, ExprContext *econtext,
							TupleTableSlot *slot);

#endif							/* TOLLFREE_FILE_READER_H */
