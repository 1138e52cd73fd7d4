/*
 * explain.c
 *	  What EXPLAIN says about the scan of a file: what file_fdw says, and
 *	  which path reads it.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "nodes/makefuncs.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "base/compat.h"
#include "base/compression.h"
#include "base/guc.h"
#include "base/options.h"
#include "exec/aggregate_scan.h"
#include "plan/callbacks.h"
#include "plan/plan.h"

/* Why workers have left the fast path, and how often. */
static void
describe_fallbacks(const Fallbacks *fallbacks, StringInfo words)
{
	if (fallbacks->nworkers == 0)
		return;
	appendStringInfo(words, ", fallback in %d workers", fallbacks->nworkers);
	for (int i = 0; i < fallbacks->nreasons; i++)
		appendStringInfo(words, "%s%s: %d", i == 0 ? " (" : ", ",
						 fallbacks->reasons[i].words,
						 fallbacks->reasons[i].times);
	appendStringInfoChar(words, ')');
}

/* Which hash joins above tell the scan what rows they drop. */
static void
describe_joins(const JoinFilters *joins, StringInfo words)
{
	int			count = joins == NULL ? 0 : join_filters_count(joins);
	int			npaused = joins == NULL ? 0 : join_filters_count_paused(joins);
	const char *reason = joins == NULL ? NULL :
		join_filters_unused_reason(joins);

	if (count == 1)
		appendStringInfoString(words, ", join filter");
	if (count > 1)
		appendStringInfo(words, ", %d join filters", count);
	if (npaused == 1 && count == 1)
		appendStringInfoString(words, " (paused: few rows dropped)");
	else if (npaused > 0)
		appendStringInfo(words, " (%d paused: few rows dropped)", npaused);
	if (reason != NULL)
		appendStringInfo(words, ", no%s join filter (%s)",
						 count > 0 ? " other" : "", reason);
}

/* The fast path taken, or why there is none, in a few words. */
static char *
describe_path(const FileScanState *scan, const Plan *plan)
{
	const ScanInput *input = &scan->input;
	int			nquals = list_length(plan->qual);
	StringInfoData words;

	if (input->slow_reason != NULL)
		return psprintf("none (%s)", input->slow_reason);
	initStringInfo(&words);
	appendStringInfo(&words, "%s scan", setting_kernel()->name);
	if (scan->npushed > 0)
		appendStringInfoString(&words, ", filter");
	if (scan->aggregate == NULL && scan->npushed > 0 && scan->npushed < nquals)
		appendStringInfo(&words, " (%d of %d conditions)", scan->npushed,
						 nquals);
	describe_joins(scan->joins, &words);
	if (plan->parallel_aware)
		appendStringInfoString(&words, ", parallel");
	if (scan->share.undivided != NULL)
		appendStringInfo(&words, ", %s read by one process", scan->share.undivided);
	if (scan->aggregate != NULL)
		appendStringInfoString(&words, ", aggregate");
	if (scan->aggregate != NULL && scan->aggregate->fallback != NULL)
		appendStringInfo(&words, ", given up for %s",
						 scan->aggregate->fallback);
	if (input->handover != NULL)
		appendStringInfo(&words, ", stopped by %s", input->handover);
	if (input_has_many(input) && input->nhandovers > 1)
		appendStringInfo(&words, " (the last of %d)", input->nhandovers);
	describe_fallbacks(&scan->share.worker_fallbacks, &words);
	return words.data;
}

/* The name of a column that the scan converts. */
static const char *
column_name(const ScanInput *input, int column)
{
	AttrNumber	attnum = input->columns.attnums[column];

	return NameStr(TupleDescAttr(RelationGetDescr(input->rel), attnum - 1)->attname);
}

/* Why there is no record index, in the scan that would have made one; or NULL. */
static const char *
describe_no_index(const FileScanState *scan)
{
	bool		is_alone = scan->share.file == NULL;

	if ((input_has_many(&scan->input) ||
		 compression_is_possible(&scan->input.options)) &&
		options_want_index(&scan->input.options))
		return psprintf("none (%s)", scan->kept.index.unused_reason);
	if (!scan->kept.index.is_wanted || !input_is_begun(&scan->input) ||
		(!is_alone && scan->share.maker.use == NULL))
		return NULL;
	/* Of several processes another one may know why. */
	if (scan->kept.index.role == INDEX_FILLED)
		return psprintf("none (%s%s)", scan->kept.index.unmade_reason,
						is_alone ? "" : ", or it could not be stored");
	return psprintf("none (%s)", scan->kept.index.unused_reason);
}

/* Why no block was skipped. */
static void
describe_unskipped(const FileScanState *scan, StringInfo words)
{
	const IndexUse *index = &scan->kept.index;

	if (index->filter == NULL && index->joins == NULL)
		appendStringInfoString(words, " (no filter)");
	else if (index->unclean >= 0)
		appendStringInfo(words, " (column \"%s\" has values with no fast conversion)",
						 column_name(&scan->input, index->unclean));
	else
		appendStringInfoString(words, " (a row of each may pass the filter)");
}

/* What the record index was good for, or why there is none, or NULL. */
static const char *
describe_index(const FileScanState *scan)
{
	const IndexUse *index = &scan->kept.index;
	uint64		written = index->written + scan->share.worker_blocks_written;
	StringInfoData words;

	if (index->blocks + written == 0)
		return describe_no_index(scan);
	initStringInfo(&words);
	if (index->blocks > 0)
		appendStringInfo(&words, UINT64_FORMAT " of " UINT64_FORMAT " blocks skipped",
						 index->skipped + index->unjoined, index->blocks);
	if (index->unjoined > 0)
		appendStringInfo(&words, " (" UINT64_FORMAT " for joins)",
						 index->unjoined);
	if (index->counted > 0)
		appendStringInfo(&words, ", " UINT64_FORMAT " counted", index->counted);
	if (index->blocks > 0 && index->skipped + index->unjoined + index->counted == 0)
		describe_unskipped(scan, &words);
	if (written > 0)
		appendStringInfo(&words, "%s" UINT64_FORMAT " blocks written",
						 words.len > 0 ? ", " : "", written);
	return words.data;
}

/* Why no column segment was looked for or made where they may be kept, or NULL. */
static const char *
describe_no_cache(const FileScanState *scan)
{
	const ScanInput *input = &scan->input;

	if (!options_keep_columns(&input->options) || !input_is_begun(input) ||
		input->slow_reason != NULL)
		return NULL;
	if (!scan->kept.index.is_wanted)
		return psprintf("none (%s)", scan->kept.index.unused_reason);
	if (parallel_index_is_making(&scan->share.maker))
		return "none (several processes make the record index)";
	/* Without an index it is said there why. */
	return NULL;
}

/* What column segments were good for, in all processes, or why there are none. */
static const char *
describe_cache(const FileScanState *scan)
{
	const SegmentCounts *ours = &scan->kept.cache.counts;
	const SegmentCounts *workers = &scan->share.worker_segments;
	uint64		needed = ours->needed + workers->needed;
	uint64		written = ours->written + workers->written;
	StringInfoData words;

	if (needed + written == 0)
		return describe_no_cache(scan);
	initStringInfo(&words);
	if (needed > 0)
		appendStringInfo(&words, UINT64_FORMAT " of " UINT64_FORMAT " segments",
						 ours->used + workers->used, needed);
	if (written > 0)
		appendStringInfo(&words, "%s" UINT64_FORMAT " written",
						 words.len > 0 ? ", " : "", written);
	if (scan->kept.cache.unkept >= 0)
		appendStringInfo(&words, " (column \"%s\": %s)",
						 column_name(&scan->input, scan->kept.cache.unkept),
						 column_cache_missing_reason(&scan->kept.cache,
													 scan->kept.cache.unkept));
	else if (workers->open_column > 0)
		appendStringInfo(&words, " (column \"%s\": %s)",
						 column_name(&scan->input, workers->open_column - 1),
						 COLUMN_CACHE_OPEN_VALUE);
	return words.data;
}

/* How many rows were dropped for hash joins, on average of the scan's executions. */
static void
show_unjoined(const ForeignScanState *node, ExplainState *es)
{
	const FileScanState *scan = node->fdw_state;
	const CompatNodeCounts *counts = node->ss.ps.instrument;

	if (es->analyze && scan->joins != NULL && counts->nloops > 0 &&
		(counts->nfiltered2 > 0 || es->format != EXPLAIN_FORMAT_TEXT))
		ExplainPropertyFloat("Rows Removed by Hash Join", NULL,
							 counts->nfiltered2 / counts->nloops, 0, es);
}

/* Shows what became of what is kept of the file, if there is anything to say. */
static void
show_kept(const char *label, const char *what, ExplainState *es)
{
	if (what != NULL)
		ExplainPropertyText(label, what, es);
}

/* Shows the conditions that are decided for a file as a whole, if there are any. */
static void
show_file_conditions(const ForeignScan *plan, ExplainState *es)
{
	List	   *context;

	if (plan->fdw_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt,
									   unconstify(Plan *, &plan->scan.plan), NIL);
	ExplainPropertyText("File Filter",
						deparse_expression((Node *) make_ands_explicit(plan->fdw_exprs),
										   context, list_length(es->rtable) > 1,
										   false),
						es);
}

/* How long files are, bytes. */
static int64
files_size(const FilePaths *paths)
{
	int64		size = 0;

	for (int i = 0; i < paths->count; i++)
	{
		struct stat status;

		if (stat(paths->names[i], &status) == 0)
			size += status.st_size;
	}
	return size;
}

/*
 * Shows which files are read, and how many of all that there are: as they were when
 * the scan began, or else when it was planned.
 */
static void
show_many(const FileScanState *scan, const ForeignScan *plan, ExplainState *es)
{
	const ScanInput *owner = scan->input.owner;
	const List *planned = list_nth(plan->fdw_private, PLAN_FILES);
	int			nread = linitial_int(planned);
	int			nall = lsecond_int(planned);

	if (owner->paths != NULL)
		nall = owner->paths->count;
	if (owner->is_chosen)
		nread = owner->chosen.count;
	else if (owner->paths != NULL && owner->file_conditions == NULL)
		nread = nall;
	show_file_conditions(plan, es);
	ExplainPropertyText("Foreign Files", owner->options.pattern, es);
	if (es->costs && owner->paths != NULL)
		ExplainPropertyInteger("Foreign File Size", "b",
							   files_size(owner->is_chosen ? &owner->chosen :
										  owner->paths), es);
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyInteger("Files", NULL, nread, es);
		ExplainPropertyInteger("Files Found", NULL, nall, es);
	}
	else
		ExplainPropertyText("Files", nread == nall ? psprintf("%d", nall) :
							psprintf("%d of %d", nread, nall), es);
}

/* Adds the compression of a file to a list of names (char *), if it is a new one. */
static List *
add_compression(List *names, const FileOptions *options, const char *filename)
{
	const Codec *codec = codec_of(compression_of(options, filename));
	ListCell   *cell;

	if (codec == NULL)
		return names;
	foreach(cell, names)
	{
		if (lfirst(cell) == codec->name)
			return names;
	}
	return lappend(names, unconstify(char *, codec->name));
}

/* A list of names (char *) in words. */
static char *
list_words(const List *names)
{
	StringInfoData words;
	ListCell   *cell;

	initStringInfo(&words);
	foreach(cell, names)
		appendStringInfo(&words, "%s%s", words.len > 0 ? ", " : "",
						 (const char *) lfirst(cell));
	return words.data;
}

/* Shows which file is read, as file_fdw does. */
static void
show_one(const FileScanState *scan, ExplainState *es)
{
	const FileOptions *options = &scan->input.options;
	struct stat status;

	ExplainPropertyText(options->is_program ? "Foreign Program" : "Foreign File",
						options->filename, es);
	if (es->costs && !options->is_program &&
		stat(options->filename, &status) == 0)
		ExplainPropertyInteger("Foreign File Size", "b",
							   (int64) status.st_size, es);
}

/*
 * Shows how the files are compressed that are read, if one is; of many files, which
 * ones is known when the scan has begun.
 */
static void
show_compression(const ScanInput *input, ExplainState *es)
{
	const ScanInput *owner = input->owner;
	const FileOptions *options = &owner->options;
	const FilePaths *paths = owner->is_chosen ? &owner->chosen : owner->paths;
	List	   *names = NIL;

	if (options->is_program || !compression_is_possible(options))
		return;
	if (!options->by_suffix)
		names = list_make1(unconstify(char *, codec_of(options->compression)->name));
	else if (options->pattern == NULL)
		names = add_compression(names, options, options->filename);
	else if (paths != NULL)
		for (int i = 0; i < paths->count; i++)
			names = add_compression(names, options, paths->names[i]);
	if (names != NIL)
		ExplainPropertyText("Compression", list_words(names), es);
}

/* Shows how much has been read by the fast path. */
static void
show_bytes(const FileScanState *scan, ExplainState *es)
{
	ByteCounts	bytes = input_count_bytes(&scan->input);
	const ByteCounts *others = &scan->share.worker_bytes;

	if (!es->analyze || scan->input.slow_reason != NULL)
		return;
	ExplainPropertyUInteger("Fast Path Read", "b", bytes.read + others->read, es);
	if (bytes.decoded + others->decoded > 0)
		ExplainPropertyUInteger("Decompressed", "b",
								bytes.decoded + others->decoded, es);
}

/* Shows what the table's options about records have led to in the last execution. */
static void
show_policy(const ScanInput *input, ExplainState *es)
{
	const PolicyCounts counts = input_policy_counts(input);
	const char *words = copy_policy_words(&counts);

	ExplainPropertyText("Irregular Records", words == NULL ? "none" : words, es);
}

/* Adds lines about the scan to EXPLAIN's output. */
void
tollfreeExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	FileScanState *scan = node->fdw_state;

	if (input_has_many(&scan->input))
		show_many(scan, castNode(ForeignScan, node->ss.ps.plan), es);
	else
		show_one(scan, es);
	show_compression(&scan->input, es);
	ExplainPropertyText("Fast Path",
						describe_path(scan, node->ss.ps.plan), es);
	show_bytes(scan, es);
	show_unjoined(node, es);
	if (es->analyze && scan->input.options.errors.ignores &&
		node->ss.ps.instrument->nloops > 0)
		ExplainPropertyUInteger("Rows Left Out", NULL,
								input_left_out(&scan->input), es);
	if (es->analyze && policy_is_active(&scan->input.options.policy) &&
		node->ss.ps.instrument->nloops > 0)
		show_policy(&scan->input, es);
	if (es->analyze)
	{
		show_kept("Record Index", describe_index(scan), es);
		show_kept("Column Cache", describe_cache(scan), es);
	}
}
