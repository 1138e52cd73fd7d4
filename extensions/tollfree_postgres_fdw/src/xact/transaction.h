/*
 * transaction.h
 *	  Ending remote transactions with the local one.
 */
#ifndef TOLLFREE_FDW_TRANSACTION_H
#define TOLLFREE_FDW_TRANSACTION_H

#include "session/state.h"

extern Session *transaction_get_session(Oid user, Oid server);
extern void transaction_note_stock(Oid server);
extern bool transaction_noted_stock(Oid server);

/* rollback.c */
extern void rollback_all(int level);

#endif							/* TOLLFREE_FDW_TRANSACTION_H */
