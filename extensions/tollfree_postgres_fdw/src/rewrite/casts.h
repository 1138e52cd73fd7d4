/*
 * casts.h
 *	  Casts to text, and concat, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_CASTS_H
#define TOLLFREE_FDW_CASTS_H

#include "nodes/primnodes.h"

extern bool casts_is_node(const Node *node);
extern Node *casts_replace(Node *expr);

#endif							/* TOLLFREE_FDW_CASTS_H */
