/*
 * values.h
 *	  The values of fields, by their types' input functions, in COPY's way.
 */
#ifndef TOLLFREE_FILE_VALUES_H
#define TOLLFREE_FILE_VALUES_H

#include "nodes/execnodes.h"

#include "read/file.h"

extern bool values_make_one(OpenFile *file, int i, char *string, Datum *value);
extern void values_leave_out(OpenFile *file, int64 line);
extern bool values_leave_out_line(OpenFile *file, const char *reason);
extern const char *values_find_refusal(OpenFile *file, int i, char *field);
extern bool values_make_row(OpenFile *file, ExprContext *econtext, char **fields,
							int nfields, Datum *values, bool *nulls);

#endif							/* TOLLFREE_FILE_VALUES_H */
