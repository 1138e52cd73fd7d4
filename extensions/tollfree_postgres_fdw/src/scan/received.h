/*
 * received.h
 *	  Rows of a query that have been received.
 */
#ifndef TOLLFREE_FDW_RECEIVED_H
#define TOLLFREE_FDW_RECEIVED_H

#include "utils/resowner.h"

#include "base/libpq.h"

/* Only received.c knows what is in it. */
typedef struct ReceivedRows ReceivedRows;

/* A place among received rows: in a result, or as a mark in the store */
typedef struct ReceivedPlace
{
	int			result;
	int			row;
} ReceivedPlace;

/* A row of a result */
typedef struct ReceivedRow
{
	PGresult   *res;			/* NULL behind the last row */
	int			row;
} ReceivedRow;

extern ReceivedRows *received_create(MemoryContext context,
									 ResourceOwner owner);
extern ReceivedRows *received_create_like(const ReceivedRows *rows);
extern void received_add(ReceivedRows *rows, PGresult *res);

/* What there is */
extern bool received_is_empty(const ReceivedRows *rows);
extern Size received_bytes(const ReceivedRows *rows);
extern bool received_has_store(const ReceivedRows *rows);
extern bool received_has_row(const ReceivedRows *rows);
extern Size received_work_mem(const ReceivedRows *rows);
extern bool received_exceeds_work_mem(const ReceivedRows *rows);
extern bool received_has_lost_rows(const ReceivedRows *rows);

/* Returning them */
extern ReceivedRow received_peek(ReceivedRows *rows);
extern void received_pass(ReceivedRows *rows);
extern ReceivedRow received_next(ReceivedRows *rows);
extern ReceivedPlace received_place(const ReceivedRows *rows);
extern void received_go_to(ReceivedRows *rows, ReceivedPlace place);
extern void received_rewind(ReceivedRows *rows);
extern void received_rewind_store(ReceivedRows *rows);

/* Moving and freeing them */
extern bool received_spill(ReceivedRows *rows, bool loses_rows);
extern void received_drop_store(ReceivedRows *rows);
extern void received_forget(ReceivedRows *rows);
extern void received_release(ReceivedRows *rows);
extern void received_clear(ReceivedRows *rows);
extern void received_reset(ReceivedRows *rows);

#endif							/* TOLLFREE_FDW_RECEIVED_H */
