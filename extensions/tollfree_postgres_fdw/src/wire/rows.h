/*
 * rows.h
 *	  Values between text and PostgreSQL's own form.
 */
#ifndef TOLLFREE_FDW_ROWS_H
#define TOLLFREE_FDW_ROWS_H

#include "funcapi.h"
#include "libpq-fe.h"
#include "nodes/execnodes.h"

#include "wire/decode.h"

/* A column of the results */
typedef struct RowColumn
{
	AttrNumber	attno;			/* the attribute that it is */
	const FieldCodec *codec;	/* NULL if its type is none of the common ones */
	FieldDecoder decode;		/* for this result; NULL: the input function */
} RowColumn;

/* Makes rows of those of results; lives as long as its executor node. */
typedef struct RowReader
{
	TupleDesc	tupdesc;
	Relation	rel;			/* the foreign table; NULL for joins and such */
	ForeignScanState *node;		/* the scan, or NULL in a modification */
	AttInMetadata *input;		/* may take RECORD columns as a table's rows */
	RowColumn  *columns;
	int			ncolumns;
	bool		same_encoding;	/* of both databases */
	bool		has_ctid;
	bool		virtual;		/* no header of a tuple is ever looked at */
	MemoryContext temp_context; /* of one row */

	/* of one row */
	Datum	   *values;
	bool	   *nulls;
	int			current;		/* attribute being converted, 0 outside */
} RowReader;

/* Expressions whose values are sent as parameters */
typedef struct ParamWriter
{
	int			count;
	List	   *exprs;			/* of ExprState */
	FmgrInfo   *output;
	bool		needs_path;		/* does one of them look at search_path? */
	bool		is_builtin;		/* are they all of types of pg_catalog? */
	const char **values;		/* text of the last evaluation; NULL for null */
	MemoryContext context;		/* of these texts */
} ParamWriter;

extern RowReader *rows_reader_for_scan(ForeignScanState *node, Relation rel,
									   List *attrs, bool same_encoding);
extern RowReader *rows_reader_for_table(Relation rel, List *attrs,
										bool same_encoding,
										MemoryContext parent);
extern HeapTuple rows_read(RowReader *reader, PGresult *res, int row);
extern void rows_store(RowReader *reader, PGresult *res, int row,
					   TupleTableSlot *slot);
extern bool rows_is_converting(const RowReader *reader);
extern bool rows_gain_from_binary(TupleDesc tupdesc, List *attrs);
extern bool rows_prefer_binary(const RowReader *reader, const PGresult *res,
							   int version);

extern ParamWriter *rows_params(PlanState *node, List *exprs);
extern void rows_write_params(ParamWriter *writer, ExprContext *econtext);

extern bool rows_needs_path(Oid output_function);
extern int	rows_enter_transmission(bool needs_path);
extern void rows_leave_transmission(int nestlevel);

#endif							/* TOLLFREE_FDW_ROWS_H */
