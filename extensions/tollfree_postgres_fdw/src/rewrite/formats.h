/*
 * formats.h
 *	  to_char of a time, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_FORMATS_H
#define TOLLFREE_FDW_FORMATS_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

extern List *formats_parts(const Node *format);
extern Node *formats_replace(Node *time, const Node *format);

#endif							/* TOLLFREE_FDW_FORMATS_H */
