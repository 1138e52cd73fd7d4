/*
 * groups.h
 *	  What a query groups by and aggregates, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_GROUPS_H
#define TOLLFREE_FDW_GROUPS_H

#include "nodes/nodes.h"

extern Node *groups_replace(Node *written, bool is_group);

#endif							/* TOLLFREE_FDW_GROUPS_H */
