/*
 * plan_files.c
 *	  What the planner knows of a table with many files.
 *
 * A condition on columns whose values are of a file's path is decided for a file as
 * a whole: before it is opened, when the query runs.  The plan has such conditions
 * apart from those of rows, as fdw_exprs.
 *
 * For estimates they are decided by the planner, too, as far as their values are known
 * and deciding cannot raise an ERROR.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/sysattr.h"
#include "access/table.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compression.h"
#include "base/paths.h"
#include "plan/plan_files.h"
#include "read/computed.h"

/* Conditions as the planner can decide them, in memory of their own. */
typedef struct FileChoice
{
	EState	   *estate;			/* or NULL: there are no conditions */
	ExprState  *conditions;
	TupleTableSlot *slot;
	ComputedColumns *computed;
} FileChoice;

/* The numbers of columns that have the same value in all rows of a file. */
static Bitmapset *
find_constant(const FileOptions *options)
{
	Bitmapset  *attrs = NULL;
	ListCell   *cell;

	foreach(cell, options->computed)
	{
		const ComputedColumn *column = lfirst(cell);

		if (column->origin != ORIGIN_LINE)
			attrs = bms_add_member(attrs, column->attnum -
								   FirstLowInvalidHeapAttributeNumber);
	}
	return attrs;
}

/*
 * Is it a condition on such columns alone?  It is evaluated before others, so it must
 * not see what those of a security barrier hide.
 */
static bool
is_of_files(RelOptInfo *baserel, RestrictInfo *rinfo, const Bitmapset *constant)
{
	Node	   *clause = (Node *) rinfo->clause;
	Bitmapset  *attrs = NULL;

	pull_varattnos(clause, baserel->relid, &attrs);
	return !rinfo->pseudoconstant && !bms_is_empty(attrs) &&
		bms_is_subset(attrs, constant) &&
		!contain_volatile_functions(clause) && !contain_subplans(clause) &&
		restriction_is_securely_promotable(rinfo, baserel);
}

/* Is there a parameter, or something that has to be planned, in an expression? */
static bool
has_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return true;
	return expression_tree_walker(node, has_parameter, context);
}

/*
 * The condition with what is known put in, if the planner can decide it; else NULL.
 * A function that is leakproof raises no ERROR.
 */
static Node *
decidable(PlannerInfo *root, const RestrictInfo *rinfo)
{
	Node	   *clause = estimate_expression_value(root,
												   copyObjectImpl(rinfo->clause));

	return has_parameter(clause, NULL) || contain_leaked_vars(clause) ? NULL :
		clause;
}

/* Prepares to decide these conditions. */
static void
choice_begin(FileChoice *choice, Relation rel, const FileOptions *options,
			 Index varno, List *conditions)
{
	Bitmapset  *attrs = NULL;
	List	   *attnums = NIL;
	MemoryContext old;
	int			attr = -1;

	choice->estate = CreateExecutorState();
	old = MemoryContextSwitchTo(choice->estate->es_query_cxt);
	pull_varattnos((Node *) conditions, varno, &attrs);
	while ((attr = bms_next_member(attrs, attr)) >= 0)
		attnums = lappend_int(attnums, attr + FirstLowInvalidHeapAttributeNumber);
	choice->computed = computed_open(rel, options, attnums);
	choice->slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
	fix_opfuncids((Node *) conditions);
	choice->conditions = ExecInitQual(conditions, NULL);
	MemoryContextSwitchTo(old);
}

/* Do the conditions let a file be read? */
static bool
choice_has(FileChoice *choice, const char *path)
{
	ExprContext *econtext;

	if (choice->estate == NULL)
		return true;
	econtext = GetPerTupleExprContext(choice->estate);
	computed_set_file(choice->computed, path);
	ExecClearTuple(choice->slot);
	memset(choice->slot->tts_isnull, true,
		   choice->slot->tts_tupleDescriptor->natts);
	computed_store(choice->computed, choice->slot, 0);
	ExecStoreVirtualTuple(choice->slot);
	econtext->ecxt_scantuple = choice->slot;
	return ExecQualAndReset(choice->conditions, econtext);
}

/* Gives back what that has taken. */
static void
choice_end(FileChoice *choice)
{
	if (choice->estate == NULL)
		return;
	ExecDropSingleTupleTableSlot(choice->slot);
	FreeExecutorState(choice->estate);
}

/* Adds up all files that a pattern names by now, and those that are chosen. */
static void
add_files(FilePlanState *state, FileChoice *choice)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "tollfree_file_fdw files",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	FilePaths	paths = paths_find(state->options.pattern, true);
	struct stat status;

	state->size = state->total = state->text_size = 0;
	state->nfiles = 0;
	state->nall = paths.count;
	for (int i = 0; i < paths.count; i++)
	{
		int64		size = stat(paths.names[i], &status) == 0 ? status.st_size : 0;

		state->total += size;
		state->text_size += compression_guess_text(&state->options,
												   paths.names[i], size);
		if (!choice_has(choice, paths.names[i]))
			continue;
		state->nfiles++;
		state->size += size;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/*
 * Finds the conditions that are decided for a file as a whole, and what is to be read
 * by those that the planner can decide.  Returns all others (RestrictInfo).
 */
List *
plan_look_at_files(PlannerInfo *root, RelOptInfo *baserel, Oid relid,
				   FilePlanState *state)
{
	Bitmapset  *constant = find_constant(&state->options);
	Relation	rel = table_open(relid, NoLock);
	FileChoice	choice = {0};
	List	   *decided = NIL;
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		Node	   *clause = NULL;

		if (is_of_files(baserel, rinfo, constant))
		{
			state->file_conditions = lappend(state->file_conditions, rinfo);
			clause = decidable(root, rinfo);
		}
		if (clause == NULL)
			left = lappend(left, rinfo);
		else
			decided = list_concat(decided, make_ands_implicit((Expr *) clause));
	}
	if (decided != NIL)
		choice_begin(&choice, rel, &state->options, baserel->relid, decided);
	add_files(state, &choice);
	choice_end(&choice);
	table_close(rel, NoLock);
	return left;
}
