/*
 * options.c
 *	  Options of foreign tables, and of their servers.
 *
 * file_fdw knows its options, their values and who may set them; its own
 * validator checks them.  Most of them are COPY's and are handed on to it.
 * Here only those are checked that this wrapper adds:
 *
 *	lazy	of a foreign table: values are not checked where a query
 *			references no column, and in rows that filters have ruled out
 *	record_index	of a foreign table or its server: whether a record index is kept
 *	column_cache	of a foreign table or its server: whether converted columns are
 *	append_only		of a foreign table: nothing that is in the file is changed
 *	compression		of a foreign table: see compression.c
 *	filenames		of a foreign table, in place of filename: a pattern, see paths.c
 *	columns		of such a table: 'by name', in place of 'by position'
 *	skip_lines and others	of a foreign table: see record_options.c
 *	source, pattern	of a column of such a table: what its values are made of, see
 *			computed.c
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/compression.h"
#include "base/guc.h"
#include "base/option_hint.h"
#include "base/options.h"
#include "base/record_options.h"

#define OPTION_LAZY "lazy"
#define OPTION_APPEND_ONLY "append_only"
#define OPTION_COLUMNS "columns"
#define OPTION_FILENAMES "filenames"

/* The values of OPTION_COLUMNS */
#define COLUMNS_BY_NAME "by name"
#define COLUMNS_BY_POSITION "by position"

/* Of a column */
#define OPTION_SOURCE "source"
#define OPTION_PATTERN "pattern"

/* The values of OPTION_SOURCE, in the order of ColumnOrigin */
static const char *const origins[] = {"file", "line", "path"};

COMPAT_SQL_FUNCTION(tollfree_file_fdw_validator);

static const char *const our_options[] = {
	OPTION_APPEND_ONLY, OPTION_BLANK_LINES, OPTION_BYTE_ORDER_MARK,
	OPTION_COLUMN_CACHE, OPTION_COLUMNS, OPTION_COMMENT, OPTION_COMPRESSION,
	OPTION_EXTRA_FIELDS, OPTION_FILENAMES, OPTION_LAZY, OPTION_MISSING_FIELDS,
	OPTION_RECORD_INDEX, OPTION_SKIP_LINES
};

/* Is this an option that file_fdw does not have? */
static bool
is_ours(const char *name)
{
	for (int i = 0; i < lengthof(our_options); i++)
	{
		if (strcmp(name, our_options[i]) == 0)
			return true;
	}
	return false;
}

/* Those of a server, for its tables */
static const char *const server_options[] = {
	OPTION_COLUMN_CACHE, OPTION_RECORD_INDEX
};

/* Is this one of ours of a server? */
static bool
is_of_server(const char *name)
{
	for (int i = 0; i < lengthof(server_options); i++)
	{
		if (strcmp(name, server_options[i]) == 0)
			return true;
	}
	return false;
}

/* The name of the first option that file_fdw does not have, or NULL. */
const char *
option_find_ours(List *options)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		const char *name = lfirst_node(DefElem, cell)->defname;

		if (is_ours(name))
			return name;
	}
	return NULL;
}

/* Is it one of ours of a column? */
static bool
is_of_column(const char *name)
{
	return strcmp(name, OPTION_SOURCE) == 0 || strcmp(name, OPTION_PATTERN) == 0;
}

/* The name of the first option of a table's columns that file_fdw does not have. */
const char *
option_find_of_columns(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	const char *name = NULL;

	for (AttrNumber attnum = 1;
		 attnum <= RelationGetNumberOfAttributes(rel) && name == NULL; attnum++)
	{
		ListCell   *cell;

		if (TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attisdropped)
			continue;
		foreach(cell, GetForeignColumnOptions(relid, attnum))
		{
			const char *found = lfirst_node(DefElem, cell)->defname;

			if (is_of_column(found))
				name = found;
		}
	}
	table_close(rel, AccessShareLock);
	return name;
}

/* Columns' options: the columns that have one are a list for COPY. */
static const char *const column_options[] = {"force_not_null", "force_null"};

/* The number of a source's name; ERROR if there is none of that name. */
static ColumnOrigin
find_origin(const char *name)
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
		column.origin = find_origin(defGetString(option));
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

/*
 * Reads the options of all columns.  Those that have one of COPY's are appended to
 * its options, as it wants to be told.
 */
static List *
read_columns(FileOptions *result, List *options, Relation rel)
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
			add_computed(result, attribute, of_column);
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
static bool
is_by_name(const char *value)
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

/* Everything the options of a foreign table say. */
FileOptions
options_read(Oid relid)
{
	FileOptions result = {.filename = NULL};
	ForeignTable *table = GetForeignTable(relid);
	Relation	rel = table_open(relid, AccessShareLock);
	const char *compression = NULL;
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
		else if (strcmp(option->defname, OPTION_APPEND_ONLY) == 0)
			result.is_append_only = defGetBoolean(option);
		else if (strcmp(option->defname, OPTION_COLUMNS) == 0)
			result.by_name = is_by_name(defGetString(option));
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
		else
			result.copy = lappend(result.copy, option);
		if (strcmp(option->defname, "on_error") == 0)
			result.skips_rows = pg_strcasecmp(defGetString(option), "ignore") == 0;
		if (strcmp(option->defname, "log_verbosity") == 0)
		{
			result.tells_skipped = pg_strcasecmp(defGetString(option), "verbose") == 0;
			result.is_silent = pg_strcasecmp(defGetString(option), "silent") == 0;
		}
	}
	result.by_suffix = result.pattern != NULL;
	if (compression != NULL)
		result.compression = compression_parse(compression, &result.by_suffix);
	if (IsParallelWorker())
		result.copy = append_leaders_encoding(result.copy);
	result.format = list_copy(result.copy);
	result.copy = read_columns(&result, result.copy, rel);
	table_close(rel, AccessShareLock);
	if (result.filename == NULL && result.pattern == NULL)
		elog(ERROR, "either filename or program is required for file_fdw foreign tables");
	return result;
}

/* May something that is in the file be left out, or added, and be told of? */
bool
options_leave_out(const FileOptions *options)
{
	return options->skips_rows || policy_is_active(&options->policy);
}

/* Does a setting allow what an option says, or say it where no option does? */
static bool
is_kept(int setting, OptionChoice choice)
{
	return choice == OPTION_UNSET ? setting == KEEP_ALL :
		choice == OPTION_TRUE && setting != KEEP_NONE;
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
		compression_is_possible(options) ? "the file is compressed" :
		options->skips_rows ? "the table's option on_error leaves out rows" :
		policy_is_active(&options->policy) ? "the table's options leave out lines or fields" :
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

/*
 * Raises an ERROR unless the user may name files of the server, as file_fdw does of
 * its options, and has named some.
 */
static void
check_filenames(const char *value)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set the option \"%s\" of a foreign table",
						OPTION_FILENAMES),
				 errhint("Only roles with privileges of the role \"%s\" may set it.",
						 "pg_read_server_files")));
	if (value[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", OPTION_FILENAMES),
				 errhint("Set it to a folder or a pattern, such as '/data/*.csv'.")));
}

/* Raises an ERROR unless our option is one of a table and has a valid value. */
static void
check_our_option(char *name, const char *value, Oid catalog)
{
	bool		by_suffix;

	if (is_of_column(name))
	{
		if (strcmp(name, OPTION_SOURCE) == 0)
			(void) find_origin(value);
		return;
	}
	if (catalog != ForeignTableRelationId &&
		!(catalog == ForeignServerRelationId && is_of_server(name)))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"", name),
				 errhint("Set it on the foreign table.")));
	if (strcmp(name, OPTION_FILENAMES) == 0)
	{
		check_filenames(value);
		return;
	}
	if (strcmp(name, OPTION_COLUMNS) == 0)
		return;
	if (strcmp(name, OPTION_COMPRESSION) == 0)
	{
		(void) compression_parse(value, &by_suffix);
		return;
	}
	if (record_option_is(name))
	{
		RecordPolicy policy = {0};

		record_option_read(&policy, name, value);
		return;
	}
	(void) defGetBoolean(makeDefElem(name, (Node *) makeString(pstrdup(value)),
									 -1));
}

/*
 * Raises an ERROR if a table of a program has an option about what is kept of a
 * file, or how COPY is given its records.  One that is false says what is so.
 */
static void
check_program_option(const char *name, const char *value)
{
	if (strcmp(name, OPTION_COMPRESSION) == 0)
	{
		if (strcmp(value, "none") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_SYNTAX_ERROR),
					 errmsg("conflicting options \"%s\" and \"program\"", name),
					 errhint("Have the program decompress its output, as \"zcat\" does.")));
		return;
	}
	if (record_option_is(name))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("conflicting options \"%s\" and \"program\"", name),
				 errhint("Write the output to a file and set \"filename\".")));
	if (strcmp(name, OPTION_LAZY) == 0 ||
		!defGetBoolean(makeDefElem(pstrdup(name),
								   (Node *) makeString(pstrdup(value)), -1)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("conflicting options \"%s\" and \"program\"", name),
			 errdetail("The output of a program is not indexed or cached."),
			 errhint("Drop the option \"%s\", or write the output to a file and set \"filename\".",
					 name)));
}

/* The name in an element of an options' array; *value is what is behind it. */
static char *
split_option(Datum element, char **value)
{
	char	   *name = TextDatumGetCString(element);
	char	   *equals = strchr(name, '=');

	if (equals != NULL)
		*equals = '\0';
	*value = equals == NULL ? "" : equals + 1;
	return name;
}

/* Raises an ERROR if a table with many files has an option that names its data, too. */
static void
check_conflict(const char *name, bool has_filenames)
{
	if (has_filenames &&
		(strcmp(name, "filename") == 0 || strcmp(name, "program") == 0))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("conflicting options \"%s\" and \"%s\"", OPTION_FILENAMES,
						name),
				 errhint("Set one of them.")));
}

/*
 * The array without our options, which are checked.  file_fdw demands a name, so
 * "filenames" is shown to it as "filename".
 */
static ArrayType *
strip_our_options(ArrayType *options, Oid catalog)
{
	Datum	   *elements;
	int			count;
	int			kept = 0;
	bool		is_program = false;
	bool		has_filenames = false;
	bool		has_header = false;
	bool		by_name = false;
	char	   *value;

	deconstruct_array(options, TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		const char *name = split_option(elements[i], &value);

		is_program |= strcmp(name, "program") == 0;
		has_filenames |= strcmp(name, OPTION_FILENAMES) == 0;
		if (strcmp(name, "header") == 0 && !parse_bool(value, &has_header))
			has_header = false;
		if (strcmp(name, OPTION_COLUMNS) == 0 && catalog == ForeignTableRelationId)
			by_name = is_by_name(value);
	}
	if (by_name && !(has_filenames && has_header))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("option \"%s\" can be \"%s\" only with the options \"%s\" and \"header\" \"true\"",
						OPTION_COLUMNS, COLUMNS_BY_NAME, OPTION_FILENAMES)));
	for (int i = 0; i < count; i++)
	{
		char	   *name = split_option(elements[i], &value);

		check_conflict(name, has_filenames);
		if (is_ours(name) ||
			(catalog == AttributeRelationId && is_of_column(name)))
		{
			check_our_option(name, value, catalog);
			if (is_program)
				check_program_option(name, value);
			if (strcmp(name, OPTION_FILENAMES) == 0)
				elements[kept++] = CStringGetTextDatum(psprintf("filename=%s",
																value));
		}
		else
			elements[kept++] = elements[i];
	}
	return construct_array(elements, kept, TEXTOID, -1, false, TYPALIGN_INT);
}

/* The wrapper's validator. */
Datum
tollfree_file_fdw_validator(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(1);
	ArrayType  *options = strip_our_options(PG_GETARG_ARRAYTYPE_P(0), catalog);
	PGFunction	validator = load_external_function("$libdir/file_fdw",
												   "file_fdw_validator",
												   true, NULL);
	OptionHint	hint = {
		.options = PointerGetDatum(options),
		.names = our_options,
		.nnames = lengthof(our_options),
		.stock_name = "filename"
	};
	ErrorContextCallback context = {
		.callback = option_hint,
		.arg = &hint,
		.previous = error_context_stack
	};

	if (catalog == ForeignServerRelationId)
	{
		hint.names = server_options;
		hint.nnames = lengthof(server_options);
	}
	/* On objects other than these ours are no options either. */
	if (catalog == ForeignTableRelationId || catalog == ForeignServerRelationId)
		error_context_stack = &context;
	DirectFunctionCall2(validator, PointerGetDatum(options),
						ObjectIdGetDatum(catalog));
	error_context_stack = context.previous;
	PG_RETURN_VOID();
}
