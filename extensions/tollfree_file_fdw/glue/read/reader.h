/*
 * reader.h
 *	  The fast path: a file read by core/ instead of COPY's parser.
 */
#ifndef TOLLFREE_FILE_READER_H
#define TOLLFREE_FILE_READER_H

#include "executor/tuptable.h"

#include "base/core.h"
#include "base/format.h"
#include "read/batch.h"

/* Text, as a source of batches. */
typedef struct FileReader
{
	BatchSource base;			/* has the file, and COPY's state that goes on
								 * after a handover */
	FileLayout	layout;
	FileScan   *scan;
	MemoryContext context;		/* of everything below, and of core/ */

	bool		awaits_header;	/* one that has to match has not come yet */

	/* If only a part of the file is read */
	ChunkLayout chunks;
	int64_t		from;			/* where the present part's chunk begins */
	ScanRange	range;			/* the part: records that begin in the chunk */
	int64_t		lines_before;	/* to be added to its lines; COPY_LINE_UNKNOWN
								 * before somebody asks */
} FileReader;

extern FileReader *reader_open(OpenFile *file, const FileColumns *columns,
							   const FileLayout *layout, size_t block_size,
							   bool begins_small);
extern void reader_set_source(FileReader *reader, const Source *source);
extern void reader_read_range(FileReader *reader, const ScanRange *range);
extern void reader_close(FileReader *reader);
extern void reader_verify(const FileReader *reader);
extern bool reader_find_chunks(FileReader *reader);
extern void reader_check_source(const FileReader *reader, SourceStatus status);
extern bool reader_find_records(FileReader *reader, const FileChunk *chunk);
extern const unsigned char *reader_load(FileReader *reader, int64_t from,
										int64_t to);
extern const char *reader_handover_words(const FileReader *reader);
extern char *reader_hand_over(FileReader *reader);
extern bool reader_copy_row(FileReader *reader, ExprContext *econtext,
							TupleTableSlot *slot);

#endif							/* TOLLFREE_FILE_READER_H */
