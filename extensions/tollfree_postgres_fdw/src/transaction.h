/*
 * transaction.h
 *	  Remote transactions, beginning and ending with the local one.
 */
#ifndef TOLLFREE_FDW_TRANSACTION_H
#define TOLLFREE_FDW_TRANSACTION_H

#include "session.h"

extern void transaction_register_callbacks(void);
extern void transaction_enter(Session *session);
extern void transaction_note_stock(Oid server);
extern bool transaction_noted_stock(Oid server);

#endif							/* TOLLFREE_FDW_TRANSACTION_H */
