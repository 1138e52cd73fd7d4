/*
 * rows.c
 *	  Converts values between text and Datums.
 *
 * Values are sent as text, which the types' own input and output functions
 * define on both servers.  Parameters are printed under fixed settings, so
 * that they mean the same on the remote server.
 *
 * decode.c reads values of common types faster: text without the input
 * function, and binary format.  A large result is fetched in binary format
 * after its first rows have shown that the remote columns have the local
 * types.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "wire/rows.h"

#define ROW_HEADER 7			/* bytes of a row's message, without its
								 * fields */
#define FIELD_HEADER 4
#define MOST_BINARY_BYTES 1.05	/* of the bytes in text, that binary format
								 * may take */

/*
 * May the function's output depend on search_path, as that of regclass does?
 * A function that is not listed here may.
 */
bool
rows_needs_path(Oid output_function)
{
	static const Oid independent[] = {
		F_BOOLOUT, F_INT2OUT, F_INT4OUT, F_INT8OUT, F_OIDOUT, F_FLOAT4OUT,
		F_FLOAT8OUT, F_NUMERIC_OUT, F_TEXTOUT, F_VARCHAROUT, F_BPCHAROUT,
		F_NAMEOUT, F_BYTEAOUT, F_DATE_OUT, F_TIME_OUT, F_TIMESTAMP_OUT,
		F_TIMESTAMPTZ_OUT, F_INTERVAL_OUT, F_UUID_OUT, F_JSON_OUT,
		F_JSONB_OUT, F_TIDOUT
	};

	for (int i = 0; i < lengthof(independent); i++)
	{
		if (output_function == independent[i])
			return false;
	}
	return true;
}

/*
 * Changes settings so that values are printed without ambiguity.  Returns the
 * nesting level for rows_leave_transmission, 0 if nothing was changed.  After
 * an error settings.c restores the settings.
 */
int
rows_enter_transmission(bool needs_path)
{
	const struct
	{
		bool		is_set;
		const char *name;
		const char *value;
	}			needed[] = {
		{DateStyle == USE_ISO_DATES, "datestyle", "ISO"},
		{IntervalStyle == INTSTYLE_POSTGRES, "intervalstyle", "postgres"},
		/* PostgreSQL's own types print the same with any value above 0. */
		{extra_float_digits >= (needs_path ? 3 : 1), "extra_float_digits", "3"},
		{!needs_path, "search_path", "pg_catalog"}
	};
	int			nestlevel = 0;

	for (int i = 0; i < lengthof(needed); i++)
	{
		if (needed[i].is_set)
			continue;
		if (nestlevel == 0)
			nestlevel = NewGUCNestLevel();
		(void) set_config_option(needed[i].name, needed[i].value,
								 PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	}
	return nestlevel;
}

/* Restores the settings that rows_enter_transmission has changed. */
void
rows_leave_transmission(int nestlevel)
{
	if (nestlevel != 0)
		AtEOXact_GUC(true, nestlevel);
}

/* Prepares to send expressions of a plan; NULL if there are none. */
ParamWriter *
rows_params(PlanState *node, List *exprs)
{
	ParamWriter *writer;
	ListCell   *cell;
	int			i = 0;

	if (exprs == NIL)
		return NULL;
	writer = palloc0(sizeof(ParamWriter));
	writer->count = list_length(exprs);
	writer->output = palloc0(writer->count * sizeof(FmgrInfo));
	writer->values = palloc0(writer->count * sizeof(char *));
	writer->context = AllocSetContextCreate(CurrentMemoryContext,
											"tollfree_postgres_fdw parameters",
											ALLOCSET_SMALL_SIZES);
	writer->is_builtin = true;
	foreach(cell, exprs)
	{
		Oid			type = exprType(lfirst(cell));
		Oid			function;
		bool		is_varlena;

		writer->is_builtin &= type < FirstGenbkiObjectId;
		getTypeOutputInfo(type, &function, &is_varlena);
		fmgr_info(function, &writer->output[i++]);
		writer->needs_path |= rows_needs_path(function);
	}
	writer->exprs = ExecInitExprList(exprs, node);
	return writer;
}

/* Evaluates the expressions; their texts last until the next call. */
void
rows_write_params(ParamWriter *writer, ExprContext *econtext)
{
	MemoryContext old = MemoryContextSwitchTo(writer->context);
	int			nestlevel = rows_enter_transmission(writer->needs_path);
	ListCell   *cell;
	int			i = 0;

	MemoryContextReset(writer->context);
	foreach(cell, writer->exprs)
	{
		bool		is_null;
		Datum		value = ExecEvalExpr((ExprState *) lfirst(cell), econtext,
										 &is_null);

		writer->values[i] = is_null ? NULL
			: OutputFunctionCall(&writer->output[i], value);
		i++;
	}
	rows_leave_transmission(nestlevel);
	MemoryContextSwitchTo(old);
}

/* The type of a table's row in this output column of a scan, or InvalidOid. */
static Oid
whole_row_type(ForeignScanState *node, int column)
{
	ForeignScan *plan = castNode(ForeignScan, node->ss.ps.plan);
	TargetEntry *entry = list_nth_node(TargetEntry, plan->fdw_scan_tlist,
									   column);
	Var		   *var = (Var *) entry->expr;
	RangeTblEntry *rte;

	if (!IsA(var, Var) || var->varattno != InvalidAttrNumber)
		return InvalidOid;
	rte = exec_rt_fetch(var->varno, node->ss.ps.state);
	return rte->rtekind == RTE_RELATION ? get_rel_type_id(rte->relid)
		: InvalidOid;
}

/*
 * The descriptor whose input functions read a join's rows.  A whole row has
 * its table's row type in place of RECORD, which has no input function.
 */
static TupleDesc
name_records(ForeignScanState *node)
{
	TupleDesc	tupdesc =
		CreateTupleDescCopy(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor);

	for (int i = 0; i < tupdesc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(tupdesc, i);
		Oid			type;

		if (attribute->atttypid != RECORDOID || attribute->atttypmod >= 0)
			continue;
		type = whole_row_type(node, i);
		if (OidIsValid(type))
			attribute->atttypid = type;
	}
	return tupdesc;
}

/* The decoders of an attribute's type, or NULL. */
static const FieldCodec *
find_codec(TupleDesc tupdesc, AttrNumber attno)
{
	return attno > 0 ? decode_find(TupleDescAttr(tupdesc, attno - 1)->atttypid)
		: NULL;
}

/* Makes a reader; input is the descriptor whose input functions are used. */
static RowReader *
make_reader(TupleDesc tupdesc, TupleDesc input, List *attrs,
			bool same_encoding, MemoryContext parent)
{
	RowReader  *reader = palloc0(sizeof(RowReader));
	ListCell   *cell;

	reader->tupdesc = tupdesc;
	reader->same_encoding = same_encoding;
	reader->input = TupleDescGetAttInMetadata(input);
	reader->columns = palloc0((list_length(attrs) + 1) * sizeof(RowColumn));
	foreach(cell, attrs)
	{
		RowColumn  *column = &reader->columns[reader->ncolumns++];

		column->attno = lfirst_int(cell);
		column->codec = find_codec(input, column->attno);
	}
	reader->values = palloc(tupdesc->natts * sizeof(Datum));
	reader->nulls = palloc(tupdesc->natts * sizeof(bool));
	reader->temp_context = AllocSetContextCreate(parent,
												 "tollfree_postgres_fdw row",
												 ALLOCSET_SMALL_SIZES);
	return reader;
}

/* A reader for the rows of a scan; rel is NULL unless it scans one table. */
RowReader *
rows_reader_for_scan(ForeignScanState *node, Relation rel, List *attrs,
					 bool same_encoding)
{
	TupleDesc	tupdesc = rel ? RelationGetDescr(rel)
		: node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	RowReader  *reader = make_reader(tupdesc, rel ? tupdesc : name_records(node),
									 attrs, same_encoding,
									 node->ss.ps.state->es_query_cxt);

	reader->node = node;
	reader->virtual = !castNode(ForeignScan, node->ss.ps.plan)->fsSystemCol &&
		!list_member_int(attrs, SelfItemPointerAttributeNumber);
	return reader;
}

/* A reader for rows of one table, outside of a scan. */
RowReader *
rows_reader_for_table(Relation rel, List *attrs, bool same_encoding,
					  MemoryContext parent)
{
	TupleDesc	tupdesc = RelationGetDescr(rel);
	RowReader  *reader = make_reader(tupdesc, tupdesc, attrs, same_encoding,
									 parent);

	reader->rel = rel;
	return reader;
}

/*
 * Finds the column being converted in the scan's range table, which has the
 * aliases that the user has written; false for an expression.
 */
static bool
find_scan_column(const RowReader *reader, RangeTblEntry **rte,
				 AttrNumber *attno)
{
	ForeignScan *plan = castNode(ForeignScan, reader->node->ss.ps.plan);
	Index		rtindex = plan->scan.scanrelid;

	*attno = reader->current;
	if (rtindex == 0)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, plan->fdw_scan_tlist,
										   reader->current - 1);
		Var		   *var = (Var *) entry->expr;

		if (!IsA(var, Var))
			return false;
		rtindex = var->varno;
		*attno = var->varattno;
	}
	*rte = exec_rt_fetch(rtindex, reader->node->ss.ps.state);
	return true;
}

/*
 * Adds to an error which column could not be converted.  Must not look anything
 * up: the transaction has failed.
 */
static void
conversion_context(void *arg)
{
	const RowReader *reader = arg;
	AttrNumber	attno = reader->current;
	const char *table = NULL;
	const char *column = NULL;
	RangeTblEntry *rte;

	if (reader->node == NULL)
	{
		table = RelationGetRelationName(reader->rel);
		if (attno > 0)
			column = NameStr(TupleDescAttr(reader->tupdesc, attno - 1)->attname);
	}
	else if (find_scan_column(reader, &rte, &attno))
	{
		table = rte->eref->aliasname;
		if (attno > 0 && attno <= list_length(rte->eref->colnames))
			column = strVal(list_nth(rte->eref->colnames, attno - 1));
	}
	if (attno == SelfItemPointerAttributeNumber)
		column = "ctid";

	if (table != NULL && column != NULL)
		errcontext("column \"%s\" of foreign table \"%s\"", column, table);
	else if (table != NULL && attno == InvalidAttrNumber)
		errcontext("whole-row reference to foreign table \"%s\"", table);
	else
		errcontext("processing expression at position %d in select list",
				   reader->current);
}

/*
 * Has a column of the result the local type and modifier?  Lengths in
 * characters are comparable only within one encoding.
 */
static bool
is_same_type(const RowReader *reader, const PGresult *res, int column)
{
	Form_pg_attribute attribute = TupleDescAttr(reader->tupdesc,
												reader->columns[column].attno - 1);
	bool		is_counted = attribute->atttypid == VARCHAROID ||
		attribute->atttypid == BPCHAROID;

	if (PQftype(res, column) != attribute->atttypid)
		return false;
	return attribute->atttypmod < 0 ||
		(PQfmod(res, column) == attribute->atttypmod &&
		 (!is_counted || reader->same_encoding));
}

/* Is a value being converted?  Its input function may have called any code. */
bool
rows_is_converting(const RowReader *reader)
{
	return reader->current != 0;
}

/*
 * Would these rows, which are text, be as short in binary format?  A small
 * integer has one digit and 4 bytes, a price 6 digits and 12 bytes.
 */
static bool
is_short_in_binary(const RowReader *reader, const PGresult *res)
{
	int64 text = 0,
				binary = 0;

	for (int row = 0; row < PQntuples(res); row++)
	{
		for (int i = 0; i < reader->ncolumns; i++)
		{
			int			length = PQgetlength(res, row, i);

			if (PQgetisnull(res, row, i))
				continue;
			text	  +=length;

			binary += decode_binary_length(reader->columns[i].codec,
										   PQgetvalue(res, row, i), length);
		}
		text	  +=ROW_HEADER + FIELD_HEADER * reader->ncolumns;

		binary += ROW_HEADER + FIELD_HEADER * reader->ncolumns;
	}
	return binary <= text *MOST_BINARY_BYTES;
}

/*
 * Should later rows be fetched in binary format, from a server of this
 * version?  Only if all columns can be decoded, text is slow for one, and these
 * rows would not be longer.
 */
bool
rows_prefer_binary(const RowReader *reader, const PGresult *res, int version)
{
	bool		gains = false;

	if (reader->ncolumns == 0 || reader->ncolumns != PQnfields(res))
		return false;
	for (int i = 0; i < reader->ncolumns; i++)
	{
		const FieldCodec *codec = reader->columns[i].codec;

		if (codec == NULL || !is_same_type(reader, res, i) ||
			!decode_is_same_binary(codec->type, version))
			return false;
		gains |= codec->text_is_slow;
	}
	return gains && is_short_in_binary(reader, res);
}

/*
 * Would binary format be faster for the columns, if their remote types are the
 * local ones?
 */
bool
rows_gain_from_binary(TupleDesc tupdesc, List *attrs)
{
	bool		gains = false;
	ListCell   *cell;

	foreach(cell, attrs)
	{
		const FieldCodec *codec = find_codec(tupdesc, lfirst_int(cell));

		if (codec == NULL)
			return false;
		gains |= codec->text_is_slow;
	}
	return gains;
}

/* Chooses how the columns of a result are decoded. */
static void
choose_decoders(RowReader *reader, const PGresult *res)
{
	/* A query for no columns has one NULL column. */
	if (reader->ncolumns > 0 &&
		reader->ncolumns + reader->nextra != PQnfields(res))
		elog(ERROR, "remote query result does not match the foreign table");

	for (int i = 0; i < reader->ncolumns; i++)
	{
		RowColumn  *column = &reader->columns[i];
		const FieldCodec *codec = column->codec;

		column->decode = NULL;
		if (codec == NULL)
			continue;
		if (PQfformat(res, i) == 1)
			column->decode = codec->binary;
		else if (TupleDescAttr(reader->tupdesc,
							   column->attno - 1)->atttypmod < 0 ||
				 is_same_type(reader, res, i))
			column->decode = codec->text;
	}
	reader->result = res;
}

/* Converts one field by the input function of its attribute. */
static Datum
input_field(RowReader *reader, AttrNumber attno, char *string)
{
	AttInMetadata *input = reader->input;

	return InputFunctionCall(&input->attinfuncs[attno - 1], string,
							 input->attioparams[attno - 1],
							 input->atttypmods[attno - 1]);
}

/*
 * Converts the columns of a row into the arrays, which have one element per
 * attribute.  Returns the ctid if there is one, else NULL.
 */
static ItemPointer
convert_columns(RowReader *reader, PGresult *res, int row, Datum *values,
				bool *nulls)
{
	ItemPointer ctid = NULL;

	for (int i = 0; i < reader->ncolumns; i++)
	{
		const RowColumn *column = &reader->columns[i];
		AttrNumber	attno = column->attno;
		bool		is_null = PQgetisnull(res, row, i);
		char	   *string = is_null ? NULL : PQgetvalue(res, row, i);

		reader->current = attno;
		if (attno == reader->ctid.attno && attno != 0 && !is_null)
		{
			ctid = ctids_read(&reader->ctid, string);
			if (attno > 0)
			{
				values[attno - 1] = PointerGetDatum(ctid);
				nulls[attno - 1] = false;
			}
		}
		else if (attno > 0)
		{
			nulls[attno - 1] = is_null;
			if (is_null && column->decode != NULL)
				continue;
			/* A null is converted too: a domain may refuse it. */
			if (column->decode == NULL ||
				!column->decode(string, PQgetlength(res, row, i),
								&values[attno - 1]))
			{
				if (!is_null && PQfformat(res, i) == 1)
					elog(ERROR, "unexpected length of a binary value");
				values[attno - 1] = input_field(reader, attno, string);
			}
		}
		else if (attno == SelfItemPointerAttributeNumber && string != NULL)
			ctid = (ItemPointer)
				DatumGetPointer(DirectFunctionCall1(tidin,
													CStringGetDatum(string)));
	}
	reader->current = 0;
	return ctid;
}

/*
 * Converts a row, in this context; the rows of a result in order.  The caller
 * frees the result after an error.
 */
static ItemPointer
convert_row(RowReader *reader, PGresult *res, int row, Datum *values,
			bool *nulls)
{
	ErrorContextCallback callback;
	ItemPointer ctid;

	if (row == 0 || res != reader->result)
		choose_decoders(reader, res);
	memset(values, 0, reader->tupdesc->natts * sizeof(Datum));
	memset(nulls, true, reader->tupdesc->natts * sizeof(bool));
	callback.callback = conversion_context;
	callback.arg = reader;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	ctid = convert_columns(reader, res, row, values, nulls);
	error_context_stack = callback.previous;
	return ctid;
}

/* Makes a tuple of one row, in this context. */
HeapTuple
rows_read(RowReader *reader, PGresult *res, int row)
{
	MemoryContext old = MemoryContextSwitchTo(reader->temp_context);
	ItemPointer ctid = convert_row(reader, res, row, reader->values,
								   reader->nulls);
	HeapTuple	tuple;

	MemoryContextSwitchTo(old);
	tuple = heap_form_tuple(reader->tupdesc, reader->values, reader->nulls);
	/* If the tuple becomes a composite value only t_ctid is kept. */
	if (ctid != NULL)
		tuple->t_self = tuple->t_data->t_ctid = *ctid;

	/*
	 * heap_form_tuple puts the header of a composite value into these fields,
	 * which would be read as those of a table's row.
	 */
	HeapTupleHeaderSetXmin(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetCmin(tuple->t_data, InvalidTransactionId);
	MemoryContextReset(reader->temp_context);
	return tuple;
}

/* Puts one row into the slot; its values are in this context. */
void
rows_store(RowReader *reader, PGresult *res, int row, TupleTableSlot *slot)
{
	if (!reader->virtual)
	{
		ExecStoreHeapTuple(rows_read(reader, res, row), slot, false);
		return;
	}
	ExecClearTuple(slot);
	(void) convert_row(reader, res, row, slot->tts_values, slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
}
