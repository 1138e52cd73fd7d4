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

/* How much has been read. */
typedef struct ByteCounts
{
	uint64		read;			/* of files */
	uint64		decoded;		/* from what was read of compressed ones */
} ByteCounts;

/* Text, as a source of batches. */
typedef struct FileReader
{
	BatchSource base;			/* has the file, and COPY's state that reads
								 * on after a handover */
	FileLayout	layout;
	FileScan   *scan;
	MemoryContext context;		/* of everything below, and of core/ */

	bool		awaits_header;	/* one that has to match has not come yet */

	/* If not all of the file is read at once */
	ChunkLayout chunks;
	int64_t		from;			/* where the present chunk begins */
	ScanRange	range;			/* the records to be read */
	int64_t		lines_before;	/* to be added to their lines;
								 * COPY_LINE_UNKNOWN before they are counted */
} FileReader;

extern FileReader *reader_open(OpenFile *file, const FileColumns *columns,
							   const FileLayout *layout, size_t block_size,
							   bool begins_small);
extern void reader_set_source(FileReader *reader, const Source *source);
extern void reader_read_range(FileReader *reader, const ScanRange *range);
extern ByteCounts reader_count_bytes(const FileReader *reader);
extern void reader_close(FileReader *reader);
extern bool reader_find_chunks(FileReader *reader, int64 apart);
extern void reader_check_source(const FileReader *reader, SourceStatus status);
extern bool reader_find_records(FileReader *reader, const FileChunk *chunk);
extern void reader_look_before(FileReader *reader, FileChunk *chunk);
extern void reader_search_behind(FileReader *reader, FileChunk *behind);
extern bool reader_load_packed(FileReader *reader, int64_t from, int64_t to);
extern const unsigned char *reader_load(FileReader *reader, int64_t from,
										int64_t to);

#endif							/* TOLLFREE_FILE_READER_H */
