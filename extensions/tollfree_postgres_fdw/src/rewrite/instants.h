/*
 * instants.h
 *	  Comparisons of a timestamptz with another time, in a form that is sent.
 */
#ifndef TOLLFREE_FDW_INSTANTS_H
#define TOLLFREE_FDW_INSTANTS_H

#include "nodes/primnodes.h"

extern Node *instants_compare(Node *expr);

#endif							/* TOLLFREE_FDW_INSTANTS_H */
