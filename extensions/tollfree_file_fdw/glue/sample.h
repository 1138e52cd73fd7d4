/*
 * sample.h
 *	  Parts of a file, to find out what is in it.
 */
#ifndef TOLLFREE_FILE_SAMPLE_H
#define TOLLFREE_FILE_SAMPLE_H

#include "base/core.h"
#include "core/sniff.h"

/* The beginning, the middle and the end */
#define SAMPLE_PIECES 3

typedef struct FileSample
{
	FileCompression compression;
	bool		has_mark;		/* does it begin with a byte order mark? */
	bool		is_whole;		/* is it all of the file? */
	int			npieces;
	SniffPiece	pieces[SAMPLE_PIECES];	/* without the mark */
} FileSample;

extern FileSample sample_read(const char *path);

#endif							/* TOLLFREE_FILE_SAMPLE_H */
