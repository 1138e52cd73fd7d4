/*
 * forms.h
 *	  Expressions that postgres_fdw has no words for, in other words.
 */
#ifndef TOLLFREE_FDW_FORMS_H
#define TOLLFREE_FDW_FORMS_H

#include "nodes/primnodes.h"

extern Node *forms_replace(Node *expr);

#endif							/* TOLLFREE_FDW_FORMS_H */
