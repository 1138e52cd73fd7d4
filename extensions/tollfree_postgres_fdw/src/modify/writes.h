/*
 * writes.h
 *	  The remote commands that write rows of one table, and batches as arrays.
 */
#ifndef TOLLFREE_FDW_WRITES_H
#define TOLLFREE_FDW_WRITES_H

#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "session/state.h"
#include "sql/plan.h"

/* Commands of one execution, at most: to prepare, and to execute */
#define WRITE_COMMANDS_MAX 2

typedef struct RowWrites RowWrites;
typedef struct RowArrays RowArrays;

extern RowWrites *writes_create(Session *session, const ResultRelInfo *rinfo,
								const EState *estate, const ModifyPlan *plan,
								AttrNumber ctid_attno);
extern void writes_allow_arrays(RowWrites *writes);
extern bool writes_are_ready(const RowWrites *writes, int nrows);
extern int	writes_make(RowWrites *writes, TupleTableSlot **slots,
						TupleTableSlot *plan_slot, int nrows,
						RemoteCommand *commands);
extern bool writes_use_arrays(const RowWrites *writes);
extern int	writes_limit(const RowWrites *writes, int nrows);
extern void writes_end(RowWrites *writes);

/* arrays.c */
extern RowArrays *arrays_request(Session *session, Relation rel,
								 const ModifyPlan *plan,
								 RemoteCommand *command);
extern bool arrays_are_undecided(const RowArrays *arrays);
extern bool arrays_are_used(const RowArrays *arrays);
extern int	arrays_make(RowArrays *arrays, TupleTableSlot **slots, int nrows,
						const char *shown, RemoteCommand *commands);
extern void arrays_end(RowArrays *arrays);

#endif							/* TOLLFREE_FDW_WRITES_H */
