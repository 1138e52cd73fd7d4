/*
 * scan.h
 *	  The state of a scan of a file.
 */
#ifndef TOLLFREE_FILE_SCAN_H
#define TOLLFREE_FILE_SCAN_H

#include "commands/copy.h"
#include "nodes/execnodes.h"

#include "core.h"
#include "reader.h"
#include "select.h"

/*
 * In the fdw_state of a ForeignScanState.
 *
 * COPY's state has the file open in any case.  While there is a reader, rows
 * come from its batches; without it, from COPY's parser.
 */
typedef struct FileScanState
{
	Relation	rel;
	FileOptions options;
	FileLayout	layout;
	List	   *names;			/* String: the columns that COPY is to
								 * convert; NIL means all */
	FileColumns columns;		/* those that a reader does */
	CopyFromState copy;			/* NULL if only explained */
	struct FileLease *lease;	/* of its file, if opened in a subtransaction */
	bool		is_begun;		/* has it been decided who reads? */
	const char *slow_reason;	/* why there was no reader; NULL if there was */
	char	   *handover;		/* where and why it stopped, or NULL */

	FileReader *reader;
	RowBitmap	selected;		/* rows of its batch that are to be returned */
	int			row;			/* the next one of the batch to look at */
	uint64		bytes_read;		/* by readers that have been closed */

	/* Conditions taken over from the executor */
	FilterNode *filter;			/* for batches; NULL if there are none */
	RowSelector *selector;		/* applies it */
	ExprState  *filter_quals;	/* the same, for single rows */
	int			npushed;		/* of the plan's conditions, the first */

	/* A scan by several processes */
	struct ParallelFile *parallel;	/* what they share, or NULL */
	bool		has_chunk;		/* has this one taken a chunk to read? */
	uint32		chunk;			/* the one it has taken last */
	List	   *taken;			/* the chunks taken, if groups are returned */
	List	   *owed;			/* chunks to be read before more are taken */
	bool		is_copying;		/* has COPY's parser taken over? */
	bool		is_noted;		/* has this worker been counted for that? */
	uint32		worker_fallbacks;	/* how many were, in the leader at the end */
	uint64		worker_bytes_read;	/* by all of them, likewise */
	bool		is_shut_down;	/* may what is shared be gone? */

	struct AggregateScan *aggregate;	/* if groups are returned, else NULL */
} FileScanState;

extern Index scan_rtindex(const ForeignScan *plan);
extern void scan_begin_reading(ForeignScanState *node);
extern uint64 scan_bytes_read(const FileScanState *scan);
extern bool scan_read_batch(FileScanState *scan);
extern bool scan_open_reader(FileScanState *scan);
extern void scan_close_file(FileScanState *scan);
extern void scan_check_required(const FileScanState *scan);

#endif							/* TOLLFREE_FILE_SCAN_H */
