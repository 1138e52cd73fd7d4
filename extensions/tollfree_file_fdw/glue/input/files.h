/*
 * files.h
 *	  Many files, as a source of ranges: each is one.
 */
#ifndef TOLLFREE_FILE_FILES_H
#define TOLLFREE_FILE_FILES_H

#include "input/input.h"

/* Lives as long as the scan. */
typedef struct ManyFiles
{
	RangeSource base;
	ScanInput  *input;			/* what opens them */
	int			next;			/* the file to be opened next */
	uint64		nread;			/* how many have been opened, in all
								 * executions */
} ManyFiles;

extern RangeSource *files_begin(ManyFiles *files, ScanInput *input);

#endif							/* TOLLFREE_FILE_FILES_H */
