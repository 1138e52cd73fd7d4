/*
 * plan.c
 *	  Planning the scan of a file.
 *
 * Sizes are estimated as file_fdw does, from the file's length on disk and,
 * once the table has been analyzed, from the density of rows found then.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/rel.h"

#include "callbacks.h"
#include "compat.h"
#include "plan.h"

/* Assumed of a program's output and of a file that cannot be looked at */
#define UNKNOWN_PAGES 10

/* What COPY's parser needs for a row, in units of cpu_tuple_cost */
#define COPY_ROW_COST 10

/* The file's length on disk, or a guess. */
static off_t
file_size(const FileOptions *options)
{
	struct stat status;

	if (options->is_program || stat(options->filename, &status) < 0)
		return UNKNOWN_PAGES * BLCKSZ;
	return status.st_size;
}

/* Estimates how much there is in the file. */
static void
estimate_size(RelOptInfo *baserel, FilePlanState *state)
{
	off_t		size = file_size(&state->options);

	state->pages = Max(1, (size + (BLCKSZ - 1)) / BLCKSZ);
	if (baserel->tuples >= 0 && baserel->pages > 0)
		state->rows = clamp_row_est(baserel->tuples / baserel->pages *
									state->pages);
	else
		state->rows = clamp_row_est((double) size /
									(MAXALIGN(baserel->reltarget->width) +
									 MAXALIGN(SizeofHeapTupleHeader)));
}

/*
 * The names of the columns that the query references, or NIL if COPY is to
 * convert all: if a whole row is referenced, if all of them are, and, as in
 * file_fdw, if none is.
 */
static List *
referenced_columns(RelOptInfo *baserel, Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *attrs = NULL;
	List	   *columns = NIL;
	int			ncolumns = 0;
	bool		is_whole;
	ListCell   *cell;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &attrs);
	foreach(cell, baserel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause,
					   baserel->relid, &attrs);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attisdropped)
			continue;
		ncolumns++;
		if (bms_is_member(attribute->attnum - FirstLowInvalidHeapAttributeNumber,
						  attrs) && !attribute->attgenerated)
			columns = lappend(columns,
							  makeString(pstrdup(NameStr(attribute->attname))));
	}
	table_close(rel, AccessShareLock);
	is_whole = bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber,
							 attrs);
	return is_whole || list_length(columns) == ncolumns ? NIL : columns;
}

/* Estimates how many rows the scan returns. */
void
tollfreeGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	FilePlanState *state = palloc0(sizeof(FilePlanState));

	state->options = options_read(relid);
	estimate_size(baserel, state);
	baserel->rows = clamp_row_est(state->rows *
								  clauselist_selectivity(root,
														 baserel->baserestrictinfo,
														 0, JOIN_INNER, NULL));
	baserel->fdw_private = state;
}

/* Offers the ways to scan the file. */
void
tollfreeGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	FilePlanState *state = baserel->fdw_private;
	Cost		startup = baserel->baserestrictcost.startup;
	Cost		per_row = COPY_ROW_COST * cpu_tuple_cost +
		baserel->baserestrictcost.per_tuple;
	Cost		total = startup + seq_page_cost * state->pages +
		per_row * state->rows;

	state->columns = referenced_columns(baserel, relid);
	add_path(baserel, (Path *)
			 compat_create_scan_path(root, baserel, baserel->rows, startup,
									 total, list_make1(state->columns)));
}

/* Makes the plan of a path. */
ForeignScan *
tollfreeGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid relid,
					   ForeignPath *best_path, List *tlist, List *scan_clauses,
					   Plan *outer_plan)
{
	return make_foreignscan(tlist, extract_actual_clauses(scan_clauses, false),
							baserel->relid, NIL, best_path->fdw_private, NIL,
							NIL, outer_plan);
}

/* Any process may scan the file. */
bool
tollfreeIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
								  RangeTblEntry *rte)
{
	return true;
}
