/*
 * meaning.h
 *	  Values that mean the same to each server.
 */
#ifndef TOLLFREE_FDW_MEANING_H
#define TOLLFREE_FDW_MEANING_H

#include "nodes/nodes.h"

extern bool meaning_is_plain(Oid type);
extern bool meaning_is_same(const Node *expr, bool is_ordered);

#endif							/* TOLLFREE_FDW_MEANING_H */
