/*
 * scan_state.h
 *	  The state of a scan of a file.
 */
#ifndef TOLLFREE_FILE_SCAN_STATE_H
#define TOLLFREE_FILE_SCAN_STATE_H

#include "nodes/execnodes.h"

#include "base/core.h"
#include "cache/kept.h"
#include "exec/join_filter.h"
#include "input/files.h"
#include "input/input.h"
#include "read/select.h"
#include "share/parallel.h"

/* In the fdw_state of a ForeignScanState. */
typedef struct FileScanState
{
	ScanInput	input;			/* what it reads from, and how far it is */
	KeptFile	kept;			/* what is kept of that; in the leader of
								 * several processes, until the file has been
								 * cut; then only if segments are used or made */
	ManyFiles	files;			/* of a table that has many */
	ParallelShare share;		/* in a scan by several processes */
	RowBitmap	selected;		/* rows of its batch that are to be returned */
	int			row;			/* the next one of the batch to look at */

	/* Conditions taken over from the executor */
	FilterNode *filter;			/* for batches; NULL if there are none */
	RowSelector *selector;		/* applies it to text */
	RowSelector *cached_selector;	/* the same, to column segments */
	ExprState  *filter_quals;	/* the same, for single rows */
	int			npushed;		/* of the plan's conditions, the first */

	JoinFilters *joins;			/* of hash joins above; NULL if there are none */

	struct AggregateScan *aggregate;	/* if groups are returned, else NULL */
} FileScanState;

/* When text is converted: errors in rows that a condition drops are to be seen. */
static inline SelectMode
scan_text_mode(const FileScanState *scan)
{
	return scan->input.options.is_lazy ? SELECT_IN_TURNS : SELECT_AT_ONCE;
}

/*
 * How rows of the present batch are selected.  Columns of segments wait for filters
 * in any table: nothing in them can be an error.
 */
static inline RowSelector *
scan_selector(const FileScanState *scan)
{
	return scan->input.batches->methods->is_text ? scan->selector :
		scan->cached_selector;
}

/* Is the file read by blocks of a record index? */
static inline bool
scan_uses_index(const FileScanState *scan)
{
	return scan->share.file == NULL ? scan->kept.index.role == INDEX_USED :
		scan->share.file->by_index;
}

/* sources.c */
extern void sources_begin(FileScanState *scan, bool may_end_early);

#endif							/* TOLLFREE_FILE_SCAN_STATE_H */
