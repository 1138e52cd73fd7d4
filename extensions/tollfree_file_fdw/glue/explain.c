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

/* The fast path taken, or why there is none, in a few words. */
static char *
describe_path(const FileScanState *scan, const Plan *plan)
{
	int			nquals = list_length(plan->qual);
	StringInfoData words;

	if (scan->slow_reason != NULL)
		return psprintf("none (%s)", scan->slow_reason);
	initStringInfo(&words);
	appendStringInfo(&words, "%s scan", setting_kernel()->name);
	if (scan->npushed > 0)
		appendStringInfoString(&words, ", filter");
	if (scan->aggregate == NULL && scan->npushed > 0 && scan->npushed < nquals)
		appendStringInfo(&words, " (%d of %d conditions)", scan->npushed,
						 nquals);
	if (plan->parallel_aware)
		appendStringInfoString(&words, ", parallel");
	if (scan->aggregate != NULL)
		appendStringInfoString(&words, ", aggregate");
	if (scan->aggregate != NULL && scan->aggregate->fallback != NULL)
		appendStringInfo(&words, ", given up for %s",
						 scan->aggregate->fallback);
	if (scan->handover != NULL)
		appendStringInfo(&words, ", stopped by %s", scan->handover);
	if (scan->worker_fallbacks > 0)
		appendStringInfo(&words, ", fallback in %u workers",
						 scan->worker_fallbacks);
	return words.data;
}

/* Adds lines about the scan to EXPLAIN's output. */
void
tollfreeExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	FileScanState *scan = node->fdw_state;
	const FileOptions *options = &scan->options;
	struct stat status;

	ExplainPropertyText(options->is_program ? "Foreign Program" : "Foreign File",
						options->filename, es);
	if (es->costs && !options->is_program &&
		stat(options->filename, &status) == 0)
		ExplainPropertyInteger("Foreign File Size", "b",
							   (int64) status.st_size, es);
	ExplainPropertyText("Fast Path",
						describe_path(scan, node->ss.ps.plan), es);
	if (es->analyze && scan->slow_reason == NULL)
		ExplainPropertyUInteger("Fast Path Read", "b",
								scan_bytes_read(scan) + scan->worker_bytes_read,
								es);
}
