/*
 * options.h
 *	  Options of foreign tables.
 */
#ifndef TOLLFREE_FILE_OPTIONS_H
#define TOLLFREE_FILE_OPTIONS_H

#include "access/attnum.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "base/core.h"
#include "base/error_options.h"
#include "base/number_options.h"
#include "core/json_paths.h"
#include "core/policy.h"

#define OPTION_APPEND_ONLY "append_only"
#define OPTION_COLUMNS "columns"
#define OPTION_COMPRESSION "compression"
#define OPTION_FILENAMES "filenames"
#define OPTION_LAZY "lazy"
#define OPTION_WRITABLE "writable"

/* A value of "format" that is ours */
#define FORMAT_JSON_LINES "jsonl"

/* The values of OPTION_COLUMNS */
#define COLUMNS_BY_NAME "by name"
#define COLUMNS_BY_POSITION "by position"

/* Of a server, too */
#define OPTION_RECORD_INDEX "record_index"
#define OPTION_COLUMN_CACHE "column_cache"

/* Of a column */
#define OPTION_SOURCE "source"
#define OPTION_PATTERN "pattern"

/* What a column's values are made of that is not in the file. */
typedef enum ColumnOrigin
{
	ORIGIN_FILE,				/* the file's path */
	ORIGIN_LINE,				/* the row's line in it */
	ORIGIN_PATH					/* a part of the path */
} ColumnOrigin;

/* A column with the option "source" */
typedef struct ComputedColumn
{
	AttrNumber	attnum;
	ColumnOrigin origin;
	char	   *name;
	char	   *pattern;		/* PATH: a regular expression; or NULL */
} ComputedColumn;

/* An option that may be unset. */
typedef enum OptionChoice
{
	OPTION_UNSET,
	OPTION_FALSE,
	OPTION_TRUE
} OptionChoice;

/* What the options of one foreign table and of its columns say. */
typedef struct FileOptions
{
	char	   *filename;		/* or the program's command line.  Of many
								 * files the one that is read, or NULL */
	char	   *pattern;		/* of the names of many files; or NULL */
	bool		is_program;
	bool		by_suffix;		/* do names' suffixes say how files are
								 * compressed? */
	FileCompression compression;	/* else how they are */
	bool		is_lazy;		/* may values go unchecked that nobody needs? */
	OptionChoice record_index;	/* of the table, or else of its server */
	OptionChoice column_cache;	/* likewise */
	bool		is_append_only; /* is nothing changed that is in it? */
	bool		is_writable;	/* may rows be appended to it? */
	JsonField  *json;			/* JSON Lines: where the values of the file's
								 * columns are, in their order; else NULL */
	ErrorPolicy errors;			/* what becomes of rows with a refused value */
	RecordPolicy policy;		/* how records are read otherwise than COPY
								 * reads them */
	bool		by_name;		/* does each file's header name its columns? */
	List	   *names;			/* String: of one file, those names; else NIL */
	bool		converts_none;	/* has the file none of the columns that COPY
								 * is to convert? */
	List	   *computed;		/* ComputedColumn: columns that are not in the
								 * file; NIL of a table with one file */
	Bitmapset  *computed_attnums;	/* of these */
	const NumberForm **forms;	/* of each attribute's numbers, NULL for
								 * PostgreSQL's; or NULL for all */
	List	   *copy;			/* DefElem: everything else, for COPY */
	List	   *format;			/* those of it that are no lists of columns */
} FileOptions;

extern ColumnOrigin options_find_origin(const char *name);
extern bool options_are_by_name(const char *value);
extern FileOptions options_read(Oid relid);
extern bool options_leave_out(const FileOptions *options);
extern bool options_keep_columns(const FileOptions *options);
extern bool options_keep_index(const FileOptions *options);
extern const char *options_unkept_reason(const FileOptions *options);
extern bool options_want_index(const FileOptions *options);
extern void options_select_columns(FileOptions *options, List *columns);

#endif							/* TOLLFREE_FILE_OPTIONS_H */
