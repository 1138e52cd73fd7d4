/*
 * append.h
 *	  Appending records to a file.
 */
#ifndef TOLLFREE_FILE_APPEND_H
#define TOLLFREE_FILE_APPEND_H

#include "base/core.h"
#include "write/record.h"
#include "write/spool.h"

extern LineEnd append_find_line_end(const char *path, const RecordWriter *writer);
extern void append_records(const char *path, const RecordWriter *writer,
						   bool has_header, LineEnd line_end, Spool *records);

#endif							/* TOLLFREE_FILE_APPEND_H */
