/*
 * record.c
 *	  A row as a record of a file.
 *
 * Values are written as COPY TO writes them, and so that they are read again as the
 * same values: what would be taken for null, for a default or for a comment is
 * written in another form, and is an ERROR where there is none.  Records are made in
 * the server's encoding, in which COPY looks at their structure, too.
 *
 * Columns that are not in the file, which are generated ones, are left out.
 */
#include "postgres.h"

#include "catalog/pg_attribute.h"
#include "commands/copy.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "nodes/value.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/format.h"
#include "core/skip.h"
#include "write/record.h"

/* A column of the file */
typedef struct WrittenColumn
{
	AttrNumber	attnum;
	const char *name;
	bool		is_first;
	bool		force_null;		/* is a quoted null string null, too? */
	bool		force_not_null; /* is an unquoted one none? */
	FmgrInfo	output;
} WrittenColumn;

struct RecordWriter
{
	bool		is_csv;
	char		delimiter;
	char		quote;			/* CSV only, as the next */
	char		escape;
	const char *null;			/* the null string */
	const char *default_string; /* what stands for a default, or NULL */
	RecordPolicy policy;
	int			encoding;		/* of the file */
	int			ncolumns;
	WrittenColumn *columns;
	MemoryContext memory;		/* of a row's texts */
};

/* Names a column that a list of COPY's, of this name, has. */
static bool
is_listed(const List *options, const char *list, const char *column)
{
	const ListCell *cell;
	const ListCell *name;

	foreach(cell, options)
	{
		const DefElem *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, list) != 0 || !IsA(option->arg, List))
			continue;
		foreach(name, (const List *) option->arg)
		{
			if (strcmp(strVal(lfirst(name)), column) == 0)
				return true;
		}
	}
	return false;
}

/* The columns of a table that are in its file. */
static void
find_columns(RecordWriter *writer, Relation rel, const FileOptions *options)
{
	TupleDesc	desc = RelationGetDescr(rel);

	writer->columns = palloc0(sizeof(WrittenColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		WrittenColumn *column = &writer->columns[writer->ncolumns];
		Oid			output;
		bool		is_varlena;

		if (attribute->attisdropped || attribute->attgenerated != '\0')
			continue;
		column->attnum = attribute->attnum;
		column->name = pstrdup(NameStr(attribute->attname));
		column->is_first = writer->ncolumns == 0;
		column->force_null = is_listed(options->copy, "force_null", column->name);
		column->force_not_null = is_listed(options->copy, "force_not_null",
										   column->name);
		getTypeOutputInfo(attribute->atttypid, &output, &is_varlena);
		fmgr_info(output, &column->output);
		writer->ncolumns++;
	}
}

/*
 * Makes what writes rows of a table, which has these options.  It lives as long as the
 * current memory context.
 */
RecordWriter *
record_writer_make(Relation rel, const FileOptions *options)
{
	RecordWriter *writer = palloc0(sizeof(RecordWriter));
	CopyFormatOptions format = {0};

	ProcessCopyOptions(NULL, &format, true, options->format);
	writer->is_csv = compat_is_csv(&format);
	writer->delimiter = format.delim[0];
	writer->quote = writer->is_csv ? format.quote[0] : '\0';
	writer->escape = writer->is_csv ? format.escape[0] : '\0';
	writer->null = format.null_print;
	writer->default_string = compat_default_string(&format);
	writer->policy = options->policy;
	writer->encoding = format_encoding(options);
	if (!PG_VALID_BE_ENCODING(writer->encoding))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot write a file in encoding \"%s\"",
						pg_encoding_to_char(writer->encoding)),
				 errhint("Set the option \"encoding\" of the foreign table to one that a database can have.")));
	find_columns(writer, rel, options);
	writer->memory = AllocSetContextCreate(CurrentMemoryContext, "row of a file",
										   ALLOCSET_DEFAULT_SIZES);
	return writer;
}

/* The quote of a CSV file; a zero byte of a text file. */
char
record_writer_quote(const RecordWriter *writer)
{
	return writer->quote;
}

/* Would COPY take a line, without its end, for the end of the data? */
bool
record_writer_is_marker(const RecordWriter *writer, const char *line, size_t length)
{
	return length == 2 && line[0] == '\\' && line[1] == '.' &&
		(!writer->is_csv || COMPAT_MARKER_IN_CSV);
}

/* Raises the ERROR of a value that would be read as another one. */
static void
report_value(const WrittenColumn *column, const char *read_as)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("a value of column \"%s\" cannot be written: it would be read as %s",
					column->name, read_as),
			 errhint("Set other options of the foreign table, or write another value.")));
}

/* Appends a character of a text file as COPY reads it back. */
static void
put_escaped(const RecordWriter *writer, char c, StringInfo bytes)
{
	static const char escaped[] = "\b\f\n\r\t\v\\";
	static const char letters[] = "bfnrtv\\";
	const char *found = c == '\0' ? NULL : strchr(escaped, c);

	if (found != NULL || c == writer->delimiter)
		appendStringInfoChar(bytes, '\\');
	appendStringInfoChar(bytes, found != NULL ? letters[found - escaped] : c);
}

/* Does a string stand for null? */
static bool
is_null_string(const RecordWriter *writer, const char *string)
{
	return strcmp(string, writer->null) == 0 ||
		policy_has_null(&writer->policy, string, strlen(string));
}

/* Would what is written of a value be taken for null, a default or a comment? */
static bool
is_misread(const RecordWriter *writer, const WrittenColumn *column, const char *raw)
{
	return is_null_string(writer, raw) ||
		(writer->default_string != NULL && strcmp(raw, writer->default_string) == 0) ||
		(column->is_first && skip_may_match(&writer->policy, (const unsigned char *) raw,
											strlen(raw)));
}

/*
 * Appends a value of a text file.  What would be taken for something else begins with
 * an octal number.
 */
static void
put_text(const RecordWriter *writer, const WrittenColumn *column, const char *value,
		 StringInfo bytes)
{
	int			begin = bytes->len;

	for (const char *c = value; *c != '\0'; c++)
		put_escaped(writer, *c, bytes);
	if (!is_misread(writer, column, bytes->data + begin))
		return;
	if (*value == '\0')
		report_value(column, is_null_string(writer, "") ? "null" :
					 "the default");
	bytes->len = begin;
	if (IS_HIGHBIT_SET(*value))
		appendStringInfo(bytes, "\\%c", *value);
	else
		appendStringInfo(bytes, "\\%03o", (unsigned char) *value);
	for (const char *c = value + 1; *c != '\0'; c++)
		put_escaped(writer, *c, bytes);
}

/* Has a value of a CSV file to be quoted? */
static bool
needs_quotes(const RecordWriter *writer, const WrittenColumn *column,
			 const char *value)
{
	if (is_null_string(writer, value))
		return !column->force_not_null;
	if (writer->default_string != NULL && strcmp(value, writer->default_string) == 0)
		return true;

	/*
	 * The marker of the data's end, and what is left out if a line begins
	 * with it
	 */
	if (strcmp(value, "\\.") == 0 ||
		(column->is_first && policy_skips_lines(&writer->policy)))
		return true;
	for (; *value != '\0'; value++)
	{
		if (*value == writer->delimiter || *value == writer->quote ||
			*value == '\n' || *value == '\r')
			return true;
	}
	return false;
}

/* Appends a value of a CSV file. */
static void
put_csv(const RecordWriter *writer, const WrittenColumn *column, const char *value,
		StringInfo bytes)
{
	if (!needs_quotes(writer, column, value))
	{
		appendStringInfoString(bytes, value);
		return;
	}
	if (column->force_null && is_null_string(writer, value))
		report_value(column, "null");
	appendStringInfoChar(bytes, writer->quote);
	for (; *value != '\0'; value++)
	{
		if (*value == writer->quote || *value == writer->escape)
			appendStringInfoChar(bytes, writer->escape);
		appendStringInfoChar(bytes, *value);
	}
	appendStringInfoChar(bytes, writer->quote);
}

/* Appends a value, or NULL for null. */
static void
put_value(const RecordWriter *writer, const WrittenColumn *column, const char *value,
		  StringInfo bytes)
{
	if (!column->is_first)
		appendStringInfoChar(bytes, writer->delimiter);
	if (value == NULL && column->force_not_null)
		report_value(column, "the null string");
	if (value == NULL)
		appendStringInfoString(bytes, writer->null);
	else if (writer->is_csv)
		put_csv(writer, column, value, bytes);
	else
		put_text(writer, column, value, bytes);
}

/* Appends a line's end; UNKNOWN is that of Unix. */
void
record_writer_put_line_end(LineEnd line_end, StringInfo bytes)
{
	if (line_end == LINE_END_CR || line_end == LINE_END_CRNL)
		appendStringInfoChar(bytes, '\r');
	if (line_end != LINE_END_CR)
		appendStringInfoChar(bytes, '\n');
}

/* Raises an ERROR if what begins here would be left out when it is read. */
static void
check_skipped(const RecordWriter *writer, const char *record, size_t length)
{
	static const char mark[] = "\xEF\xBB\xBF";

	if (skip_may_match(&writer->policy, (const unsigned char *) record, length) ||
		(writer->policy.skip_mark && strncmp(record, mark, strlen(mark)) == 0))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("a row cannot be written: its line would be left out when it is read"),
				 errdetail("The options of the foreign table leave out lines that begin so."),
				 errhint("Set other options of the foreign table.")));
}

/* Appends a record, which was made in the server's encoding, in the file's. */
static void
put_converted(const RecordWriter *writer, const StringInfoData *record,
			  StringInfo bytes)
{
	const char *converted = pg_server_to_any(record->data, record->len,
											 writer->encoding);

	appendBinaryStringInfo(bytes, converted,
						   converted == record->data ? record->len :
						   (int) strlen(converted));
}

/* Appends a row to the bytes that go to the file. */
void
record_writer_put(RecordWriter *writer, TupleTableSlot *slot, LineEnd line_end,
				  StringInfo bytes)
{
	MemoryContext old = MemoryContextSwitchTo(writer->memory);
	StringInfoData record;

	initStringInfo(&record);
	slot_getallattrs(slot);
	for (int i = 0; i < writer->ncolumns; i++)
	{
		WrittenColumn *column = &writer->columns[i];
		int			place = column->attnum - 1;

		put_value(writer, column, slot->tts_isnull[place] ? NULL :
				  OutputFunctionCall(&column->output, slot->tts_values[place]),
				  &record);
	}
	record_writer_put_line_end(line_end, &record);
	check_skipped(writer, record.data, record.len);
	put_converted(writer, &record, bytes);
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->memory);
}

/* Appends a header of the columns' names. */
void
record_writer_put_header(const RecordWriter *writer, LineEnd line_end,
						 StringInfo bytes)
{
	StringInfoData record;

	initStringInfo(&record);
	for (int i = 0; i < writer->ncolumns; i++)
	{
		WrittenColumn column = writer->columns[i];

		column.force_null = column.force_not_null = false;
		put_value(writer, &column, column.name, &record);
	}
	record_writer_put_line_end(line_end, &record);
	check_skipped(writer, record.data, record.len);
	put_converted(writer, &record, bytes);
	pfree(record.data);
}
