/*
 * json_columns.c
 *	  Columns of a table of JSON Lines files: where their values are in a line.
 *
 *	path	of a column: a JSON Pointer, '/user/name'; '' is all of the object.  Without
 *			it a column is the member of its name
 *	rest	of a column: an object of the members that no other column begins with
 *
 * Values become those of columns by the rules of json_populate_record: a column of
 * json or jsonb has the JSON value as it is; otherwise the input function of the type
 * is given the characters of a string, or else the JSON text.  But an object or array is
 * no value of an array or a composite type here.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/json_columns.h"

/* Is it an option of ours of columns of such tables? */
bool
json_option_is(const char *name)
{
	return strcmp(name, OPTION_PATH) == 0 || strcmp(name, OPTION_REST) == 0;
}

/* Raises an ERROR if an option cannot have that value. */
void
json_option_check(const char *name, const char *value)
{
	bool		is_rest;

	if (strcmp(name, OPTION_PATH) == 0 &&
		!json_path_is_valid(value, strlen(value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
				 errhint("Set it to a JSON Pointer, such as '/user/name' or '/tags/0', or to '' for all of the object; in a key ~1 stands for / and ~0 for ~.")));
	if (strcmp(name, OPTION_REST) == 0 && !parse_bool(value, &is_rest))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", name, value),
				 errhint("Valid values are \"true\" and \"false\".")));
}

/* Raises an ERROR if a column has one of these options, in a table of other files. */
void
json_column_refuse(Form_pg_attribute attribute, List *options)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		const char *name = lfirst_node(DefElem, cell)->defname;

		if (json_option_is(name))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("column \"%s\" has the option \"%s\", but its table's format is not \"jsonl\"",
							NameStr(attribute->attname), name),
					 errhint("Drop it, or set the table's option \"format\".")));
	}
}

/* The path of the member of a column's name. */
const char *
json_default_path(const char *column)
{
	StringInfoData path;

	initStringInfo(&path);
	appendStringInfoChar(&path, '/');
	for (; *column != '\0'; column++)
	{
		if (*column == '~' || *column == '/')
			appendStringInfo(&path, "~%c", *column == '~' ? '0' : '1');
		else
			appendStringInfoChar(&path, *column);
	}
	return path.data;
}

/* What a type makes of values. */
static JsonTake
type_take(Oid type)
{
	Oid			base = getBaseType(type);

	if (base == JSONOID || base == JSONBOID)
		return JSON_TAKE_JSON;
	return type_is_array(base) || type_is_rowtype(base) ?
		JSON_TAKE_SCALAR : JSON_TAKE_TEXT;
}

/* Where the values of a column are; ERROR if its options do not go together. */
static JsonField
describe_column(Form_pg_attribute attribute, List *options)
{
	JsonField	field = {.take = type_take(attribute->atttypid)};
	const char *path = NULL;
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, OPTION_PATH) == 0)
			path = pstrdup(defGetString(option));
		if (strcmp(option->defname, OPTION_REST) == 0)
			field.is_rest = defGetBoolean(option);
	}
	if (field.is_rest && path != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("column \"%s\" has both the options \"%s\" and \"%s\"",
						NameStr(attribute->attname), OPTION_PATH, OPTION_REST),
				 errhint("Drop one of them.")));
	if (field.is_rest && field.take == JSON_TAKE_SCALAR)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of type %s cannot have the option \"%s\"",
						NameStr(attribute->attname),
						format_type_be(attribute->atttypid), OPTION_REST),
				 errhint("Give it the type jsonb.")));
	if (path == NULL)
		path = field.is_rest ? "" : json_default_path(NameStr(attribute->attname));
	/* Keys are compared as they are in the file. */
	field.path = pg_server_to_any(path, strlen(path), PG_UTF8);
	field.path_length = strlen(field.path);
	return field;
}

/*
 * Where the values of all columns are that the files have: neither dropped nor
 * generated nor computed ones, in their order.  In the current memory context.
 */
JsonField *
json_columns_read(Oid relid, TupleDesc desc, const Bitmapset *computed)
{
	JsonField  *fields = palloc0(sizeof(JsonField) * Max(1, desc->natts));
	const char *rest = NULL;
	int			n = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		List	   *options;

		if (attribute->attisdropped)
			continue;
		options = GetForeignColumnOptions(relid, attribute->attnum);
		if (attribute->attgenerated ||
			bms_is_member(attribute->attnum, computed))
		{
			json_column_refuse(attribute, options);
			continue;
		}
		fields[n] = describe_column(attribute, options);
		if (fields[n].is_rest && rest != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
					 errmsg("columns \"%s\" and \"%s\" both have the option \"%s\"",
							rest, NameStr(attribute->attname), OPTION_REST),
					 errhint("Drop it from one of them.")));
		if (fields[n].is_rest)
			rest = NameStr(attribute->attname);
		n++;
	}
	return fields;
}
