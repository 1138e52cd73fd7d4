/*
 * copy.h
 *	  Reading a file by COPY's own parser.
 */
#ifndef TOLLFREE_FILE_COPY_H
#define TOLLFREE_FILE_COPY_H

#include "commands/copy.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "options.h"

extern CopyFromState copy_begin(Relation rel, const FileOptions *options,
								List *columns);
extern bool copy_next_row(CopyFromState copy, ExprContext *econtext,
						  TupleTableSlot *slot);

#endif							/* TOLLFREE_FILE_COPY_H */
