/*
 * paths.h
 *	  The files that a pattern names.
 */
#ifndef TOLLFREE_FILE_PATHS_H
#define TOLLFREE_FILE_PATHS_H

/* In the order of their bytes, each once. */
typedef struct FilePaths
{
	int			count;
	int			room;
	char	  **names;
} FilePaths;

extern FilePaths paths_find(const char *pattern, bool missing_ok);

#endif							/* TOLLFREE_FILE_PATHS_H */
