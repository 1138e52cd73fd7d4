/*
 * rows.h
 *	  Converts values between text and Datums.
 */
#ifndef TOLLFREE_FDW_ROWS_H
#define TOLLFREE_FDW_ROWS_H

#include "funcapi.h"
#include "nodes/execnodes.h"

#include "base/libpq.h"
#include "wire/ctids.h"
#include "wire/decode.h"

/* A column of the results */
typedef struct RowColumn
{
	AttrNumber	attno;			/* attribute that gets its value */
	const FieldCodec *codec;	/* of the attribute's type, or NULL */
	FieldDecoder decode;		/* for this result; NULL: the input function */
} RowColumn;

/* Converts rows of results; lives as long as its executor node. */
typedef struct RowReader
{
	TupleDesc	tupdesc;
	Relation	rel;			/* the table, outside of a scan; else NULL */
	ForeignScanState *node;		/* the scan, or NULL */
	AttInMetadata *input;		/* input functions; a whole row of a table is
								 * read as its row type, not as RECORD */
	RowColumn  *columns;
	int			ncolumns;
	CtidColumn	ctid;			/* whose text may name a table, too */
	int			nextra;			/* further columns of a result, not converted */
	const PGresult *result;		/* that the decoders were chosen for */
	bool		same_encoding;	/* have both databases the same encoding? */
	bool		virtual;		/* may a tuple's header be omitted? */
	MemoryContext temp_context; /* of one row */

	/* the row being converted */
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
	bool		needs_path;		/* does an output function use search_path? */
	bool		is_builtin;		/* are all types built-in? */
	const char **values;		/* texts last printed; NULL for a null */
	MemoryContext context;		/* of the texts */
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
