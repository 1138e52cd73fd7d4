/*
 * workers.c
 *	  A scan by several processes, as the executor calls for it: what they share
 *	  is set up, joined and given up.  What they do with it is in parallel.c.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/instrument.h"

#include "exec/scan_state.h"
#include "plan/callbacks.h"

/* How many parts a record index may cut the file into; 0 if none is wanted. */
static uint32
count_parts(const FileScanState *scan)
{
	return scan->kept.index.is_wanted ? MAX_INDEX_PARTS : 0;
}

/* How much shared memory is needed. */
Size
tollfreeEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	FileScanState *scan = node->fdw_state;

	if (input_has_many(&scan->input))
		return offsetof(ParallelFile, parts) +
			parallel_files_size(input_find_paths(&scan->input));
	return offsetof(ParallelFile, parts) +
		sizeof(IndexPart) * count_parts(scan);
}

/* Shares out the files of a table that has many, in the leader. */
static void
share_files(ForeignScanState *node, ParallelFile *shared)
{
	FileScanState *scan = node->fdw_state;
	ScanInput  *input = &scan->input;

	scan->share.is_shut_down = false;
	parallel_cut(shared, NULL, &input->layout, input->encoding,
				 &scan->kept.index, NULL);
	parallel_files_write(shared, input_choose_paths(input));
	parallel_files_join(&scan->share, shared, input->context);
	input_leave(input);
}

/* Cuts the file that has the name by now, in the leader, and closes it. */
static void
share_file(ForeignScanState *node, ParallelFile *shared)
{
	FileScanState *scan = node->fdw_state;
	ScanInput  *input = &scan->input;
	ParallelShare *share = &scan->share;

	share->file = NULL;
	input_forget_early(input);
	/* What is kept of the file is looked for now, to cut it. */
	if (!input_is_begun(input))
		sources_begin(scan, false);
	share->file = shared;
	share->maker.area = node->ss.ps.state->es_query_dsa;
	share->is_shut_down = false;
	shared->max_parts = count_parts(scan);
	parallel_cut(shared, input->reader, &input->layout, input->encoding,
				 &scan->kept.index, share->maker.area);
	scan->kept.index.role = INDEX_UNUSED;
	if (scan->aggregate == NULL)
		InstrCountFiltered1(node, counter_take(&scan->kept.index.skipped_rows));
	input_leave(input);
}

/* Sets up what is shared. */
void
tollfreeInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
								 void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	if (input_has_many(&scan->input))
		share_files(node, coordinate);
	else
		share_file(node, coordinate);
}

/*
 * Sets it up again, for the file that has the name by now.  The executor calls
 * this before it has the leader scan again, which opens the file.
 */
void
tollfreeReInitializeDSMForeignScan(ForeignScanState *node,
								   ParallelContext *pcxt, void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	if (!scan->share.is_shut_down)
		parallel_keep_counts(&scan->share);
	parallel_index_reset(&scan->share.file->made,
						 scan->share.maker.area);
	parallel_packed_reset(&scan->share.file->packed, scan->share.maker.area);
	tollfreeReScanForeignScan(node);
	tollfreeInitializeDSMForeignScan(node, pcxt, coordinate);
}

/*
 * Raises an ERROR if the file has another encoding here than for the leader: it
 * is the client's, and a query may be begun before that is set and go on behind.
 */
static void
check_encoding(const FileScanState *scan)
{
	const ScanInput *input = &scan->input;

	if (input->encoding != scan->share.file->encoding)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("client_encoding was changed while file \"%s\" was read",
						input_name(input)),
				 errhint("Run the query again, or set the table's option \"encoding\".")));
}

/* Lets a worker take part. */
void
tollfreeInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
									void *coordinate)
{
	FileScanState *scan = node->fdw_state;

	scan->share.file = coordinate;
	if (input_has_many(&scan->input))
		parallel_files_join(&scan->share, coordinate, scan->input.context);
	scan->share.maker.area = node->ss.ps.state->es_query_dsa;
	check_encoding(scan);
}

/*
 * Tells the leader what a worker has read; the leader keeps it, since what is
 * shared ends before EXPLAIN.  Comes twice if a LIMIT ends the query, the second
 * time when it has ended.
 */
void
tollfreeShutdownForeignScan(ForeignScanState *node)
{
	FileScanState *scan = node->fdw_state;
	ParallelShare *share = &scan->share;

	if (share->file == NULL || share->is_shut_down)
		return;
	share->is_shut_down = true;
	if (IsParallelWorker())
		parallel_tell_counts(share, input_count_bytes(&scan->input),
							 scan->kept.index.written,
							 &scan->kept.cache.counts);
	else
		parallel_keep_counts(share);
}
