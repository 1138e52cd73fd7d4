/*
 * record.h
 *	  A row as a record of a file.
 */
#ifndef TOLLFREE_FILE_RECORD_H
#define TOLLFREE_FILE_RECORD_H

#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "utils/rel.h"

#include "base/core.h"
#include "base/options.h"

typedef struct RecordWriter RecordWriter;

extern RecordWriter *record_writer_make(Relation rel, const FileOptions *options);
extern void record_writer_put(RecordWriter *writer, TupleTableSlot *slot,
							  LineEnd line_end, StringInfo bytes);
extern void record_writer_put_header(const RecordWriter *writer, LineEnd line_end,
									 StringInfo bytes);
extern void record_writer_put_line_end(LineEnd line_end, StringInfo bytes);
extern bool record_writer_is_marker(const RecordWriter *writer, const char *line,
									size_t length);
extern char record_writer_quote(const RecordWriter *writer);

#endif							/* TOLLFREE_FILE_RECORD_H */
