/*
 * validator.c
 *	  Which options are ours, and whether they are set as they may be.
 *
 * file_fdw's own validator checks its options.  Here those are checked that this
 * wrapper adds; options.c has a list.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/compression.h"
#include "base/json_columns.h"
#include "base/option_hint.h"
#include "base/options.h"
#include "base/record_options.h"
#include "base/validator.h"

COMPAT_SQL_FUNCTION(tollfree_file_fdw_validator);

static const char *const our_options[] = {
	OPTION_APPEND_ONLY, OPTION_BLANK_LINES, OPTION_BYTE_ORDER_MARK,
	OPTION_COLUMN_CACHE, OPTION_COLUMNS, OPTION_COMMENT, OPTION_COMPRESSION,
	OPTION_EXTRA_FIELDS, OPTION_FILENAMES, OPTION_LAZY, OPTION_MISSING_FIELDS,
	OPTION_NULL_STRINGS, OPTION_QUOTE_BLANKS, OPTION_RECORD_INDEX,
	OPTION_SKIP_LAST_LINES, OPTION_SKIP_LINES, OPTION_WRITABLE,
#if PG_VERSION_NUM < 180000
	OPTION_LOG_VERBOSITY, OPTION_ON_ERROR, OPTION_REJECT_LIMIT
#endif
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

/* Is it a value that file_fdw does not have, of an option that it has? */
static bool
is_our_value(const char *name, const char *value)
{
	return strcmp(name, "format") == 0 && strcmp(value, FORMAT_JSON_LINES) == 0;
}

/*
 * The name of the first option that file_fdw does not have, or not with that value; or
 * NULL.
 */
const char *
option_find_ours(List *options)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		const char *name = option->defname;

		if (is_ours(name) || is_our_value(name, defGetString(option)))
			return name;
	}
	return NULL;
}

/* Is it one of ours of a column? */
static bool
is_of_column(const char *name)
{
	return strcmp(name, OPTION_SOURCE) == 0 ||
		strcmp(name, OPTION_PATTERN) == 0 || json_option_is(name) ||
		number_option_is(name);
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

/* Raises an ERROR unless the user may have files of the server written. */
static void
check_writable(void)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set the option \"%s\" of a foreign table",
						OPTION_WRITABLE),
				 errhint("Only roles with privileges of the role \"%s\" may set it.",
						 "pg_write_server_files")));
}

/* Is an option of ours that says yes or no set to yes?  ERROR if to neither. */
static bool
is_true(const char *name, const char *value)
{
	return defGetBoolean(makeDefElem(pstrdup(name),
									 (Node *) makeString(pstrdup(value)), -1));
}

/* Raises an ERROR unless our option is one of a table and has a valid value. */
static void
check_our_option(char *name, const char *value, Oid catalog)
{
	bool		by_suffix;

	if (is_of_column(name))
	{
		if (strcmp(name, OPTION_SOURCE) == 0)
			(void) options_find_origin(value);
		if (json_option_is(name))
			json_option_check(name, value);
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
	if (strcmp(name, OPTION_COLUMNS) == 0 || error_option_is(name))
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
	if (is_true(name, value) && strcmp(name, OPTION_WRITABLE) == 0)
		check_writable();
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
	if (strcmp(name, OPTION_LAZY) == 0 || error_option_is(name) ||
		!is_true(name, value))
		return;
	if (strcmp(name, OPTION_WRITABLE) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("conflicting options \"%s\" and \"program\"", name),
				 errhint("Set \"filename\" to write to a file.")));
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

/*
 * Raises an ERROR if a table with many files has an option that names its data, too,
 * or says that they are written.
 */
static void
check_conflict(const char *name, const char *value, bool has_filenames)
{
	if (has_filenames &&
		(strcmp(name, "filename") == 0 || strcmp(name, "program") == 0 ||
		 (strcmp(name, OPTION_WRITABLE) == 0 && is_true(name, value))))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("conflicting options \"%s\" and \"%s\"", OPTION_FILENAMES,
						name),
				 errhint("Set one of them.")));
}

/*
 * Raises an ERROR if a table of JSON Lines has an option of other files, or one that
 * says that they are not UTF-8 or are written.
 */
static void
check_json_option(const char *name, const char *value)
{
	static const char *const others[] = {
		"default", "delimiter", "escape", "force_not_null", "force_null", "header",
		"null", "program", "quote", OPTION_COLUMNS
	};
	bool		is_other = record_option_is(name) ||
		(strcmp(name, OPTION_WRITABLE) == 0 && is_true(name, value)) ||
		(strcmp(name, "encoding") == 0 && pg_char_to_encoding(value) != PG_UTF8);

	for (int i = 0; i < lengthof(others); i++)
		is_other |= strcmp(name, others[i]) == 0;
	if (is_other)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("conflicting options \"format\" \"%s\" and \"%s\"",
						FORMAT_JSON_LINES, name),
				 strcmp(name, "encoding") == 0 ?
				 errdetail("The encoding of JSON is UTF8.") : 0,
				 errhint("Drop the option \"%s\".", name)));
}

/*
 * Raises an ERROR if options about refused values have values that they cannot have,
 * or contradict others.  From 18 on file_fdw does so.
 */
static void
check_error_options(Datum *elements, int count)
{
	ErrorPolicy policy = {false};
	bool		is_binary = false;
	char	   *value;

	for (int i = 0; i < count; i++)
	{
		const char *name = split_option(elements[i], &value);

		if (error_option_is(name))
			error_option_read(&policy, name, value);
		is_binary |= strcmp(name, "format") == 0 && strcmp(value, "binary") == 0;
	}
	error_options_check(&policy, is_binary);
}

/* Raises an ERROR if options about a column's numbers say nothing, or contradict each other. */
static void
check_number_options(Datum *elements, int count)
{
	NumberForm	form = {.decimal = '.'};
	char	   *value;

	for (int i = 0; i < count; i++)
	{
		const char *name = split_option(elements[i], &value);

		if (number_option_is(name))
			number_option_read(&form, name, value);
	}
	number_options_check(&form);
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
	bool		is_json = false;
	char	   *value;

	deconstruct_array(options, TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		const char *name = split_option(elements[i], &value);

		is_program |= strcmp(name, "program") == 0;
		has_filenames |= strcmp(name, OPTION_FILENAMES) == 0;
		is_json |= catalog == ForeignTableRelationId && is_our_value(name, value);
		if (strcmp(name, "header") == 0 && !parse_bool(value, &has_header))
			has_header = false;
		if (strcmp(name, OPTION_COLUMNS) == 0 && catalog == ForeignTableRelationId)
			by_name = options_are_by_name(value);
	}
	if (by_name && !(has_filenames && has_header))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("option \"%s\" can be \"%s\" only with the options \"%s\" and \"header\" \"true\"",
						OPTION_COLUMNS, COLUMNS_BY_NAME, OPTION_FILENAMES)));
	if (PG_VERSION_NUM < 180000 && catalog == ForeignTableRelationId)
		check_error_options(elements, count);
	if (catalog == AttributeRelationId)
		check_number_options(elements, count);
	for (int i = 0; i < count; i++)
	{
		char	   *name = split_option(elements[i], &value);

		check_conflict(name, value, has_filenames);
		if (is_json)
			check_json_option(name, value);
		if (is_json && is_our_value(name, value))
			continue;
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
