/*
 * readable.h
 *	  The foreign tables that functions of ours are given.
 */
#ifndef TOLLFREE_FILE_READABLE_H
#define TOLLFREE_FILE_READABLE_H

#include "utils/rel.h"

extern Relation readable_open(Oid relid);

#endif							/* TOLLFREE_FILE_READABLE_H */
