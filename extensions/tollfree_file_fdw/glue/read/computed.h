/*
 * computed.h
 *	  Columns that are not in a file: values of its path, and lines.
 */
#ifndef TOLLFREE_FILE_COMPUTED_H
#define TOLLFREE_FILE_COMPUTED_H

#include "executor/tuptable.h"
#include "utils/rel.h"

#include "base/options.h"

/* Those of a table that somebody asks for. */
typedef struct ComputedColumns
{
	int			ncolumns;
	ComputedColumn *columns;
	FmgrInfo   *functions;		/* input functions of their types, as the next
								 * two */
	Oid		   *parameters;
	int32	   *typmods;
	Datum	   *values;			/* of the present file, as the next; lines are
								 * of a row */
	bool	   *isnull;
	bool		has_lines;
	MemoryContext memory;		/* of the values */
} ComputedColumns;

extern ComputedColumns *computed_open(Relation rel, const FileOptions *options,
									  List *attnums);
extern void computed_set_file(ComputedColumns *computed, const char *path);
extern void computed_store(const ComputedColumns *computed,
						   TupleTableSlot *slot, int64 line);

#endif							/* TOLLFREE_FILE_COMPUTED_H */
