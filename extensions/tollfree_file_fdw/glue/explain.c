/*
 * explain.c
 *	  What EXPLAIN says about the scan of a file: what file_fdw says, and
 *	  which path reads it.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "callbacks.h"
#include "compat.h"
#include "scan.h"

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
						psprintf("none (%s)", scan->slow_reason), es);
}
