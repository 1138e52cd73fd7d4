/*
 * arrays.h
 *	  Rows to be inserted as one array for each column.
 */
#ifndef TOLLFREE_FDW_ARRAYS_H
#define TOLLFREE_FDW_ARRAYS_H

#include "executor/tuptable.h"
#include "utils/rel.h"

#include "session/state.h"
#include "sql/plan.h"

typedef struct RowArrays RowArrays;

extern RowArrays *arrays_create(Session *session, Relation rel,
								const ModifyPlan *plan);
extern bool arrays_are_of(const RowArrays *arrays, const Oid *types);
extern Size arrays_add(RowArrays *arrays, TupleTableSlot *slot);
extern int	arrays_take(RowArrays *arrays, Session *session,
						RemoteCommand *commands, int *nrows);
extern void arrays_end(RowArrays *arrays, Session *session);

#endif							/* TOLLFREE_FDW_ARRAYS_H */
