/*
 * exists.h
 *	  Semi joins in the commands of postgres_fdw before 17.
 */
#ifndef TOLLFREE_FDW_EXISTS_H
#define TOLLFREE_FDW_EXISTS_H

#include "nodes/plannodes.h"
#include "nodes/primnodes.h"

extern NullTest *exists_test(Node *value, NullTestType type);
extern NullTest *exists_mark(Node *column);
extern void exists_finish_plan(ForeignScan *plan);

#endif							/* TOLLFREE_FDW_EXISTS_H */
