/*
 * rejects.c
 *	  The records of a table's files that are no rows of it, and why.
 *
 * What on_error 'ignore' leaves out is told of in a NOTICE, by the values at most.
 * Here all of a file is read by COPY's parser, value by value, and each record is
 * returned that it would leave out, or for which it would raise an error: with its
 * file, its line, its text and the first reason.  The table need not have that option.
 *
 * A file whose records cannot be told apart is an error here, too.
 */
#include "postgres.h"

#include "access/table.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/format.h"
#include "base/paths.h"
#include "read/copy.h"
#include "read/header.h"
#include "read/json_feed.h"
#include "read/values.h"
#include "readable.h"

/* Columns of tollfree_file_fdw_rejects */
#define REJECTS_COLUMNS 5

COMPAT_SQL_FUNCTION(tollfree_file_fdw_rejects);

/* Why a record is no row */
typedef struct Reject
{
	const char *column;			/* the one to blame, or NULL */
	const char *reason;
} Reject;

/* Is a line of JSON a record?  Else says why not. */
static bool
is_json_record(const OpenFile *file, Reject *reject)
{
	const JsonReject *last = json_feed_last(file->feed);

	reject->column = last->column;
	reject->reason = last->reason;
	return last->reason == NULL;
}

/* Looks at a record; returns whether it is a row, else why not. */
static bool
is_row(OpenFile *file, char **fields, int nfields, Reject *reject)
{
	CopyFromState copy = file->copy;
	TupleDesc	desc = RelationGetDescr(copy->rel);
	int			field = 0;
	ListCell   *cell;

	*reject = (Reject)
	{
		NULL
	};
	if (file->feed != NULL && !is_json_record(file, reject))
		return false;
	foreach(cell, copy->attnumlist)
	{
		int			i = lfirst_int(cell) - 1;
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		reject->column = NameStr(attribute->attname);
		if (field >= nfields)
		{
			reject->reason = psprintf("missing data for column \"%s\"",
									  reject->column);
			return false;
		}
		if (!compat_take_default(copy, i))
			reject->reason = values_find_refusal(file, i, fields[field]);
		if (reject->reason != NULL)
			return false;
		field++;
	}
	reject->column = NULL;
	if (field < nfields)
		reject->reason = "extra data after last expected column";
	return reject->reason == NULL;
}

/* Returns a record that is no row. */
static void
put_reject(ReturnSetInfo *result, const OpenFile *file, const Reject *reject)
{
	const CopyFromStateData *copy = file->copy;
	const char *text = copy->line_buf.data;
	size_t		length = copy->line_buf.len;
	Datum		values[REJECTS_COLUMNS];
	bool		nulls[REJECTS_COLUMNS] = {false};

	if (file->feed != NULL)
	{
		const JsonReject *last = json_feed_last(file->feed);

		text = pg_any_to_server(last->line, last->length, PG_UTF8);
		length = text == last->line ? last->length : strlen(text);
	}
	values[0] = CStringGetTextDatum(file->filename);
	values[1] = Int64GetDatum(copy_line(file));
	nulls[2] = reject->column == NULL;
	values[2] = nulls[2] ? (Datum) 0 : CStringGetTextDatum(reject->column);
	values[3] = CStringGetTextDatum(reject->reason);
	values[4] = PointerGetDatum(cstring_to_text_with_len(text, length));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Returns the records of a file that are no rows. */
static void
read_file(ReturnSetInfo *result, Relation rel, const FileOptions *options)
{
	OpenFile   *file = file_open(rel, options, format_encoding(options), NULL);
	MemoryContext record = AllocSetContextCreate(CurrentMemoryContext,
												 "record of a file",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = CurrentMemoryContext;
	char	  **fields;
	int			nfields;

	if (compat_is_binary(&file->copy->opts))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot look for rejected records of file \"%s\": its format is binary",
						options->filename)));
	if (file->feed != NULL)
		json_feed_collect(file->feed);
	while (copy_next_fields(file, &fields, &nfields))
	{
		Reject		reject;

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(record);
		if (!is_row(file, fields, nfields, &reject))
			put_reject(result, file, &reject);
		MemoryContextSwitchTo(old);
		MemoryContextReset(record);
	}
	MemoryContextDelete(record);
	file_close(file);
}

/* The records of all files of a table that are no rows of it. */
Datum
tollfree_file_fdw_rejects(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel = readable_open(PG_GETARG_OID(0));
	FileOptions options = options_read(RelationGetRelid(rel));
	FilePaths	paths = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (options.pattern != NULL)
		paths = paths_find(options.pattern, false);
	else
		read_file(result, rel, &options);
	for (int i = 0; i < paths.count; i++)
	{
		FileOptions one = options;

		one.filename = paths.names[i];
		if (options.by_name)
			one = header_options(rel, &options, format_encoding(&options),
								 paths.names[i]);
		read_file(result, rel, &one);
	}
	table_close(rel, AccessShareLock);
	return (Datum) 0;
}
