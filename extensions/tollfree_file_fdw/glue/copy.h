/*
 * copy.h
 *	  Reading a file by COPY's own parser.
 */
#ifndef TOLLFREE_FILE_COPY_H
#define TOLLFREE_FILE_COPY_H

#include "commands/copyfrom_internal.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "options.h"

extern CopyFromState copy_begin(Relation rel, const FileOptions *options);
extern bool copy_next_row_in(CopyFromState copy, ErrorContextCallback *context,
							 ExprContext *econtext, TupleTableSlot *slot);
extern bool copy_next_row(CopyFromState copy, ExprContext *econtext,
						  TupleTableSlot *slot);
extern void copy_seek(CopyFromState copy, int64 offset, int64 line,
					  EolType eol_type);
extern int64 copy_position(CopyFromState copy);

#endif							/* TOLLFREE_FILE_COPY_H */
