/*
 * writes.h
 *	  The remote commands that write rows of one table, and rows as arrays.
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
extern bool writes_have(const RowWrites *writes, int nrows);
extern int	writes_make(RowWrites *writes, TupleTableSlot **slots,
						TupleTableSlot *plan_slot, int nrows,
						RemoteCommand *commands);
extern void writes_describe(RowWrites *writes);
extern const Oid *writes_described_types(const RowWrites *writes);
extern int	writes_limit(const RowWrites *writes, int nrows);
extern void writes_end(RowWrites *writes);
extern int	writes_by_statement(Session *session, char *name, const char *sql,
								bool describes, RemoteCommand execution,
								RemoteCommand *commands);

/* arrays.c */
extern RowArrays *arrays_create(Session *session, Relation rel,
								const ModifyPlan *plan);
extern bool arrays_are_of(const RowArrays *arrays, const Oid *types);
extern Size arrays_add(RowArrays *arrays, TupleTableSlot *slot);
extern int	arrays_take(RowArrays *arrays, Session *session,
						RemoteCommand *commands, int *nrows);
extern void arrays_end(RowArrays *arrays, Session *session);

#endif							/* TOLLFREE_FDW_WRITES_H */
