/*
 * arrays.c
 *	  A batch of an INSERT as one array for each column.
 *
 * Each parameter of a command costs the remote server about as much as a row,
 * and INSERT ... VALUES has one for each column of each row.  So a large batch
 * is sent by
 *
 *	INSERT INTO t(a, b) SELECT unnest($1::...[]), unnest($2::...[])
 *
 * where that has the same effect as VALUES with as many rows:
 *
 *	The remote columns have the local types.  Otherwise an element would be
 *	cast, where the column's own input function reads the text of a parameter.
 *	So the INSERT of one row is prepared and described: the types of its
 *	parameters are those of the columns.  They cannot change until the
 *	transaction ends, since batches that were inserted have locked the table.
 *
 *	The remote server accepts all values of the types, so reading an array does
 *	not fail.  The remote user may call unnest, and array_nulls is on there.
 *
 *	The command for as many rows has been executed ARRAYS_EXECUTIONS times with
 *	VALUES (writes.c).  From then on the remote server has a generic plan for
 *	it, which applies type modifiers row by row, as the SELECT does.  A custom
 *	plan does so for all rows before it inserts one, and so would report another
 *	of several rows that fail.
 *
 * Triggers, defaults and checks of the remote table cannot tell the two apart:
 * rows are inserted in their order, by as many commands.
 *
 * A parameter takes four bytes more than its text.  Numbers and intervals are
 * sent in text format, where an element takes one byte more than its text, or
 * three, and the others in binary format, which is at most as long as their text:
 * five int32 for dimensions (1), whether there are nulls, the elements' type,
 * their number, and the index of the first (1); then for each element its
 * length, -1 for a null, and its bytes.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type_d.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "modify/writes.h"
#include "session/prepared.h"
#include "session/session.h"
#include "sql/deparse.h"
#include "wire/decode.h"
#include "wire/rows.h"

#define HEADER_BYTES (5 * sizeof(int32))

/* Of a batch.  One of longer rows gains nothing. */
#define ARRAYS_BYTES_MAX (1024 * 1024)

/* The first version that has infinite numerics */
#define INFINITE_NUMERICS 140000

typedef enum ArraysPhase
{
	ARRAYS_UNDECIDED,			/* the remote types have been requested */
	ARRAYS_ACCEPTED,
	ARRAYS_REFUSED
} ArraysPhase;

typedef struct ArrayColumn
{
	AttrNumber	attno;
	Oid			type;
	int16		typlen;
	bool		is_text;		/* is the array sent in text format? */
	FmgrInfo	output;			/* of the type, if it is */
} ArrayColumn;

struct RowArrays
{
	Session    *session;
	ArraysPhase phase;
	const char *sql;			/* that inserts arrays */
	int			ncolumns;
	ArrayColumn *columns;
	char		row_statement[STATEMENT_NAME_SIZE]; /* described; never
													 * executed */
	char		statement[STATEMENT_NAME_SIZE]; /* "" until it is prepared */
};

/*
 * Does the remote server accept all values of the type?  Other versions may
 * not accept infinite intervals and numerics.  Another encoding may lack a
 * character of a text.
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

/* May the text of a value be shorter than its binary format? */
static bool
has_short_text(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case INTERVALOID:
			return true;
		default:
			return false;
	}
}

/*
 * Describes the columns that are written; false if decode.c does not support
 * the type of one, or the remote server does not accept all of its values.
 */
static bool
describe_columns(RowArrays *arrays, Relation rel, List *targets)
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
		if (codec == NULL || !is_common_type(codec, arrays->session))
			return false;
		column->attno = attribute->attnum;
		column->type = attribute->atttypid;
		column->typlen = attribute->attlen;
		column->is_text = has_short_text(column->type);
		getTypeOutputInfo(column->type, &function, &is_varlena);
		fmgr_info(function, &column->output);
		arrays->ncolumns++;
	}
	return arrays->ncolumns > 0;
}

/*
 * Makes what sends batches of the plan's rows as arrays, in this context, and
 * the command that requests the types of the remote columns.  NULL, and no
 * command, if the local types do not allow arrays.
 */
RowArrays *
arrays_request(Session *session, Relation rel, const ModifyPlan *plan,
			   RemoteCommand *command)
{
	RowArrays  *arrays = palloc0(sizeof(RowArrays));

	arrays->session = session;
	if (!describe_columns(arrays, rel, plan->targets))
		return NULL;
	arrays->sql = deparse_insert_arrays(plan, rel);
	*command = (RemoteCommand)
	{
		.sql = plan->sql,.shown = plan->sql,.prepare = true,.describes = true,
			.statement = prepared_next_name(session, arrays->row_statement)
	};
	return arrays;
}

/* Must the requested types be received before rows are made arrays? */
bool
arrays_are_undecided(const RowArrays *arrays)
{
	return arrays->phase == ARRAYS_UNDECIDED;
}

/* Has a batch been sent as arrays? */
bool
arrays_are_used(const RowArrays *arrays)
{
	return arrays->statement[0] != '\0';
}

/* Are the remote columns of the local types? */
static bool
have_local_types(const RowArrays *arrays)
{
	const Oid  *types = prepared_types(arrays->session, arrays->row_statement,
									   arrays->ncolumns);

	for (int i = 0; types != NULL && i < arrays->ncolumns; i++)
	{
		if (types[i] != arrays->columns[i].type)
			return false;
	}
	return types != NULL;
}

/* Decides whether arrays are sent.  The requested types have been received. */
static void
decide(RowArrays *arrays)
{
	bool		are_accepted = have_local_types(arrays) &&
		session_takes_arrays(arrays->session);

	prepared_deallocate_later(arrays->session, arrays->row_statement);
	arrays->phase = are_accepted ? ARRAYS_ACCEPTED : ARRAYS_REFUSED;
}

/* Appends an element in text format: the only one that needs quotes has no quote. */
static void
append_text(StringInfo array, ArrayColumn *column, Datum value)
{
	const char *quote = column->type == INTERVALOID ? "\"" : "";
	char	   *text = OutputFunctionCall(&column->output, value);

	appendStringInfoString(array, quote);
	appendStringInfoString(array, text);
	appendStringInfoString(array, quote);
	pfree(text);
}

/*
 * Appends the bytes of a value of variable length; false, and nothing, if they
 * are too long.
 */
static bool
append_varlena(StringInfo array, Datum value)
{
	struct varlena *packed;

	if (toast_raw_datum_size(value) > ARRAYS_BYTES_MAX)
		return false;
	packed = PG_DETOAST_DATUM_PACKED(value);
	pq_sendint32(array, VARSIZE_ANY_EXHDR(packed));
	appendBinaryStringInfoNT(array, VARDATA_ANY(packed),
							 VARSIZE_ANY_EXHDR(packed));
	if (PointerGetDatum(packed) != value)
		pfree(packed);
	return true;
}

/* Appends an element in binary format; false, and nothing, if it is too long. */
static bool
append_binary(StringInfo array, const ArrayColumn *column, Datum value)
{
	if (column->typlen < 0)
		return append_varlena(array, value);
	pq_sendint32(array, column->typlen);
	switch (column->typlen)
	{
		case sizeof(uint8):
			pq_sendint8(array, DatumGetUInt8(value));
			break;
		case sizeof(uint32):
			pq_sendint32(array, DatumGetUInt32(value));
			break;
		case sizeof(uint64):
			pq_sendint64(array, DatumGetInt64(value));
			break;
		default:
			Assert(column->type == UUIDOID);
			appendBinaryStringInfoNT(array, (char *) DatumGetUUIDP(value)->data,
									 UUID_LEN);
			break;
	}
	return true;
}

/* Appends the values of a column; false if the array is too long. */
static bool
append_values(StringInfo array, ArrayColumn *column, TupleTableSlot **slots,
			  int nrows, bool *has_nulls)
{
	*has_nulls = false;
	for (int i = 0; i < nrows; i++)
	{
		bool		is_null;
		Datum		value = slot_getattr(slots[i], column->attno, &is_null);

		*has_nulls |= is_null;
		if (column->is_text)
			appendStringInfoChar(array, i == 0 ? '{' : ',');
		if (is_null && column->is_text)
			appendStringInfoString(array, "NULL");
		else if (is_null)
			pq_sendint32(array, -1);
		else if (column->is_text)
			append_text(array, column, value);
		else if (!append_binary(array, column, value))
			return false;
		if (array->len > ARRAYS_BYTES_MAX)
			return false;
	}
	return true;
}

/* Makes a column's array, in this context; false if it is too long. */
static bool
make_array(StringInfo array, ArrayColumn *column, TupleTableSlot **slots,
		   int nrows)
{
	bool		has_nulls;

	initStringInfo(array);
	if (!column->is_text)
		array->len = HEADER_BYTES;
	if (!append_values(array, column, slots, nrows, &has_nulls))
		return false;
	if (column->is_text)
		appendStringInfoChar(array, '}');
	else
	{
		const uint32 header[] = {
			pg_hton32(1), pg_hton32(has_nulls ? 1 : 0),
			pg_hton32(column->type), pg_hton32(nrows), pg_hton32(1)
		};

		StaticAssertStmt(sizeof(header) == HEADER_BYTES, "size of the header");
		memcpy(array->data, header, sizeof(header));
	}
	return true;
}

/* Makes the parameters, in this context; false if they are too long. */
static bool
make_params(RowArrays *arrays, TupleTableSlot **slots, int nrows,
			RemoteCommand *execution)
{
	const char **params = palloc(arrays->ncolumns * sizeof(char *));
	int		   *lengths = palloc(arrays->ncolumns * sizeof(int));
	int		   *formats = palloc(arrays->ncolumns * sizeof(int));
	int			nestlevel = rows_enter_transmission(false);
	bool		fits = true;
	Size		bytes = 0;

	for (int i = 0; fits && i < arrays->ncolumns; i++)
	{
		StringInfoData array;

		fits = make_array(&array, &arrays->columns[i], slots, nrows);
		params[i] = array.data;
		lengths[i] = array.len;
		formats[i] = arrays->columns[i].is_text ? 0 : 1;
		bytes += array.len;
		fits = fits && bytes <= ARRAYS_BYTES_MAX;
	}
	rows_leave_transmission(nestlevel);
	execution->nparams = arrays->ncolumns;
	execution->params = params;
	execution->lengths = lengths;
	execution->formats = formats;
	return fits;
}

/*
 * Makes the commands that insert these rows as arrays, in this context, and
 * returns their number; 0 if the rows have to be sent in another way.  Errors
 * show the text of the command that they replace.
 */
int
arrays_make(RowArrays *arrays, TupleTableSlot **slots, int nrows,
			const char *shown, RemoteCommand *commands)
{
	RemoteCommand execution = {.shown = shown};

	if (arrays->phase == ARRAYS_UNDECIDED)
		decide(arrays);
	if (arrays->phase != ARRAYS_ACCEPTED)
		return 0;
	if (!make_params(arrays, slots, nrows, &execution))
	{
		arrays->phase = ARRAYS_REFUSED;
		return 0;
	}
	return prepared_make(arrays->session, arrays->statement, arrays->sql,
						 execution, commands);
}

/* Has the prepared statements dropped later. */
void
arrays_end(RowArrays *arrays)
{
	prepared_deallocate_later(arrays->session, arrays->row_statement);
	prepared_deallocate_later(arrays->session, arrays->statement);
}
