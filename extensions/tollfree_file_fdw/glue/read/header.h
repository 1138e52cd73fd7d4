/*
 * header.h
 *	  Columns by the names that a file's header has for them.
 */
#ifndef TOLLFREE_FILE_HEADER_H
#define TOLLFREE_FILE_HEADER_H

#include "utils/rel.h"

#include "base/columns.h"
#include "base/options.h"

extern FileOptions header_options(Relation rel, const FileOptions *options,
								  int encoding, const char *filename);
extern FileColumns header_columns(const FileColumns *columns, Relation rel,
								  const FileOptions *options,
								  bool *has_defaults);

#endif							/* TOLLFREE_FILE_HEADER_H */
