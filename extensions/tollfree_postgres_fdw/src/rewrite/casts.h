/*
 * casts.h
 *	  Casts to and from text, and concat, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_CASTS_H
#define TOLLFREE_FDW_CASTS_H

#include "nodes/parsenodes.h"

extern bool casts_is_node(const Node *node);
extern bool casts_is_reading(const Node *node);
extern bool casts_in_query(Query *query);
extern bool casts_read_text(Node *form);
extern Node *casts_replace(Node *expr, bool may_read_texts);

#endif							/* TOLLFREE_FDW_CASTS_H */
