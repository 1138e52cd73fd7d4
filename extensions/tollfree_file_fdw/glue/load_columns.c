/*
 * load_columns.c
 *	  Keeps the columns of a file before queries ask for them.
 *
 * A query of the columns is executed by one process, as any other, and its rows are
 * thrown away unmade.  So what is kept, and which rights and errors there are, is
 * the scan's affair (see column_cache.c); here it is only said why nothing is kept.
 */
#include "postgres.h"

#include "access/table.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/portal.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compat_export.h"
#include "base/guc.h"
#include "base/options.h"
#include "cache/segment_file.h"
#include "exec/scan_state.h"
#include "readable.h"

/* Columns of tollfree_file_fdw_load_columns */
#define LOAD_COLUMNS 4

COMPAT_SQL_FUNCTION(tollfree_file_fdw_load_columns);

/* Raises the ERROR that nothing can be kept; the hint may be NULL. */
static void
report_obstacle(Relation rel, const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot keep columns of foreign table \"%s\"",
					RelationGetRelationName(rel)),
			 errdetail("The reason is: %s.", detail),
			 hint == NULL ? 0 : errhint("%s", hint)));
}

/* Raises an ERROR if what the user has set keeps nothing of the table. */
static void
check_settings(Relation rel)
{
	FileOptions options = options_read(RelationGetRelid(rel));
	const char *reason = options_unkept_reason(&options);

	if (reason != NULL)
		report_obstacle(rel, reason, NULL);
	if (options.record_index == OPTION_FALSE ||
		options.column_cache == OPTION_FALSE)
		report_obstacle(rel, "an option of the table or its server disables it",
						"Set the table's options \"record_index\" and \"column_cache\" to true.");
	if (setting_column_cache == KEEP_NONE)
		report_obstacle(rel, "a setting disables it",
						"Set tollfree_file_fdw.column_cache to auto or on.");
	if (!options_keep_columns(&options))
		report_obstacle(rel, "nothing enables it",
						"Set the table's option \"column_cache\" to true.");
}

/* The columns of the table that an array names; ERROR if it has no such column. */
static Bitmapset *
find_named(Relation rel, ArrayType *names)
{
	Bitmapset  *attnums = NULL;
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		const char *name;
		AttrNumber	attnum;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column name must not be null")));
		name = NameStr(*DatumGetName(elements[i]));
		attnum = get_attnum(RelationGetRelid(rel), name);
		if (attnum <= 0 ||
			TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("the file of foreign table \"%s\" has no column \"%s\"",
							RelationGetRelationName(rel), name)));
		attnums = bms_add_member(attnums, attnum);
	}
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no columns are named"),
				 errhint("Omit the argument to keep all columns.")));
	return attnums;
}

/* Is it a column of the file, and one of those asked for, which are all if NULL? */
static bool
is_asked(Form_pg_attribute attribute, const Bitmapset *asked)
{
	return !attribute->attisdropped && !attribute->attgenerated &&
		(asked == NULL || bms_is_member(attribute->attnum, asked));
}

/* A query of the columns asked for. */
static char *
make_query(Relation rel, const Bitmapset *asked)
{
	TupleDesc	desc = RelationGetDescr(rel);
	char	   *namespace = get_namespace_name(RelationGetNamespace(rel));
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT");
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (is_asked(attribute, asked))
			appendStringInfo(&query, "%s %s", query.len > 6 ? "," : "",
							 quote_identifier(NameStr(attribute->attname)));
	}
	appendStringInfo(&query, " FROM ONLY %s",
					 quote_qualified_identifier(namespace,
												RelationGetRelationName(rel)));
	return query.data;
}

/*
 * Why all of a column that the scan asked for is not kept, for each attribute of the
 * table; NULL where it is.
 */
static const char **
find_reasons(Relation rel, const ColumnCache *cache)
{
	const char **reasons = palloc0(sizeof(char *) *
								   Max(1, RelationGetNumberOfAttributes(rel)));

	for (int i = 0; i < cache->columns.ncolumns; i++)
		reasons[cache->columns.attnums[i] - 1] =
			column_cache_missing_reason(cache, i);
	return reasons;
}

/* Raises an ERROR if a scan that has ended could not keep anything. */
static void
check_scan(Relation rel, const FileScanState *scan)
{
	const ScanInput *input = &scan->input;
	const IndexUse *index = &scan->kept.index;

	if (input->slow_reason != NULL)
		report_obstacle(rel, input->slow_reason, NULL);
	if (input->handover != NULL)
		report_obstacle(rel, input->handover, NULL);
	if (index->role == INDEX_UNUSED)
		report_obstacle(rel, index->unused_reason, NULL);
	if (index->role == INDEX_FILLED && index->written == 0 &&
		!index->is_loaded)
		report_obstacle(rel, index->unmade_reason, NULL);
}

/*
 * Removes segments that are not of the index which the file has now, if it has one:
 * what remains can be read.
 */
static void
remove_useless(Relation rel, const IndexUse *index)
{
	bool		has_index = index->role == INDEX_USED || index->is_loaded ||
		index->written > 0;

	(void) segment_file_remove(RelationGetRelid(rel),
							   has_index ? index->id : NULL);
}

/*
 * Reads all rows of the query, by one process, and throws them away.  Returns why
 * columns are not kept, in the current memory context.
 */
static const char **
read_rows(Relation rel, const char *query)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext old;
	const char **reasons;
	SPIPlanPtr	plan;
	Portal		portal;
	PlanState  *node;
	FileScanState *scan;

	SPI_connect();
	plan = SPI_prepare_cursor(query, 0, NULL, 0);
	if (plan == NULL)
		elog(ERROR, "could not prepare \"%s\": %s", query,
			 SPI_result_code_string(SPI_result));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	SPI_cursor_move(portal, true, FETCH_ALL);
	node = portal->queryDesc->planstate;
	/* The planner may be another one than PostgreSQL's. */
	if (!IsA(node, ForeignScanState))
		report_obstacle(rel, "the plan of its query is not a plain scan", NULL);
	scan = castNode(ForeignScanState, node)->fdw_state;
	check_scan(rel, scan);
	remove_useless(rel, &scan->kept.index);
	old = MemoryContextSwitchTo(context);
	reasons = find_reasons(rel, &scan->kept.cache);
	MemoryContextSwitchTo(old);
	SPI_cursor_close(portal);
	SPI_finish();
	return reasons;
}

/* Returns what is kept of the columns asked for, and why not all, a row for each. */
static void
list_kept(ReturnSetInfo *result, Relation rel, const Bitmapset *asked,
		  const char **reasons)
{
	TupleDesc	desc = RelationGetDescr(rel);
	HTAB	   *kept = segment_file_survey();
	KeptColumn	key = {.relid = RelationGetRelid(rel)};

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		const KeptColumn *column;
		Datum		values[LOAD_COLUMNS];
		bool		nulls[LOAD_COLUMNS] = {false};

		if (attribute->attisdropped || attribute->attgenerated)
			continue;
		column = hash_search(kept, &key, HASH_FIND, NULL);
		key.field++;
		if (!is_asked(attribute, asked))
			continue;
		values[0] = CStringGetTextDatum(NameStr(attribute->attname));
		values[1] = Int64GetDatum(column == NULL ? 0 : column->nsegments);
		values[2] = Int64GetDatum(column == NULL ? 0 : column->size);
		nulls[3] = reasons[i] == NULL;
		values[3] = nulls[3] ? (Datum) 0 : CStringGetTextDatum(reasons[i]);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/* Keeps the columns of a table's file that an array names, all of them if NULL. */
Datum
tollfree_file_fdw_load_columns(PG_FUNCTION_ARGS)
{
	Relation	rel;
	Bitmapset  *asked = NULL;
	const char **reasons;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	rel = readable_open(PG_GETARG_OID(0));
	check_settings(rel);
	if (!PG_ARGISNULL(1))
		asked = find_named(rel, PG_GETARG_ARRAYTYPE_P(1));
	reasons = read_rows(rel, make_query(rel, asked));
	list_kept((ReturnSetInfo *) fcinfo->resultinfo, rel, asked, reasons);
	table_close(rel, AccessShareLock);
	return (Datum) 0;
}
