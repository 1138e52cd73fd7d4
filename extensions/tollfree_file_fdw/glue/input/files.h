/*
 * files.h
 *	  Many files, as a source of ranges: each is one.
 */
#ifndef TOLLFREE_FILE_FILES_H
#define TOLLFREE_FILE_FILES_H

#include "port/atomics.h"

#include "input/input.h"

/* Lives as long as the scan. */
typedef struct ManyFiles
{
	RangeSource base;
	ScanInput  *input;			/* what opens them */
	const FilePaths *paths;
	int			next;			/* the file to be opened next */
	pg_atomic_uint32 *dealt;	/* the same of several processes; or NULL */
	bool		keeps_taken;	/* may a scan below have to read them again? */
	List	   *taken;			/* Integer: dealt files, if they are kept */
	List	   *owed;			/* files to be read before more are taken */
} ManyFiles;

extern RangeSource *files_begin(ManyFiles *files, ScanInput *input,
								const FilePaths *paths,
								pg_atomic_uint32 *dealt);
extern void files_pass_down(ManyFiles *files, ManyFiles *below);
extern void files_forget(ManyFiles *files);

#endif							/* TOLLFREE_FILE_FILES_H */
