/*
 * writes.h
 *	  The remote commands that write rows of one table.
 */
#ifndef TOLLFREE_FDW_WRITES_H
#define TOLLFREE_FDW_WRITES_H

#include "executor/tuptable.h"
#include "utils/rel.h"

#include "session/state.h"
#include "sql/plan.h"

/* Commands of one execution, at most: to prepare, and to execute */
#define WRITE_COMMANDS_MAX 2

typedef struct RowWrites RowWrites;

extern RowWrites *writes_create(Session *session, Relation rel,
								const ModifyPlan *plan, AttrNumber ctid_attno);
extern bool writes_have(const RowWrites *writes, int nrows);
extern int	writes_make(RowWrites *writes, TupleTableSlot **slots,
						TupleTableSlot *plan_slot, int nrows,
						RemoteCommand *commands);
extern void writes_describe(RowWrites *writes);
extern const Oid *writes_described_types(const RowWrites *writes);
extern int	writes_params_per_row(const RowWrites *writes);
extern void writes_end(RowWrites *writes);
extern int	writes_by_statement(Session *session, char *name, const char *sql,
								bool describes, RemoteCommand execution,
								RemoteCommand *commands);

#endif							/* TOLLFREE_FDW_WRITES_H */
