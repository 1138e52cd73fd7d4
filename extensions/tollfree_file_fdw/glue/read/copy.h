/*
 * copy.h
 *	  Reading a file by COPY's own parser.
 */
#ifndef TOLLFREE_FILE_COPY_H
#define TOLLFREE_FILE_COPY_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"

#include "read/file.h"

/* Where lines before cannot be counted. */
#define COPY_LINE_UNKNOWN (-1)

extern bool copy_next_row_in(OpenFile *file, ErrorContextCallback *context,
							 ExprContext *econtext, TupleTableSlot *slot);
extern bool copy_next_row(OpenFile *file, ExprContext *econtext,
						  TupleTableSlot *slot);
extern bool copy_next_fields(OpenFile *file, char ***fields, int *nfields);
extern int64 copy_line(const OpenFile *file);
extern void copy_seek(OpenFile *file, int64 offset, int64 line,
					  EolType eol_type);
extern void copy_report_line(const OpenFile *file, int64 line);
extern int64 copy_position(const OpenFile *file);
extern void copy_report_left_out(const ErrorPolicy *errors, uint64 count);
extern char *copy_policy_words(const PolicyCounts *counts);
extern void copy_report_policy(const char *table, const PolicyCounts *counts);

#endif							/* TOLLFREE_FILE_COPY_H */
