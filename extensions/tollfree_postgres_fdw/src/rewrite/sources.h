/*
 * sources.h
 *	  Where the collations of an expression come from.
 */
#ifndef TOLLFREE_FDW_SOURCES_H
#define TOLLFREE_FDW_SOURCES_H

#include "nodes/bitmapset.h"
#include "nodes/primnodes.h"

extern bool sources_is_known(const Node *node);
extern Node *sources_find_other(Node *expr, const Bitmapset *relids,
								Oid *collation);

#endif							/* TOLLFREE_FDW_SOURCES_H */
