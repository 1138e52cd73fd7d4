/*
 * options.c
 *	  Options of foreign tables, and of their servers.
 *
 * file_fdw knows its options, their values and who may set them.  Most of them are
 * COPY's and are handed on to it.  This wrapper adds (validator.c checks them):
 *
 *	lazy	of a foreign table: values are not checked where a query
 *			references no column, and in rows that filters have ruled out
 *	record_index	of a foreign table or its server: whether a record index is kept
 *	column_cache	of a foreign table or its server: whether converted columns are
 *	append_only		of a foreign table: nothing that is in the file is changed
 *	compression		of a foreign table: see compression.c
 *	filenames		of a foreign table, in place of filename: a pattern, see paths.c
 *	columns		of such a table: 'by name', in place of 'by position'
 *	writable		of a foreign table: INSERT and COPY FROM append to the file
 *	format 'jsonl'	of a foreign table; path, rest of its columns: see json_columns.c
 *	skip_lines and others	of a foreign table: see record_options.c
 *	on_error, reject_limit, log_verbosity	of a foreign table, before 18: see
 *			error_options.c
 *	decimal_separator and others	of a column: see number_options.c
 *	source, pattern	of a column of such a table: what its values are made of, see
 *			computed.c
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compression.h"
#include "base/guc.h"
#include "base/json_columns.h"
#include "base/options.h"
#include "base/record_options.h"

/* The values of OPTION_SOURCE, in the order of ColumnOrigin */
static const char *const origins[] = {"file", "line", "path"};

/* Columns' options: the columns that have one are a list for COPY. */
static const char *const column_options[] = {"force_not_null", "force_null"};

/* The number of a source's name; ERROR if there is none of that name. */
ColumnOrigin
options_find_origin(const char *name)
{
	for (int i = 0; i < lengthof(origins); i++)
	{
		if (strcmp(name, origins[i]) == 0)
			return (ColumnOrigin) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"", OPTION_SOURCE, name),
			 errhint("Valid values are \"file\", \"line\" and \"path\".")));
}

/* Adds a column, if it has that option, to those that are not in the file. */
static void
add_computed(FileOptions *result, Form_pg_attribute attribute, List *options)
{
	ComputedColumn column = {.attnum = attribute->attnum};
	ComputedColumn *copy;
	bool		has_source = false;
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, OPTION_PATTERN) == 0)
			column.pattern = defGetString(option);
		if (strcmp(option->defname, OPTION_SOURCE) != 0)
			continue;
		column.origin = options_find_origin(defGetString(option));
		has_source = true;
	}
	if (!has_source)
		return;
	if (result->pattern == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("column \"%s\" has the option \"%s\", but its table reads one file",
						NameStr(attribute->attname), OPTION_SOURCE),
				 errhint("Set the table's option \"%s\" in place of \"filename\".",
						 OPTION_FILENAMES)));
	column.name = pstrdup(NameStr(attribute->attname));
	copy = palloc(sizeof(ComputedColumn));
	*copy = column;
	result->computed = lappend(result->computed, copy);
	result->computed_attnums = bms_add_member(result->computed_attnums,
											  column.attnum);
}

/* Adds the form of a column's numbers, if options say one. */
static void
add_form(FileOptions *result, Form_pg_attribute attribute, int nattributes,
		 List *options)
{
	const NumberForm *form = number_options_form(attribute, options);

	if (form == NULL)
		return;
	if (result->forms == NULL)
		result->forms = palloc0(sizeof(NumberForm *) * nattributes);
	result->forms[attribute->attnum - 1] = form;
}

/*
 * Reads the options of all columns.  Those that have one of COPY's are appended to
 * its options, as it wants to be told.
 */
static List *
read_columns(FileOptions *result, List *options, Relation rel, bool is_json)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *columns[lengthof(column_options)] = {NIL};

	for (AttrNumber attnum = 1; attnum <= desc->natts; attnum++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, attnum - 1);
		List	   *of_column;
		ListCell   *cell;

		if (attribute->attisdropped)
			continue;
		of_column = GetForeignColumnOptions(RelationGetRelid(rel), attnum);
		if (of_column != NIL)
		{
			add_computed(result, attribute, of_column);
			add_form(result, attribute, desc->natts, of_column);
		}
		if (!is_json)
			json_column_refuse(attribute, of_column);
		foreach(cell, of_column)
		{
			DefElem    *option = lfirst_node(DefElem, cell);

			for (int i = 0; i < lengthof(column_options); i++)
				if (strcmp(option->defname, column_options[i]) == 0 &&
					defGetBoolean(option))
					columns[i] = lappend(columns[i],
										 makeString(pstrdup(NameStr(attribute->attname))));
		}
	}
	for (int i = 0; i < lengthof(column_options); i++)
		if (columns[i] != NIL)
			options = lappend(options,
							  makeDefElem(pstrdup(column_options[i]),
										  (Node *) columns[i], -1));
	return options;
}

/*
 * Adds the client's encoding, which a file without that option has.  A worker
 * has another client, the leader, and of the leader's only what the setting says.
 */
static List *
append_leaders_encoding(List *options)
{
	const char *name = GetConfigOption("client_encoding", false, false);
	ListCell   *cell;

	foreach(cell, options)
	{
		if (strcmp(lfirst_node(DefElem, cell)->defname, "encoding") == 0)
			return options;
	}
	return lappend(options, makeDefElem("encoding",
										(Node *) makeString(pstrdup(name)),
										-1));
}

/* Are columns found by name?  ERROR if the value says neither yes nor no. */
bool
options_are_by_name(const char *value)
{
	if (strcmp(value, COLUMNS_BY_NAME) != 0 &&
		strcmp(value, COLUMNS_BY_POSITION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", OPTION_COLUMNS,
						value),
				 errhint("Valid values are \"%s\" and \"%s\".", COLUMNS_BY_NAME,
						 COLUMNS_BY_POSITION)));
	return strcmp(value, COLUMNS_BY_NAME) == 0;
}

/* What an option says, if it is one of what is kept of a file; else false. */
static bool
read_kept(FileOptions *result, DefElem *option)
{
	OptionChoice *choice;

	if (strcmp(option->defname, OPTION_RECORD_INDEX) == 0)
		choice = &result->record_index;
	else if (strcmp(option->defname, OPTION_COLUMN_CACHE) == 0)
		choice = &result->column_cache;
	else
		return false;
	*choice = defGetBoolean(option) ? OPTION_TRUE : OPTION_FALSE;
	return true;
}

/* Is it the option that the files are JSON Lines? */
static bool
is_json_format(DefElem *option)
{
	return strcmp(option->defname, "format") == 0 &&
		strcmp(defGetString(option), FORMAT_JSON_LINES) == 0;
}

/*
 * What COPY is told of JSON Lines, which it is given in text format: JSON is UTF-8
 * whatever the client's encoding is.
 */
static List *
append_json_encoding(List *options)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		if (strcmp(lfirst_node(DefElem, cell)->defname, "encoding") == 0)
			return options;
	}
	return lappend(options, makeDefElem("encoding",
										(Node *) makeString("UTF8"), -1));
}

/* Everything the options of a foreign table say. */
FileOptions
options_read(Oid relid)
{
	FileOptions result = {.filename = NULL};
	ForeignTable *table = GetForeignTable(relid);
	Relation	rel = table_open(relid, AccessShareLock);
	const char *compression = NULL;
	bool		is_json = false;
	ListCell   *cell;

	foreach(cell, GetForeignServer(table->serverid)->options)
		(void) read_kept(&result, lfirst_node(DefElem, cell));

	foreach(cell, table->options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, OPTION_LAZY) == 0)
			result.is_lazy = defGetBoolean(option);
		else if (read_kept(&result, option))
			continue;
		else if (is_json_format(option))
			is_json = true;
		else if (strcmp(option->defname, OPTION_APPEND_ONLY) == 0)
			result.is_append_only = defGetBoolean(option);
		else if (strcmp(option->defname, OPTION_WRITABLE) == 0)
			result.is_writable = defGetBoolean(option);
		else if (strcmp(option->defname, OPTION_COLUMNS) == 0)
			result.by_name = options_are_by_name(defGetString(option));
		else if (strcmp(option->defname, OPTION_COMPRESSION) == 0)
			compression = defGetString(option);
		else if (strcmp(option->defname, OPTION_FILENAMES) == 0)
			result.pattern = defGetString(option);
		else if (record_option_is(option->defname))
			record_option_read(&result.policy, option->defname,
							   defGetString(option));
		else if (strcmp(option->defname, "filename") == 0)
			result.filename = defGetString(option);
		else if (strcmp(option->defname, "program") == 0)
		{
			result.filename = defGetString(option);
			result.is_program = true;
		}
		else if (error_option_is(option->defname))
			error_option_read(&result.errors, option->defname,
							  defGetString(option));
		else
			result.copy = lappend(result.copy, option);
	}
	result.copy = list_concat(result.copy, error_options_for_copy(&result.errors));
	result.by_suffix = result.pattern != NULL;
	if (compression != NULL)
		result.compression = compression_parse(compression, &result.by_suffix);
	if (is_json)
		result.copy = append_json_encoding(result.copy);
	if (IsParallelWorker())
		result.copy = append_leaders_encoding(result.copy);
	result.format = list_copy(result.copy);
	result.copy = read_columns(&result, result.copy, rel, is_json);
	if (is_json)
		result.json = json_columns_read(relid, RelationGetDescr(rel),
										result.computed_attnums);
	table_close(rel, AccessShareLock);
	if (result.filename == NULL && result.pattern == NULL)
		elog(ERROR, "either filename or program is required for file_fdw foreign tables");
	return result;
}

/* May something that is in the file be left out, or added, and be told of? */
bool
options_leave_out(const FileOptions *options)
{
	return options->errors.ignores || policy_is_active(&options->policy);
}

/* Does a setting allow what an option says, or say it where no option does? */
static bool
is_kept(int setting, OptionChoice choice)
{
	return choice == OPTION_UNSET ? setting == KEEP_ALL :
		choice == OPTION_TRUE && setting != KEEP_NONE;
}

/* Why nothing is kept of what is read by such a policy. */
static const char *
unkept_policy_reason(const RecordPolicy *policy)
{
	return policy_divides(policy) || policy->skip_last_lines > 0 ?
		"the table's options leave out lines or fields" :
		"the table's options say how null strings or quotes are read";
}

/*
 * Why nothing can be kept of what is read, NULL if it can.  It would not say which rows
 * are left out, nor would skipped blocks how many.
 */
const char *
options_unkept_reason(const FileOptions *options)
{
	return options->is_program ? "the table reads the output of a program" :
		options->pattern != NULL ? "the table has many files" :
		options->json != NULL ? "the file is JSON Lines" :
		compression_is_possible(options) ? "the file is compressed" :
		options->forms != NULL ? "columns have options about numbers" :
		options->errors.ignores ? "the table's option on_error leaves out rows" :
		policy_is_active(&options->policy) ? unkept_policy_reason(&options->policy) :
		NULL;
}

/* Are converted columns of the file kept and used, if there is an index of it? */
bool
options_keep_columns(const FileOptions *options)
{
	return is_kept(setting_column_cache, options->column_cache) &&
		options_unkept_reason(options) == NULL;
}

/* Is a record index wanted, for its own sake or for columns, which need one? */
bool
options_want_index(const FileOptions *options)
{
	return options->record_index != OPTION_FALSE &&
		(is_kept(setting_record_index, options->record_index) ||
		 is_kept(setting_column_cache, options->column_cache));
}

/* Is a record index of the file kept and used? */
bool
options_keep_index(const FileOptions *options)
{
	return options_want_index(options) && options_unkept_reason(options) == NULL;
}

/*
 * Has COPY convert only the columns named, in the current memory context; NIL
 * stands for all.
 */
void
options_select_columns(FileOptions *options, List *columns)
{
	if (columns != NIL)
		options->copy = lappend(options->copy,
								makeDefElem("convert_selectively",
											(Node *) columns, -1));
}
