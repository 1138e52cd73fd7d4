/*
 * arrays.c
 *	  Rows to be inserted as one array for each column.
 *
 * Binding and executing an INSERT costs the remote server more than inserting
 * the row.  So thousands of rows are sent with one
 *
 *	INSERT INTO t(a, b) SELECT unnest($1::...[]), unnest($2::...[])
 *
 * with arrays in binary format, where the owner of the foreign table allows
 * it by the option insert_arrays: triggers and the like on the remote table
 * can distinguish one command of many rows from many commands.
 *
 * The remote columns must have the local types: otherwise elements of an
 * array would be cast, where the column's own input function reads the text
 * of single rows.  So the INSERT of one row is described when it is prepared.
 * The types of its parameters are those of the columns.  They cannot change
 * until the transaction ends, since the INSERT has locked the table.
 *
 * The rows are inserted in their order.  The first one that fails ends the
 * command, as it would end a sequence of commands.
 *
 * An array in binary format is five int32: dimensions (1), whether there are
 * nulls, the elements' type, their number, and the index of the first (1);
 * then for each element its length, -1 for a null, and its bytes.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "modify/writes.h"
#include "session/prepared.h"
#include "session/questions.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "wire/decode.h"

#define HEADER_BYTES (5 * sizeof(int32))

/* The first version that has infinite numerics */
#define INFINITE_NUMERICS 140000

typedef struct ArrayColumn
{
	AttrNumber	attno;
	Oid			type;
	int16		typlen;
	bool		typbyval;
	bool		is_bytes;		/* is the binary format the value's bytes? */
	bool		has_nulls;
	FmgrInfo	send;			/* the type's send function */
	StringInfoData data;		/* the array, its header to be filled in */
} ArrayColumn;

struct RowArrays
{
	const char *sql;			/* that inserts the arrays */
	const char *shown;			/* the INSERT of one row, for error messages */
	int			nrows;			/* 0 once taken */
	int			ncolumns;
	ArrayColumn *columns;
	const char **params;
	int		   *lengths;
	int		   *formats;
	MemoryContext row_context;
	char		statement[STATEMENT_NAME_SIZE];
};

/*
 * Does the remote server accept all values of the type?  Other versions may
 * not accept infinite intervals and numerics.  Another encoding may lack a
 * character of a text.  Such a value would fail when the array is read, before
 * the rows in front of it are inserted.
 */
static bool
is_common_type(const FieldCodec *codec, const Session *session)
{
	int			version = PQserverVersion(session->conn);

	if (codec->is_bytes && codec->type != BYTEAOID)
		return session->remote.same_encoding;
	if (codec->type == NUMERICOID)
		return version >= INFINITE_NUMERICS;
	return decode_is_same_binary(codec->type, version);
}

/*
 * Describes the columns that are written; false if decode.c does not support
 * the type of one, or the remote server does not accept all of its values.
 */
static bool
describe_columns(RowArrays *arrays, Relation rel, List *targets,
				 const Session *session)
{
	ListCell   *cell;

	arrays->columns = palloc0((list_length(targets) + 1) * sizeof(ArrayColumn));
	foreach(cell, targets)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													lfirst_int(cell) - 1);
		const FieldCodec *codec = decode_find(attribute->atttypid);
		ArrayColumn *column = &arrays->columns[arrays->ncolumns];
		Oid			function;
		bool		is_varlena;

		if (attribute->attgenerated)
			continue;
		if (codec == NULL || !is_common_type(codec, session))
			return false;
		column->attno = attribute->attnum;
		column->type = attribute->atttypid;
		column->typlen = attribute->attlen;
		column->typbyval = attribute->attbyval;
		column->is_bytes = codec->is_bytes;
		getTypeBinaryOutputInfo(column->type, &function, &is_varlena);
		fmgr_info(function, &column->send);
		initStringInfo(&column->data);
		arrays->ncolumns++;
	}
	return arrays->ncolumns > 0;
}

/*
 * Makes empty arrays, in this context; NULL if the local types do not allow
 * arrays, or there is a remote statement_timeout: inserting all rows of an
 * array may exceed it, where each single row does not.
 */
RowArrays *
arrays_create(Session *session, Relation rel, const ModifyPlan *plan)
{
	RowArrays  *arrays = palloc0(sizeof(RowArrays));

	if (questions_has_timeout(session) ||
		!describe_columns(arrays, rel, plan->targets, session))
		return NULL;
	arrays->sql = deparse_insert_arrays(plan, rel);
	arrays->shown = plan->sql;
	arrays->params = palloc(arrays->ncolumns * sizeof(char *));
	arrays->lengths = palloc(arrays->ncolumns * sizeof(int));
	arrays->formats = palloc(arrays->ncolumns * sizeof(int));
	arrays->row_context = AllocSetContextCreate(CurrentMemoryContext,
												"tollfree_postgres_fdw array",
												ALLOCSET_SMALL_SIZES);
	return arrays;
}

/* Are these, one for each parameter of a row, the local columns' types? */
bool
arrays_are_of(const RowArrays *arrays, const Oid *types)
{
	for (int i = 0; i < arrays->ncolumns; i++)
	{
		if (types[i] != arrays->columns[i].type)
			return false;
	}
	return true;
}

/*
 * Appends an element that is passed by value: a number, in network byte order.
 */
static void
append_number(ArrayColumn *column, Datum value)
{
	StringInfo	data = &column->data;

	pq_sendint32(data, column->typlen);
	switch (column->typlen)
	{
		case sizeof(uint8):
			pq_sendint8(data, (uint8) value);
			break;
		case sizeof(uint16):
			pq_sendint16(data, (uint16) value);
			break;
		case sizeof(uint32):
			pq_sendint32(data, (uint32) value);
			break;
		default:
			pq_sendint64(data, (uint64) value);
			break;
	}
}

/* Appends an element, which is not null. */
static void
append_element(ArrayColumn *column, Datum value)
{
	struct varlena *bytes;

	if (column->typbyval)
	{
		append_number(column, value);
		return;
	}
	bytes = column->is_bytes ? PG_DETOAST_DATUM_PACKED(value)
		: SendFunctionCall(&column->send, value);
	pq_sendint32(&column->data, VARSIZE_ANY_EXHDR(bytes));
	appendBinaryStringInfoNT(&column->data, VARDATA_ANY(bytes),
							 VARSIZE_ANY_EXHDR(bytes));
}

/* Empties the arrays, and leaves room for their headers. */
static void
reset(RowArrays *arrays)
{
	for (int i = 0; i < arrays->ncolumns; i++)
	{
		ArrayColumn *column = &arrays->columns[i];

		resetStringInfo(&column->data);
		enlargeStringInfo(&column->data, HEADER_BYTES);
		column->data.len = HEADER_BYTES;
		column->has_nulls = false;
	}
}

/* Adds a row; returns the bytes of all arrays. */
Size
arrays_add(RowArrays *arrays, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(arrays->row_context);
	Size		bytes = 0;

	if (arrays->nrows == 0)
		reset(arrays);
	for (int i = 0; i < arrays->ncolumns; i++)
	{
		ArrayColumn *column = &arrays->columns[i];
		bool		is_null;
		Datum		value = slot_getattr(slot, column->attno, &is_null);

		if (is_null)
			pq_sendint32(&column->data, -1);
		else
			append_element(column, value);
		column->has_nulls |= is_null;
		bytes += column->data.len;
	}
	arrays->nrows++;
	MemoryContextReset(arrays->row_context);
	MemoryContextSwitchTo(old);
	return bytes;
}

/* Fills in the header of an array. */
static void
write_header(ArrayColumn *column, int nrows)
{
	const uint32 header[] = {
		pg_hton32(1), pg_hton32(column->has_nulls ? 1 : 0),
		pg_hton32(column->type), pg_hton32(nrows), pg_hton32(1)
	};

	StaticAssertStmt(sizeof(header) == HEADER_BYTES, "size of the header");
	memcpy(column->data.data, header, sizeof(header));
}

/*
 * Makes the commands that insert the rows added, valid until the next row is.
 * Returns the number of commands, 0 if there are no rows; sets that of rows.
 */
int
arrays_take(RowArrays *arrays, Session *session, RemoteCommand *commands,
			int *nrows)
{
	RemoteCommand execution = {
		.shown = arrays->shown,.nparams = arrays->ncolumns,
		.params = arrays->params,.lengths = arrays->lengths,
		.formats = arrays->formats
	};

	*nrows = arrays->nrows;
	if (arrays->nrows == 0)
		return 0;
	for (int i = 0; i < arrays->ncolumns; i++)
	{
		ArrayColumn *column = &arrays->columns[i];

		write_header(column, arrays->nrows);
		arrays->params[i] = column->data.data;
		arrays->lengths[i] = column->data.len;
		arrays->formats[i] = 1;
	}
	arrays->nrows = 0;
	return writes_by_statement(session, arrays->statement, arrays->sql, false,
							   execution, commands);
}

/* Has the prepared statement dropped later, if there is one. */
void
arrays_end(RowArrays *arrays, Session *session)
{
	prepared_deallocate_later(session, arrays->statement);
}
