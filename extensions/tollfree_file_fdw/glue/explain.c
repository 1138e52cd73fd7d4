/*
 * explain.c
 *	  What EXPLAIN says about the scan of a file: what file_fdw says, and
 *	  which path reads it.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "aggregate_scan.h"
#include "callbacks.h"
#include "compat.h"
#include "guc.h"

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
	if (plan->parallel_aware)
		appendStringInfoString(&words, ", parallel");
	if (input->share.undivided != NULL)
		appendStringInfo(&words, ", %s read by one process", input->share.undivided);
	if (scan->aggregate != NULL)
		appendStringInfoString(&words, ", aggregate");
	if (scan->aggregate != NULL && scan->aggregate->fallback != NULL)
		appendStringInfo(&words, ", given up for %s",
						 scan->aggregate->fallback);
	if (input->handover != NULL)
		appendStringInfo(&words, ", stopped by %s", input->handover);
	describe_fallbacks(&input->share.worker_fallbacks, &words);
	return words.data;
}

/* What the record index was good for; NULL if there was none. */
static char *
describe_index(const IndexUse *index)
{
	StringInfoData words;

	if (index->blocks + index->written == 0)
		return NULL;
	initStringInfo(&words);
	if (index->blocks > 0)
		appendStringInfo(&words, UINT64_FORMAT " of " UINT64_FORMAT " blocks skipped",
						 index->skipped, index->blocks);
	if (index->counted > 0)
		appendStringInfo(&words, ", " UINT64_FORMAT " counted", index->counted);
	if (index->written > 0)
		appendStringInfo(&words, "%s" UINT64_FORMAT " blocks written",
						 words.len > 0 ? ", " : "", index->written);
	return words.data;
}

/* What column segments were good for; NULL if there were none. */
static char *
describe_cache(const ColumnCache *cache)
{
	StringInfoData words;

	if (cache->needed + cache->written == 0)
		return NULL;
	initStringInfo(&words);
	if (cache->needed > 0)
		appendStringInfo(&words, UINT64_FORMAT " of " UINT64_FORMAT " segments",
						 cache->used, cache->needed);
	if (cache->written > 0)
		appendStringInfo(&words, "%s" UINT64_FORMAT " written",
						 words.len > 0 ? ", " : "", cache->written);
	return words.data;
}

/* Adds lines about the scan to EXPLAIN's output. */
void
tollfreeExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	FileScanState *scan = node->fdw_state;
	const FileOptions *options = &scan->input.options;
	struct stat status;

	ExplainPropertyText(options->is_program ? "Foreign Program" : "Foreign File",
						options->filename, es);
	if (es->costs && !options->is_program &&
		stat(options->filename, &status) == 0)
		ExplainPropertyInteger("Foreign File Size", "b",
							   (int64) status.st_size, es);
	ExplainPropertyText("Fast Path",
						describe_path(scan, node->ss.ps.plan), es);
	if (es->analyze && scan->input.slow_reason == NULL)
		ExplainPropertyUInteger("Fast Path Read", "b",
								input_bytes_read(&scan->input) +
								scan->input.share.worker_bytes_read,
								es);
	if (es->analyze && describe_index(&scan->input.index) != NULL)
		ExplainPropertyText("Record Index",
							describe_index(&scan->input.index), es);
	if (es->analyze && describe_cache(&scan->input.cache) != NULL)
		ExplainPropertyText("Column Cache",
							describe_cache(&scan->input.cache), es);
}
