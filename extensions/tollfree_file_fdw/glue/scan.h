/*
 * scan.h
 *	  The state of a scan of a file.
 */
#ifndef TOLLFREE_FILE_SCAN_H
#define TOLLFREE_FILE_SCAN_H

#include "commands/copy.h"

#include "options.h"

/* In the fdw_state of a ForeignScanState. */
typedef struct FileScanState
{
	FileOptions options;
	List	   *columns;		/* String: those to convert; NIL means all */
	CopyFromState copy;			/* NULL if only explained */
	const char *slow_reason;	/* why COPY's parser reads; NULL if it does
								 * not */
} FileScanState;

#endif							/* TOLLFREE_FILE_SCAN_H */
