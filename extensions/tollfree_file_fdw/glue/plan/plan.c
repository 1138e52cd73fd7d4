/*
 * plan.c
 *	  Planning the scan of a file.
 *
 * Sizes are estimated as file_fdw does, from the file's length on disk and,
 * once the table has been analyzed, from the density of rows found then; before
 * that, from the density that a record index knows.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/compression.h"
#include "base/guc.h"
#include "cache/index_file.h"
#include "plan/callbacks.h"
#include "plan/plan.h"
#include "plan/plan_files.h"
#include "read/packed.h"
#include "translate/inputs.h"

/* Assumed of a program's output and of a file that cannot be looked at */
#define UNKNOWN_PAGES 10

/* What COPY's parser needs for a row, in units of cpu_tuple_cost */
#define COPY_ROW_COST 10

/* What it takes to open one of many files, in units of cpu_tuple_cost */
#define FILE_OPEN_COST 100

/* What core/ needs for a value, in units of cpu_operator_cost */
#define CORE_VALUE_COST 0.5

/* Looks at the file: its length, or a guess; is it a pipe, or another special one? */
static void
look_at_file(FilePlanState *state)
{
	struct stat status;

	state->size = state->text_size = UNKNOWN_PAGES * BLCKSZ;
	if (state->options.is_program || stat(state->options.filename, &status) < 0)
		return;
	state->is_special = !S_ISREG(status.st_mode);
	state->size = status.st_size;
	state->text_size = compression_guess_text(&state->options,
											  state->options.filename,
											  status.st_size);
	state->modified_ns = status.st_mtim.tv_sec * INT64CONST(1000000000) +
		status.st_mtim.tv_nsec;
}

/*
 * How many rows the record index knows of for a byte of the file, of that size and
 * about that many fields; 0 if there is none.
 */
static double
indexed_density(Oid relid, const FileOptions *options, int64 size, int nfields)
{
	IndexHeader header;

	if (!options_keep_index(options) ||
		!index_may_have_blocks(size, nfields) ||
		!index_file_load_header(relid, &header))
		return 0;
	return (double) header.nrows / header.size;
}

/* How many pages a number of bytes takes. */
static BlockNumber
count_pages(off_t size)
{
	return Max(1, (size + (BLCKSZ - 1)) / BLCKSZ);
}

/* Estimates how many rows are in that many bytes of the table's data, all of it. */
static double
estimate_rows(const RelOptInfo *baserel, Oid relid, const FilePlanState *state,
			  off_t size)
{
	double		density;

	if (baserel->tuples >= 0 && baserel->pages > 0)
		return baserel->tuples / baserel->pages * count_pages(size);
	density = indexed_density(relid, &state->options, size, baserel->max_attr);
	if (density > 0)
		return density * size;
	return (double) state->text_size / (MAXALIGN(baserel->reltarget->width) +
										MAXALIGN(SizeofHeapTupleHeader));
}

/*
 * Estimates how much there is in the file, which has been looked at.  Of many files
 * those that are read have their part of all rows.
 */
static void
estimate_size(RelOptInfo *baserel, Oid relid, FilePlanState *state)
{
	double		rows;

	state->pages = count_pages(state->size);
	if (state->options.pattern == NULL)
		rows = estimate_rows(baserel, relid, state, state->size);
	else
		rows = estimate_rows(baserel, relid, state, state->total) *
			state->size / Max(1, state->total);
	state->rows = clamp_row_est(rows);
}

/*
 * Finds the columns that the query references.  COPY is to convert all if a
 * whole row is referenced, if all of them are, and, as in file_fdw, if none is.
 */
static void
plan_find_columns(RelOptInfo *baserel, Oid relid, FilePlanState *state)
{
	Relation	rel = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *attrs = NULL;
	int			nfields = 0;
	bool		is_whole;
	ListCell   *cell;

	pull_varattnos((Node *) baserel->reltarget->exprs, baserel->relid, &attrs);
	foreach(cell, baserel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, cell)->clause,
					   baserel->relid, &attrs);
	is_whole = bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber,
							 attrs);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		bool		is_used = bms_is_member(attribute->attnum -
											FirstLowInvalidHeapAttributeNumber,
											attrs);

		if (attribute->attisdropped || attribute->attgenerated)
			continue;
		if (bms_is_member(attribute->attnum, state->options.computed_attnums))
		{
			if (is_used || is_whole)
				state->computed = lappend_int(state->computed, attribute->attnum);
			continue;
		}
		nfields++;
		if (is_used)
			state->columns = lappend(state->columns,
									 makeString(pstrdup(NameStr(attribute->attname))));
	}
	table_close(rel, AccessShareLock);
	if (nfields == 0)
		state->slow_reason = "no columns";
	state->counts_only = state->options.is_lazy && !is_whole &&
		state->columns == NIL;
	if (is_whole || list_length(state->columns) == nfields)
		state->columns = NIL;
	if (state->columns == NIL && !state->counts_only)
		state->ncolumns = nfields;
	else
		state->ncolumns = list_length(state->columns);
}

/* Estimates how many rows the scan returns. */
void
tollfreeGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	FilePlanState *state = palloc0(sizeof(FilePlanState));
	List	   *conditions = baserel->baserestrictinfo;

	state->options = options_read(relid);
	state->slow_reason = format_unsupported(&state->options, &state->layout);
	if (state->options.pattern != NULL)
		conditions = plan_look_at_files(root, baserel, relid, state);
	else
		look_at_file(state);
	estimate_size(baserel, relid, state);
	baserel->rows = clamp_row_est(state->rows *
								  clauselist_selectivity(root, conditions, 0,
														 JOIN_INNER, NULL));
	baserel->fdw_private = state;
}

/* What it costs to convert the values of a row. */
static Cost
row_cost(const FilePlanState *state)
{
	if (state->slow_reason != NULL)
		return COPY_ROW_COST * cpu_tuple_cost;
	return CORE_VALUE_COST * cpu_operator_cost * state->ncolumns;
}

/*
 * What it costs one process to read the file if it converts that part of its
 * rows.  Pages are no cheaper for several, as in PostgreSQL's own scans.
 */
Cost
plan_read_cost(const FilePlanState *state, double part)
{
	return seq_page_cost * state->pages +
		FILE_OPEN_COST * cpu_tuple_cost * state->nfiles +
		row_cost(state) * state->rows * part;
}

/* By how many processes the work is divided with nworkers workers and the leader. */
double
plan_parallel_divisor(int nworkers)
{
	double		leader = 1.0 - 0.3 * nworkers;

	return nworkers + (parallel_leader_participation ? Max(0.0, leader) : 0);
}

/* Is there anything in an expression that the next execution may change? */
static bool
may_change(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && castNode(Param, node)->paramkind == PARAM_EXEC)
		return true;
	return expression_tree_walker(node, may_change, context);
}

/*
 * Is there a LIMIT above the scan that may be another one for the next outer row?
 * PostgreSQL has workers stop when they have returned as many rows as the first
 * LIMIT lets through, whatever it is when they are started again.
 */
static bool
limit_may_change(const PlannerInfo *root)
{
	for (; root != NULL && root->query_level > 1; root = root->parent_root)
	{
		Node	   *count = root->parse->limitCount;
		Node	   *offset = root->parse->limitOffset;

		if (may_change(count, NULL) || may_change(offset, NULL) ||
			contain_volatile_functions(count) ||
			contain_volatile_functions(offset))
			return true;
	}
	return false;
}

/* How many of these columns are not among the fields of an index, in ascending order? */
static int
plan_count_missing(const uint32 *fields, uint32 nfields, const FileColumns *columns)
{
	uint32		n = 0;
	int			nmissing = 0;

	for (int i = 0; i < columns->ncolumns; i++)
	{
		while (n < nfields && fields[n] < columns->specs[i].field)
			n++;
		nmissing += n == nfields || fields[n] != columns->specs[i].field;
	}
	return nmissing;
}

/*
 * Has the scan to add a column to the file's record index, which has room for it?
 * One process has to do that.  Of a lazy table it is not known here which columns
 * the scan would add.
 */
static bool
adds_to_index(Oid relid, const FilePlanState *state)
{
	IndexHeader header;
	uint32	   *fields;
	Relation	rel;
	FileColumns columns;
	int			nmissing;

	if (!options_keep_index(&state->options) || state->options.is_lazy ||
		!index_file_load_fields(relid, &header, &fields) ||
		header.size != state->size || header.modified_ns != state->modified_ns)
		return false;
	rel = table_open(relid, NoLock);
	columns = columns_describe(rel, &state->options, state->columns,
							   state->counts_only);
	table_close(rel, NoLock);
	nmissing = plan_count_missing(fields, header.ncolumns, &columns);
	return nmissing > 0 && index_file_has_room(&header, nmissing);
}

/*
 * How many workers may scan the file with the leader; 0 if it has to do alone.
 * Each opens it: a pipe that is opened again waits for another writer.  Each may
 * come to let COPY's parser convert what there is to convert.  Of many files each is
 * read by one of them.  Rows that are left out have a limit, and are told of once.
 */
int
plan_parallel_workers(PlannerInfo *root, RelOptInfo *baserel)
{
	FilePlanState *state = baserel->fdw_private;
	Oid			relid = planner_rt_fetch(baserel->relid, root)->relid;
	bool		has_many = state->options.pattern != NULL;
	int			nworkers;

	if (!baserel->consider_parallel || !setting_parallel_scan ||
		state->slow_reason != NULL || state->is_special ||
		options_leave_out(&state->options) ||
		!bms_is_empty(baserel->lateral_relids) || limit_may_change(root) ||
		(!has_many && !format_is_divisible(&state->layout)))
		return 0;
	nworkers = compute_parallel_worker(baserel, state->pages, -1,
									   max_parallel_workers_per_gather);
	if (has_many)
		nworkers = Min(nworkers, state->nfiles - 1);
	if (nworkers > 0 && !has_many && compression_is_possible(&state->options) &&
		!packed_may_have_members(state->options.filename,
								 compression_of(&state->options,
												state->options.filename)))
		return 0;
	if (nworkers > 0 &&
		(!inputs_are_parallel_safe(relid, &state->options, state->columns) ||
		 adds_to_index(relid, state)))
		return 0;
	return nworkers;
}

/* A scan that returns that part of the rows, as one of several processes does. */
ForeignPath *
plan_scan_path(PlannerInfo *root, RelOptInfo *baserel, double part)
{
	FilePlanState *state = baserel->fdw_private;
	Cost		startup = baserel->baserestrictcost.startup;
	Cost		per_row = baserel->baserestrictcost.per_tuple;

	if (state->slow_reason == NULL)
		per_row += cpu_tuple_cost;
	return compat_create_scan_path(root, baserel,
								   clamp_row_est(baserel->rows * part), startup,
								   startup + plan_read_cost(state, part) +
								   per_row * state->rows * part,
								   list_make5(makeString(FILE_BUILD),
											  state->columns,
											  makeBoolean(state->counts_only),
											  state->computed,
											  list_make2_int(state->nfiles,
															 state->nall)));
}

/* Offers the ways to scan the file. */
void
tollfreeGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	ForeignPath *path;
	int			nworkers;

	plan_find_columns(baserel, relid, baserel->fdw_private);
	add_path(baserel, (Path *) plan_scan_path(root, baserel, 1));

	nworkers = plan_parallel_workers(root, baserel);
	if (nworkers <= 0)
		return;
	path = plan_scan_path(root, baserel, 1 / plan_parallel_divisor(nworkers));
	path->path.parallel_aware = true;
	path->path.parallel_workers = nworkers;
	add_partial_path(baserel, (Path *) path);
}

/* The scan that returns rows: the plan itself, or one below a plan that aggregates. */
const ForeignScan *
plan_find_scan(const Plan *plan)
{
	while (!IsA(plan, ForeignScan) ||
		   ((const ForeignScan *) plan)->scan.scanrelid == 0)
		plan = outerPlan(plan);
	return (const ForeignScan *) plan;
}

/*
 * Raises an ERROR if another build of the library has made a plan.  A worker loads
 * the file that is installed by now, which its leader may not have: then it can read
 * neither the plan nor what they share.
 */
void
plan_check_build(const ForeignScan *plan)
{
	Node	   *build = plan->fdw_private == NIL ? NULL :
		linitial(plan->fdw_private);

	/* Builds without this began with a list, or with NIL. */
	if (build == NULL || !IsA(build, String) ||
		strcmp(strVal(build), FILE_BUILD) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tollfree_file_fdw was replaced after this session had loaded it"),
				 errhint("Connect again, or set \"max_parallel_workers_per_gather\" to 0.")));
}

/* Any process may scan all of the file, as with file_fdw: whatever is in it. */
bool
tollfreeIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
								  RangeTblEntry *rte)
{
	return true;
}
