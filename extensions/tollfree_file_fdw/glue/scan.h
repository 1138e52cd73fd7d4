/*
 * scan.h
 *	  The state of a scan of a file.
 */
#ifndef TOLLFREE_FILE_SCAN_H
#define TOLLFREE_FILE_SCAN_H

#include "nodes/execnodes.h"

#include "core.h"
#include "file.h"
#include "reader.h"
#include "select.h"

/* More reasons than there are; others would be counted as the last one. */
#define MAX_FALLBACK_REASONS 16
#define MAX_FALLBACK_WORDS 64

/* Why workers have left the fast path. */
typedef struct Fallbacks
{
	int			nworkers;
	int			nreasons;
	struct
	{
		char		words[MAX_FALLBACK_WORDS];
		int			times;
	}			reasons[MAX_FALLBACK_REASONS];
} Fallbacks;

/*
 * In the fdw_state of a ForeignScanState.
 *
 * The file is open from its first row to its last; one that cannot be opened a
 * second time, from the beginning to the end of the scan.  While there is a
 * reader, rows come from its batches; without it, from COPY's parser.  A scan
 * that returns groups has a reader of its own for the file of the scan below it,
 * which opens and closes it.
 */
typedef struct FileScanState
{
	Relation	rel;
	FileOptions options;
	FileLayout	layout;
	FileColumns columns;		/* those that a reader converts */
	int			encoding;		/* of the file, when the scan began */
	bool		can_wait;		/* is it opened when it is read? */
	OpenFile   *file;			/* or NULL; if groups are returned, that of
								 * the scan below */
	bool		is_reopened;	/* has the scan above started this one again,
								 * as the executor has still to do? */
	bool		is_begun;		/* has it been decided who reads? */
	bool		is_finished;	/* has all been returned? */
	uint64		rejected;		/* rows skipped, of a file that was closed */
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
	Fallbacks	worker_fallbacks;	/* of all workers, in the leader at the
									 * end; as are the next two */
	uint64		worker_bytes_read;
	const char *undivided;		/* which part one process has read; or NULL */
	bool		is_shut_down;	/* may what is shared be gone? */

	struct AggregateScan *aggregate;	/* if groups are returned, else NULL */
} FileScanState;

extern void scan_begin_reading(ForeignScanState *node);
extern uint64 scan_bytes_read(const FileScanState *scan);
extern bool scan_read_batch(FileScanState *scan);
extern void scan_close_reader(FileScanState *scan);
extern void scan_leave_file(ForeignScanState *node);
extern void scan_check_required(const FileScanState *scan);

#endif							/* TOLLFREE_FILE_SCAN_H */
