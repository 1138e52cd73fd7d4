/*
 * scan.h
 *	  The state of a scan of a file.
 */
#ifndef TOLLFREE_FILE_SCAN_H
#define TOLLFREE_FILE_SCAN_H

#include "nodes/execnodes.h"

#include "base/core.h"
#include "exec/join_filter.h"
#include "input/input.h"
#include "read/select.h"

/* In the fdw_state of a ForeignScanState. */
typedef struct FileScanState
{
	ScanInput	input;			/* what it reads from, and how far it is */
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
	return input_uses_segments(&scan->input) ? scan->cached_selector :
		scan->selector;
}

#endif							/* TOLLFREE_FILE_SCAN_H */
