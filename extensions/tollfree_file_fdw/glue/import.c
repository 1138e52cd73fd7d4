/*
 * import.c
 *	  Foreign tables of files, made by what is found in them.
 *
 *	IMPORT FOREIGN SCHEMA "/data/exports" FROM SERVER files INTO raw;
 *	IMPORT FOREIGN SCHEMA "/data/2026/log-*.csv" FROM SERVER files INTO raw;
 *	SELECT * FROM tollfree_file_fdw_sniff('/data/exports/client.csv');
 *
 * Of a folder each text file becomes a table, which has the file's name without its
 * suffixes; a pattern becomes one table of all its files, by what its first and its
 * last one have.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/options.h"
#include "base/paths.h"
#include "guess.h"
#include "import.h"

/* Columns of tollfree_file_fdw_sniff */
#define SNIFF_RESULTS 3

COMPAT_SQL_FUNCTION(tollfree_file_fdw_sniff);

/* Raises an ERROR unless the user may read files of the server, named by a path. */
static void
check_path(const char *path)
{
	if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to look into files of the server"),
				 errhint("Only roles with privileges of the role \"%s\" may do so.",
						 "pg_read_server_files")));
	if (!is_absolute_path(path))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("\"%s\" is no absolute path", path),
				 errhint("Name a file, a folder or a pattern, such as \"/data/*.csv\".")));
}

/* Is it the path of a folder? */
static bool
is_folder(const char *path)
{
	struct stat state;

	return stat(path, &state) == 0 && S_ISDIR(state.st_mode);
}

/* The table of each text file of a folder that is asked for, as statements. */
static List *
import_folder(ImportForeignSchemaStmt *stmt, const char *server)
{
	FilePaths	paths = paths_find(stmt->remote_schema, false);
	List	   *commands = NIL;

	for (int i = 0; i < paths.count; i++)
	{
		char	   *table = guess_table_name(paths.names[i]);
		MemoryContext context;
		MemoryContext old;
		char	   *command;

		if (!guess_has_suffix(paths.names[i]) || !IsImportableForeignTable(table, stmt))
			continue;
		context = AllocSetContextCreate(CurrentMemoryContext, "file to import",
										ALLOCSET_DEFAULT_SIZES);
		old = MemoryContextSwitchTo(context);
		command = guess_statement(guess_file(paths.names[i]), table, server, NULL);
		MemoryContextSwitchTo(old);
		commands = lappend(commands, pstrdup(command));
		MemoryContextDelete(context);
	}
	return commands;
}

/* Raises an ERROR if two files of a pattern cannot be read by one table. */
static void
check_same(const Guess *guess, const Guess *other)
{
	bool		is_same = guess->sniff.ncolumns == other->sniff.ncolumns &&
		guess->sniff.format == other->sniff.format &&
		guess->sniff.delimiter == other->sniff.delimiter &&
		guess->sniff.quote == other->sniff.quote &&
		guess->sniff.has_header == other->sniff.has_header;

	for (int i = 0; is_same && i < guess->sniff.ncolumns; i++)
		is_same = strcmp(guess->names[i], other->names[i]) == 0;
	if (!is_same)
		ereport(ERROR,
				(errcode(ERRCODE_BAD_COPY_FILE_FORMAT),
				 errmsg("files \"%s\" and \"%s\" have different columns or formats",
						guess->path, other->path),
				 errhint("Import them one by one, or by patterns of files that are alike.")));
}

/* Takes over what a file has, too, of the same columns as another one. */
static void
join_guess(Guess *guess, const Guess *other)
{
	if (guess->sniff.format == FILE_FORMAT_JSON_LINES &&
		other->sniff.format == FILE_FORMAT_JSON_LINES)
	{
		guess_join_members(guess, other);
		return;
	}
	check_same(guess, other);
	for (int i = 0; i < guess->sniff.ncolumns; i++)
		guess->sniff.columns[i].kind =
			strcmp(guess->sniff.null, other->sniff.null) != 0 ? KIND_TEXT :
			kind_join(guess->sniff.columns[i].kind, other->sniff.columns[i].kind);
	guess->sample.has_mark |= other->sample.has_mark;
	guess->sniff.ncomments += other->sniff.ncomments;
	guess->sniff.nblank += other->sniff.nblank;
	guess->sniff.nshort += other->sniff.nshort;
	guess->sniff.nlong += other->sniff.nlong;
	if (other->encoding != PG_UTF8)
		guess->encoding = other->encoding;
}

/* The table of a file, or of all files that a pattern names, as a statement. */
static List *
import_pattern(ImportForeignSchemaStmt *stmt, const char *server)
{
	FilePaths	paths = paths_find(stmt->remote_schema, false);
	char	   *table = guess_table_name(stmt->remote_schema);
	bool		is_one = paths.count == 1 &&
		strcmp(paths.names[0], stmt->remote_schema) == 0;
	Guess	   *guess;

	if (paths.count == 0 || !IsImportableForeignTable(table, stmt))
		return NIL;
	guess = guess_file(paths.names[0]);
	if (paths.count > 1)
		join_guess(guess, guess_file(paths.names[paths.count - 1]));
	return list_make1(guess_statement(guess, table, server,
									  is_one ? NULL : stmt->remote_schema));
}

/* FdwRoutine: the statements that make the tables. */
List *
tollfreeImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverOid)
{
	const char *server = GetForeignServer(serverOid)->servername;

	check_path(stmt->remote_schema);
	if (stmt->options != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
				 errmsg("invalid option \"%s\"",
						linitial_node(DefElem, stmt->options)->defname),
				 errhint("There are no options; change the tables that are made.")));
	return is_folder(stmt->remote_schema) ? import_folder(stmt, server) :
		import_pattern(stmt, server);
}

/* Returns what was found, and why. */
static void
put(ReturnSetInfo *result, const char *property, const char *found, const char *reason)
{
	Datum		values[SNIFF_RESULTS] = {
		CStringGetTextDatum(property), CStringGetTextDatum(found)
	};
	bool		nulls[SNIFF_RESULTS] = {false, false, reason == NULL};

	if (reason != NULL)
		values[2] = CStringGetTextDatum(reason);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Returns what there are some of, if there are. */
static void
put_count(ReturnSetInfo *result, const char *property, const char *found, uint64 count,
		  const char *what)
{
	if (count > 0)
		put(result, property, found, psprintf("%s: " UINT64_FORMAT, what, count));
}

/* Returns how the file's bytes and records are read. */
static void
put_format(ReturnSetInfo *result, const Guess *guess)
{
	const Sniff *sniff = &guess->sniff;
	const char	delimiter[] = {(char) sniff->delimiter, '\0'};

	if (guess->sample.compression != COMPRESSION_NONE)
		put(result, "compression", codec_of(guess->sample.compression)->name,
			"the suffix of the file's name");
	put(result, "encoding", pg_encoding_to_char(guess->encoding),
		guess->is_ascii ? "no byte is above 127" :
		guess->encoding == PG_UTF8 ? "all its characters are valid" :
		"it is no valid UTF-8");
	if (sniff->format == FILE_FORMAT_JSON_LINES)
	{
		put(result, "format", FORMAT_JSON_LINES, "the first line is a JSON object");
		put_count(result, "other lines", "no rows", sniff->nbroken,
				  "lines that are no JSON object");
		return;
	}
	if (guess->sample.has_mark)
		put(result, "byte_order_mark", "skip", "the file begins with one");
	put(result, "format", sniff->format == FILE_FORMAT_CSV ? "csv" : "text",
		sniff->format == FILE_FORMAT_CSV ? NULL : "backslashes as COPY writes them");
	put(result, "delimiter", sniff->delimiter == '\t' ? "tab" : delimiter,
		psprintf("%.1f%% of the first records have %d fields by it",
				 100 * sniff->agreement, (int) sniff->ncolumns));
	put(result, "header", sniff->has_header ? "true" : "false",
		sniff->has_header ? "the first record has texts that differ from each other and from the values below" :
		"the first record is like the others");
	put(result, "null", sniff->null[0] == '\0' ? "an empty field" : sniff->null, NULL);
}

/* Returns what COPY would refuse, or take for rows. */
static void
put_irregular(ReturnSetInfo *result, const Guess *guess)
{
	const Sniff *sniff = &guess->sniff;

	if (sniff->format == FILE_FORMAT_JSON_LINES)
		return;
	put_count(result, "skip_lines", psprintf(INT64_FORMAT, sniff->skip_lines),
			  sniff->skip_lines, "lines before the first record");
	put_count(result, "comment", "#", sniff->ncomments, "lines that begin with it");
	put_count(result, "blank_lines", "skip", sniff->nblank, "empty lines");
	put_count(result, "missing_fields", "null", sniff->nshort,
			  "records with fewer fields");
	put_count(result, "extra_fields", "ignore", sniff->nlong, "records with more fields");
}

/* What is found in a file, and the statement that makes a foreign table of it. */
Datum
tollfree_file_fdw_sniff(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	char	   *path = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *server = NameStr(*PG_GETARG_NAME(1));
	Guess	   *guess;

	InitMaterializedSRF(fcinfo, 0);
	check_path(path);
	guess = guess_file(path);
	put_format(result, guess);
	put_irregular(result, guess);
	for (int i = 0; i < guess->sniff.ncolumns; i++)
		put(result, psprintf("column %s", quote_identifier(guess->names[i])),
			guess_type(guess, i),
			guess->sniff.columns[i].kind == KIND_NONE &&
			!guess->sniff.columns[i].is_json ? "it has no values" : NULL);
	put(result, "statement",
		guess_statement(guess, guess_table_name(path), server, NULL),
		guess->sample.is_whole ? "all of the file was read" :
		"the beginning, the middle and the end of the file were read");
	return (Datum) 0;
}
