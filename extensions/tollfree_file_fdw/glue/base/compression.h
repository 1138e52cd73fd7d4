/*
 * compression.h
 *	  The option "compression" of a foreign table.
 */
#ifndef TOLLFREE_FILE_COMPRESSION_H
#define TOLLFREE_FILE_COMPRESSION_H

#include "base/core.h"
#include "base/options.h"

extern FileCompression compression_parse(const char *value, bool *by_suffix);
extern FileCompression compression_of(const FileOptions *options,
									  const char *filename);
extern int64 compression_guess_text(const FileOptions *options,
									const char *filename, int64 size);
extern bool compression_is_possible(const FileOptions *options);

#endif							/* TOLLFREE_FILE_COMPRESSION_H */
