/*
 * inputs.h
 *	  What the input functions of columns may do.
 */
#ifndef TOLLFREE_FILE_INPUTS_H
#define TOLLFREE_FILE_INPUTS_H

#include "base/columns.h"

extern bool inputs_are_parallel_safe(Oid relid, const FileOptions *options,
									 List *names);
extern bool inputs_are_repeatable(Relation rel, const FileColumns *columns);

#endif							/* TOLLFREE_FILE_INPUTS_H */
