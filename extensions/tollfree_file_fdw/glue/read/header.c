/*
 * header.c
 *	  Columns by the names that a file's header has for them.
 *
 * COPY takes columns in any order, and some of a table's: so a file's header becomes
 * the list of columns that COPY is given, and what core/ looks for in each field.  A
 * column that the file lacks is null.  The header is read by COPY's parser, as a record
 * of a file that has none.
 */
#include "postgres.h"

#include "nodes/value.h"

#include "base/compat.h"
#include "read/copy.h"
#include "read/file.h"
#include "read/header.h"

/* COPY's options whose values are lists of columns */
static const char *const column_lists[] = {
	"convert_selectively", "force_not_null", "force_null"
};

/* Is the list one of names that has this one? */
static bool
has_name(const List *names, const char *name)
{
	ListCell   *cell;

	foreach(cell, names)
	{
		if (strcmp(strVal(lfirst(cell)), name) == 0)
			return true;
	}
	return false;
}

/* The options (DefElem) without a header. */
static List *
without_header(const List *options)
{
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, options)
	{
		if (strcmp(lfirst_node(DefElem, cell)->defname, "header") != 0)
			result = lappend(result, lfirst(cell));
	}
	return result;
}

/* Is it the name of a column that can be in a file? */
static bool
is_column(Relation rel, const FileOptions *options, const char *name)
{
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);

		if (!attribute->attisdropped && !attribute->attgenerated &&
			strcmp(NameStr(attribute->attname), name) == 0)
			return !bms_is_member(attribute->attnum, options->computed_attnums);
	}
	return false;
}

/* Raises an ERROR if a name in a header cannot be one of the table's columns. */
static void
check_name(Relation rel, const FileOptions *options, const char *filename,
		   const List *names, const char *name)
{
	if (name == NULL || !is_column(rel, options, name))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("foreign table \"%s\" has no column \"%s\", which file \"%s\" has",
						RelationGetRelationName(rel), name == NULL ? "" : name,
						filename),
				 errhint("Add the column to the table, or exclude the file in its option \"filenames\".")));
	if (has_name(names, name))
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("file \"%s\" has more than one column \"%s\"", filename,
						name)));
}

/* The names in a file's header (String); NIL if it is empty. */
static List *
read_names(Relation rel, const FileOptions *options, int encoding,
		   const char *filename)
{
	FileOptions plain = *options;
	List	   *names = NIL;
	OpenFile   *file;
	char	  **fields;
	int			nfields;

	plain.copy = plain.format = without_header(options->format);
	plain.filename = unconstify(char *, filename);
	plain.names = NIL;
	plain.policy.pad_missing = plain.policy.cut_extra = false;
	plain.converts_none = false;
	file = file_open(rel, &plain, encoding, NULL);
	if (copy_next_fields(file, &fields, &nfields))
	{
		for (int i = 0; i < nfields; i++)
		{
			check_name(rel, options, filename, names, fields[i]);
			names = lappend(names, makeString(pstrdup(fields[i])));
		}
	}
	file_close(file);
	return names;
}

/* A list of columns without those that are not in the file. */
static DefElem *
shorten_list(DefElem *option, const List *names)
{
	DefElem    *result = copyObject(option);
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, castNode(List, option->arg))
	{
		if (has_name(names, strVal(lfirst(cell))))
			left = lappend(left, lfirst(cell));
	}
	result->arg = (Node *) left;
	return result;
}

/*
 * The options of a file whose header names its columns, in the current memory context.
 * ERROR if it names one that the table does not have.
 */
FileOptions
header_options(Relation rel, const FileOptions *options, int encoding,
			   const char *filename)
{
	FileOptions result = *options;
	ListCell   *cell;

	result.filename = unconstify(char *, filename);
	result.converts_none = false;
	result.names = read_names(rel, options, encoding, filename);
	if (result.names == NIL)
		return result;
	result.copy = NIL;
	foreach(cell, options->copy)
	{
		DefElem    *option = lfirst_node(DefElem, cell);
		bool		is_list = false;

		for (int i = 0; i < lengthof(column_lists); i++)
			is_list |= strcmp(option->defname, column_lists[i]) == 0;
		if (is_list)
			option = shorten_list(option, result.names);
		if (option->arg == NULL &&
			strcmp(option->defname, "convert_selectively") == 0)
		{
			option->arg = (Node *) list_make1(linitial(result.names));
			result.converts_none = true;
		}
		if (!is_list || option->arg != NULL)
			result.copy = lappend(result.copy, option);
	}
	return result;
}

/*
 * The same columns as core/ has to look for them in such a file, in the current memory
 * context.  Sets whether one that it lacks has a default, which COPY would compute.
 */
FileColumns
header_columns(const FileColumns *columns, Relation rel,
			   const FileOptions *options, bool *has_defaults)
{
	FileColumns result = columns_copy(columns);

	*has_defaults = false;
	if (options->names == NIL)
		return result;
	result.nfields = list_length(options->names);
	for (int i = 0; i < result.ncolumns; i++)
	{
		ColumnSpec *spec = &result.specs[i];
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel),
													result.attnums[i] - 1);
		ListCell   *cell;

		spec->is_missing = true;
		foreach(cell, options->names)
		{
			if (strcmp(strVal(lfirst(cell)), NameStr(attribute->attname)) != 0)
				continue;
			spec->field = foreach_current_index(cell);
			spec->is_missing = false;
		}
		*has_defaults |= spec->is_missing && attribute->atthasdef;
	}
	return result;
}
