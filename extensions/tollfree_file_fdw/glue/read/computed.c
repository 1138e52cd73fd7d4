/*
 * computed.c
 *	  Columns that are not in a file: values of its path, and lines.
 *
 *		/data/year=2026/month=11/a.csv	file: all of it
 *			  ^^^^^^^^^					path: year is 2026, as its name is year
 *		^^^^^^^^^^^^^^^^^^^^^^^^^		path with a pattern: as substring() finds it
 *
 * Values are made by the input functions of their types, once for each file.  The
 * line is the one that an error in the row would name.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "read/computed.h"

/* What others write in a path where a value is null */
#define NULL_IN_PATH "__HIVE_DEFAULT_PARTITION__"

/* A value that is being made, for its error context. */
typedef struct MadeValue
{
	const char *path;
	const char *column;
} MadeValue;

/* Raises an ERROR if a column cannot have such values. */
static void
check_type(Form_pg_attribute attribute, ColumnOrigin origin)
{
	Oid			type = attribute->atttypid;
	bool		is_built_in = type < FirstNormalObjectId &&
		get_typtype(type) == TYPTYPE_BASE;

	if (origin == ORIGIN_LINE ? type == INT8OID || type == INT4OID : is_built_in)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("column \"%s\" cannot have values of its source",
					NameStr(attribute->attname)),
			 errhint(origin == ORIGIN_LINE ? "Lines are of type bigint or integer." :
					 "Its type must be one of PostgreSQL's own, such as text, integer or date.")));
}

/*
 * Prepares the columns of these numbers (Integer), of those that the options name;
 * NULL if there are none.  In the current memory context.
 */
ComputedColumns *
computed_open(Relation rel, const FileOptions *options, List *attnums)
{
	ComputedColumns *computed;
	int			count = list_length(attnums);
	ListCell   *cell;

	if (count == 0)
		return NULL;
	computed = palloc0(sizeof(ComputedColumns));
	computed->columns = palloc0(sizeof(ComputedColumn) * count);
	computed->functions = palloc0(sizeof(FmgrInfo) * count);
	computed->parameters = palloc0(sizeof(Oid) * count);
	computed->typmods = palloc0(sizeof(int32) * count);
	computed->values = palloc0(sizeof(Datum) * count);
	computed->isnull = palloc0(sizeof(bool) * count);
	computed->memory = AllocSetContextCreate(CurrentMemoryContext,
											 "tollfree_file_fdw path",
											 ALLOCSET_SMALL_SIZES);
	foreach(cell, options->computed)
	{
		const ComputedColumn *column = lfirst(cell);
		int			i = computed->ncolumns;
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													column->attnum - 1);
		Oid			function;

		if (!list_member_int(attnums, column->attnum))
			continue;
		check_type(attribute, column->origin);
		computed->columns[i] = *column;
		getTypeInputInfo(attribute->atttypid, &function,
						 &computed->parameters[i]);
		fmgr_info(function, &computed->functions[i]);
		computed->typmods[i] = attribute->atttypmod;
		computed->has_lines |= column->origin == ORIGIN_LINE;
		computed->ncolumns++;
	}
	return computed;
}

/* A part of a path, whose bytes may be given as %XX. */
static char *
decode_part(const char *from, size_t length)
{
	char	   *result = palloc(length + 1);
	char	   *to = result;

	for (const char *end = from + length; from < end; from++)
	{
		unsigned int byte;

		if (end - from > 2 && isxdigit((unsigned char) from[1]) &&
			isxdigit((unsigned char) from[2]) &&
			sscanf(from, "%%%2x", &byte) == 1 && byte != 0)
		{
			*to++ = byte;
			from += 2;
		}
		else
			*to++ = *from;
	}
	*to = '\0';
	return result;
}

/* The value of a name in the folders of a path; false if they have no such name. */
static bool
find_in_folders(const char *path, const char *name, char **value)
{
	size_t		length = strlen(name);
	bool		found = false;

	for (const char *at = path, *slash; (slash = strchr(at, '/')) != NULL;
		 at = slash + 1)
	{
		if (slash - at <= length || at[length] != '=' ||
			strncmp(at, name, length) != 0)
			continue;
		found = true;
		*value = decode_part(at + length + 1, slash - at - length - 1);
	}
	if (found && strcmp(*value, NULL_IN_PATH) == 0)
		*value = NULL;
	return found;
}

/* What a regular expression finds in a path, as substring() does; false if nothing. */
static bool
find_by_pattern(const char *path, const char *pattern, char **value)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, NULL, 2, DEFAULT_COLLATION_OID, NULL, NULL);
	fcinfo->args[0].value = CStringGetTextDatum(path);
	fcinfo->args[1].value = CStringGetTextDatum(pattern);
	fcinfo->args[0].isnull = fcinfo->args[1].isnull = false;
	result = textregexsubstr(fcinfo);
	if (fcinfo->isnull)
		return false;
	*value = TextDatumGetCString(result);
	return true;
}

/* The value of a column as text; NULL if it is null.  ERROR if the path has none. */
static char *
find_value(const ComputedColumn *column, const char *path)
{
	char	   *value = NULL;
	bool		found = true;

	if (column->origin == ORIGIN_FILE)
		value = pstrdup(path);
	else if (column->pattern != NULL)
		found = find_by_pattern(path, column->pattern, &value);
	else
		found = find_in_folders(path, column->name, &value);
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_ERROR),
				 errmsg("the path \"%s\" has no value of column \"%s\"", path,
						column->name),
				 column->pattern != NULL ?
				 errdetail("It does not match \"%s\".", column->pattern) :
				 errdetail("No folder in it is named \"%s=...\".", column->name),
				 errhint("Exclude the file in the table's option \"filenames\", or set the column's option \"pattern\".")));
	if (value != NULL)
		pg_verifymbstr(value, strlen(value), false);
	return value;
}

/* The error context of a value of a path. */
static void
report_value(void *arg)
{
	const MadeValue *made = arg;

	errcontext("column %s of file \"%s\"", made->column, made->path);
}

/* Sets the values of a file's path.  May raise the ERROR of an input function. */
void
computed_set_file(ComputedColumns *computed, const char *path)
{
	MemoryContext old = MemoryContextSwitchTo(computed->memory);
	MadeValue	made = {.path = path};
	ErrorContextCallback context = {
		.callback = report_value,
		.arg = &made,
		.previous = error_context_stack
	};

	MemoryContextReset(computed->memory);
	for (int i = 0; i < computed->ncolumns; i++)
	{
		const ComputedColumn *column = &computed->columns[i];
		char	   *value;

		if (column->origin == ORIGIN_LINE)
			continue;
		made.column = column->name;
		value = find_value(column, path);
		error_context_stack = &context;
		computed->values[i] = InputFunctionCall(&computed->functions[i], value,
												computed->parameters[i],
												computed->typmods[i]);
		error_context_stack = context.previous;
		computed->isnull[i] = value == NULL;
	}
	MemoryContextSwitchTo(old);
}

/*
 * Adds the values to a row in the slot, whose others are there or can be made.  They
 * last as long as the file is the present one.
 */
void
computed_store(const ComputedColumns *computed, TupleTableSlot *slot, int64 line)
{
	for (int i = 0; i < computed->ncolumns; i++)
	{
		int			at = computed->columns[i].attnum - 1;

		slot->tts_isnull[at] = computed->isnull[i];
		slot->tts_values[at] = computed->values[i];
		if (computed->columns[i].origin != ORIGIN_LINE)
			continue;
		slot->tts_values[at] =
			TupleDescAttr(slot->tts_tupleDescriptor, at)->atttypid == INT4OID ?
			Int32GetDatum((int32) line) : Int64GetDatum(line);
	}
}
