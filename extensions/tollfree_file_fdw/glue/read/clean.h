/*
 * clean.h
 *	  A file's bytes as COPY's parser takes them, where our options say so.
 */
#ifndef TOLLFREE_FILE_CLEAN_H
#define TOLLFREE_FILE_CLEAN_H

#include "commands/copyfrom_internal.h"

#include "base/core.h"

typedef struct Cleaner Cleaner;

/*
 * Reads bytes of the file's text at an offset: fewer than length perhaps, 0 at its end.
 * held are those of the same record that are kept already.
 */
typedef size_t (*TextReader) (void *file, void *buffer, size_t length,
							  int64 offset, size_t held);

extern Cleaner *cleaner_open(CopyFromState copy, const RecordPolicy *policy);
extern void cleaner_seek(Cleaner *cleaner, int64 offset);
extern int	cleaner_read(Cleaner *cleaner, TextReader read, void *file,
						 char *buffer, int maxread);
extern int64 cleaner_lines_ahead(const Cleaner *cleaner);
extern PolicyCounts cleaner_counts(const Cleaner *cleaner);
extern void cleaner_forget_counts(Cleaner *cleaner);

#endif							/* TOLLFREE_FILE_CLEAN_H */
