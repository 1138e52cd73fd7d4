/*
 * modify.c
 *	  INSERT and COPY FROM into a foreign table, by appending to its file.
 *
 * Rows are kept until the statement ends, and appended then.  So one that fails has
 * written nothing, and one that reads the table it writes to reads its rows of before.
 */
#include "postgres.h"

#include "commands/copy.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compression.h"
#include "base/options.h"
#include "write/append.h"
#include "write/modify.h"

/* What becomes of the rows of a statement */
typedef struct ModifyState
{
	char	   *path;
	bool		has_header;
	LineEnd		line_end;
	RecordWriter *writer;
	Spool		records;
} ModifyState;

/*
 * FdwRoutine: which commands a table allows.  A command that is about to insert has
 * locked it so: it gets the ERROR of file_fdw, which has no callbacks to insert.  Who
 * only asks, as information_schema.tables, has not.
 */
int
tollfreeIsForeignRelUpdatable(Relation rel)
{
	if (options_read(RelationGetRelid(rel)).is_writable)
		return 1 << CMD_INSERT;
	if (CheckRelationLockedByMe(rel, RowExclusiveLock, false))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot insert into foreign table \"%s\"",
						RelationGetRelationName(rel))));
	return 0;
}

/* Raises the ERROR of a table whose options do not go together with writing. */
static void
report_option(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write to %s", what),
			 errhint("%s", hint)));
}

/* Raises an ERROR if a table's file cannot be written; returns whether it has a header. */
static bool
check_options(const FileOptions *options)
{
	CopyFormatOptions format = {0};

	if (!is_absolute_path(options->filename))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("cannot write to file \"%s\": its path is relative",
						options->filename),
				 errhint("Set the option \"filename\" to an absolute path.")));
	if (compression_of(options, options->filename) != COMPRESSION_NONE)
		report_option("a compressed file",
					  "Write to a file that is not, and compress it afterwards.");
	if (options->policy.skip_lines > 0)
		report_option("a file with the option \"skip_lines\"",
					  "Make another foreign table of the file to write to it.");
	if (options->policy.skip_last_lines > 0)
		report_option("a file with the option \"skip_last_lines\"",
					  "Make another foreign table of the file to write to it.");
	if (options->forms != NULL)
		report_option("a file whose columns have options about numbers",
					  "Make another foreign table of the file to write to it.");
	ProcessCopyOptions(NULL, &format, true, options->format);
	if (compat_is_binary(&format))
		report_option("a file of binary format", "Set the format to \"text\" or \"csv\".");
	if (compat_header_records(&format) > 1)
		report_option("a file whose header has several lines",
					  "Set the option \"header\" to \"true\" or \"match\".");
	return compat_header_records(&format) > 0;
}

/* Begins to keep rows for a table. */
static ModifyState *
begin(Relation rel)
{
	FileOptions options = options_read(RelationGetRelid(rel));
	ModifyState *state = palloc0(sizeof(ModifyState));

	state->has_header = check_options(&options);
	state->path = options.filename;
	state->writer = record_writer_make(rel, &options);
	state->line_end = append_find_line_end(state->path, state->writer);
	if (state->line_end == LINE_END_UNKNOWN)
		state->line_end = LINE_END_NL;
	spool_begin(&state->records);
	return state;
}

/* FdwRoutine: begins an INSERT. */
void
tollfreeBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo,
						   List *fdw_private, int subplan_index, int eflags)
{
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		rinfo->ri_FdwState = begin(rinfo->ri_RelationDesc);
}

/* FdwRoutine: begins a COPY FROM, or an INSERT that finds the table among partitions. */
void
tollfreeBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rinfo)
{
	rinfo->ri_FdwState = begin(rinfo->ri_RelationDesc);
}

/* FdwRoutine: keeps a row. */
TupleTableSlot *
tollfreeExecForeignInsert(EState *estate, ResultRelInfo *rinfo, TupleTableSlot *slot,
						  TupleTableSlot *planSlot)
{
	ModifyState *state = rinfo->ri_FdwState;

	record_writer_put(state->writer, slot, state->line_end, &state->records.bytes);
	spool_save_large(&state->records);
	return slot;
}

/* FdwRoutine: appends the rows. */
void
tollfreeEndForeignModify(EState *estate, ResultRelInfo *rinfo)
{
	ModifyState *state = rinfo->ri_FdwState;

	if (state == NULL)
		return;
	if (!spool_is_empty(&state->records))
		append_records(state->path, state->writer, state->has_header, state->line_end,
					   &state->records);
	spool_end(&state->records);
	rinfo->ri_FdwState = NULL;
}

/* FdwRoutine: the line of the file. */
void
tollfreeExplainForeignModify(ModifyTableState *mtstate, ResultRelInfo *rinfo,
							 List *fdw_private, int subplan_index,
							 struct ExplainState *es)
{
	Oid			relid = RelationGetRelid(rinfo->ri_RelationDesc);

	ExplainPropertyText("Foreign File", options_read(relid).filename, es);
}
