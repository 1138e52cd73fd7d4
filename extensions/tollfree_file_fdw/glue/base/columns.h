/*
 * columns.h
 *	  Columns of a foreign table as core/ has them, and their values.
 */
#ifndef TOLLFREE_FILE_COLUMNS_H
#define TOLLFREE_FILE_COLUMNS_H

#include "utils/rel.h"

#include "base/core.h"
#include "base/options.h"

/* The columns of a foreign table that a scan converts, in their order. */
typedef struct FileColumns
{
	int			nfields;		/* that a record of the file has */
	int			ncolumns;
	ColumnSpec *specs;
	AttrNumber *attnums;
} FileColumns;

extern bool columns_read_times(void);
extern FileColumns columns_describe(Relation rel, const FileOptions *options,
									List *names, bool none);
extern void columns_append_labels(StringInfo string, Oid type);
extern FileColumns columns_copy(const FileColumns *columns);
extern char *columns_field_name(Oid relid, uint32 field);
extern int	columns_find(const FileColumns *columns, AttrNumber attnum);
extern bool column_unscale(Datum numeric, int64_t *integer, int *scale);
extern Datum column_numeric(__int128 number, int scale);
extern Datum column_value(const ColumnVector *column, int row);
extern bool column_store(ColumnVector *column, int row, Datum value,
						 MemoryContext memory);

#endif							/* TOLLFREE_FILE_COLUMNS_H */
